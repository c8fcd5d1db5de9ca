// Whether seeing through the ground pays: the same miner plays twice against a real Host over a simulated
// network, in the same world of hills. An honest one goes for ore that it sees; one who cheats goes for all
// ore that its client has in any way: computed from the seed that all clients know, or told of, behind
// whatever it is. Both dig the same tunnels besides. Ore per block dug, and how many times more the cheat has
// of it, with a bound on that of 95 % (a jackknife over the tunnels). First with a seed of ores that stays
// with the server, then without one, as a measure of what there is to be had. Exit code 1 where the cheat has
// more than 1.05 times as much with a secret seed, or gains nothing without.
//   bench_xray [--tunnels N]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/client/replica_ground.h"
#include "client_sim/harness/link.h"
#include "protocol/secure/seeded_entropy.h"
#include "server/host/ground_column.h"
#include "server/host/host.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"
#include "world/voxel/ray.h"

using namespace ashlar;
using client_sim::Micros;

namespace {

constexpr std::int32_t tunnel_blocks = 48;
constexpr double reach_m = 4.5;  // from the eye; the rules' is 5

WorldSetup mine(bool secret) {
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  for (BlockType& type : types)
    if (type.hardness_s[0] > 0) type.hardness_s.fill(0);  // how long digging takes is another matter
  WorldSetup setup;
  setup.seed = 20;
  setup.terrain = TerrainKind::hills;
  setup.players_max = 1;
  setup.monsters = setup.monsters_max = 0;
  setup.rules.block_interval_s = 0;
  setup.blocks = std::make_shared<const BlockRegistry>(std::move(types));
  if (secret) setup.secret = 99;
  return setup;
}

/// A Host and its one client, with a link each way, in simulated time.
struct Play {
  explicit Play(const WorldSetup& setup) : client(player()), up({}, 1), down({}, 2), ground(replica(setup)) {
    server::HostConfig config;
    config.clients_max = 1;
    config.identity = secure::key_pair(secure::SeededEntropy(4711).secret());
    host = std::make_unique<server::Host>(config, std::make_unique<World>(setup),
                                          secure::SeededEntropy(1).secret());
    for (int i = 0; i < 5000 && !client.own(); ++i) turn();
  }
  static client_sim::ClientConfig player() {
    client_sim::ClientConfig config;
    config.server.port = 7777;
    config.name = "miner";
    config.seed = secure::SeededEntropy(77).secret();
    config.pinned = secure::key_pair(secure::SeededEntropy(4711).secret()).open;
    return config;
  }
  /// The world as the client computes it.
  static WorldSetup replica(const WorldSetup& setup) {
    WorldSetup known;
    known.seed = setup.seed;
    known.terrain = setup.terrain;
    known.blocks = setup.blocks;
    known.bare = setup.secret.has_value();
    return known;
  }

  /// Two milliseconds: the client, then the server.
  void turn() {
    now += Micros{2000};
    to_client.clear(), from_client.clear(), input.datagrams.clear(), output.datagrams.clear();
    down.deliver(now, to_client);
    client.advance(now, to_client, from_client);
    up.send(now, from_client);
    up.deliver(now, input.datagrams);
    input.ground.clear(), input.packed.clear();
    for (const IVec2 column : std::exchange(output.ground_requests, {}))
      input.ground.push_back(server::make_column(*host->world().ground(), column));
    host->advance(now, input, output);
    down.send(now, output.datagrams);
  }
  void run(double seconds) {
    const Micros until = now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    while (now < until) turn();
  }
  DVec3 feet() const { return client.own()->body.position_m; }
  DVec3 eye() const { return feet() + DVec3{0, 0, client.welcome().rules.player_eye_m}; }
  /// As far as the client knows.
  const VoxelVolume& known() {
    const auto touched = client.ground().take_touched();
    if (!touched) ground.forget_all();
    ground.load_around(feet(), client.ground(), 1 << 10);
    for (const IVec3 at : touched.value_or(std::vector<IVec3>()))
      if (const auto is = client.ground().changed(at)) static_cast<void>(ground.volume().set_block(at, *is));
    return ground.volume();
  }
  /// @return whether it is dug
  bool dig(IVec3 block, BlockFace face, DVec3 look) {
    const DVec3 way = look - eye();
    PlayerCommand command;
    command.yaw = turn_towards(xy(way));
    command.pitch = turn_towards({length(xy(way)), way.z});
    client.set_command(command);
    run(0.02);
    const std::uint32_t number = client.act(BlockActKind::dig, block, face);
    for (int i = 0; i < 250; ++i) {
      turn();
      for (const ActAnswer& answer : client.take_verdicts())
        if (answer.number == number && answer.verdict != ActVerdict::progress)
          return answer.verdict == ActVerdict::done;
    }
    return false;
  }

