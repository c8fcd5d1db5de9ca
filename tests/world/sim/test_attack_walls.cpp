// No attack passes a wall, whatever it is and wherever those stand who make it and whom it is meant for.

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/arena.h"
#include "world/bsp/placement.h"
#include "world/sim/shot.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Rooms that nothing leads from one to another, a monster and a player in each.
struct Rooms {
  std::size_t count = 0;
  std::function<Space()> space;
  /// The lowest and the highest corner of a room.
  std::function<std::pair<DVec3, DVec3>(std::size_t)> box;
};

class Volleys {
 public:
  Volleys(Rooms rooms, std::uint64_t seed)
      : rooms_(std::move(rooms)), rng_{seed}, combat_(seed, rooms_.count, rooms_.count, 2048) {
    players_.resize(rooms_.count), monsters_.resize(rooms_.count);
    for (std::size_t i = 0; i < rooms_.count; ++i) enter(i);
  }

  void run(std::uint64_t attacks) {
    while (attacks_ < attacks) {
      if (tick_ % 20 == 0)
        for (std::size_t i = 0; i < rooms_.count; ++i) place(i);
      step();
    }
  }
  std::uint64_t attacks() const { return attacks_; }
  std::uint64_t hits_within() const { return within_; }
  std::uint64_t hits_through() const { return through_; }
  const std::string& first_through() const { return first_through_; }

 private:
  EntityId player_id(std::size_t i) const { return make_entity_id(static_cast<std::uint32_t>(i), 1); }
  std::size_t room_of(EntityId id) const { return slot_of(id) % rooms_.count; }

  void enter(std::size_t i) {
    const auto kinds = static_cast<std::uint32_t>(monster_kind_count);
    const auto kind = static_cast<MonsterKind>((i + rng_.below(2)) % kinds);
    enter_monster_at(monsters_, i, {kind, {}}, 3, static_cast<std::uint32_t>(rooms_.count));
    players_.id[i] = player_id(i);
  }

  /// Somewhere in its room that has space for it, close to one of its walls half of the time.
  std::optional<DVec3> somewhere(std::size_t room, const Cylinder& shape) {
    const auto [low, high] = rooms_.box(room);
    const double r = shape.radius_m;
    for (int tries = 0; tries < 20; ++tries) {
      DVec3 at{rng_.between(low.x + r, std::max(low.x + r, high.x - r)), 0, low.z};
      at.y = rng_.between(low.y + r, std::max(low.y + r, high.y - r));
      switch (rng_.below(8)) {
        case 0: at.x = low.x + r; break;
        case 1: at.x = high.x - r; break;
        case 2: at.y = low.y + r; break;
        case 3: at.y = high.y - r; break;
        default: break;
      }
      if (rng_.below(4) == 0) at.z = rng_.between(low.z, std::max(low.z, high.z - shape.height_m));
      if (!space_overlaps(rooms_.space(), shape, at)) return at;
    }
    return std::nullopt;
  }
  static void put(Body& body, const std::optional<DVec3>& at) {
    if (!at) return;
    body = Body{};
    body.position_m = body.last_free_m = *at;
  }
  void place(std::size_t i) {
    put(players_.body[i], somewhere(i, rules_.player));
    const auto at = somewhere(i, monsters_.traits_at(i).shape);
    put(monsters_.body[i], at);
    monsters_.action[i] = MonsterAction::none;
    if (!at) monsters_.id[i] = EntityId{0};  // too large: another one in the next tick
  }

  DVec3 place_of(EntityId id) const {
    return slot_of(id) < rooms_.count ? players_.body[room_of(id)].position_m
                                      : monsters_.body[room_of(id)].position_m;
  }
  /// @param how  of HurtBy; -1: a player's shot
  void note(EntityId by, EntityId who, int how) {
    if (room_of(by) == room_of(who)) return static_cast<void>(++within_);
    if (++through_ > 1) return;
    const DVec3 a = place_of(by), b = place_of(who);
    std::ostringstream out;
    out << "from " << a.x << ' ' << a.y << ' ' << a.z << " to " << b.x << ' ' << b.y << ' ' << b.z << ", how "
        << how << ", slots " << slot_of(by) << " and " << slot_of(who);
    first_through_ = out.str();
  }

