#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/datagram.h"
#include "protocol/messages.h"
#include "server/host/address_budget.h"
#include "server/host/gate_counters.h"
#include "server/host/secret_key.h"
#include "server/host/session_table.h"

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

/// What a hello is.
enum class HelloKind : std::uint8_t {
  unread,         ///< its address has used up its budget
  other_version,  ///< to be refused
  repeated,       ///< of a session that is here; its welcome may have been lost
  address_taken,  ///< of the address of another session that was heard lately: dropped
  comes_anew,     ///< likewise, but that one is silent: it has to go first
  fresh,          ///< of an address that has no session
};

/// May a fresh hello begin a session?
struct Admission {
  struct Refusal {
    RefuseReason reason{};
    std::string text;
  };
  std::uint32_t gives_way = 0;     ///< the session that has to go first, by its connection; 0: none has to
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

  /// What all addresses together may use begins anew.
  void next_tick();

  /// What a hello is that came from there. Reading it spends of the address's and the tick's budget, like the
  /// answers of the next three; where that is used up they say no and it is counted. O(1).
  HelloKind read(Micros now, const PeerAddress& peer, const Hello& hello, const SessionTable& sessions);
  /// May one more session begin there? Full comes first: it is what a player can wait for. Those who were
  /// greeted and have not joined give way, so that no number of them keeps players out.
  /// @param bodies  that stay in the world without a session, and hold places
  Admission admit(Micros now, const PeerAddress& peer, const SessionTable& sessions, std::uint32_t bodies);
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
  bool greets(Micros now, const PeerAddress& peer);

  struct Told {
    std::uint64_t source = 0;
    Micros at{0};
  };
  static constexpr std::size_t told_places = 4096;

  SecretKey secret_;
  AddressBudget greetings_, refusals_, pings_, unknown_, stays_;
  std::uint32_t greetings_left_ = 0, refusals_left_ = 0, pings_left_ = 0, unknown_left_ = 0;
  std::uint32_t clients_per_address_max_;
  bool stays_limited_;
  std::vector<Told> told_;  // by hash of address and port, each the last that was told
  GateCounters counters_;
};

}  // namespace ashlar::server
