// Who stops between two states that were told is shown where it stands, and not where it would have run to.

#include <array>
#include <vector>

#include "client_sim/client/others.h"
#include "client_sim/client/packed_memory.h"
#include "server/host/packed_snapshot.h"
#include "tests/catch.h"
#include "tests/integration/told_part.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

/// Somebody who runs, a server that tells of it every so many ticks, and a client whose acknowledgements are
/// there at once.
struct StoppingRunner {
  StoppingRunner(SnapshotEncoding how, std::uint32_t every)
      : encoding(how), far_ticks(every), world(setup()) {
    memory.reset(60, 1, ReplicationRegistry::builtin_ptr());
    view.reset(60);
  }
  static WorldSetup setup() {
    WorldSetup setup;
    setup.monsters = 0, setup.monsters_max = 1, setup.players_max = 1;
    return setup;
  }
  void tick(bool runs) {
    world.step({});
    if (runs) at_m.y += 0.1;
    const QuantisedPosition q = quantise(at_m);
    PlacedEntity e{q.cell, {}, at_m, {0, runs ? 6.0 : 0.0, 0}, {0.3, 1.75}};
    e.record.id = make_entity_id(8, 1);
    e.record.kind = EntityKind::player;
    e.record.health = 255;
    e.record.x = q.x, e.record.y = q.y, e.record.z = q.z;
    packed.gather(world, std::vector<PlacedEntity>{e});
    PackedRequest request;
    request.encoding = encoding;
    request.head.tick = number(world.tick());
    const OwnPlayer own;
    request.own = &own;
    request.near = packed.near({0, 0, 6}, 200, 2, {}, {});
    request.far_m = 32;
    request.far_ticks = far_ticks;
    request.parts_max = 1;
    REQUIRE(snapshot.lay_out(packed, request, blocks) == 1);
    snapshot.note_sent(0, request.head.tick, blocks);
    testing::told_part(snapshot.part(0), encoding, memory, view);
    others.advance(now(), source());
    blocks.note_fate({request.head.tick, true}, request.head.tick + 1);
  }
  Micros now() const { return Micros{number(world.tick()) * std::int64_t{1'000'000} / 60}; }
  client_sim::PictureSource source() const {
    client_sim::PictureSource from(view, world.setup().rules);
    from.world = 1;
    from.command_time = number(world.tick());
    return from;
  }
  DVec3 shown() {
    others.shown(now(), source(), nullptr, pictured);
    REQUIRE(pictured.size() == 1);
    return pictured[0].position_m;
  }

  SnapshotEncoding encoding;
  std::uint32_t far_ticks;
  World world;
  DVec3 at_m{70, -10, 5};
  PackedWorld packed{60, 1};
  PackedSnapshot snapshot;
  ClientBlocks blocks;
  client_sim::PackedMemory memory;
  client_sim::View view;
  client_sim::Others others;
  std::vector<client_sim::ShownEntity> pictured;
};

}  // namespace

TEST_CASE("who stops between two told states is shown where it stands", "[integration][others]") {
  const auto encoding = GENERATE(SnapshotEncoding::packed, SnapshotEncoding::plain);
  const auto every = GENERATE(0u, 4u, 6u);
  const int runs = 60 + GENERATE(0, 1, 2, 3);
  CAPTURE(static_cast<int>(encoding), every, runs);
  StoppingRunner play(encoding, every);
  for (int i = 0; i < runs; ++i) play.tick(true);
  for (int i = 0; i < 60; ++i) play.tick(false);
  CHECK(length(play.shown() - play.at_m) < 0.01);
  // And nothing is told of it any more.
  const std::uint64_t before = play.packed.frames().codings();
  for (int i = 0; i < 30; ++i) play.tick(false);
  CHECK(play.packed.frames().codings() == before);
}
