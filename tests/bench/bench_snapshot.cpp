// bench_snapshot [SECONDS [SCENE]]: what packed snapshots cost, and plain ones beside them: bits an entity
// and update with the heads of their blocks, over a line that loses, with acknowledgements 100 ms after a
// packet went; what these bits are for; ns to code and to read an entity. A match is one of the real world:
// players who run, strafe, jump, aim, shoot and are hurt. In a pile bodies lie until one that rolls through
// knocks them about. The others are made up, some of them wilder than anything that is played.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <tuple>
#include <vector>

#include "protocol/decode.h"
#include "server/host/packed_snapshot.h"
#include "server/host/replicator.h"
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
  void (*tick)(Body3&, Rng&, double dt_s);  ///< null: players of the world
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

/// Lies, or rolls on and bounces until it lies: the first one rolls for ever and knocks the others about.
void lie(Body3& b, Rng& rng, double dt_s) {
  const double speed_mps = std::sqrt(b.velocity.x * b.velocity.x + b.velocity.y * b.velocity.y);
  const bool flies = b.at.z > 10 || b.velocity.z > 0;
  if (flies) b.velocity.z -= 10 * dt_s;
  if (b.at.z <= 10 && b.velocity.z < 0)
    b.at.z = 10, b.velocity.z = b.velocity.z < -1 ? -0.4 * b.velocity.z : 0;
  if (!flies && slot_of(b.id) != 1) {
    const double slower = std::max(0.0, 1 - 3 * dt_s / std::max(speed_mps, 1e-9));
    b.velocity.x *= slower, b.velocity.y *= slower;
  }
  if (slot_of(b.id) == 1 && rng.unit() < dt_s) b.velocity = heading(rng, 5);
  // What rolls turns as fast as it goes: half a metre of radius.
  constexpr double turns_per_m = 1 / (2 * 3.14159 * 0.5);
  b.yaw += b.turn * speed_mps * turns_per_m * dt_s;
  b.pitch += (1 - std::fabs(b.turn)) * speed_mps * turns_per_m * dt_s;
  if (std::fabs(b.pitch) > 0.25) b.pitch = 0.5 * (b.pitch > 0 ? 1 : -1) - b.pitch, b.turn = -b.turn;
}

void knock(std::vector<Body3>& bodies, Rng& rng) {
  for (Body3& b : bodies) {
    if (b.id == bodies[0].id) continue;
    const DVec3 off = b.at - bodies[0].at;
    if (dot(off, off) > 1 || dot(b.velocity, b.velocity) > 4) continue;
    b.velocity = off * rng.between(2, 5) + bodies[0].velocity * 0.5;
    b.velocity.z = rng.between(0, 3);
    b.turn = rng.between(-1, 1);
  }
}

constexpr std::array<Scene, 6> scenes{{{"walking", 60, 64, 32, walk},
                                       {"match", 60, 64, 32, nullptr},
                                       {"fight", 60, 64, 32, fight},
                                       {"idle", 60, 200, 32, idle},
                                       {"pile", 30, 250, 8, lie},
                                       {"tumbling", 30, 250, 16, tumble}}};

/// A player of a match: goes after another one, strafes, jumps now and then, and shoots at it.
struct Fighter {
  EntityId id{};
  std::uint32_t target = 0;
  double yaw = 0, pitch = 0, error = 0;  ///< turns
  double forward = 1, left = 0;
};

