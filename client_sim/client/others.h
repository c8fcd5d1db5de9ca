#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/client/replica.h"

namespace ashlar::client_sim {

/// Somebody else as a picture shows it.
struct ShownEntity {
  EntityRecord record;  ///< newest that is known
  DVec3 position_m;     ///< centre of the base
  Turn16 yaw{0};
  bool extrapolated = false;  ///< beyond what the server told
};

/// Counters only grow.
struct OthersStats {
  std::uint64_t shown = 0;         ///< entities, in each call of shown()
  std::uint64_t extrapolated = 0;  ///< of those
  std::uint64_t stopped_by_walls = 0;
};

/// Everybody else, as they were a little while ago: between two states that the server told.
///
/// The picture is behind the newest command by a lag of whole ticks: as long as the way of snapshots takes
/// with their jitter, so that nearly always the next one is there before it is needed. It follows what it
/// measures, fast upwards and slowly downwards; each change is spread over a quarter of a second. Commands
/// carry the tick that their player saw (Client::set_view_lag), so a server judges shots by this very
/// picture.
///
/// Where no newer state came they go on for extrapolate_s as they went, then they stand. Nobody is shown
/// inside a wall, and who stands on a lift is shown on it where the picture has it.
/// One thread, the client's. Cost: about 0.1 us an entity a snapshot, and as much each time they are shown.
class Others {
 public:
  static constexpr double extrapolate_s = 0.1;
  static constexpr std::uint32_t lag_ticks_max = 120;

  /// Behind each Client::advance(), with the same time.
  void advance(Micros now, Client& client);

  /// What is shown at a time, by id, the own player left out.
  /// @param replica  the world that walls and lifts are looked up in; null: they are not
  void shown(Micros now, const Client& client, const Replica* replica, std::vector<ShownEntity>& out);

  /// Appends those alive within near_m of a place, where they are thought to be at a tick: as told, or going
  /// on as they went. Cost: 10 ns an entity.
  static constexpr double near_m = 3;
  void near(DVec3 place_m, std::uint32_t tick, const Rules& rules, std::vector<Bystander>& out) const;

  /// Ticks that the picture is behind the newest command.
  std::uint32_t lag_ticks() const { return lag_; }
  /// The tick that is shown at a time, with a fraction.
  double shown_tick(Micros now, const Client& client) const;
  const OthersStats& stats() const { return stats_; }

 private:
  struct State {
    std::uint32_t tick = 0;
    DVec3 position_m;
    Turn16 yaw{0};
  };
  static constexpr std::size_t states_max = 24;
  struct Track {
    EntityId id{};
    std::uint32_t seen_tick = 0;  // when the view last had it
    DVec3 newest_m;               // of back(0)
    EntityRecord record;
    std::size_t newest = 0, count = 0;
    std::array<State, states_max> states;  // ring, newest at newest

    const State& back(std::size_t i) const { return states[(newest + states_max - i) % states_max]; }
    void push(const State& state) {
      newest = (newest + 1) % states_max;
      states[newest] = state;
      newest_m = state.position_m;
      if (count < states_max) ++count;
    }
  };
  static constexpr std::size_t peaks_max = 128;

  void reset();
  void measure(Micros now, const Client& client);
  void take_states(const Client& client);
  void steer(Micros now, Client& client);
  ShownEntity place(const Track& track, double tick, const Client& client, const Replica* replica);
  double ride(DVec3 at_m, const Replica& replica, const Client& client) const;

  std::uint64_t world_ = 0;
  std::uint32_t snapshot_tick_ = 0;
  std::vector<Track> tracks_;             // by id
  std::vector<ViewEntity> viewed_;        // scratch
  std::array<float, peaks_max> peaks_{};  // how far commands were ahead of the newest snapshot when one came
  std::array<float, peaks_max> sorted_{};
  std::size_t peak_count_ = 0, peak_at_ = 0;
  std::uint32_t lag_ = 0, lag_before_ = 0;
  Micros lag_since_{0};
  Micros lower_from_{0};  // since when a lower lag would do; 0: it would not
  OthersStats stats_;
};

}  // namespace ashlar::client_sim
