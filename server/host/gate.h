#pragma once
#include <cstdint>
#include <vector>

#include "protocol/datagram.h"
#include "server/host/address_budget.h"
#include "server/host/secret_key.h"

namespace ashlar::server {

/// What strangers may make a server do. In each row: of one address (IPv6: one /64) in a second, its burst,
/// and of all addresses in a tick. They are apart from each other, so that using one up leaves the rest.
struct GateLimit {
  std::uint32_t per_s, burst, per_tick;
};
/// Hellos that are read: hundreds of clients may come from one address at once.
inline constexpr GateLimit greetings_limit{500, 1000, 32};
/// Refusals, of peers with another version, too: they are the largest answers.
inline constexpr GateLimit refusals_limit{50, 100, 32};
/// Pongs, so that a flood of anything else leaves health checks their answers.
inline constexpr GateLimit pings_limit{20, 40, 64};
/// Answers to packets of unknown connections, and of one port not more than one in unknown_every.
inline constexpr GateLimit unknown_limit{200, 500, 64};
inline constexpr std::chrono::milliseconds unknown_every{250};
/// A session that ends sooner counts as coming and going.
inline constexpr std::chrono::seconds short_stay{60};

/// Counters only grow.
struct GateCounters {
  std::uint64_t greetings_limited = 0;  ///< hellos that were not read
  std::uint64_t refusals_limited = 0;   ///< refusals that were not said
  std::uint64_t pongs = 0, pings_limited = 0;
  std::uint64_t unknown_told = 0;  ///< packets of unknown connections that were answered
  std::uint64_t unknown_limited = 0;
  std::uint64_t rejoins_refused = 0;  ///< hellos of addresses that come and go too often
};

/// Decides what strangers are answered. Memory is fixed. One thread; time and randomness come in.
class Gate {
 public:
  using Micros = AddressBudget::Micros;

  /// @param rejoins_per_minute  short stays that an address gets back in a minute; 0: no limit
  /// @param rejoins_burst       short stays that it may have had at once
  Gate(const SecretKey& secret, std::uint32_t rejoins_per_minute, std::uint32_t rejoins_burst);

  /// What all addresses together may use begins anew.
  void next_tick();

  /// May this hello be read? Like the next three it spends of the address's and the tick's budget when it
  /// says yes and counts when it says no. O(1).
  bool greets(Micros now, const PeerAddress& peer);
  /// May this peer be told that it is refused?
  bool refuses(Micros now, const PeerAddress& peer);
  /// Does this ping get its pong?
  bool answers_ping(Micros now, const PeerAddress& peer);
  /// May it be told that there is no such connection? Once in unknown_every for one address and port.
  bool tells_unknown(Micros now, const PeerAddress& peer);

  /// False: too many sessions of this address have ended after a short stay.
  bool may_come_again(Micros now, const PeerAddress& peer);
  /// A session ended after so long.
  void note_stay(Micros now, const PeerAddress& peer, Micros stay);

  const GateCounters& counters() const { return counters_; }  ///< since the start

 private:
  struct Told {
    std::uint64_t source = 0;
    Micros at{0};
  };
  static constexpr std::size_t told_places = 4096;

  SecretKey secret_;
  AddressBudget greetings_, refusals_, pings_, unknown_, stays_;
  std::uint32_t greetings_left_ = 0, refusals_left_ = 0, pings_left_ = 0, unknown_left_ = 0;
  bool stays_limited_;
  std::vector<Told> told_;  // by hash of address and port, each the last that was told
  GateCounters counters_;
};

}  // namespace ashlar::server
