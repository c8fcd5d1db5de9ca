// What a game declares that clients are told, and what it then tells.
#include "world/sim/replication.h"

#include <array>
#include <functional>

#include "tests/catch.h"
#include "world/examples/capture/capture.h"
#include "world/sim/game.h"
#include "world/sim/game_replication.h"
#include "world/sim/world.h"

using namespace ashlar;

namespace {

FieldTraits field_of(std::string name, std::uint8_t bits, FieldAudience to = FieldAudience::all) {
  FieldTraits f;
  f.name = std::move(name);
  f.bits = bits;
  f.to = to;
  return f;
}

/// Does what a test says in one of its hooks.
struct Scripted final : Game {
  std::function<void(ReplicationRegistry&)> declares;
  std::function<void(GameApi&)> begins, ticks;
  void declare(ReplicationRegistry& to) override {
    if (declares) declares(to);
  }
  void begin(GameApi& api) override {
    if (begins) begins(api);
  }
  void tick(GameApi& api) override {
    if (ticks) ticks(api);
  }
};

WorldSetup setup_with(const std::function<void(Scripted&)>& script) {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.players_max = 3;
  setup.monsters = 0;
  setup.monsters_max = 1;
  setup.game = [script] {
    auto game = std::make_unique<Scripted>();
    script(*game);
    return game;
  };
  return setup;
}

std::vector<EntityId> join_players(World& world, std::size_t count) {
  const std::vector<std::uint32_t> tokens(count);
  TickInput input;
  input.joins = tokens;
  world.step(input);
  std::vector<EntityId> ids;
  for (const Joined& j : world.joined()) ids.push_back(j.id);
  return ids;
}

}  // namespace

TEST_CASE("a registry takes what fits, and nothing else", "[world][replication]") {
  ReplicationRegistry registry;
  CHECK_FALSE(registry.extended());
  const auto flag = registry.add_kind("flag", true);
  REQUIRE(flag.has_value());
  CHECK(registry.extended());
  CHECK(static_cast<int>(*flag) == own_kind_first);
  CHECK(registry.find(*flag)->name == "flag");
  CHECK_FALSE(registry.add_kind("flag", true));
  CHECK_FALSE(registry.add_kind("player", true));
  CHECK_FALSE(registry.add_kind("", true));
  CHECK_FALSE(registry.add_kind("two words", true));
  CHECK(registry.add_kind("grapple", false) == static_cast<EntityKind>(own_kind_first + 1));

  CHECK(registry.add_field(*flag, field_of("carrier", 32)) == std::uint8_t{0});
  CHECK_FALSE(registry.add_field(*flag, field_of("carrier", 3)));
  CHECK_FALSE(registry.add_field(*flag, field_of("none", 0)));
  CHECK_FALSE(registry.add_field(*flag, field_of("wide", 33)));
  CHECK_FALSE(registry.add_field(*flag, field_of("much", 32 + 1)));
  CHECK(registry.add_field(*flag, field_of("more", 32)) == std::uint8_t{1});
  CHECK_FALSE(registry.add_field(*flag, field_of("too_much", 1)));
  CHECK(registry.add_field(*flag, field_of("own", 32, FieldAudience::owner)) == std::uint8_t{2});
  FieldTraits stepless = field_of("stepless", 4, FieldAudience::team);
  stepless.step = 0;
  CHECK_FALSE(registry.add_field(*flag, stepless));
  // Monsters have nobody whose they are; a projectile's id no game gets to know.
  CHECK_FALSE(registry.add_field(entity_kind(MonsterKind::imp), field_of("own", 4, FieldAudience::owner)));
  CHECK(registry.add_field(entity_kind(MonsterKind::imp), field_of("angry", 1)));
  CHECK(registry.find(entity_kind(MonsterKind::baron))->fields.size() == 1);
  CHECK_FALSE(registry.add_field(projectile_entity_kind(0), field_of("hot", 1)));
  CHECK_FALSE(registry.add_field(static_cast<EntityKind>(255), field_of("hot", 1)));

  CHECK(registry.add_message("scored", 8) == std::uint8_t{0});
  CHECK_FALSE(registry.add_message("scored", 8));
  CHECK_FALSE(registry.add_message("long", game_message_bytes_max + 1));
  for (std::size_t i = 1; i < game_messages_max; ++i)
    REQUIRE(registry.add_message("m" + std::to_string(i), 1) == static_cast<std::uint8_t>(i));
  CHECK_FALSE(registry.add_message("one_more", 1));
}

