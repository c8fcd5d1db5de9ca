// Who only watches: nobody's foe, nobody's friend, and back in the match when there is a place.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "world/sim/block_acts.h"
#include "world/sim/combat.h"
#include "world/sim/game.h"
#include "world/sim/game_replication.h"
#include "world/sim/match.h"
#include "world/sim/player_life.h"
#include "world/sim/shooting.h"
#include "world/sim/world.h"

using namespace ashlar;

namespace {

/// A flat world in which players come, say something, and look about.
struct Watched {
  explicit Watched(Rules rules = {}, std::uint32_t players_max = 6) {
    setup.terrain = TerrainKind::flat;
    setup.players_max = players_max;
    setup.monsters = 0;
    setup.monsters_max = 2;
    setup.rules = rules;
    world = std::make_unique<World>(setup);
  }
  EntityId join(bool watches = false) {
    const std::uint32_t token = ++joins;
    TickInput input;
    input.joins = {&token, 1};
    if (watches) input.watchers = {&token, 1};
    world->step(input);
    return world->joined()[0].id;
  }
  void say(EntityId who, std::string_view text) {
    const GameCall call = GameCall::command(who, text);
    TickInput input;
    input.calls = {&call, 1};
    world->step(input);
  }
  void order(AdminAction action, EntityId who, DVec3 at = {}) {
    const AdminCommand command{action, who, at};
    TickInput input;
    input.admin = {&command, 1};
    world->step(input);
  }
  void kill(EntityId who) {
    judge->victim = who;
    world->step({});
    REQUIRE(world->players().health[row(who)] == 0);
  }
  void seconds(double s) {
    for (int i = 0; i < s * setup.rules.tick_rate_hz; ++i) world->step({});
  }
  std::size_t row(EntityId who) const { return static_cast<std::size_t>(world->player_row(who)); }
  const Body& body(EntityId who) const { return world->players().body[row(who)]; }
  bool watches(EntityId who) const { return world->players().spectates(row(who)); }
  bool in_match(EntityId who) const { return world->match().players[row(who)].id == who; }

  /// Kills whom it is told to.
  class Judge final : public Game {
   public:
    void joined(GameApi&, EntityId) override { ++come; }
    void left(GameApi&, EntityId) override { ++gone; }
    void died(GameApi&, EntityId, EntityId) override { ++deaths; }
    void tick(GameApi& api) override {
      if (victim != EntityId{0}) api.hurt(std::exchange(victim, EntityId{0}), EntityId{0}, 1000);
      if (std::exchange(restarts, false)) api.restart();
    }
    void begin(GameApi& api) override { api.begin_phase(MatchPhase::playing, 0); }
    EntityId victim{};
    bool restarts = false;
    int come = 0, gone = 0, deaths = 0;
  };
  void judged() {
    setup.game = [this] {
      auto game = std::make_unique<Judge>();
      judge = game.get();
      return game;
    };
    world = std::make_unique<World>(setup);
  }
  Judge* judge = nullptr;  ///< of the world

  WorldSetup setup;
  std::unique_ptr<World> world;
  std::uint32_t joins = 0;
};

}  // namespace

TEST_CASE("a spectator comes without a body, flies through everything and is no part of the match",
          "[world][sim][spectators]") {
  Watched m;
  m.judged();
  const EntityId watcher = m.join(true);
  CHECK(m.watches(watcher));
  CHECK_FALSE(m.in_match(watcher));
  CHECK(m.judge->come == 0);
  CHECK(m.world->players().role[m.row(watcher)] == PlayerRole::watches);
  // Down into the ground, and out at the other side of it.
  PlayerInput down{watcher, {}};
  down.command.buttons = button::down | button::use | button::attack | weapon_button(0);
  TickInput input;
  input.commands = {&down, 1};
  const double before = m.body(watcher).position_m.z;
  for (int i = 0; i < 60; ++i) m.world->step(input);
  CHECK(m.body(watcher).position_m.z < before - 15);
  CHECK(m.world->shooting().events().empty());
  CHECK(m.world->players().command[m.row(watcher)].buttons == button::down);
  // Who leaves as one has not been there for the game.
  TickInput leave;
  leave.leaves = {&watcher, 1};
  m.world->step(leave);
  CHECK(m.judge->gone == 0);
  CHECK(m.world->player_count() == 0);
}

