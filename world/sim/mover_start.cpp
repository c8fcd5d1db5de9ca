#include "world/sim/mover_start.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double door_speed_mps = 2 * map_unit_m * 35;
constexpr double door_wait_s = 150.0 / 35;
constexpr std::uint32_t stairs_max = 1024;  // sectors in one staircase; a loop ends earlier, at a busy one

bool is_door(LineEffect effect) {
  return effect == LineEffect::door_raise || effect == LineEffect::door_open ||
         effect == LineEffect::door_close || effect == LineEffect::door_close_wait_open;
}

/// Calls visit(sector) for each sector beside one, some twice.
template <typename Visit>
void each_beside(const MapPlan& plan, std::uint32_t sector, Visit&& visit) {
  for (const std::uint32_t line : plan.lines_of(sector)) {
    const std::uint32_t other = plan.beside(sector, line);
    if (other != no_index) visit(other);
  }
}

class Starter {
 public:
  Starter(const MoverStart& start, const LineAction& action, bool by_player)
      : plan_(start.plan),
        movers_(start.movers),
        heights_(start.heights),
        a_(action),
        by_player_(by_player) {}

  bool sector(std::uint32_t s) {
    switch (a_.effect) {
      case LineEffect::door_raise: return door(s, Motion::door_raise, MotionPhase::up);
      case LineEffect::door_open: return door(s, Motion::door_open, MotionPhase::up);
      case LineEffect::door_close: return door(s, Motion::door_close, MotionPhase::down);
      case LineEffect::door_close_wait_open: return door(s, Motion::door_close_wait_open, MotionPhase::down);
      case LineEffect::lift: return lift(s);
      case LineEffect::lift_up: return lift_up(s);
      case LineEffect::lift_perpetual: return resume(s, Plane::floor) || perpetual(s);
      case LineEffect::lift_stop: return hold(s, Plane::floor);
      case LineEffect::floor: return once(s, Plane::floor, a_.target, a_.offset_m);
      case LineEffect::ceiling: return once(s, Plane::ceiling, a_.target, a_.offset_m);
      case LineEffect::floor_and_ceiling: {
        const bool up = once(s, Plane::ceiling, HeightTarget::highest_ceiling, 0);
        const bool down = once(s, Plane::floor, HeightTarget::lowest_floor, 0);
        return up || down;
      }
      case LineEffect::crusher: return resume(s, Plane::ceiling) || crusher(s);
      case LineEffect::crusher_stop: return hold(s, Plane::ceiling);
      case LineEffect::stairs: return stairs(s);
      case LineEffect::donut: return donut(s);
      default: return false;
    }
  }

  /// A door by its own line: one that moves turns round.
  bool own_door(std::uint32_t s) {
    Mover* m = movers_.find(s, Plane::ceiling);
    if (m == nullptr) return sector(s);
    if (m->motion != Motion::door_raise || a_.effect != LineEffect::door_raise) return false;
    if (m->phase == MotionPhase::down) {
      m->phase = MotionPhase::up;
    } else if (by_player_) {
      m->phase = MotionPhase::down;
    } else {
      return false;  // monsters never close a door
    }
    m->fresh = 1;
    return true;
  }

 private:
  double floor(std::uint32_t s) const { return heights_[s].floor_m; }
  double ceiling(std::uint32_t s) const { return heights_[s].ceiling_m; }
  double target(std::uint32_t s, HeightTarget t, Plane plane) const {
    return target_height(plan_, heights_, s, t, plane);
  }

  Mover mover(std::uint32_t s, Plane plane, Motion motion, MotionPhase phase) const {
    Mover m;
    m.sector = s, m.plane = plane, m.motion = motion, m.phase = phase, m.resume = phase;
    m.crushes = a_.crushes ? 1 : 0, m.slows = a_.slows ? 1 : 0;
    m.speed_mps = a_.speed_mps, m.wait_s = a_.wait_s;
    return m;
  }

  bool door(std::uint32_t s, Motion motion, MotionPhase phase) {
    Mover m = mover(s, Plane::ceiling, motion, phase);
    m.low_m = floor(s);
    m.high_m = ceiling(s);
    // A door opens to a little under the lowest ceiling beside it; one that is above that stays there.
    if (motion == Motion::door_raise || motion == Motion::door_open)
      m.high_m = std::max(m.high_m, target(s, a_.target, Plane::ceiling) + a_.offset_m);
    return movers_.start(m);
  }