  client_sim::Client client;
  client_sim::Link up, down;
  client_sim::ReplicaGround ground;
  std::unique_ptr<server::Host> host;
  Micros now{1'000'000};
  server::HostInput input;
  server::HostOutput output;
  DatagramBatch to_client, from_client;
};

/// What one tunnel came to.
struct Yield {
  std::uint32_t blocks = 0, ore = 0;
};

/// The same with and without a look through the ground.
class Miner {
 public:
  Miner(Play& play, bool cheats) : play_(play), cheats_(cheats) {}

  /// Eastwards from a place deep down.
  Yield tunnel(IVec3 from) {
    yield_ = {};
    const auto order = [&](AdminCommand command) { play_.host->admin(command); };
    AdminCommand put{AdminAction::teleport, play_.client.player(), to_dvec3(from) + DVec3{0.5, 0.5, 0}};
    order(put);
    play_.run(1.5);  // until its ground is there
    AdminCommand room;
    room.action = AdminAction::fill_box;
    room.box = {from, from + IVec3{1, 1, 2}};
    order(room);
    order(put);
    play_.run(0.5);
    for (std::int32_t step = 1; step <= tunnel_blocks; ++step) {
      take_ore();
      const IVec3 next = from + IVec3{step, 0, 0};
      if (!ahead(next + IVec3{0, 0, 1}) || !ahead(next) || !walk_to(next)) break;
    }
    return yield_;
  }

 private:
  /// Digs what is in the way. @return false: it cannot go on there
  bool ahead(IVec3 block) {
    const VoxelVolume& known = play_.known();
    const BlockId id = known.block(block);
    if (known.kinds().type(id).liquid) return false;
    if (!known.solid(block)) return true;
    return dig(block, BlockFace::west, to_dvec3(block) + DVec3{0, 0.5, 0.5});
  }
  bool dig(IVec3 block, BlockFace face, DVec3 look) {
    const BlockId id = play_.host->world().space().voxels->block(block);
    if (!play_.dig(block, face, look)) return false;
    ++yield_.blocks;
    yield_.ore += terrain_hides(id) ? 1 : 0;
    return true;
  }
  bool walk_to(IVec3 cell) {
    if (!play_.known().solid(cell - IVec3{0, 0, 1})) return false;  // a cave: it would fall
    PlayerCommand command;
    command.yaw = turn_towards({1, 0});
    command.forward = 0.5;
    play_.client.set_command(command);
    for (int i = 0; i < 1000 && play_.feet().x < cell.x + 0.45; ++i) play_.turn();
    play_.client.set_command({});
    play_.run(0.1);
    return block_at(play_.feet() + DVec3{0, 0, 0.01}) == cell;
  }
  /// Any spot of it: its middle, or one of each face's nine.
  static bool sees(const VoxelVolume& known, DVec3 eye, IVec3 block) {
    for (int spot = 0; spot < 27; ++spot) {
      const DVec3 in{0.02 + 0.48 * (spot % 3), 0.02 + 0.48 * (spot / 3 % 3), 0.02 + 0.48 * (spot / 9)};
      const DVec3 way = to_dvec3(block) + in - eye;
      const RayHit hit = voxel_ray(known, eye, way * (1 / length(way)), length(way));
      if (hit.hit() && hit.block == block) return true;
    }
    return false;
  }
  /// Every piece of ore that it knows of within reach, with what is before it.
  void take_ore() {
    std::vector<IVec3> given_up;
    while (const auto at = next_ore(given_up))
      if (!dig_towards(*at)) given_up.push_back(*at);
  }
  std::optional<IVec3> next_ore(const std::vector<IVec3>& given_up) {
    const VoxelVolume& known = play_.known();
    const DVec3 eye = play_.eye();
    const IVec3 middle = block_at(eye);
    std::optional<IVec3> best;
    double nearest = reach_m;
    for (std::int32_t x = -5; x <= 5; ++x)
      for (std::int32_t y = -5; y <= 5; ++y)
        for (std::int32_t z = -5; z <= 5; ++z) {
          const IVec3 at = middle + IVec3{x, y, z};
          if (!terrain_hides(known.block(at)) || std::ranges::find(given_up, at) != given_up.end()) continue;
          const DVec3 way = block_middle(at) - eye;
          const double away = length(way);
          // The floor that it stands on stays.
          if (away >= nearest || at == block_at(play_.feet() - DVec3{0, 0, 0.5})) continue;
          if (!cheats_ && !sees(known, eye, at)) continue;
          nearest = away, best = at;
        }
    return best;
  }
  /// Along the line of sight, block by block.
  bool dig_towards(IVec3 ore) {
    for (int i = 0; i < 12; ++i) {
      const DVec3 eye = play_.eye(), way = block_middle(ore) - eye;
      const RayHit hit = voxel_ray(play_.known(), eye, way * (1 / length(way)), length(way));
      if (!hit.hit()) return false;
      const DVec3 n = hit.normal;
      const BlockFace face = n.x > 0.5    ? BlockFace::east
                             : n.x < -0.5 ? BlockFace::west
                             : n.y > 0.5  ? BlockFace::north
                             : n.y < -0.5 ? BlockFace::south
                             : n.z > 0.5  ? BlockFace::top
                                          : BlockFace::bottom;
      if (hit.block == block_at(play_.feet() - DVec3{0, 0, 0.5})) return false;
      if (!dig(hit.block, face, eye + way * (hit.t_m / length(way)))) return false;
      if (hit.block == ore) return true;
    }
    return false;
  }

