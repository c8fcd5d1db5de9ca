#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "client_sim/client/histogram.h"
#include "client_sim/explore/party.h"
#include "client_sim/load/cheating.h"
#include "client_sim/load/options.h"
#include "client_sim/load/predicting.h"

namespace ashlar::client_sim {

/// The last score that any client was told.
struct LoadScore {
  std::uint32_t match = 0;  ///< 0: none was
  MatchPhase phase{};
  std::uint32_t players = 0;  ///< rows of it: score_rows_max are that many or more
  std::string best;
  std::int32_t best_score = 0;
};

/// How one client fared.
struct ClientOutcome {
  std::string name;
  ClientState state = ClientState::connecting;
  bool joined = false;
  std::string reason;
  ClientStats stats;
  Micros playing_for{0};
  bool own_clock = false;  ///< it cheats with its clock: what it measured says nothing
};

/// The sum of a run.
struct LoadReport {
  std::uint32_t clients = 0;
  std::uint32_t wanted = 0;  ///< that the run was to have; 0: not known
  bool interrupted = false;  ///< stopped before its time: who was not started yet did not fail
  std::uint32_t light = 0;   ///< of the clients: keep no picture of the world
  std::uint32_t joined = 0;
  std::uint32_t refused = 0;
  std::uint32_t dropped = 0;  ///< lost, sent away, or never let in
  std::uint32_t starved = 0;  ///< clients that were too long without a snapshot (Client)
  Micros duration{0};
  double client_seconds = 0;  ///< played, over all clients
  Histogram rtt;
  Micros joined_after_max{0};
  Micros longest_gap{0};
  std::uint64_t snapshots = 0, snapshots_complete = 0, snapshots_overtaken = 0;
  double snapshots_per_s_min = 0;  ///< of the client that got fewest
  std::uint64_t packets_in = 0, packets_out = 0, bytes_in = 0, bytes_out = 0;
  std::uint64_t commands = 0, commands_skipped = 0;
  std::array<std::uint64_t, cue_kind_count> cues_of{};  ///< of what only shows, by CueKind
  std::uint64_t rejoins = 0;  ///< times that a client joined again by itself, as the server did not know it
  std::uint64_t resumes = 0;  ///< times that a client's session went on over another connection
  std::uint64_t fetched = 0, fetched_bytes = 0;   ///< maps and props that clients lacked
  std::uint64_t acts_done = 0, acts_refused = 0;  ///< of all kinds; acts that came to nothing
  std::uint64_t blocks_changed = 0;               ///< dug and placed
  std::array<std::uint64_t, drop_reason_count> drops{};
  std::uint64_t send_full = 0;     ///< packets that our own sockets had no room for
  std::uint64_t late_polls = 0;    ///< our own turns that came over 20 ms late: the machine is too slow
  std::uint32_t hostile = 0;       ///< peers that were to attack
  std::uint64_t attacks_sent = 0;  ///< of hostile peers
  /// Beside light clients: places that the others were told of each other, and those of them that were wrong.
  std::uint64_t places_compared = 0, places_wrong = 0;
  /// And silences that clients came through, how many ticks it took until they knew of those around them
  /// again, and those that did not yet.
  std::uint64_t gaps = 0;
  std::uint32_t agreed_after_ticks = 0, disagreeing = 0;
  double seen_near = 0;  ///< and entities within 64 m of each of them that it knew of at the end, about
  PredictionReport prediction;  ///< of the clients that foresee; none: its `clients` is 0
  CheatReport cheats;           ///< where some of the clients cheat
  LoadScore score;
  std::vector<Explored> explored;    ///< by map, when explorers played
  std::vector<std::string> reasons;  ///< different ones, with how many clients had them; at most 8

  /// Not one valid packet came back to anybody.
  bool nobody_answered() const { return clients > 0 && joined == 0 && refused == 0 && packets_in == 0; }
  /// Clients that the run was to have and had no time for.
  std::uint32_t never_started() const { return !interrupted && wanted > clients ? wanted - clients : 0; }
  /// Hostile peers were asked for, and not one attack went out.
  bool nothing_attacked() const { return !interrupted && hostile > 0 && attacks_sent == 0; }
  /// Every client that was asked for came in, stayed, was never starved and was told the truth; and where
  /// somebody was to attack, somebody did.
  bool passed() const {
    return refused == 0 && dropped == 0 && starved == 0 && joined == clients && places_wrong == 0 &&
           never_started() == 0 && !nothing_attacked();
  }
  double snapshots_per_s() const {
    return client_seconds > 0 ? static_cast<double>(snapshots) / client_seconds : 0;
  }
  /// Packets dropped for any reason but being doubled or late, which the network does.
  std::uint64_t decode_errors() const;
};

/// Adds up the clients of a run. What no client knows (send_full, late_polls, attacks_sent, explored,
/// prediction, cheats, wanted, interrupted, hostile, light and what is compared beside it) stays empty.
/// @param duration  of the run, for rates
LoadReport sum_up(const std::vector<ClientOutcome>& outcomes, Micros duration);

/// For people: a few lines.
std::string to_text(const LoadReport& report);
/// For machines: one object; keys are stable, units are in them.
std::string to_json(const LoadReport& report, const LoadOptions& options);

}  // namespace ashlar::client_sim
