#include "client_sim/brains/hostile.h"

#include <algorithm>

#include "protocol/version.h"

namespace ashlar::client_sim {
namespace {

constexpr std::int64_t attacks_per_call_max = 16;
constexpr std::uint32_t attack_us_min = 500'000, attack_us_span = 2'000'000;

void fill(Rng& rng, std::span<std::uint8_t> bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i, word >>= 8) {
    if (i % 8 == 0) word = rng.next_u64();
    bytes[i] = static_cast<std::uint8_t>(word);
  }
}

std::uint32_t connection_of(const Client& client) {
  return client.welcomed() ? client.welcome().connection : 0;
}

}  // namespace

Attacker::Attacker(std::uint64_t seed, std::uint32_t datagrams_per_s)
    : rng_(rng_for(seed, 0xbad)),
      period_(std::max<std::int64_t>(1, 1'000'000 / std::max<std::uint32_t>(1, datagrams_per_s))) {}

void Attacker::add(std::span<const std::uint8_t> bytes) {
  if (out_->add(server_, bytes)) ++sent_;
}

void Attacker::keep(const DatagramBatch& honest) {
  for (const DatagramBatch::Entry& entry : honest.entries()) {
    const auto bytes = honest.bytes(entry);
    if (kept_count_ < kept_.size() || rng_.below(8) == 0)
      kept_[kept_count_++ % kept_.size()].assign(bytes.begin(), bytes.end());
  }
}

std::span<const std::uint8_t> Attacker::kept() {
  const std::size_t count = std::min(kept_count_, kept_.size());
  if (count == 0) return {};
  return kept_[rng_.below(static_cast<std::uint32_t>(count))];
}

/// Numbers at the edges of what fits, where arithmetic wraps.
std::uint32_t Attacker::odd_number() {
  constexpr std::array<std::uint32_t, 6> edges{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffffc0};
  const std::uint32_t pick = rng_.below(edges.size() + 2);
  return pick < edges.size() ? edges[pick] : rng_.next_u32();
}

void Attacker::garbage(const Client& client) {
  scratch_.resize(rng_.below(4) == 0 ? rng_.below(40) : rng_.below(datagram_bytes_max + 1));
  fill(rng_, scratch_);
  // Some of it gets past the first look.
  if (scratch_.size() >= packet_header_bytes && rng_.below(2) == 0) {
    PacketHeader header;
    header.connection = connection_of(client);
    header.sequence = 1 + rng_.below(100'000);
    std::ranges::copy(encode(header), scratch_.begin());
    if (rng_.below(2) == 0) seal(scratch_);
  }
  add(scratch_);
}

void Attacker::mutated() {
  const auto bytes = kept();
  if (bytes.size() < packet_header_bytes) return;
  scratch_.assign(bytes.begin(), bytes.end());
  const auto size = static_cast<std::uint32_t>(scratch_.size());
  for (std::uint32_t i = 1 + rng_.below(8); i > 0; --i) {
    const std::uint32_t at = 4 + rng_.below(size - 4);
    scratch_[at] = static_cast<std::uint8_t>(rng_.next_u32());
  }
  seal(scratch_);
  add(scratch_);
}

void Attacker::claim(const Client& client) {
  PacketHeader header;
  header.connection = connection_of(client);
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
  switch (rng_.below(4)) {
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
        command.seen = TickId{input.snapshot_tick};
      }
      return add(writer_.write(header, input));
    }
    case 1: return add(writer_.write(header, Chat{std::max(1u, odd_number()), "I am the server"}));
    case 2: {
      Join join;
      join.content_count = static_cast<std::uint8_t>(rng_.below(join_content_max + 1));
      for (std::uint64_t& hash : join.content) hash = rng_.next_u64();
      return add(writer_.write(header, join));
    }
    default:
      // Goodbye in another's name; its own it means.
      if (header.connection != 0 && header.connection == connection_of(client)) return;
      return add(writer_.write(header, Leave{LeaveReason::quit}));
  }
}

void Attacker::attack(const Client& client) {
  switch (attack_) {
    case Attack::none:
    case Attack::silence: return;
    case Attack::garbage: return garbage(client);
    case Attack::mutated: return mutated();
    case Attack::flood:
      if (rng_.below(2) == 0) return garbage(client);
      [[fallthrough]];
    case Attack::replay:
      if (const auto bytes = kept(); !bytes.empty()) add(bytes);
      return;
    case Attack::claims: return claim(client);
    case Attack::hellos: {
      PacketHeader header;
      header.connection = rng_.below(2) == 0 ? connection_of(client) : 0;
      header.sequence = 1;
      const std::uint32_t version = rng_.below(4) != 0 ? protocol_version : odd_number();
      const std::uint64_t nonce = rng_.next_u64();
      return add(writer_.write(header, Hello{version, nonce, "bad " + std::to_string(rng_.below(1000)), ""}));
    }
  }
}

/// The honest datagrams with their acknowledgements taken out.
void Attacker::mute(const DatagramBatch& honest, DatagramBatch& out) {
  for (const DatagramBatch::Entry& entry : honest.entries()) {
    const auto bytes = honest.bytes(entry);
    auto packet = decode_packet(bytes);
    if (!packet) continue;
    packet->header.ack = packet->header.ack_bits = 0;
    scratch_.assign(bytes.begin(), bytes.end());
    std::ranges::copy(encode(packet->header), scratch_.begin());
    seal(scratch_);
    out.add(entry.peer, scratch_);
  }
  for (const PeerAddress& closed : honest.closed()) out.add_closed(closed);
}

void Attacker::act(Micros now, const Client& client, const PeerAddress& server, DatagramBatch& out) {
  if (!started_) started_ = true, next_ = next_attack_ = now;
  if (now >= next_attack_) {
    attack_ = static_cast<Attack>(rng_.below(attack_count));
    next_attack_ = now + Micros{attack_us_min + rng_.below(attack_us_span)};
  }
  keep(out);
  if (attack_ == Attack::silence) {
    muted_.clear();
    mute(out, muted_);
    std::swap(out, muted_);
  }
  server_ = server;
  out_ = &out;
  const Micros period{attack_ == Attack::flood ? std::max<std::int64_t>(1, period_.count() / flood_times)
                                               : period_.count()};
  next_ = std::max(next_, now - attacks_per_call_max * period);
  for (; next_ <= now; next_ += period) attack(client);
  out_ = nullptr;
}

void HostilePeer::advance(Micros now, const DatagramBatch& in, DatagramBatch& out) {
  mine_.clear();
  client_.advance(now, in, mine_);
  attacker_.act(now, client_, server_, mine_);
  for (const DatagramBatch::Entry& entry : mine_.entries()) out.add(entry.peer, mine_.bytes(entry));
}

}  // namespace ashlar::client_sim
