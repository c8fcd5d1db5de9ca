#include "world/collide/crowd.h"

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

std::int32_t cell_of(double v) { return floor_to_int(v / cell_m); }

}  // namespace

void Crowd::reserve(std::size_t movers_max) {
  movers_max_ = movers_max;
  movers_.reserve(movers_max);
  cells_.reserve(movers_max);
}

void Crowd::clear() { movers_.clear(); }

void Crowd::add(const Cylinder& shape, const Cylinder& against_walls, Body& body, EntityId id) {
  ASHLAR_ASSERT(movers_.size() < movers_max_);
  if (body.noclip != 0 || body.stuck_ticks != 0) return;
  const std::uint64_t cell = cell_key(cell_of(body.position_m.x), cell_of(body.position_m.y));
  movers_.push_back({shape, against_walls, body.position_m, &body, {}, {}, cell, id});
}

void Crowd::meet(Mover& a, Mover& b) {
  if (a.position_m.z >= b.position_m.z + b.shape.height_m - contact_slop_m) return;
  if (b.position_m.z >= a.position_m.z + a.shape.height_m - contact_slop_m) return;
  const double reach = a.shape.radius_m + b.shape.radius_m;
  const DVec2 d = xy(b.position_m) - xy(a.position_m);
  const double d2 = dot(d, d);
  if (d2 >= reach * reach) return;
  ++pairs_met_;
  const double distance = std::sqrt(d2);
  // In one and the same place: apart along x, which of the two goes where is settled by id.
  const DVec2 out = distance > 1e-6 ? d * (1 / distance) : DVec2{a.id < b.id ? 1.0 : -1.0, 0};
  const DVec2 half = out * (0.5 * (reach - distance));
  a.push_m = a.push_m - half;
  b.push_m = b.push_m + half;
  const double a_into = dot(xy(a.body->velocity_mps), out);
  const double b_into = -dot(xy(b.body->velocity_mps), out);
  if (a_into > 0) a.brake_mps = a.brake_mps - out * (0.5 * a_into);
  if (b_into > 0) b.brake_mps = b.brake_mps + out * (0.5 * b_into);
}

void Crowd::push_apart(const Space& space, const Rules& rules) {
  pairs_met_ = 0;
  std::sort(movers_.begin(), movers_.end(),
            [](const Mover& a, const Mover& b) { return a.cell != b.cell ? a.cell < b.cell : a.id < b.id; });
  cells_.clear();
  for (const Mover& m : movers_) cells_.push_back(m.cell);

  // A pair belongs to the wider of its two, so nobody searches further than twice his own radius.
  for (Mover& m : movers_) {
    const double reach = 2 * m.shape.radius_m;
    const std::int32_t x0 = cell_of(m.position_m.x - reach), x1 = cell_of(m.position_m.x + reach);
    const std::int32_t y0 = cell_of(m.position_m.y - reach), y1 = cell_of(m.position_m.y + reach);
    for (std::int32_t y = y0; y <= y1; ++y) {
      const std::uint64_t last = cell_key(x1, y);
      const auto first = std::lower_bound(cells_.begin(), cells_.end(), cell_key(x0, y));
      for (auto i = static_cast<std::size_t>(first - cells_.begin()); i < cells_.size() && cells_[i] <= last;
           ++i) {
        Mover& other = movers_[i];
        const bool mine = other.shape.radius_m != m.shape.radius_m ? other.shape.radius_m < m.shape.radius_m
                                                                   : other.id < m.id;
        if (mine) meet(m, other);
      }
    }
  }

  const double push_m_max = crowd_push_mps_max * rules.tick_s();
  for (const Mover& m : movers_) {
    const double size = length(m.push_m);
    if (size > contact_slop_m) {
      const DVec2 push = m.push_m * std::min(1.0, push_m_max / size);
      const DVec3 way{push.x, push.y, 0};
      const Surroundings around(space, m.against_walls, swept(bounds_of(m.against_walls, m.position_m), way));
      ContactList contacts;
      const SlideEnd end = slide(around, m.position_m, {}, way, rules.tick_s(), contacts);
      if (!end.started_inside) {
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