TEST_CASE("by a line of chat a player watches, drops what it holds, and is back after a while",
          "[world][sim][spectators]") {
  Watched m;
  m.judged();
  const EntityId player = m.join(), other = m.join();
  CHECK(m.judge->come == 2);
  AdminCommand gift;
  gift.action = AdminAction::give;
  gift.player = player, gift.id = BlockId::stone, gift.count = 3;
  TickInput input;
  input.admin = {&gift, 1};
  m.world->step(input);
  REQUIRE(m.world->players().inventory[m.row(player)].count() == 3);
  m.say(player, "spectate");
  CHECK(m.watches(player));
  CHECK(m.judge->gone == 1);
  CHECK_FALSE(m.in_match(player));
  CHECK(m.in_match(other));
  CHECK(m.world->players().inventory[m.row(player)].empty());
  CHECK(m.world->items().table().count > 0);
  // Watching for a moment does not undo a fight.
  m.say(player, "play");
  CHECK(m.watches(player));
  m.seconds(m.setup.rules.respawn_s - 0.5);
  CHECK(m.watches(player));
  m.seconds(1);
  CHECK_FALSE(m.watches(player));
  CHECK(m.in_match(player));
  CHECK(m.judge->come == 3);
  CHECK(m.body(player).noclip == 0);
  // By an operator, likewise; and whoever was to fly goes on flying.
  m.order(AdminAction::spectate, other);
  CHECK(m.watches(other));
  m.order(AdminAction::noclip_off, other);
  CHECK(m.watches(other));
  m.order(AdminAction::play, other);
  m.seconds(m.setup.rules.respawn_s + 0.5);
  CHECK_FALSE(m.watches(other));
}

TEST_CASE("each line about watching is answered", "[world][sim][spectators]") {
  Watched m;
  const EntityId player = m.join();
  const auto answer = [&](std::string_view line) {
    m.say(player, line);
    const GameReplication& told = m.world->replication();
    REQUIRE(told.messages().size() == 1);
    const auto bytes = told.message_bytes(told.messages()[0]);
    return std::string(bytes.begin(), bytes.end());
  };
  CHECK(answer("play").starts_with("you play already"));
  CHECK(answer("spectate").starts_with("you watch from now on"));
  CHECK(answer("spectate").starts_with("you watch already"));
  CHECK(answer("play").starts_with("you play as soon as there is a place"));
  CHECK(answer("dance") == "this game has no such command");
}

TEST_CASE("a spectator is not hit, digs nothing, picks nothing up and is in nobody's way",
          "[world][sim][spectators]") {
  Rules rules;
  rules.friendly_fire = Switch::on;
  Watched m(rules);
  const EntityId shooter = m.join(), watcher = m.join(true);
  m.seconds(1);
  const DVec3 here = m.body(shooter).position_m;
  m.order(AdminAction::teleport, watcher, here + DVec3{3, 0, 0});
  PlayerInput fire{shooter, {}};
  fire.command.buttons = button::attack;
  TickInput input;
  input.commands = {&fire, 1};
  bool shot = false;
  for (int i = 0; i < 60; ++i) {
    m.world->step(input);
    for (const ShotEvent& event : m.world->shooting().events()) {
      shot = true;
      CHECK(event.hit.target == EntityId{0});
    }
  }
  CHECK(shot);
  CHECK(m.world->players().health[m.row(watcher)] == rules.player_health);
  // Within the other's body it pushes nobody.
  m.order(AdminAction::teleport, watcher, here);
  const DVec3 stood = m.body(shooter).position_m;
  m.seconds(0.5);
  CHECK(m.body(shooter).position_m == stood);
  const IVec3 ground = block_at(here - DVec3{0, 0, 0.5});
  const BlockAct act{watcher, 1, BlockActKind::dig, BlockFace::top, ground, BlockId::air};
  TickInput dig;
  dig.acts = {&act, 1};
  m.world->step(dig);
  REQUIRE(m.world->block_acts().verdicts().size() == 1);
  CHECK(m.world->block_acts().verdicts()[0].verdict == ActVerdict::dead);
}

