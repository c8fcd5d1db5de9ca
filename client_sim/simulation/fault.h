#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What goes wrong in a simulated match, as a list that is drawn up before the match begins: so a run can be
// repeated, and a list that breaks something can be made shorter (shrink.h).

namespace ashlar::simulation {

/// One kind of trouble. The unit of Fault::amount stands behind each.
enum class FaultKind : std::uint8_t {
  loss,         ///< per cent of a client's datagrams vanish, both ways
  delay,        ///< milliseconds added to each way
  jitter,       ///< up to so many milliseconds more, drawn for each datagram
  reorder,      ///< per cent of datagrams are held back behind later ones
  duplicate,    ///< per cent arrive twice or more
  corrupt,      ///< per cent have bits flipped
  rate_limit,   ///< bytes a second that the link carries each way; what waits too long is lost
  partition,    ///< 1: nothing goes up, 2: nothing goes down, 3: nothing at all
  stall,        ///< the client's process hangs; its datagrams wait (amount unused)
  death,        ///< the client dies without a word and comes back when the fault ends; 1: on the same port
  leave,        ///< the client says goodbye and comes back when the fault ends (amount unused)
  client_jump,  ///< milliseconds that the client's clock leaps ahead
  roam,    ///< the client comes from another port from now on; 2: from another address. Over TCP its link
           ///< breaks
  resume,  ///< 1: its links die without a word, and it is there again when the fault ends, from another port;
           ///< 2: its datagrams alone, and it may come over TCP
  forge,   ///< packets a second that somebody on the line forges in both ends' names, who has no key
  server_jump,  ///< milliseconds that the server's clock leaps ahead
  overload,     ///< the server gets no processor until the fault ends (amount unused)
  restart,      ///< a new server takes over: 0 the old one says goodbye, 1 it was killed
  slow_ground,  ///< up to so many milliseconds more until ground is there, drawn for each column
  freeze,  ///< every client's process hangs at once, as when their harness is stopped; datagrams wait (amount
           ///< unused). It is no one client's: it is written as the server's
  deaf,    ///< a guest comes to the client's place and plays from there, who acknowledges nothing; he goes
           ///< without a word when the fault ends (amount unused)
  liar,    ///< likewise one who acknowledges at random
  power_cut,    ///< the server's machine goes off, if it is at writing a group then after so many more writes
                ///< and syncs; what was not synced is lost, torn or there
  disk_full,    ///< no file of the server's grows (amount unused)
  disk_errors,  ///< per cent of its writes fail
};
inline constexpr std::size_t fault_kind_count = 25;

/// Spelled as on the command line: "loss", "rate-limit", ...
std::string_view name(FaultKind kind);

/// The server is nobody's number in the list of clients.
inline constexpr std::uint16_t server_subject = 0xffff;
/// Else it is a client's.
constexpr bool concerns_server(FaultKind kind) {
  return (kind >= FaultKind::server_jump && kind <= FaultKind::freeze) || kind >= FaultKind::power_cut;
}

/// One thing that goes wrong, for whom and for how long.
struct Fault {
  std::uint32_t tick = 0;   ///< when it begins, in ticks of simulated time from the start of the run
  std::uint32_t ticks = 0;  ///< how long it lasts
  FaultKind kind = FaultKind::loss;
  std::uint16_t subject = 0;  ///< client number, or server_subject
  std::uint32_t amount = 0;   ///< see FaultKind
  friend bool operator==(const Fault&, const Fault&) = default;
};

/// How often each kind begins: times a simulated minute, for every client or for the server. 0 switches it
/// off.
struct FaultRates {
  std::array<double, fault_kind_count> per_minute = defaults();

  double& operator[](FaultKind kind) { return per_minute[static_cast<std::size_t>(kind)]; }
  double operator[](FaultKind kind) const { return per_minute[static_cast<std::size_t>(kind)]; }

  /// Every client has some trouble about every ten seconds; the server restarts every five minutes.
  static std::array<double, fault_kind_count> defaults();
  static FaultRates none();
};

inline constexpr double fault_rate_max = 60;  ///< one a second

/// Draws the list for a run, sorted by tick. Each kind, second and client has draws of its own, so that
/// switching one kind off moves none of the others.
std::vector<Fault> plan_faults(std::uint64_t seed, const FaultRates& rates, std::uint32_t clients,
                               std::uint32_t run_ticks, std::uint32_t tick_rate_hz);

/// One fault a line: "tick ticks kind subject amount", the subject a client number or "server".
std::string to_text(std::span<const Fault> faults);

/// Reads what to_text() wrote; empty lines and those that begin with # are skipped.
/// @return the faults sorted by tick, or one line that names the line and what is wrong with it.
std::expected<std::vector<Fault>, std::string> faults_from_text(std::string_view text);

/// Reads "kind=rate,kind=rate,..." over `rates`; a bare "all=0" sets every kind. One line on error.
/// @param meant  what the line says that each item has to be
std::expected<FaultRates, std::string> rates_from_text(
    std::string_view text, FaultRates rates,
    std::string_view meant = "KIND=RATE with a rate of 0 to 60 a minute");

}  // namespace ashlar::simulation
