#include "world/sim/sector_movers.h"

#include <algorithm>

#include "world/bsp/placement.h"
#include "world/math/assert.h"
#include "world/sim/map_plan.h"

namespace ashlar {
namespace {

/// What comes after an end of the way.
enum class Then : std::uint8_t { done, turn, wait };
/// What a mover does about somebody in the way.
enum class Meets : std::uint8_t { waits, turns, presses };

struct MotionTraits {
  Then at_high, at_low;
  Meets meets;
};

/// Indexed by Motion. The published Doom source (p_doors.c, p_plats.c, p_floor.c, p_ceilng.c) has the rules.
constexpr MotionTraits motion_traits[motion_count] = {
    {Then::wait, Then::done, Meets::turns},    // door_raise
    {Then::done, Then::done, Meets::waits},    // door_open
    {Then::done, Then::done, Meets::waits},    // door_close
    {Then::done, Then::wait, Meets::turns},    // door_close_wait_open
    {Then::done, Then::wait, Meets::turns},    // lift
    {Then::wait, Then::done, Meets::turns},    // lift_up
    {Then::wait, Then::wait, Meets::turns},    // perpetual
    {Then::done, Then::done, Meets::waits},    // once
    {Then::turn, Then::turn, Meets::presses},  // crusher
};

constexpr double hurt_every_s = 4.0 / 35;  // Doom hurts on every fourth tic
constexpr double creep = 1.0 / 8;          // share of its speed that a slowed crusher keeps
constexpr int turns_per_tick_max = 8;      // a way of no length would turn for ever

constexpr std::uint64_t key_of(std::uint32_t sector, Plane plane) {
  return static_cast<std::uint64_t>(sector) * 2 + static_cast<std::uint64_t>(plane);
}
constexpr std::uint64_t key_of(const Mover& m) { return key_of(m.sector, m.plane); }

bool is_door(Motion m) { return m <= Motion::door_close_wait_open; }

/// Advances one mover; true while it stays in the table.
class PlaneStep {
 public:
  /// @param tick  the bodies that are carried and stopped for, and the events; nullptr: nobody, and silence
  PlaneStep(const PlacedMap& map, std::span<SectorHeights> heights, MoverTick* tick, SectorMovers& movers,
            Mover& mover)
      : map_(map),
        heights_(heights),
        tick_(tick),
        movers_(movers),
        m_(mover),
        traits_(motion_traits[static_cast<std::size_t>(mover.motion)]) {}

  bool run(double dt_s) {
    m_.hurt_in_s = std::max(0.0, m_.hurt_in_s - dt_s);
    if (m_.fresh != 0 && m_.moving()) {
      m_.fresh = 0;
      event(MoverEventKind::started);
    }
    // A door closes onto the floor as it is now, wherever that went.
    if (is_door(m_.motion)) m_.low_m = heights_[m_.sector].floor_m;
    for (int turns = 0; turns < turns_per_tick_max && dt_s > 0; ++turns) {
      switch (m_.phase) {
        case MotionPhase::held: return true;
        case MotionPhase::wait_high:
        case MotionPhase::wait_low:
          if (m_.left_s > dt_s) {
            m_.left_s -= dt_s;
            return true;
          }
          dt_s -= m_.left_s;
          m_.left_s = 0;
          m_.phase = m_.phase == MotionPhase::wait_high ? MotionPhase::down : MotionPhase::up;
          m_.fresh = 0;
          event(MoverEventKind::started);
          break;
        case MotionPhase::up:
        case MotionPhase::down:
          if (!travel(dt_s)) return true;
          if (!arrive()) return false;
          break;
      }
    }
    return true;
  }

 private:
  double height() const {
    const SectorHeights& h = heights_[m_.sector];
    return m_.plane == Plane::floor ? h.floor_m : h.ceiling_m;
  }

  void event(MoverEventKind kind, EntityId who = {}) {
    if (tick_ != nullptr) tick_->events.add({kind, tick_->map, m_.plane, m_.sector, who});
  }

  /// @return false, and nothing changed, when a body is in the way.
  bool shift(double to_m, Blockers& blockers) {
    if (tick_ != nullptr) return shift_plane(*tick_, m_.sector, m_.plane, to_m, blockers);
    (m_.plane == Plane::floor ? heights_[m_.sector].floor_m : heights_[m_.sector].ceiling_m) = to_m;
    return true;
  }

