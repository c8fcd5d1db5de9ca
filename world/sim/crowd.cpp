#include "world/sim/crowd.h"

#include <algorithm>
#include <cmath>

#include "world/collide/slide.h"
#include "world/collide/surroundings.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double cell_m = 0.75;  // two players that overlap are in neighbouring cells
// Who is wider looks for all whom he meets by himself, so that the others need not look so far for him.
constexpr double narrow_radius_m_max = 1;

/// Rows of cells lie one after the other, so the cells from (x0, y) to (x1, y) are one range of keys.
std::uint64_t cell_key(std::int32_t x, std::int32_t y) {
  const auto bits = [](std::int32_t v) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(v)) ^ 0x80000000u;
  };
  return bits(y) << 32 | bits(x);
}

std::int32_t row_of(std::uint64_t key) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(key >> 32) ^ 0x80000000u);
}

std::int32_t cell_of(double v) { return floor_to_int(v / cell_m); }

}  // namespace

void Crowd::reserve(std::size_t movers_max) {
  movers_max_ = movers_max;
  movers_.reserve(movers_max);
  order_.reserve(movers_max);
  ids_.reserve(movers_max);
  now_.reserve(movers_max);
  cells_.reserve(movers_max);
  discs_.reserve(movers_max);
  rows_.reserve(movers_max + 1);
}

void Crowd::clear() { movers_.clear(); }

void Crowd::add(const Mover& mover) {
  ASHLAR_ASSERT(movers_.size() < movers_max_);
  ASHLAR_ASSERT(mover.id != EntityId{0});
  ASHLAR_ASSERT(mover.shape.radius_m > 0);
  movers_.push_back(mover);
  movers_.back().cell = cell_key(cell_of(mover.position_m.x), cell_of(mover.position_m.y));
}

void Crowd::add(const Cylinder& shape, const Cylinder& against_walls, Body& body, EntityId id,
                PushTurn turn) {
  if (body.noclip != 0 || body.stuck_ticks != 0) return;
  add({shape, against_walls, body.position_m, &body, {}, {}, 0, id, turn, turn != PushTurn::next_tick});
}

void Crowd::add_fixed(const Cylinder& shape, DVec3 position_m, EntityId id) {
  add({shape, shape, position_m, nullptr, {}, {}, 0, id, PushTurn::always, true});
}

/// Precondition: they overlap.
void Crowd::meet(Mover& a, Mover& b) {
  ASHLAR_ASSERT(a.id != b.id);
  const double reach = a.shape.radius_m + b.shape.radius_m;
  const DVec2 d = xy(b.position_m) - xy(a.position_m);
  const double d2 = dot(d, d);
  ++pairs_met_;
  if (a.turn == PushTurn::always || b.turn == PushTurn::always) a.pushed_now = b.pushed_now = true;
  const double distance = std::sqrt(d2);
  // In one and the same place: apart along x, which of the two goes where is settled by id.
  const DVec2 out = distance > 1e-6 ? d * (1 / distance) : DVec2{a.id < b.id ? 1.0 : -1.0, 0};
  const bool fixed = a.body == nullptr || b.body == nullptr;
  const DVec2 half = out * ((fixed ? 1.0 : 0.5) * (reach - distance));
  a.push_m = a.push_m - half;
  b.push_m = b.push_m + half;
  const double a_into = a.body != nullptr ? dot(xy(a.body->velocity_mps), out) : 0;
  const double b_into = b.body != nullptr ? -dot(xy(b.body->velocity_mps), out) : 0;
  if (a_into > 0) a.brake_mps = a.brake_mps - out * (0.5 * a_into);
  if (b_into > 0) b.brake_mps = b.brake_mps + out * (0.5 * b_into);
}

/// Some came or went: who stayed keeps his place in the order, and who is new comes at its end. Movers are
/// mostly added by their slots; where they are not, the order is made anew, more slowly.
void Crowd::follow_changes() {
  constexpr std::uint32_t gone = 0xffffffff;
  const auto count = static_cast<std::uint32_t>(movers_.size());
  now_.assign(ids_.size(), gone);
  std::uint32_t stayed = 0, mover = 0;
  for (std::size_t before = 0; before < ids_.size(); ++before) {
    while (mover < count && slot_of(movers_[mover].id) < slot_of(ids_[before])) ++mover;
    if (mover < count && movers_[mover].id == ids_[before]) now_[before] = mover++, ++stayed;
  }
  std::erase_if(order_, [&](const Key& k) { return now_[k.mover] == gone; });
  for (Key& k : order_) k.mover = now_[k.mover];
  ASHLAR_ASSERT(order_.size() == stayed);
  ids_.assign(count, EntityId{0});
  for (const Key& k : order_) ids_[k.mover] = movers_[k.mover].id;
  for (std::uint32_t i = 0; i < count; ++i)
    if (ids_[i] == EntityId{0}) order_.push_back({0, movers_[i].id, i}), ids_[i] = movers_[i].id;
}

