#include "server/host/sight_culler.h"

#include <deque>

#include "tests/catch.h"
#include "tests/world/voxel_worlds.h"
#include "world/bsp/placement.h"
#include "world/content/udmf.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::test;

namespace {

constexpr int rate_hz = 60;
constexpr int ahead_ticks = 6;  // 100 ms

/// Walks straight on at a run and turns now and then, through whatever is there: continuous, and no slower
/// than who has to walk round.
struct Walker {
  DVec3 base, velocity;
  void step(Rng& rng, const Aabb& bounds) {
    if (rng.below(30) == 0) {
      const double speed = Rules{}.walk_speed_mps_max;
      velocity.x = rng.between(-0.7, 0.7) * speed;
      velocity.y = rng.between(-0.7, 0.7) * speed;
      velocity.z = rng.below(3) == 0 ? rng.between(-4, 4) : 0.0;
    }
    const DVec3 next = base + velocity * (1.0 / rate_hz);
    if (next.x < bounds.min.x || next.x > bounds.max.x) velocity.x = -velocity.x;
    if (next.y < bounds.min.y || next.y > bounds.max.y) velocity.y = -velocity.y;
    if (next.z < bounds.min.z || next.z > bounds.max.z) velocity.z = -velocity.z;
    base += velocity * (1.0 / rate_hz);
  }
  PlacedEntity placed() const {
    PlacedEntity e;
    e.base = base, e.velocity_mps = velocity, e.shape = Rules{}.player;
    return e;
  }
  DVec3 eye() const { return base + DVec3{0, 0, Rules{}.player_eye_m}; }
};

/// What became of all pairs over some seconds.
struct Outcome {
  std::uint64_t sent = 0, idle = 0;  ///< of those, never seen in the next 200 ms
  std::uint64_t unsent = 0, seen = 0;
  std::uint64_t late = 0;  ///< seen, and not sent all the 100 ms before
};

Outcome walk(const Space& space, const Aabb& bounds, std::uint64_t seed, std::size_t walkers, int ticks,
             SightCuller& culler) {
  Rng rng = rng_for(seed, 79);
  std::vector<Walker> all(walkers);
  for (Walker& w : all) {
    w.base.x = rng.between(bounds.min.x, bounds.max.x);
    w.base.y = rng.between(bounds.min.y, bounds.max.y);
    w.base.z = rng.between(bounds.min.z, bounds.max.z);
  }
  struct Pair {
    int sent_for = 1000;    // ticks in a row until now; nothing is known of the time before the first
    std::deque<int> asked;  // ticks at which it was sent and that nobody has seen yet
  };
  std::vector<Pair> pairs(walkers * walkers);
  const Rules rules;
  Outcome out;
  for (int tick = 1; tick <= ticks; ++tick) {
    for (Walker& w : all) w.step(rng, bounds);
    culler.stepped(static_cast<std::uint32_t>(tick), {});
    for (std::size_t i = 0; i < walkers; ++i) {
      const Aabb eyes = reach_of_eyes(all[i].eye(), all[i].velocity, rules, sight_ahead_s);
      for (std::size_t j = 0; j < walkers; ++j) {
        if (i == j) continue;
        Pair& pair = pairs[i * walkers + j];
        const bool sent = culler.may_see(eyes, reach_of(all[j].placed(), rules, sight_ahead_s));
        const double height_m = rules.player.height_m * rng.unit();
        const bool sees = space_sees(space, all[i].eye(), all[j].base + DVec3{0, 0, height_m});
        if (sees) {
          ++out.seen;
          out.late += pair.sent_for < ahead_ticks || !sent ? 1 : 0;
          pair.asked.clear();
        }
        while (!pair.asked.empty() && pair.asked.front() + 2 * ahead_ticks < tick)
          ++out.idle, pair.asked.pop_front();
        pair.sent_for = sent ? pair.sent_for + 1 : 0;
        out.sent += sent ? 1 : 0, out.unsent += sent ? 0 : 1;
        if (sent && !sees) pair.asked.push_back(tick);
      }
    }
  }
  return out;
}

}  // namespace

TEST_CASE("whom a player comes to see in caves it was told of for 100 ms before", "[server][sight_culler]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  const double density = GENERATE(0.2, 0.4);
  CAPTURE(seed, density);
  const VoxelVolume ground = make_volume({0, 0, 0}, {2, 2, 1}, [&](IVec3 b) {
    return random_block(seed, {b.x / 4, b.y / 4, b.z / 4}, density);
  });
  SightCuller culler(ground, {});
  const Outcome out = walk({&ground, {}, {}}, {{2, 2, 2}, {62, 62, 28}}, seed, 16, 180, culler);
  CAPTURE(out.sent, out.idle, out.unsent, out.seen, culler.counters().asked, culler.counters().computed,
          culler.counters().beyond);
  CHECK(out.seen > 50);
  CHECK(out.late == 0);
  CHECK(out.unsent > 0);
  CHECK(culler.counters().computed < culler.counters().asked);
}

