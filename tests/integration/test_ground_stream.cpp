// The ground of clients that do not compute it: sent by the Host over a link, changed by edits, walked on.

#include <algorithm>

#include "server/host/ground_room.h"
#include "tests/catch.h"
#include "tests/integration/predicted_client.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

WorldSetup streamed_setup() {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  return with_shared_ground(setup);
}

client_sim::ClientConfig asking_client(const WorldSetup& setup) {
  client_sim::ClientConfig config = HostedClient::client_config(setup, "ada");
  config.stream_ground = true;
  return config;
}

/// Lets what is on its way arrive, and compares all that the client holds with the Host's word.
/// @return how many chunks that is
std::size_t compare_ground(HostedClient& play) {
  play.run(0.5);
  std::vector<BlockId> theirs(chunk_blocks), ours(chunk_blocks);
  const auto& ground = play.client.ground().streamed();
  for (const ChunkCoord at : ground.chunks()) {
    CAPTURE(at.x, at.y, at.z);
    if (!play.host->public_blocks(at, theirs)) continue;
    ground.find(at)->copy_blocks(ours);
    REQUIRE(std::ranges::equal(ours, theirs));
  }
  return ground.chunk_count();
}

AdminCommand fill_act(BlockBox box, BlockId id) {
  AdminCommand act;
  act.action = AdminAction::fill_box;
  act.box = box;
  act.id = id;
  return act;
}

}  // namespace

