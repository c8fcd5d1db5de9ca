#include "protocol/block_kinds.h"

#include <string>
#include <utility>

#include "protocol/bytes.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

// Older are read, too: 1 knew of no slots and texts, 2 of no timers, 3 of no tools.
constexpr std::uint8_t kinds_format = 4;
namespace flag {
constexpr std::uint8_t opaque = 1, liquid = 2, climbable = 4, falls = 8, text = 16;
}
constexpr std::size_t kind_bytes_max =
    1 + block_name_bytes_max + 10 + 8 * (tool_count + 4) + 1 + 6 * BlockShape::boxes_max;
static_assert(3 + block_kinds_max * kind_bytes_max <= block_kinds_bytes_max);

void write_kind(ByteWriter& w, const BlockType& t) {
  w.u8(static_cast<std::uint8_t>(t.name.size()));
  for (const char c : t.name) w.u8(static_cast<std::uint8_t>(c));
  w.u8(static_cast<std::uint8_t>((t.opaque ? flag::opaque : 0) | (t.liquid ? flag::liquid : 0) |
                                 (t.climbable ? flag::climbable : 0) | (t.falls ? flag::falls : 0) |
                                 (t.text ? flag::text : 0)));
  w.u8(t.slots);
  w.u8(t.light);
  w.u16(t.damage_per_s);
  w.u16(static_cast<std::uint16_t>(t.drops));
  for (const double s : t.hardness_s) w.f64(s);
  w.f64(t.friction), w.f64(t.jump);
  w.f64(t.timer_s), w.u16(static_cast<std::uint16_t>(t.becomes)), w.f64(t.blast_m);
  w.u8(static_cast<std::uint8_t>(t.tool));
  w.u8(t.shape.count);
  for (const ShapeBox& box : t.shape.boxes()) {
    for (const std::uint8_t v : box.min) w.u8(v);
    for (const std::uint8_t v : box.max) w.u8(v);
  }
}

/// False where bytes are none of a kind; whether its values make sense is not asked.
bool read_kind(ByteReader& r, std::uint8_t format, BlockType& t) {
  const std::size_t name_bytes = r.u8();
  if (name_bytes > block_name_bytes_max) return false;
  t.name.clear();
  for (std::size_t i = 0; i < name_bytes; ++i) t.name += static_cast<char>(r.u8());
  const std::uint8_t flags = r.u8();
  constexpr std::uint8_t first_flags = flag::opaque | flag::liquid | flag::climbable | flag::falls;
  if (flags > (format == 1 ? first_flags : first_flags | flag::text)) return false;
  t.opaque = (flags & flag::opaque) != 0, t.liquid = (flags & flag::liquid) != 0;
  t.climbable = (flags & flag::climbable) != 0, t.falls = (flags & flag::falls) != 0;
  t.text = (flags & flag::text) != 0;
  t.slots = format == 1 ? std::uint8_t{0} : r.u8();
  t.light = r.u8();
  t.damage_per_s = r.u16();
  t.drops = static_cast<BlockId>(r.u16());
  for (double& s : t.hardness_s) s = r.f64();
  t.friction = r.f64(), t.jump = r.f64();
  if (format >= 3) t.timer_s = r.f64(), t.becomes = static_cast<BlockId>(r.u16()), t.blast_m = r.f64();
  const std::uint8_t tool = format >= 4 ? r.u8() : std::uint8_t{0};
  if (tool >= tool_count) return false;
  t.tool = static_cast<Tool>(tool);
  t.shape = {};
  t.shape.count = r.u8();
  if (t.shape.count > BlockShape::boxes_max) return false;
  for (std::size_t i = 0; i < t.shape.count; ++i) {
    for (std::uint8_t& v : t.shape.box[i].min) v = r.u8();
    for (std::uint8_t& v : t.shape.box[i].max) v = r.u8();
  }
  return r.ok();
}

}  // namespace

std::vector<std::uint8_t> encode_block_kinds(const BlockRegistry& kinds) {
  std::vector<std::uint8_t> out;
  ByteWriter w(out);
  w.u8(kinds_format);
  w.u16(static_cast<std::uint16_t>(kinds.size()));
  for (const BlockType& type : kinds.types()) write_kind(w, type);
  ASHLAR_ASSERT(out.size() <= block_kinds_bytes_max);
  return out;
}

std::expected<std::shared_ptr<const BlockRegistry>, BlockKindsError> decode_block_kinds(
    std::span<const std::uint8_t> bytes) {
  ByteReader r(bytes);
  const std::uint8_t format = r.u8();
  if (format < 1 || format > kinds_format) return std::unexpected(BlockKindsError::format);
  const std::size_t count = r.u16();
  if (count > block_kinds_max) return std::unexpected(BlockKindsError::kinds);
  std::vector<BlockType> types(count);
  for (BlockType& type : types)
    if (!read_kind(r, format, type))
      return std::unexpected(r.ok() ? BlockKindsError::kinds : BlockKindsError::cut);
  if (!r.ok() || !r.at_end()) return std::unexpected(BlockKindsError::cut);
  if (BlockRegistry::check(types)) return std::unexpected(BlockKindsError::kinds);
  auto made = std::make_shared<const BlockRegistry>(std::move(types));
  if (made->hash() == BlockRegistry::builtin().hash()) return BlockRegistry::builtin_ptr();
  return made;
}

}  // namespace ashlar
