#include "client_sim/hostile.h"

#include <algorithm>

#include "protocol/version.h"

namespace ashlar::client_sim {
namespace {

constexpr std::size_t memory_max = 64;
constexpr int attacks_per_call_max = 64;

}  // namespace

HostilePeer::HostilePeer(ClientConfig config, std::uint64_t seed, std::uint32_t datagrams_per_s)
    : config_(config),
      client_(std::move(config)),
      rng_{seed},
      period_(std::max<std::int64_t>(1, 1'000'000 / std::max<std::uint32_t>(1, datagrams_per_s))) {}

void HostilePeer::remember(const DatagramBatch& batch) {
  for (const auto& entry : batch.entries()) {
    const auto bytes = batch.bytes(entry);
    if (memory_.size() < memory_max)
      memory_.emplace_back(bytes.begin(), bytes.end());
    else
      memory_[rng_.below(memory_max)].assign(bytes.begin(), bytes.end());
  }
}

void HostilePeer::send(DatagramBatch& out, std::span<const std::uint8_t> bytes) {
  out.add(config_.server, bytes);
  ++attacks_sent_;
}

std::span<const std::uint8_t> HostilePeer::remembered() {
  if (memory_.empty()) return {};
  return memory_[rng_.below(static_cast<std::uint32_t>(memory_.size()))];
}

std::span<const std::uint8_t> HostilePeer::impossible() {
  PacketHeader header;
  header.connection = rng_.below(2) == 0 ? client_.welcome().connection : rng_.next_u32();
  header.sequence =
      rng_.below(2) == 0 ? rng_.next_u64() | 1 : client_.stats().packets_out + 1 + rng_.below(100);
  header.ack = rng_.next_u32();
  header.ack_bits = rng_.next_u32();
  switch (rng_.below(4)) {
    case 0: {
      Input input;
      input.newest_tick = rng_.next_u32();
      input.snapshot_tick = rng_.next_u32();
      input.chat_seen = rng_.next_u32();
      input.command_count = static_cast<std::uint8_t>(1 + rng_.below(input_commands_max));
      for (auto& command : input.commands) command.yaw = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
      return writer_.write(header, input);
    }
    case 1: {
      Join join;
      join.content_count = join_content_max;
      for (auto& hash : join.content) hash = rng_.next_u64();
      return writer_.write(header, join);
    }
    case 2: return writer_.write(header, Chat{1 + rng_.below(1'000'000), "I am somebody else"});
    default: return writer_.write(header, Leave{LeaveReason::quit});
  }
}

void HostilePeer::attack(DatagramBatch& out) {
  switch (static_cast<Attack>(rng_.below(attack_count))) {
    case Attack::garbage: {
      scratch_.resize(rng_.below(datagram_bytes_max + 1));
      for (auto& b : scratch_) b = static_cast<std::uint8_t>(rng_.next_u32());
      // Some of it gets past the first look.
      if (!scratch_.empty() && rng_.below(2) == 0) scratch_[0] = protocol_version;
      if (scratch_.size() >= packet_header_bytes && rng_.below(2) == 0) scratch_[1] = 0, seal(scratch_);
      return send(out, scratch_);
    }
    case Attack::mutated: {
      const auto bytes = remembered();
      scratch_.assign(bytes.begin(), bytes.end());
      if (scratch_.size() < packet_header_bytes) return;
      const std::uint32_t changes = 1 + rng_.below(8);
      for (std::uint32_t i = 0; i < changes; ++i) {
        const std::uint32_t at = 4 + rng_.below(static_cast<std::uint32_t>(scratch_.size()) - 4);
        scratch_[at] = static_cast<std::uint8_t>(rng_.next_u32());
      }
      seal(scratch_);
      return send(out, scratch_);
    }
    case Attack::replay: {
      const auto bytes = remembered();
      if (!bytes.empty()) send(out, bytes);
      return;
    }
    case Attack::flood: {
      const auto bytes = remembered();
      for (int i = 0; i < 8 && !bytes.empty(); ++i) send(out, bytes);
      return;
    }
    case Attack::impossible: return send(out, impossible());
    case Attack::hellos: {
      PacketHeader header;
      header.sequence = 1;
      const std::uint64_t nonce = rng_.next_u64();
      const std::string name = "bad " + std::to_string(rng_.below(1000));
      return send(out, writer_.write(header, Hello{protocol_version, nonce, name, ""}));
    }
  }
}

void HostilePeer::advance(Micros now, const DatagramBatch& in, DatagramBatch& out) {
  honest_.clear();
  client_.advance(now, in, honest_);
  remember(honest_);
  for (const auto& entry : honest_.entries()) out.add(entry.peer, honest_.bytes(entry));
  if (!started_) started_ = true, next_ = now;
  // What a pause of the caller missed is not made up for.
  next_ = std::max(next_, now - attacks_per_call_max * period_);
  for (; next_ <= now; next_ += period_) attack(out);
}

}  // namespace ashlar::client_sim