TEST_CASE("a field's value is the nearest that its steps can say", "[world][replication]") {
  FieldTraits f = field_of("heat", 8);
  f.low = -10, f.step = 0.5;
  CHECK(f.steps_of(-10) == 0);
  CHECK(f.steps_of(-10.3) == 0);
  CHECK(f.steps_of(0.2) == 20);
  CHECK(f.steps_of(0.3) == 21);
  CHECK(f.value_of(21) == 0.5);
  CHECK(f.steps_of(1e12) == 255);
  CHECK(f.steps_of(-1e12) == 0);
  CHECK(f.steps_of(std::numeric_limits<double>::quiet_NaN()) == 0);
  f.bits = 32, f.low = 0, f.step = 1;
  CHECK(f.steps_of(4294967295.0) == 0xffffffffu);
  CHECK(f.steps_of(1e300) == 0xffffffffu);
}

TEST_CASE("a game's things and fields are there until it takes them away, and its hash knows them",
          "[world][replication][game]") {
  EntityKind kind{};
  EntityId thing{};
  std::vector<EntityId> ids;
  int phase = 0;
  const auto setup = setup_with([&](Scripted& game) {
    game.declares = [&](ReplicationRegistry& r) {
      kind = *r.add_kind("lamp", false);
      r.add_field(kind, field_of("light", 4));
      r.add_field(EntityKind::player, field_of("gold", 10, FieldAudience::owner));
    };
    game.begins = [&](GameApi& api) {
      CHECK(api.add_thing(EntityKind::player, {}) == EntityId{0});
      CHECK(api.add_thing(kind, {2e9, 0, 0}) == EntityId{0});
      CHECK(api.add_thing(kind, {}, EntityId{0}, 9) == EntityId{0});
      thing = api.add_thing(kind, {1, 2, 80});
    };
    game.ticks = [&](GameApi& api) {
      if (phase == 1) {
        CHECK(api.set_field(thing, 0, 99));  // as much as four bits hold
        CHECK_FALSE(api.set_field(thing, 1, 1));
        CHECK_FALSE(api.set_field(EntityId{12345}, 0, 1));
        CHECK(api.set_field(ids[0], 0, 700));
        CHECK(api.move_thing(thing, {3, 2, 80}));
        CHECK_FALSE(api.move_thing(ids[0], {3, 2, 80}));
      }
      if (phase == 2) {
        CHECK(api.field(thing, 0) == 15.0);
        CHECK(api.field(ids[0], 0) == 700.0);
        CHECK(api.field(ids[1], 0) == 0.0);
        CHECK(api.remove_thing(thing));
        CHECK_FALSE(api.remove_thing(thing));
        CHECK_FALSE(api.field(thing, 0));
        const EntityId next = api.add_thing(kind, {1, 2, 80});
        CHECK(next != thing);
        CHECK(slot_of(next) == slot_of(thing));
        CHECK(api.field(next, 0) == 0.0);  // not what the one before had
      }
      phase = 0;
    };
  });
  World world(setup);
  REQUIRE(thing != EntityId{0});
  ids = join_players(world, 2);
  World twin(setup);
  join_players(twin, 2);
  CHECK(world.hash() == twin.hash());
  phase = 1;
  world.step({});
  twin.step({});
  CHECK(world.hash() != twin.hash());
  CHECK(world.replication().values(ids[0])[0] == 700);
  phase = 2;
  world.step({});
}

