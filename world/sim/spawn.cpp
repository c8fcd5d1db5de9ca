#include "world/sim/spawn.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/placement.h"
#include "world/math/assert.h"
#include "world/sim/thing_table.h"
#include "world/voxel/volume.h"

namespace ashlar {
namespace {

constexpr int rim_blocks = 16;  // no spawns this close to the edge of the loaded ground
constexpr int around_map_blocks = 24;
constexpr std::array ground_kinds{MonsterKind::rifleman, MonsterKind::shotgunner, MonsterKind::imp,
                                  MonsterKind::imp,      MonsterKind::brute,      MonsterKind::shade,
                                  MonsterKind::wisp,     MonsterKind::floater,    MonsterKind::knight};

bool meets(const Cylinder& a, DVec3 pa, const Cylinder& b, DVec3 pb) {
  const DVec2 d = xy(pa) - xy(pb);
  const double r = a.radius_m + b.radius_m;
  return dot(d, d) < r * r && pa.z < pb.z + b.height_m && pb.z < pa.z + a.height_m;
}

/// The place nearest to `from`, in rings of so many blocks, for which there is dry ground.
std::optional<IVec2> nearest_dry(const Terrain& terrain, IVec2 from, std::int32_t reach) {
  constexpr std::int32_t step = 8;
  if (dry_ground(terrain, from.x, from.y)) return from;
  for (std::int32_t ring = step; ring <= reach; ring += step)
    for (std::int32_t along = -ring; along < ring; along += step)
      for (const IVec2 off :
           {IVec2{along, -ring}, IVec2{ring, along}, IVec2{-along, ring}, IVec2{-ring, -along}})
        if (dry_ground(terrain, from.x + off.x, from.y + off.y)) return IVec2{from.x + off.x, from.y + off.y};
  return std::nullopt;
}

std::int32_t between(Rng& rng, std::int32_t low, std::int32_t high) {
  return low + static_cast<std::int32_t>(rng.below(static_cast<std::uint32_t>(std::max(1, high - low))));
}

}  // namespace

bool thing_at_skill(std::uint16_t flags, std::uint16_t skill) {
  if (skill == 0) return true;
  const std::uint16_t wanted = skill <= 2   ? thing_flag::easy
                               : skill == 3 ? thing_flag::medium
                                            : thing_flag::hard;
  return (flags & wanted) != 0;
}

bool thing_in_game(std::uint16_t flags, const Rules& rules) {
  if (!thing_at_skill(flags, rules.skill)) return false;
  if ((flags & thing_flag::no_boom_bits) != 0) return true;
  return (flags & (plays_against(rules.mode) ? thing_flag::not_deathmatch : thing_flag::not_cooperative)) ==
         0;
}

SpawnPlanner::SpawnPlanner(const WorldSetup& setup, const Terrain& terrain, IVec2 home_min, IVec2 home_max)
    : terrain_(&terrain), kinds_(setup.kinds), area_(setup.spawn) {
  ASHLAR_ASSERT(home_min.x < home_max.x && home_min.y < home_max.y);
  low_ = {home_min.x * chunk_size + rim_blocks, home_min.y * chunk_size + rim_blocks};
  high_ = {home_max.x * chunk_size - rim_blocks, home_max.y * chunk_size - rim_blocks};
  ASHLAR_ASSERT(low_.x < high_.x && low_.y < high_.y);  // what rim_blocks leave
  near_low_ = {-around_map_blocks, -around_map_blocks};
  near_high_ = {around_map_blocks, around_map_blocks};
  if (!terrain.footprints.empty()) {
    const BlockBox& box = terrain.footprints.front();
    near_low_ = {box.min.x - around_map_blocks, box.min.y - around_map_blocks};
    near_high_ = {box.max.x + around_map_blocks, box.max.y + around_map_blocks};
  }
  if (terrain.kind != TerrainKind::plains) {
    IVec2 middle{(near_low_.x + near_high_.x) / 2, (near_low_.y + near_high_.y) / 2};
    if (area_.radius_m > 0) middle = {floor_to_int(area_.centre_m.x), floor_to_int(area_.centre_m.y)};
    land_ = nearest_dry(terrain, middle, dry_search_blocks).value_or(middle);
  }
  for (std::int16_t number = 1; number <= 4; ++number)
    for (const auto& map : setup.maps)
      for (const PlacedThing& thing : map->things()) {
        const ThingType* info = find_thing_type(thing.type);
        if (thing.sector != no_index && info != nullptr && info->role == ThingRole::player_start &&
            info->value == number)
          starts_of_[0].push_back({thing.position_m, thing.yaw});
      }
  for (const auto& map : setup.maps)
    for (const PlacedThing& thing : map->things()) {
      if (thing.sector == no_index) continue;
      const ThingType* info = find_thing_type(thing.type);
      const SpawnPoint at{thing.position_m, thing.yaw};
      if (info != nullptr &&
          (info->role == ThingRole::player_start || info->role == ThingRole::deathmatch_start))
        starts_.push_back(at);
      if (info != nullptr && info->role == ThingRole::deathmatch_start) starts_of_[1].push_back(at);
      const auto own = kinds_ ? std::ranges::find(kinds_->things, thing.type, &ThingKind::number)
                              : std::vector<ThingKind>::const_iterator{};
      const bool ours = kinds_ && own != kinds_->things.end();
      if ((ours || (info != nullptr && info->role == ThingRole::monster)) &&
          thing_in_game(thing.flags, setup.rules))
        map_monsters_.push_back(
            {ours ? own->kind : info->monster, at, (thing.flags & thing_flag::deaf) != 0, true});
    }
}

bool SpawnPlanner::taken(const Cylinder& shape, DVec3 at, const Rules& rules, const PlayerTable& players,
                         const MonsterTable& monsters) {
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.takes_part(i) && meets(shape, at, rules.player, players.body[i].position_m)) return true;
  for (std::size_t i = 0; i < monsters.rows(); ++i)
    if (monsters.id[i] != EntityId{0} &&
        meets(shape, at, monsters.traits_at(i).shape, monsters.body[i].position_m))
      return true;
  return false;
}

