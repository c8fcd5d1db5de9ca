#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/recording.h"
#include "protocol/version.h"
#include "server/host/host.h"
#include "tests/catch.h"
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

/// A client made of messages alone, so that what the Host does is seen and nothing else.
struct Hand {
  PeerAddress at;
  std::uint32_t connection = 0;
  std::uint64_t sequence = 0;
  MessageWriter writer{};

  template <class Message>
  void send(DatagramBatch& to, const Message& message) {
    PacketHeader header;
    header.connection = connection;
    header.sequence = ++sequence;
    to.add(at, writer.write(header, message));
  }
};

/// Counts the leaves that entered ticks.
struct Leaves final : TickSink {
  void on_tick(const TickRecord& record) override { count += record.leaves.size(); }
  std::size_t count = 0;
};

struct Table {
  explicit Table(std::uint32_t clients = 3, std::vector<std::shared_ptr<const Prop>> props = {},
                 HostConfig config = {}) {
    WorldSetup setup;
    setup.props = std::move(props);
    setup.players_max = clients;
    setup.monsters_max = 4;
    setup.monsters = 4;
    config.clients_max = clients;
    if (config.clients_per_address_max == HostConfig{}.clients_per_address_max)
      config.clients_per_address_max = 2;
    config.message_of_the_day = "be kind";
    host = std::make_unique<Host>(config, std::make_unique<World>(setup), SecretKey{99, 7});
  }

  void run(int ticks = 1) {
    for (int i = 0; i < ticks; ++i) {
      out.clear();
      advance();
      in.clear();
      now += tick;
      for (const auto& entry : out.entries()) {
        const auto packet = decode_packet(out.bytes(entry));
        REQUIRE(packet);
        last_connection = packet->header.connection;
        if (packet->payload.empty()) {
          unknown.push_back(packet->header);
          continue;
        }
        const auto message = decode_server_message(packet->payload);
        REQUIRE(message);
        if (const auto* m = std::get_if<Pong>(&*message)) pong = *m;
        if (const auto* m = std::get_if<Welcome>(&*message)) welcome = *m;
        if (const auto* m = std::get_if<Refuse>(&*message)) refuse = *m;
        if (const auto* m = std::get_if<Goodbye>(&*message)) goodbye = *m;
        if (const auto* m = std::get_if<ChatLine>(&*message)) lines.push_back(*m);
        if (const auto* m = std::get_if<SnapshotPart>(&*message)) {
          ++snapshots;
          applied_tick = m->applied_tick;
          snapshot_tick = m->tick;
          chat_seen = m->chat_seen;
          if (m->own) own = m->own;
        }
      }
    }
  }

  /// One turn of the host, ground made on the spot. Clears neither `in` nor `out`.
  void advance() {
    for (const IVec2 column : std::exchange(output.ground_requests, {}))
      input.ground.push_back(make_column(*host->world().ground(), column));
    host->advance(now, input, output);
    input.ground.clear();
  }

  void enter(Hand& hand, const std::string& name = "ann", std::uint64_t nonce = 5) {
    welcome.reset();
    hand.connection = 0;
    hand.send(in, Hello{protocol_version, nonce, name, "test"});
    run();
    REQUIRE(welcome);
    CHECK(welcome->nonce == nonce);
    hand.connection = welcome->connection;
    hand.send(in, Join{});
    run(2);
    REQUIRE(own);
  }

  std::uint64_t drops(DropReason reason) const {
    return host->status().drops[static_cast<std::size_t>(reason)];
  }

  std::unique_ptr<Host> host;
  Micros now{1'000'000};
  HostInput input;
  HostOutput output;
  DatagramBatch &in = input.datagrams, &out = output.datagrams;
  std::vector<HostEvent>& events = output.events;
  std::optional<Welcome> welcome;
  std::optional<Refuse> refuse;
  std::optional<Goodbye> goodbye;
  std::optional<Pong> pong;
  std::vector<PacketHeader> unknown;  ///< answers to packets of unknown connections
  std::optional<OwnPlayer> own;
  std::vector<ChatLine> lines;
  std::uint32_t applied_tick = 0, snapshot_tick = 0, chat_seen = 0, last_connection = 0;
  int snapshots = 0;
};

inline Input walking(std::uint32_t newest, std::uint8_t count = 1) {
  Input input;
  input.newest_tick = newest;
  input.command_count = count;
  for (PlayerCommand& c : input.commands) c.forward = 1;
  return input;
}

}  // namespace ashlar::server::test