  /// The end of the way, but within the map's rock, whatever a map asks for again and again, and short of the
  /// sector's other plane: a floor never passes its ceiling. A ceiling of sky is neither rock nor in the way.
  double goal() const {
    const SectorHeights& h = heights_[m_.sector];
    const double end = m_.phase == MotionPhase::up ? m_.high_m : m_.low_m;
    const bool sky = map_.sky(m_.sector);
    if (m_.plane == Plane::floor) {
      const double in_rock = std::clamp(end, map_.lowest_floor_m(), map_.roof_m());
      return sky ? in_rock : std::min(in_rock, std::max(h.ceiling_m, h.floor_m));
    }
    if (sky) return end;
    return std::max(std::min(end, map_.highest_ceiling_m()), std::min(h.floor_m, h.ceiling_m));
  }

  /// Goes on its way for what is left of the tick. @return true when it reached the end; dt_s is what
  /// remains.
  bool travel(double& dt_s) {
    const double speed = m_.speed_mps * (m_.pressed != 0 && m_.slows != 0 ? creep : 1.0);
    const double from = height(), to = goal();
    const double distance = std::fabs(to - from), reach = speed * dt_s;
    const bool there = reach >= distance;
    const double next = there ? to : to > from ? from + reach : from - reach;
    Blockers blockers;
    if (next != from && !shift(next, blockers)) {
      meet(blockers);
      return false;
    }
    if (!there) return false;
    dt_s -= distance / speed;
    // Held up by the sector's other plane, which is on its way: that is no arrival.
    const double end = m_.phase == MotionPhase::up ? m_.high_m : m_.low_m;
    if (to != end && m_.motion == Motion::once) {
      const Mover* other = movers_.find(m_.sector, m_.plane == Plane::floor ? Plane::ceiling : Plane::floor);
      if (other != nullptr && other->moving()) return false;
    }
    return true;
  }

  /// @return false when it is done for good.
  bool arrive() {
    event(MoverEventKind::arrived);
    m_.pressed = 0;
    const bool high = m_.phase == MotionPhase::up;
    switch (high ? traits_.at_high : traits_.at_low) {
      case Then::done: return false;
      case Then::turn: m_.phase = high ? MotionPhase::down : MotionPhase::up; break;
      case Then::wait:
        m_.phase = high ? MotionPhase::wait_high : MotionPhase::wait_low;
        m_.left_s = m_.wait_s;
        break;
    }
    return true;
  }

  void meet(const Blockers& blockers) {
    m_.pressed = 1;
    if (m_.crushes != 0 && m_.hurt_in_s <= 0) {
      m_.hurt_in_s = hurt_every_s;
      for (std::size_t i = 0; i < blockers.count; ++i)
        event(MoverEventKind::crushed, tick_->bodies[blockers.body[i]].id);
    }
    if (traits_.meets != Meets::turns) return;
    m_.phase = m_.phase == MotionPhase::up ? MotionPhase::down : MotionPhase::up;
    m_.pressed = 0;
    event(MoverEventKind::reversed);
  }