/// Height of the ground there where one can stand on it: dry, under the sky, neither in a tree nor in a hole.
std::optional<double> SpawnPlanner::open_ground(const Space& space, IVec2 at) const {
  if (!dry_ground(*terrain_, at.x, at.y)) return std::nullopt;
  const std::int32_t surface = surface_height(*terrain_, at.x, at.y);
  const ChunkCoord chunk = chunk_of({at.x, at.y, surface});
  if (!space.voxels->loaded(chunk)) return surface;  // who comes there waits for it
  constexpr double step_up = 2.5;                    // over what somebody built; more is no place to begin
  const auto ground = space_ground_below(space, {at.x + 0.5, at.y + 0.5}, 0.45, surface + step_up, 64);
  if (!ground || *ground < surface - step_up) return std::nullopt;
  if (space.voxels->block({at.x, at.y, floor_to_int(*ground)}) == BlockId::water) return std::nullopt;
  return ground;
}

SpawnPoint SpawnPlanner::dry_near(const Space& space, Rng& rng, IVec2 low, IVec2 high) const {
  SpawnPoint point;
  IVec2 at = land_;
  std::optional<double> z;
  const bool one_place = high.x - low.x <= 1 && high.y - low.y <= 1;
  constexpr int wished_tries = 8, land_tries = 12;
  for (int tries = one_place ? wished_tries - 1 : 0; tries < wished_tries + land_tries && !z; ++tries) {
    // First where it was wished, then closer and closer to what is known to be dry.
    const std::int32_t around = tries < wished_tries ? 0 : 2 * (wished_tries + land_tries - tries);
    const IVec2 from = around == 0 ? low : IVec2{land_.x - around, land_.y - around};
    const IVec2 to = around == 0 ? high : IVec2{land_.x + around, land_.y + around};
    at.x = between(rng, from.x, to.x);
    at.y = between(rng, from.y, to.y);
    z = open_ground(space, at);
  }
  const double height = z.value_or(static_cast<double>(surface_height(*terrain_, at.x, at.y)));
  point.position_m = {at.x + 0.5, at.y + 0.5, height};
  point.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
  ASHLAR_ASSERT(in_bounds(point.position_m));
  return point;
}

