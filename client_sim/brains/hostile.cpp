#include "client_sim/brains/hostile.h"

#include <algorithm>

#include "protocol/little_endian.h"
#include "protocol/version.h"

namespace ashlar::client_sim {
namespace {

constexpr std::int64_t attacks_per_call_max = 16;
constexpr std::uint32_t attack_us_min = 500'000, attack_us_span = 2'000'000;
constexpr std::array<std::string_view, attack_count> attack_names{
    "none", "garbage", "forged", "mutated", "replay", "flood", "hellos", "half", "finish", "inside"};

void fill(Rng& rng, std::span<std::uint8_t> bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i, word >>= 8) {
    if (i % 8 == 0) word = rng.next_u64();
    bytes[i] = static_cast<std::uint8_t>(word);
  }
}

}  // namespace

std::string_view name(Attack attack) { return attack_names[static_cast<std::size_t>(attack)]; }

Attacker::Attacker(std::uint64_t seed, std::uint32_t datagrams_per_s, const PeerAddress& server)
    : rng_(rng_for(seed, 0xbad)),
      period_(std::max<std::int64_t>(1, 1'000'000 / std::max<std::uint32_t>(1, datagrams_per_s))),
      server_(server),
      hellos_(seed + 1, server, IntruderAim::knock),
      half_(seed + 2, server, IntruderAim::half),
      finish_(seed + 3, server, IntruderAim::finish),
      inside_(seed + 4, server, IntruderAim::inside) {}

void Attacker::add(DatagramBatch& out, std::span<const std::uint8_t> bytes) {
  if (out.add(server_, bytes)) ++sent_;
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

void Attacker::garbage(DatagramBatch& out) {
  scratch_.resize(rng_.below(4) == 0 ? rng_.below(40) : rng_.below(datagram_bytes_max + 1));
  fill(rng_, scratch_);
  // Some of it gets past the first look.
  if (scratch_.size() >= 2 && rng_.below(2) == 0) {
    scratch_[0] = protocol_version;
    scratch_[1] = static_cast<std::uint8_t>(rng_.below(16));
    const bool zeros = scratch_.size() >= secure::open_nonce_at && rng_.below(2) == 0;
    if (zeros) std::fill(scratch_.begin() + 2, scratch_.begin() + secure::open_nonce_at, std::uint8_t{0});
  }
  add(out, scratch_);
}

/// As by who reads along, and has no key.
void Attacker::forged(const Client& client, DatagramBatch& out) {
  scratch_.resize(secure::seal_overhead_bytes +
                  rng_.below(datagram_bytes_max - secure::seal_overhead_bytes + 1));
  fill(rng_, scratch_);
  scratch_[0] = protocol_version;
  scratch_[1] =
      static_cast<std::uint8_t>(secure::sealed_type | (rng_.below(2) == 0 ? secure::key_phase_bit : 0));
  if (rng_.below(4) != 0) put_little(&scratch_[2], client.session());
  add(out, scratch_);
}

void Attacker::mutated(DatagramBatch& out) {
  const auto bytes = kept();
  if (bytes.size() < 2) return;
  scratch_.assign(bytes.begin(), bytes.end());
  const auto size = static_cast<std::uint32_t>(scratch_.size());
  for (std::uint32_t i = 1 + rng_.below(8); i > 0; --i) {
    const std::uint32_t at = 1 + rng_.below(size - 1);
    scratch_[at] = static_cast<std::uint8_t>(rng_.next_u32());
  }
  if (rng_.below(8) == 0) scratch_.resize(1 + rng_.below(size));
  add(out, scratch_);
}

void Attacker::intrude(Micros now, Intruder& intruder, DatagramBatch& out) {
  if (intruder.act(now, out)) ++sent_;
}

void Attacker::attack(Micros now, const Client& client, DatagramBatch& out) {
  switch (attack_) {
    case Attack::none: return;
    case Attack::garbage: return garbage(out);
    case Attack::forged: return forged(client, out);
    case Attack::mutated: return mutated(out);
    case Attack::flood:
      if (rng_.below(2) == 0) return garbage(out);
      [[fallthrough]];
    case Attack::replay:
      if (const auto bytes = kept(); !bytes.empty()) add(out, bytes);
      return;
    case Attack::hellos: return intrude(now, hellos_, out);
    case Attack::half: return intrude(now, half_, out);
    case Attack::finish: return intrude(now, finish_, out);
    case Attack::inside: return intrude(now, inside_, out);
  }
}

void Attacker::act(Micros now, const Client& client, const DatagramBatch& in, DatagramBatch& out) {
  if (!started_) started_ = true, next_ = next_attack_ = now;
  if (now >= next_attack_) {
    attack_ = static_cast<Attack>(rng_.below(attack_count));
    next_attack_ = now + Micros{attack_us_min + rng_.below(attack_us_span)};
  }
  keep(out);
  half_.advance(now, in, out);
  finish_.advance(now, in, out);
  inside_.advance(now, in, out);
  const Micros period{attack_ == Attack::flood ? std::max<std::int64_t>(1, period_.count() / flood_times)
                                               : period_.count()};
  next_ = std::max(next_, now - attacks_per_call_max * period);
  for (; next_ <= now; next_ += period) attack(now, client, out);
}

void HostilePeer::advance(Micros now, const DatagramBatch& in, DatagramBatch& out) {
  mine_.clear();
  client_.advance(now, in, mine_);
  attacker_.act(now, client_, in, mine_);
  for (const DatagramBatch::Entry& entry : mine_.entries()) out.add(entry.peer, mine_.bytes(entry));
  for (const PeerAddress& closed : mine_.closed()) out.add_closed(closed);
}

}  // namespace ashlar::client_sim
