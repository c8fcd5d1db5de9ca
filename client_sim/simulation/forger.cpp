#include "client_sim/simulation/forger.h"

#include <algorithm>
#include <utility>

#include "protocol/little_endian.h"
#include "protocol/secure/open_packets.h"
#include "protocol/secure/packet_protection.h"
#include "protocol/version.h"

namespace ashlar::simulation {
namespace {

constexpr std::int64_t forged_per_call_max = 32;
constexpr Micros theft_every{3'000'000};

void fill_random(Rng& rng, std::span<std::uint8_t> bytes) {
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.next_u32());
}

}  // namespace

void Forger::Kept::add(Rng& rng, std::span<const std::uint8_t> bytes) {
  newest = count < packets.size() ? count : rng.below(static_cast<std::uint32_t>(packets.size()));
  packets[newest].assign(bytes.begin(), bytes.end());
  count = std::min(count + 1, packets.size());
}

std::span<const std::uint8_t> Forger::Kept::any(Rng& rng) const {
  if (count == 0) return {};
  return packets[rng.below(static_cast<std::uint32_t>(count))];
}

Forger::Forger(const SimulationConfig& config, std::uint32_t number)
    : rng_(rng_for(config.seed, 0xf02e, number)),
      entropy_(drawn_secret(config, 0xf02e, number)),
      identity_(secure::key_pair(entropy_.secret())),
      up_link_({}, 0),
      down_link_({}, 0) {
  const auto host = static_cast<std::uint8_t>(1 + number % 200);
  here_.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, static_cast<std::uint8_t>(number / 200), host};
  here_.port = static_cast<std::uint16_t>(ports_per_round + number);
  server_.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  server_.port = 7777;
}

void Forger::up(const PeerAddress&, std::span<const std::uint8_t> bytes) {
  if (const auto number = secure::sealed_connection(bytes, protocol_version)) number_ = *number;
  const bool hello = bytes.size() == datagram_bytes_max &&
                     secure::packet_type(bytes, protocol_version) == secure::PacketType::hello;
  if (hello) hello_nonce_ = secure::open_nonce(bytes);
  // Most of what passes is like the rest.
  if (up_.count < up_.packets.size() || rng_.below(4) == 0) up_.add(rng_, bytes);
}

void Forger::down(const PeerAddress&, std::span<const std::uint8_t> bytes) {
  if (down_.count < down_.packets.size() || rng_.below(4) == 0) down_.add(rng_, bytes);
}

void Forger::hear(std::span<const std::uint8_t> bytes) { heard_.emplace_back(bytes.begin(), bytes.end()); }

std::span<const std::uint8_t> Forger::spoiled(std::span<const std::uint8_t> bytes) {
  scratch_.assign(bytes.begin(), bytes.end());
  if (scratch_.empty()) return scratch_;
  const auto size = static_cast<std::uint32_t>(scratch_.size());
  for (std::uint32_t i = 1 + rng_.below(4); i > 0; --i) {
    const std::uint32_t bit = rng_.below(8 * size);
    scratch_[bit / 8] = static_cast<std::uint8_t>(scratch_[bit / 8] ^ (1u << (bit % 8)));
  }
  return scratch_;
}

/// Packets that nobody said.
void Forger::made_up(const PeerAddress& client) {
  scratch_.resize(secure::seal_overhead_bytes + rng_.below(300));
  fill_random(rng_, scratch_);
  scratch_[0] = protocol_version;
  switch (rng_.below(4)) {
    case 0:
    case 1:
      scratch_[1] =
          static_cast<std::uint8_t>(secure::sealed_type | (rng_.below(2) == 0 ? secure::key_phase_bit : 0));
      put_little(&scratch_[2], number_);
      to_server_.add(rng_.below(2) == 0 ? client : here_, scratch_);
      to_client_.add(server_, scratch_);
      return;
    case 2:
      scratch_.resize(secure::reset_bytes);
      scratch_[1] = static_cast<std::uint8_t>(secure::PacketType::reset);
      put_little(&scratch_[2], number_);
      to_client_.add(server_, scratch_);
      to_server_.add(client, scratch_);
      return;
    default:
      scratch_.resize(secure::open_prefix_bytes);
      secure::write_open_prefix(scratch_, protocol_version + 1, secure::PacketType::refuse_version,
                                hello_nonce_);
      to_client_.add(server_, scratch_);
      return;
  }
}

void Forger::forge(const PeerAddress& client) {
  const auto mine = up_.any(rng_), theirs = down_.any(rng_);
  if (mine.empty() || theirs.empty()) return;
  switch (rng_.below(10)) {
    case 0:  // faster than the original, from elsewhere
    case 1: to_server_.add(here_, up_.packets[up_.newest]); return;
    case 2: to_server_.add(client, mine); return;
    case 3: to_server_.add(here_, mine); return;
    case 4:
      to_server_.add(rng_.below(2) == 0 ? client : here_,
                     mine.first(rng_.below(static_cast<std::uint32_t>(mine.size()))));
      return;
    case 5: to_server_.add(rng_.below(2) == 0 ? client : here_, spoiled(mine)); return;
    case 6:  // each hears itself
      to_server_.add(client, theirs);
      to_client_.add(server_, mine);
      return;
    case 7: to_client_.add(server_, theirs); return;
    case 8: to_client_.add(server_, spoiled(theirs)); return;
    default: made_up(client);
  }
}

/// A handshake like any other, but for what it wants to go on with.
void Forger::steal(Micros now) {
  if (now >= next_theft_ && number_ != 0) {
    next_theft_ = now + theft_every;
    secure::ClientHandshakeSetup setup;
    setup.version = protocol_version;
    setup.identity = identity_;
    theft_.emplace(setup, entropy_, now);
  }
  for (const auto& packet : heard_) {
    if (theft_) theft_->receive(packet, now);
    // Who hands on what handshakes and sessions say, there and back, is a part of the path, and a session
    // that goes through him is where he is.
    const auto type = secure::packet_type(packet, protocol_version);
    if (type && *type == secure::PacketType::reset) to_client_.add(server_, packet);
  }
  heard_.clear();
  if (!theft_) return;
  if (theft_->step() == secure::ClientStep::server_known) {
    Hello hello;
    hello.name = "thief";
    hello.resume = number_;
    fill_random(rng_, hello.resume_proof);
    theft_->finish(writer_.write(hello), now);
  }
  for (auto packet = theft_->packet_due(now); !packet.empty(); packet = theft_->packet_due(now))
    to_server_.add(here_, packet);
  if (theft_->step() == secure::ClientStep::done || secure::ended(theft_->step())) theft_.reset();
}

void Forger::act(Micros now, std::uint32_t packets_per_s, const PeerAddress& client) {
  steal(now);
  const Micros period{std::max<std::int64_t>(1, 1'000'000 / std::max<std::uint32_t>(1, packets_per_s))};
  next_ = std::max(next_, now - forged_per_call_max * period);
  for (; next_ <= now; next_ += period) forge(client);
  up_link_.send(now, to_server_);
  down_link_.send(now, to_client_);
  to_server_.clear();
  to_client_.clear();
}

void Forger::set_latency(Micros latency) {
  LinkConditions conditions;
  conditions.latency = latency;
  up_link_.set_conditions(conditions);
  down_link_.set_conditions(conditions);
}

}  // namespace ashlar::simulation
