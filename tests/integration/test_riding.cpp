// At 150 ms a player rides lifts, passes closing doors and climbs rising stairs without being corrected.
#include "tests/integration/rooms.h"
#include "tests/world/sim/moving_rooms.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// The bound that the tests below state: nothing is seen at all.
constexpr double correction_m_max = 1e-6;

/// A player at one end of a row of rooms, 75 ms from the server.
struct Ride {
  explicit Ride(const SectorMap& source) : map(placed_rooms(source)), p(setup_of_rooms(map)) {
    client_sim::LinkConditions link;
    link.latency = Micros{75'000};
    p.play.conditions(link);
    p.enter();
    const DVec2 at = map->to_world({40, 128});
    p.put({at.x, at.y, map->z_to_world(0)});
    for (std::size_t i = 0; i < mispredict_causes; ++i)
      before += p.predictor.stats().corrections_um[i].count();
  }
  /// To the east or back for so long, pressing and letting go of buttons.
  void walk(double seconds, bool east, std::uint16_t pressed) {
    int turns = 0;
    p.run(seconds, [&] {
      PlayerCommand command;
      command.forward = 1;
      command.yaw = Turn16{static_cast<std::uint16_t>(east ? 0 : 32768)};
      if (++turns / 100 % 2 == 0) command.buttons = pressed;
      note();
      return command;
    });
  }
  void stand(double seconds) {
    p.run(seconds, [&] {
      note();
      return PlayerCommand{};
    });
  }
  void note() {
    const DVec3 at = p.server_body().position_m;
    highest_m = std::max(highest_m, at.z - map->z_to_world(0));
    farthest_m = std::max(farthest_m, at.x - map->to_world({0, 0}).x);
  }
  void check_unseen() const {
    const auto& stats = p.predictor.stats();
    std::uint64_t corrections = 0;
    for (std::size_t i = 0; i < mispredict_causes; ++i) {
      CAPTURE(i);
      corrections += stats.corrections_um[i].count();
      CHECK(stats.visible[i] == (i == 0 ? visible_puts : 0u));
    }
    CHECK(corrections == before);  // none that is above correction_m_max
    CHECK(p.mispredicted(MispredictCause::unknown) == 0);
    CHECK(p.mispredicted(MispredictCause::world) == 0);
  }

  static constexpr std::size_t mispredict_causes = client_sim::mispredict_cause_count;
  std::shared_ptr<const PlacedMap> map;
  PredictedClient p;
  std::uint64_t before = 0, visible_puts = 1;  // of being put to the start
  double highest_m = 0, farthest_m = 0;
};
static_assert(correction_m_max < Predictor::visible_m);

}  // namespace

TEST_CASE("a lift is ridden up and down at 150 ms without a correction",
          "[integration][prediction][riding]") {
  // Used from before it, the lift comes down, waits, and goes up with its rider.
  Ride ride(row_of_rooms({{0, 256}, {96, 320, 3}, {96, 320}}, {{62, 3}, {}}, {thing_at(40, 128, 1)}));
  ride.walk(12, true, button::use);
  CHECK(ride.highest_m > 2.9);
  CHECK(ride.farthest_m > 9);
  ride.walk(8, false, button::use);
  ride.check_unseen();
}

TEST_CASE("a closing door is passed, and stood in, at 150 ms without a correction",
          "[integration][prediction][riding]") {
  Ride ride(row_of_rooms({{0, 256}, {0, 0}, {0, 256}}, {{1, 0}, {1, 0, true}}, {thing_at(40, 128, 1)}));
  // Through it as it opens, back as it closes, and under it until it goes up again.
  ride.walk(3, true, button::use);
  ride.walk(2, false, 0);
  ride.stand(2);
  ride.walk(6, true, button::use);
  ride.walk(1, false, 0);
  ride.stand(8);
  CHECK(ride.farthest_m > 8);
  ride.check_unseen();
}

TEST_CASE("stairs that rise are climbed at 150 ms without a correction",
          "[integration][prediction][riding]") {
  const std::uint16_t special =
      GENERATE(std::uint16_t{8}, std::uint16_t{100});  // slow and low, fast and high
  CAPTURE(special);
  // The line walked over is in front of the first step.
  Ride ride(row_of_rooms({{0, 400}, {0, 400}, {0, 400, 5}, {0, 400}, {0, 400}, {0, 400}},
                         {{special, 5}, {}, {}, {}, {}}, {thing_at(40, 128, 1)}));
  ride.walk(2, true, 0);
  ride.stand(3);
  ride.walk(8, true, 0);
  CHECK(ride.farthest_m > 18);
  CHECK(ride.highest_m > 0.9);
  ride.check_unseen();
}

TEST_CASE("a block that the server refuses is foreseen and taken back", "[integration][prediction][riding]") {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters_max = setup.monsters = 0;
  PredictedClient p(with_shared_ground(setup), 12);
  client_sim::LinkConditions link;
  link.latency = Micros{75'000};
  p.play.conditions(link);
  p.enter();
  p.run(1);
  PlayerCommand down;
  down.pitch = Turn16{static_cast<std::uint16_t>(-12000)};
  p.play.client.set_command(down);
  p.run(0.5);
  const IVec3 beside = block_at(p.server_body().position_m - DVec3{0, 0, 0.5}) + IVec3{1, 0, 0};
  const IVec3 above = beside + IVec3{0, 0, 1};
  REQUIRE(p.predictor.replica().space().voxels->solid(beside));
  // An operator is faster: what it was to be put against is gone when the act arrives.
  p.play.host->admin({.action = AdminAction::fill_box, .box = {beside, beside + IVec3{1, 1, 1}}});
  REQUIRE(p.play.client.act(BlockActKind::place, beside, BlockFace::top, BlockId::stone) != 0);
  p.run(0.05);
  CHECK(p.predictor.replica().space().voxels->solid(above));
  p.run(1);
  CHECK_FALSE(p.play.world().space().voxels->solid(above));
  CHECK_FALSE(p.predictor.replica().space().voxels->solid(above));
  CHECK_FALSE(p.predictor.replica().space().voxels->solid(beside));
  p.run(2);
  CHECK(p.predictor.body().position_m == p.server_body().position_m);
}
