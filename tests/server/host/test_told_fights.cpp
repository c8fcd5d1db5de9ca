// What players are told of fights (fight_room.h): each hit once, to who gave and who took it.
#include "tests/server/host/hand.h"
#include "tests/server/host/host_table.h"
#include "world/sim/combat.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

/// Ann and Bob a few metres apart, high in the air; ann shoots when told to. Zoe is far away.
struct Fighters {
  Fighters() : table(3, {}, three_from_here()) {
    table.setup.rules.friendly_fire = Switch::on;
    table.setup.rules.free_ammo = FreeAmmo::no;
    table.setup.rules.gravity_mps2 = 0;
    table.config.clients_per_address_max = 3;
    table.setup.monsters = 0;  // who would fight, too
    table.restart();
    for (Hand* h : {&ann, &bob, &zoe}) table.enter(*h);
    table.host->admin({AdminAction::teleport, ann.own->id, {0, 0, 100}});
    table.host->admin({AdminAction::teleport, bob.own->id, {4, 0, 100}});
    table.run();
  }
  static HostConfig three_from_here() {
    HostConfig config;
    config.clients_per_address_max = 3;
    return config;
  }
  const World& world() { return table.host->world(); }
  std::size_t row(const Hand& h) { return static_cast<std::size_t>(world().player_row(h.own->id)); }
  void turn(bool shoots) {
    Input input;
    input.newest_tick = number(world().tick()) + 2;
    input.command_count = 1;
    if (shoots) input.commands[0].buttons = button::attack;
    // East, whatever its spawn turned it by.
    input.commands[0].yaw = Turn16{0} - delta_yaw();
    table.send(ann, input);
    table.run();
    for (const CombatEvent& e : world().combat().events()) happened.push_back(e);
  }
  Turn16 delta_yaw() {
    HostAudit books = table.books();
    for (const SessionAudit& session : books.sessions)
      if (session.player == ann.own->id) return session.delta_yaw;
    return Turn16{0};
  }
  static std::vector<CombatEvent> hits_of(const Hand& h) {
    std::vector<CombatEvent> all;
    for (const Fight& f : h.fights) all.insert(all.end(), f.hits.begin(), f.hits.end());
    return all;
  }
  Table table;
  Hand &ann = table.hand(peer(1), "ann"), &bob = table.hand(peer(2), "bob"),
       &zoe = table.hand(peer(3), "zoe");
  std::vector<CombatEvent> happened;
};

}  // namespace

TEST_CASE("a hit is told once to who gave and who took it, a player's death to all", "[server][fights]") {
  Fighters f;
  REQUIRE_FALSE(f.bob.fights.empty());
  CHECK(f.bob.fights.back().health == 100);
  const std::size_t zoe_before = f.zoe.fights.size();
  for (int i = 0; i < 1200 && f.world().players().health[f.row(f.bob)] > 0; ++i) {
    f.table.host->admin({AdminAction::teleport, f.bob.own->id, {4, 0, 100}});
    f.turn(true);
  }
  CHECK(f.world().players().health[f.row(f.bob)] == 0);
  for (int i = 0; i < 5; ++i) f.turn(false);
  REQUIRE(f.happened.size() > 2);
  CHECK(Fighters::hits_of(f.ann) == f.happened);
  CHECK(Fighters::hits_of(f.bob) == f.happened);
  const std::vector<CombatEvent> far = Fighters::hits_of(f.zoe);
  REQUIRE(far.size() == 1);
  CHECK(far[0].kind == CombatEventKind::died);
  CHECK(f.zoe.fights.size() == zoe_before + 1);
  CHECK(f.bob.fights.back().health == 0);
}