SpawnPoint SpawnPlanner::ground_near(const Space& space, Rng& rng, IVec2 low, IVec2 high) const {
  ASHLAR_ASSERT(terrain_ != nullptr);
  if (terrain_->kind != TerrainKind::plains) return dry_near(space, rng, low, high);
  const std::int32_t x = between(rng, low.x, high.x);
  const std::int32_t y = between(rng, low.y, high.y);
  const DVec2 centre{x + 0.5, y + 0.5};
  const double top = surface_height(*terrain_, x, y) + 12.0;
  const auto ground = space_ground_below(space, centre, 0.45, top, 64);
  const double z = ground.value_or(static_cast<double>(surface_height(*terrain_, x, y)));
  ASHLAR_ASSERT(in_bounds({centre.x, centre.y, z}));
  return {{centre.x, centre.y, z}, Turn16{static_cast<std::uint16_t>(rng.next_u32())}};
}

MonsterSpawn SpawnPlanner::terrain_monster(const Space& space, Rng& rng) const {
  const MonsterKind kind = ground_kinds[rng.below(static_cast<std::uint32_t>(ground_kinds.size()))];
  MonsterSpawn spawn{kind, ground_near(space, rng, low_, high_), false};
  if ((kinds_ ? kinds_->monsters[static_cast<std::size_t>(kind)] : traits(kind)).flies != 0)
    spawn.at.position_m.z += rng.between(1.0, 4.0);
  return spawn;
}

SpawnPoint SpawnPlanner::in_area(const Space& space, Rng& rng) const {
  const auto block = [](double v) { return static_cast<std::int32_t>(std::floor(v)); };
  const double r = area_.radius_m;
  DVec2 off{};
  for (int tries = 0; tries < 16; ++tries) {  // of the square that holds the circle
    const double x = rng.between(-r, r);
    off = {x, rng.between(-r, r)};
    if (dot(off, off) <= r * r) break;
    off = {};
  }
  const IVec2 at{block(area_.centre_m.x + off.x), block(area_.centre_m.y + off.y)};
  return ground_near(space, rng, at, {at.x + 1, at.y + 1});
}

std::optional<SpawnPoint> SpawnPlanner::free_start(const Space& space, const Rules& rules,
                                                   const PlayerTable& players, const MonsterTable& monsters,
                                                   bool deathmatch, std::uint32_t first) const {
  const std::vector<SpawnPoint>& list = starts_of_[deathmatch ? 1 : 0];
  for (std::size_t i = 0; i < list.size(); ++i) {
    const SpawnPoint& at = list[(first + i) % list.size()];
    if (!space_overlaps(space, rules.player, at.position_m) &&
        !taken(rules.player, at.position_m, rules, players, monsters))
      return at;
  }
  return std::nullopt;
}

SpawnPoint SpawnPlanner::player_spawn(const Space& space, const Rules& rules, const PlayerTable& players,
                                      const MonsterTable& monsters, Rng& rng) const {
  const auto fits = [&](const SpawnPoint& at) {
    return !space_overlaps(space, rules.player, at.position_m) &&
           !taken(rules.player, at.position_m, rules, players, monsters);
  };
  const bool by_area = area_.radius_m > 0;
  const bool inside = !by_area && !starts_.empty() && (rng.next_u32() & 1u) != 0;
  if (inside) {
    const std::uint32_t first = rng.below(static_cast<std::uint32_t>(starts_.size()));
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const SpawnPoint& at = starts_[(first + i) % starts_.size()];
      if (fits(at)) return at;
    }
  }
  SpawnPoint last{};
  for (int tries = 0; tries < 64; ++tries) {
    last = by_area ? in_area(space, rng) : ground_near(space, rng, near_low_, near_high_);
    if (fits(last)) return last;
  }
  return last;  // the crowd pushes apart what meets, and recovery takes care of the rest
}

}  // namespace ashlar
