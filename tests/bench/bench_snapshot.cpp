// bench_snapshot [SECONDS]: what packed snapshots cost: bits an entity and update with the heads of their
// blocks, on four scenes, over a line that loses, with acknowledgements 100 ms after a packet went; ns to
// code an entity.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <tuple>
#include <vector>

#include "server/host/packed_snapshot.h"
#include "tests/bench/timing.h"
#include "world/math/random.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

constexpr double ack_s = 0.1;

/// Somebody of a scene, and whether it moved in the last tick.
struct Body3 {
  EntityId id{};
  EntityKind kind{};
  DVec3 at, velocity;
  double yaw = 0, pitch = 0, turn = 0;
  std::uint8_t health = 255, state = 0;
  bool moved = false;
};

/// How those of a scene behave.
struct Scene {
  const char* name;
  std::uint32_t rate_hz;
  std::uint32_t count;
  double half_m;
  void (*tick)(Body3&, Rng&, double dt_s);
};

void stay_within(Body3& b, double half_m) {
  for (double DVec3::* axis : {&DVec3::x, &DVec3::y})
    if (std::fabs(b.at.*axis) > half_m && b.at.*axis * b.velocity.*axis > 0)
      b.velocity.*axis = -(b.velocity.*axis);
}

DVec3 heading(Rng& rng, double speed_mps) {
  const double x = rng.between(-1, 1), y = rng.between(-1, 1);
  const double size = std::sqrt(x * x + y * y) + 1e-9;
  return {speed_mps * x / size, speed_mps * y / size, 0};
}

/// Runs, turns its head, and takes another way every second or so.
void walk(Body3& b, Rng& rng, double dt_s) {
  if (rng.unit() < dt_s) b.velocity = heading(rng, 6);
  if (rng.unit() < dt_s) b.turn = rng.between(-0.6, 0.6);
  b.yaw += b.turn * dt_s;
}

/// Strafes, jumps, aims up and down, is hurt.
void fight(Body3& b, Rng& rng, double dt_s) {
  if (rng.unit() < 3 * dt_s) {
    const double up = b.velocity.z;
    b.velocity = heading(rng, rng.below(5) == 0 ? 0 : 6);
    b.velocity.z = up;
  }
  if (b.at.z > 10) b.velocity.z -= 20 * dt_s;
  if (b.at.z <= 10) b.at.z = 10, b.velocity.z = rng.unit() < 0.5 * dt_s ? 7 : 0;
  if (rng.unit() < 3 * dt_s) b.turn = rng.between(-3, 3);
  b.yaw += b.turn * dt_s;
  if (rng.unit() < 2 * dt_s) b.pitch = rng.between(-0.1, 0.1);
  if (rng.unit() < dt_s) b.health = static_cast<std::uint8_t>(rng.below(256));
  if (rng.unit() < dt_s) b.state = static_cast<std::uint8_t>(rng.below(4));
}

/// Stands; now and then walks a few steps.
void idle(Body3& b, Rng& rng, double dt_s) {
  const bool walks = b.velocity != DVec3{};
  if (walks && rng.unit() < dt_s) b.velocity = {};
  if (!walks && rng.unit() < dt_s / 20) b.velocity = heading(rng, 3);
}

/// Falls, bounces, is knocked about, and turns around itself all the while.
void tumble(Body3& b, Rng& rng, double dt_s) {
  b.velocity.z -= 10 * dt_s;
  if (b.at.z <= 10 && b.velocity.z < 0) b.velocity.z *= -0.8, b.turn = rng.between(-4, 4);
  if (rng.unit() < dt_s) b.velocity = b.velocity + DVec3{rng.between(-4, 4), 0, rng.between(0, 6)};
  if (rng.unit() < dt_s) b.velocity.y = rng.between(-4, 4);
  b.yaw += b.turn * dt_s;
  b.pitch = 0.24 * std::sin(3 * b.yaw);
}