  EntityId anybody(std::size_t room) {
    // One in four means somebody of its own room: that attacks hit at all.
    const std::size_t other =
        rng_.below(4) == 0 ? room : rng_.below(static_cast<std::uint32_t>(rooms_.count));
    return rng_.below(2) == 0 ? players_.id[other] : monsters_.id[other];
  }

  void step() {
    combat_.begin_tick();
    for (std::size_t i = 0; i < rooms_.count; ++i) {
      if (monsters_.id[i] == EntityId{0}) enter(i), place(i);
      players_.health[i] = 10000, monsters_.health[i] = 20000;
      players_.body[i].velocity_mps = {};
    }
    fires_.clear(), launches_.clear();
    for (std::size_t i = 0; i < rooms_.count; ++i) {
      if (monsters_.id[i] != EntityId{0}) attack(i);
      shoot(i);
    }
    CombatTick all{rooms_.space(), rules_, players_, monsters_};
    combat_.fight(all, fires_, launches_);
    attacks_ += fires_.size() + launches_.size();
    for (const CombatEvent& e : combat_.events()) {
      if (e.kind != CombatEventKind::hurt || e.by == e.who || e.by == EntityId{0}) continue;
      note(e.by, e.who, static_cast<int>(e.how));
    }
    ++tick_;
  }

  void attack(std::size_t i) {
    Body& body = monsters_.body[i];
    if (monsters_.action[i] == MonsterAction::charging) {
      const DVec3 v = body.velocity_mps;
      monster_move(rooms_.space(), rules_, monsters_.traits_at(i), {}, body);
      body.velocity_mps = v;
      if (rng_.below(20) == 0) monsters_.action[i] = MonsterAction::none;
      return;
    }
    const EntityId target = anybody(i);
    if (target == monsters_.id[i] || target == EntityId{0}) return;
    monsters_.target[i] = target;
    monsters_.sees[i] = 1;  // as if it had just gone behind the wall
    monsters_.ranged[i] = static_cast<std::uint8_t>(rng_.below(2));
    monsters_.burst_left[i] = static_cast<std::uint8_t>(1 + rng_.below(3));
    monsters_.action[i] = MonsterAction::none;
    body.velocity_mps = {};
    monsters_.yaw[i] = turn_towards(xy(place_of(target) - body.position_m));
    fires_.push_back(static_cast<std::uint32_t>(i));
  }

  /// Its player shoots and throws.
  void shoot(std::size_t i) {
    const DVec3 eye = players_.body[i].position_m + DVec3{0, 0, rules_.player_eye_m};
    const EntityId whom = anybody(i);
    if (whom == players_.id[i] || whom == EntityId{0}) return;
    const std::size_t at = room_of(whom);
    const DVec3 there = place_of(whom);
    const bool player = slot_of(whom) < rooms_.count;
    const Cylinder shape = player ? rules_.player : monsters_.traits_at(at).shape;
    const DVec3 way = there + DVec3{0, 0, shape.height_m * rng_.unit()} - eye;
    if (!(length(way) > 0)) return;
    const DVec3 direction = way * (1 / length(way));
    const auto kinds = static_cast<std::uint32_t>(monsters_.kind_set().projectiles.size());
    LaunchEvent launch{players_.id[i], eye, direction};
    launch.projectile = static_cast<std::uint8_t>(rng_.below(kinds));
    launches_.push_back(launch);
    const ShotTarget target{whom, shape, there, hit_shape(shape, HitBuild::upright)};
    const ShotHit hit = resolve_shot(rooms_.space(), {&target, 1}, players_.id[i], eye, direction, 200);
    ++attacks_;
    if (hit.target != EntityId{0}) note(players_.id[i], whom, -1);
  }

  Rooms rooms_;
  Rng rng_;
  Rules rules_ = [] {
    Rules r;
    r.friendly_fire = Switch::on;
    return r;
  }();
  PlayerTable players_;
  MonsterTable monsters_;
  Combat combat_;
  std::vector<std::uint32_t> fires_;
  std::vector<LaunchEvent> launches_;
  std::uint64_t attacks_ = 0, within_ = 0, through_ = 0;
  std::uint32_t tick_ = 0;
  std::string first_through_;
};

constexpr std::int32_t cell = 10, cells = 6;

