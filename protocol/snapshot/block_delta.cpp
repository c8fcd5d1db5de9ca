#include "protocol/snapshot/block_delta.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>
#include <utility>

#include "protocol/bit_stream.h"
#include "protocol/block.h"
#include "protocol/standard_layout.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr unsigned place_bits = traits_of(StandardField::x).bits;
static_assert(cell_steps == 1u << place_bits);
static_assert(traits_of(StandardField::x).step * position_steps_per_m == 1);
static_assert(traits_of(StandardField::velocity_x).step * velocity_steps_per_mps == 1);

// Widths that signed numbers may take, by a class of one or two bits; the last one holds any.
constexpr auto place_widths = widths_of<4>(StandardField::x);
constexpr auto speed_widths = widths_of<4>(StandardField::velocity_x);
constexpr auto height_widths = widths_of<2>(StandardField::z);
constexpr auto climb_widths = widths_of<2>(StandardField::velocity_z);
constexpr auto turn_widths = widths_of<2>(StandardField::yaw);
static_assert(place_widths.back() == place_bits + 1 && height_widths.back() == place_bits + 1);
static_assert(speed_widths.back() == traits_of(StandardField::velocity_x).bits + 1);
constexpr unsigned small_turn_bits = turn_widths[0];

/// Which of a record's lesser fields changed, in this order.
enum Lesser : unsigned { pitch, health, state, flags, kind, lesser_count };

bool fits(std::int32_t v, unsigned width) {
  return width == 0 ? v == 0 : v >= -(1 << (width - 1)) && v < 1 << (width - 1);
}

template <std::size_t n>
unsigned class_of(std::int32_t a, std::int32_t b, const std::array<unsigned, n>& widths) {
  unsigned at = 0;
  while (!fits(a, widths[at]) || !fits(b, widths[at])) ++at;
  return at;
}

void put_sized(BitWriter& out, std::int32_t value, unsigned width) {
  if (width > 0) out.put_signed(value, width);
}
[[gnu::always_inline]] inline std::int32_t get_sized(BitReader& in, unsigned width) {
  return width > 0 ? in.get_signed(width) : 0;
}

struct Foretold {
  std::int32_t x, y, z;
};

[[gnu::always_inline]] inline Foretold foretell(const MovingRecord& base, const Foretelling& by) {
  return {by.place(base.record.x, base.velocity[0]), by.place(base.record.y, base.velocity[1]),
          by.place(base.record.z, base.velocity[2])};
}

unsigned changed_lesser(const EntityRecord& a, const EntityRecord& b) {
  return (a.pitch != b.pitch ? 1u << pitch : 0u) | (a.health != b.health ? 1u << health : 0u) |
         (a.state != b.state ? 1u << state : 0u) | (a.flags != b.flags ? 1u << flags : 0u) |
         (a.kind != b.kind ? 1u << kind : 0u);
}

bool as_foretold(const MovingRecord& now, const MovingRecord& base, const Foretold& told) {
  const EntityRecord &a = now.record, &b = base.record;
  return a.x == told.x && a.y == told.y && a.z == told.z && now.velocity == base.velocity && a.yaw == b.yaw &&
         changed_lesser(a, b) == 0;
}

void put_velocity(BitWriter& out, const MovingRecord& now, const MovingRecord& base) {
  const std::int32_t dx = now.velocity[0] - base.velocity[0], dy = now.velocity[1] - base.velocity[1];
  const std::int32_t dz = now.velocity[2] - base.velocity[2];
  const bool same = dx == 0 && dy == 0 && dz == 0;
  out.put_bit(!same);
  if (same) return;
  const unsigned plane = class_of(dx, dy, speed_widths);
  out.put(plane, 2);
  put_sized(out, dx, speed_widths[plane]);
  put_sized(out, dy, speed_widths[plane]);
  out.put_bit(dz != 0);
  if (dz == 0) return;
  const unsigned up = class_of(dz, dz, climb_widths);
  out.put(up, 1);
  out.put_signed(dz, climb_widths[up]);
}

void put_change(BitWriter& out, const MovingRecord& now, const MovingRecord& base, const Foretold& told) {
  const EntityRecord &a = now.record, &b = base.record;
  const std::int32_t x = a.x - told.x, y = a.y - told.y, z = a.z - told.z;
  const unsigned plane = class_of(x, y, place_widths);
  out.put(plane, 2);
  put_sized(out, x, place_widths[plane]);
  put_sized(out, y, place_widths[plane]);
  out.put_bit(z != 0);
  if (z != 0) {
    const unsigned up = class_of(z, z, height_widths);
    out.put(up, 1);
    out.put_signed(z, height_widths[up]);
  }
  put_velocity(out, now, base);
  const auto turn = static_cast<std::int8_t>(static_cast<std::uint8_t>(a.yaw - b.yaw));
  out.put_bit(turn != 0);
  if (turn != 0) {
    const bool small = fits(turn, small_turn_bits);
    out.put_bit(!small);
    out.put_signed(turn, small ? small_turn_bits : turn_widths[1]);
  }
  const unsigned changed = changed_lesser(a, b);
  out.put_bit(changed != 0);
  if (changed == 0) return;
  out.put(changed, lesser_count);
  if (changed & 1u << pitch) out.put_signed(a.pitch, 8);
  if (changed & 1u << health) out.put(a.health, 8);
  if (changed & 1u << state) out.put(a.state, 8);
  if (changed & 1u << flags) out.put(a.flags, 8);
  if (changed & 1u << kind) out.put(static_cast<std::uint8_t>(a.kind), 8);
}

