// What a game hears of its players, and what it may put into the world.
#include <algorithm>
#include <string>

#include "tests/catch.h"
#include "world/sim/combat.h"
#include "world/sim/game.h"
#include "world/sim/game_replication.h"
#include "world/sim/world.h"

using namespace ashlar;

namespace {

/// Notes what it is told, and does what one who asks wants of it.
class Listener final : public Game {
 public:
  void declare(ReplicationRegistry& to) override {
    kind_ = *to.add_kind("orb", false);
    order_ = *to.add_client_message("order", 4);
  }
  bool chat_command(GameApi& api, EntityId player, std::string_view text) override {
    heard.push_back(std::to_string(static_cast<std::uint32_t>(player)) + ":" + std::string(text));
    if (text == "orb") orb = api.add_thing(kind_, beside(api, player, 0.3));
    if (text == "imp") monster = api.spawn_monster(MonsterKind::imp, {beside(api, player, 0.8), Turn16{0}});
    if (text == "wall") inside = api.spawn_monster(MonsterKind::imp, {{0, 0, -200}, Turn16{0}});
    if (text == "fire")
      launched = api.launch(3, beside(api, player, 3) + DVec3{0, 0, 1}, {-2, 0, 0}, EntityId{0});
    if (text == "nowhere") launched = api.launch(0, {0, 0, 20}, {}, EntityId{0});
    if (text == "tell") api.tell(player, "for you alone"), api.tell_all("for all");
    return text != "nonsense";
  }
  void message(GameApi&, EntityId, std::size_t number, std::span<const std::uint8_t> bytes) override {
    heard.push_back("message " + std::to_string(number) + " of " + std::to_string(bytes.size()));
  }
  bool touches_monsters() const override { return asks_monsters; }
  void touched_thing(GameApi& api, EntityId player, EntityId thing) override {
    heard.push_back("orb");
    CHECK(thing == orb);
    CHECK(api.alive(player));
    api.remove_thing(thing);
  }
  void touched_monster(GameApi&, EntityId, EntityId what) override {
    CHECK(what == monster);
    ++met;
  }

  std::vector<std::string> heard;
  EntityId orb{}, monster{}, inside{};
  bool launched = false, asks_monsters = false;
  int met = 0;

 private:
  static DVec3 beside(const GameApi& api, EntityId player, double m) {
    return api.players().body[slot_of(player)].position_m + DVec3{m, 0, 0};
  }
  EntityKind kind_{};
  std::size_t order_ = 0;
};

struct Table {
  Table() {
    setup.terrain = TerrainKind::flat;
    setup.players_max = 4;
    setup.monsters_max = 4;
    setup.monsters = 0;
    setup.rules.monsters_fight = Switch::off;
    setup.game = [this] {
      auto game = std::make_unique<Listener>();
      listener = game.get();
      return game;
    };
    world = std::make_unique<World>(setup);
    const std::uint32_t tokens[]{1, 2};
    TickInput input;
    input.joins = tokens;
    world->step(input);
    for (const Joined& j : world->joined()) ids.push_back(j.id);
  }
  void say(const GameCall& call) {
    TickInput input;
    input.calls = {&call, 1};
    world->step(input);
  }
  void say(std::string_view text) { say(GameCall::command(ids[0], text)); }
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    const GameReplication& told = world->replication();
    for (const GameMessageOut& m : told.messages()) {
      if (m.number != GameMessageOut::chat_line) continue;
      const auto bytes = told.message_bytes(m);
      out.push_back((m.to == MessageTo::all ? "all " : "one ") + std::string(bytes.begin(), bytes.end()));
    }
    return out;
  }
  WorldSetup setup;
  Listener* listener = nullptr;
  std::unique_ptr<World> world;
  std::vector<EntityId> ids;
};

}  // namespace

