// Monsters that appear on the open ground around players, as a file of kinds says.
#include "world/sim/ground_spawner.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/world/voxel_worlds.h"
#include "world/content/kinds_file.h"
#include "world/sim/kept_state.h"
#include "world/sim/world.h"

using namespace ashlar;

namespace {

std::shared_ptr<const KindSet> kinds_of(const std::string& text) {
  auto kinds = read_kinds(text, "k.toml");
  if (!kinds) FAIL(kinds.error().line());
  return *kinds;
}

struct Meadow {
  explicit Meadow(const std::string& text, std::uint32_t monsters_max = 32) {
    setup.terrain = TerrainKind::flat;
    setup.players_max = 4;
    setup.monsters_max = monsters_max;
    setup.monsters = 0;
    setup.rules.monsters_fight = Switch::off;
    setup.kinds = kinds_of(text);
    world = std::make_unique<World>(setup);
    const std::uint32_t token = 1;
    TickInput input;
    input.joins = {&token, 1};
    world->step(input);
    me = world->joined()[0].id;
  }
  void seconds(int s) {
    for (int i = 0; i < s * setup.rules.tick_rate_hz; ++i) world->step({});
  }
  void admin(const AdminCommand& command) {
    TickInput input;
    input.admin = {&command, 1};
    world->step(input);
  }
  DVec3 at() const {
    return world->players().body[static_cast<std::size_t>(world->player_row(me))].position_m;
  }
  std::vector<DVec3> monsters() const {
    std::vector<DVec3> out;
    for (std::size_t i = 0; i < world->monsters().rows(); ++i)
      if (world->monsters().id[i] != EntityId{0}) out.push_back(world->monsters().body[i].position_m);
    return out;
  }
  WorldSetup setup;
  std::unique_ptr<World> world;
  EntityId me{};
};

const std::string six =
    "[[spawn]]\nmonster = \"imp\"\nnumber = 6\nevery_s = 0.2\naway_m = 8\nwithin_m = 24\n";

}  // namespace

TEST_CASE("the open ground fills up with as many as the rule says, neither near nor far",
          "[world][sim][spawns]") {
  Meadow m(six);
  std::uint32_t before = 0;
  for (int tick = 0; tick < 20 * 60; ++tick) {
    m.world->step({});
    const std::uint32_t now = m.world->monster_count();
    REQUIRE(now <= 6);
    if (now > before)
      for (std::size_t i = 0; i < m.world->monsters().rows(); ++i)
        if (m.world->monsters().id[i] != EntityId{0}) {
          const DVec3 d = m.world->monsters().home_m[i] - m.at();
          CHECK(std::sqrt(dot(xy(d), xy(d))) >= 8 - 1);
          CHECK(std::sqrt(dot(xy(d), xy(d))) <= 24 + 1);
        }
    before = now;
  }
  CHECK(m.world->monster_count() == 6);
}

TEST_CASE("who is far from every player goes, and others come where the player is", "[world][sim][spawns]") {
  Meadow m(six);
  m.seconds(15);
  REQUIRE(m.world->monster_count() == 6);
  const DVec3 from = m.at();
  m.admin({AdminAction::teleport, m.me, {from.x + 60, from.y, from.z}});
  m.seconds(15);
  CHECK(m.world->monster_count() == 6);
  for (const DVec3 at : m.monsters()) CHECK(std::fabs(at.x - m.at().x) < 24 + 32 + 2);
}

TEST_CASE("the dead of the open ground make room for new ones, whatever comes back elsewhere",
          "[world][sim][spawns]") {
  Meadow m(six);
  m.setup.rules.monster_respawn_s = 1;
  m.world = std::make_unique<World>(m.setup);
  const std::uint32_t token = 1;
  TickInput input;
  input.joins = {&token, 1};
  m.world->step(input);
  m.me = m.world->joined()[0].id;
  m.seconds(30);
  CHECK(m.world->monster_count() == 6);
}