TEST_CASE("a match with so many places has the others watch until one goes", "[world][sim][spectators]") {
  Rules rules;
  rules.match_places = 2;
  Watched m(rules);
  const EntityId one = m.join(), two = m.join(), three = m.join(), four = m.join();
  CHECK_FALSE(m.watches(one));
  CHECK_FALSE(m.watches(two));
  CHECK(m.watches(three));
  CHECK(m.watches(four));
  CHECK(m.world->players().role[m.row(three)] == PlayerRole::waits);
  m.seconds(10);
  CHECK(m.watches(three));
  TickInput leave;
  leave.leaves = {&one, 1};
  m.world->step(leave);
  m.world->step({});
  CHECK_FALSE(m.watches(three));
  CHECK(m.watches(four));
  // A place that somebody gives up is free, and he waits behind those who do.
  m.say(two, "spectate");
  m.say(two, "play");
  m.seconds(rules.respawn_s + 1);
  CHECK_FALSE(m.watches(four));
  CHECK(m.watches(two));
}

TEST_CASE("whose lives are over watches until the next match and keeps its score",
          "[world][sim][spectators]") {
  Rules rules;
  rules.lives = 2;
  rules.respawn_s = 0.5;
  Watched m(rules);
  m.judged();
  const EntityId player = m.join();
  m.join();
  m.kill(player);
  m.seconds(1);
  CHECK_FALSE(m.watches(player));
  m.kill(player);
  m.seconds(1);
  CHECK(m.watches(player));
  CHECK(m.world->players().role[m.row(player)] == PlayerRole::out);
  CHECK(m.in_match(player));
  CHECK(m.world->match().players[m.row(player)].deaths == 2);
  m.say(player, "play");
  m.seconds(5);
  CHECK(m.watches(player));
}

TEST_CASE("in a deathmatch with lives the last one left ends it, and all play the next",
          "[world][sim][spectators]") {
  Rules rules;
  rules.mode = GameMode::deathmatch;
  rules.lives = 1;
  rules.respawn_s = 0.5;
  rules.intermission_s = 2;
  Watched m(rules);
  const EntityId one = m.join(), two = m.join();
  m.seconds(1);
  REQUIRE(m.world->match().phase == MatchPhase::playing);
  // It shoots the other, who stands before it.
  bool died = false;
  for (int i = 0; i < 60 * 30 && !died; ++i) {
    if (i % 60 == 0) m.order(AdminAction::teleport, two, m.body(one).position_m + DVec3{2, 0, 0});
    PlayerInput fire{one, {}};
    fire.command.buttons = button::attack;
    TickInput input;
    input.commands = {&fire, 1};
    m.world->step(input);
    died = m.world->players().health[m.row(two)] == 0;
  }
  REQUIRE(died);
  m.seconds(1);
  CHECK(m.watches(two));
  CHECK(m.world->match().phase == MatchPhase::intermission);
  CHECK(m.world->match().players[m.row(one)].score == 1);
  m.seconds(2);
  CHECK(m.world->match().number == 2);
  CHECK_FALSE(m.watches(two));
  CHECK(m.world->match().phase == MatchPhase::playing);
}

TEST_CASE("a match with lives ends when nobody there has one left, and not before",
          "[world][sim][spectators]") {
  for (const GameMode mode :
       {GameMode::deathmatch, GameMode::teams, GameMode::cooperative, GameMode::building}) {
    CAPTURE(static_cast<int>(mode));
    Rules rules;
    rules.mode = mode;
    rules.lives = 2;
    rules.respawn_s = 0.5;
    rules.intermission_s = 4;
    rules.fall_free_m = 1;
    rules.fall_damage = 1000;
    Watched m(rules);
    const EntityId alone = m.join();
    m.seconds(1);
    const auto dies = [&] {
      const std::uint32_t before = m.world->match().players[m.row(alone)].deaths;
      m.order(AdminAction::teleport, alone, m.body(alone).position_m + DVec3{0, 0, 15});
      for (int i = 0; i < 300 && m.world->match().players[m.row(alone)].deaths == before; ++i)
        m.world->step({});
      REQUIRE(m.world->match().players[m.row(alone)].deaths == before + 1);
    };
    REQUIRE(m.world->match().phase == MatchPhase::playing);
    dies();
    m.seconds(2);
    CHECK_FALSE(m.watches(alone));
    CHECK(m.world->match().phase == MatchPhase::playing);
    dies();
    m.seconds(1);
    CHECK(m.watches(alone));
    CHECK(m.world->match().phase == MatchPhase::intermission);
    m.seconds(4);
    CHECK(m.world->match().number == 2);
    CHECK(m.world->match().phase == MatchPhase::playing);
    CHECK_FALSE(m.watches(alone));
  }
}

