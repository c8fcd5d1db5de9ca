// What monsters see and hear of players.

#include "tests/catch.h"
#include "tests/world/sim/arena.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/day.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Does a monster that stands and wanders see a player so far away, within two seconds?
bool sees_at(double away_m, std::uint8_t light, bool invisible, double dark_sight_share = 0.5) {
  Arena arena(1, 1);
  auto kinds = std::make_shared<KindSet>(default_kinds());
  kinds->monsters[0].dark_sight_share = dark_sight_share;
  arena.monsters.use_kinds(kinds);
  arena.moves = false;
  arena.add_player({away_m, 0.5, 0});
  arena.players.light[0] = light;
  if (invisible)
    arena.players.arsenal[0].power_ticks[static_cast<std::size_t>(Power::invisibility)] = power_endless;
  const std::size_t monster = arena.add_monster(MonsterKind::rifleman, {0.5, 0.5, 0});
  for (int i = 0; i < 120; ++i) {
    arena.step();
    if (arena.monsters.mood[monster] == MonsterMood::chase) return true;
  }
  return false;
}

/// Does one that sleeps with its back to a player notice how he goes?
bool notices(double away_m, double pace_mps, bool deaf = false) {
  Arena arena(1, 1);
  arena.moves = false;
  arena.add_player({0.5 - away_m, 0.5, 0});
  arena.players.body[0].velocity_mps = {pace_mps, 0, 0};
  const std::size_t monster = arena.add_monster(MonsterKind::rifleman, {0.5, 0.5, 0}, true);
  arena.monsters.deaf[monster] = deaf ? 1 : 0;
  for (int i = 0; i < 60; ++i) arena.step();
  return arena.monsters.mood[monster] == MonsterMood::chase;
}

}  // namespace

TEST_CASE("who stands in the dark or is invisible is seen from nearer", "[world][sim][senses]") {
  const double sight_m = traits(MonsterKind::rifleman).sight_m_max;
  REQUIRE(sight_m == 32);
  CHECK(sees_at(30, 15, false));
  CHECK_FALSE(sees_at(30, 0, false));
  CHECK(sees_at(14, 0, false));
  CHECK_FALSE(sees_at(14, 0, false, 0.25));
  CHECK(sees_at(6, 0, false, 0.25));
  CHECK(sees_at(22, 7, false));
  CHECK_FALSE(sees_at(25, 7, false));
  CHECK_FALSE(sees_at(10, 15, true));
  CHECK(sees_at(7, 15, true));
  // Whom it could touch it notices in any case.
  CHECK(sees_at(2.2, 0, true, 0));
  CHECK_FALSE(sees_at(4, 0, true, 0));
}

TEST_CASE("who runs up behind a sleeper is heard, who creeps is not, and the deaf hear nobody",
          "[world][sim][senses]") {
  const double steps_m = traits(MonsterKind::rifleman).hearing_m / 4;
  REQUIRE(steps_m == 3);
  CHECK(notices(2.8, 6));
  CHECK_FALSE(notices(3.2, 6));
  CHECK_FALSE(notices(2.8, 2));
  CHECK_FALSE(notices(2.8, 6, true));
  CHECK(notices(1.9, 0, true));  // felt
}

TEST_CASE("what a player does is heard in the next room, but not far and not through a closed door",
          "[world][sim][senses][hearing]") {
  // Five rooms of 4 m; the fourth is shut.
  MovingWorld w(row_of_rooms({{0, 128}, {0, 128}, {0, 128}, {0, 0}, {0, 128}}, {{}, {}, {}, {}}));
  const auto middle = [&](int room) { return w.at(64 + 128 * room, 128, 0); };
  const std::size_t player = w.add_player(middle(0));
  std::vector<std::size_t> rows;
  for (const int room : {1, 2, 4})
    rows.push_back(enter_monster(w.monsters, {MonsterKind::imp, {middle(room), Turn16{0}}, false, true}, 1,
                                 static_cast<std::uint32_t>(w.players.rows())));
  MechanicsTick tick{w.space(), w.heights, w.rules, w.players, w.monsters, TickId{1}};
  const auto woken = [&] {
    std::vector<bool> out;
    for (const std::size_t row : rows) out.push_back(w.monsters.mood[row] != MonsterMood::asleep);
    return out;
  };
  const auto noise = [&](EntityId who, double share) {
    w.mechanics.noise(tick, who, w.players.body[player].position_m, share);
  };
  const EntityId who = w.players.id[player];
  noise(EntityId{0}, 4);  // of nobody
  noise(who, 0.25);       // 3 m
  CHECK(woken() == std::vector{false, false, false});
  noise(who, 0.5);  // 6 m
  CHECK(woken() == std::vector{true, false, false});
  w.monsters.deaf[rows[1]] = 1;
  noise(who, 4);
  CHECK(woken() == std::vector{true, false, false});
  w.monsters.deaf[rows[1]] = 0;
  noise(who, 4);
  CHECK(woken() == std::vector{true, true, false});
  w.sector(3).ceiling_m = w.z(16);
  noise(who, 4);
  CHECK(woken() == std::vector{true, true, true});
  CHECK(w.monsters.target[rows[2]] == who);
  CHECK(w.mechanics.counters().noises == 4);  // where nobody could hear it, none was made
}

TEST_CASE("a door that a player opens from afar is heard where it is", "[world][sim][senses][hearing]") {
  // Eleven rooms of 4 m; a line in the first one opens the ninth for good, for who shuts it in or stands by.
  std::vector<Room> rooms(11, {0, 128});
  rooms[8] = {0, 0, 7};
  std::vector<Divider> lines(10);
  lines[0] = {2, 7};  // W1, door stays open
  MovingWorld w(row_of_rooms(rooms, lines));
  const auto middle = [&](int room) { return w.at(64 + 128 * room, 128, 0); };
  const std::size_t player = w.add_player(middle(1));
  std::vector<std::size_t> rows;
  for (const int room : {5, 7, 9})
    rows.push_back(enter_monster(w.monsters, {MonsterKind::rifleman, {middle(room), Turn16{0}}, false, true},
                                 1, static_cast<std::uint32_t>(w.players.rows())));
  REQUIRE(w.monsters.traits_at(rows[0]).hearing_m < 14);  // from the line to the nearest of them
  MechanicsTick tick{w.space(), w.heights, w.rules, w.players, w.monsters, TickId{1}};
  w.mechanics.line_noise(tick, {MoverEventKind::switched, 0, Plane::floor, 0, w.players.id[player]});
  CHECK(w.monsters.mood[rows[0]] != MonsterMood::asleep);
  CHECK(w.monsters.mood[rows[1]] != MonsterMood::asleep);
  CHECK(w.monsters.mood[rows[2]] != MonsterMood::asleep);  // behind the door as well
}

TEST_CASE("a day has a morning, an evening and a night, at every tick rate", "[world][sim][day]") {
  Rules rules;
  rules.tick_rate_hz = GENERATE(std::uint16_t{20}, std::uint16_t{60});
  CHECK(sky_light(rules, 123'456'789) == 15);  // no day: always bright
  rules.day_s = 100;
  const auto at = [&](double s) {
    return sky_light(rules, static_cast<std::uint32_t>(s * rules.tick_rate_hz));
  };
  CHECK(at(0) == 15);
  CHECK(at(49) == 15);
  CHECK(at(53) < 15);
  CHECK(at(53) > 4);
  CHECK(at(57) == 4);
  CHECK(at(93) == 4);
  CHECK(at(97) > 4);
  CHECK(at(100) == 15);
  CHECK(at(100.0 * 400'000 + 70) == 4);  // seconds of over a year
}