TEST_CASE("a monster's death is told once to those who were told of it, and to nobody else",
          "[server][fights]") {
  Table table(3, {}, Fighters::three_from_here());
  table.setup.rules.player_health = 1000;
  table.setup.monsters = table.setup.monsters_max = 40;
  table.setup.spawn.radius_m = 12;
  table.restart();
  Hand &ann = table.hand(peer(1), "ann"), &bob = table.hand(peer(2), "bob"),
       &zoe = table.hand(peer(3), "zoe");
  for (Hand* h : {&ann, &bob, &zoe}) table.enter(*h);
  const World& world = table.host->world();
  table.host->admin({AdminAction::noclip_on, zoe.own->id, {}});
  table.host->admin({AdminAction::teleport, zoe.own->id, {500, 500, 200}});
  table.run(60);
  std::vector<CombatEvent> deaths;
  const auto turn = [&] {
    table.run();
    for (const CombatEvent& e : world.combat().events())
      if (e.kind == CombatEventKind::died && world.player_row(e.who) < 0 && e.who != ann.own->id)
        deaths.push_back(e);
  };
  for (int i = 0; i < 3000 && deaths.size() < 3; ++i) {
    Input input;
    input.newest_tick = number(world.tick()) + 2;
    input.command_count = 1;
    input.commands[0].buttons = button::attack;
    input.commands[0].yaw = Turn16{static_cast<std::uint16_t>(911 * i)};
    table.send(ann, input);
    turn();
  }
  table.run(5);  // others may die meanwhile
  REQUIRE(deaths.size() >= 3);
  const auto died = [&](const Hand& h) {
    std::vector<CombatEvent> out = Fighters::hits_of(h);
    std::erase_if(out, [&](const CombatEvent& e) {
      return e.kind != CombatEventKind::died || slot_of(e.who) < world.players().rows();
    });
    if (out.size() > deaths.size()) out.resize(deaths.size());
    return out;
  };
  CHECK(died(ann) == deaths);
  CHECK(died(bob) == deaths);
  CHECK(died(zoe).empty());
}

TEST_CASE("what a player carries is told when it came and when it fired, and not each tick",
          "[server][fights]") {
  Fighters f;
  REQUIRE_FALSE(f.ann.carried.empty());
  CHECK(f.ann.carried.back().arsenal.ammo[0] == 50);
  const std::size_t before = f.ann.carried.size();
  for (int i = 0; i < 30; ++i) f.turn(false);
  CHECK(f.ann.carried.size() == before);
  int ticks = 0;
  while (f.world().players().arsenal[f.row(f.ann)].ammo[0] > 45 && ticks++ < 300) f.turn(true);
  for (int i = 0; i < 5; ++i) f.turn(false);
  CHECK(f.ann.carried.size() == before + 5);
  CHECK(f.ann.carried.back().arsenal.ammo[0] == 45);
  CHECK(f.bob.carried.back().arsenal.ammo[0] == 50);
}

TEST_CASE("the score is told to everybody when it changed, and shown in the status", "[server][score]") {
  Table table(3);
  table.setup.rules.mode = GameMode::deathmatch;
  table.setup.rules.time_limit_s = 100;
  table.restart();
  Hand &ann = table.hand(peer(1), "ann"), &bob = table.hand(peer(2), "bob");
  table.enter(ann);
  table.run(70);
  REQUIRE_FALSE(ann.scores.empty());
  CHECK(ann.scores.back().phase == MatchPhase::playing);
  CHECK(ann.scores.back().match == 1);
  REQUIRE(ann.scores.back().rows.size() == 1);
  CHECK(ann.scores.back().rows[0].name == "ann");
  const std::size_t before = ann.scores.size();
  table.run(180);
  CHECK(ann.scores.size() == before);  // time alone is no news
  table.enter(bob);
  table.run(70);
  CHECK(ann.scores.back().rows.size() == 2);
  CHECK(bob.scores.back().rows == ann.scores.back().rows);
  // Bob, who is new, was told it whole, Ann that he came.
  CHECK(ann.score_bytes.back() < ann.scores.back().rows.size() * 100);
  CHECK(table.host->status().match_phase == MatchPhase::playing);
  CHECK(table.host->status().match_left_s > 85);
  CHECK(table.host->status().match_left_s < 98);
}