void Crowd::sort() {
  const auto before = [](const Key& a, const Key& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.id < b.id;
  };
  const std::size_t count = movers_.size();
  if (!std::ranges::equal(ids_, movers_, {}, {}, &Mover::id)) follow_changes();
  for (Key& k : order_) k = {movers_[k.mover].cell, movers_[k.mover].id, k.mover};
  // Few leave their cell in a tick, so each is moved by a few places. Whatever order there was before, the
  // one that comes out is the same.
  constexpr std::size_t shifts_per_mover = 8;
  std::size_t shifts = shifts_per_mover * count;
  for (std::size_t i = 1; i < count && shifts > 0; ++i) {
    const Key key = order_[i];
    std::size_t at = i;
    while (at > 0 && before(key, order_[at - 1]) && shifts > 0) order_[at] = order_[at - 1], --at, --shifts;
    order_[at] = key;
  }
  if (shifts == 0) std::sort(order_.begin(), order_.end(), before);

  cells_.clear();
  discs_.clear();
  rows_.clear();
  narrow_radius_m_ = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t cell = order_[i].cell;
    cells_.push_back(cell);
    const Mover& m = movers_[order_[i].mover];
    if (m.shape.radius_m <= narrow_radius_m_max)
      narrow_radius_m_ = std::max(narrow_radius_m_, m.shape.radius_m);
    discs_.push_back({m.position_m, m.shape.radius_m, m.shape.height_m, m.id, order_[i].mover});
    if (rows_.empty() || rows_.back().y != row_of(cell)) rows_.push_back({row_of(cell), i, i});
  }
  rows_.push_back({0, static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(count)});
  ASHLAR_ASSERT(rows_.size() <= movers_max_ + 1);
  ASHLAR_ASSERT_SLOW(std::is_sorted(order_.begin(), order_.end(), before));
}

/// The pairs of the mover at a place in the order that are its own: with all narrower ones, if it is wide,
/// and otherwise with those that are not and come after it.
void Crowd::meet_neighbours(std::size_t row, std::uint32_t place) {
  const Disc& disc = discs_[place];
  const bool wide = disc.radius_m > narrow_radius_m_max;
  const double reach = disc.radius_m + (wide ? disc.radius_m : narrow_radius_m_);
  const DVec3 at = disc.position_m;
  const double top = at.z + disc.height_m - contact_slop_m;
  const std::int32_t x0 = cell_of(at.x - reach), x1 = cell_of(at.x + reach);
  const std::int32_t y0 = cell_of(at.y - reach), y1 = cell_of(at.y + reach);
  const auto mine = [&](const Disc& other) {
    if (!wide) return other.radius_m <= narrow_radius_m_max;
    return other.radius_m != disc.radius_m ? other.radius_m < disc.radius_m : other.id < disc.id;
  };
  const auto meets = [&](const Disc& other) {
    const DVec2 d = xy(other.position_m) - xy(at);
    const double both = disc.radius_m + other.radius_m;
    return dot(d, d) < both * both && at.z < other.position_m.z + other.height_m - contact_slop_m &&
           other.position_m.z < top && mine(other);
  };
  const std::size_t own = row;
  while (wide && row > 0 && rows_[row - 1].y >= y0) --row;
  for (; row + 1 < rows_.size() && rows_[row].y <= y1; ++row) {
    const std::uint64_t low = cell_key(x0, rows_[row].y), last = cell_key(x1, rows_[row].y);
    const std::uint32_t first = rows_[row].first, end = rows_[row + 1].first;
    std::uint32_t i = place + 1;
    if (wide || row != own) {
      i = rows_[row].from;
      while (i > first && cells_[i - 1] >= low) --i;
      while (i < end && cells_[i] < low) ++i;
      rows_[row].from = i;
    }
    for (; i < end && cells_[i] <= last; ++i) {
      if (!meets(discs_[i])) continue;
      Mover &m = movers_[disc.mover], &other = movers_[discs_[i].mover];
      if (m.body != nullptr || other.body != nullptr) meet(m, other);
    }
  }
}

void Crowd::push_apart(const Space& space, const Rules& rules) {
  pairs_met_ = 0;
  sort();
  for (std::size_t row = 0; row + 1 < rows_.size(); ++row)
    for (std::uint32_t i = rows_[row].first; i < rows_[row + 1].first; ++i) meet_neighbours(row, i);

  const double push_m_max = crowd_push_mps_max * rules.tick_s();
  for (const Mover& m : movers_) {
    if (m.body == nullptr) continue;
    const double size = length(m.push_m);
    if (size > contact_slop_m && m.pushed_now) {
      const DVec2 push = m.push_m * std::min(1.0, push_m_max / size);
      const DVec3 way{push.x, push.y, 0};
      const Surroundings around(space, m.against_walls, swept(bounds_of(m.against_walls, m.position_m), way));
      ContactList contacts;
      const SlideEnd end = slide(around, m.position_m, {}, way, rules.tick_s(), contacts);
      if (!end.started_inside && in_bounds(end.position_m)) {
        m.body->position_m = end.position_m;
        m.body->last_free_m = end.position_m;
      }
    }
    // Several neighbours may brake more than there is: what is left is never turned round or made faster.
    const DVec2 v = xy(m.body->velocity_mps);
    DVec2 braked = v + m.brake_mps;
    if (dot(braked, v) < 0) braked = {};
    const double speed2 = dot(v, v), braked2 = dot(braked, braked);
    if (braked2 > speed2) braked = braked * std::sqrt(speed2 / braked2);
    m.body->velocity_mps.x = braked.x;
    m.body->velocity_mps.y = braked.y;
  }
}

}  // namespace ashlar