void put_whole(BitWriter& out, const MovingRecord& e) {
  const EntityRecord& r = e.record;
  out.put(static_cast<std::uint32_t>(r.id), 32);
  out.put(r.x, place_bits);
  out.put(r.y, place_bits);
  out.put(r.z, place_bits);
  out.put(static_cast<std::uint8_t>(r.kind), 8);
  out.put(r.yaw, 8);
  out.put(r.flags, 8);
  out.put_bit(r.pitch != 0);
  if (r.pitch != 0) out.put_signed(r.pitch, 8);
  out.put_bit(r.health != 255);
  if (r.health != 255) out.put(r.health, 8);
  out.put_bit(r.state != 0);
  if (r.state != 0) out.put(r.state, 8);
  put_velocity(out, e, MovingRecord{});
}

/// Gaps and whole ones first, then the changes of those that stay.
void put_gone_and_new(BitWriter& out, std::span<const MovingRecord> now,
                      std::span<const MovingRecord> before) {
  const auto id = [](const MovingRecord& e) { return e.record.id; };
  const auto gone = [&](const MovingRecord& e) {
    return !std::ranges::binary_search(now, e.record.id, {}, id);
  };
  const auto fresh = [&](const MovingRecord& e) {
    return !std::ranges::binary_search(before, e.record.id, {}, id);
  };
  out.put_gamma(static_cast<std::uint32_t>(std::ranges::count_if(before, gone)));
  std::uint32_t gap = 0;
  for (const MovingRecord& e : before) {
    if (!gone(e)) {
      ++gap;
      continue;
    }
    out.put_gamma(gap);
    gap = 0;
  }
  out.put_gamma(static_cast<std::uint32_t>(std::ranges::count_if(now, fresh)));
  for (const MovingRecord& e : now)
    if (fresh(e)) put_whole(out, e);
}

bool same_ids(std::span<const MovingRecord> a, std::span<const MovingRecord> b) {
  return std::ranges::equal(
      a, b, {}, [](const MovingRecord& e) { return e.record.id; },
      [](const MovingRecord& e) { return e.record.id; });
}

// --- and back. What is read of each entity is one piece of code, so that the reader stays in registers.

[[gnu::always_inline]] inline bool get_velocity(BitReader& in, std::array<std::int16_t, 3>& velocity) {
  if (!in.get_bit()) return true;
  const unsigned plane = in.get(2);
  std::array<std::int32_t, 3> v{velocity[0], velocity[1], velocity[2]};
  v[0] += get_sized(in, speed_widths[plane]);
  v[1] += get_sized(in, speed_widths[plane]);
  if (in.get_bit()) v[2] += in.get_signed(climb_widths[in.get(1)]);
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i] < -32768 || v[i] > 32767) return false;
    velocity[i] = static_cast<std::int16_t>(v[i]);
  }
  return true;
}

bool place_ok(std::int32_t v) { return v >= 0 && v < cell_steps; }

/// Nobody asks where the bits go.
struct NoMarks {
  explicit NoMarks(BitReader&, BlockTally*) {}
  void frame() {}
  void field(BlockField) {}
  void entity(EntityKind, bool) {}
};

/// Counts what was read from one mark to the next.
class Marks {
 public:
  Marks(BitReader& in, BlockTally* tally) : in_(in), tally_(*tally) {}
  void frame() { tally_.frame(take()); }
  void field(BlockField which) { fields_[static_cast<std::size_t>(which)] += take(); }
  void entity(EntityKind of, bool whole) {
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (fields_[i] > 0) tally_.field(of, static_cast<BlockField>(i), fields_[i]);
    fields_ = {};
    tally_.entity(of, whole);
  }

 private:
  unsigned take() {
    const std::size_t at = in_.bits_read();
    return static_cast<unsigned>(at - std::exchange(at_, at));
  }
  BitReader& in_;
  BlockTally& tally_;
  std::size_t at_ = 0;
  std::array<unsigned, block_field_count> fields_{};
};

