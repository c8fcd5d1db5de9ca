#pragma once
// What a game sends over a connection, and what is measured of it; for tests and benchmarks.
#include <cstring>
#include <set>
#include <string>

#include "tests/protocol/connection/reno_flow.h"

namespace ashlar::test {

/// A server that sends snapshots 60 times a second and bulk as fast as it may, a client that sends inputs.
class BulkTransfer {
 public:
  static constexpr Micros tick{16'667};
  static constexpr std::size_t snapshot_bytes = 400, input_bytes = 100, bulk_message_bytes = 256 * 1024;

  /// @param bulk_bytes  0: without end
  BulkTransfer(SimulatedPair& pair, std::size_t bulk_bytes)
      : pair_(pair), bulk_bytes_(bulk_bytes), began_at_(pair.now), next_tick_(pair.now) {
    pair.client->on_unreliable = [this](Micros now, std::uint64_t, std::span<const std::uint8_t> message) {
      std::int64_t at = 0;
      std::memcpy(&at, message.data(), sizeof at);
      delays_ms_.push_back(static_cast<double>(now.count() - at) * 1e-3);
      snapshot_wire_bytes += message.size() + 68;
    };
  }

  Micros operator()(Micros now) {
    Connection& server = pair_.server->connection;
    while (bulk_bytes_ == 0 || queued_ < bulk_bytes_) {
      if (server.send(StreamId::bulk, bulk_) != SendResult::sent) break;
      queued_ += bulk_.size();
    }
    if (now >= next_tick_) {
      next_tick_ += tick;
      const std::int64_t at = now.count();
      std::memcpy(snapshot_.data(), &at, sizeof at);
      if (server.send_unreliable(now, snapshot_, pair_.server->out)) ++snapshots;
      (void)pair_.client->connection.send_unreliable(now, input_, pair_.client->out);
      while (server.next_fate() || pair_.client->connection.next_fate()) {
      }
    }
    while (pair_.client->connection.take(StreamId::bulk, message_)) {
      bulk_received += message_.size();
      if (bulk_received >= bulk_bytes_) done_at_ = std::min(done_at_, now);
    }
    return std::min(next_tick_, now + Micros{5'000});
  }

  bool done() const { return bulk_bytes_ != 0 && done_at_ != Micros::max(); }
  double took_s() const { return static_cast<double>((done_at_ - began_at_).count()) * 1e-6; }
  /// Of the link's bytes that snapshots left.
  double goodput_share(double link_bytes_per_s) const {
    const double left = link_bytes_per_s * took_s() - static_cast<double>(snapshot_wire_bytes);
    return static_cast<double>(bulk_received) / left;
  }
  /// How long snapshots took, `share` of them at most so long; in milliseconds.
  double delay_ms(double share) {
    if (delays_ms_.empty()) return 0;
    std::sort(delays_ms_.begin(), delays_ms_.end());
    const auto last = static_cast<double>(delays_ms_.size() - 1);
    return delays_ms_[static_cast<std::size_t>(share * last)];
  }

  std::size_t bulk_received = 0, snapshots = 0, snapshot_wire_bytes = 0;

 private:
  SimulatedPair& pair_;
  std::size_t bulk_bytes_, queued_ = 0;
  Micros began_at_, next_tick_, done_at_ = Micros::max();
  std::vector<std::uint8_t> bulk_ = std::vector<std::uint8_t>(bulk_message_bytes, 1), message_;
  std::vector<std::uint8_t> snapshot_ = std::vector<std::uint8_t>(snapshot_bytes),
                            input_ = std::vector<std::uint8_t>(input_bytes);
  std::vector<double> delays_ms_;
};

inline constexpr double ten_mbit_bytes_per_s = 10e6 / 8;

/// A line of 10 Mbit/s down, with a queue of so many bandwidth-delay products. Both ways lose alike.
inline SimulatedPair::Options line_of_10_mbit(int rtt_ms, double loss, double queue_bdp, std::uint64_t seed) {
  SimulatedPair::Options options;
  options.up.latency = options.down.latency = Micros{rtt_ms * 500};
  options.up.loss = options.down.loss = loss;
  options.down.bytes_per_s = ten_mbit_bytes_per_s;
  options.down.queue_bytes = static_cast<std::size_t>(queue_bdp * ten_mbit_bytes_per_s * rtt_ms * 1e-3);
  options.seed = seed;
  options.cipher = secure::Cipher::none;
  return options;
}

struct BesideReno {
  double share = 0;  ///< of what both got through, that was ours
  double used = 0;   ///< of the link
};

/// A connection with bulk beside a Reno flow, measured for `seconds` after half a minute.
/// @param ours_s, reno_s  when they begin
inline BesideReno beside_reno(int rtt_ms, double queue_bdp, int ours_s, int reno_s, int seconds,
                              std::uint64_t seed) {
  SimulatedPair pair(line_of_10_mbit(rtt_ms, 0, queue_bdp, seed));
  RenoFlow reno(pair, 1);
  pair.other_arrived = [&](const SimulatedLink::Arrival& packet, bool is_up) { reno.arrived(packet, is_up); };
  const Micros began = pair.now;
  BulkTransfer bulk(pair, 0);
  Micros reno_at = began + Micros{reno_s * 1'000'000};
  const auto work = [&](Micros now) {
    if (now >= reno_at) reno_at = reno.work();
    if (now - began < Micros{ours_s * 1'000'000}) return now + Micros{100'000};
    return bulk(now);
  };
  pair.run(began + Micros{30'000'000}, work);
  const double ours_before = static_cast<double>(bulk.bulk_received + bulk.snapshot_wire_bytes);
  const double reno_before = static_cast<double>(reno.delivered_bytes);
  pair.run(pair.now + Micros{seconds * 1'000'000ll}, work);
  const double ours = static_cast<double>(bulk.bulk_received + bulk.snapshot_wire_bytes) - ours_before;
  const double theirs = static_cast<double>(reno.delivered_bytes) - reno_before;
  return {ours / (ours + theirs), (ours + theirs) / (seconds * ten_mbit_bytes_per_s)};
}

}  // namespace ashlar::test
