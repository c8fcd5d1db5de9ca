// What a match leaves behind, and who comes back: what a game may do in any of its calls.
#include <algorithm>
#include <memory>
#include <utility>

#include "tests/catch.h"
#include "world/sim/combat.h"
#include "world/sim/game.h"
#include "world/sim/match.h"
#include "world/sim/projectiles.h"
#include "world/sim/world.h"

using namespace ashlar;

namespace {

/// Does once what it is told to, at the begin of a tick or where blocks change.
struct Director final : Game {
  void begin(GameApi& api) override { api.begin_phase(MatchPhase::playing, 0); }
  void tick(GameApi& api) override {
    if (std::exchange(launches, false)) api.launch(6, from_m, {1, 0, 0}, owner);
    for (int i = 0; std::exchange(spawns, false) && i < 12; ++i)
      if (api.spawn_monster(MonsterKind::hive, {from_m + DVec3{4.0 + i, 0, 1.5}, Turn16{32768}}) !=
          EntityId{0})
        break;
    if (std::exchange(kills, false)) kill_all(api);
    for (std::size_t i = 0; i < api.players().rows(); ++i)
      if (api.players().alive(i)) api.set_health(api.players().id[i], 9000);
    if (std::exchange(restarts, false)) api.restart();
  }
  void edited(GameApi& api, EntityId, IVec3) override {
    if (!std::exchange(kills_when_edited, false)) return;
    kill_all(api);
    api.restart();
  }
  static void kill_all(GameApi& api) {
    for (const EntityId id : api.monsters().id)
      if (id != EntityId{0}) api.hurt(id, EntityId{0}, 60000);
  }
  bool launches = false, spawns = false, kills = false, restarts = false, kills_when_edited = false;
  EntityId owner{};
  DVec3 from_m;
};

struct Directed {
  explicit Directed(std::uint32_t monsters, std::uint16_t respawn_s = 0) {
    WorldSetup setup;
    setup.terrain = TerrainKind::flat;
    setup.players_max = 2;
    setup.monsters = monsters;
    setup.monsters_max = 32;
    setup.rules.monster_respawn_s = respawn_s;
    setup.game = [this] {
      auto made = std::make_unique<Director>();
      director = made.get();
      return made;
    };
    world = std::make_unique<World>(setup);
    const std::uint32_t token = 1;
    TickInput join;
    join.joins = {&token, 1};
    world->step(join);
    me = world->joined()[0].id;
    director->owner = me;
    director->from_m = world->players().body[0].position_m;
  }
  void seconds(double s) {
    for (int i = 0; i < s * 60; ++i) world->step({});
  }
  std::size_t alive() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(world->monsters().id, [](EntityId id) { return id != EntityId{0}; }));
  }
  Director* director = nullptr;  ///< of the world
  std::unique_ptr<World> world;
  EntityId me{};
};

}  // namespace

TEST_CASE("nothing that flies outlives its match", "[world][game][restart]") {
  Directed d(0);
  d.director->from_m.z += 12;
  d.director->launches = true;
  d.world->step({});
  REQUIRE(d.world->projectiles().count == 1);
  d.director->restarts = true;
  d.world->step({});
  CHECK(d.world->match().number == 2);
  CHECK(d.world->projectiles().count == 0);
}

TEST_CASE("a game may kill and restart in one call", "[world][game][restart]") {
  Directed d(1);
  REQUIRE(d.alive() == 1);
  d.director->kills_when_edited = true;
  const BlockEdit edit{{5, 5, 40}, BlockId::stone};
  TickInput input;
  input.edits = {&edit, 1};
  d.world->step(input);
  CHECK(d.alive() == 1);
  d.world->step({});
  CHECK(d.world->monster_count() == 1);
  d.director->kills = true;
  d.world->step({});
  CHECK(d.world->monster_count() == 0);
}

TEST_CASE("whom a monster or a game brought does not come back", "[world][game][restart]") {
  Directed d(3, 2);
  d.director->spawns = true;
  d.seconds(20);
  REQUIRE(d.alive() > 4);  // the maps', the hive and some of what it brings
  d.director->kills = true;
  d.world->step({});
  REQUIRE(d.alive() == 0);
  d.seconds(10);
  CHECK(d.alive() == 3);
  CHECK(d.world->monster_count() == 3);
}
