// How long a player waits for ground that is sent, in simulated time:
//
//   bench_stream [--clients N] [--mbit RATE] [--terrain plains|hills] [--away METRES]
//
// Clients who do not compute the ground join at once, each over a line of its own (10 Mbit/s down, 25 ms each
// way unless told), and stand where they appear: in the middle of the world, whose ground is always there,
// and 3 km away, where it is made for them. Told are the times from a client's first snapshot to its first
// 100 chunks and to all within 128 m, of the middle and of the last client, what that was in bytes, how many
// chunks the server packed for it, and what a tick of the Host cost meanwhile in processor time. Exit code 1
// where a client did not get a chunk within 128 m.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/harness/link.h"
#include "protocol/secure/seeded_entropy.h"
#include "server/host/host.h"
#include "tests/bench/timing.h"
#include "world/sim/world.h"

using namespace ashlar;
using client_sim::Client;
using client_sim::Micros;

namespace {

std::uint64_t stopwatch_ns() { return static_cast<std::uint64_t>(bench::thread_s() * 1e9); }

struct Line {
  double mbit = 10;
  Micros latency{25'000};
};

struct Seat {
  Seat(std::uint32_t number, const Line& line)
      : client(config(number)), up({}, number), down({}, number + 5000) {
    client_sim::LinkConditions conditions;
    conditions.latency = line.latency;
    up.set_conditions(conditions);
    conditions.bytes_per_s = static_cast<std::uint64_t>(line.mbit * 1e6 / 8);
    down.set_conditions(conditions);
  }
  static client_sim::ClientConfig config(std::uint32_t number) {
    client_sim::ClientConfig out;
    out.server.port = 7777;
    out.name = "p" + std::to_string(number);
    out.seed = secure::SeededEntropy(100 + number).secret();
    out.stream_ground = true;
    return out;
  }