constexpr std::array<Scene, 4> scenes{{{"walking", 60, 64, 32, walk},
                                       {"fight", 60, 64, 32, fight},
                                       {"idle", 60, 200, 32, idle},
                                       {"tumbling", 30, 250, 16, tumble}}};

class Play {
 public:
  Play(const Scene& scene, std::uint64_t seed)
      : scene_(scene), rng_(rng_for(seed, 3)), packed(scene.rate_hz, 1) {
    for (std::uint32_t i = 0; i < scene.count; ++i) {
      Body3 b;
      b.id = make_entity_id(i + 1, 1);
      b.kind = i % 2 == 0 ? EntityKind::player : entity_kind(MonsterKind::imp);
      b.at = {rng_.between(-scene.half_m, scene.half_m), rng_.between(-scene.half_m, scene.half_m), 10};
      if (scene.tick != idle) b.velocity = heading(rng_, 6);
      bodies_.push_back(b);
    }
  }
  void step() {
    const double dt_s = 1.0 / scene_.rate_hz;
    for (Body3& b : bodies_) {
      scene_.tick(b, rng_, dt_s);
      stay_within(b, scene_.half_m);
      const DVec3 before = b.at;
      b.at = b.at + b.velocity * dt_s;
      b.moved = dot(b.at - before, b.at - before) > 1e-12;
      moved_ += b.moved ? 1 : 0;
    }
  }
  std::vector<PlacedEntity> placed() const {
    std::vector<PlacedEntity> out;
    for (const Body3& b : bodies_) {
      const QuantisedPosition q = quantise(b.at);
      PlacedEntity e{q.cell, {}, b.at, b.velocity, {0.3, 1.75}};
      e.record.id = b.id;
      e.record.kind = b.kind;
      e.record.x = q.x, e.record.y = q.y, e.record.z = q.z;
      const auto turn = [](double turns) {
        return static_cast<std::uint8_t>(static_cast<int>(std::floor((turns - std::floor(turns)) * 256)));
      };
      e.record.yaw = turn(b.yaw);
      e.record.pitch = static_cast<std::int8_t>(std::clamp(b.pitch * 256, -64.0, 64.0));
      e.record.health = b.health, e.record.state = b.state;
      out.push_back(e);
    }
    std::ranges::sort(out, [](const PlacedEntity& a, const PlacedEntity& b) {
      return std::tie(a.cell, a.record.id) < std::tie(b.cell, b.record.id);
    });
    return out;
  }
  std::uint64_t moved() const { return moved_; }
  std::uint64_t count() const { return bodies_.size(); }

 private:
  const Scene& scene_;
  Rng rng_;
  std::vector<Body3> bodies_;
  std::uint64_t moved_ = 0;

 public:
  PackedWorld packed;
};

struct Result {
  double bits_moving = 0, bits_all = 0, plain_bits = 0, encode_ns = 0, moving_share = 0;
};

/// Bytes of blocks in a part, their heads among them.
std::size_t block_bytes_of(std::span<const std::uint8_t> part) {
  auto reader = PackedPartReader::open(part);
  std::size_t sum = 0;
  for (std::size_t left = reader->bytes_left(); const auto entry = reader->next();
       left = reader->bytes_left())
    if (entry->item == PackedItem::blocks || entry->item == PackedItem::gone)
      sum += left - reader->bytes_left();
  return sum;
}

/// Codes all blocks against what they were 100 ms ago, again and again.
double encode_ns(Play& play, const Scene& scene, std::uint64_t moving) {
  std::array<std::uint8_t, coded_block_bytes_max> out{};
  BlockFrames& frames = play.packed.frames();
  const auto age = static_cast<std::uint32_t>(ack_s * scene.rate_hz);
  constexpr int rounds = 300;
  std::size_t bytes = 0;
  const bench::Spread spread = bench::measure(
      [&] {
        for (int round = 0; round < rounds; ++round)
          for (const FrameBlock& block : frames.blocks()) {
            const auto base = frames.at(block, frames.tick() - age);
            if (!base) continue;
            bytes +=
                encode_block({block.cell, frames.entities(block)}, {age, *base, false}, scene.rate_hz, out);
          }
      },
      1e-9 * rounds * static_cast<double>(std::max<std::uint64_t>(moving, 1)));
  return bytes > 0 ? spread.median : 0;
}

