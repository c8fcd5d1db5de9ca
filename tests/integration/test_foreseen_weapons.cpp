// A client who foresees its weapons, and the server that judges them: the same shots, rays and ammunition.

#include <map>
#include <vector>

#include "tests/integration/predicted_client.h"
#include "world/content/kinds_file.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

WorldSetup armed() {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters_max = setup.monsters = 0;
  setup.rules.free_ammo = FreeAmmo::no;
  auto kinds = read_kinds(
      "[weapon.shotgun]\nstart = 1\n[weapon.\"rocket launcher\"]\nstart = 1\n[weapon.\"big gun\"]\nstart = "
      "1\n"
      "[ammo.shells]\nstart = 6\n[ammo.rockets]\nstart = 4\n[ammo.cells]\nstart = 80\n",
      "k.toml");
  REQUIRE(kinds.has_value());
  setup.kinds = *kinds;
  return with_shared_ground(setup);
}

}  // namespace

TEST_CASE("a client foresees switching, firing, scatter and ammunition as the server judges them",
          "[integration][weapons]") {
  PredictedClient p(armed(), 3);
  client_sim::LinkConditions link;
  link.latency = Micros{40'000};
  p.play.conditions(link);
  p.enter();
  REQUIRE(p.predictor.replica().kinds().ammo[1].start == 6);
  std::map<std::uint32_t, Arsenal> served;  // by tick
  std::vector<DVec3> judged, foreseen;
  std::size_t launched = 0, launches_foreseen = 0;
  p.play.after_tick = [&] {
    const World& world = p.play.world();
    served[number(world.tick())] = world.players().arsenal[p.play.row()];
    for (const ShotEvent& shot : world.shooting().events()) judged.push_back(shot.direction);
    launched += world.shooting().launches().size();
  };
  PlayerCommand command;
  std::uint32_t compared = 0, same = 0;
  const auto play = [&](double seconds, std::uint16_t buttons) {
    command.buttons = buttons;
    p.run(seconds, [&] {
      for (const ShotEvent& shot : p.predictor.take_shots()) foreseen.push_back(shot.direction);
      launches_foreseen += p.predictor.take_launches().size();
      return command;
    });
  };
  std::map<std::uint32_t, Arsenal> ahead;
  const auto note = [&] { ahead[p.predictor.tick()] = p.predictor.replica().arsenal(); };
  for (const std::uint8_t weapon :
       {weapon::shotgun, weapon::rocket_launcher, weapon::big_gun, weapon::pistol}) {
    play(0.1, weapon_button(weapon));
    for (int i = 0; i < 60; ++i) play(0.05, button::attack), note();
    play(0.2, 0);
  }
  play(0.5, 0);
  for (const auto& [tick, arsenal] : ahead) {
    if (!served.contains(tick)) continue;
    ++compared;
    same += served[tick] == arsenal ? 1 : 0;
  }
  CHECK(compared > 200);
  CHECK(same == compared);
  CHECK(judged.size() > 3 * 7);  // a shell a second, and the pistol's bullets
  CHECK(foreseen == judged);
  CHECK(launched == 4 + 2);
  CHECK(launches_foreseen == launched);
  CHECK(p.predictor.replica().arsenal().ammo ==
        std::array<std::uint16_t, 4>{p.play.client.carried()->arsenal.ammo[0], 3, 0, 0});
  CHECK(p.play.client.carried()->arsenal.ammo == p.predictor.replica().arsenal().ammo);
}

TEST_CASE("over a lossy link what a client thinks it carries comes right again", "[integration][weapons]") {
  PredictedClient p(armed(), 5);
  client_sim::LinkConditions link;
  link.latency = Micros{60'000};
  link.jitter = Micros{10'000};
  link.loss = 0.05;
  p.play.conditions(link);
  p.enter();
  PlayerCommand command;
  command.buttons = button::attack;
  p.run(6, [&] {
    command.buttons = static_cast<std::uint16_t>(command.buttons ^ (p.play.now.count() % 7 == 0 ? 4 : 0));
    return command;
  });
  p.play.conditions({});
  p.run(2, [] { return PlayerCommand{}; });
  const Arsenal& served = p.play.world().players().arsenal[p.play.row()];
  CHECK(served.ammo[1] < 6);  // of the shotgun, which is the best that it begins with
  CHECK(p.predictor.replica().arsenal().ammo == served.ammo);
  CHECK(p.predictor.replica().arsenal().held == served.held);
}
