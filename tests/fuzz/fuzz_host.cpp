// A whole Host, and somebody who holds the keys of a session and says anything in it: packets before the
// seal, frames, bytes of streams and messages behind it, over UDP or TCP, greeted or playing, while time
// passes. It never stops, holds no more sessions than it may, and answers no stranger with more than half of
// what he said.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client_sim/simulation/ground_memo.h"
#include "protocol/connection/connection.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/secure/client_handshake.h"
#include "protocol/secure/seeded_entropy.h"
#include "protocol/version.h"
#include "server/host/host.h"
#include "tests/fuzz/script.h"
#include "tests/fuzz/stream_message.h"
#include "world/sim/world.h"

using namespace ashlar;

namespace {

using server::Micros;

using fuzz::require;
using fuzz::Script;

constexpr std::uint32_t clients_max = 3;
constexpr std::uint16_t strangers_port = 100;

WorldSetup small_world() {
  // The ground of all inputs is the same: made once.
  static const auto memo = std::make_shared<simulation::GroundMemo>();
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 2;
  setup.make_chunk = [](const Terrain& terrain, ChunkCoord at) { return memo->make(terrain, at); };
  return setup;
}

server::HostConfig config() {
  server::HostConfig config;
  config.clients_max = clients_max;
  config.ciphers = static_cast<std::uint8_t>(secure::Cipher::chacha20_poly1305);
  return config;
}

/// The Host, and the session whose keys the input uses.
struct Table {
  Table(bool tcp, bool joins) : at(peer(1, tcp)), joins_(joins) { shake_hands(); }

  static PeerAddress peer(std::uint16_t port, bool tcp) {
    PeerAddress address;
    address.port = port;
    if (tcp) address.transport = Transport::tcp, address.link = port;
    return address;
  }

