#pragma once
// A Reno flow beside a connection, on the same link: what home routers and games share a line with.
#include <set>

#include "tests/protocol/connection/simulated_link.h"

namespace ashlar::test {

/// Sends without end from the server's side. Every packet is acknowledged by itself; a packet is lost when
/// three later ones arrived (RFC 6675), the window is halved once a round trip (RFC 5681), and begins anew
/// when nothing came back for a second.
class RenoFlow {
 public:
  static constexpr std::size_t packet_bytes = 1228;

  RenoFlow(SimulatedPair& pair, int flow) : pair_(pair), flow_(flow) {}

  /// Hand it `other_arrived`.
  void arrived(const SimulatedLink::Arrival& packet, bool is_up) {
    if (packet.flow != flow_) return;
    if (!is_up) {
      pair_.up.send(pair_.now, flow_, 68, packet.number);
      delivered_bytes += packet.size;
      return;
    }
    if (in_flight_.erase(packet.number) == 0) return;
    acked_at_ = pair_.now;
    window_ += window_ < threshold_ ? 1 : 1 / window_;
    newest_acked_ = std::max(newest_acked_, packet.number);
    while (!in_flight_.empty() && *in_flight_.begin() + 3 <= newest_acked_) {
      const std::uint64_t lost = *in_flight_.begin();
      in_flight_.erase(in_flight_.begin());
      if (lost < halved_until_) continue;
      halved_until_ = next_;
      threshold_ = window_ = std::max(window_ / 2, 2.0);
    }
    send();
  }

  /// @return when it wants to be called again
  Micros work() {
    if (!in_flight_.empty() && pair_.now - acked_at_ > Micros{1'000'000}) {
      in_flight_.clear();
      threshold_ = std::max(window_ / 2, 2.0), window_ = 2;
      acked_at_ = pair_.now, halved_until_ = next_;
    }
    send();
    return pair_.now + Micros{100'000};
  }

  std::uint64_t delivered_bytes = 0;

 private:
  void send() {
    while (static_cast<double>(in_flight_.size()) < window_) {
      if (in_flight_.empty()) acked_at_ = pair_.now;
      in_flight_.insert(next_);
      pair_.down.send(pair_.now, flow_, packet_bytes, next_++);
    }
  }

  SimulatedPair& pair_;
  int flow_;
  std::set<std::uint64_t> in_flight_;
  std::uint64_t next_ = 1, newest_acked_ = 0, halved_until_ = 0;
  double window_ = 10, threshold_ = 1e9;
  Micros acked_at_{0};
};

}  // namespace ashlar::test
