// Recovery among blocks that are solid in part: bodies that edits, sand and what explosions leave put into
// slabs, stairs, posts and random boxes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/part_worlds.h"
#include "world/collide/recover.h"
#include "world/sim/player_move.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

constexpr Cylinder walker{};

/// Is the body free there, box by box? What is within a hair of touching is neither.
enum class Fit : std::uint8_t { free, touches, overlaps };
Fit fit(const VoxelVolume& volume, DVec3 place) {
  const double depth = depth_in_parts(volume, rounded_box_of(walker), place) - contact_slop_m;
  return depth > 1e-8 ? Fit::overlaps : depth > -1e-8 ? Fit::touches : Fit::free;
}

/// The blocks whose boxes the body overlaps.
std::vector<IVec3> overlapped(const VoxelVolume& volume, DVec3 place) {
  std::vector<IVec3> out;
  const Aabb bounds = bounds_of(walker, place);
  const IVec3 low = block_at(bounds.min), high = block_at(bounds.max);
  for (int z = low.z; z <= high.z; ++z)
    for (int y = low.y; y <= high.y; ++y)
      for (int x = low.x; x <= high.x; ++x)
        for (const ShapeBox& box : volume.kinds().type(volume.block({x, y, z})).shape.boxes())
          if (depth_in_box(rounded_box_of(walker), place, box.at(to_dvec3(IVec3{x, y, z}))) >
              contact_slop_m) {
            out.push_back({x, y, z});
            break;
          }
  return out;
}

/// All places of the 3x3x3 around it that recovery may choose: each cell's floor, and what tops of boxes lie
/// in it.
std::vector<DVec3> places(const VoxelVolume& volume, DVec3 from) {
  std::vector<DVec3> out;
  const double floor = std::floor(from.z + contact_slop_m);
  for (int dx = -1; dx <= 1; ++dx)
    for (int dy = -1; dy <= 1; ++dy) {
      const double x = std::floor(from.x) + 0.5 + dx, y = std::floor(from.y) + 0.5 + dy;
      for (const double dz : {0.0, 1.0, -1.0}) out.push_back({x, y, floor + dz});
      every_box(volume,
                {{x - walker.radius_m, y - walker.radius_m, floor - 1},
                 {x + walker.radius_m, y + walker.radius_m, floor + 2}},
                [&](const Aabb& b) {
                  if (b.max.z >= floor - 1 - 1e-9 && b.max.z < floor + 2) out.push_back({x, y, b.max.z});
                });
    }
  return out;
}

BlockId some_part(const BlockRegistry& kinds, Rng& rng) {
  constexpr BlockId known[]{BlockId::stone_slab,         BlockId::stone_stairs_east,
                            BlockId::stone_stairs_north, BlockId::stone_stairs_west,
                            BlockId::stone_stairs_south, BlockId::wood_post};
  if (rng.below(3) != 0) return known[rng.below(6)];
  return static_cast<BlockId>(kinds.size() - 1 - rng.below(20));
}

/// What puts something into a body: an edit or two of a part, sand that came down on it, or what stands there
/// after an explosion took all around.
void befall(VoxelVolume& volume, Rng& rng, DVec3 body) {
  const IVec3 feet = block_at(body + DVec3{0, 0, 0.01});
  const auto into = [&](BlockId id) {
    IVec3 at = feet;
    at.z += static_cast<std::int32_t>(rng.below(2));
    if (rng.below(3) == 0) at.x += static_cast<std::int32_t>(rng.below(3)) - 1;
    if (rng.below(3) == 0) at.y += static_cast<std::int32_t>(rng.below(3)) - 1;
    volume.set_block(at, id);
  };
  switch (rng.below(4)) {
    case 0: into(some_part(volume.kinds(), rng)); break;
    case 1: into(some_part(volume.kinds(), rng)), into(some_part(volume.kinds(), rng)); break;
    case 2: into(BlockId::sand), into(some_part(volume.kinds(), rng)); break;
    default:
      for (std::int32_t x = -2; x <= 2; ++x)
        for (std::int32_t y = -2; y <= 2; ++y)
          for (std::int32_t z = -2; z <= 2; ++z)
            if (x * x + y * y + z * z <= 6) volume.set_block(feet + IVec3{x, y, z}, BlockId::air);
      into(some_part(volume.kinds(), rng)), into(some_part(volume.kinds(), rng));
  }
}

struct Found {
  unsigned embedded = 0, targets = 0, none = 0, nearest = 0;
  unsigned not_free = 0, not_a_place = 0, missed = 0, jumped = 0, not_out = 0, not_there = 0, moved_after = 0;
};

