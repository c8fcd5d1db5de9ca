#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/pong_info.h"
#include "protocol/recording.h"
#include "server/host/host.h"
#include "tests/catch.h"
#include "tests/server/host/hand.h"
#include "world/collide/prop.h"
#include "world/sim/world.h"

// A Host at a table: fed and drained by hand.

namespace ashlar::server::test {

inline constexpr Micros tick{16'667};  // no shorter than a tick, so that each step brings one

inline PeerAddress peer(std::uint16_t port) {
  PeerAddress a;
  a.ip[15] = 1;
  a.port = port;
  return a;
}
inline PeerAddress tcp_peer(std::uint16_t port, std::uint32_t link) {
  PeerAddress a = peer(port);
  a.transport = Transport::tcp;
  a.link = link;
  return a;
}
inline secure::Secret seed_of(std::uint64_t number) { return secure::SeededEntropy(number).secret(); }

/// Counts the leaves that entered ticks.
struct Leaves final : TickSink {
  void on_tick(const TickRecord& record) override { count += record.leaves.size(); }
  std::size_t count = 0;
};

struct Table {
  explicit Table(std::uint32_t clients = 3, std::vector<std::shared_ptr<const Prop>> props = {},
                 HostConfig given = {})
      : config(std::move(given)) {
    setup.props = std::move(props);
    setup.players_max = clients;
    setup.monsters_max = 4;
    setup.monsters = 4;
    config.clients_max = clients;
    if (config.clients_per_address_max == HostConfig{}.clients_per_address_max)
      config.clients_per_address_max = 2;
    config.message_of_the_day = "be kind";
    if (config.identity.open == secure::PublicKey{}) config.identity = secure::key_pair(seed_of(4));
    restart();
  }
  /// Another server with the same key, that knows nobody.
  void restart() {
    host = std::make_unique<Host>(config, std::make_unique<World>(setup), seed_of(++starts));
    input.unix_s = 1'000'000;
  }

  /// A client that has a place at the table, but has not come in.
  Hand& hand(const PeerAddress& at, const std::string& name = "ann") {
    return hands.emplace_back(at, name, 1000 + hands.size());
  }

  void run(int ticks = 1) {
    for (int i = 0; i < ticks; ++i) turn(tick);
  }
  /// One turn of the host, and `pause` until the next.
  void turn(Micros pause) {
    for (Hand& h : hands)
      if (!lost_up || !lost_up(h)) h.poll(now, in);
    out.clear();
    advance();
    in.clear();
    now += pause;
    for (const auto& entry : out.entries()) deliver(entry);
    for (const PeerAddress& closed : out.closed()) closed_links.push_back(closed);
  }

  /// One turn of the host, ground made on the spot. Clears neither `in` nor `out`.
  void advance() {
    for (const IVec2 column : std::exchange(output.ground_requests, {}))
      input.ground.push_back(make_column(*host->world().ground(), column));
    for (const PackRequest& request : std::exchange(output.pack_requests, {}))
      input.packed.push_back(packer.pack(request));
    host->advance(now, input, output);
    input.ground.clear(), input.packed.clear();
  }

  /// Until it is welcomed or turned away.
  void greet(Hand& h) {
    h.begin(now);
    for (int i = 0; i < 60 && !h.welcomed() && !h.end(); ++i) run();
  }
  void enter(Hand& h) {
    greet(h);
    CAPTURE(h.end_text());
    REQUIRE(h.welcomed());
    for (int i = 0; i < 20 && !h.own; ++i) run();
    REQUIRE(h.own);
  }
  void send(Hand& h, const Input& message) { h.send(now, in, message); }

  std::uint64_t drops(DropReason reason) const {
    return host->status().drops[static_cast<std::size_t>(reason)];
  }
  HostAudit books() const {
    HostAudit audit;
    host->audit(audit);
    return audit;
  }

  WorldSetup setup;
  HostConfig config;
  std::uint64_t starts = 98;
  std::unique_ptr<Host> host;
  Micros now{1'000'000};
  HostInput input;
  HostOutput output;
  GroundPacker packer;
  DatagramBatch &in = input.datagrams, &out = output.datagrams;
  std::vector<HostEvent>& events = output.events;  ///< all there were
  std::deque<Hand> hands;
  std::function<bool(Hand&)> lost_up;  ///< true: what it says is not said now
  std::vector<PeerAddress> closed_links;
  std::optional<PongInfo> pong;
  std::uint64_t ping_nonce = 0;
  std::size_t unheard = 0;  ///< datagrams for nobody at the table
  std::vector<std::uint8_t> last_unheard;

  /// From where a client hears the server.
  static PeerAddress server_at(const PeerAddress& client) {
    PeerAddress a;
    a.ip[15] = 9;
    a.port = 7777;
    a.transport = client.transport;
    return a;
  }

 private:
  void deliver(const DatagramBatch::Entry& entry) {
    const auto bytes = out.bytes(entry);
    if (const auto said = secure::read_pong(bytes, protocol_version, ping_nonce))
      pong = decode_pong_info(*said);
    bool heard = false;
    for (Hand& h : hands) {
      if (h.at != entry.peer) continue;
      h.receive(now, server_at(entry.peer), bytes);
      heard = true;
    }
    if (heard) return;
    ++unheard;
    last_unheard.assign(bytes.begin(), bytes.end());
  }
};

inline Input walking(std::uint32_t newest, std::uint8_t count = 1) {
  Input input;
  input.newest_tick = newest;
  input.command_count = count;
  for (PlayerCommand& c : input.commands) c.forward = 1;
  return input;
}

}  // namespace ashlar::server::test