class Play {
 public:
  Play(const Scene& scene, std::uint64_t seed)
      : scene_(scene), rng_(rng_for(seed, 3)), world(setup_of(scene)), packed(scene.rate_hz, 1) {
    for (std::uint32_t i = 0; scene.tick != nullptr && i < scene.count; ++i) {
      Body3 b;
      b.id = make_entity_id(i + 1, 1);
      b.kind = i % 2 == 0 ? EntityKind::player : entity_kind(MonsterKind::imp);
      b.at = {rng_.between(-scene.half_m, scene.half_m), rng_.between(-scene.half_m, scene.half_m), 10};
      if (scene.tick != idle && scene.tick != lie) b.velocity = heading(rng_, 6);
      bodies_.push_back(b);
    }
    if (scene.tick != nullptr) return;
    std::vector<std::uint32_t> tokens(scene.count);
    for (std::uint32_t i = 0; i < scene.count; ++i) tokens[i] = i + 1;
    world.step({.joins = tokens,
                .leaves = {},
                .commands = {},
                .admin = {},
                .edits = {},
                .chunks_ready = {},
                .chunks_dropped = {}});
    fighters_.reserve(scene.count);
    for (const Joined& joined : world.joined()) fighters_.push_back({.id = joined.id});
  }
  void step() {
    was_.clear();
    for (const PlacedEntity& e : placed_) was_.push_back({e.record.id, e.base});
    std::ranges::sort(was_, {}, &Was::id);
    if (scene_.tick == nullptr)
      step_match();
    else
      step_bodies();
    for (const PlacedEntity& e : placed_) {
      const auto was = std::ranges::lower_bound(was_, e.record.id, {}, &Was::id);
      const bool known = was != was_.end() && was->id == e.record.id;
      const DVec3 off = known ? e.base - was->at : DVec3{1, 0, 0};
      moved_ += dot(off, off) > 1e-12 ? 1 : 0;
    }
    packed.gather(world, placed_);
  }
  std::span<const PlacedEntity> placed() const { return placed_; }
  std::uint64_t moved() const { return moved_; }

 private:
  struct Was {
    EntityId id{};
    DVec3 at;
  };

  static WorldSetup setup_of(const Scene& scene) {
    WorldSetup setup;
    setup.terrain = TerrainKind::flat;
    setup.monsters = 0, setup.monsters_max = 1, setup.players_max = scene.tick == nullptr ? scene.count : 1;
    setup.spawn.radius_m = scene.half_m;
    setup.rules.tick_rate_hz = static_cast<std::uint16_t>(scene.rate_hz);
    setup.rules.friendly_fire = Switch::on;
    return setup;
  }

  void step_bodies() {
    world.step({});
    const double dt_s = 1.0 / scene_.rate_hz;
    if (scene_.tick == lie) knock(bodies_, rng_);
    placed_.clear();
    for (Body3& b : bodies_) {
      scene_.tick(b, rng_, dt_s);
      stay_within(b, scene_.half_m);
      b.at = b.at + b.velocity * dt_s;
      placed_.push_back(placed_of(b));
    }
    std::ranges::sort(placed_, [](const PlacedEntity& a, const PlacedEntity& b) {
      return std::tie(a.cell, a.record.id) < std::tie(b.cell, b.record.id);
    });
  }

  static PlacedEntity placed_of(const Body3& b) {
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
    e.record.flags = b.at.z <= 10 && b.velocity.z <= 0 ? entity_flag::grounded : std::uint8_t{0};
    return e;
  }

  void step_match() {
    const double dt_s = 1.0 / scene_.rate_hz;
    std::vector<PlayerInput> inputs;
    for (Fighter& f : fighters_) inputs.push_back({f.id, command_of(f, dt_s)});
    world.step({.joins = {},
                .leaves = {},
                .commands = inputs,
                .admin = {},
                .edits = {},
                .chunks_ready = {},
                .chunks_dropped = {}});
    replicator_.gather(world);
    placed_.assign(replicator_.placed().begin(), replicator_.placed().end());
    std::ranges::sort(placed_, [](const PlacedEntity& a, const PlacedEntity& b) {
      return std::tie(a.cell, a.record.id) < std::tie(b.cell, b.record.id);
    });
  }

  const PlacedEntity* find(EntityId id) const {
    const auto it = std::ranges::find(placed_, id, [](const PlacedEntity& e) { return e.record.id; });
    return it == placed_.end() ? nullptr : &*it;
  }

