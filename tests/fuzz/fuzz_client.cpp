// A whole Client, and a server that holds its keys and says anything: packets before the seal, frames, bytes
// of streams and messages behind it, to a client that was welcomed or waits for it, while time passes. The
// client never stops the program, keeps its bounds, and when it ends it says why in a line.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "client_sim/client/client.h"
#include "protocol/connection/frames.h"
#include "tests/client_sim/fake_server.h"
#include "tests/fuzz/script.h"
#include "tests/fuzz/stream_message.h"

using namespace ashlar;

namespace {

using client_sim::Client;
using client_sim::ClientConfig;
using client_sim::ClientState;
using client_sim::Micros;

using fuzz::require;
using fuzz::Script;

PeerAddress server_address() {
  PeerAddress address;
  address.port = 7777;
  return address;
}

ClientConfig config() {
  ClientConfig config;
  config.server = server_address();
  config.name = "fuzz";
  config.seed = secure::SeededEntropy(1234).secret();
  config.fetched = [](client_sim::ContentFetch::Fetched) {};
  config.fetch_bytes_max = std::size_t{1} << 20;
  return config;
}

struct Table {
  /// @param greets  the server welcomes and shows a few snapshots before the input begins
  explicit Table(bool greets) {
    server.no_welcome = !greets;
    for (int i = 0; i < 100; ++i) {
      turn();
      DatagramBatch seen;
      std::swap(seen, said);
      server.advance(now, seen, answers);
      std::swap(answers, to_client);
    }
    require(server.connection() != nullptr);
    seals.emplace(server.keys(), secure::End::server, now);
    if (greets) begin_again();
  }

  void turn(Micros time = Micros{2000}) {
    now += time;
    said.clear();
    client.advance(now, to_client, said);
    to_client.clear();
    for (const auto& entry : said.entries()) require(entry.size <= datagram_bytes_max);
    require(client.take_chat().size() <= Client::chat_in_max);
    require(client.take_verdicts().size() <= Client::verdicts_max);
    require(client.fetch().bytes_arrived() <= config().fetch_bytes_max);
    if (client.ended() && client.state() != ClientState::left) require(!client.reason().empty());
    require(client.reason().find('\n') == std::string::npos);
  }
  void seal(std::span<const std::uint8_t> plaintext) {
    const std::size_t size = seals->seal(++sequence, plaintext, packet);
    if (size > 0) to_client.add(server_address(), std::span(packet).first(size));
  }
  /// Streams that the real server used before begin at an offset that is known.
  void begin_again() {
    for (std::size_t i = 0; i < stream_count; ++i) {
      std::array<std::uint8_t, 32> plaintext;
      FrameWriter writer(plaintext);
      writer.stream_reset({static_cast<StreamId>(i), first_offset});
      seal(std::span(plaintext).first(writer.size()));
      offsets[i] = first_offset;
    }
  }

  static constexpr std::uint64_t first_offset = 8192;
  test::FakeServer server;
  Client client{config()};
  Micros now{1000};
  DatagramBatch to_client, said, answers;
  std::optional<secure::PacketProtection> seals;
  std::uint64_t sequence = std::uint64_t{1} << 20;  // above all that the server used
  std::array<std::uint64_t, stream_count> offsets{};
  std::array<std::uint8_t, datagram_bytes_max> packet{};
};

/// A message on a stream, whole and in its place.
void send_message(Table& table, StreamId stream, std::span<const std::uint8_t> message) {
  std::array<std::uint8_t, plaintext_bytes_max> room;
  const auto bytes = fuzz::stream_message(stream, table.offsets[row(stream)], message, room);
  if (!bytes.empty()) table.seal(bytes);
}

void send_unreliable(Table& table, std::span<const std::uint8_t> message) {
  std::array<std::uint8_t, plaintext_bytes_max> plaintext{};
  FrameWriter writer(plaintext);
  writer.pad_to(5);  // so that it begins at a multiple of 8 from the packet's first byte
  if (message.empty() || !writer.unreliable(message)) return;
  table.seal(std::span(plaintext).first(writer.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script input{data, size};
  Table table((input.u8() & 1) != 0);
  for (int ops = 0; input.size > 0 && ops < 300; ++ops) {
    const std::uint8_t what = input.u8();
    const std::size_t length = input.u8() | std::size_t{static_cast<std::uint8_t>(what >> 6)} << 8;
    switch (what & 7) {
      case 0:
      case 1: table.to_client.add(server_address(), input.take(length)); break;
      case 2: table.seal(input.take(length)); break;
      case 3:
        send_message(table, static_cast<StreamId>((what >> 3) % stream_count), input.take(length));
        break;
      case 4: send_unreliable(table, input.take(length)); break;
      case 5:
        for (std::size_t i = 0; i < 1 + length % 16; ++i) table.turn(Micros{16'667});
        break;
      case 6: table.client.say("hello"), table.client.act(BlockActKind::dig, {0, 0, 0}); break;
      default: table.turn(Micros{static_cast<std::int64_t>(length) * 10'000}); break;
    }
    if ((what & 8) != 0) table.turn();
  }
  for (int i = 0; i < 4; ++i) table.turn();
  return 0;
}
