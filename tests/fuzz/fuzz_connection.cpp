// A connection whose peer holds the keys and sends anything: time, plaintexts, addresses and what the owner
// does come from the input. It stays within its memory, tells each fate once, and never stops the program.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <vector>

#include "protocol/connection/connection.h"

using namespace ashlar;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// Bytes of the input, zeros behind its end.
struct Input {
  const std::uint8_t* data;
  std::size_t size;
  std::uint8_t u8() { return size == 0 ? std::uint8_t{0} : (--size, *data++); }
  std::span<const std::uint8_t> take(std::size_t count) {
    count = count < size ? count : size;
    const std::span<const std::uint8_t> taken(data, count);
    data += count, size -= count;
    return taken;
  }
};

PeerAddress peer(std::uint16_t port) {
  PeerAddress address;
  address.port = port;
  return address;
}

std::size_t memory_max() {
  std::size_t sum = 32 * 1024;
  for (const StreamProperties& stream : stream_properties) sum += stream.queue_bytes_max;
  for (const std::uint32_t window : server_stream_windows) sum += 2 * window;
  return sum + stream_count * 2 * ReceiveStream::gaps_max * sizeof(Interval);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input{data, size};
  secure::SessionKeys keys;
  keys.version = 3;
  keys.connection = 1;
  keys.cipher = secure::Cipher::none;
  ConnectionSettings settings;
  settings.end = secure::End::server;
  const std::uint8_t kind = input.u8();
  settings.reliable_link = (kind & 1) != 0;
  settings.peer_may_move = (kind & 2) != 0;
  settings.receive_windows = server_stream_windows;
  Micros now{1'000'000};
  Connection connection(settings, keys, peer(1), secure::Secret{}, now);
  secure::PacketProtection seals(keys, secure::End::client, now);
  PacketScratch scratch;
  DatagramBatch out;
  std::set<std::uint64_t> open_fates;
  std::vector<std::uint8_t> message;
  std::array<std::uint8_t, datagram_bytes_max> packet;
  std::uint64_t sequence = 0;
  while (input.size > 0) {
    const std::uint8_t what = input.u8();
    const std::uint8_t length = input.u8();
    switch (what & 7) {
      case 0: now += Micros{length * 1000}; break;
      case 1:
        (void)connection.send(static_cast<StreamId>(length % stream_count),
                              std::vector<std::uint8_t>(1 + length * 4u));
        break;
      case 2: {
        const auto sent = connection.send_unreliable(now, std::vector<std::uint8_t>(1 + length * 4u), out);
        if (sent) require(open_fates.insert(*sent).second);
        break;
      }
      case 3: connection.reset(static_cast<StreamId>(length % stream_count)); break;
      case 4:
        for (std::size_t i = 0; i < stream_count; ++i)
          while (connection.take(static_cast<StreamId>(i), message)) require(!message.empty());
        break;
      default: {
        const std::size_t bytes = seals.seal(sequence += 1 + (what >> 6), input.take(length), packet);
        const auto opened =
            connection.open(now, peer((what & 8) != 0 ? 2 : 1), std::span(packet).first(bytes), scratch);
        if (opened) (void)connection.accept(now, *opened);
      }
    }
    connection.poll(now, out);
    for (const auto& entry : out.entries()) require(entry.size <= datagram_bytes_max);
    out.clear();
    while (const auto fate = connection.next_fate()) require(open_fates.erase(fate->sequence) == 1);
    require(connection.memory_bytes() <= memory_max());
  }
  connection.close(now, CloseReason::done, "");
  while (const auto fate = connection.next_fate()) require(open_fates.erase(fate->sequence) == 1);
  require(open_fates.empty());
  return 0;
}
