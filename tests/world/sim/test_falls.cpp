// What a fall costs: the rules fall_free_m and fall_damage.
#include "tests/catch.h"
#include "world/sim/combat.h"
#include "world/sim/world.h"

using namespace ashlar;

namespace {

WorldSetup flat_world(std::uint16_t tick_rate_hz, double fall_free_m) {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.monsters = 0;
  setup.players_max = 1;
  setup.monsters_max = 1;
  setup.rules.tick_rate_hz = tick_rate_hz;
  setup.rules.fall_free_m = fall_free_m;
  setup.rules.respawn_s = 60;
  return setup;
}

AdminCommand dug_or_filled(IVec3 min, IVec3 max, BlockId id) {
  AdminCommand command;
  command.action = AdminAction::fill_box;
  command.box = {min, max};
  command.id = id;
  return command;
}

/// One player who stands on the ground, which is then dug away below.
class Pit {
 public:
  explicit Pit(const WorldSetup& setup) : world_(setup), ticks_per_s_(setup.rules.tick_rate_hz) {
    const std::uint32_t token = 1;
    TickInput input;
    input.joins = {&token, 1};
    world_.step(input);
    for (int i = 0; i < ticks_per_s_; ++i) world_.step({});
    REQUIRE(body().grounded != 0);
  }

  const Body& body() const { return world_.players().body[0]; }
  int health() const { return world_.players().health[0]; }
  const std::vector<CombatEvent>& told() const { return told_; }

  /// The ground falls away by whole metres, with so much of something at the bottom, and time goes by.
  void dig(std::int32_t deep_m, std::int32_t of_it_m = 0, BlockId bottom = BlockId::air) {
    const double top = body().position_m.z;
    const IVec3 feet = block_at(body().position_m + DVec3{0, 0, 0.5});
    const IVec3 low = feet - IVec3{2, 2, deep_m}, high{feet.x + 3, feet.y + 3, feet.z};
    step({dug_or_filled(low, high, BlockId::air)});
    if (of_it_m > 0) step({dug_or_filled(low, {high.x, high.y, low.z + of_it_m}, bottom)});
    for (int i = 0; i < 6 * ticks_per_s_ && (i < 3 || body().grounded == 0); ++i) step({});
    if (of_it_m == 0) REQUIRE(top - body().position_m.z == Approx(deep_m));
  }

 private:
  void step(const std::vector<AdminCommand>& admin) {
    TickInput input;
    input.admin = admin;
    world_.step(input);
    const auto events = world_.combat().events();
    told_.insert(told_.end(), events.begin(), events.end());
  }

  World world_;
  int ticks_per_s_;
  std::vector<CombatEvent> told_;
};

}  // namespace

TEST_CASE("a fall costs points for each metre beyond those that are free, at every tick rate",
          "[world][sim][falls]") {
  const auto rate = GENERATE(std::uint16_t{10}, std::uint16_t{20}, std::uint16_t{60}, std::uint16_t{128});
  Pit pit(flat_world(rate, 3));
  pit.dig(3);
  CHECK(pit.health() == 100);
  pit.dig(10);
  CHECK(pit.health() == 65);
  REQUIRE(pit.told().size() == 1);
  CHECK(pit.told()[0].how == HurtBy::fall);
  CHECK(pit.told()[0].points == 35);
  CHECK(pit.told()[0].by == EntityId{0});
  pit.dig(16);
  CHECK(pit.health() == 0);
  CHECK(pit.told().back().kind == CombatEventKind::died);
}

TEST_CASE("a fall hurts nobody in water, and nowhere unless the rules say so", "[world][sim][falls]") {
  const auto water_m = GENERATE(1, 4);  // one stands in it, or swims
  Pit wet(flat_world(60, 1));
  wet.dig(14, water_m, BlockId::water);
  CHECK(wet.health() == 100);
  Pit doom(flat_world(60, 0));
  doom.dig(24);
  CHECK(doom.health() == 100);
}
