#include "world/sim/crowd.h"

#include <algorithm>
#include <cmath>

#include "world/collide/slide.h"
#include "world/collide/surroundings.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double cell_m = 0.75;  // two players that overlap are in neighbouring cells

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

void Crowd::sort() {
  const auto before = [](const Key& a, const Key& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.id < b.id;
  };
  const std::size_t count = movers_.size();
  if (order_.size() != count) {
    order_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) order_[i].mover = i;
  }
  for (Key& k : order_) k = {movers_[k.mover].cell, movers_[k.mover].id, k.mover};
  // Few leave their cell in a tick, so each is moved by a few places. Whatever order there was before, the
  // one that comes out is the same.
  constexpr std::size_t shifts_per_mover = 8;
  std::size_t shifts = shifts_per_mover * count;
  for (std::size_t i = 1; i < count; ++i) {
    const Key key = order_[i];
    std::size_t at = i;
    while (at > 0 && before(key, order_[at - 1]) && shifts > 0) order_[at] = order_[at - 1], --at, --shifts;
    order_[at] = key;
  }
  if (shifts == 0) std::sort(order_.begin(), order_.end(), before);

  cells_.clear();
  discs_.clear();
  rows_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t cell = order_[i].cell;
    cells_.push_back(cell);
    const Mover& m = movers_[order_[i].mover];
    discs_.push_back({m.position_m, m.shape.radius_m, m.shape.height_m, m.id, order_[i].mover});
    if (rows_.empty() || rows_.back().y != row_of(cell)) rows_.push_back({row_of(cell), i, i});
  }
  rows_.push_back({0, static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(count)});
  ASHLAR_ASSERT(rows_.size() <= movers_max_ + 1);
  ASHLAR_ASSERT_SLOW(std::is_sorted(order_.begin(), order_.end(), before));
}

void Crowd::meet_neighbours(std::size_t row, const Disc& disc) {
  const double reach = 2 * disc.radius_m;
  const DVec3 at = disc.position_m;
  const std::int32_t x0 = cell_of(at.x - reach), x1 = cell_of(at.x + reach);
  const std::int32_t y0 = cell_of(at.y - reach), y1 = cell_of(at.y + reach);
  const auto meets = [&](const Disc& other) {
    // A pair belongs to the wider of its two, so nobody searches further than twice his own radius.
    const bool mine = other.radius_m != disc.radius_m ? other.radius_m < disc.radius_m : other.id < disc.id;
    const DVec2 d = xy(other.position_m) - xy(at);
    const double both = disc.radius_m + other.radius_m;
    return mine && dot(d, d) < both * both && at.z < other.position_m.z + other.height_m - contact_slop_m &&
           other.position_m.z < at.z + disc.height_m - contact_slop_m;
  };
  while (row > 0 && rows_[row - 1].y >= y0) --row;
  for (; row + 1 < rows_.size() && rows_[row].y <= y1; ++row) {
    const std::uint64_t low = cell_key(x0, rows_[row].y), last = cell_key(x1, rows_[row].y);
    const std::uint32_t first = rows_[row].first, end = rows_[row + 1].first;
    std::uint32_t i = rows_[row].from;
    while (i > first && cells_[i - 1] >= low) --i;
    while (i < end && cells_[i] < low) ++i;
    rows_[row].from = i;
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
    for (std::uint32_t i = rows_[row].first; i < rows_[row + 1].first; ++i) meet_neighbours(row, discs_[i]);

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
