// From the server's world to a client's view by snapshots of either encoding, over a link that loses,
// overtakes and doubles.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "client_sim/client/packed_memory.h"
#include "client_sim/client/view.h"
#include "protocol/decode.h"
#include "server/host/packed_snapshot.h"
#include "tests/catch.h"
#include "world/math/random.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;
using client_sim::PackedMemory;
using client_sim::View;
using client_sim::ViewCell;
using client_sim::ViewEntity;

namespace {

using PackedTruth = std::map<EntityId, std::pair<CellCoord, EntityRecord>>;

/// Who walks, stands, comes, goes and comes again under the same slot, some 40 m around a point where cells
/// meet.
class PackedScene {
 public:
  PackedScene(Rng& rng, std::uint32_t people, double half_m) : rng_(rng), half_m_(half_m) {
    for (std::uint32_t i = 0; i < people; ++i) people_.push_back({});
    for (std::uint32_t i = 0; i < people; ++i) spawn(i);
  }
  void step(bool calm = false) {
    for (std::uint32_t i = 0; i < people_.size(); ++i) {
      Person& p = people_[i];
      if (calm) continue;
      if (rng_.below(300) == 0) p.there ? void(p.there = false) : spawn(i);
      if (rng_.below(400) == 0) p.base = place();
      if (rng_.below(40) == 0) p.velocity = rng_.below(2) == 0 ? DVec3{} : walk();
      p.base += p.velocity * (1.0 / 60);
      if (rng_.below(200) == 0) p.health = static_cast<std::uint8_t>(rng_.next_u32());
    }
  }
  std::vector<PlacedEntity> placed() const {
    std::vector<PlacedEntity> out;
    for (std::uint32_t i = 0; i < people_.size(); ++i) {
      const Person& p = people_[i];
      if (!p.there) continue;
      const QuantisedPosition q = quantise(p.base);
      PlacedEntity e{q.cell, {}, p.base, p.velocity, {0.3, 1.75}};
      e.record.id = make_entity_id(i, p.generation);
      e.record.x = q.x, e.record.y = q.y, e.record.z = q.z;
      e.record.health = p.health;
      out.push_back(e);
    }
    std::ranges::sort(out, [](const PlacedEntity& a, const PlacedEntity& b) {
      return std::tie(a.cell, a.record.id) < std::tie(b.cell, b.record.id);
    });
    return out;
  }
  DVec3 middle() const { return {0, 0, 10}; }

 private:
  struct Person {
    bool there = false;
    std::uint32_t generation = 0;
    DVec3 base, velocity;
    std::uint8_t health = 255;
  };
  DVec3 place() {
    DVec3 at{0, 0, 10};
    at.x = rng_.between(-half_m_, half_m_);
    at.y = rng_.between(-half_m_, half_m_);
    return at;
  }
  DVec3 walk() {
    DVec3 v;
    v.x = rng_.between(-6, 6);
    v.y = rng_.between(-6, 6);
    return v;
  }
  void spawn(std::uint32_t i) {
    Person& p = people_[i];
    p.there = true;
    p.generation = next_generation(p.generation);
    p.base = place();
    p.velocity = walk();
  }
  Rng& rng_;
  double half_m_;
  std::vector<Person> people_;
};

PackedTruth packed_truth(const std::vector<PlacedEntity>& placed) {
  PackedTruth out;
  for (const PlacedEntity& e : placed) out[e.record.id] = {e.cell, e.record};
  return out;
}

struct PackedLink {
  double loss = 0;
  std::uint32_t delay_max = 4;  // ticks, of each packet for itself: they overtake one another
  double doubles = 0;
  SnapshotEncoding encoding = SnapshotEncoding::packed;
};

/// One client, its view, and the packets on their way to it.
struct PackedViewer {
  ClientBlocks held;
  PackedMemory memory;
  View view;
  struct Packet {
    std::uint32_t due = 0;
    std::uint64_t sequence = 0;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<Packet> on_the_way;
  // What the next acknowledgement tells: it names all that came until then, as a connection's does.
  std::vector<Connection::Fate> fates;
  std::set<std::uint64_t> heard;
  std::uint64_t next_sequence = 1, bytes = 0;

  std::map<std::uint64_t, std::vector<EntityId>> members, told_members;  // who they were by these numbers