TEST_CASE("a game's messages live for one tick, and only those that it declared",
          "[world][replication][game]") {
  const std::array<std::uint8_t, 4> bytes{1, 2, 3, 4};
  std::vector<EntityId> ids;
  bool says = false;
  const auto setup = setup_with([&](Scripted& game) {
    game.declares = [](ReplicationRegistry& r) { r.add_message("news", 3); };
    game.ticks = [&](GameApi& api) {
      if (!says) return;
      CHECK(api.send_to_all(0, std::span(bytes).first(3)));
      CHECK_FALSE(api.send_to_all(0, bytes));
      CHECK_FALSE(api.send_to_all(1, {}));
      CHECK_FALSE(api.send_to_all(256, {}));
      CHECK(api.send_to_team(2, 0, {}));
      CHECK_FALSE(api.send_to_team(0, 0, {}));
      CHECK_FALSE(api.send_to_team(5, 0, {}));
      CHECK(api.send_to(ids[1], 0, std::span(bytes).first(1)));
      CHECK_FALSE(api.send_to(EntityId{77}, 0, {}));
      for (std::size_t i = 3; i < GameReplication::messages_per_tick_max; ++i)
        REQUIRE(api.send_to_all(0, {}));
      CHECK_FALSE(api.send_to_all(0, {}));
    };
  });
  World world(setup);
  ids = join_players(world, 2);
  CHECK(world.replication().messages().empty());
  says = true;
  world.step({});
  const auto messages = world.replication().messages();
  REQUIRE(messages.size() == GameReplication::messages_per_tick_max);
  CHECK(world.replication().message_bytes(messages[0]).size() == 3);
  CHECK(messages[1].to == MessageTo::team);
  CHECK(messages[1].target == 2);
  CHECK(messages[2].to == MessageTo::one);
  CHECK(world.replication().message_bytes(messages[2])[0] == 1);
  says = false;
  world.step({});
  CHECK(world.replication().messages().empty());
}

TEST_CASE("a world whose game declares nothing has none of it", "[world][replication][game]") {
  const auto setup = setup_with([](Scripted& game) {
    game.begins = [](GameApi& api) {
      CHECK(api.add_thing(static_cast<EntityKind>(own_kind_first), {0, 0, 80}) == EntityId{0});
    };
    game.ticks = [](GameApi& api) {
      CHECK_FALSE(api.send_to_all(0, {}));
      CHECK_FALSE(api.set_field(api.players().id[0], 0, 1));
    };
  });
  World world(setup);
  join_players(world, 1);
  world.step({});
  CHECK(world.replication().registry() == ReplicationRegistry::builtin_ptr());
  CHECK(world.replication().things().empty());
}

TEST_CASE("the example's flags are things that say who carries them", "[world][replication][game]") {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.players_max = 2;
  setup.monsters = setup.monsters_max = 0;
  World probe(setup);
  const double ground = space_ground_below(probe.space(), {0.5, 0.5}, 0.45, 60, 120).value_or(0);
  const std::array<DVec3, 2> bases{{{-8, 0, ground}, {8, 0, ground}}};
  setup.game = [bases] { return std::make_unique<examples::Capture>(bases); };
  World world(setup);
  const EntityId runner = join_players(world, 2)[0];
  const auto& game = static_cast<const examples::Capture&>(world.game());
  const OwnThing* flag = world.replication().find(game.flag_id(1));
  REQUIRE(flag != nullptr);
  CHECK(flag->position_m == bases[1]);
  int scored = 0;
  for (int tick = 0; tick < 20 * setup.rules.tick_rate_hz && scored == 0; ++tick) {
    const std::size_t row = static_cast<std::size_t>(world.player_row(runner));
    const DVec3 goal = game.carrier(1) == runner ? bases[0] : game.flag(1);
    PlayerInput input{runner, {}};
    input.command.forward = 1;
    input.command.yaw = turn_towards(xy(goal - world.players().body[row].position_m));
    TickInput next;
    next.commands = {&input, 1};
    world.step(next);
    const auto carrier = world.replication().values(game.flag_id(1))[0];
    REQUIRE(carrier == static_cast<std::uint32_t>(game.carrier(1)));
    REQUIRE(world.replication().find(game.flag_id(1))->position_m == game.flag(1));
    for (const GameMessageOut& message : world.replication().messages())
      scored = world.replication().message_bytes(message)[0];
  }
  CHECK(scored == 1);  // its team
  CHECK(world.replication().values(runner)[1] == 1);
}