  /// A hand that turns at most a full turn a second towards what it aims at, and misses by some degrees.
  PlayerCommand command_of(Fighter& f, double dt_s) {
    if (rng_.unit() < dt_s / 3) f.target = rng_.below(static_cast<std::uint32_t>(fighters_.size()));
    if (rng_.unit() < 2 * dt_s) f.left = static_cast<double>(rng_.below(3)) - 1;
    if (rng_.unit() < dt_s) f.forward = rng_.below(4) == 0 ? 0 : (rng_.below(4) == 0 ? -1 : 1);
    if (rng_.unit() < 4 * dt_s) f.error = rng_.between(-0.03, 0.03);
    const PlacedEntity* const self = find(f.id);
    const PlacedEntity* const other = find(fighters_[f.target].id);
    PlayerCommand c;
    if (self != nullptr && other != nullptr && self != other) {
      const DVec3 off = other->base - self->base;
      const double wish = std::atan2(off.y, off.x) / (2 * 3.14159265) + f.error;
      double way = wish - f.yaw;
      way -= std::floor(way + 0.5);
      f.yaw += std::clamp(8 * way * dt_s, -dt_s, dt_s);
      const double up = std::atan2(off.z, std::sqrt(off.x * off.x + off.y * off.y)) / (2 * 3.14159265);
      f.pitch += std::clamp(8 * (up - f.pitch) * dt_s, -dt_s, dt_s);
      if (std::fabs(way) < 0.05) c.buttons = button::attack;
    }
    if (rng_.unit() < 0.7 * dt_s) c.buttons = static_cast<std::uint16_t>(c.buttons | button::jump);
    const auto steps = [](double turns) {
      return Turn16{static_cast<std::uint16_t>(static_cast<int>((turns - std::floor(turns)) * 65535))};
    };
    c.yaw = steps(f.yaw), c.pitch = steps(f.pitch);
    c.forward = f.forward, c.left = f.left;
    return c;
  }

  const Scene& scene_;
  Rng rng_;
  std::vector<Body3> bodies_;
  std::vector<Fighter> fighters_;
  std::vector<PlacedEntity> placed_;
  std::vector<Was> was_;
  std::uint64_t moved_ = 0;
  Replicator replicator_;

 public:
  World world;
  PackedWorld packed;
};

/// Where the bits of blocks went.
struct Split final : BlockTally {
  void frame(unsigned bits) override { frame_bits += bits; }
  void field(EntityKind, BlockField field, unsigned bits) override {
    fields[static_cast<std::size_t>(field)] += bits;
  }
  void entity(EntityKind, bool whole) override { wholes += whole ? 1 : 0; }
  void block(CellCoord, std::size_t) override { ++blocks; }
  std::uint64_t frame_bits = 0, wholes = 0, blocks = 0;
  std::array<std::uint64_t, block_field_count> fields{};
};

struct Result {
  double bits_moving = 0, bits_all = 0, bits_idle = 0, plain_bits = 0, encode_ns = 0, decode_ns = 0;
  double moving_share = 0;
  Split split;
  std::uint64_t moved = 0;
};

/// Bytes of blocks in a part, their heads among them.
std::size_t block_bytes_of(std::span<const std::uint8_t> part) {
  auto reader = PackedPartReader::open(part);
  if (!reader) {
    alignas(8) std::array<std::uint8_t, message_bytes_max> whole{};  // as decoders of plain messages want it
    std::ranges::copy(part, whole.begin());
    const auto message = decode_server_message(std::span(whole).first(part.size()));
    const auto& plain = std::get<PlainPart>(*message);
    return plain.blocks.size_bytes() + plain.entities.size_bytes() + plain.removed.size_bytes() +
           plain.gone.size_bytes();
  }
  std::size_t sum = 0;
  for (std::size_t left = reader->bytes_left(); const auto entry = reader->next();
       left = reader->bytes_left())
    if (entry->item == PackedItem::blocks || entry->item == PackedItem::gone)
      sum += left - reader->bytes_left();
  return sum;
}