TEST_CASE("a client that asks for the ground is sent what is loaded around it, to the last block",
          "[integration][ground_stream]") {
  const WorldSetup setup = streamed_setup();
  HostedClient play(setup, {}, asking_client(setup));
  if (GENERATE(false, true)) {
    client_sim::LinkConditions bad;
    bad.loss = 0.1;
    bad.reordering = 0.2;
    bad.latency = Micros{40'000};
    play.conditions(bad);
  }
  play.enter();
  play.run(6);
  const std::size_t held = compare_ground(play);
  CHECK(held > 200);  // seven chunks a column, and most of the home region is near
  CHECK(play.host->status().ground_stream.clients == 1);
  CHECK(play.client.stats().chunks_told == held);
  // Nothing twice, and nothing more once all is there.
  const std::uint64_t bytes = play.client.stats().chunk_bytes;
  play.run(1);
  CHECK(play.client.stats().chunk_bytes == bytes);
}

TEST_CASE("what changes is told by the block, and a chunk in which much changed is packed anew",
          "[integration][ground_stream]") {
  const WorldSetup setup = streamed_setup();
  HostedClient play(setup, {}, asking_client(setup));
  play.enter();
  play.run(3);
  const std::uint64_t chunks = play.client.stats().chunks_told;
  const IVec3 near{3, 3, 40};
  play.host->admin(fill_act({near, near + IVec3{2, 2, 2}}, BlockId::brick));
  play.run(0.2);
  CHECK(play.client.ground().told(near) == BlockId::brick);
  CHECK(play.client.stats().chunks_told == chunks);
  for (int i = 0; i < 12; ++i) {
    play.host->admin(fill_act({{0, 0, 32 + i}, {16, 16, 33 + i}}, BlockId::glass));
    play.run(0.05);
  }
  compare_ground(play);
  CHECK(play.client.stats().chunks_told == chunks);
  CHECK(play.client.ground().streamed().pending() < 4096);
  play.run(1.5);
  CHECK(play.client.ground().streamed().pending() == 0);
}

TEST_CASE("for a client that acknowledges nothing no ground is looked for", "[integration][ground_stream]") {
  WorldSetup setup = streamed_setup();
  setup.terrain = TerrainKind::hills;
  HostedClient play(setup, {}, asking_client(setup));
  play.enter();
  client_sim::LinkConditions cut;
  cut.loss = 1;
  play.down.set_conditions(cut);
  play.run(2);
  const auto& told = play.host->status().ground_stream;
  REQUIRE(told.bytes > server::GroundRoom::queue_bytes_max / 2);
  const std::uint64_t bytes = told.bytes, packed = told.packed;
  // One column further other chunks would be the next, and none of those that it has are too far.
  const DVec3 there = play.world().players().body[play.row()].position_m + DVec3{chunk_size, 0, 0};
  play.host->admin({AdminAction::noclip_on, play.client.player(), {}});
  play.host->admin({AdminAction::teleport, play.client.player(), there});
  play.run(2);
  REQUIRE(length(play.world().players().body[play.row()].position_m - there) < 1);
  CHECK(told.bytes == bytes);
  CHECK(told.packed == packed);
  // Once it answers it has all of it.
  play.conditions({});
  play.run(8);
  CHECK(compare_ground(play) > 200);
}

TEST_CASE("who goes away is sent other ground, and forgets the old", "[integration][ground_stream]") {
  const WorldSetup setup = streamed_setup();
  HostedClient play(setup, {}, asking_client(setup));
  play.enter();
  play.run(3);
  const ChunkCoord home = chunk_of(block_at(play.client.own()->body.position_m));
  REQUIRE(play.client.ground().streamed().find(home) != nullptr);
  play.host->admin({AdminAction::noclip_on, play.client.player(), {}});
  play.host->admin({AdminAction::teleport, play.client.player(), {1000, 1000, 60}});
  play.run(6);
  compare_ground(play);
  const ChunkCoord here = chunk_of(block_at(play.client.own()->body.position_m));
  CHECK(play.client.ground().streamed().find(here) != nullptr);
  CHECK(play.client.ground().streamed().find(home) == nullptr);
  CHECK(play.client.ground().streamed().chunk_count() < 800);
}

TEST_CASE("a session that goes on is sent nothing that its client kept", "[integration][ground_stream]") {
  const WorldSetup setup = streamed_setup();
  HostedClient play(setup, {}, asking_client(setup));
  play.enter();
  play.run(4);
  const std::size_t held = compare_ground(play);
  const std::uint64_t bytes = play.client.stats().chunk_bytes;
  client_sim::LinkConditions cut;
  cut.loss = 1;
  play.conditions(cut);
  play.run(4);
  // What changes meanwhile comes with the rest.
  play.host->admin(fill_act({{2, 2, 40}, {4, 4, 42}}, BlockId::brick));
  play.run(8);  // the server has missed it, and keeps its body
  REQUIRE(play.client.resuming());
  play.conditions({});
  play.run(4);
  REQUIRE(play.client.stats().resumes == 1);
  CHECK(compare_ground(play) == held);
  CHECK(play.client.ground().told({2, 2, 40}) == BlockId::brick);
  CHECK(play.client.stats().chunks_kept + 1 >= held);
  CHECK(play.client.stats().chunk_bytes - bytes < held * 150);
}

TEST_CASE("what a secret seed hides is stone in chunks that are sent, until it is told of",
          "[integration][ground_stream]") {
  WorldSetup setup = streamed_setup();
  setup.terrain = TerrainKind::hills;
  setup.secret = 4711;
  HostedClient play(setup, {}, asking_client(setup));
  play.enter();
  play.run(5);
  CHECK(compare_ground(play) > 200);
  // Some ore is there, and nobody was told of it.
  std::optional<IVec3> ore;
  const auto& ground = play.client.ground().streamed();
  for (const ChunkCoord at : ground.chunks()) {
    const Chunk* const truth = play.world().space().voxels->find(at);
    if (truth == nullptr) continue;
    for (std::uint32_t i = 0; i < chunk_blocks && !ore; ++i) {
      const IVec3 local{static_cast<int>(i >> 5 & 31), static_cast<int>(i >> 10), static_cast<int>(i & 31)};
      if (setup.blocks->hidden(truth->block(local)) && ground.find(at)->block(local) == BlockId::stone)
        ore = IVec3{at.x * 32, at.y * 32, at.z * 32} + local;
    }
  }
  REQUIRE(ore.has_value());
  const IVec3 beside = *ore + IVec3{1, 0, 0};
  play.host->admin(fill_act({beside, beside + IVec3{1, 1, 1}}, BlockId::glass));
  compare_ground(play);
  CHECK(play.client.ground().told(*ore) == play.world().space().voxels->block(*ore));
}

TEST_CASE("a player is foreseen on ground that was sent as the server has it, and none is computed",
          "[integration][ground_stream][predictor]") {
  WorldSetup setup = streamed_setup();
  client_sim::PredictorConfig foresight = PredictedClient::config_of(setup, nullptr);
  foresight.make_chunk = [](const Terrain&, ChunkCoord) -> std::unique_ptr<Chunk> {
    FAIL("ground was computed");
    return nullptr;
  };
  HostedClient play(setup, {}, asking_client(setup));
  Predictor predictor(foresight);
  const auto turn = [&] {
    play.turn();
    predictor.advance(play.now, play.client);
  };
  for (int i = 0; i < 2500; ++i) turn();
  REQUIRE(predictor.ready());
  REQUIRE_FALSE(predictor.waiting());
  const std::uint64_t late = predictor.stats().late;
  PlayerCommand walk;
  walk.forward = 1;
  for (int i = 0; i < 2500; ++i) {
    walk.yaw = Turn16{static_cast<std::uint16_t>(i * 20)};
    walk.buttons = i % 300 < 20 ? button::jump : std::uint16_t{0};
    play.client.set_command(walk);
    turn();
  }
  const auto& stats = predictor.stats();
  CHECK(stats.confirmed > 250);
  CHECK(stats.late == late);
  CHECK(stats.mispredicted[static_cast<std::size_t>(client_sim::MispredictCause::unknown)] == 0);
}