  Client client;
  client_sim::Link up, down;
  Micros playing_at{0}, hundred_at{0}, last_at{0};
  std::size_t chunks = 0;
};

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Chunks within 128 m, wherever in its own chunk the player is, that the client does not have.
std::size_t missing(const Client& client, ColumnSpan columns) {
  constexpr std::int32_t reach = 128 / chunk_size;
  const auto apart = [](std::int32_t chunks) { return std::max(std::abs(chunks) - 1, 0) * chunk_size; };
  const ChunkCoord here = chunk_of(block_at(client.own()->body.position_m));
  std::size_t count = 0;
  for (std::int32_t x = here.x - reach; x <= here.x + reach; ++x)
    for (std::int32_t y = here.y - reach; y <= here.y + reach; ++y)
      for (std::int32_t z = columns.low; z < columns.high; ++z) {
        const std::int32_t dx = apart(x - here.x), dy = apart(y - here.y), dz = apart(z - here.z);
        if (dx * dx + dy * dy + dz * dz < 128 * 128)
          count += client.ground().streamed().find({x, y, z}) == nullptr ? 1 : 0;
      }
  return count;
}

/// @return has every client all of its ground?
bool run(std::uint32_t clients, const Line& line, TerrainKind terrain, double away_m) {
  WorldSetup setup;
  setup.players_max = clients;
  setup.monsters = setup.monsters_max = 0;
  setup.terrain = terrain;
  if (away_m > 0) setup.spawn = {{away_m, away_m}, 60};
  server::HostConfig config;
  config.clients_max = clients;
  config.stopwatch_ns = stopwatch_ns;
  server::Host host(config, std::make_unique<World>(setup), secure::SeededEntropy(1).secret());
  server::GroundPacker packer;
  std::vector<std::unique_ptr<Seat>> seats;
  for (std::uint32_t i = 0; i < clients; ++i) seats.push_back(std::make_unique<Seat>(i, line));

  server::HostInput in;
  server::HostOutput out;
  DatagramBatch inbox, outbox;
  Micros now{1'000'000}, calm{0};
  for (const Micros end = now + Micros{60'000'000}; now < end && calm < Micros{2'000'000};) {
    now += Micros{2000}, calm += Micros{2000};
    in.clear();
    for (std::uint32_t i = 0; i < clients; ++i) {
      Seat& seat = *seats[i];
      inbox.clear(), outbox.clear();
      seat.down.deliver(now, inbox);
      seat.client.advance(now, inbox, outbox);
      seat.up.send(now, outbox);
      const std::size_t held = seat.client.ground().streamed().chunk_count();
      if (seat.playing_at == Micros{0} && seat.client.state() == client_sim::ClientState::playing)
        seat.playing_at = now;
      if (held != seat.chunks || seat.playing_at == Micros{0}) calm = Micros{0};
      if (held != seat.chunks) seat.chunks = held, seat.last_at = now;
      if (held >= 100 && seat.hundred_at == Micros{0}) seat.hundred_at = now;
      DatagramBatch arrived;
      seat.up.deliver(now, arrived);
      for (const auto& entry : arrived.entries()) {
        PeerAddress from = entry.peer;
        from.port = static_cast<std::uint16_t>(20'000 + i);
        in.datagrams.add(from, arrived.bytes(entry));
      }
    }
    for (const IVec2 column : std::exchange(out.ground_requests, {}))
      in.ground.push_back(server::make_column(*host.world().ground(), column));
    for (const server::PackRequest& request : std::exchange(out.pack_requests, {}))
      in.packed.push_back(packer.pack(request));
    out.clear();
    host.advance(now, in, out);
    for (const auto& entry : out.datagrams.entries()) {
      PeerAddress from;
      from.port = 7777;
      DatagramBatch one;
      one.add(from, out.datagrams.bytes(entry));
      seats[entry.peer.port - 20'000u]->down.send(now, one);
    }
  }

  std::vector<double> hundred, all;
  std::size_t fewest = SIZE_MAX;
  std::uint64_t bytes = 0;
  std::size_t lacking = 0;
  for (const auto& seat : seats) {
    hundred.push_back(static_cast<double>((seat->hundred_at - seat->playing_at).count()) / 1e3);
    all.push_back(static_cast<double>((seat->last_at - seat->playing_at).count()) / 1e3);
    fewest = std::min(fewest, seat->chunks);
    bytes += seat->client.stats().chunk_bytes;
    lacking += missing(seat->client, host.world().columns());
  }
  const server::HostStatus& status = host.status();
  const auto publish = static_cast<std::size_t>(server::Phase::publish);
  std::printf(
      "  %3u clients, %s, %g m away, %g Mbit/s: 100 chunks after %.0f ms (last %.0f), all %zu after %.0f ms "
      "(last "
      "%.0f)\n",
      clients, std::string(name(terrain)).c_str(), away_m, line.mbit, middle(hundred),
      *std::ranges::max_element(hundred), fewest, middle(all), *std::ranges::max_element(all));
  std::printf(
      "      %.0f KiB a client, %llu chunks packed for %llu sent; publish at most %.2f ms, mean %.3f ms\n",
      static_cast<double>(bytes) / 1024 / clients,
      static_cast<unsigned long long>(status.ground_stream.packed),
      static_cast<unsigned long long>(status.ground_stream.chunks),
      static_cast<double>(status.phase_ns_max[publish]) / 1e6,
      static_cast<double>(status.phase_ns_sum[publish]) / 1e6 / std::max(1u, status.tick));
  if (lacking > 0) std::printf("      MISSING: %zu chunks within 128 m never came\n", lacking);
  return lacking == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Line line;
  std::vector<std::uint32_t> clients{1, 100};
  std::vector<double> away{0, 3000};
  std::vector<TerrainKind> terrains{TerrainKind::plains, TerrainKind::hills};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--clients") == 0)
      clients = {static_cast<std::uint32_t>(std::max(1, std::atoi(argv[i + 1])))};
    else if (std::strcmp(argv[i], "--mbit") == 0)
      line.mbit = std::atof(argv[i + 1]);
    else if (std::strcmp(argv[i], "--away") == 0)
      away = {std::atof(argv[i + 1])};
    else if (const auto kind = terrain_kind_of(argv[i + 1]); kind && std::strcmp(argv[i], "--terrain") == 0)
      terrains = {*kind};
    else
      return std::fprintf(stderr,
                          "bench_stream takes --clients N, --mbit RATE, --terrain KIND, --away METRES\n"),
             2;
  }
  bool all = true;
  for (const TerrainKind terrain : terrains)
    for (const std::uint32_t count : clients)
      for (const double away_m : away) all = run(count, line, terrain, away_m) && all;
  return all ? 0 : 1;
}