TEST_CASE("monsters of spawn rules are not kept: they come again", "[world][sim][spawns][kept_state]") {
  Meadow m(six);
  m.seconds(30);
  REQUIRE(m.world->monster_count() > 0);
  KeptState state;
  m.world->keep_state(state);
  CHECK(state.monsters.empty());
}

TEST_CASE("rules of light, ground and height are kept", "[world][sim][spawns]") {
  const auto count = [](const std::string& more) {
    Meadow m(six + more);
    m.seconds(8);
    return m.world->monster_count();
  };
  CHECK(count("light_least = 15\n") > 0);
  CHECK(count("light_most = 7\n") == 0);  // all of it is under the sky
  CHECK(count("ground = \"stone\"\nhighest_m = 4096\n") == 0);
  CHECK(count("highest_m = -100\n") == 0);
  CHECK(count("lowest_m = 1000\n") == 0);
  CHECK(count("ground = \"no such block\"\n") == 0);
}

TEST_CASE("it is as bright as the sky or the nearest lamp makes it", "[world][sim][spawns]") {
  auto types = BlockRegistry::builtin().types();
  std::vector<BlockType> all(types.begin(), types.end());
  BlockType lamp;
  lamp.name = "test_lamp";
  lamp.light = 12;
  all.push_back(lamp);
  const BlockRegistry blocks(std::move(all));
  VoxelVolume open = test::make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0; });
  CHECK(GroundSpawner::light_at(open, blocks, {0, 0, 0}) == 15);
  CHECK(GroundSpawner::light_at(open, blocks, {0, 0, 0}, 4) == 4);  // by night
  VoxelVolume cave = test::make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 || b.z > 3; });
  CHECK(GroundSpawner::light_at(cave, blocks, {0, 0, 0}) == 0);
  cave.set_block({3, 2, 0}, *blocks.find("test_lamp"));
  CHECK(GroundSpawner::light_at(cave, blocks, {0, 0, 0}) == 12 - 5);
  CHECK(GroundSpawner::light_at(cave, blocks, {-4, 0, 0}) == 12 - 9);
  open.set_block({3, 2, 0}, *blocks.find("test_lamp"));
  CHECK(GroundSpawner::light_at(open, blocks, {0, 0, 0}, 4) == 12 - 5);
}

namespace {

/// As the words say it: the sky where nothing opaque is above, or the brightest lamp, one less a block away.
int light_by_hand(const VoxelVolume& ground, const BlockRegistry& blocks, IVec3 at, int sky) {
  bool open = true;
  for (int up = 1; up <= GroundSpawner::sky_blocks && open; ++up) {
    const IVec3 above = at + IVec3{0, 0, up};
    if (!ground.loaded(chunk_of(above))) break;
    open = !blocks.type(ground.block(above)).opaque;
  }
  int brightest = open ? sky : 0;
  constexpr int reach = GroundSpawner::lamp_blocks;
  for (int z = -reach; z <= reach; ++z)
    for (int y = -reach; y <= reach; ++y)
      for (int x = -reach; x <= reach; ++x) {
        const IVec3 lamp = at + IVec3{x, y, z};
        if (!ground.loaded(chunk_of(lamp))) continue;
        const int light = blocks.type(ground.block(lamp)).light;
        brightest = std::max(brightest, light - std::abs(x) - std::abs(y) - std::abs(z));
      }
  return brightest;
}

}  // namespace