TEST_CASE("a block that is taken away shows who is behind it at once, one far aside nobody",
          "[server][sight_culler]") {
  VoxelVolume ground = make_volume({0, 0, 0}, {2, 2, 1}, [](IVec3 b) { return b.x == 20; });
  SightCuller culler(ground, {});
  const Aabb eyes{{5, 30, 12}, {6, 31, 13}}, body{{40, 30, 12}, {41, 31, 14}};
  std::uint32_t tick = 0;
  culler.stepped(++tick, {});
  CHECK(!culler.may_see(eyes, body));
  culler.stepped(++tick, {});
  CHECK(!culler.may_see(eyes, body));
  CHECK(culler.counters().computed == 1);
  const auto dig = [&](IVec3 block) {
    ground.set_block(block, BlockId::air);
    const AppliedEdit edit{block, BlockId::stone, BlockId::air, {}};
    culler.stepped(++tick, std::span(&edit, 1));
  };
  dig({20, 60, 3});
  CHECK(!culler.may_see(eyes, body));
  CHECK(culler.counters().computed == 1);
  dig({20, 30, 12});
  CHECK(culler.may_see(eyes, body));
  // Shut again it hides, if somewhat later.
  ground.set_block({20, 30, 12}, BlockId::stone);
  tick += 1000;
  culler.stepped(tick, {});
  CHECK(!culler.may_see(eyes, body));
  // More holes than are remembered: what was known is looked into again.
  for (int i = 0; i < 100; ++i) dig({50, 50, i % 30});
  const std::uint64_t before = culler.counters().computed;
  CHECK(!culler.may_see(eyes, body));
  CHECK(culler.counters().computed == before + 1);
}

TEST_CASE("a tick looks into so many pairs, and hides nobody beyond them", "[server][sight_culler]") {
  const VoxelVolume ground = make_volume({0, 0, 0}, {2, 2, 1}, [](IVec3 b) { return b.x == 20; });
  SightCuller culler(ground, {});
  culler.stepped(1, {});
  std::uint32_t hidden = 0;
  const std::uint32_t pairs = sights_computed_max + 100;
  const auto ask = [&] {
    hidden = 0;
    for (std::uint32_t i = 0; i < pairs; ++i) {
      const double y = 2 + 2.0 * (i % 29), x = 30 + 2.0 * (i / 29 % 15), z = 2 + 2.0 * (i / 29 / 15 % 12);
      hidden += culler.may_see({{5, 30, 12}, {6, 31, 13}}, {{x, y, z}, {x + 1, y + 1, z + 1}}) ? 0 : 1;
    }
  };
  ask();
  CHECK(hidden <= sights_computed_max);
  CHECK(culler.counters().beyond == 100);
  culler.stepped(2, {});
  ask();
  CHECK(hidden == pairs);  // what was found out holds
}

TEST_CASE("a tick reads so many rows of blocks, however wide the ways between pairs are",
          "[server][sight_culler]") {
  // A pole in the middle of each way: what is around it has to be walked through to the end.
  const VoxelVolume ground =
      make_volume({0, 0, 0}, {2, 2, 1}, [](IVec3 b) { return b.x == 30 && b.y % 4 == 1; });
  SightCuller culler(ground, {});
  culler.stepped(1, {});
  constexpr int pairs = 1000;
  for (int i = 0; i < pairs; ++i) {
    const double y = 4 * (i % 10) + 1.5, z = 2 + i / 10 % 10;
    CHECK(culler.may_see({{2.0 + i / 100, y - 4, z}, {4.0 + i / 100, y + 4, z + 8}},
                         {{56, y - 4, z}, {58, y + 4, z + 8}}));
  }
  CHECK(culler.counters().computed < pairs);
  CHECK(culler.counters().beyond > 0);
}

TEST_CASE("where somebody may soon be ends at walls, until one is broken", "[server][sight_culler]") {
  VoxelVolume ground = make_volume({0, 0, 0}, {2, 2, 1}, [](IVec3 b) { return b.x == 20 || b.x == 24; });
  SightCuller culler(ground, {});
  PlacedEntity somebody;
  somebody.record.id = EntityId{7};
  somebody.base = {23.5, 30.5, 12};
  somebody.shape = Rules{}.player;
  culler.stepped(1, {});
  const Aabb free = reach_of(somebody, Rules{}, 0.3);
  REQUIRE(free.max.x > 25);
  const Aabb walled = culler.reach_of(somebody, Rules{}, 0.3);
  CHECK(walled.max.x == 24);
  CHECK(walled.min.x == free.min.x);
  CHECK(walled.max.y == free.max.y);
  culler.stepped(2, {});
  CHECK(culler.reach_of(somebody, Rules{}, 0.3).max.x == 24);
  ground.set_block({24, 30, 12}, BlockId::air);
  const AppliedEdit edit{{24, 30, 12}, BlockId::stone, BlockId::air, {}};
  culler.stepped(3, std::span(&edit, 1));
  CHECK(culler.reach_of(somebody, Rules{}, 0.3).max.x == free.max.x);
}