template <class Mark>
[[gnu::always_inline]] inline bool get_change(BitReader& in, MovingRecord& e, const Foretold& told,
                                              Mark& mark) {
  EntityRecord& r = e.record;
  const EntityKind kind_before = r.kind;
  const unsigned plane = in.get(2);
  const std::int32_t x = told.x + get_sized(in, place_widths[plane]);
  const std::int32_t y = told.y + get_sized(in, place_widths[plane]);
  const std::int32_t z = told.z + (in.get_bit() ? in.get_signed(height_widths[in.get(1)]) : 0);
  mark.field(BlockField::place);
  if (!place_ok(x) || !place_ok(y) || !place_ok(z) || !get_velocity(in, e.velocity)) return false;
  mark.field(BlockField::velocity);
  r.x = static_cast<std::uint16_t>(x), r.y = static_cast<std::uint16_t>(y);
  r.z = static_cast<std::uint16_t>(z);
  if (in.get_bit()) {
    const bool large = in.get_bit();
    r.yaw = static_cast<std::uint8_t>(r.yaw + in.get_signed(turn_widths[large ? 1 : 0]));
  }
  mark.field(BlockField::yaw);
  const unsigned changed = in.get_bit() ? in.get(lesser_count) : 0;
  mark.field(BlockField::state);
  if (changed & 1u << pitch) r.pitch = static_cast<std::int8_t>(in.get_signed(8));
  mark.field(BlockField::pitch);
  if (changed & 1u << health) r.health = static_cast<std::uint8_t>(in.get(8));
  mark.field(BlockField::health);
  if (changed & 1u << state) r.state = static_cast<std::uint8_t>(in.get(8));
  mark.field(BlockField::state);
  if (changed & 1u << flags) r.flags = static_cast<std::uint8_t>(in.get(8));
  mark.field(BlockField::flags);
  if (changed & 1u << kind) r.kind = static_cast<EntityKind>(in.get(8));
  mark.field(BlockField::kind);
  mark.entity(kind_before, false);
  return r.pitch >= -64 && r.pitch <= 64;
}

template <class Mark>
bool get_whole(BitReader& in, MovingRecord& e, Mark& mark) {
  EntityRecord& r = e.record;
  r.id = EntityId{in.get(32)};
  mark.field(BlockField::id);
  r.x = static_cast<std::uint16_t>(in.get(place_bits));
  r.y = static_cast<std::uint16_t>(in.get(place_bits));
  r.z = static_cast<std::uint16_t>(in.get(place_bits));
  mark.field(BlockField::place);
  r.kind = static_cast<EntityKind>(in.get(8));
  mark.field(BlockField::kind);
  r.yaw = static_cast<std::uint8_t>(in.get(8));
  mark.field(BlockField::yaw);
  r.flags = static_cast<std::uint8_t>(in.get(8));
  mark.field(BlockField::flags);
  r.pitch = static_cast<std::int8_t>(in.get_bit() ? in.get_signed(8) : 0);
  mark.field(BlockField::pitch);
  r.health = static_cast<std::uint8_t>(in.get_bit() ? in.get(8) : 255);
  mark.field(BlockField::health);
  r.state = static_cast<std::uint8_t>(in.get_bit() ? in.get(8) : 0);
  mark.field(BlockField::state);
  e.velocity = {};
  const bool sane = get_velocity(in, e.velocity);
  mark.field(BlockField::velocity);
  mark.entity(r.kind, true);
  return sane && r.id != EntityId{0} && r.pitch >= -64 && r.pitch <= 64;
}

/// Where the gone ones stand in the base, as bits.
bool get_gone(BitReader& in, std::size_t base_count, std::uint64_t& gone, std::size_t& gone_count) {
  gone_count = in.get_gamma();
  if (in.failed() || gone_count > base_count) return false;
  std::size_t at = 0;
  for (std::size_t i = 0; i < gone_count; ++i, ++at) {
    at += in.get_gamma();
    if (in.failed() || at >= base_count) return false;
    gone |= std::uint64_t{1} << at;
  }
  return true;
}

static_assert(block_entities_max <= 64, "a word of bits holds a block's entities");

}  // namespace

