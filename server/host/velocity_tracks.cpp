#include "server/host/velocity_tracks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "protocol/snapshot/moving_record.h"

namespace ashlar::server {
namespace {

/// Who moved so much otherwise than its velocity says, in metres, was in somebody's way.
constexpr double blocked_m = 0.03;
/// A velocity on the ground that has changed by no more steps keeps its value: what is not said costs
/// nothing, and the place that it foretells is corrected all the same. In the air it changes all the time,
/// and a value that lags behind costs more.
constexpr int same_steps = 2;
/// Steps off a course: who is so near is on it; who was on it stays there; and comes back to it from a knock.
constexpr int on_course_steps = 2, stays_steps = 6, knocked_steps = 20;
/// A change of fewer steps in a tick is no acceleration towards a course.
constexpr double accelerates_from_steps = 6;
/// Cosine between a change and the way to a course to which it leads: 10 degrees.
constexpr double towards_cosine = 0.985;
/// So near a course the end of the way is reached, in steps.
constexpr double arrived_steps = 3;

/// Steps in which it is tried a second, and of how many of them it is decided.
constexpr std::uint32_t tried_hz = 15;
constexpr float tried_steps = 4;
/// Bits an update that make somebody stand, and walk again. These are rough, and who walks freely shall not
/// be told to stand.
constexpr float stands_from_bits = 4, walks_below_bits = 0.5f;
/// Who stays on a course for a step costs next to nothing, and counts twice: it walks again. That somebody
/// has come to one takes a few bits.
constexpr float course_saves_bits = -16, course_steps = 2;
constexpr int course_bits = 2;

/// Of a number near 0, roughly: the odds learn how large such numbers are.
int bits_of(std::int32_t number) {
  const auto width = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(std::abs(number))));
  return number == 0 ? 0 : 1 + width;
}

int off(const Velocity& v, const LevelVelocity& from) {
  return std::max(std::abs(v[0] - from[0]), std::abs(v[1] - from[1]));
}

/// At the pace, in a direction that has a number, where a speed is that to the step.
void snap(Velocity& v, std::int32_t pace) {
  const int x = v[0], y = v[1];
  if (std::abs(x) > pace + 1 || std::abs(y) > pace + 1 || std::abs(length_of(x, y) - pace) > 1) return;
  const LevelVelocity paced = at_angle(pace, angle_of(x, y));
  v[0] = paced[0], v[1] = paced[1];
}

}  // namespace

void VelocityTracks::begin(std::uint32_t tick_rate_hz, double acceleration_mps2, std::int32_t pace) {
  tick_rate_hz_ = tick_rate_hz;
  acceleration_mps2_ = acceleration_mps2;
  pace_ = pace;
}

/// The course to which it accelerates as players do, in a straight line of velocities.
std::uint8_t VelocityTracks::course_ahead(const Track& track, DVec3 velocity, std::uint8_t yaw,
                                          double seconds) const {
  const double x = (velocity.x - track.velocity.x) * velocity_steps_per_mps;
  const double y = (velocity.y - track.velocity.y) * velocity_steps_per_mps;
  const double change = std::sqrt(x * x + y * y);
  const double most = 1.1 * acceleration_mps2_ * velocity_steps_per_mps * seconds;
  if (change < accelerates_from_steps || change > most) return no_course;
  std::uint8_t best = no_course;
  double cosine = towards_cosine;
  for (std::uint8_t k = 0; k < 8; ++k) {
    const LevelVelocity to = on_course(pace_, yaw, k);
    const double left_x = to[0] - velocity.x * velocity_steps_per_mps;
    const double left_y = to[1] - velocity.y * velocity_steps_per_mps;
    const double left = std::sqrt(left_x * left_x + left_y * left_y);
    if (left < arrived_steps) return k;
    const double is = (x * left_x + y * left_y) / (change * left);
    if (is > cosine) cosine = is, best = k;
  }
  return best;
}

/// Is what was told before told on?
bool VelocityTracks::keeps(const Track& track, bool known, const Velocity& now, bool grounded) {
  const LevelVelocity before{track.told[0], track.told[1]};
  return known && before != LevelVelocity{} && off(now, before) <= (grounded ? same_steps : 0);
}

std::uint8_t VelocityTracks::course(const Track& track, bool known, DVec3 velocity, const Velocity& now,
                                    std::uint8_t yaw, bool grounded, double seconds) const {
  const bool was = known && grounded && track.course != no_course;
  const int off_before = was ? off(now, on_course(pace_, yaw, track.course)) : knocked_steps + 1;
  if (off_before <= stays_steps) return track.course;
  if (known && grounded)
    if (const std::uint8_t ahead = course_ahead(track, velocity, yaw, seconds); ahead != no_course)
      return ahead;
  if (off_before <= knocked_steps) return track.course;
  if (keeps(track, known, now, grounded)) return no_course;
  const std::uint8_t nearest = nearest_course(now[0], now[1], yaw);
  return off(now, on_course(pace_, yaw, nearest)) <= on_course_steps ? nearest : no_course;
}

