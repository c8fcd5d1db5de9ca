// Whoever walks from one block into another stays in the picture of a client that knew of him, whichever of
// the two is told first, and whatever is lost; who is gone is gone.

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <tuple>
#include <vector>

#include "client_sim/client/packed_memory.h"
#include "client_sim/client/view.h"
#include "server/host/packed_snapshot.h"
#include "tests/catch.h"
#include "tests/integration/told_part.h"
#include "world/math/random.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

constexpr double rate_hz = 60;
constexpr std::uint32_t fate_ticks = 6;

/// A crowd that runs about, a client that is told of it as far as a narrow path takes it, and what that
/// holds.
struct WalkingCrowd {
  WalkingCrowd(std::uint64_t seed, SnapshotEncoding how, double lost)
      : world(setup()), encoding(how), loss(lost), rng(rng_for(seed, 5)) {
    for (std::uint32_t slot = 1; slot <= 260; ++slot) add(slot);
    memory.reset(60, 1, ReplicationRegistry::builtin_ptr());
    view.reset(60);
  }
  static WorldSetup setup() {
    WorldSetup setup;
    setup.monsters = 0, setup.monsters_max = 1, setup.players_max = 1;
    return setup;
  }
  void add(std::uint32_t slot) {
    PlacedEntity e{};
    e.base = {rng.between(-28, 28), rng.between(-28, 28), 5};
    e.velocity_mps = {rng.between(-6, 6), rng.between(-6, 6), 0};
    e.shape = {0.3, 1.75};
    e.record.id = make_entity_id(slot, 1 + ++born);
    all.push_back(e);
  }
  void move() {
    for (PlacedEntity& e : all) {
      e.base += e.velocity_mps * (1 / rate_hz);
      const bool out = std::max(std::fabs(e.base.x), std::fabs(e.base.y)) > 30;
      if (out || rng.below(90) == 0) {
        e.velocity_mps = {rng.between(-6, 6), rng.between(-6, 6), 0};
        if (out) e.base.x = std::clamp(e.base.x, -30.0, 30.0), e.base.y = std::clamp(e.base.y, -30.0, 30.0);
      }
      const QuantisedPosition q = quantise(e.base);
      e.cell = q.cell;
      e.record.x = q.x, e.record.y = q.y, e.record.z = q.z;
    }
    std::ranges::sort(all, [](const PlacedEntity& a, const PlacedEntity& b) {
      return std::tie(a.cell, a.record.id) < std::tie(b.cell, b.record.id);
    });
  }
  void tick(std::size_t parts_max) {
    world.step({});
    packed.gather(world, all);
    PackedRequest request;
    request.encoding = encoding;
    request.head.tick = number(world.tick());
    const OwnPlayer own;
    request.own = &own;
    request.eye_m = {0, 0, 6};
    request.near = packed.near(request.eye_m, 1000, 2, {}, {});
    request.parts_max = parts_max;
    const std::size_t parts = snapshot.lay_out(packed, request, blocks);
    for (std::size_t part = 0; part < parts; ++part) {
      snapshot.note_sent(part, ++sequence, blocks);
      const bool arrives = rng.unit() >= loss;
      fates.push_back({request.head.tick, {sequence, arrives}});
      if (arrives) testing::told_part(snapshot.part(part), encoding, memory, view);
    }
    for (; !fates.empty() && fates.front().first + fate_ticks <= request.head.tick; fates.pop_front())
      blocks.note_fate(fates.front().second);
  }
  /// Whom the picture has, and by blocks alone.
  std::set<EntityId> pictured() const {
    std::set<EntityId> out;
    view.visit([&out](const EntityRecord& e, CellCoord, std::uint32_t) { out.insert(e.id); });
    return out;
  }
  std::set<EntityId> in_blocks() const {
    std::set<EntityId> out;
    for (const client_sim::ViewCell& cell : view.cells())
      for (const EntityRecord& e : cell.now.entities) out.insert(e.id);
    return out;
  }

  World world;
  SnapshotEncoding encoding;
  double loss;
  Rng rng;
  std::uint32_t born = 0;
  std::vector<PlacedEntity> all;
  PackedWorld packed{60, 1};
  PackedSnapshot snapshot;
  ClientBlocks blocks;
  std::uint64_t sequence = 0;
  std::deque<std::pair<std::uint32_t, Connection::Fate>> fates;
  client_sim::PackedMemory memory;
  client_sim::View view;
};

}  // namespace

TEST_CASE("nobody whom a client knows is out of its picture because he walks, and the dead are",
          "[integration][packed][view]") {
  const auto encoding = GENERATE(SnapshotEncoding::packed, SnapshotEncoding::plain);
  const double loss = GENERATE(0.0, 0.1);
  CAPTURE(static_cast<int>(encoding), loss);
  WalkingCrowd crowd(11, encoding, loss);
  const std::size_t parts = encoding == SnapshotEncoding::packed ? 1 : 2;
  std::set<EntityId> known;
  std::deque<std::pair<int, EntityId>> dead;
  std::size_t vanished = 0, would_have = 0, ghosts = 0;
  for (int i = 0; i < 600; ++i) {
    crowd.move();
    if (i % 7 == 0) {  // somebody dies, and somebody else comes
      const std::size_t at = crowd.rng.below(static_cast<std::uint32_t>(crowd.all.size()));
      dead.push_back({i, crowd.all[at].record.id});
      known.erase(crowd.all[at].record.id);
      const std::uint32_t slot = slot_of(crowd.all[at].record.id);
      crowd.all.erase(crowd.all.begin() + static_cast<std::ptrdiff_t>(at));
      crowd.add(slot);
      continue;
    }
    crowd.tick(parts);
    const std::set<EntityId> pictured = crowd.pictured(), in_blocks = crowd.in_blocks();
    for (const EntityId id : known) {
      vanished += pictured.contains(id) ? 0 : 1;
      would_have += in_blocks.contains(id) ? 0 : 1;
    }
    for (const PlacedEntity& e : crowd.all)
      if (pictured.contains(e.record.id)) known.insert(e.record.id);
    for (; !dead.empty() && dead.front().first + 60 < i; dead.pop_front())
      ghosts += pictured.contains(dead.front().second) ? 1 : 0;
  }
  CHECK(known.size() > 200);
  CHECK(vanished == 0);
  CHECK(would_have > 0);
  CHECK(ghosts == 0);
}