/// What the bits of all blocks that changed are for, against what they were 100 ms ago.
void add_split(Play& play, const Scene& scene, Split& split) {
  std::array<std::uint8_t, coded_block_bytes_max> out{};
  const BlockFrames& frames = play.packed.frames();
  const auto age = static_cast<std::uint32_t>(ack_s * scene.rate_hz);
  DecodedBlock decoded;
  for (const FrameBlock& block : frames.blocks()) {
    const auto base = frames.at(block, frames.tick() - age);
    if (block.changed + age <= frames.tick()) continue;
    const BlockBase against = base ? BlockBase{age, *base, false, {}, frames.tick()} : BlockBase{};
    const std::size_t size = encode_block({block.cell, frames.entities(block)}, against, scene.rate_hz, out);
    decode_block(std::span(out).first(size), block.cell, against, scene.rate_hz, decoded, nullptr, &split);
    if (!std::ranges::equal(decoded.entities, frames.entities(block))) std::abort();
  }
}

/// Reads all blocks against what they were 100 ms ago, again and again.
double decode_ns(Play& play, const Scene& scene, std::uint64_t moving) {
  const BlockFrames& frames = play.packed.frames();
  const auto age = static_cast<std::uint32_t>(ack_s * scene.rate_hz);
  std::vector<std::vector<std::uint8_t>> coded;
  std::vector<BlockBase> bases;
  for (const FrameBlock& block : frames.blocks()) {
    const auto base = frames.at(block, frames.tick() - age);
    if (!base) continue;
    bases.push_back({age, *base, false, {}, frames.tick()});
    coded.emplace_back(coded_block_bytes_max);
    coded.back().resize(
        encode_block({block.cell, frames.entities(block)}, bases.back(), scene.rate_hz, coded.back()));
  }
  constexpr int rounds = 300;
  DecodedBlock decoded;
  std::size_t sum = 0;
  const bench::Spread spread = bench::measure(
      [&] {
        for (int round = 0; round < rounds; ++round)
          for (std::size_t i = 0; i < coded.size(); ++i) {
            decode_block(coded[i], {}, bases[i], scene.rate_hz, decoded);
            sum += decoded.entities.size();
          }
      },
      1e-9 * rounds * static_cast<double>(std::max<std::uint64_t>(moving, 1)));
  return sum > 0 ? spread.median : 0;
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
            bytes += encode_block({block.cell, frames.entities(block)},
                                  {age, *base, false, {}, frames.tick()}, scene.rate_hz, out);
          }
      },
      1e-9 * rounds * static_cast<double>(std::max<std::uint64_t>(moving, 1)));
  return bytes > 0 ? spread.median : 0;
}

/// A client of an encoding, whose acknowledgements come late.
class Told {
 public:
  Told(SnapshotEncoding encoding, double loss) : encoding_(encoding), loss_(loss) {}

  /// @return bytes of blocks
  std::size_t tell(Play& play, const Scene& scene, std::uint32_t i) {
    for (; !fates_.empty() && fates_.front().due <= i; fates_.pop_front()) {
      Connection::Fate fate{};
      fate.sequence = fates_.front().sequence;
      fate.acked = true;
      client_.note_fate(fate);
    }
    PackedRequest request;
    request.head.tick = number(play.world.tick());
    request.encoding = encoding_;
    const OwnPlayer own;
    request.own = &own;
    request.near = play.packed.near({0, 0, 10}, 1000, 2, {}, {});
    request.parts_max = snapshot_parts_max;
    request.tick_rate_hz = scene.rate_hz;
    const std::size_t parts = snapshot_.lay_out(play.packed, request, client_);
    std::size_t bytes = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      snapshot_.note_sent(part, sequence_, client_);
      bytes += block_bytes_of(snapshot_.part(part));
      const auto ack_ticks = static_cast<std::uint32_t>(ack_s * scene.rate_hz);
      if (line_.unit() >= loss_) fates_.push_back({i + ack_ticks, sequence_});
      ++sequence_;
    }
    return bytes;
  }

 private:
  struct Fate {
    std::uint32_t due;
    std::uint64_t sequence;
  };
  SnapshotEncoding encoding_;
  double loss_;
  PackedSnapshot snapshot_;
  ClientBlocks client_;
  Rng line_ = rng_for(11, 4);
  std::deque<Fate> fates_;
  std::uint64_t sequence_ = 1;
};

