// Digging and building through the whole chain: a client's acts over a link to the Host, the world's verdicts
// and changes back to it.

#include <cmath>

#include "client_sim/brains/brain.h"
#include "tests/catch.h"
#include "tests/integration/hosted_client.h"
#include "world/sim/block_acts.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

WorldSetup plain_setup() {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  return setup;
}

/// A client in a world without maps, which looks at the ground beside it.
struct Builder {
  explicit Builder(std::uint64_t seed = 1) : play(plain_setup(), seed) {}
  explicit Builder(const WorldSetup& setup) : play(setup) {}

  void enter() {
    play.enter();
    play.run(1.5);  // it has landed, and its clock has settled
    const DVec3 at = play.client.own()->body.position_m;
    below = block_at(at - DVec3{0, 0, 0.5});
    PlayerCommand command;
    command.pitch = Turn16{static_cast<std::uint16_t>(-16000)};
    play.client.set_command(command);
    play.run(0.5);
  }
  BlockId block(IVec3 at) const { return play.world().space().voxels->block(at); }

  HostedClient play;
  IVec3 below{};
};

}  // namespace

TEST_CASE("a client digs the block that it stands on, and hears of it", "[integration][edits]") {
  Builder b;
  if (GENERATE(false, true)) {
    client_sim::LinkConditions lossy;
    lossy.loss = 0.1;
    b.play.conditions(lossy);
  }
  b.enter();
  const BlockId was = b.block(b.below);
  REQUIRE(is_solid(was));
  const std::uint32_t number = b.play.client.act(BlockActKind::dig, b.below);
  REQUIRE(number == 1);
  const auto answer = b.play.settled(number);
  REQUIRE(answer.has_value());
  CHECK(name(answer->verdict) == "done");
  CHECK(answer->block == b.below);
  CHECK(b.block(b.below) == BlockId::air);
  CHECK(b.play.client.ground().changed(b.below) == BlockId::air);
  CHECK(b.play.host->status().blocks_changed == 1);
  CHECK(b.play.client.stats().acts_done == 1);
}

TEST_CASE("what is refused is taken back by the client's replica", "[integration][edits]") {
  Builder b;
  b.enter();
  // Where it stands itself.
  const IVec3 inside = b.below + IVec3{0, 0, 1};
  const std::uint32_t number =
      b.play.client.act(BlockActKind::place, b.below, BlockFace::top, BlockId::brick);
  CHECK(b.play.client.ground().changed(inside) == BlockId::brick);
  const auto answer = b.play.settled(number);
  REQUIRE(answer.has_value());
  CHECK(name(answer->verdict) == "body_in_the_way");
  CHECK(answer->block == inside);
  CHECK_FALSE(b.play.client.ground().changed(inside).has_value());
  CHECK(b.block(inside) == BlockId::air);
  CHECK(b.play.client.stats().acts_refused == 1);
}

TEST_CASE("a client foresees that nothing is built in a protected zone, and does not show it for a moment",
          "[integration][edits][protected_zone]") {
  WorldSetup setup = plain_setup();
  const bool guarded = GENERATE(true, false);
  if (guarded) setup.zones = {{{{-200, -200, -64}, {200, 200, 128}}, "everywhere near"}};
  Builder b(setup);
  b.enter();
  const DVec3 at = b.play.client.own()->body.position_m;
  PlayerCommand command;
  command.pitch = Turn16{static_cast<std::uint16_t>(-5000)};
  b.play.client.set_command(command);
  b.play.run(0.5);
  const DVec3 eye = at + DVec3{0, 0, setup.rules.player_eye_m};
  const DVec3 view = view_direction(Turn16{0}, command.pitch);
  const RayHit hit = space_ray(b.play.world().space(), eye, view, setup.rules.block_reach_m);
  REQUIRE((hit.hit() && face_of(hit.normal).has_value()));
  const BlockFace face = *face_of(hit.normal);
  const IVec3 block = block_at(eye + view * hit.t_m - hit.normal * 0.01);
  const IVec3 target = block + normal_of(face);
  CAPTURE(at.x, at.y, at.z);
  const std::uint32_t number = b.play.client.act(BlockActKind::place, block, face, BlockId::brick);
  CHECK(b.play.client.ground().changed(target).has_value() != guarded);
  const auto answer = b.play.settled(number);
  REQUIRE(answer.has_value());
  CHECK(name(answer->verdict) == (guarded ? "protected_zone" : "done"));
  CHECK((b.block(target) == BlockId::brick) != guarded);
}

TEST_CASE("while nothing more can be saved acts are refused, and what is saved is told",
          "[integration][edits]") {
  Builder b;
  b.enter();
  b.play.host->note_saving(0, false);
  const BlockId was = b.block(b.below);
  auto answer = b.play.settled(b.play.client.act(BlockActKind::dig, b.below));
  REQUIRE(answer.has_value());
  CHECK(name(answer->verdict) == "not_saved");
  CHECK(b.block(b.below) == was);
  CHECK(b.play.client.saved_tick() == 0);
  const std::uint32_t tick = number(b.play.world().tick());
  b.play.host->note_saving(tick, true);
  answer = b.play.settled(b.play.client.act(BlockActKind::dig, b.below));
  REQUIRE(answer.has_value());
  CHECK(name(answer->verdict) == "done");
  CHECK(b.play.client.saved_tick() == tick);
}

