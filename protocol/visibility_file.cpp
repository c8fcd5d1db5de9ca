#include "protocol/visibility_file.h"

#include "protocol/bytes.h"
#include "world/math/hash.h"

namespace ashlar {
namespace {

constexpr std::size_t head_bytes = 4 + 4 + 8 + 4 + 4;
constexpr std::size_t hash_bytes = 8;

std::uint32_t row_words_for(std::uint32_t sectors) { return sectors / 64 + (sectors % 64 != 0 ? 1 : 0); }

std::uint64_t hash_of(std::span<const std::uint8_t> bytes) {
  Hasher h;
  h.add_bytes(bytes);
  return h.value();
}

/// Who walks a row's bits takes each for a sector.
bool spare_bits_clear(const SectorVisibility& set) {
  if (set.sectors % 64 == 0) return true;
  const std::uint64_t spare = ~std::uint64_t{0} << (set.sectors % 64);
  for (std::uint32_t s = 0; s < set.sectors; ++s)
    if ((set.row(s).back() & spare) != 0) return false;
  return true;
}

}  // namespace

const char* reason(VisibilityFileError error) {
  switch (error) {
    case VisibilityFileError::foreign: return "it is no visibility set";
    case VisibilityFileError::outdated: return "another version made it";
    case VisibilityFileError::other_map: return "it belongs to another map";
    case VisibilityFileError::wrong_size: return "it ends early or goes on too long";
    case VisibilityFileError::damaged: break;
  }
  return "it is damaged";
}

std::size_t visibility_file_bytes(std::uint32_t sectors) {
  const std::size_t row_bytes = std::size_t{row_words_for(sectors)} * 8;
  return head_bytes + std::size_t{sectors} * (row_bytes + 1) + hash_bytes;
}

std::vector<std::uint8_t> encode_visibility(const SectorVisibility& set, std::uint64_t key) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(visibility_file_bytes(set.sectors));
  ByteWriter w(bytes);
  w.u32(visibility_file_magic), w.u32(visibility_rules), w.u64(key);
  w.u32(set.sectors), w.u32(set.row_words);
  for (const std::uint64_t word : set.bits) w.u64(word);
  for (const std::uint8_t seen : set.from_above) w.u8(seen);
  w.u64(hash_of(bytes));
  return bytes;
}

std::expected<SectorVisibility, VisibilityFileError> decode_visibility(std::span<const std::uint8_t> bytes,
                                                                       std::uint64_t key,
                                                                       std::uint32_t sectors) {
  using Error = VisibilityFileError;
  ByteReader r(bytes);
  const std::uint32_t magic = r.u32(), rules = r.u32();
  const std::uint64_t map = r.u64();
  SectorVisibility set;
  set.sectors = r.u32(), set.row_words = r.u32();
  if (!r.ok()) return std::unexpected{Error::wrong_size};
  if (magic != visibility_file_magic) return std::unexpected{Error::foreign};
  if (rules != visibility_rules) return std::unexpected{Error::outdated};
  if (map != key || set.sectors != sectors) return std::unexpected{Error::other_map};
  // From here on the counts are the map's own, so what they ask for is what the map needs.
  if (bytes.size() != visibility_file_bytes(sectors)) return std::unexpected{Error::wrong_size};
  if (set.row_words != row_words_for(sectors)) return std::unexpected{Error::damaged};
  if (ByteReader last(bytes.last(hash_bytes)); last.u64() != hash_of(bytes.first(bytes.size() - hash_bytes)))
    return std::unexpected{Error::damaged};

  set.bits.resize(std::size_t{sectors} * set.row_words);
  for (std::uint64_t& word : set.bits) word = r.u64();
  set.from_above.resize(sectors);
  for (std::uint8_t& seen : set.from_above)
    if ((seen = r.u8()) > 1) return std::unexpected{Error::damaged};
  if (!spare_bits_clear(set)) return std::unexpected{Error::damaged};
  return set;
}

}  // namespace ashlar