Result run(const Scene& scene, double loss, double seconds) {
  Play play(scene, 7);
  Told packed(SnapshotEncoding::packed, loss), plain(SnapshotEncoding::plain, loss);
  std::uint64_t bytes = 0, updates = 0, plain_bytes = 0, moved_before = 0;
  const auto ticks = static_cast<std::uint32_t>(seconds * scene.rate_hz);
  const std::uint32_t warm = 2 * scene.rate_hz;
  std::uint64_t moved_last = 0;
  Result out;
  for (std::uint32_t i = 0; i < warm + ticks; ++i) {
    const std::uint64_t moved_until = play.moved();
    play.step();
    moved_last = play.moved() - moved_until;
    if (i == warm) moved_before = moved_until;
    const std::size_t told = packed.tell(play, scene, i), told_plainly = plain.tell(play, scene, i);
    if (i < warm) continue;
    add_split(play, scene, out.split);
    updates += play.placed().size();
    bytes += told;
    plain_bytes += told_plainly;
  }
  out.moved = play.moved() - moved_before;
  const auto moved = static_cast<double>(out.moved);
  const double bits = 8.0 * static_cast<double>(bytes);
  std::uint64_t told = 0;
  for (const std::uint64_t field : out.split.fields) told += field;
  out.bits_moving = bits / std::max(moved, 1.0);
  out.bits_all = bits / static_cast<double>(updates);
  out.bits_idle =
      updates > out.moved ? (bits - static_cast<double>(told)) / static_cast<double>(updates - out.moved) : 0;
  out.plain_bits = 8.0 * static_cast<double>(plain_bytes) / std::max(moved, 1.0);
  out.moving_share = moved / static_cast<double>(updates);
  out.encode_ns = encode_ns(play, scene, moved_last);
  out.decode_ns = decode_ns(play, scene, moved_last);
  return out;
}

void print_split(const Result& r) {
  constexpr std::array<const char*, block_field_count> names{"id",     "place", "velocity", "yaw", "pitch",
                                                             "health", "state", "flags",    "kind"};
  const double each = 1 / static_cast<double>(std::max<std::uint64_t>(r.moved, 1));
  std::printf("           of these, without heads:");
  for (std::size_t i = 0; i < names.size(); ++i)
    if (r.split.fields[i] > 0)
      std::printf(" %s %.2f", names[i], each * static_cast<double>(r.split.fields[i]));
  std::printf(", who changed %.2f; %.3f told whole, %.3f blocks\n",
              each * static_cast<double>(r.split.frame_bits), each * static_cast<double>(r.split.wholes),
              each * static_cast<double>(r.split.blocks));
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 20;
  if (!(seconds >= 1 && seconds <= 600)) {
    std::fprintf(stderr, "bench_snapshot: SECONDS is a number from 1 to 600\n");
    return 2;
  }
  std::printf("%-10s %5s %6s %13s %11s %10s %13s %9s %9s\n", "scene", "loss", "moving", "bits a moving",
              "bits an any", "bits idle", "plain, moving", "ns coding", "ns read");
  for (const Scene& scene : scenes) {
    if (argc > 2 && std::string(argv[2]) != scene.name) continue;
    for (const double loss : {0.0, 0.05, 0.2}) {
      const Result r = run(scene, loss, seconds);
      std::printf("%-10s %4.0f %% %5.0f%% %13.1f %11.2f %10.2f %13.1f %9.0f %9.0f\n", scene.name, 100 * loss,
                  100 * r.moving_share, r.bits_moving, r.bits_all, r.bits_idle, r.plain_bits, r.encode_ns,
                  r.decode_ns);
      if (loss == 0) print_split(r);
    }
  }
  return 0;
}