/// Chambers of 9 x 9 x 5 blocks behind walls of one block, whose posts are left out: they meet at edges.
VoxelVolume chambers(std::uint64_t seed) {
  return test::make_volume({-1, -1, -1}, {4, 4, 2}, [seed](IVec3 b) {
    const bool across = b.x % cell == 0, along = b.y % cell == 0;
    if (b.z < 0 || b.z >= 5) return true;
    if (across && along) return test::random_block(seed, b, 0.5);
    return across || along || test::random_block(seed, b, 0.06);
  });
}

void check(Volleys& volleys, std::uint64_t attacks) {
  volleys.run(attacks);
  CHECK(volleys.attacks() >= attacks);
  CHECK(volleys.hits_within() > volleys.attacks() / 100);
  CAPTURE(volleys.first_through());
  CHECK(volleys.hits_through() == 0);
}

void check_chambers(std::uint64_t attacks) {
  const VoxelVolume volume = chambers(11);
  Rooms rooms;
  rooms.count = static_cast<std::size_t>(cells * cells);
  rooms.space = [&volume] { return Space{&volume, {}}; };
  rooms.box = [](std::size_t i) {
    const auto x = static_cast<double>(static_cast<std::int32_t>(i) % cells * cell);
    const auto y = static_cast<double>(static_cast<std::int32_t>(i) / cells * cell);
    return std::pair(DVec3{x + 1, y + 1, 0}, DVec3{x + cell, y + cell, 5});
  };
  Volleys volleys(std::move(rooms), 5);
  check(volleys, attacks);
}

/// Eight rooms of 8 x 8 m in a row; between them are doors that are shut and a quarter of a metre thick.
void check_rooms(std::uint64_t attacks) {
  constexpr std::size_t count = 8;
  constexpr double wide = 256, door = 8;
  MapWriter m;
  m.map.name = "SHUT";
  std::vector<std::uint32_t> sectors;
  for (std::size_t i = 0; i < 2 * count - 1; ++i) sectors.push_back(m.sector(0, i % 2 == 0 ? 160 : 0));
  double x = 0;
  m.line({0, 0}, {0, wide}, sectors[0]);
  for (std::size_t i = 0; i < sectors.size(); ++i) {
    const double next = x + (i % 2 == 0 ? wide : door);
    m.line({x, wide}, {next, wide}, sectors[i]);
    m.line({next, 0}, {x, 0}, sectors[i]);
    if (i + 1 < sectors.size()) m.line({next, wide}, {next, 0}, sectors[i], sectors[i + 1]);
    x = next;
  }
  m.line({x, wide}, {x, 0}, sectors.back());
  PlaceOptions options;
  options.surface_z = 32, options.doors_open = false, options.doorway = false;
  const auto placed = place_map(m.map, options);
  if (!placed) FAIL(placed.error().line());
  const PlacedMap& map = **placed;
  const BlockBox& box = map.box();
  const ChunkCoord low = chunk_of(box.min), high = chunk_of(box.max);
  const VoxelVolume volume = test::make_volume(
      {low.x - 1, low.y - 1, low.z - 1}, {high.x - low.x + 3, high.y - low.y + 3, high.z - low.z + 3},
      [&](IVec3 b) {
        const bool inside = b.x >= box.min.x && b.x < box.max.x && b.y >= box.min.y && b.y < box.max.y;
        return b.z < box.max.z && !(inside && b.z >= box.min.z);
      });
  const MapInSpace in_space{&map, map.initial_heights()};
  Rooms rooms;
  rooms.count = count;
  rooms.space = [&] { return Space{&volume, {&in_space, 1}}; };
  rooms.box = [&](std::size_t i) {
    const double from = static_cast<double>(i) * (wide + door);
    const DVec2 a = map.to_world({from, 0}), b = map.to_world({from + wide, wide});
    return std::pair(DVec3{a.x, a.y, map.z_to_world(0)}, DVec3{b.x, b.y, map.z_to_world(160)});
  };
  Volleys volleys(std::move(rooms), 6);
  check(volleys, attacks);
}

}  // namespace

TEST_CASE("no attack passes a wall of blocks or a shut door", "[world][sim][combat][property]") {
  check_chambers(20'000 / test::slowness);
  check_rooms(10'000 / test::slowness);
}

TEST_CASE("no attack of a million passes a wall", "[world][sim][combat][.slow]") {
  check_chambers(700'000);
  check_rooms(300'000);
}