  const PlacedMap& map_;
  std::span<SectorHeights> heights_;
  MoverTick* tick_;
  SectorMovers& movers_;
  Mover& m_;
  const MotionTraits& traits_;
};

}  // namespace

bool mover_sane(const Mover& m) {
  const bool kinds_ok = m.plane <= Plane::ceiling && static_cast<std::uint8_t>(m.motion) < motion_count &&
                        m.phase <= MotionPhase::held && m.resume <= MotionPhase::held;
  const double span = m.high_m - m.low_m;  // NaN and infinity fail what follows
  return kinds_ok && m.speed_mps > 0 && m.speed_mps < 1e4 && m.wait_s >= 0 && m.wait_s < 1e6 &&
         m.left_s >= 0 && m.left_s < 1e6 && m.hurt_in_s >= 0 && m.hurt_in_s < 1 && span > -1e5 &&
         span < 1e5 && m.low_m > -1e5 && m.low_m < 1e5;
}

bool same_motion(const Mover& a, const Mover& b) {
  Mover c = b;
  c.hurt_in_s = a.hurt_in_s, c.fresh = a.fresh;
  return a == c;
}

SectorMovers::SectorMovers(std::uint32_t sector_count) : sectors_(sector_count) {
  movers_.reserve(static_cast<std::size_t>(sector_count) * 2);
}

const Mover* SectorMovers::find(std::uint32_t sector, Plane plane) const {
  const auto at =
      std::ranges::lower_bound(movers_, key_of(sector, plane), {}, [](const Mover& m) { return key_of(m); });
  return at != movers_.end() && key_of(*at) == key_of(sector, plane) ? &*at : nullptr;
}

Mover* SectorMovers::find(std::uint32_t sector, Plane plane) {
  return const_cast<Mover*>(static_cast<const SectorMovers&>(*this).find(sector, plane));
}

bool SectorMovers::start(const Mover& mover) {
  ASHLAR_ASSERT(mover.sector < sectors_);
  ASHLAR_ASSERT(mover.speed_mps > 0);
  const auto at =
      std::ranges::lower_bound(movers_, key_of(mover), {}, [](const Mover& m) { return key_of(m); });
  if (at != movers_.end() && key_of(*at) == key_of(mover)) return false;
  ASHLAR_ASSERT(movers_.size() < 2 * std::size_t{sectors_});  // a floor and a ceiling each
  movers_.insert(at, mover);
  return true;
}

bool SectorMovers::assign(std::span<const Mover> movers) {
  if (movers.size() > static_cast<std::size_t>(sectors_) * 2) return false;
  std::uint64_t next_key = 0;
  for (const Mover& m : movers) {
    if (m.sector >= sectors_ || !mover_sane(m) || key_of(m) < next_key) return false;
    next_key = key_of(m) + 1;
  }
  movers_.assign(movers.begin(), movers.end());
  return true;
}

bool SectorMovers::put(const Mover& mover) {
  if (mover.sector >= sectors_ || !mover_sane(mover)) return false;
  if (Mover* known = find(mover.sector, mover.plane))
    *known = mover;
  else
    start(mover);
  return true;
}

void SectorMovers::remove(std::uint32_t sector, Plane plane) {
  if (const Mover* known = find(sector, plane)) movers_.erase(movers_.begin() + (known - movers_.data()));
}

void SectorMovers::advance(MoverTick& tick, double dt_s) {
  if (movers_.empty()) return;
  ASHLAR_ASSERT(dt_s > 0);
  // Only planes that move this tick need to know who stands on them; a wait that ends inside it counts.
  for (const Mover& m : movers_) {
    const bool rests = m.phase == MotionPhase::held || (!m.moving() && m.left_s > dt_s);
    if (!rests) tick.touching.mark(m.sector);
  }
  // Too many touches for the room there is: the planes stand still rather than move through somebody.
  if (tick.touching.fill(tick.plan, tick.bodies)) {
    step_all(tick.plan.map(), tick.heights, &tick, dt_s);
  }
  tick.touching.clear();
}

void SectorMovers::advance_alone(const PlacedMap& map, std::span<SectorHeights> heights, double dt_s) {
  step_all(map, heights, nullptr, dt_s);
}

void SectorMovers::step_all(const PlacedMap& map, std::span<SectorHeights> heights, MoverTick* tick,
                            double dt_s) {
  ASHLAR_ASSERT(heights.size() == sectors_);
  bool any_done = false;
  for (Mover& m : movers_) {
    ASHLAR_ASSERT(m.sector < sectors_);
    if (PlaneStep(map, heights, tick, *this, m).run(dt_s)) continue;
    // It stays in its place until all have moved: those to come look each other up.
    m.phase = MotionPhase::held, m.speed_mps = 0;
    any_done = true;
  }
  if (any_done) std::erase_if(movers_, [](const Mover& m) { return m.speed_mps <= 0; });
}

void SectorMovers::add_to_hash(StripeHasher& hash) const {
  hash.add(static_cast<std::uint64_t>(movers_.size()));
  for (const Mover& m : movers_) {
    hash.add(static_cast<std::uint64_t>(m.sector) | static_cast<std::uint64_t>(m.plane) << 32 |
             static_cast<std::uint64_t>(m.motion) << 33 | static_cast<std::uint64_t>(m.phase) << 41 |
             static_cast<std::uint64_t>(m.resume) << 44 | static_cast<std::uint64_t>(m.crushes) << 47 |
             static_cast<std::uint64_t>(m.slows) << 48 | static_cast<std::uint64_t>(m.pressed) << 49 |
             static_cast<std::uint64_t>(m.fresh) << 50);
    hash.add(m.low_m), hash.add(m.high_m), hash.add(m.speed_mps);
    hash.add(m.wait_s), hash.add(m.left_s), hash.add(m.hurt_in_s);
  }
}

}  // namespace ashlar
