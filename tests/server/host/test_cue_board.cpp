// What only shows goes to who may see it, and tells nothing of who may not be seen.
#include "server/host/cue_board.h"

#include <algorithm>
#include <tuple>

#include "protocol/snapshot/cue_codec.h"
#include "server/host/packed_snapshot.h"
#include "server/host/replicator.h"
#include "tests/catch.h"
#include "world/math/random.h"
#include "world/sim/shooting.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

constexpr double tick_s = 1.0 / 60;

/// One player on a platform of stone in the air, who shoots eastwards; the board hears of it.
struct Range {
  Range() : world(setup()) {
    const std::uint32_t token = 1;
    TickInput in;
    in.joins = {&token, 1};
    world.step(in);
    shooter = world.joined()[0].id;
    admin({AdminAction::noclip_on, shooter, {}});
    AdminCommand to{AdminAction::teleport, shooter, {}};
    to.position_m = {0, 0, 100};
    admin(to);
  }
  static WorldSetup setup() {
    WorldSetup setup;
    setup.monsters = 0, setup.monsters_max = 1, setup.players_max = 2;
    return setup;
  }
  void admin(const AdminCommand& act) {
    TickInput in;
    in.admin = {&act, 1};
    step(in);
  }
  void fill(IVec3 low, IVec3 high, BlockId id) {
    AdminCommand act{AdminAction::fill_box, {}, {}};
    act.box = {low, high};
    act.id = id;
    admin(act);
  }
  void step(const TickInput& in = {}) {
    world.step(in);
    board.stepped(world);
    if (culler) culler->stepped(number(world.tick()), world.applied_edits());
  }
  /// Until a shot was fired in the last step.
  void shoot() {
    for (int i = 0; i < 60; ++i) {
      PlayerInput input{shooter, {}};
      input.command.buttons = button::attack;
      TickInput in;
      in.commands = {&input, 1};
      step(in);
      if (!world.shooting().events().empty()) return;
    }
    FAIL("nobody shoots");
  }
  std::span<const Cue> told(DVec3 eye_m, double radius_m, std::uint32_t told_tick = 0, bool culled = false,
                            EntityId viewer = EntityId{99}) {
    replicator.gather(world);
    const double ahead = sight_ahead(60, 1);
    board.gather(world, replicator.placed(), culled ? ahead : 0);
    std::optional<SightReach> reach;
    if (culled)
      reach = {{&*culler, reach_of_eyes(eye_m, {}, world.setup().rules, ahead)}, &world.setup().rules, ahead};
    return board.pick({viewer, eye_m, radius_m, 2, told_tick, reach ? &*reach : nullptr}, world,
                      replicator.rooms());
  }

  DVec3 eye() const { return world.players().body[slot_of(shooter)].position_m + DVec3{0, 0, 1.6}; }

  World world;
  CueBoard board{1};
  Replicator replicator;
  std::optional<SightCuller> culler;
  EntityId shooter{};
};

}  // namespace

TEST_CASE("a shot is told to who is near its shooter, and where it ended to who is near that",
          "[server][cues]") {
  Range range;
  range.shoot();
  const ShotEvent shot = range.world.shooting().events()[0];
  const Cue whole{CueKind::shot, shot.weapon, 0, range.shooter, true, quantise_cue_place(shot.end())};
  const DVec3 beside = shot.direction * 10;
  {
    const auto cues = range.told(shot.origin + beside, 500);
    REQUIRE(cues.size() == 1);
    CHECK(cues[0] == whole);
  }
  {
    const auto cues = range.told(shot.end(), shot.reach_m() / 2);
    REQUIRE(cues.size() == 1);
    CHECK(cues[0].who == EntityId{0});
    CHECK(cues[0].place == whole.place);
  }
  {
    const auto cues = range.told(shot.origin, shot.reach_m() / 2);
    REQUIRE(cues.size() == 1);
    CHECK(cues[0].who == range.shooter);
    CHECK_FALSE(cues[0].placed);
  }
  CHECK(range.told(shot.origin + DVec3{0, 0, 300}, 200).empty());
}

TEST_CASE("a cue is as old as it is, told once, and forgotten after a while", "[server][cues]") {
  Range range;
  range.shoot();
  const std::uint32_t shot_tick = number(range.world.tick());
  const DVec3 near{0, 1, 101};
  for (int i = 0; i < 3; ++i) range.step();
  REQUIRE(range.told(near, 64).size() == 1);
  CHECK(range.told(near, 64)[0].age == 3);
  CHECK(range.told(near, 64, shot_tick - 1).size() == 1);
  CHECK(range.told(near, 64, shot_tick).empty());
  for (int i = 0; i < 12; ++i) range.step();
  CHECK(range.told(near, 64).size() == 1);
  range.step();
  CHECK(range.told(near, 64).empty());
}

