#include "world/sim/motion_cues.h"

#include <algorithm>
#include <cmath>

#include "world/collide/body.h"
#include "world/math/contact.h"
#include "world/sim/mechanics.h"
#include "world/sim/pickups.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

namespace ashlar {
namespace {

constexpr double jump_m = 4;         // farther in one tick is no walk: a body was put elsewhere
constexpr double hand_height_m = 1;  // of who uses a line

/// Where a sector's plane is heard: in its middle, or before one of its lines where that is in another one.
DVec3 place_of(const MapPlan& plan, std::uint32_t sector, Plane plane, const SectorHeights& heights) {
  constexpr double off_line_m = 0.1, off_plane_m = 0.3;
  const SectorBounds& bounds = plan.bounds_of(sector);
  DVec2 at = (bounds.low + bounds.high) * 0.5;
  const auto lines = plan.lines_of(sector);
  if (plan.sector_at(at) != sector && !lines.empty()) {
    const DVec2 a = plan.start_m(lines.front()), along = plan.end_m(lines.front()) - a;
    const double size = std::max(length(along), off_line_m);
    const DVec2 aside = DVec2{along.y, -along.x} * (off_line_m / size);
    const SectorMap& source = plan.map().source();
    const bool front = source.front_sector(source.lines[lines.front()]) == sector;
    at = a + along * 0.5 + (front ? aside : aside * -1.0);
  }
  const double z = plane == Plane::floor ? heights.floor_m + off_plane_m : heights.ceiling_m - off_plane_m;
  return {at.x, at.y, z};
}

std::uint8_t detail_of(BlockId id) {
  static_assert(block_kinds_max <= 256, "a kind of block is a byte");
  return static_cast<std::uint8_t>(id);
}

}  // namespace

void MotionCues::show(const WorldCue& cue, std::size_t& count, std::size_t most) {
  if (count == most) return;
  ++count;
  cues_.push_back(cue);
}

void MotionCues::stepped(const World& world) {
  cues_.clear();
  steps_ = others_ = 0;
  in_cell_.fill(0);
  const std::uint32_t tick = number(world.tick());
  const std::size_t slots = world.players().rows() + world.monsters().rows();
  if (tracks_.size() != slots || tick != tick_ + 1) {
    tracks_.assign(slots, Track{});
    dug_.assign(world.players().rows(), Dug{});
    cues_.reserve(steps_max + others_max);
  }
  tick_ = tick;
  tick_s_ = world.setup().rules.tick_s();
  if (world.player_count() == 0) return;  // nobody moves by himself, and nobody hears it
  add_pickups(world);
  add_movers(world);
  add_digging(world);
  add_bodies(world);
}

/// Another row is first each tick: where there is no room for all it is not always the same who are silent.
void MotionCues::add_bodies(const World& world) {
  const PlayerTable& players = world.players();
  const MonsterTable& monsters = world.monsters();
  const VoxelVolume& ground = *world.space().voxels;
  for (std::size_t i = 0; i < players.rows(); ++i) {
    const std::size_t row = (tick_ + i) % players.rows();
    if (players.takes_part(row) && players.body[row].noclip == 0)
      follow(ground, players.id[row], players.body[row]);
  }
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    const std::size_t row = (tick_ + i) % monsters.rows();
    if (monsters.id[row] == EntityId{0} || monsters.dozes[row] != 0) continue;
    if (monsters.traits_at(row).flies == 0) follow(ground, monsters.id[row], monsters.body[row]);
  }
}

bool MotionCues::has_room(DVec3 at) {
  if (steps_ == steps_max) return false;
  const auto axis = [](double v) { return static_cast<std::uint32_t>(floor_to_int(v / cell_m)); };
  const std::uint32_t hash =
      (axis(at.x) * 73'856'093u) ^ (axis(at.y) * 19'349'663u) ^ (axis(at.z) * 83'492'791u);
  std::uint8_t& here = in_cell_[(hash ^ hash >> 16) % in_cell_.size()];
  if (here == cell_max) return false;
  ++here;
  return true;
}

