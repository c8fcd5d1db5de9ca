// The codec of blocks is written out by hand. Here its twin walks through the tables that declare what every
// entity has, and both have to give the same bytes.
#include "protocol/standard_layout.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/bit_stream.h"
#include "protocol/snapshot/block_delta.h"
#include "tests/catch.h"
#include "tests/protocol/snapshot/moving_scene.h"

using namespace ashlar;
using test::changed;
using test::some_moving;
using test::sort_by_id;

namespace {

using StandardValues = std::array<std::int32_t, standard_field_count>;

StandardValues fields_of(const MovingRecord& e) {
  const EntityRecord& r = e.record;
  return {r.x,   r.y,     r.z,      e.velocity[0], e.velocity[1], e.velocity[2],
          r.yaw, r.pitch, r.health, r.state,       r.flags,       static_cast<std::uint8_t>(r.kind)};
}

StandardValues foretold_fields(const MovingRecord& base, std::uint32_t age, std::uint32_t rate_hz) {
  StandardValues out = fields_of(base);
  for (std::size_t axis = 0; axis < 3; ++axis)
    out[axis] = foretold_place(static_cast<std::uint16_t>(out[axis]), base.velocity[axis], age, rate_hz);
  return out;
}

std::int32_t difference(std::size_t field, const StandardValues& now, const StandardValues& before) {
  const std::int32_t d = now[field] - before[field];
  return field == static_cast<std::size_t>(StandardField::yaw) ? static_cast<std::int8_t>(d) : d;
}

void put_raw(BitWriter& out, std::size_t field, std::int32_t value) {
  const StandardFieldTraits& traits = standard_fields[field];
  if (traits.is_signed)
    out.put_signed(value, traits.bits);
  else
    out.put(static_cast<std::uint32_t>(value), traits.bits);
}

std::size_t end_of(std::size_t gate) {
  std::size_t depth = 1, at = gate;
  while (depth > 0) {
    ++at;
    depth += change_layout[at].op == LayoutStep::Op::gate ? 1 : 0;
    depth -= change_layout[at].op == LayoutStep::Op::end ? 1 : 0;
  }
  return at;
}

bool differs(std::size_t first, std::size_t end, const StandardValues& now, const StandardValues& before) {
  for (std::size_t s = first; s < end; ++s)
    for (std::size_t f = 0; f < change_layout[s].count; ++f) {
      const std::size_t field = static_cast<std::size_t>(change_layout[s].first) + f;
      if (now[field] != before[field]) return true;
    }
  return false;
}

void put_sized_step(BitWriter& out, const LayoutStep& step, const StandardValues& now,
                    const StandardValues& before) {
  const auto first = static_cast<std::size_t>(step.first);
  const auto fits = [&](unsigned width) {
    for (std::size_t f = first; f < first + step.count; ++f) {
      const std::int32_t d = difference(f, now, before);
      const bool in = width == 0 ? d == 0 : d >= -(1 << (width - 1)) && d < 1 << (width - 1);
      if (!in) return false;
    }
    return true;
  };
  std::size_t at = 0;
  while (!fits(step.widths[at])) ++at;
  out.put(static_cast<std::uint32_t>(at), step.width_count == 4 ? 2 : 1);
  for (std::size_t f = first; f < first + step.count && step.widths[at] > 0; ++f)
    out.put_signed(difference(f, now, before), step.widths[at]);
}

void put_steps(BitWriter& out, std::size_t from, std::size_t to, const StandardValues& now,
               const StandardValues& before) {
  for (std::size_t s = from; s < to; ++s) {
    const LayoutStep& step = change_layout[s];
    const auto first = static_cast<std::size_t>(step.first);
    if (step.op == LayoutStep::Op::gate) {
      const std::size_t end = end_of(s);
      const bool open = differs(s, end, now, before);
      out.put_bit(open);
      if (!open) s = end;
    } else if (step.op == LayoutStep::Op::sized) {
      put_sized_step(out, step, now, before);
    } else if (step.op == LayoutStep::Op::masked) {
      for (std::size_t f = first; f < first + step.count; ++f) out.put_bit(now[f] != before[f]);
      for (std::size_t f = first; f < first + step.count; ++f)
        if (now[f] != before[f]) put_raw(out, f, now[f]);
    }
  }
}

/// Told whole: the fields of a place and its looks, the lesser ones where they are not as usual, the velocity
/// as a change of none.
void put_whole_fields(BitWriter& out, const MovingRecord& e) {
  const StandardValues now = fields_of(e);
  const auto index = [](StandardField f) { return static_cast<std::size_t>(f); };
  out.put(static_cast<std::uint32_t>(e.record.id), 32);
  for (const StandardField f : {StandardField::x, StandardField::y, StandardField::z, StandardField::kind,
                                StandardField::yaw, StandardField::flags})
    put_raw(out, index(f), now[index(f)]);
  for (const auto& [f, usual] : {std::pair{StandardField::pitch, 0}, std::pair{StandardField::health, 255},
                                 std::pair{StandardField::state, 0}}) {
    out.put_bit(now[index(f)] != usual);
    if (now[index(f)] != usual) put_raw(out, index(f), now[index(f)]);
  }
  const auto speeds = std::ranges::find_if(change_layout, [](const LayoutStep& step) {
    return step.op == LayoutStep::Op::sized && step.first == StandardField::velocity_x;
  });
  const auto gate = static_cast<std::size_t>(speeds - change_layout.begin()) - 1;
  put_steps(out, gate, end_of(gate), now, StandardValues{});
}

std::vector<std::uint8_t> twin(CellCoord cell, const std::vector<MovingRecord>& now,
                               const std::vector<MovingRecord>& base, std::uint32_t age,
                               std::uint32_t rate_hz) {
  const auto in = [](const std::vector<MovingRecord>& list, EntityId id) {
    return std::ranges::find(list, id, [](const MovingRecord& e) { return e.record.id; });
  };
  std::vector<std::uint8_t> bytes(coded_block_bytes_max);
  BitWriter out(bytes);
  out.put_bit(false);
  if (age == 0)
    for (const std::int16_t v : {cell.x, cell.y, cell.z}) out.put_signed(v, 17);
  std::vector<std::uint32_t> gaps(1, 0);
  for (const MovingRecord& e : base)
    in(now, e.record.id) == now.end() ? gaps.push_back(0) : void(++gaps.back());
  std::vector<MovingRecord> fresh;
  for (const MovingRecord& e : now)
    if (in(base, e.record.id) == base.end()) fresh.push_back(e);
  out.put_bit(gaps.size() > 1 || !fresh.empty());
  if (gaps.size() > 1 || !fresh.empty()) {
    out.put_gamma(static_cast<std::uint32_t>(gaps.size() - 1));
    for (std::size_t i = 0; i + 1 < gaps.size(); ++i) out.put_gamma(gaps[i]);
    out.put_gamma(static_cast<std::uint32_t>(fresh.size()));
    for (const MovingRecord& e : fresh) put_whole_fields(out, e);
  }
  std::uint32_t run = 0;
  for (const MovingRecord& before : base) {
    const auto at = in(now, before.record.id);
    if (at == now.end()) continue;
    const StandardValues told = foretold_fields(before, age, rate_hz), is = fields_of(*at);
    if (told == is) {
      ++run;
      continue;
    }
    out.put_gamma(std::exchange(run, 0));
    put_steps(out, 0, change_layout.size(), is, told);
  }
  if (run > 0) out.put_gamma(run);
  bytes.resize(out.finish());
  return bytes;
}

}  // namespace

TEST_CASE("blocks are coded as the tables of the standard fields say",
          "[protocol][packed][standard_layout]") {
  Rng rng = rng_for(140, 0);
  for (int round = 0; round < 3000; ++round) {
    const std::uint32_t rate_hz = 10 + rng.below(119);
    const std::uint32_t age = rng.below(5) == 0 ? 0 : 1 + rng.below(base_age_max);
    std::vector<MovingRecord> base, now;
    for (std::uint32_t i = rng.below(30); age != 0 && i-- > 0;) base.push_back(some_moving(rng, i));
    sort_by_id(base);
    for (const MovingRecord& e : base)
      if (rng.below(6) != 0) now.push_back(changed(rng, e, age, rate_hz));
    for (std::uint32_t i = rng.below(8); i-- > 0;) now.push_back(some_moving(rng, 1000 + i));
    sort_by_id(now);
    std::vector<std::uint8_t> bytes(coded_block_bytes_max);
    bytes.resize(encode_block({{-3, 7, 1}, now}, {age, base, false}, rate_hz, bytes));
    CAPTURE(round, age, base.size(), now.size());
    REQUIRE(bytes == twin({-3, 7, 1}, now, base, age, rate_hz));
  }
}