  PackedViewer() {
    memory.reset(60, 1);
    view.reset(60);
  }
};

/// The same number means the same entities, whatever was lost, late or told anew.
void check_members(PackedViewer& viewer) {
  for (const ViewCell& cell : viewer.view.cells()) {
    std::vector<EntityId> ids;
    for (const EntityRecord& e : cell.now.entities) ids.push_back(e.id);
    const auto holds = [&](auto& known, std::uint64_t number) {
      return known.try_emplace(number, ids).first->second == ids;
    };
    REQUIRE(holds(viewer.members, cell.members));
    if (cell.told_members != 0) REQUIRE(holds(viewer.told_members, cell.told_members));
  }
}

class PackedPlay {
 public:
  PackedPlay(std::uint64_t seed, std::uint32_t people, double half_m)
      : rng_(rng_for(seed, 1)), scene_(rng_, people, half_m), world_([] {
          WorldSetup setup;
          setup.monsters = 0;
          setup.monsters_max = 1;
          setup.players_max = 1;
          return setup;
        }()) {}

  void tick(std::span<PackedViewer> viewers, const PackedLink& link, std::size_t parts_max,
            bool calm = false) {
    world_.step({});
    scene_.step(calm);
    const auto placed = scene_.placed();
    packed.gather(world_, placed);
    const std::uint32_t now = number(world_.tick());
    truth[now] = packed_truth(placed);
    for (PackedViewer& viewer : viewers) {
      send(viewer, now, link, parts_max);
      hear(viewer, now, link);
    }
  }
  std::uint32_t now() const { return number(world_.tick()); }
  const PackedTruth& at(std::uint32_t tick) const { return truth.at(tick); }

  PackedWorld packed{60, 1};
  std::map<std::uint32_t, PackedTruth> truth;

 private:
  void send(PackedViewer& viewer, std::uint32_t now, const PackedLink& link, std::size_t parts_max) {
    PackedRequest request;
    request.head.tick = now;
    const OwnPlayer own;
    request.own = &own;
    request.encoding = link.encoding;
    request.near = packed.near(scene_.middle(), 1000, 2, {}, {});
    request.parts_max = parts_max;
    const std::size_t parts = snapshot_.lay_out(packed, request, viewer.held);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::uint64_t sequence = viewer.next_sequence++;
      snapshot_.note_sent(part, sequence, viewer.held);
      const auto bytes = snapshot_.part(part);
      viewer.bytes += bytes.size();
      const bool lost = rng_.unit() < link.loss;
      const std::uint32_t due = now + 1 + rng_.below(link.delay_max);
      if (!lost) viewer.on_the_way.push_back({due, sequence, {bytes.begin(), bytes.end()}});
      if (!lost && rng_.unit() < link.doubles)
        viewer.on_the_way.push_back({due + rng_.below(9), sequence, {bytes.begin(), bytes.end()}});
      if (lost) viewer.fates.push_back({sequence, false});
    }
  }
  void hear(PackedViewer& viewer, std::uint32_t now, const PackedLink& link) {
    std::ranges::sort(viewer.on_the_way, {},
                      [](const PackedViewer::Packet& p) { return std::tuple(p.due, p.sequence); });
    while (!viewer.on_the_way.empty() && viewer.on_the_way.front().due <= now) {
      const auto packet = viewer.on_the_way.front();
      viewer.on_the_way.erase(viewer.on_the_way.begin());
      SnapshotPart part;
      if (auto reader = PackedPartReader::open(packet.bytes)) {
        REQUIRE(viewer.memory.take(*reader, viewer.view, part));
      } else {
        const auto message = decode_server_message(packet.bytes);
        REQUIRE(message.has_value());
        REQUIRE(viewer.memory.take(std::get<PlainPart>(*message), viewer.view, part));
      }
      viewer.view.take(part);
      check_members(viewer);
      if (viewer.heard.insert(packet.sequence).second) viewer.fates.push_back({packet.sequence, true});
    }
    if (link.delay_max > 1 && rng_.below(link.delay_max) != 0) return;
    for (const Connection::Fate& fate : viewer.fates) viewer.held.note_fate(fate);
    viewer.fates.clear();
  }

  Rng rng_;
  PackedScene scene_;
  World world_;
  PackedSnapshot snapshot_;
};

/// Whatever is held was so at its tick.
void check_true(const PackedViewer& viewer, const PackedPlay& play) {
  for (const ViewCell& cell : viewer.view.cells())
    for (const EntityRecord& e : cell.now.entities) {
      CAPTURE(cell.now.tick, cell.block);
      const auto it = play.at(cell.now.tick).find(e.id);
      REQUIRE(it != play.at(cell.now.tick).end());
      REQUIRE(it->second.first == cell.cell);
      REQUIRE(tells(e, it->second.second));
    }
}

/// Who cannot read on, as its acknowledgements told less or other than what came, asks for all anew.
void ask_anew(std::span<PackedViewer> viewers) {
  for (PackedViewer& viewer : viewers)
    if (viewer.memory.lost_epoch() == viewer.held.epoch()) viewer.held.reset();
}

/// Everybody, and nobody else, as they are now.
void check_whole(const PackedViewer& viewer, const PackedPlay& play) {
  std::vector<ViewEntity> seen;
  viewer.view.entities(seen);
  const PackedTruth& truth = play.at(play.now());
  REQUIRE(seen.size() == truth.size());
  for (const ViewEntity& e : seen) REQUIRE(tells(e.record, truth.at(e.record.id).second));
}

}  // namespace