TEST_CASE("a game hears commands of chat, and says no to those that it does not know",
          "[world][game][calls]") {
  Table t;
  t.say("vote map01");
  const std::string who = std::to_string(static_cast<std::uint32_t>(t.ids[0]));
  CHECK(t.listener->heard == std::vector{who + ":vote map01"});
  CHECK(t.lines().empty());
  t.say("nonsense");
  CHECK(t.lines() == std::vector<std::string>{"one this game has no such command"});
  t.say("tell");
  CHECK(t.lines() == std::vector<std::string>{"one for you alone", "all for all"});
  t.world->step({});
  CHECK(t.lines().empty());
  // Of nobody, or of who has left.
  t.listener->heard.clear();
  t.say(GameCall::command(make_entity_id(3, 1), "hello"));
  CHECK(t.listener->heard.empty());
}

TEST_CASE("a game hears messages of the kinds that it declared, and no longer ones", "[world][game][calls]") {
  Table t;
  const std::vector<std::uint8_t> bytes(5, 7);
  t.say(GameCall::of(t.ids[1], 0, std::span(bytes).first(4)));
  t.say(GameCall::of(t.ids[1], 0, {}));
  CHECK(t.listener->heard == std::vector<std::string>{"message 0 of 4", "message 0 of 0"});
  t.say(GameCall::of(t.ids[1], 0, bytes));                      // too long
  t.say(GameCall::of(t.ids[1], 1, std::span(bytes).first(1)));  // no such kind
  t.say(GameCall::of(EntityId{0}, 0, {}));
  CHECK(t.listener->heard.size() == 2);
}

TEST_CASE("kinds of messages of clients have bounds of their own", "[world][game][calls]") {
  ReplicationRegistry to;
  CHECK(to.add_client_message("order", 256) == 0);
  CHECK_FALSE(to.add_client_message("order", 1));
  CHECK_FALSE(to.add_client_message("long", 257));
  CHECK_FALSE(to.add_client_message("with space", 1));
  CHECK(to.add_message("order", 1) == 0);  // the game's own are another list
  for (std::size_t i = 1; i < game_messages_max; ++i)
    REQUIRE(to.add_client_message("n" + std::to_string(i), 0) == i);
  CHECK_FALSE(to.add_client_message("last", 0));
  CHECK(to.extended());
}

TEST_CASE("a game is told when players meet its things, once it may take them away", "[world][game][touch]") {
  Table t;
  t.say("orb");
  CHECK(std::ranges::count(t.listener->heard, "orb") == 1);
  for (int i = 0; i < 10; ++i) t.world->step({});
  CHECK(std::ranges::count(t.listener->heard, "orb") == 1);
}

TEST_CASE("a game puts monsters where there is room, and is told who meets them if it asks",
          "[world][game][touch]") {
  Table t;
  t.say("imp");
  REQUIRE(t.listener->monster != EntityId{0});
  CHECK(t.world->monster_count() == 1);
  CHECK(t.world->monster_row(t.listener->monster) >= 0);
  for (int i = 0; i < 10; ++i) t.world->step({});
  CHECK(t.listener->met == 0);
  t.listener->asks_monsters = true;
  t.world->step({});
  CHECK(t.listener->met >= 1);

  t.say("wall");
  CHECK(t.listener->inside == EntityId{0});
  CHECK(t.world->monster_count() == 1);
}

TEST_CASE("what a game launches flies, and meets somebody", "[world][game]") {
  Table t;
  t.say("fire");
  REQUIRE(t.listener->launched);
  const auto row = static_cast<std::size_t>(t.world->player_row(t.ids[0]));
  const std::uint16_t before = t.world->players().health[row];
  bool flew = t.world->projectiles().count == 1;
  for (int i = 0; i < 60 && t.world->players().health[row] == before; ++i) {
    t.world->step({});
    flew = flew || t.world->projectiles().count == 1;
  }
  CHECK(t.world->players().health[row] < before);
  t.say("nowhere");
  CHECK_FALSE(t.listener->launched);
}
