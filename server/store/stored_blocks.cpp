#include "server/store/stored_blocks.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "protocol/block_kinds.h"
#include "protocol/bytes.h"
#include "world/math/hash.h"

namespace ashlar::server {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::size_t hash_bytes = 8;

std::uint64_t hash_of(std::span<const std::uint8_t> bytes) {
  Hasher hasher;
  hasher.add_bytes(bytes);
  return hasher.value();
}

}  // namespace

std::string stored_blocks_text(const BlockRegistry& kinds) {
  std::vector<std::uint8_t> bytes = encode_block_kinds(kinds);
  const std::uint64_t hash = hash_of(bytes);
  ByteWriter(bytes).u64(hash);
  std::string text;
  for (const std::uint8_t byte : bytes) text += {hex_digits[byte >> 4], hex_digits[byte & 15]};
  return text;
}

std::expected<std::shared_ptr<const BlockRegistry>, std::string> read_stored_blocks(std::string_view text) {
  if (text.empty()) return BlockRegistry::builtin_ptr();
  std::vector<std::uint8_t> bytes;
  const bool whole = text.size() % 2 == 0 && text.size() / 2 > hash_bytes &&
                     text.size() / 2 <= block_kinds_bytes_max + hash_bytes &&
                     text.find_first_not_of(hex_digits) == std::string_view::npos;
  for (std::size_t i = 0; whole && i < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(hex_digits.find(text[i]) << 4 | hex_digits.find(text[i + 1])));
  if (!whole) return std::unexpected("its kinds of blocks are damaged");
  const std::span<const std::uint8_t> kinds = std::span(bytes).first(bytes.size() - hash_bytes);
  if (ByteReader(std::span(bytes).last(hash_bytes)).u64() != hash_of(kinds))
    return std::unexpected("its kinds of blocks do not agree with their hash");
  auto made = decode_block_kinds(kinds);
  if (!made) return std::unexpected("its kinds of blocks are of a newer build, or damaged");
  return std::move(*made);
}

std::expected<std::shared_ptr<const BlockRegistry>, std::string> settle_blocks(
    std::shared_ptr<const BlockRegistry> given, const std::shared_ptr<const BlockRegistry>& kept) {
  if (given == nullptr) return kept != nullptr ? kept : BlockRegistry::builtin_ptr();
  for (std::size_t i = 0; kept != nullptr && i < kept->size(); ++i) {
    const BlockId id{static_cast<std::uint16_t>(i)};
    const std::string& was = kept->type(id).name;
    if (!given->knows(id))
      return std::unexpected("block " + was + " of this world is missing: put it back at its place");
    if (given->type(id).name != was)
      return std::unexpected("where it has " + given->type(id).name + " this world has " + was +
                             ": put that back at its place, and new kinds behind all others");
  }
  return given;
}

}  // namespace ashlar::server