  bool lift(std::uint32_t s) {
    Mover m = mover(s, Plane::floor, Motion::lift, MotionPhase::down);
    const double to = a_.target == HeightTarget::by_amount ? floor(s) : target(s, a_.target, Plane::floor);
    m.low_m = std::min(floor(s), to + a_.offset_m);
    m.high_m = lift_upper_end(plan_.map(), heights_, s);
    return movers_.start(m);
  }

  bool lift_up(std::uint32_t s) {
    Mover m = mover(s, Plane::floor, Motion::lift_up, MotionPhase::up);
    m.low_m = floor(s);
    m.high_m = std::max(floor(s), a_.target == HeightTarget::by_amount
                                      ? floor(s) + a_.offset_m
                                      : target(s, a_.target, Plane::floor) + a_.offset_m);
    return movers_.start(m);
  }

  bool perpetual(std::uint32_t s) {
    Mover m = mover(s, Plane::floor, Motion::perpetual, MotionPhase::down);  // Doom draws lots for the way
    m.low_m = std::min(floor(s), target(s, HeightTarget::lowest_floor, Plane::floor) + a_.offset_m);
    m.high_m = std::max(lift_upper_end(plan_.map(), heights_, s),
                        target(s, HeightTarget::highest_floor, Plane::floor));
    return movers_.start(m);
  }

  /// Doom moves a plane at once that is asked to go down to a height above it; here it travels there.
  bool once(std::uint32_t s, Plane plane, HeightTarget t, double offset_m) {
    const double now = plane == Plane::floor ? floor(s) : ceiling(s);
    double to = t == HeightTarget::by_amount ? now : target(s, t, plane);
    const bool sky = plan_.map().source().sectors[s].sky();
    if (plane == Plane::floor && t == HeightTarget::lowest_ceiling && !sky) to = std::min(to, ceiling(s));
    // "Eight above the highest floor" keeps to that floor when it is level with it already.
    if (!(t == HeightTarget::highest_floor && plane == Plane::floor && to == now)) to += offset_m;
    return move_to(s, plane, to, a_.speed_mps);
  }

  bool move_to(std::uint32_t s, Plane plane, double to, double speed_mps) {
    const double now = plane == Plane::floor ? floor(s) : ceiling(s);
    Mover m = mover(s, plane, Motion::once, to > now ? MotionPhase::up : MotionPhase::down);
    m.low_m = m.high_m = to;
    m.speed_mps = speed_mps;
    return movers_.start(m);
  }

  bool crusher(std::uint32_t s) {
    Mover m = mover(s, Plane::ceiling, Motion::crusher, MotionPhase::down);
    m.low_m = floor(s) + a_.offset_m;
    m.high_m = std::max(ceiling(s), m.low_m);
    return movers_.start(m);
  }

  bool hold(std::uint32_t s, Plane plane) {
    Mover* m = movers_.find(s, plane);
    if (m == nullptr || m->phase == MotionPhase::held || is_once(m->motion)) return false;
    m->resume = m->phase;
    m->phase = MotionPhase::held;
    return true;
  }

  bool resume(std::uint32_t s, Plane plane) {
    Mover* m = movers_.find(s, plane);
    if (m == nullptr || m->phase != MotionPhase::held) return false;
    m->phase = m->resume;
    m->fresh = 1;
    return true;
  }

  static bool is_once(Motion m) {
    return m == Motion::once || m == Motion::door_raise || m == Motion::door_open ||
           m == Motion::door_close || m == Motion::door_close_wait_open;
  }

  /// From the first sector over lines that face away from it to sectors with the same flat, each one higher.
  bool stairs(std::uint32_t first) {
    const SectorMap& source = plan_.map().source();
    const TextureName flat = source.sectors[first].floor_flat;
    double to = floor(first) + a_.step_m;
    if (!move_to(first, Plane::floor, to, a_.speed_mps)) return false;
    std::uint32_t at = first;
    for (std::uint32_t steps = 1; steps < stairs_max; ++steps) {
      std::uint32_t next = no_index;
      for (const std::uint32_t line : plan_.lines_of(at)) {
        const MapLine& l = source.lines[line];
        const std::uint32_t behind = source.back_sector(l);
        if (source.front_sector(l) != at || behind == no_index || behind == at) continue;
        if (source.sectors[behind].floor_flat != flat || movers_.find(behind, Plane::floor) != nullptr)
          continue;
        next = behind;
        break;
      }
      if (next == no_index) break;
      to += a_.step_m;
      move_to(next, Plane::floor, to, a_.speed_mps);
      at = next;
    }
    return true;
  }

