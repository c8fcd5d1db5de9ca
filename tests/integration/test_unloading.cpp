// Edited ground that nobody is near goes to the store and comes back from it, in the running world and in its
// recording.

#include <map>
#include <tuple>
#include <vector>

#include "client_sim/simulation/replay.h"
#include "protocol/recording.h"
#include "tests/catch.h"
#include "tests/integration/predicted_client.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr DVec3 away_m{1000, 1000, 60};
constexpr IVec3 away_block{1003, 1001, 57};

/// A store in memory: a copy of every chunk that changed.
struct MemoryStore {
  std::map<std::tuple<int, int, int>, std::unique_ptr<Chunk>> chunks;
  void note(const World& world) {
    for (const AppliedEdit& edit : world.applied_edits()) {
      const ChunkCoord at = chunk_of(edit.block);
      chunks[{at.x, at.y, at.z}] = std::make_unique<Chunk>(*world.space().voxels->find(at));
    }
  }
};

WorldSetup unloading_setup() {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  return with_shared_ground(setup);
}

struct RecordedTicks final : server::TickSink {
  void on_tick(const TickRecord& record) override { ticks.push_back(record); }
  std::vector<TickRecord> ticks;
};

}  // namespace

TEST_CASE("edited ground goes once it is saved, comes back with its edits, and its recording replays",
          "[integration][unloading]") {
  const auto store = std::make_shared<MemoryStore>();
  const WorldSetup natural = unloading_setup();
  WorldSetup kept = natural;
  kept.make_chunk = [store, make = natural.make_chunk](const Terrain& terrain, ChunkCoord at) {
    const auto found = store->chunks.find({at.x, at.y, at.z});
    return found == store->chunks.end() ? make(terrain, at) : std::make_unique<Chunk>(*found->second);
  };
  RecordedTicks recorded;
  HostedClient play(kept);
  play.host->set_sink(&recorded);
  play.after_tick = [&] {
    store->note(play.world());
    play.host->note_saving(number(play.world().tick()), true);
  };
  const auto go = [&](DVec3 place_m) {
    play.host->admin({AdminAction::teleport, play.client.player(), place_m});
    play.run(8);
  };
  const ChunkCoord chunk = chunk_of(away_block);
  play.enter();
  play.host->admin({AdminAction::noclip_on, play.client.player(), {}});
  go(away_m);
  REQUIRE(play.world().space().voxels->loaded(chunk));
  AdminCommand fill;
  fill.action = AdminAction::fill_box;
  fill.box = {away_block, away_block + IVec3{2, 2, 2}};
  fill.id = BlockId::brick;
  play.host->admin(fill);
  play.run(0.2);
  REQUIRE(play.world().space().voxels->block(away_block) == BlockId::brick);

  go({0, 0, 60});
  CHECK_FALSE(play.world().space().voxels->loaded(chunk));
  const std::size_t at_home = play.world().space().voxels->chunk_count();
  go(away_m);
  REQUIRE(play.world().space().voxels->loaded(chunk));
  CHECK(play.world().space().voxels->block(away_block) == BlockId::brick);
  CHECK(play.client.ground().told(away_block) == BlockId::brick);
  go({0, 0, 60});
  CHECK(play.world().space().voxels->chunk_count() == at_home);  // nothing is left behind

  World again(natural);
  simulation::RecordedGround ground;
  for (const TickRecord& tick : recorded.ticks) {
    simulation::step_recorded(again, tick, ground);
    REQUIRE(again.hash() == tick.hash);
  }
  CHECK(again.hash() == play.world().hash());
}

TEST_CASE("where no world is kept edited ground stays", "[integration][unloading]") {
  HostedClient play(unloading_setup());
  play.enter();
  play.host->admin({AdminAction::noclip_on, play.client.player(), {}});
  play.host->admin({AdminAction::teleport, play.client.player(), away_m});
  play.run(5);
  AdminCommand fill;
  fill.action = AdminAction::fill_box;
  fill.box = {away_block, away_block + IVec3{1, 1, 1}};
  fill.id = BlockId::brick;
  play.host->admin(fill);
  play.run(0.2);
  play.host->admin({AdminAction::teleport, play.client.player(), {0, 0, 60}});
  play.run(8);
  CHECK(play.world().space().voxels->block(away_block) == BlockId::brick);
}
