#include "server/host/sight_culler.h"

#include <algorithm>
#include <cmath>

#include "world/voxel/confined_box.h"
#include "world/voxel/sight_shaft.h"

namespace ashlar::server {
namespace {

/// Nearer than this they may see each other.
constexpr double near_m = 3;
constexpr double fine_to_m = 24;
/// Farther than this a pair is first asked for by large cells.
constexpr double coarse_from_m = 6, coarse_m = 2;
/// Beside speeds: what a step up, a push out of a wall or a rounded place move at once.
constexpr double slack_m = 0.1;
/// An answer that somebody may be seen is looked into again after so many ticks: somebody may have built.
constexpr std::uint32_t open_ticks = 300;

double gap(double a_min, double a_max, double b_min, double b_max) {
  return std::max(b_min - a_max, a_min - b_max);
}

/// Along the axis along which they are farthest apart.
double apart(const Aabb& a, const Aabb& b) {
  return std::max({gap(a.min.x, a.max.x, b.min.x, b.max.x), gap(a.min.y, a.max.y, b.min.y, b.max.y),
                   gap(a.min.z, a.max.z, b.min.z, b.max.z)});
}

/// Outwards to whole cells.
Aabb snapped(const Aabb& box, double cell_m) {
  const auto low = [cell_m](double v) { return std::floor(v / cell_m) * cell_m; };
  const auto high = [cell_m](double v) { return std::ceil(v / cell_m) * cell_m; };
  return {{low(box.min.x), low(box.min.y), low(box.min.z)},
          {high(box.max.x), high(box.max.y), high(box.max.z)}};
}

std::uint64_t mixed(std::uint64_t h, double v) {
  h ^= static_cast<std::uint64_t>(static_cast<std::int64_t>(4 * v));
  h *= 0x9e3779b97f4a7c15ull;
  return h ^ (h >> 29);
}

std::uint64_t key_of(const Aabb& eyes, const Aabb& body) {
  std::uint64_t h = 0x51a7;
  for (const Aabb* box : {&eyes, &body})
    for (const DVec3& p : {box->min, box->max}) h = mixed(mixed(mixed(h, p.x), p.y), p.z);
  return h == 0 ? 1 : h;
}

Aabb widened(Aabb box, double aside_m, double up_m, double down_m) {
  box.min -= DVec3{aside_m, aside_m, down_m};
  box.max += DVec3{aside_m, aside_m, up_m};
  return box;
}

Aabb reach(const Aabb& now, DVec3 v, const Rules& rules, double seconds) {
  const double level = std::sqrt(v.x * v.x + v.y * v.y), fall = 0.5 * rules.gravity_mps2 * seconds * seconds;
  return widened(now, std::max(level, rules.walk_speed_mps_max) * seconds + slack_m,
                 std::max(v.z, rules.jump_speed_mps) * seconds + slack_m,
                 std::max(-v.z, rules.walk_speed_mps_max) * seconds + fall + slack_m);
}

}  // namespace

Aabb reach_of(const PlacedEntity& entity, const Rules& rules, double seconds) {
  const Aabb now = bounds_of(entity.shape, entity.base);
  if (entity.record.kind >= projectile_entity_kind(0))
    return widened(swept(now, entity.velocity_mps * seconds), slack_m, slack_m,
                   slack_m + 0.5 * rules.gravity_mps2 * seconds * seconds);
  return reach(now, entity.velocity_mps, rules, seconds);
}

Aabb reach_of_eyes(DVec3 eye, DVec3 velocity_mps, const Rules& rules, double seconds) {
  return reach({eye, eye}, velocity_mps, rules, seconds);
}

SightCuller::SightCuller(const VoxelVolume& ground, std::span<const MapInSpace> maps)
    : ground_(ground), answers_(sights_kept) {
  for (const MapInSpace& map : maps) graphs_.emplace_back(*map.map);
}

void SightCuller::stepped(std::uint32_t tick, std::span<const AppliedEdit> edits) {
  tick_ = tick;
  computed_ = rows_read_ = 0;
  const BlockRegistry& kinds = ground_.kinds();
  for (const AppliedEdit& edit : edits) {
    const bool shuts = kinds.knows(edit.after) && kinds.type(edit.after).solid() &&
                       kinds.type(edit.after).opaque &&
                       kinds.forms()[static_cast<std::size_t>(edit.after)] == BlockForm::full;
    if (shuts) continue;
    Hole& hole = holes_[next_hole_++ % holes_.size()];
    forgotten_ = std::max(forgotten_, hole.tick);
    hole = {tick_, edit.block};
  }
}

/// That nobody can be seen holds until something between them is taken away.
bool SightCuller::holds(const Answer& answer, const Aabb& eyes, const Aabb& body) const {
  if (answer.open) return tick_ - answer.tick < open_ticks;
  if (answer.tick < forgotten_) return false;
  return std::ranges::none_of(holes_, [&](const Hole& hole) {
    const auto in = [](double at, double a, double b, double c, double d) {
      return at + 1 >= std::min(a, c) && at <= std::max(b, d);
    };
    return hole.tick > answer.tick && in(hole.block.x, eyes.min.x, eyes.max.x, body.min.x, body.max.x) &&
           in(hole.block.y, eyes.min.y, eyes.max.y, body.min.y, body.max.y) &&
           in(hole.block.z, eyes.min.z, eyes.max.z, body.min.z, body.max.z);
  });
}

Aabb SightCuller::confined(const Aabb& now, const Aabb& reach) {
  Aabb part = confined_by_blocks(ground_, now, reach);
  for (const SightGraph& graph : graphs_) part = graph.confined(now, part, scratch_);
  return part;
}

Aabb SightCuller::reach_of(const PlacedEntity& entity, const Rules& rules, double seconds) {
  const Aabb reach = server::reach_of(entity, rules, seconds);
  const std::uint32_t slot = slot_of(entity.record.id);
  if (slot >= confined_.size()) confined_.resize(slot + 1);
  Confined& known = confined_[slot];
  const std::uint32_t newest_hole = holes_[(next_hole_ + holes_.size() - 1) % holes_.size()].tick;
  const bool same = known.id == entity.record.id && known.reach.min == reach.min &&
                    known.reach.max == reach.max && known.tick >= newest_hole;
  if (!same) known = {entity.record.id, tick_, reach, confined(bounds_of(entity.shape, entity.base), reach)};
  return known.part;
}

bool SightCuller::look(const Aabb& eyes, const Aabb& body) {
  for (const SightGraph& graph : graphs_)
    if (!graph.may_see(eyes, body, scratch_)) return false;
  return blocks_let_see(ground_, eyes, body, &rows_read_);
}

std::optional<bool> SightCuller::known(const Aabb& eyes, const Aabb& body, double cell_m) {
  const Aabb from = snapped(eyes, cell_m), to = snapped(body, cell_m);
  const std::uint64_t key = key_of(from, to);
  Answer& answer = answers_[key % sights_kept];
  if (answer.key != key || !holds(answer, from, to)) {
    if (computed_ == sights_computed_max || rows_read_ >= sight_rows_max) return std::nullopt;
    ++computed_;
    ++counters_.computed;
    answer = {key, tick_, look(from, to)};
  } else if (!answer.open) {
    answer.tick = tick_;  // nothing was taken away until now
  }
  return answer.open;
}

bool SightCuller::may_see(const Aabb& eyes, const Aabb& body) {
  ++counters_.asked;
  const double apart_m = apart(eyes, body);
  if (apart_m < near_m) return true;
  // Rock that parts large boxes parts all that are in them: most pairs move on within such for long.
  std::optional<bool> open;
  if (apart_m > coarse_from_m) open = known(eyes, body, coarse_m);
  if (open != false) open = known(eyes, body, apart_m < fine_to_m ? 0.25 : 0.5);
  if (!open) ++counters_.beyond;
  counters_.hidden += open == false ? 1 : 0;
  return open != false;
}

}  // namespace ashlar::server
