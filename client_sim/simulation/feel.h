#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client_sim/client/histogram.h"
#include "client_sim/client/predictor.h"
#include "world/voxel/terrain.h"

namespace ashlar {
class PlacedMap;
}

namespace ashlar::simulation {

using client_sim::Histogram;
using client_sim::Micros;

/// A match in which every client predicts, shows the others and shoots at them, to measure how that feels.
struct FeelConfig {
  std::uint64_t seed = 1;
  std::uint32_t players = 8;  ///< 1 to 64; they run about in a small place and shoot at each other
  double seconds = 30;        ///< measured, behind settle_s of them that are not
  std::uint16_t tick_rate_hz = 60;
  Micros round_trip{80'000};  ///< of packets that nothing delays
  Micros jitter{0};           ///< each packet waits up to half of this on top, on each way
  double loss = 0;            ///< share of packets, on each way
  double place_radius_m = 12;
  std::uint16_t snapshot_every_ticks = 1;  ///< others are told of more seldom, and shown between
  TerrainKind terrain = TerrainKind::plains;
  double aim_beyond_m = 0;           ///< players shoot at the nearest who is farther away than that
  std::optional<double> spread_deg;  ///< of their pistols; none: the usual one
  /// The server does not keep up: who is farther away than half its interest radius is told of in every
  /// fourth snapshot.
  bool overload = false;
  bool cover = false;  ///< pillars stand about, behind which one is out of sight
  /// Cheating: players with odd numbers claim to have seen the world this much earlier than they did, and aim
  /// where somebody was then.
  Micros lie{0};
};
inline constexpr double settle_s = 4;

/// What was measured, of all players together.
struct FeelReport {
  double player_minutes = 0;
  /// Corrections of the own player, in micrometres as shown: of the network's making (late and lost
  /// commands), of bodies that were met, and of no known cause.
  Histogram network_um, crowd_um, unknown_um;
  /// Of those, larger than Predictor::visible_m.
  std::uint64_t network_visible = 0, crowd_visible = 0, unknown_visible = 0;
  /// Ticks that came otherwise and are laid to bodies near by: all, and those without one that touched.
  std::uint64_t crowd_ticks = 0, crowd_apart_ticks = 0;
  std::uint64_t mispredicted = 0;  ///< ticks whose player came otherwise than predicted, whatever the cause
  std::uint64_t confirmed = 0;     ///< ticks whose player the server told
  std::uint64_t late = 0;          ///< of those: the command for it was not there
  std::array<std::uint64_t, 16> leads{};  ///< snapshots by ticks that commands waited: ClientStats::leads
  Histogram others_age;                   ///< from the picture of the others to the newest command, each tick
  std::uint64_t shown = 0, extrapolated = 0, in_walls = 0;  ///< entities in pictures, one a tick
  /// How far the picture of the others is behind beyond what the way of newest snapshots, their jitter and
  /// the commands that wait ask for, in snapshots, a player: the mean over its ticks less the age of a
  /// snapshot when it comes, which Others::in_time_share of them do not exceed.
  std::vector<double> excess_snapshots;
  /// How far from where they were at the tick that a frame shows the others were shown, in micrometres, at
  /// 100 frames a second.
  Histogram frame_off_um;
  /// Shots whose player saw them hit, each in one of these. The server had the shooter where it shot from,
  /// and its picture was within the limit: judged alike, or otherwise.
  std::uint64_t hits_agreed = 0, hits_denied = 0;
  std::uint64_t hits_beyond = 0;     ///< it saw more than rewind_s_max back, so it has to lead
  std::uint64_t hits_displaced = 0;  ///< bodies had pushed the shooter elsewhere meanwhile
  std::uint64_t hits_lost = 0;       ///< nobody shot: the command came late or not at all
  /// Of honest players' hits: whom they had not seen hit, and of those whom they were not shown at all.
  std::uint64_t hits_unforeseen = 0, hits_unseen = 0;
  /// How far from where a shot was judged to be its player saw the one that it saw hit, in micrometres: what
  /// whole ticks, steps of places on the wire and acknowledgements on their way make of it.
  Histogram seen_off_um;
  Histogram rewound, liars_rewound;  ///< how far back shots that hit were judged, honest ones and the others
  /// For how long those who were hit by honest players had been out of their shooter's sight, as the server
  /// had both; 0: they were not. On the one's own screen it is longer by his own way to the server.
  Histogram behind_cover;
  Histogram liars_behind_cover;  ///< the same by those who lie
  /// Of hits: on those who had been out of sight for longer than a tick.
  std::uint64_t covered_hits = 0, liars_covered_hits = 0;
  std::uint64_t liars_hits = 0, liars_shots = 0, honest_hits = 0, honest_shots = 0;  ///< as the server judged

  /// Hits that were seen, whatever became of them.
  std::uint64_t hits_seen() const {
    return hits_agreed + hits_denied + hits_beyond + hits_displaced + hits_lost;
  }
  /// Of the hits that were seen from where the server had the shooter, within the limit: judged alike.
  double hit_share() const {
    const auto seen = static_cast<double>(hits_agreed + hits_denied);
    return seen > 0 ? static_cast<double>(hits_agreed) / seen : 1;
  }
  double excess_max() const {  ///< of excess_snapshots
    double most = 0;
    for (const double excess : excess_snapshots) most = std::max(most, excess);
    return most;
  }
  /// The lead that a share of the snapshots does not exceed, in ticks; -1: late.
  int lead(double share) const {
    std::uint64_t sum = 0, all = 0;
    for (const std::uint64_t n : leads) all += n;
    for (std::size_t i = 0; i < leads.size(); ++i)
      if (static_cast<double>(sum += leads[i]) >= share * static_cast<double>(all))
        return static_cast<int>(i) - 1;
    return -1;
  }
};

/// Plays it. Same config, same report.
FeelReport run_feel(const FeelConfig& config);

}  // namespace ashlar::simulation