TEST_CASE("what snapshots tell is true at every tick and whole when the link is calm again",
          "[integration][packed]") {
  const auto encoding = GENERATE(SnapshotEncoding::plain, SnapshotEncoding::packed);
  auto link = GENERATE(PackedLink{0, 1, 0}, PackedLink{0.05, 4, 0.05}, PackedLink{0.3, 12, 0.2},
                       PackedLink{0.8, 30, 0.5});
  const std::uint32_t people = GENERATE(1u, 30u, 250u);
  const std::size_t parts_max = GENERATE(1u, 16u);
  CAPTURE(link.loss, people, parts_max);
  link.encoding = encoding;
  PackedPlay play(people + parts_max, people, 40);
  std::vector<PackedViewer> viewers(2);
  for (int tick = 0; tick < 400; ++tick) {
    play.tick(viewers, link, parts_max);
    for (const PackedViewer& viewer : viewers) {
      if (tick % 5 == 0) check_true(viewer, play);
      // Loss alone never makes anything unreadable.
      REQUIRE(viewer.memory.lost_epoch() == 0);
    }
  }
  for (int tick = 0; tick < 120; ++tick) play.tick(viewers, {0, 1, 0, encoding}, parts_max, true);
  for (const PackedViewer& viewer : viewers) check_whole(viewer, play);
}

TEST_CASE("what nobody changes costs nothing once it is held", "[integration][packed]") {
  const auto encoding = GENERATE(SnapshotEncoding::plain, SnapshotEncoding::packed);
  PackedPlay play(5, 100, 40);
  std::vector<PackedViewer> viewers(1);
  for (int tick = 0; tick < 100; ++tick) play.tick(viewers, {0, 1, 0, encoding}, 16, true);
  const std::uint64_t before = viewers[0].bytes;
  for (int tick = 0; tick < 60; ++tick) play.tick(viewers, {0, 1, 0, encoding}, 16, true);
  // Heads alone: those of FlatBuffers are larger.
  CHECK(viewers[0].bytes - before <= 60 * (encoding == SnapshotEncoding::packed ? 24 : 100));
  check_whole(viewers[0], play);
}

TEST_CASE("clients that hold the same share what is coded", "[integration][packed]") {
  const auto encoding = GENERATE(SnapshotEncoding::plain, SnapshotEncoding::packed);
  PackedPlay play(6, 200, 40);
  std::vector<PackedViewer> viewers(20);
  for (int tick = 0; tick < 100; ++tick) play.tick(viewers, {0, 1, 0, encoding}, 16);
  const std::uint64_t before = play.packed.frames().codings();
  for (int tick = 0; tick < 50; ++tick) play.tick(viewers, {0, 1, 0, encoding}, 16);
  CHECK(play.packed.frames().codings() - before <= 50 * 3 * play.packed.frames().blocks().size());
}

TEST_CASE("who acknowledges nothing, or what it never got, harms itself alone", "[integration][packed]") {
  const auto encoding = GENERATE(SnapshotEncoding::plain, SnapshotEncoding::packed);
  PackedPlay play(7, 60, 40);
  std::vector<PackedViewer> viewers(3);
  Rng rng = rng_for(7, 2);
  int lacking = 0;
  for (int tick = 0; tick < 400; ++tick) {
    viewers[1].fates.clear();
    for (Connection::Fate& fate : viewers[2].fates)
      if (rng.below(2) == 0)
        fate.acked = true;
      else
        fate = {1 + rng.below(4000), rng.below(2) == 0};
    play.tick(viewers, {0.05, 3, 0, encoding}, 16);
    check_true(viewers[0], play);
    REQUIRE(viewers[0].memory.lost_epoch() == 0);
    REQUIRE(viewers[0].memory.whole());
    lacking += viewers[2].memory.whole() ? 0 : 1;
    REQUIRE(viewers[0].held.memory_bytes() <= 64 * 1024);
    ask_anew(viewers);
  }
  // What comes whole and cannot be read is not what there was at its tick.
  CHECK(lacking > 0);
  for (int tick = 0; tick < 120; ++tick) {
    play.tick(viewers, {0, 1, 0, encoding}, 16, true);
    ask_anew(viewers);
  }
  check_whole(viewers[0], play);
  check_whole(viewers[1], play);
  // Who says that it holds what it never got is not told that again: what it does hold is true.
  check_true(viewers[2], play);
}
