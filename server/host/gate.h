#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/connection/session_end.h"
#include "protocol/datagram.h"
#include "server/host/address_budget.h"
#include "server/host/gate_counters.h"
#include "server/host/secret_key.h"
#include "server/host/session_table.h"

namespace ashlar::server {

/// What strangers may make a server do. In each row: of one address (IPv6: one /64) in a second, its burst,
/// and of all addresses in a second, whatever the tick rate: it comes back tick by tick. They are apart from
/// each other, so that using one up leaves the rest.
struct GateLimit {
  std::uint32_t per_s, burst, all_per_s;

  /// The most that all addresses may use in one tick: what comes back in it, and what they left in quiet
  /// ticks, for a crowd that comes at once, which is a thirtieth of a second's. Of handshakes 192 at 10 Hz
  /// (some 14 ms of 100), 72 at 60 Hz (5 of 17) and 59 at 128 Hz (4 of 8).
  constexpr std::uint32_t all_per_tick_max(std::uint32_t tick_rate_hz) const {
    return all_per_s / tick_rate_hz + all_per_s / 30;
  }
};
/// Hellos that are answered by a hash: with a cookie, or with our version.
inline constexpr GateLimit answers_limit{500, 1000, 3840};
/// Hellos and finishes that cost a multiplication on the curve or three, some 75 us on average: a join takes
/// one of each. Who comes here has proven its address; hundreds of clients may come from one at once.
inline constexpr GateLimit handshakes_limit{400, 1000, 1440};
/// Pongs, so that a flood of anything else leaves health checks their answers.
inline constexpr GateLimit pings_limit{20, 40, 3840};
/// Answers to packets of unknown connections, and of one port not more than one in unknown_every.
inline constexpr GateLimit unknown_limit{200, 500, 3840};
inline constexpr std::chrono::milliseconds unknown_every{250};
/// A session that ends sooner counts as coming and going.
inline constexpr std::chrono::seconds short_stay{60};
/// Times in a minute that a player may come back to his body whatever his address has used up: a bad network
/// does that. Each further one counts as a short stay of the address.
inline constexpr std::uint32_t returns_per_minute = 6;

/// Why somebody is turned away, as it is told.
struct Refusal {
  SessionEnd reason{};
  std::string text;
};

/// May one more session begin? Where it may not, nobody has to go.
struct Admission {
  std::uint32_t gives_way = 0;     ///< the session that has to go first, by its number; 0: none has to
  bool away_gives_way = false;     ///< a body whose player is away has to go first
  std::optional<Refusal> refusal;  ///< nothing: it may
};

/// Decides what strangers are answered. Memory is fixed. One thread; time and randomness come in.
class Gate {
 public:
  using Micros = AddressBudget::Micros;

  /// @param rejoins_per_minute  short stays that an address gets back in a minute, if only twice as many as
  /// it
  ///                            may have clients at once: harnesses and proxies do that; 0: no limit
  /// @param clients_per_address_max  sessions of one host at once
  Gate(const SecretKey& secret, std::uint32_t clients_per_address_max, std::uint32_t rejoins_per_minute);

  /// What all addresses together may use comes back. @param tick_rate_hz  of the world that is played
  void next_tick(std::uint32_t tick_rate_hz);

  /// May this be answered by a hash? Like the next three it spends of the address's and the tick's budget;
  /// where that is used up they say no and it is counted. O(1).
  bool answers(Micros now, const PeerAddress& peer);
  /// May a hello or finish be computed?
  bool handshakes(Micros now, const PeerAddress& peer);
  /// May one more session begin there? Full comes first: it is what a player can wait for. Those who were
  /// greeted and have not joined give way, so that no number of them keeps players out.
  /// @param lingering  bodies that stay in the world without a session, and hold places
  /// @param away       likewise, of players who may come back; where all else is full they give way
  /// @param earlier    of the same player, that ends if this one may begin; null: it has none. Its place, and
  ///                   that among the greeted, count as free
  Admission admit(Micros now, const PeerAddress& peer, const SessionTable& sessions, std::uint32_t lingering,
                  std::uint32_t away, const Session* earlier = nullptr);
  /// Does this ping get its pong?
  bool answers_ping(Micros now, const PeerAddress& peer);
  /// May it be told that there is no such connection? Once in unknown_every for one address and port.
  bool tells_unknown(Micros now, const PeerAddress& peer);

  /// False: too many sessions of this address have ended after a short stay.
  bool may_come_again(Micros now, const PeerAddress& peer);
  /// A player has proven to come back to his earlier session. False: it was too often, and his address may
  /// not come again either for now.
  bool may_come_back(Micros now, const PeerAddress& peer, const Identity& identity);
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
  /// One of the budgets.
  class Share {
   public:
    Share(const SecretKey& secret, std::uint64_t number, const GateLimit& limit);
    void next_tick(std::uint32_t tick_rate_hz);
    /// One of the address's and one of all addresses', or none of either.
    bool take(Micros now, const PeerAddress& peer);

   private:
    GateLimit limit_;
    AddressBudget of_address_;
    std::uint32_t left_;      // of all addresses
    std::uint32_t rest_ = 0;  // of what came back, in parts of a tick rate
  };

  Share answers_, handshakes_, pings_, unknown_;
  AddressBudget stays_;
  AddressBudget returns_;  // by identity
  std::uint32_t clients_per_address_max_;
  bool stays_limited_;
  std::vector<Told> told_;  // by hash of address and port, each the last that was told
  GateCounters counters_;
};

}  // namespace ashlar::server
