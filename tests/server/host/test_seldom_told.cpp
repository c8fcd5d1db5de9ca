// Shots at those of whom a client is told more seldom than of the rest: between which states it was shown
// them.
#include "server/host/seldom_told.h"

#include <vector>

#include "server/host/packed_snapshot.h"
#include "server/host/packed_world.h"
#include "tests/catch.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

PlacedEntity placed(EntityId id, DVec3 at) {
  const QuantisedPosition q = quantise(at);
  PlacedEntity e{q.cell, {}, at, {6, 0, 0}, {0.3, 1.75}};
  e.record.id = id;
  e.record.kind = EntityKind::player;
  e.record.health = 255;
  e.record.x = q.x, e.record.y = q.y, e.record.z = q.z;
  return e;
}

/// A shooter who looks east, somebody near and somebody far, who both run.
struct Scene {
  Scene() : world(setup()) {
    const std::uint32_t tokens[]{0};
    TickInput input;
    input.joins = tokens;
    world.step(input);
    session.player = world.joined()[0].id;
    session.blocks = std::make_unique<ClientBlocks>();
  }
  static WorldSetup setup() {
    WorldSetup s;
    s.monsters = 0, s.monsters_max = 1;
    s.players_max = 1;
    return s;
  }
  /// A tick and its snapshot, which is acknowledged two ticks later, or lost.
  void step(std::uint32_t far_ticks, bool lost = false) {
    world.step({});
    const std::uint32_t tick = number(world.tick());
    const DVec3 eye = world.players().body[0].position_m + DVec3{0, 0, world.setup().rules.player_eye_m};
    const double run_m = 0.1 * tick;
    packed.gather(world, std::vector<PlacedEntity>{placed(near, eye + DVec3{5, 0.1 * run_m, -1}),
                                                   placed(far, eye + DVec3{70, run_m - 10, -1})});
    PackedRequest request;
    request.head.tick = tick;
    const OwnPlayer own;
    request.own = &own;
    request.near = packed.near(eye, 200, 2, {}, {});
    request.far_m = 32;
    request.far_ticks = far_ticks;
    request.parts_max = 4;
    REQUIRE(snapshot.lay_out(packed, request, *session.blocks) == 1);
    snapshot.note_sent(0, tick, *session.blocks);
    if (!lost) under_way.push_back(tick);
    while (!under_way.empty() && under_way.front() + 2 <= tick) {
      session.blocks->note_fate({under_way.front(), true}, tick + 1);
      under_way.erase(under_way.begin());
    }
  }
  /// Of a command that is given now, and saw what was acknowledged last.
  std::vector<ToldApart> find(std::uint32_t seen, std::uint32_t given,
                              std::uint16_t buttons = button::attack) {
    PlayerCommand command;
    command.buttons = buttons;
    command.seen = TickId{seen};
    std::vector<ToldApart> out;
    finder.find(world, packed.frames(), session, command, given, out);
    return out;
  }
  std::uint32_t tick() const { return number(world.tick()); }

  const EntityId near = make_entity_id(7, 1), far = make_entity_id(8, 1);
  World world;
  PackedWorld packed{60, 1};
  PackedSnapshot snapshot;
  Session session;
  SeldomTold finder;
  std::vector<std::uint32_t> under_way;
};

}  // namespace

TEST_CASE("who is told of with the rest is not looked for", "[server][host][seldom_told]") {
  Scene scene;
  for (int i = 0; i < 90; ++i) scene.step(0);
  CHECK(scene.session.blocks->uneven_tick == 0);
  CHECK(scene.find(scene.tick() - 3, scene.tick() + 1).empty());
}

TEST_CASE("who is in every fourth snapshot is shot at between the states that were told of it",
          "[server][host][seldom_told]") {
  Scene scene;
  for (int i = 0; i < 90; ++i) scene.step(4);
  int between = 0, beyond = 0, told = 0;
  for (int i = 0; i < 24; ++i) {
    scene.step(4);
    const std::uint32_t seen = scene.tick() - 4;
    CHECK(scene.find(seen, scene.tick() + 1, button::jump).empty());
    const std::vector<ToldApart> found = scene.find(seen, scene.tick() + 1);
    // The near one was told at that tick, as the command says.
    if (found.empty()) {
      ++told;
      continue;
    }
    REQUIRE(found.size() == 1);
    CHECK(found[0].shooter == scene.session.player);
    CHECK(found[0].target == scene.far);
    CHECK(found[0].told_before + found[0].told_after == 4);
    found[0].told_after < 0 ? ++beyond : ++between;
    // What was acknowledged later the command did not know of; the near one neither.
    const std::vector<ToldApart> earlier = scene.find(seen, scene.tick() - 3);
    REQUIRE(earlier.size() == 2);
    CHECK(earlier[0].target == scene.near);
    CHECK(earlier[0].told_after < 0);
    CHECK(earlier[1].target == scene.far);
    CHECK(earlier[1].told_after < 0);
  }
  // Once it runs into another block, and is told of at once.
  CHECK(between == 12);
  CHECK(told + beyond == 12);
  CHECK(told >= 6);
  CHECK(beyond >= 5);
}

TEST_CASE("who was told of in a snapshot that was lost is shot at between those that came",
          "[server][host][seldom_told]") {
  Scene scene;
  for (int i = 0; i < 90; ++i) scene.step(4);
  const auto due = [&] { return scene.find(scene.tick() - 4, scene.tick() + 1); };
  // Until the far one is in the next snapshot.
  while (!due().empty() || scene.session.blocks->find(0) == nullptr) scene.step(4);
  for (int i = 0; i < 3; ++i) scene.step(4);
  scene.step(4, true);
  int wide = 0;
  for (int i = 0; i < 8; ++i) {
    scene.step(4);
    // The near one was in the others: what it was shown between is no wider.
    for (const ToldApart& told : due()) {
      if (told.target == scene.near) CHECK(told.told_before + told.told_after == 2);
      if (told.target == scene.far) wide += told.told_before + told.told_after > 4 ? 1 : 0;
    }
  }
  CHECK(wide > 0);
}
