// Items through the whole chain: what a client digs it is told to hold, what it holds it builds with, and
// what it held when it left it holds when it comes back.

#include "tests/catch.h"
#include "tests/integration/hosted_client.h"
#include "world/sim/dropped_items.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

std::uint64_t items_away(const server::Host& host, BlockId kind) {
  server::HostAudit audit;
  host.audit(audit);
  return audit.items_away[static_cast<std::size_t>(kind)];
}

struct Survivor {
  explicit Survivor(const WorldSetup& setup = survival_setup()) : play(setup) {
    play.enter();
    play.run(1.5);
    below = block_at(play.client.own()->body.position_m - DVec3{0, 0, 0.5});
    PlayerCommand command;
    command.pitch = Turn16{static_cast<std::uint16_t>(-16000)};
    play.client.set_command(command);
    play.run(0.5);
  }
  ActVerdict settled(std::uint32_t number) {
    const auto answer = play.settled(number);
    return answer ? answer->verdict : ActVerdict::progress;
  }
  const Inventory& truth() const {
    const World& world = play.world();
    return world.players().inventory[static_cast<std::size_t>(world.player_row(play.client.player()))];
  }
  HostedClient play;
  IVec3 below{};
};

}  // namespace

TEST_CASE("a client holds what it dug, and builds with that alone", "[integration][items]") {
  Survivor d;
  if (GENERATE(false, true)) {
    client_sim::LinkConditions lossy;
    lossy.loss = 0.1;
    d.play.conditions(lossy);
  }
  CHECK(d.settled(d.play.client.act(BlockActKind::place, d.below, BlockFace::top, BlockId::brick)) ==
        ActVerdict::no_blocks);
  const BlockId drops = BlockRegistry::builtin().type(d.play.world().space().voxels->block(d.below)).drops;
  REQUIRE(d.settled(d.play.client.act(BlockActKind::dig, d.below)) == ActVerdict::done);
  d.play.run(1);
  CHECK(d.truth().count(drops) == 1);  // it fell to where it lay
  CHECK(d.play.client.inventory() == d.truth());
  REQUIRE(d.settled(d.play.client.drop_items(drops, 1)) == ActVerdict::done);
  d.play.run(0.3);
  CHECK(d.play.client.inventory().empty());
  std::vector<client_sim::ViewEntity> seen;
  d.play.client.view().entities(seen);
  const auto item = std::ranges::find(seen, EntityKind::item,
                                      [](const client_sim::ViewEntity& e) { return e.record.kind; });
  REQUIRE(item != seen.end());
  CHECK(static_cast<BlockId>(item->record.state) == drops);
  CHECK(item->record.health == 1);
  d.play.run(2);  // at its feet: it is picked up again when it may be
  CHECK(d.play.client.inventory().count(drops) == 1);
}

TEST_CASE("who leaves and comes back holds what it held, and who never held anything nothing",
          "[integration][items]") {
  Survivor d;
  const BlockId drops = BlockRegistry::builtin().type(d.play.world().space().voxels->block(d.below)).drops;
  REQUIRE(d.settled(d.play.client.act(BlockActKind::dig, d.below)) == ActVerdict::done);
  d.play.run(1);
  REQUIRE(d.truth().count(drops) == 1);
  d.play.client.leave();
  d.play.run(1);
  CHECK(d.play.world().player_count() == 0);
  CHECK(items_away(*d.play.host, drops) == 1);
  d.play.client = client_sim::Client(HostedClient::client_config(d.play.world().setup(), "ada"));
  d.play.enter();
  d.play.run(0.5);
  CHECK(d.truth().count(drops) == 1);
  CHECK(d.play.client.inventory() == d.truth());
  CHECK(items_away(*d.play.host, drops) == 0);
  CHECK(d.play.world().items().counters().brought == 1);
}

TEST_CASE("whom a store remembers brings what it held", "[integration][items]") {
  HostedClient play(survival_setup());
  server::KeptPlayer known;
  known.identity = play.client.identity().bytes;
  known.inventory.add({BlockId::brick, 5});
  server::KeptPlayer other = known;
  other.identity[0] ^= 1;
  other.inventory.add({BlockId::clay, 9});
  play.host->remember(known);
  play.host->remember(other);
  play.enter();
  play.run(0.5);
  CHECK(items_away(*play.host, BlockId::clay) == 9);
  const Inventory& held = play.world().players().inventory[play.row()];
  CHECK(held == known.inventory);
  CHECK(play.client.inventory() == held);
}