Result run(const Scene& scene, double loss, double seconds) {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.monsters = 0, setup.monsters_max = 1, setup.players_max = 1;
  World world(setup);
  Play play(scene, 7);
  PackedSnapshot snapshot;
  ClientBlocks client;
  Rng line = rng_for(11, 4);
  struct Fate {
    std::uint32_t due;
    std::uint64_t sequence;
  };
  std::deque<Fate> fates;
  std::uint64_t sequence = 1, bytes = 0, updates = 0, plain_bytes = 0, moved_before = 0;
  const auto ticks = static_cast<std::uint32_t>(seconds * scene.rate_hz);
  const auto ack_ticks = static_cast<std::uint32_t>(ack_s * scene.rate_hz);
  const std::uint32_t warm = 2 * scene.rate_hz;
  std::uint64_t moved_last = 0;
  for (std::uint32_t i = 0; i < warm + ticks; ++i) {
    world.step({});
    const std::uint64_t moved_until = play.moved();
    play.step();
    moved_last = play.moved() - moved_until;
    if (i == warm) moved_before = moved_until;
    const auto placed = play.placed();
    play.packed.gather(world, placed);
    while (!fates.empty() && fates.front().due <= i) {
      Connection::Fate fate{};
      fate.sequence = fates.front().sequence;
      fate.acked = true;
      client.note_fate(fate);
      fates.pop_front();
    }
    PackedRequest request;
    request.head.tick = number(world.tick());
    const OwnPlayer own;
    request.own = &own;
    request.near = play.packed.near({0, 0, 10}, 1000, 2, {}, {});
    request.parts_max = packed_parts_max;
    request.tick_rate_hz = scene.rate_hz;
    const std::size_t parts = snapshot.lay_out(play.packed, request, client);
    for (std::size_t part = 0; part < parts; ++part) {
      snapshot.note_sent(part, sequence, client);
      if (i >= warm) bytes += block_bytes_of(snapshot.part(part));
      if (line.unit() >= loss) fates.push_back({i + ack_ticks, sequence});
      ++sequence;
    }
    if (i < warm) continue;
    updates += play.count();
    std::size_t cells = 0;
    for (std::size_t e = 0; e < placed.size(); ++e)
      cells += e == 0 || placed[e].cell != placed[e - 1].cell ? 1 : 0;
    plain_bytes += cells * block_bytes(0) + placed.size() * sizeof(EntityRecord);
  }
  const auto moved = static_cast<double>(play.moved() - moved_before);
  Result out;
  out.bits_moving = 8.0 * static_cast<double>(bytes) / std::max(moved, 1.0);
  out.bits_all = 8.0 * static_cast<double>(bytes) / static_cast<double>(updates);
  out.plain_bits = 8.0 * static_cast<double>(plain_bytes) / static_cast<double>(updates);
  out.moving_share = moved / static_cast<double>(updates);
  out.encode_ns = encode_ns(play, scene, moved_last);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 20;
  if (!(seconds >= 1 && seconds <= 600)) {
    std::fprintf(stderr, "bench_snapshot: SECONDS is a number from 1 to 600\n");
    return 2;
  }
  std::printf("%-10s %5s %6s %13s %12s %11s %12s\n", "scene", "loss", "moving", "bits a moving",
              "bits an any", "plain bits", "ns a moving");
  for (const Scene& scene : scenes)
    for (const double loss : {0.0, 0.05, 0.2}) {
      const Result r = run(scene, loss, seconds);
      std::printf("%-10s %4.0f %% %5.0f%% %13.1f %12.2f %11.1f %12.0f\n", scene.name, 100 * loss,
                  100 * r.moving_share, r.bits_moving, r.bits_all, r.plain_bits, r.encode_ns);
    }
  return 0;
}
