#include "client_sim/brains/weapon_choice.h"

#include "tests/catch.h"

using namespace ashlar;
using client_sim::best_weapon;

namespace {

Arsenal armed_with(std::initializer_list<std::uint8_t> weapons) {
  Arsenal arsenal;
  arsenal.weapons = 0;
  for (const std::uint8_t w : weapons) arsenal.weapons |= 1u << w;
  arsenal.ammo = {100, 20, 10, 100};
  arsenal.held = arsenal.wanted = *weapons.begin();
  return arsenal;
}

}  // namespace

TEST_CASE("a weapon is chosen by how far somebody is", "[client_sim][brain]") {
  const KindSet& kinds = default_kinds();
  const Rules rules;
  const Arsenal both = armed_with({weapon::pistol, weapon::double_shotgun});
  CHECK(best_weapon(kinds, rules, both, 3) == weapon::double_shotgun);
  CHECK(best_weapon(kinds, rules, both, 45) == weapon::pistol);
  const Arsenal rockets = armed_with({weapon::pistol, weapon::rocket_launcher});
  CHECK(best_weapon(kinds, rules, rockets, 12) == weapon::rocket_launcher);
  CHECK(best_weapon(kinds, rules, rockets, 1.5) == weapon::pistol);  // it would be in its own burst
  const Arsenal saw = armed_with({weapon::pistol, weapon::saw});
  CHECK(best_weapon(kinds, rules, saw, 1.5) == weapon::saw);
  CHECK(best_weapon(kinds, rules, saw, 10) == weapon::pistol);
}

TEST_CASE("a weapon without ammunition is not chosen, and hands do not change for little",
          "[client_sim][brain]") {
  const KindSet& kinds = default_kinds();
  const Rules rules;
  Arsenal arsenal = armed_with({weapon::shotgun, weapon::pistol});
  CHECK(best_weapon(kinds, rules, arsenal, 5) == weapon::shotgun);
  arsenal.ammo[static_cast<std::size_t>(AmmoKind::shells)] = 0;
  CHECK(best_weapon(kinds, rules, arsenal, 5) == weapon::pistol);
  arsenal.weapons = 0;
  CHECK(best_weapon(kinds, rules, arsenal, 5) == weapon_none);
  // Whatever the distance, what is held wins where the other is hardly better.
  for (double away_m = 1; away_m < 60; away_m += 0.5) {
    Arsenal a = armed_with({weapon::shotgun, weapon::pistol}),
            b = armed_with({weapon::pistol, weapon::shotgun});
    const std::uint8_t from_shotgun = best_weapon(kinds, rules, a, away_m);
    const std::uint8_t from_pistol = best_weapon(kinds, rules, b, away_m);
    CHECK(
        (from_shotgun == from_pistol || (from_shotgun == weapon::shotgun && from_pistol == weapon::pistol)));
  }
}
