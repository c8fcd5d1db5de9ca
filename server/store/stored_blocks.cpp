#include "server/store/stored_blocks.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "protocol/block_kinds.h"
#include "protocol/bytes.h"
#include "protocol/hexadecimal.h"
#include "world/math/hash.h"

namespace ashlar::server {
namespace {

constexpr std::size_t hash_bytes = 8;

std::uint64_t hash_of(std::span<const std::uint8_t> bytes) {
  Hasher hasher;
  hasher.add_bytes(bytes);
  return hasher.value();
}

/// Kinds of several registries in a new order. What they drop and become goes by name.
class KindList {
 public:
  void add(const BlockRegistry& of, BlockId id) {
    types_.push_back(of.type(id));
    drops_.push_back(of.type(of.type(id).drops).name);
    becomes_.push_back(of.type(of.type(id).becomes).name);
  }
  std::vector<BlockType> finish() && {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      types_[i].drops = called(drops_[i]);
      types_[i].becomes = called(becomes_[i]);
    }
    return std::move(types_);
  }

 private:
  BlockId called(const std::string& name) const {
    return static_cast<BlockId>(std::ranges::find(types_, name, &BlockType::name) - types_.begin());
  }

  std::vector<BlockType> types_;
  std::vector<std::string> drops_, becomes_;
};

}  // namespace

std::string stored_blocks_text(const BlockRegistry& kinds) {
  std::vector<std::uint8_t> bytes = encode_block_kinds(kinds);
  const std::uint64_t hash = hash_of(bytes);
  ByteWriter(bytes).u64(hash);
  return hexadecimal(bytes);
}

std::expected<std::shared_ptr<const BlockRegistry>, std::string> read_stored_blocks(std::string_view text) {
  if (text.empty()) return BlockRegistry::builtin_ptr();
  std::vector<std::uint8_t> bytes;
  const bool whole = text.size() % 2 == 0 && text.size() / 2 > hash_bytes &&
                     text.size() / 2 <= block_kinds_bytes_max + hash_bytes &&
                     text.find_first_not_of(hexadecimal_digits) == std::string_view::npos;
  for (std::size_t i = 0; whole && i < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(hexadecimal_digits.find(text[i]) << 4 |
                                              hexadecimal_digits.find(text[i + 1])));
  if (!whole) return std::unexpected("its kinds of blocks are damaged");
  const std::span<const std::uint8_t> kinds = std::span(bytes).first(bytes.size() - hash_bytes);
  if (ByteReader(std::span(bytes).last(hash_bytes)).u64() != hash_of(kinds))
    return std::unexpected("its kinds of blocks do not agree with their hash");
  auto made = decode_block_kinds(kinds);
  if (!made) return std::unexpected("its kinds of blocks are of a newer build, or damaged");
  return std::move(*made);
}

std::expected<std::shared_ptr<const BlockRegistry>, std::string> settle_blocks(
    const std::shared_ptr<const BlockRegistry>& given, const std::shared_ptr<const BlockRegistry>& kept) {
  std::shared_ptr<const BlockRegistry> wanted = given != nullptr ? given : BlockRegistry::builtin_ptr();
  if (kept == nullptr) return wanted;
  KindList list;
  for (const BlockType& was : kept->types()) {
    const auto now = wanted->find(was.name);
    if (given != nullptr && !now)
      return std::unexpected("block " + was.name + " of this world is missing: put it back");
    // What no file changes stays as it was kept.
    if (given != nullptr)
      list.add(*wanted, *now);
    else
      list.add(*kept, *kept->find(was.name));
  }
  for (const BlockType& more : wanted->types())
    if (!kept->find(more.name)) list.add(*wanted, *wanted->find(more.name));
  std::vector<BlockType> types = std::move(list).finish();
  if (BlockRegistry::check(types))
    return std::unexpected("with those that this world has there are more kinds than 256: take some out");
  auto settled = std::make_shared<const BlockRegistry>(std::move(types));
  for (const auto& same : {wanted, kept})
    if (same->hash() == settled->hash()) return same;
  return settled;
}

}  // namespace ashlar::server
