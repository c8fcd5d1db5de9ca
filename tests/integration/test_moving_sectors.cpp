// What a client knows and foresees of moving sectors, against the server's own.

#include <map>

#include "tests/integration/hosted_client.h"
#include "tests/integration/rooms.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/math/random.h"
#include "world/sim/mechanics.h"

using namespace ashlar;
using namespace ashlar::testing;
using client_sim::Micros;

namespace {

/// A walk over lines that start doors, lifts and crushers, with a wall of things in motion at any time.
WorldSetup moving_world() {
  const SectorMap source = row_of_rooms(
      {{0, 256}, {0, 128, 1}, {0, 0, 2}, {64, 256, 3}, {0, 120, 4}, {32, 256, 5}, {0, 256}},
      {{90, 2}, {88, 3, true}, {73, 4}, {87, 5}, {76, 1}, {105, 2, true}}, {thing_at(40, 128, 1)});
  return setup_of_rooms(placed_rooms(source));
}

using Heights = std::vector<SectorHeights>;

/// What the server had after each tick, and whether anything happened in it that nobody can foresee.
struct Past {
  std::map<std::uint32_t, Heights> heights;
  std::vector<std::uint32_t> surprises;

  void take(const World& world) {
    const HeightsView now = world.maps()[0].heights;
    heights[number(world.tick())] = Heights(now.begin(), now.end());
    bool surprise = world.mechanics().counters().crushed != crushed_;
    crushed_ = world.mechanics().counters().crushed;
    for (const MoverEvent& e : world.mechanics().events())
      surprise = surprise || e.kind == MoverEventKind::switched || e.kind == MoverEventKind::reversed;
    // Bodies that a plane waits for leave no event.
    for (const Mover& m : world.mechanics().maps()[0].movers.movers()) surprise = surprise || m.pressed != 0;
    if (surprise) surprises.push_back(number(world.tick()));
  }
  bool quiet(std::uint32_t from, std::uint32_t to) const {
    for (const std::uint32_t t : surprises)
      if (t > from && t <= to) return false;
    return true;
  }

 private:
  std::uint64_t crushed_ = 0;
};

struct Scene {
  explicit Scene(std::uint64_t seed) : play(moving_world(), seed), rng(rng_for(seed, 11)) {
    play.after_tick = [this] { past.take(play.world()); };
    play.enter();
    // From wherever it was put to the first room.
    AdminCommand to_room{AdminAction::teleport, play.client.player(), {}};
    const PlacedMap& map = *play.world().setup().maps[0];
    const DVec2 at = map.to_world({40, 128});
    to_room.position_m = {at.x, at.y, map.z_to_world(0)};
    play.host->admin(to_room);
    play.run(1.5);
  }
  /// Walks up and down the rooms.
  void wander() {
    PlayerCommand c;
    c.forward = 1;
    c.yaw = Turn16{static_cast<std::uint16_t>((rng.below(2) == 0 ? 0 : 32768) + rng.below(4096) - 2048)};
    play.client.set_command(c);
  }

  HostedClient play;
  Rng rng;
  Past past;
};

}  // namespace

TEST_CASE("a client has the server's heights to the last bit and foresees them until something unforeseen",
          "[integration][moving_sectors]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Scene s(seed);
  constexpr std::uint32_t ahead = 20;
  std::map<std::uint32_t, std::pair<std::uint32_t, Heights>> foreseen;  // of tick -> from tick, heights
  std::uint32_t seen = 0;
  std::size_t known = 0, moving = 0, foretold = 0, foretold_moving = 0;
  for (int i = 0; i < 40 * 500; ++i) {
    if (i % 700 == 0) s.wander();
    s.play.turn();
    client_sim::SectorForecast& f = s.play.client.sectors();
    if (f.tick() == seen) continue;
    seen = f.tick();
    const Heights& truth = s.past.heights.at(seen);
    REQUIRE(f.heights(0).size() == truth.size());
    for (std::size_t k = 0; k < truth.size(); ++k) {
      CAPTURE(seen, k);
      REQUIRE(f.heights(0)[k].floor_m == truth[k].floor_m);
      REQUIRE(f.heights(0)[k].ceiling_m == truth[k].ceiling_m);
    }
    ++known;
    moving += f.movers(0).empty() ? 0 : 1;
    const HeightsView later = f.foresee(0, ahead);
    foreseen[seen + ahead] = {seen, Heights(later.begin(), later.end())};
    const auto due = foreseen.find(seen);
    if (due == foreseen.end() || !s.past.quiet(due->second.first, seen)) continue;
    ++foretold;
    REQUIRE(due->second.second == truth);
    foretold_moving += truth == s.past.heights.at(due->second.first) ? 0 : 1;
  }
  CHECK(known > 2000);
  CHECK(moving > 1000);
  CHECK(foretold > 300);
  CHECK(foretold_moving > 200);
}

TEST_CASE("after losses a client's heights are the server's again within a second and a half",
          "[integration][moving_sectors]") {
  const std::uint64_t seed = GENERATE(4u, 5u);
  CAPTURE(seed);
  Scene s(seed);
  client_sim::LinkConditions lossy;
  lossy.latency = Micros{40'000};
  lossy.jitter = Micros{20'000};
  lossy.loss = 0.3;
  std::size_t right = 0, all = 0, healed = 0;
  for (int round = 0; round < 4; ++round) {
    s.play.conditions(lossy);
    std::uint32_t seen = s.play.client.sectors().tick();
    for (int i = 0; i < 6 * 500; ++i) {
      if (i % 500 == 0) s.wander();
      s.play.turn();
      const client_sim::SectorForecast& f = s.play.client.sectors();
      if (f.tick() == seen) continue;
      seen = f.tick();
      ++all;
      const HeightsView have = f.heights(0);
      right += std::equal(have.begin(), have.end(), s.past.heights.at(seen).begin()) ? 1 : 0;
    }
    client_sim::LinkConditions clean = lossy;
    clean.loss = 0, clean.jitter = Micros{0};
    s.play.conditions(clean);
    s.play.run(1.5);
    for (int i = 0; i < 500; ++i) {
      s.play.turn();
      const client_sim::SectorForecast& f = s.play.client.sectors();
      const Heights& truth = s.past.heights.at(f.tick());
      for (std::size_t k = 0; k < truth.size(); ++k) {
        // What came as a told height is right to its rounding.
        REQUIRE(f.heights(0)[k].floor_m == Approx(truth[k].floor_m).margin(1.0 / 65536));
        REQUIRE(f.heights(0)[k].ceiling_m == Approx(truth[k].ceiling_m).margin(1.0 / 65536));
      }
      ++healed;
    }
  }
  CHECK(healed == 4 * 500);
  // Of 1440 ticks: what is lost, and what the path does not take as long as so much is.
  CHECK(all > 550);
  // Each piece of news is told four times, so even a third lost leaves most of them whole.
  CHECK(right > all * 8 / 10);
}