TEST_CASE("watching for a moment gives no lives back, and wipes no score", "[world][sim][spectators]") {
  Rules rules;
  rules.lives = 2;
  rules.respawn_s = 0.5;
  Watched m(rules);
  m.judged();
  const EntityId player = m.join();
  m.join();
  const auto come_and_go = [&] {
    m.say(player, "spectate");
    CHECK_FALSE(m.in_match(player));
    m.say(player, "play");
    m.seconds(1);
  };
  const auto deaths = [&] { return m.world->match().players[m.row(player)].deaths; };
  m.kill(player);
  come_and_go();
  CHECK_FALSE(m.watches(player));
  CHECK(deaths() == 1);
  m.kill(player);
  m.seconds(1);
  come_and_go();  // of who is out
  CHECK(m.world->players().role[m.row(player)] == PlayerRole::out);
  CHECK(deaths() == 2);
  // Nor does coming back as who watches. What is kept of him is what he left with.
  m.say(player, "spectate");
  Returning brings;
  brings.token = m.joins + 1;
  brings.score = keep_score(m.world->match(), m.row(player));
  CHECK(brings.score.deaths == 2);
  TickInput input;
  input.leaves = {&player, 1};
  m.world->step(input);
  input = {};
  input.joins = input.watchers = {&brings.token, 1};
  input.returning = {&brings, 1};
  m.world->step(input);
  const EntityId back = m.world->joined()[0].id;
  m.say(back, "play");
  m.seconds(1);
  CHECK(m.world->players().role[m.row(back)] == PlayerRole::out);
  // The next match has them all.
  m.judge->restarts = true;
  m.world->step({});
  CHECK(m.world->players().role[m.row(back)] == PlayerRole::plays);
  CHECK(m.world->match().players[m.row(back)].deaths == 0);
}

TEST_CASE("who stops playing alive where deaths decide has died by himself, and nobody else has",
          "[world][sim][spectators]") {
  const GameMode mode = GENERATE(GameMode::sandbox, GameMode::cooperative, GameMode::deathmatch);
  const std::uint16_t lives = GENERATE(std::uint16_t{0}, std::uint16_t{2});
  const bool decides = mode == GameMode::deathmatch || lives > 0;
  Rules rules;
  rules.mode = mode;
  rules.lives = lives;
  rules.respawn_s = 0.5;
  Watched m(rules);
  m.judged();
  const EntityId player = m.join();
  m.join();
  const auto come_and_go = [&] {
    m.say(player, "spectate");
    REQUIRE(m.watches(player));
    m.say(player, "play");
    m.seconds(1);
  };
  come_and_go();
  CHECK(m.world->match().players[m.row(player)].deaths == (decides ? 1 : 0));
  CHECK(m.judge->deaths == (decides ? 1 : 0));
  come_and_go();
  CHECK(m.judge->deaths == (decides ? 2 : 0));
  // Who had no life left is out, as by any death.
  CHECK((m.world->players().role[m.row(player)] == PlayerRole::out) == (lives > 0));
}

TEST_CASE("where nothing counts yet watching costs nothing", "[world][sim][spectators]") {
  Rules rules;
  rules.mode = GameMode::deathmatch;
  rules.warmup_s = 60;
  rules.respawn_s = 0.5;
  Watched m(rules);
  const EntityId player = m.join();
  m.join();
  REQUIRE(m.world->match().phase == MatchPhase::warmup);
  m.say(player, "spectate");
  m.say(player, "play");
  m.seconds(2);
  CHECK_FALSE(m.watches(player));
  CHECK(m.world->match().players[m.row(player)].deaths == 0);
}