/// The place that is chosen against all that there are, looked at one by one.
void check_target(VoxelVolume& volume, const Space& space, DVec3 at, const std::optional<DVec3>& target,
                  Found& f) {
  std::vector<DVec3> all = places(volume, at);
  const auto distance = [at](DVec3 place) { return length(place - at); };
  if (target) {
    ++f.targets;
    f.not_free += fit(volume, *target) == Fit::overlaps;
    const bool above = target->z > std::floor(at.z + contact_slop_m) + 1.5;
    f.not_a_place += !above && std::ranges::none_of(all, [&](DVec3 p) { return length(p - *target) < 1e-9; });
  } else {
    ++f.none;
  }
  const double reach = target ? distance(*target) - 1e-6 : 1e9;
  std::erase_if(all, [&](DVec3 p) { return distance(p) >= reach || fit(volume, p) != Fit::free; });
  if (all.empty()) ++f.nearest;
  // Of nearer ones none can be gone to straight, through what came into the body.
  const std::vector<IVec3> blocks = overlapped(volume, at);
  std::vector<BlockId> were;
  for (const IVec3 block : blocks) were.push_back(volume.block(block)), volume.set_block(block, BlockId::air);
  const double floor = std::floor(at.z + contact_slop_m);
  for (const DVec3 p : all) {
    // Tops of boxes that another lies over are no ground: only floors of cells count for sure.
    const bool cell = std::fabs(p.z - std::round(p.z)) < 1e-9 && p.z >= floor - 1 && p.z <= floor + 1;
    if (cell && fit(volume, at) == Fit::free && !space_sweep(space, walker, at, p - at).hit()) ++f.missed;
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) volume.set_block(blocks[i], were[i]);
}

/// It goes out by steps that jump through nothing, and stays where it came out. Free space that is not on its
/// side it may pass through: recovery is over where stuck_ticks is 0.
void check_way(const Space& space, DVec3 at, const std::optional<DVec3>& target, Found& f) {
  const Rules rules;
  Body body;
  body.position_m = body.last_free_m = at;
  bool lost = false;
  int ticks = 0;
  DVec3 before = at;
  const auto on_its_way = [&] {
    return body.stuck_ticks > 0 || space_overlaps(space, walker, body.position_m);
  };
  while (ticks < 100 && !lost && on_its_way()) {
    lost = player_move(space, rules, {}, body).lost;
    f.jumped += length(body.position_m - before) > recovery_step_m_max + 1e-9;
    before = body.position_m;
    ++ticks;
  }
  if (lost) {
    f.not_there += target.has_value();
    return;
  }
  f.not_out += on_its_way();
  if (!target) return;
  // On the straight way to the target, not beyond.
  f.not_there += length(body.position_m - at) > length(*target - at) + 1e-9;
  f.moved_after += player_move(space, rules, {}, body).recovered;
}

}  // namespace

TEST_CASE("who is put into slabs, stairs and posts comes out by the nearest place that he could go to",
          "[world][collide][recover][part_blocks][property]") {
  const double density = GENERATE(0.08, 0.2, 0.35);
  CAPTURE(density);
  const auto kinds = kinds_with_random_shapes(7, 20);
  const auto block = [&](IVec3 b) { return random_kind(*kinds, 9, b, density); };
  VoxelVolume volume = make_part_volume(kinds, {-1, -1, -1}, {2, 2, 2}, block);
  const Space space{&volume, {}};
  Rng rng{static_cast<std::uint64_t>(density * 100)};
  Found f;
  for (int i = 0; i < cases(2000); ++i) {
    DVec3 at;
    at.x = rng.between(-24, 24), at.y = rng.between(-24, 24);
    at.z = rng.below(2) == 0 ? rng.between(-24, 24) : std::floor(rng.between(-24, 24) * 16) / 16;
    if (fit(volume, at) != Fit::free) continue;
    const IVec3 feet = block_at(at);
    std::vector<std::pair<IVec3, BlockId>> were;
    for (std::int32_t x = -3; x <= 3; ++x)
      for (std::int32_t y = -3; y <= 3; ++y)
        for (std::int32_t z = -3; z <= 4; ++z)
          were.emplace_back(feet + IVec3{x, y, z}, volume.block(feet + IVec3{x, y, z}));
    befall(volume, rng, at);
    if (fit(volume, at) == Fit::overlaps) {
      ++f.embedded;
      const auto target = recovery_target(space, walker, at, at);
      check_target(volume, space, at, target, f);
      check_way(space, at, target, f);
    }
    for (const auto& [where, id] : were) volume.set_block(where, id);
  }
  CHECK(f.embedded > 100);
  CHECK(f.targets > f.embedded / 2);
  CHECK(f.nearest > f.targets / 2);
  CHECK(f.not_free == 0);
  CHECK(f.not_a_place == 0);
  CHECK(f.missed == 0);
  CHECK(f.jumped == 0);
  CHECK(f.not_out == 0);
  CHECK(f.not_there == 0);
  CHECK(f.moved_after == 0);
}
