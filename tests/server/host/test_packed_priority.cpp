// Who goes first in a packed snapshot, and who waits on an overloaded server.
#include <map>

#include "server/host/packed_snapshot.h"
#include "tests/catch.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

PlacedEntity placed(std::uint32_t slot, DVec3 at, DVec3 velocity = {}, EntityKind kind = EntityKind::player) {
  const QuantisedPosition q = quantise(at);
  PlacedEntity e{q.cell, {}, at, velocity, {0.3, 1.75}};
  e.record.id = make_entity_id(slot, 1);
  e.record.kind = kind;
  e.record.x = q.x, e.record.y = q.y, e.record.z = q.z;
  return e;
}

World empty_world() {
  WorldSetup setup;
  setup.monsters = 0;
  setup.monsters_max = 1;
  setup.players_max = 1;
  return World(setup);
}

/// The slots of who is in each block of near(), in its order.
std::vector<std::uint32_t> order(PackedWorld& packed, double radius_m = 1000) {
  std::vector<std::uint32_t> out;
  for (const PackedWorld::Near& near : packed.near({}, radius_m, 2, {}, {})) {
    const auto entities = packed.frames().entities(packed.frames().blocks()[near.block]);
    REQUIRE(entities.size() == 1);
    out.push_back(slot_of(entities[0].record.id));
  }
  return out;
}

}  // namespace

TEST_CASE("who moves counts as a third nearer, who fights as at half its distance", "[server][packed]") {
  World world = empty_world();
  PackedWorld packed(60, 1);
  const DVec3 run{6, 0, 0};
  // Each in a cell of its own, and new each time.
  const auto gather = [&](double run_m, double fight_m) {
    world.step({});
    packed = PackedWorld(60, 1);
    packed.gather(world,
                  std::vector<PlacedEntity>{placed(1, {20, 0.5, 5}), placed(2, {-run_m, 0.5, 5}, run),
                                            placed(3, {0.5, -fight_m, 5}, {}, projectile_entity_kind(0))});
  };
  gather(29, 39);
  CHECK(order(packed) == std::vector<std::uint32_t>{2, 3, 1});
  gather(31, 39);
  CHECK(order(packed) == std::vector<std::uint32_t>{3, 1, 2});
  gather(31, 41);
  CHECK(order(packed) == std::vector<std::uint32_t>{1, 3, 2});
  // Interest goes by distance alone.
  CHECK(order(packed, 35) == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("who is far is told of in every so many ticks where the server spares them, and never forgotten",
          "[server][packed][overload]") {
  World world = empty_world();
  PackedWorld packed(60, 1);
  PackedSnapshot snapshot;
  ClientBlocks client;
  std::uint64_t sequence = 0;
  std::map<std::uint16_t, int> told;
  int gone = 0;
  for (int i = 0; i < 80; ++i) {
    world.step({});
    const double to = 0.1 * i;
    packed.gather(world, std::vector<PlacedEntity>{placed(1, {8 + to, 0.5, 5}, {6, 0, 0}),
                                                   placed(2, {-40 - to, 0.5, 5}, {-6, 0, 0})});
    PackedRequest request;
    request.head.tick = number(world.tick());
    const OwnPlayer own;
    request.own = &own;
    request.near = packed.near({}, 64, 2, {}, {});
    request.far_m = 32;
    request.far_ticks = 4;
    request.parts_max = 4;
    REQUIRE(snapshot.lay_out(packed, request, client) == 1);
    auto reader = PackedPartReader::open(snapshot.part(0));
    REQUIRE(reader);
    while (const auto entry = reader->next()) {
      if (entry->item == PackedItem::blocks) ++told[entry->number];
      gone += entry->item == PackedItem::gone ? 1 : 0;
    }
    snapshot.note_sent(0, ++sequence, client);
    client.note_fate({sequence, true});
  }
  REQUIRE(told.size() == 2);
  const auto [few, many] = std::minmax(told.begin()->second, told.rbegin()->second);
  CHECK(many == 80);
  CHECK(few >= 18);
  CHECK(few <= 20);
  CHECK(gone == 0);
}