  Play& play_;
  bool cheats_;
  Yield yield_;
};

std::vector<Yield> mined(bool secret, bool cheats, std::int32_t tunnels) {
  Play play(mine(secret));
  std::vector<Yield> out;
  if (!play.client.own()) return out;
  Miner miner(play, cheats);
  for (std::int32_t i = 0; i < tunnels; ++i)
    out.push_back(miner.tunnel({-90 + 64 * (i % 3), -90 + 12 * (i / 3), -12 - 7 * (i % 4)}));
  return out;
}

double share(const std::vector<Yield>& all, std::size_t without) {
  double blocks = 0, ore = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != without) blocks += all[i].blocks, ore += all[i].ore;
  return ore / std::max(blocks, 1.0);
}

}  // namespace

int main(int argc, char** argv) {
  std::int32_t tunnels = 120;  // of 45 the measure of what there is to be had is too wide
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::strcmp(argv[i], "--tunnels") == 0) tunnels = std::max(4, std::atoi(argv[i + 1]));
  bool good = true;
  for (const bool secret : {true, false}) {
    const std::vector<Yield> honest = mined(secret, false, tunnels), cheat = mined(secret, true, tunnels);
    if (honest.empty() || cheat.empty()) return std::puts("the client did not get in"), 1;
    const std::size_t none = honest.size();
    const double ratio = share(cheat, none) / share(honest, none);
    double spread2 = 0;
    for (std::size_t i = 0; i < none; ++i) {
      const double off = share(cheat, i) / share(honest, i) - ratio;
      spread2 += off * off;
    }
    const double n = static_cast<double>(none), bound = 1.96 * std::sqrt(spread2 * (n - 1) / n);
    const auto sums = [](const std::vector<Yield>& all) {
      Yield sum;
      for (const Yield& y : all) sum.blocks += y.blocks, sum.ore += y.ore;
      return sum;
    };
    const Yield h = sums(honest), c = sums(cheat);
    std::printf(
        "%s: honest %u ore of %u blocks, looking through the ground %u of %u: %.3f times as much a block, "
        "+- %.3f (95 %%, %zu tunnels)\n",
        secret ? "ores of a secret seed" : "ores of the seed that all know", h.ore, h.blocks, c.ore, c.blocks,
        ratio, bound, none);
    if (secret ? ratio > 1.05 : ratio - bound < 1.2) good = false, std::puts("WRONG");
  }
  return good ? 0 : 1;
}
