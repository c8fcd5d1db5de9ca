#pragma once
#include <optional>

#include "client_sim/brains/false_player.h"
#include "client_sim/simulation/config.h"
#include "client_sim/simulation/line.h"

namespace ashlar::simulation {

/// Who comes along to a seat at times, plays from an address of his own and lies about what he received
/// (FaultKind::deaf, FaultKind::liar). He goes without a word.
class Guest {
 public:
  /// @param number  of the seat: below clients_limit
  Guest(const SimulationConfig& config, std::uint32_t number, const PeerAddress& server);

  void set_latency(Micros latency);
  /// He comes for that fault; one who is there already stays in his place.
  void come(const Fault& fault);
  /// And goes when it ends.
  void go(const Fault& fault);

  /// The way of a quantum, as a seat's.
  void run(Micros now);
  void deliver_up(Micros now, DatagramBatch& in) { line_.deliver_up(now, in); }
  void send_down(const PeerAddress& to, std::span<const std::uint8_t> bytes) { line_.send_down(to, bytes); }

  const Line& line() const { return line_; }
  /// Null while he is not there.
  const client_sim::FalsePlayer* player() const { return player_ ? &*player_ : nullptr; }

 private:
  Rng rng_;
  PeerAddress server_;
  Line line_;
  std::optional<Fault> fault_;
  std::optional<client_sim::FalsePlayer> player_;
  DatagramBatch inbox_, outbox_;
};

}  // namespace ashlar::simulation
