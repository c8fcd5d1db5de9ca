#include "client_sim/simulation/attacker.h"

#include <algorithm>
#include <limits>

#include "protocol/packet.h"
#include "protocol/version.h"

namespace ashlar::simulation {
namespace {

using client_sim::Client;
using client_sim::Micros;

constexpr std::uint32_t flood_datagrams = 5;  // a call, of which there are hundreds a second

}  // namespace

void Attacker::add(const PeerAddress& server, std::span<const std::uint8_t> bytes) {
  if (made_.add(server, bytes)) ++sent_;
}

/// Numbers at the edges of what fits, where arithmetic wraps.
std::uint32_t Attacker::odd_number() {
  constexpr std::array<std::uint32_t, 6> edges{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffffc0};
  const std::uint32_t pick = rng_.below(edges.size() + 2);
  return pick < edges.size() ? edges[pick] : rng_.next_u32();
}

void Attacker::send_garbage(const Client& client, const PeerAddress& server) {
  std::array<std::uint8_t, datagram_bytes_max> bytes;
  const std::uint32_t size = rng_.below(4) == 0 ? rng_.below(40) : rng_.below(datagram_bytes_max + 1);
  for (std::uint32_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(rng_.next_u32());
  if (size >= packet_header_bytes && rng_.below(2) == 0) {
    PacketHeader header;
    header.connection = client.welcomed() ? client.welcome().connection : 0;
    header.sequence = 1 + rng_.below(100'000);
    std::ranges::copy(encode(header), bytes.begin());
  }
  add(server, std::span(bytes).first(size));
}

void Attacker::send_claim(const Client& client, const PeerAddress& server) {
  PacketHeader header;
  header.connection = client.welcomed() ? client.welcome().connection : 0;
  // Somebody else's connection, as far as it can be guessed.
  if (rng_.below(8) == 0) {
    header.connection = rng_.next_u32() << 16;
    header.connection |= rng_.below(32);
  }
  header.sequence = client.stats().packets_out + 1 + rng_.below(64);
  if (rng_.below(16) == 0) header.sequence = rng_.next_u64() | 1;
  if (rng_.below(4) == 0) {
    header.ack = odd_number();
    header.ack_bits = rng_.next_u32();
  }
  switch (rng_.below(5)) {
    case 0: {
      Input input;
      input.newest_tick = rng_.below(2) == 0 ? odd_number() : client.view().newest_tick() + rng_.below(200);
      input.snapshot_tick = odd_number();
      input.chat_seen = odd_number();
      input.command_count = input_commands_max;
      for (PlayerCommand& command : input.commands) {
        command.forward = command.left = 1;
        command.yaw = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
        command.buttons = button::known;
      }
      return add(server, writer_.write(header, input));
    }
    case 1: return add(server, writer_.write(header, Chat{std::max(1u, odd_number()), "I am the server"}));
    case 2: {
      Join join;
      join.content_count = static_cast<std::uint8_t>(rng_.below(join_content_max + 1));
      for (std::uint64_t& hash : join.content) hash = rng_.next_u64();
      return add(server, writer_.write(header, join));
    }
    case 3: {
      const std::uint32_t version = rng_.below(2) == 0 ? protocol_version : odd_number();
      if (rng_.below(2) == 0) header.connection = 0;
      return add(server, writer_.write(header, Hello{version, rng_.next_u64(), "nobody", "0"}));
    }
    default:
      // Goodbye in another's name; its own it means.
      if (header.connection != 0 && client.welcomed() && header.connection == client.welcome().connection)
        return;
      return add(server, writer_.write(header, Leave{LeaveReason::quit}));
  }
}

void Attacker::act(Micros now, const Client& client, const PeerAddress& server, DatagramBatch& out) {
  if (now >= next_attack_) {
    attack_ = static_cast<Attack>(rng_.below(attack_count));
    next_attack_ = now + Micros{500'000 + rng_.below(2'000'000)};
  }
  made_.clear();
  for (const DatagramBatch::Entry& entry : out.entries()) {
    const auto bytes = out.bytes(entry);
    if (kept_count_ < kept_.size() || rng_.below(8) == 0)
      kept_[kept_count_++ % kept_.size()].assign(bytes.begin(), bytes.end());
    auto packet = decode_packet(bytes);
    if (attack_ != Attack::silence || !packet) {
      made_.add(entry.peer, bytes);
      continue;
    }
    std::array<std::uint8_t, datagram_bytes_max> mute;
    std::ranges::copy(bytes, mute.begin());
    packet->header.ack = packet->header.ack_bits = 0;
    std::ranges::copy(encode(packet->header), mute.begin());
    made_.add(entry.peer, std::span(mute).first(bytes.size()));
  }
  const std::size_t kept = std::min(kept_count_, kept_.size());
  switch (attack_) {
    case Attack::none:
    case Attack::silence: break;
    case Attack::garbage:
      for (std::uint32_t i = rng_.below(4); i > 0; --i) send_garbage(client, server);
      break;
    case Attack::replay:
      for (std::uint32_t i = rng_.below(4); i > 0 && kept > 0; --i)
        add(server, kept_[rng_.below(static_cast<std::uint32_t>(kept))]);
      break;
    case Attack::flood:
      for (std::uint32_t i = 0; i < flood_datagrams; ++i) {
        if (kept > 0 && i % 2 == 0)
          add(server, kept_[rng_.below(static_cast<std::uint32_t>(kept))]);
        else
          send_garbage(client, server);
      }
      break;
    case Attack::claims:
      for (std::uint32_t i = rng_.below(3); i > 0; --i) send_claim(client, server);
      break;
  }
  for (const PeerAddress& closed : out.closed()) made_.add_closed(closed);
  std::swap(out, made_);
}

}  // namespace ashlar::simulation