TEST_CASE("steps are for who is near, in the next snapshot alone, and not for who makes them",
          "[server][cues]") {
  Range range;
  range.admin({AdminAction::noclip_off, range.shooter, {}});
  for (std::int32_t x = -8; x < 40; x += 16) range.fill({x, -4, 99}, {x + 16, 4, 100}, BlockId::brick);
  const auto run_to_a_step = [&] {
    for (int i = 0; i < 240; ++i) {
      PlayerInput input{range.shooter, {}};
      input.command.forward = 1;
      TickInput in;
      in.commands = {&input, 1};
      range.step(in);
      const auto told = range.told(range.eye(), 64, number(range.world.tick()) - 1);
      if (!told.empty() && told[0].kind == CueKind::step) return;
    }
    FAIL("nobody steps");
  };
  run_to_a_step();
  const std::uint32_t before = number(range.world.tick()) - 1;
  CHECK(range.told(range.eye() + DVec3{15, 0, 0}, 64, before).size() == 1);
  CHECK(range.told(range.eye() + DVec3{25, 0, 0}, 64, before).empty());
  CHECK(range.told(range.eye(), 64, before, false, range.shooter).empty());
  range.step();
  CHECK(range.told(range.eye(), 64, before).empty());
}

TEST_CASE("who is culled by sight is not betrayed by shots", "[server][cues][sight_culling]") {
  Range range;
  range.culler.emplace(*range.world.space().voxels, range.world.maps());
  // Eyes in a cabin of stone 40 m north of the shooter, with hollow enough to stay in.
  const IVec3 low{-8, 40, 92};
  range.fill(low, low + IVec3{16, 16, 16}, BlockId::stone);
  range.fill(low + IVec3{2, 2, 2}, low + IVec3{14, 14, 14}, BlockId::air);
  const DVec3 eye{0, 48, 100};
  range.shoot();
  CHECK(range.told(eye, 200).size() == 1);
  CHECK(range.told(eye, 200, 0, true).empty());
  range.fill(low, low + IVec3{16, 3, 16}, BlockId::air);
  range.shoot();
  CHECK_FALSE(range.told(eye, 200, 0, true).empty());
}

TEST_CASE("cues take no more than their share of a snapshot, and nobody waits longer for them",
          "[server][cues][packed]") {
  WorldSetup setup = Range::setup();
  World world(setup);
  PackedWorld packed(60, 1);
  PackedSnapshot snapshot;
  ClientBlocks client;
  std::vector<PlacedEntity> placed;
  Rng rng = rng_for(3, 8);
  for (std::uint32_t slot = 1; slot <= 300; ++slot) {
    PlacedEntity e{};
    e.base.x = rng.between(-60, 60);
    e.base.y = rng.between(-60, 60);
    e.base.z = 5;
    e.velocity_mps.x = 3;
    e.shape = {0.3, 1.75};
    e.record.id = make_entity_id(slot, 1);
    placed.push_back(e);
  }
  std::vector<Cue> cues;
  for (int i = 0; i < 32; ++i)
    cues.push_back({CueKind::shot,
                    1,
                    0,
                    make_entity_id(400 + static_cast<std::uint32_t>(i), 3),
                    true,
                    {(i % 2 == 0 ? 1 : -1) * 100'000, i, 0}});
  std::uint32_t waited[2] = {};
  for (const bool fights : {false, true}) {
    client = ClientBlocks{};
    packed = PackedWorld(60, 1);
    std::uint64_t sequence = 0;
    for (int i = 0; i < 240; ++i) {
      world.step({});
      for (PlacedEntity& e : placed) {
        e.base += e.velocity_mps * tick_s;
        if (rng.below(20) == 0) e.velocity_mps = e.velocity_mps * -1;
        const QuantisedPosition q = quantise(e.base);
        e.cell = q.cell;
        e.record.x = q.x, e.record.y = q.y, e.record.z = q.z;
      }
      std::ranges::sort(placed, [](const PlacedEntity& a, const PlacedEntity& b) {
        return std::tie(a.cell, a.record.id) < std::tie(b.cell, b.record.id);
      });
      packed.gather(world, placed);
      PackedRequest request;
      request.head.tick = number(world.tick());
      const OwnPlayer own;
      request.own = &own;
      request.near = packed.near({}, 1000, 2, {}, {});
      request.parts_max = 1;
      if (fights) request.cues = cues;
      REQUIRE(snapshot.lay_out(packed, request, client) == 1);
      const CodedCues told = snapshot.cues();
      REQUIRE(told.bytes <= packed_part_room / 8);
      REQUIRE((told.count > 0) == fights);
      snapshot.note_sent(0, ++sequence, client);
      client.note_fate({sequence, true});
      if (i >= 120) waited[fights ? 1 : 0] = std::max(waited[fights ? 1 : 0], snapshot.waited_ticks());
    }
  }
  CHECK(waited[1] <= waited[0] + waited[0] / 2 + 2);
}