void MotionCues::follow(const VoxelVolume& ground, EntityId id, const Body& body) {
  Track& track = tracks_[slot_of(id)];
  const DVec3 base = body.position_m, way = base - track.before;
  const IVec3 block = block_at(base);
  const bool walked = track.id == id && dot(way, way) < jump_m * jump_m;
  if (!walked) track = {id, base, 0, block, true};  // who appears in water has not fallen into it
  track.before = base;
  if (!(block == track.block) || !walked) {
    track.block = block;
    const BlockRegistry& kinds = ground.kinds();
    const BlockId there = ground.loaded(chunk_of(block)) ? ground.block(block) : BlockId::air;
    const bool wet = kinds.knows(there) && kinds.type(there).liquid;
    const double fast = splash_mps_least * tick_s_;
    if (wet && !track.wet && dot(way, way) >= fast * fast && has_room(base))
      show({CueKind::splash, detail_of(there), id, true, base}, steps_, steps_max);
    track.wet = wet;
  }
  const double run = run_mps_least * tick_s_, ran2 = way.x * way.x + way.y * way.y;
  if (!walked || track.wet || body.grounded == 0 || ran2 < run * run) return;
  // A body that is carried by a floor is as far from it as before: what it does by itself is its velocity.
  const DVec3 v = body.velocity_mps;
  if (v.x * v.x + v.y * v.y < run_mps_least * run_mps_least) return;
  track.walked_m = std::min(track.walked_m + std::sqrt(ran2), 2 * stride_m);
  if (track.walked_m >= stride_m) take_step(ground, track, base);
}

void MotionCues::take_step(const VoxelVolume& ground, Track& track, DVec3 base) {
  if (!has_room(base)) return;
  track.walked_m = std::fmod(track.walked_m, stride_m);
  // Floors of maps and tops of props are air to the volume.
  const IVec3 under = block_at({base.x, base.y, base.z - 2 * contact_slop_m});
  const BlockId on = ground.loaded(chunk_of(under)) ? ground.block(under) : BlockId::air;
  show({CueKind::step, detail_of(on), track.id}, steps_, steps_max);
}

void MotionCues::add_pickups(const World& world) {
  for (const PickupEvent& taken : world.pickups().events())
    show({CueKind::pickup, taken.item, taken.player, true, taken.position_m}, others_, others_max);
}

void MotionCues::add_digging(const World& world) {
  constexpr std::uint32_t told_times = 4;
  const PlayerTable& players = world.players();
  const VoxelVolume& ground = *world.space().voxels;
  const auto tell = [&](EntityId who, IVec3 block, std::uint8_t share) {
    show({CueKind::digging, share, who, true, block_middle(block)}, others_, others_max);
  };
  for (std::size_t row = 0; row < players.rows(); ++row) {
    const Digging& now = players.digging[row];
    Dug& before = dug_[row];
    const bool same = now.active() && players.id[row] == before.who && now.block == before.block;
    // A block that is gone, or another's by now, says so itself.
    if (before.who != EntityId{0} && !same && ground.loaded(chunk_of(before.block)) &&
        ground.block(before.block) == before.id)
      tell(before.who, before.block, 0);
    before = now.active() ? Dug{players.id[row], now.block, now.id} : Dug{};
    if (!now.active()) continue;
    const auto part = [&](std::uint32_t ticks) { return told_times * ticks / now.ticks_needed; };
    if (now.ticks == 0 || part(now.ticks) != part(now.ticks - 1u)) tell(before.who, now.block, now.share());
  }
}

void MotionCues::add_movers(const World& world) {
  const auto maps = world.mechanics().maps();
  const PlayerTable& players = world.players();
  for (const MoverEvent& e : world.mechanics().events()) {
    const bool starts = e.kind == MoverEventKind::started || e.kind == MoverEventKind::reversed;
    const bool line = e.kind == MoverEventKind::switched || e.kind == MoverEventKind::locked;
    const MapPlan& plan = *maps[e.map].plan;
    if (line) {
      // What is walked over makes no sound of its own, and monsters push doors with their bodies.
      const LineAction* action = plan.action(e.where);
      if (action == nullptr || action->trigger == LineTrigger::walk || !players.has(e.entity)) continue;
      const DVec2 at = (plan.start_m(e.where) + plan.end_m(e.where)) * 0.5;
      const double z = players.body[slot_of(e.entity)].position_m.z + hand_height_m;
      const auto locked = static_cast<std::uint8_t>(e.kind == MoverEventKind::locked);
      show({CueKind::use, locked, e.entity, true, {at.x, at.y, z}}, others_, others_max);
    } else if (starts || e.kind == MoverEventKind::arrived) {
      const DVec3 at = place_of(plan, e.where, e.plane, world.maps()[e.map].heights[e.where]);
      const Mover* mover = maps[e.map].movers.find(e.where, e.plane);
      unsigned detail = e.plane == Plane::ceiling ? PlaneCue::ceiling : 0u;
      if (mover != nullptr && (mover->phase == MotionPhase::up || mover->phase == MotionPhase::wait_high))
        detail |= PlaneCue::up;
      detail |= (mover == nullptr ? PlaneCue::motion_unknown : static_cast<unsigned>(mover->motion))
                << PlaneCue::motion_shift;
      show({starts ? CueKind::plane_starts : CueKind::plane_stops, static_cast<std::uint8_t>(detail),
            EntityId{}, true, at},
           others_, others_max);
    }
  }
}

}  // namespace ashlar
