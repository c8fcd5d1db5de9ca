// A replica that goes back to an earlier tick plays on as it did the first time.
#include "client_sim/client/replica.h"

#include <memory>
#include <vector>

#include "client_sim/client/edited_ground.h"
#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

/// A door, a lift, and somebody who presses what there is.
struct Played {
  Played() {
    PlaceOptions options;
    options.surface_z = 32;
    options.doors_open = options.doorway = false;
    setup.maps = {
        testing::must_place(testing::row_of_rooms({{0, 256}, {0, 0}, {0, 256}, {64, 256, 3}, {64, 256}},
                                                  {{1, 0}, {1, 0, true}, {62, 3}, {}}),
                            options)};
    replica = std::make_unique<Replica>(setup);
    const DVec2 at = setup.maps[0]->to_world({64, 128});
    Body body;
    body.position_m = body.last_free_m = {at.x, at.y, setup.maps[0]->z_to_world(0)};
    while (!replica->ground().there(body.position_m)) replica->ground().load_around(body.position_m, {}, 8);
    replica->put_player(1, body, true, Turn16{0});
  }
  PlayerCommand command(std::uint32_t tick) const {
    Rng rng = rng_for(7, tick / 40);
    PlayerCommand c;
    c.forward = 1;
    c.yaw = Turn16{static_cast<std::uint16_t>(rng.below(4) == 0 ? 32768 : rng.below(4000))};
    c.buttons = (tick / 10) % 2 == 0 ? button::use : button::jump;
    return c;
  }
  struct Seen {
    DVec3 at;
    double door_m, lift_m;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  Seen step() {
    replica->step(command(replica->tick() + 1), {});
    return {replica->body().position_m, replica->heights(0)[1].ceiling_m, replica->heights(0)[3].floor_m};
  }
  WorldSetup setup;
  std::unique_ptr<Replica> replica;
};

}  // namespace

TEST_CASE("a replica goes back to any state that was saved, sectors included", "[client_sim][replica]") {
  Played p;
  constexpr std::uint32_t ticks = 1200;
  std::vector<Played::Seen> first;
  std::vector<ReplicaState> states(ticks / 50);
  for (std::uint32_t i = 0; i < ticks; ++i) {
    if (i % 50 == 0) p.replica->save(states[i / 50]);
    first.push_back(p.step());
  }
  int moved = 0;
  for (std::size_t i = 1; i < first.size(); ++i) moved += first[i].door_m != first[i - 1].door_m ? 1 : 0;
  REQUIRE(moved > 30);
  Rng rng = rng_for(9, 1);
  ReplicaState over;  // is saved into again and again
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t from = rng.below(ticks / 50);
    p.replica->restore(states[from]);
    const std::uint32_t until = std::min(ticks, 50 * from + rng.below(120));
    for (std::uint32_t i = 50 * from; i < until; ++i) {
      const Played::Seen again = p.step();
      CAPTURE(from, i);
      REQUIRE(again == first[i]);
    }
    ReplicaState fresh;
    p.replica->save(fresh);
    p.replica->save(over);
    for (std::size_t s = 0; s < fresh.heights[0].size(); ++s) {
      REQUIRE(fresh.heights[0][s].floor_m == over.heights[0][s].floor_m);
      REQUIRE(fresh.heights[0][s].ceiling_m == over.heights[0][s].ceiling_m);
    }
  }
}