  /// The tagged pillar goes down and the ring around it up, both to the floor outside the ring.
  bool donut(std::uint32_t pillar) {
    if (movers_.find(pillar, Plane::floor) != nullptr) return false;
    std::uint32_t ring = no_index;
    each_beside(plan_, pillar, [&](std::uint32_t s) { ring = ring == no_index ? s : ring; });
    if (ring == no_index) return false;
    std::uint32_t outside = no_index;
    each_beside(plan_, ring, [&](std::uint32_t s) {
      if (outside == no_index && s != pillar) outside = s;
    });
    if (outside == no_index) return false;
    const double to = floor(outside);
    const bool up = move_to(ring, Plane::floor, to, a_.speed_mps);
    const bool down = move_to(pillar, Plane::floor, to, a_.speed_mps);
    return up || down;
  }

  const MapPlan& plan_;
  SectorMovers& movers_;
  std::span<const SectorHeights> heights_;
  const LineAction& a_;
  bool by_player_;
};

}  // namespace

double target_height(const MapPlan& plan, std::span<const SectorHeights> heights, std::uint32_t sector,
                     HeightTarget target, Plane plane) {
  const double floor = heights[sector].floor_m, ceiling = heights[sector].ceiling_m;
  double out = 0;
  bool any = false;
  const auto pick = [&](double value, bool better) {
    if (!any || better) out = value;
    any = true;
  };
  each_beside(plan, sector, [&](std::uint32_t s) {
    const SectorHeights& h = heights[s];
    switch (target) {
      case HeightTarget::lowest_floor: pick(h.floor_m, h.floor_m < out); break;
      case HeightTarget::highest_floor: pick(h.floor_m, h.floor_m > out); break;
      case HeightTarget::next_higher_floor:
        if (h.floor_m > floor) pick(h.floor_m, h.floor_m < out);
        break;
      case HeightTarget::next_lower_floor:
        if (h.floor_m < floor) pick(h.floor_m, h.floor_m > out);
        break;
      case HeightTarget::lowest_ceiling: pick(h.ceiling_m, h.ceiling_m < out); break;
      case HeightTarget::highest_ceiling: pick(h.ceiling_m, h.ceiling_m > out); break;
      case HeightTarget::next_higher_ceiling:
        if (h.ceiling_m > ceiling) pick(h.ceiling_m, h.ceiling_m < out);
        break;
      case HeightTarget::next_lower_ceiling:
        if (h.ceiling_m < ceiling) pick(h.ceiling_m, h.ceiling_m > out);
        break;
      default: break;
    }
  });
  switch (target) {
    case HeightTarget::own_floor: return floor;
    case HeightTarget::own_ceiling: return ceiling;
    case HeightTarget::lowest_floor: return any ? std::min(out, floor) : floor;
    default: break;
  }
  if (any) return out;
  return plane == Plane::floor ? floor : ceiling;
}

bool start_effect(MoverStart start, const LineAction& action, std::uint32_t line, bool by_player) {
  Starter starter(start, action, by_player);
  if (action.sector_behind) {
    const SectorMap& source = start.plan.map().source();
    const std::uint32_t behind = source.back_sector(source.lines[line]);
    if (behind == no_index) return false;
    return is_door(action.effect) ? starter.own_door(behind) : starter.sector(behind);
  }
  bool any = false;
  for (const auto& [tag, sector] : start.plan.tagged(action.tag)) any = starter.sector(sector) || any;
  return any;
}

double lift_upper_end(const PlacedMap& map, HeightsView heights, std::uint32_t sector) {
  const double floor_m = heights[sector].floor_m;
  if (floor_m != map.initial_heights()[sector].floor_m) return floor_m;
  return std::max(floor_m, map.z_to_world(map.source().sectors[sector].floor));
}

void start_timed_sectors(MoverStart start) {
  const PlacedMap& map = start.plan.map();
  for (const std::uint32_t s : start.plan.timed_sectors()) {
    const bool closes = map.source().sectors[s].special == 10;
    Mover m;
    m.sector = s, m.plane = Plane::ceiling;
    m.speed_mps = door_speed_mps, m.wait_s = door_wait_s;
    m.low_m = start.heights[s].floor_m;
    if (closes) {
      m.motion = Motion::door_close;
      m.phase = MotionPhase::wait_high;
      m.left_s = 30;
      m.high_m = start.heights[s].ceiling_m;
    } else {
      m.motion = Motion::door_raise;
      m.phase = MotionPhase::wait_low;
      m.left_s = 300;
      m.high_m =
          std::max(start.heights[s].ceiling_m,
                   target_height(start.plan, start.heights, s, HeightTarget::lowest_ceiling, Plane::ceiling) -
                       4 * map_unit_m);
    }
    start.movers.start(m);
  }
}

}  // namespace ashlar
