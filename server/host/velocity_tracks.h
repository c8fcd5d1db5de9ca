#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "protocol/snapshot/heading.h"
#include "protocol/snapshot/moving_record.h"
#include "server/host/placed_entity.h"

namespace ashlar::server {

/// Which velocity is told of an entity. It only foretells where it will be, and any does that costs few bits
/// together with the places that it leads to: that of the course on which a player runs or to which it
/// accelerates (heading.h) rather than the one it has right now, the one told before where it hardly changed,
/// and none of who is jostled: in a throng each tick brings another one that foretells nothing.
/// What is told does not depend on who is told. The Host's thread. No allocation once grown.
class VelocityTracks {
 public:
  /// @param acceleration_mps2  of players on the ground; @param pace  at which they run, in steps
  void begin(std::uint32_t tick_rate_hz, double acceleration_mps2, std::int32_t pace);
  /// Each entity once a tick that is published.
  /// @param ticks  since the one before; 0: there was none
  Velocity told(const PlacedEntity& entity, std::uint32_t ticks);
  /// Where somebody is told to be whose velocity was told in this tick: who keeps it is where that leads
  /// (steady_steps()), as long as that is told_off_max beside where it is: a velocity in whole steps loses
  /// two steps of place a second on average. Anybody else is where it is.
  /// @param e  with its velocity and where it is
  void keep_way(MovingRecord& e, const CellCoord& cell, std::uint32_t tick);
  /// The same as of then, whether it is jostled or not; none of who was never asked for.
  Velocity usual(EntityId id) const;

 private:
  /// Whether it costs less to tell of somebody that it stands, wherever it is: what would have been told is
  /// tried in steps of a fifteenth of a second, or from one update to the next where these are longer apart.
  struct Jostling {
    std::array<std::int32_t, 2> from{};  // where the present step began, in steps of position
    LevelVelocity from_told{};           // what would have been told there
    std::uint32_t ticks = 0;             // since then
    std::uint8_t course = no_course;     // on which it was all the while
    float saves = 0;                     // bits an update, of late
    bool stands = false;

    void begin(const PlacedEntity& entity, const Velocity& told, std::uint8_t on);
    void note(const PlacedEntity& entity, const Velocity& told, std::uint8_t on, std::uint32_t tick_rate_hz);
  };
  /// On an axis: where it would be said to have been in tick 0 (steady_steps()).
  struct Way {
    Velocity velocity{};
    std::array<std::uint32_t, 3> start{};
  };
  struct Track {
    EntityId id{};
    DVec3 base, velocity;
    Velocity told{};  // but for who is jostled
    std::uint8_t course = no_course;
    Jostling jostling;
    Way way;
  };
  std::uint8_t course(const Track& track, bool known, DVec3 velocity, const Velocity& now, std::uint8_t yaw,
                      bool grounded, double seconds) const;
  static bool keeps(const Track& track, bool known, const Velocity& now, bool grounded);
  std::uint8_t course_ahead(const Track& track, DVec3 velocity, std::uint8_t yaw, double seconds) const;

  std::uint32_t tick_rate_hz_ = 60;
  double acceleration_mps2_ = 60;
  std::int32_t pace_ = 96;
  std::vector<Track> tracks_;  // by slot
};

}  // namespace ashlar::server