TEST_CASE("light is what its words say, at borders of chunks and where none are", "[world][sim][spawns]") {
  auto types = BlockRegistry::builtin().types();
  std::vector<BlockType> all(types.begin(), types.end());
  for (const std::uint8_t light : {std::uint8_t{5}, std::uint8_t{15}}) {
    BlockType lamp;
    lamp.name = "test_lamp_" + std::to_string(light);
    lamp.light = light;
    all.push_back(lamp);
  }
  const BlockRegistry blocks(std::move(all));
  const BlockId dim = *blocks.find("test_lamp_5"), bright = *blocks.find("test_lamp_15");
  VoxelVolume ground =
      test::make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3 b) { return b.z < 0 || b.z == 20; });
  Rng rng(5);
  const auto somewhere = [&rng](int from, int to) {
    const auto one = [&] {
      return from + static_cast<int>(rng.below(static_cast<std::uint32_t>(to - from)));
    };
    const int x = one(), y = one(), z = one();
    return IVec3{x, y, z};
  };
  for (int i = 0; i < 80; ++i) ground.set_block(somewhere(-32, 32), rng.below(2) == 0 ? dim : bright);
  for (int i = 0; i < 400; ++i) {
    const IVec3 hole = somewhere(-32, 32);
    ground.set_block({hole.x, hole.y, 20}, BlockId::glass);
  }
  int lit = 0, by_sky = 0;
  for (int i = 0; i < 600; ++i) {
    const IVec3 at = somewhere(-40, 40);
    const int sky = static_cast<int>(rng.below(16));
    const int light = light_by_hand(ground, blocks, at, sky);
    CAPTURE(at.x, at.y, at.z, sky);
    REQUIRE(GroundSpawner::light_at(ground, blocks, at, sky) == light);
    lit += light != 0 && light != sky ? 1 : 0;
    by_sky += light == sky ? 1 : 0;
  }
  CHECK(lit > 20);
  CHECK(by_sky > 20);
}

TEST_CASE("the same rules and seed make the same monsters, and full rows are no harm",
          "[world][sim][spawns]") {
  const std::string many =
      "[[spawn]]\nmonster = \"imp\"\nnumber = 900\ngroup = 8\nevery_s = 0.1\naway_m = 6\nwithin_m = 40\n";
  Meadow a(many, 16), b(many, 16);
  a.seconds(10), b.seconds(10);
  CHECK(a.world->hash() == b.world->hash());
  CHECK(a.world->monster_count() == 16);
}

TEST_CASE("spawn rules that make no sense are told with their line", "[world][content][spawns]") {
  const auto wrong = [](const std::string& text) {
    auto kinds = read_kinds(text, "k.toml");
    return kinds ? std::string() : kinds.error().line();
  };
  CHECK(wrong("[[spawn]]\nnumber = 3\n").find("line 1: a spawn rule has to name its monster") !=
        std::string::npos);
  CHECK(wrong("[[spawn]]\nmonster = \"cow\"\n").find("line 2: there is no monster \"cow\"") !=
        std::string::npos);
  CHECK(wrong("[spawn]\nmonster = \"imp\"\n").find("line 1: spawn has to be tables such as [[spawn]]") !=
        std::string::npos);
  CHECK(wrong("[[spawn]]\nmonster = \"imp\"\nnight = 1\n").find("line 3: a spawn rule has no \"night\"") !=
        std::string::npos);
  CHECK(wrong("[[spawn]]\nmonster = \"imp\"\naway_m = 50\n").find("away_m has to be less than within_m") !=
        std::string::npos);
  const auto kinds = kinds_of(six +
                              "ground = \"grass\"\ngroup = 3\n[monster.imp]\nblood = \"green\"\n"
                              "death_sound = \"\"\n");
  CHECK(kinds->monsters[static_cast<std::size_t>(MonsterKind::imp)].show.blood == "green");
  CHECK(kinds->monsters[static_cast<std::size_t>(MonsterKind::imp)].show.death_sound.empty());
  CHECK(kinds->monsters[static_cast<std::size_t>(MonsterKind::imp)].show.sight_sound == "imp/sight");
  const auto again = kinds_of(kinds_text(*kinds));
  REQUIRE(again->spawns.size() == 1);
  SpawnRule rule = again->spawns[0];
  rule.line = kinds->spawns[0].line;
  CHECK(rule == kinds->spawns[0]);
  CHECK(again->monsters[3].show == kinds->monsters[3].show);
}