std::size_t encode_block(const BlockContent& now, const BlockBase& base, std::uint32_t tick_rate_hz,
                         std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(out.size() >= coded_block_bytes_max && base.age <= base_age_max);
  ASHLAR_ASSERT(now.entities.size() <= block_entities_max && base.entities.size() <= block_entities_max);
  BitWriter bits(out);
  bits.put_bit(base.quiet);
  if (base.age == 0) {
    ASHLAR_ASSERT(base.entities.empty());
    for (const std::int16_t v : {now.cell.x, now.cell.y, now.cell.z}) bits.put_signed(v, 16 + 1);
  }
  const bool same = same_ids(now.entities, base.entities);
  bits.put_bit(!same);
  if (!same) put_gone_and_new(bits, now.entities, base.entities);
  std::uint32_t run = 0;
  auto at = now.entities.begin();
  const Foretelling foretelling(base.age, tick_rate_hz);
  for (const MovingRecord& before : base.entities) {
    while (at != now.entities.end() && at->record.id < before.record.id) ++at;
    if (at == now.entities.end()) break;
    if (at->record.id != before.record.id) continue;
    const Foretold told = foretell(before, foretelling);
    if (as_foretold(*at, before, told)) {
      ++run;
      continue;
    }
    bits.put_gamma(run);
    run = 0;
    put_change(bits, *at, before, told);
  }
  if (run > 0) bits.put_gamma(run);
  if (now.registry != nullptr)
    encode_fields(bits, *now.registry, {now.entities, now.fields}, {base.entities, base.fields});
  return bits.finish();
}

namespace {

template <class Mark>
bool decode_marked(std::span<const std::uint8_t> bytes, CellCoord base_cell, const BlockBase& base,
                   std::uint32_t tick_rate_hz, DecodedBlock& out, BlockTally* tally,
                   const ReplicationRegistry* registry) {
  BitReader in(bytes);
  Mark mark(in, tally);
  out.entities.clear();
  out.cell = base_cell;
  out.quiet = in.get_bit();
  if (base.age == 0) {
    const std::int32_t x = in.get_signed(17), y = in.get_signed(17), z = in.get_signed(17);
    out.cell = {static_cast<std::int16_t>(x), static_cast<std::int16_t>(y), static_cast<std::int16_t>(z)};
    if (out.cell.x != x || out.cell.y != y || out.cell.z != z || !cell_in_world(out.cell)) return false;
  }
  const std::span<const MovingRecord> before =
      base.age == 0 ? std::span<const MovingRecord>{} : base.entities;
  std::uint64_t gone = 0;
  std::size_t gone_count = 0, fresh_count = 0;
  if (in.get_bit()) {
    if (!get_gone(in, before.size(), gone, gone_count)) return false;
    fresh_count = in.get_gamma();
    if (in.failed() || before.size() - gone_count + fresh_count > block_entities_max) return false;
    mark.frame();
    for (std::size_t i = 0; i < fresh_count; ++i)
      if (!get_whole(in, out.entities.emplace_back(), mark) || in.failed()) return false;
  }
  const std::size_t staying = before.size() - gone_count;
  std::size_t until_change = staying > 0 ? in.get_gamma() : 0;
  std::size_t left = staying;
  const Foretelling foretelling(base.age, tick_rate_hz);
  out.entities.resize(fresh_count + staying);
  auto next = out.entities.begin() + static_cast<std::ptrdiff_t>(fresh_count);
  // A reader whose address nobody has stays in registers; marks look at the one that they were given.
  BitReader own = in;
  BitReader& bits = std::is_same_v<Mark, NoMarks> ? own : in;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (gone >> i & 1) continue;
    if (bits.failed() || until_change > left) return false;
    MovingRecord& e = *next++;
    e = before[i];
    const Foretold told = foretell(e, foretelling);
    --left;
    if (until_change > 0) {
      e.record.x = static_cast<std::uint16_t>(told.x), e.record.y = static_cast<std::uint16_t>(told.y);
      e.record.z = static_cast<std::uint16_t>(told.z);
      --until_change;
    } else {
      mark.frame();
      if (!get_change(bits, e, told, mark)) return false;
      if (left > 0) until_change = bits.get_gamma();
    }
  }
  if (&bits == &own) in = own;
  const auto id = [](const MovingRecord& e) { return e.record.id; };
  if (fresh_count > 0) std::ranges::sort(out.entities, {}, id);
  if (std::ranges::adjacent_find(out.entities, std::ranges::greater_equal{}, id) != out.entities.end())
    return false;
  out.fields.clear();
  const FieldRows fields_before{before, base.age == 0 ? std::span<const FieldValues>{} : base.fields};
  if (registry != nullptr && !decode_fields(in, *registry, out.entities, fields_before, out.fields))
    return false;
  mark.frame();
  return in.at_end();
}

}  // namespace

bool decode_block(std::span<const std::uint8_t> bytes, CellCoord base_cell, const BlockBase& base,
                  std::uint32_t tick_rate_hz, DecodedBlock& out, const ReplicationRegistry* registry,
                  BlockTally* tally) {
  ASHLAR_ASSERT(base.entities.size() <= block_entities_max);
  if (tally == nullptr)
    return decode_marked<NoMarks>(bytes, base_cell, base, tick_rate_hz, out, tally, registry);
  if (!decode_marked<Marks>(bytes, base_cell, base, tick_rate_hz, out, tally, registry)) return false;
  tally->block(out.cell, bytes.size());
  return true;
}

}  // namespace ashlar