  void add(const PeerAddress& from, std::span<const std::uint8_t> bytes) {
    if (from.port >= strangers_port) said[from.port] += bytes.size();
    in.datagrams.add(from, bytes);
  }
  void turn() {
    for (const IVec2 column : std::exchange(out.ground_requests, {}))
      in.ground.push_back(server::make_column(*host.world().ground(), column));
    for (const server::PackRequest& request : std::exchange(out.pack_requests, {}))
      in.packed.push_back(packer.pack(request));
    out.clear();
    host.advance(now, in, out);
    in.clear();
    now += Micros{16'667};
    for (const auto& entry : out.datagrams.entries()) {
      require(entry.size <= datagram_bytes_max);
      if (entry.peer.port >= strangers_port) {
        heard[entry.peer.port] += entry.size;
        require(2 * heard[entry.peer.port] <= said[entry.peer.port]);
      } else if (entry.peer == at && connection == nullptr) {
        handshake->receive(out.datagrams.bytes(entry), now);
        if (handshake->step() == secure::ClientStep::done) begin();
      }
      if (entry.peer == at && connection != nullptr) hear(out.datagrams.bytes(entry));
    }
    host.audit(audit);
    require(audit.sessions.size() <= clients_max);
  }
  /// In the session's name, whatever it is.
  void seal(std::span<const std::uint8_t> plaintext, const PeerAddress& from) {
    if (!seals) return;
    const std::size_t size = seals->seal(++sequence, plaintext, packet);
    if (size > 0) add(from, std::span(packet).first(size));
  }

  PeerAddress at;
  Micros now{1'000'000};
  server::Host host{config(), std::make_unique<World>(small_world()), secure::SeededEntropy(1).secret()};
  server::HostInput in;
  server::HostOutput out;
  server::GroundPacker packer;
  server::HostAudit audit;
  std::map<std::uint16_t, std::size_t> said, heard;  // by strangers, and by them
  std::optional<secure::PacketProtection> seals;
  std::uint64_t sequence = std::uint64_t{1} << 20;  // above all that the connection used
  std::array<std::uint64_t, stream_count> offsets{};

 private:
  void shake_hands() {
    secure::ClientHandshakeSetup setup;
    setup.version = protocol_version;
    setup.identity = secure::key_pair(entropy.secret());
    setup.ciphers = static_cast<std::uint8_t>(secure::Cipher::chacha20_poly1305);
    handshake.emplace(setup, entropy, now);
    for (int i = 0; i < 12; ++i) {
      if (handshake->step() == secure::ClientStep::server_known) {
        Hello hello;
        hello.name = "fuzz";
        handshake->finish(writer.write(hello), now);
      }
      if (connection == nullptr)
        for (auto bytes = handshake->packet_due(now); !bytes.empty(); bytes = handshake->packet_due(now))
          add(at, bytes);
      else
        poll();
      turn();
    }
    require(connection != nullptr);
    seals.emplace(handshake->keys(), secure::End::client, now);
    connection.reset();
  }
  void begin() {
    ConnectionSettings settings;
    settings.reliable_link = at.transport == Transport::tcp;
    connection =
        std::make_unique<Connection>(settings, handshake->keys(), server_address, secure::Secret{}, now);
  }
  void poll() {
    DatagramBatch mine;
    connection->poll(now, mine);
    for (const auto& entry : mine.entries()) add(at, mine.bytes(entry));
  }
  void hear(std::span<const std::uint8_t> bytes) {
    const auto opened = connection->open(now, server_address, bytes, scratch);
    if (opened) (void)connection->accept(now, *opened);
    while (connection->take(StreamId::control, message)) {
      const auto decoded = decode_server_message(message);
      const auto* welcome = decoded ? std::get_if<Welcome>(&*decoded) : nullptr;
      if (welcome == nullptr || !joins_) continue;
      const auto join = writer.write(Join{{}, welcome->world});
      require(connection->send(StreamId::control, join) == SendResult::sent);
      offsets[row(StreamId::control)] += message_prefix_bytes + join.size();
    }
  }

  bool joins_;
  PeerAddress server_address;
  secure::SeededEntropy entropy{7};
  std::optional<secure::ClientHandshake> handshake;
  std::unique_ptr<Connection> connection;
  MessageWriter writer;
  PacketScratch scratch;
  std::vector<std::uint8_t> message;
  std::array<std::uint8_t, datagram_bytes_max> packet{};
};

/// A message on a stream, whole and in its place.
void send_message(Table& table, StreamId stream, std::span<const std::uint8_t> message) {
  std::array<std::uint8_t, plaintext_bytes_max> room;
  const auto bytes = fuzz::stream_message(stream, table.offsets[row(stream)], message, room);
  if (!bytes.empty()) table.seal(bytes, table.at);
}

void send_unreliable(Table& table, std::span<const std::uint8_t> message) {
  std::array<std::uint8_t, plaintext_bytes_max> plaintext{};
  FrameWriter writer(plaintext);
  // Its first byte at a multiple of 8 from the packet's: plaintext begins at 10, the type stands before it.
  writer.pad_to(5);
  if (message.empty() || !writer.unreliable(message)) return;
  table.seal(std::span(plaintext).first(writer.size()), table.at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script input{data, size};
  const std::uint8_t kind = input.u8();
  Table table((kind & 1) != 0, (kind & 2) != 0);
  for (int ops = 0; input.size > 0 && ops < 200; ++ops) {
    const std::uint8_t what = input.u8();
    const std::size_t length = input.u8() | std::size_t{static_cast<std::uint8_t>(what >> 6)} << 8;
    const PeerAddress stranger =
        Table::peer(static_cast<std::uint16_t>(strangers_port + (what >> 4) % 4), (what & 8) != 0);
    switch (what & 7) {
      case 0: table.add(stranger, input.take(length)); break;
      case 1: table.add(table.at, input.take(length)); break;
      case 2: table.seal(input.take(length), table.at); break;
      case 3:
        send_message(table, static_cast<StreamId>((what >> 3) % stream_count), input.take(length));
        break;
      case 4: send_unreliable(table, input.take(length)); break;
      case 5:
        for (std::size_t i = 0; i < 1 + length % 16; ++i) table.turn();
        break;
      case 6: table.in.datagrams.add_closed(table.at); break;
      default: table.seal(input.take(length), Table::peer(2, false)); break;  // from another port
    }
  }
  for (int i = 0; i < 4; ++i) table.turn();
  return 0;
}