void VelocityTracks::Jostling::begin(const PlacedEntity& entity, const Velocity& told, std::uint8_t on) {
  from = {entity.cell.x * cell_steps + entity.record.x, entity.cell.y * cell_steps + entity.record.y};
  from_told = {told[0], told[1]};
  course = on;
  ticks = 0;
}

void VelocityTracks::Jostling::note(const PlacedEntity& entity, const Velocity& told, std::uint8_t on,
                                    std::uint32_t tick_rate_hz) {
  if (on != course) course = no_course;
  if (ticks * tried_hz < tick_rate_hz) return;
  const Jostling before = *this;
  begin(entity, told, on);
  int bits = on != no_course ? course_bits : 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int32_t way = from[i] - before.from[i];
    // Of a velocity that changed evenly.
    const int mean_x2 = told[i] + before.from_told[i];
    const auto foretold = static_cast<std::int16_t>(std::clamp(mean_x2 / 2, -32767, 32767));
    const std::int32_t off = way - foretold_steps(foretold, std::min(before.ticks, 255u), tick_rate_hz);
    bits += bits_of(off) - bits_of(way);
    if (on == no_course) bits += bits_of(told[i] - before.from_told[i]);
  }
  if (before.course != no_course)
    saves += (course_saves_bits - saves) / course_steps;
  else
    saves += (static_cast<float>(bits) - saves) / tried_steps;
  if (saves > stands_from_bits) stands = true;
  if (saves < walks_below_bits) stands = false;
}

Velocity VelocityTracks::usual(EntityId id) const {
  const std::uint32_t slot = slot_of(id);
  return slot < tracks_.size() && tracks_[slot].id == id ? tracks_[slot].told : Velocity{};
}

void VelocityTracks::keep_way(MovingRecord& e, const CellCoord& cell, std::uint32_t tick) {
  const std::array<std::int16_t, 3> corner{cell.x, cell.y, cell.z};
  const std::array<std::uint16_t EntityRecord::*, 3> axes{&EntityRecord::x, &EntityRecord::y,
                                                          &EntityRecord::z};
  Way& way = tracks_[slot_of(e.record.id)].way;
  const Way before = way;
  way.velocity = e.velocity;
  const bool rests = e.velocity == Velocity{};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::uint16_t& place = e.record.*axes[i];
    const auto at = static_cast<std::uint32_t>(corner[i] * cell_steps + place);
    const std::uint32_t made = steady_steps(e.velocity[i], tick, tick_rate_hz_);
    // Who goes on as before is where that leads; who does not is where it is.
    std::int32_t off = 0;
    if (!rests && before.velocity[i] == e.velocity[i])
      off = static_cast<std::int32_t>(before.start[i] + made - at);
    if (std::abs(off) > told_off_max) off = 0;
    if (place + off < 0 || place + off >= cell_steps) off = 0;
    place = static_cast<std::uint16_t>(place + off);
    way.start[i] = at + static_cast<std::uint32_t>(off) - made;
  }
}

Velocity VelocityTracks::told(const PlacedEntity& entity, std::uint32_t ticks) {
  const std::uint32_t slot = slot_of(entity.record.id);
  if (slot >= tracks_.size()) tracks_.resize(slot + 1);
  Track& track = tracks_[slot];
  DVec3 velocity = entity.velocity_mps;
  const bool known = track.id == entity.record.id && ticks > 0;
  const double seconds = static_cast<double>(ticks) / tick_rate_hz_;
  if (known) {
    const DVec3 moved = entity.base - track.base;
    const DVec3 off = moved - velocity * seconds;
    if (dot(off, off) > blocked_m * blocked_m) velocity = moved * (1 / seconds);
  }
  Velocity now{quantise_speed(velocity.x), quantise_speed(velocity.y), quantise_speed(velocity.z)};
  std::uint8_t on = no_course;
  const bool grounded = (entity.record.flags & entity_flag::grounded) != 0;
  if (now[0] != 0 || now[1] != 0) {
    on = course(track, known, velocity, now, entity.record.yaw, grounded, seconds);
    if (on != no_course) {
      const LevelVelocity is = on_course(pace_, entity.record.yaw, on);
      now[0] = is[0], now[1] = is[1];
    } else if (keeps(track, known, now, grounded)) {
      now[0] = track.told[0], now[1] = track.told[1];
    } else {
      snap(now, pace_);
    }
  }
  Jostling jostling = known ? track.jostling : Jostling{};
  if (!known) {
    jostling.begin(entity, now, on);
  } else {
    jostling.ticks += ticks;
    jostling.note(entity, now, on, tick_rate_hz_);
  }
  track = {entity.record.id, entity.base, velocity, now, on, jostling, known ? track.way : Way{}};
  if (!jostling.stands) return now;
  return Velocity{0, 0, grounded ? std::int16_t{0} : now[2]};
}

}  // namespace ashlar::server
