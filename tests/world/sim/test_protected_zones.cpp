// Zones that an operator protects, and bursts that dig.
#include "tests/catch.h"
#include "tests/world/sim/builders.h"
#include "world/sim/protected_zone.h"
#include "world/sim/weapons.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr auto dig = BlockActKind::dig;
constexpr auto place = BlockActKind::place;
constexpr IVec3 ground{2, 0, 3};

/// One player on a plain of dirt that looks at the ground before it, of which the further half is protected.
struct Warded : Builders {
  explicit Warded(Rules rules = {}, std::int32_t from_x = 2)
      : Builders(
            1, [](IVec3 b) { return b.z < 4 ? BlockId::dirt : BlockId::air; }, rules, 0,
            [from_x](WorldSetup& s) {
              s.zones = {{{{from_x, -20, -20}, {40, 20, 20}}, "spawn"}};
              // Whoever comes has a rocket launcher in hand.
              auto kinds = std::make_shared<KindSet>(default_kinds());
              kinds->weapons[weapon::pistol] = kinds->weapons[weapon::rocket_launcher];
              kinds->weapons[weapon::pistol].start = 1;
              kinds->weapons[weapon::pistol].rank = 255;
              kinds->ammo[static_cast<std::size_t>(AmmoKind::rockets)].start = 50;
              s.kinds = std::move(kinds);
            }) {
    put(0, {0.5, 0.5, 4});
    rest();
    look(0, {2.5, 0.5, 4});
    step();
  }
};

}  // namespace

TEST_CASE("nobody digs, builds or writes in a protected zone, and its edge is exact",
          "[world][sim][protected_zone]") {
  Warded w;
  CHECK(w.verdict_of(w.act(0, dig, ground)) == ActVerdict::protected_zone);
  CHECK(w.verdict_of(w.act(0, place, ground)) == ActVerdict::protected_zone);
  w.look(0, {1.5, 0.5, 4});
  // Its block is outside, the one before its face would be inside.
  CHECK(w.verdict_of(w.act(0, place, {1, 0, 3}, BlockFace::top)) == ActVerdict::done);
  Warded beyond({}, 3);
  CHECK(beyond.verdict_of(beyond.act(0, dig, ground)) == ActVerdict::progress);
}

TEST_CASE("an explosion stops at a protected zone, an operator does not", "[world][sim][protected_zone]") {
  Warded w;
  w.step_admin({AdminAction::blast, w.ids[0], {2.0, 0.5, 2.0}, {}, {}, 3});
  CHECK(w.block({1, 0, 2}) == BlockId::air);
  CHECK(w.block({2, 0, 2}) == BlockId::dirt);
  for (const AppliedEdit& edit : w.world->applied_edits()) CHECK(edit.block.x < 2);
  w.step_admin({AdminAction::fill_box, {}, {}, {{2, 0, 2}, {3, 1, 3}}, BlockId::brick});
  CHECK(w.block({2, 0, 2}) == BlockId::brick);
}

TEST_CASE("a player's rocket clears a sphere in the tick in which it bursts where the rule says so",
          "[world][sim][burst_dig]") {
  const double radius_m = GENERATE(0.0, 2.0);
  CAPTURE(radius_m);
  Rules rules;
  rules.burst_dig_m = radius_m;
  rules.free_ammo = FreeAmmo::yes;
  Warded w(rules, 12);
  AdminCommand wall{AdminAction::fill_box, {}, {}, {{8, -6, 4}, {16, 7, 12}}, BlockId::stone};
  w.step_admin(wall);
  w.look(0, {8, 0.5, 5.6});
  PlayerInput shot{w.ids[0], w.commands[0]};
  shot.command.buttons = button::attack;
  std::vector<std::size_t> changed;
  for (int tick = 0; tick < 240; ++tick) {
    TickInput input;
    input.commands = {&shot, 1};
    w.world->step(input);
    if (const std::size_t count = w.world->applied_edits().size(); count > 0) {
      changed.push_back(count);
      for (const AppliedEdit& edit : w.world->applied_edits()) {
        CHECK(edit.who == w.ids[0]);
        CHECK(edit.before != BlockId::air);
        CHECK(edit.block.x < 12);
      }
    }
    if (!changed.empty()) break;
  }
  if (radius_m == 0) {
    CHECK(changed.empty());
    return;
  }
  REQUIRE(changed.size() == 1);
  CHECK(changed[0] > 8);
  CHECK(w.block({8, 0, 5}) == BlockId::air);
}