TEST_CASE("what changed in one world is nothing of the next one", "[integration][edits]") {
  Builder b;
  b.enter();
  const auto fill = [&](BlockId id) {
    b.play.host->admin({AdminAction::fill_box, {}, {}, {{0, 0, 60}, {1, 1, 61}}, id});
    b.play.run(0.5);
  };
  fill(BlockId::brick);
  b.play.host->note_saving(number(b.play.world().tick()), true);
  b.play.run(0.5);
  REQUIRE(b.play.client.ground().changed({0, 0, 60}) == BlockId::brick);
  REQUIRE(b.play.client.saved_tick() > 0);
  WorldSetup other = plain_setup();
  other.seed = 99;
  b.play.host->change_world(std::make_unique<World>(other));
  b.play.run(3);
  REQUIRE(b.play.client.stats().worlds == 2);
  CHECK_FALSE(b.play.client.ground().changed({0, 0, 60}).has_value());
  CHECK(b.play.client.saved_tick() == 0);
  fill(BlockId::glass);
  CHECK(b.play.client.ground().changed({0, 0, 60}) == BlockId::glass);
}

TEST_CASE("who comes later is told of all that changed near, and of what changes from then on",
          "[integration][edits]") {
  Builder b;
  const auto fill = [&](IVec3 low, IVec3 high, BlockId id) {
    b.play.host->admin({AdminAction::fill_box, {}, {}, {low, high}, id});
  };
  fill({-8, -8, 60}, {8, 8, 76}, BlockId::glass);  // 4 096 blocks, in four columns
  b.play.run(0.1);
  REQUIRE(b.block({0, 0, 60}) == BlockId::glass);
  b.enter();
  CHECK(b.play.client.ground().told_blocks() == 4096);
  CHECK(b.play.client.ground().changed({-8, 7, 75}) == BlockId::glass);
  fill({0, 0, 60}, {1, 1, 61}, BlockId::brick);
  fill({-8, -8, 70}, {8, 8, 71}, BlockId::air);
  b.play.run(0.3);
  CHECK(b.play.client.ground().told_blocks() == 4096);
  CHECK(b.play.client.ground().changed({0, 0, 60}) == BlockId::brick);
  CHECK(b.play.client.ground().changed({-8, 7, 70}) == BlockId::air);
  CHECK(b.play.client.ground().changed({-8, 7, 71}) == BlockId::glass);
}

TEST_CASE("a client hears nothing of changes far away until it comes there", "[integration][edits]") {
  Builder b;
  b.enter();
  // Home is 192 m across: the corner is beyond a client's interest from the middle.
  const IVec3 far{92, 92, 60};
  b.play.host->admin({AdminAction::teleport, b.play.client.player(), {-80, -80, 60}});
  b.play.run(0.5);
  b.play.host->admin({AdminAction::fill_box, {}, {}, {far, far + IVec3{1, 1, 1}}, BlockId::brick});
  b.play.run(0.5);
  REQUIRE(b.block(far) == BlockId::brick);
  CHECK_FALSE(b.play.client.ground().changed(far).has_value());
  b.play.host->admin({AdminAction::teleport, b.play.client.player(), {80, 80, 60}});
  b.play.run(0.5);
  CHECK(b.play.client.ground().changed(far) == BlockId::brick);
}

TEST_CASE("a player who says acts without end is held back, and the others play on", "[integration][edits]") {
  Builder b;
  b.enter();
  for (int i = 0; i < 3000; ++i) {
    while (b.play.client.act(BlockActKind::dig, {i, i, i}) != 0) {
    }
    b.play.turn();
  }
  CHECK(b.play.client.state() == client_sim::ClientState::playing);
  CHECK(b.play.world().counters().edits_refused == 0);
  // One a tick, and a burst.
  CHECK(b.play.client.stats().acts_refused <= 6 * 60 + 64);
  CHECK(b.play.client.stats().acts_refused > 60);
}

TEST_CASE("a brain that builds raises a tower, a bridge and digs a tunnel", "[integration][edits][brain]") {
  Builder b;
  b.play.enter();
  client_sim::Brain brain(client_sim::BrainKind::build, 3);
  for (int i = 0; i < 60 * 60; ++i) {
    b.play.client.set_command(brain.think(b.play.now, b.play.client));
    brain.act(b.play.client);
    b.play.run(1.0 / 60);
  }
  const BlockActsCounters& acts = b.play.world().block_acts().counters();
  CHECK(acts.placed >= 5);
  CHECK(acts.dug >= 3);
}
