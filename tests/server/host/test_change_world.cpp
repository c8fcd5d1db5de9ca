// One world goes, the next one comes, and everybody stays.
#include "tests/server/host/host_table.h"
#include "tests/slowness.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

std::unique_ptr<World> next_world(std::uint64_t seed, std::uint16_t tick_rate_hz = 60,
                                  std::uint32_t players_max = 8, GameMode mode = WorldSetup{}.rules.mode) {
  WorldSetup setup;
  setup.rules.mode = mode;
  setup.seed = seed;
  setup.terrain = TerrainKind::flat;  // made in no time
  setup.players_max = players_max;
  setup.monsters = 0;
  setup.rules.tick_rate_hz = tick_rate_hz;
  return std::make_unique<World>(setup);
}

}  // namespace

TEST_CASE("everybody is welcomed to the next world and plays on in it", "[server][change_world]") {
  Table t(4);
  Hand &ann = t.hand(peer(1), "ann"), &bob = t.hand(tcp_peer(2, 5), "bob");
  t.enter(ann);
  t.enter(bob);
  t.run(30);
  const std::uint32_t number = ann.number();
  CHECK(ann.send(Chat{"on the way"}) == SendResult::sent);
  // Commands for the old world are on their way when it ends, and so is what was said in it.
  t.send(ann, walking(ann.snapshot_tick + 40, 1));
  t.host->change_world(next_world(555, 30));
  CHECK(t.host->status().tick == 0);
  CHECK(t.host->status().monsters == 0);
  CHECK(t.host->status().clients == 0);
  t.run(20);
  for (Hand* hand : {&ann, &bob}) {
    REQUIRE(hand->welcomes.size() == 2);
    CHECK(hand->welcomes[1].world == 2);
    CHECK(hand->welcomes[1].seed == 555);
    CHECK(hand->welcomes[1].rules.tick_rate_hz == 30);
    CHECK_FALSE(hand->welcomes[1].resumed);
    CHECK(hand->snapshot_tick == t.host->status().tick);
    CHECK_FALSE(hand->end());
  }
  CHECK(ann.number() == number);
  CHECK(t.host->status().clients == 2);
  CHECK(t.host->world().player_count() == 2);
  CHECK(ann.applied_tick == 0);  // what was meant for the old world moves nobody here
  CHECK(std::ranges::any_of(bob.lines, [](const ChatLine& line) { return line.text == "on the way"; }));
  const DVec3 start = ann.own->body.position_m;
  for (int i = 0; i < 60; ++i) {
    t.send(ann, walking(ann.snapshot_tick + 2));
    t.run();
  }
  CHECK(length(xy(ann.own->body.position_m) - xy(start)) > 0.5);
}

TEST_CASE("who joins the next world at once is told nothing of the last one's score",
          "[server][change_world]") {
  Table t(4);
  t.setup.rules.mode = GameMode::deathmatch;
  t.restart();
  Hand &ann = t.hand(peer(1), "ann"), &bob = t.hand(peer(2), "bob");
  t.enter(ann);
  t.enter(bob);
  // Both have just been told of, so that the score's next turn is a second away.
  for (int i = 0; i < 200 && (ann.scores.empty() || ann.scores.back().rows.size() < 2); ++i) t.run();
  REQUIRE(ann.scores.back().rows.size() == 2);
  bob.joins = false;
  t.host->change_world(next_world(558, 60, 8, GameMode::deathmatch));
  t.run(40);
  REQUIRE(ann.welcomes.size() == 2);
  REQUIRE(ann.scores.back().world == 2);
  for (const Score& score : ann.scores) {
    if (score.world != 2) continue;
    CHECK(std::ranges::none_of(score.rows, [](const ScoreRow& row) { return row.name == "bob"; }));
  }
}

TEST_CASE("who was greeted, joining or away is treated as the next world wants it",
          "[server][change_world]") {
  Table t(4);
  Hand &greeted = t.hand(peer(1), "greeted"), &away = t.hand(peer(2), "away");
  t.enter(away);
  away.will_resume();
  away.vanished = true;
  t.run(60 * 11);
  REQUIRE(t.host->status().away == 1);
  greeted.joins = false;
  t.greet(greeted);
  CHECK(greeted.send(Join{{}, 1}) == SendResult::sent);  // to the world that goes
  t.host->change_world(next_world(556));
  t.run(5);
  CHECK(t.host->status().away == 0);
  CHECK(greeted.welcomes.size() == 2);
  CHECK(t.host->status().clients == 0);
  CHECK(t.drops(DropReason::wrong_state) == 1);
  CHECK(greeted.send(Join{{}, 2}) == SendResult::sent);
  t.run(3);
  CHECK(t.host->status().clients == 1);
  // It comes back to a world in which it has no body.
  away.vanished = false;
  away.at.port = 40;
  t.enter(away);
  CHECK_FALSE(away.welcomes.back().resumed);
  CHECK(t.host->world().player_count() == 2);
}

TEST_CASE("worlds change again and again, faster than anybody joins", "[server][change_world]") {
  Table t(4);
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  const std::uint64_t changes = 300 / ashlar::test::slowness;  // 300: over the number's end
  for (std::uint64_t i = 0; i < changes; ++i) {
    t.host->change_world(next_world(i));
    if (i % 50 == 0) t.run(3);
  }
  t.run(60);
  CHECK(ann.welcomes.back().seed == changes - 1);
  CHECK(ann.welcomes.back().world == static_cast<std::uint8_t>(1 + changes));
  CHECK(t.host->status().clients == 1);
  CHECK(ann.snapshot_tick == t.host->status().tick);
}

TEST_CASE("who comes while everybody fetches the next world throws nobody out", "[server][change_world]") {
  constexpr std::uint32_t places = 100, players = 92;  // more than may be greeted at once
  HostConfig config;
  config.clients_per_address_max = places;
  config.rejoins_per_minute = 0;
  Table t(places, {}, config);
  std::vector<Hand*> crowd;
  for (std::uint16_t i = 0; i < players; ++i)
    crowd.push_back(&t.hand(peer(static_cast<std::uint16_t>(100 + i)), "p" + std::to_string(i)));
  for (Hand* hand : crowd) hand->begin(t.now);
  for (int i = 0; i < 120 && t.host->status().clients < players; ++i) t.run();
  REQUIRE(t.host->status().clients == players);
  for (Hand* hand : crowd) hand->joins = false;
  t.host->change_world(next_world(557, 60, places));
  for (std::uint16_t i = 0; i < 8; ++i) t.enter(t.hand(peer(static_cast<std::uint16_t>(300 + i)), "new"));
  CHECK(t.host->status().greeted_displaced == 0);
  CHECK(t.books().sessions.size() == places);
  // Now it is full: who had a place does not lose it either.
  Hand& late = t.hand(peer(400), "late");
  t.greet(late);
  CHECK(late.end() == SessionEnd::full);
  CHECK(std::ranges::none_of(crowd, [](const Hand* hand) { return hand->end().has_value(); }));
}

TEST_CASE("a line that is down for some seconds around a change of world throws nobody out",
          "[server][change_world]") {
  Table t(4);
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  t.run(30);
  t.host->change_world(next_world(555));
  ann.deaf = true;
  t.lost_up = [](Hand&) { return true; };
  t.run(7 * 60);  // longer than strangers may take
  ann.deaf = false;
  t.lost_up = {};
  t.run(5 * 60);
  CHECK_FALSE(ann.end());
  CHECK(t.host->status().clients == 1);
}
