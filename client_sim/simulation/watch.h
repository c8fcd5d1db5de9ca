#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client_sim/client/others.h"
#include "client_sim/client/view.h"
#include "client_sim/simulation/replay.h"
#include "protocol/recorded_world.h"
#include "server/host/replicator.h"
#include "world/sim/motion_cues.h"

namespace ashlar::simulation {

/// A recorded match that is watched over a player's shoulder: its ticks are stepped again, quantised as the
/// server's snapshots are, and seen by the client library's View and Others, as a spectator's client would
/// show them. One thread.
class WatchedMatch {
 public:
  /// How far one sees.
  static constexpr double radius_m = 64;

  /// @param recording  stays alive meanwhile
  /// @return or one line why it cannot be watched: as of replay()
  static std::expected<WatchedMatch, std::string> open(std::span<const std::uint8_t> recording,
                                                       const MapSource& maps, const PropSource& props);

  /// The next tick. @return false: it was the last one; or one line that names what is damaged
  std::expected<bool, std::string> step();

  /// Whom to watch from now on, while that is in the world; 0 (at first): whoever has been in it for longest.
  void follow(EntityId id) { wanted_ = id; }
  /// Who is watched; 0: nobody is in the world, or not whom follow() wants.
  EntityId followed() const { return followed_; }

  const World& world() const { return *world_; }
  bool torn() const { return reader_.torn(); }  ///< behind the last tick: the recording's end was cut off
  double seconds() const { return number(world_->tick()) * world_->setup().rules.tick_s(); }
  /// The watched player's row. Precondition: followed() != 0.
  std::size_t row() const { return slot_of(followed_); }
  /// Steps, and other sounds of what moves, in earshot of the watched player since this was last asked; and
  /// shots in sight, whatever pellets they had.
  struct Heard {
    std::uint64_t steps = 0, others = 0, shots = 0;
  };
  Heard take_heard() { return std::exchange(heard_, {}); }
  /// Everybody and what lies within radius_m, as a client shows the newest tick, nobody inside a wall, by id.
  std::span<const client_sim::ShownEntity> others() const { return shown_; }

 private:
  WatchedMatch(RecordingReader reader, std::span<const std::uint8_t> bytes, std::unique_ptr<World> world)
      : reader_(std::move(reader)), bytes_(bytes), world_(std::move(world)) {}
  void choose();
  void look();
  void listen();

  RecordingReader reader_;
  std::span<const std::uint8_t> bytes_;
  std::unique_ptr<World> world_;
  TickRecord record_;
  RecordedGround ground_;
  EntityId wanted_{}, followed_{};
  std::vector<EntityId> present_;  // players, by when they came
  MotionCues motion_cues_;
  Heard heard_;
  server::Replicator replicator_;
  std::vector<server::PlacedEntity> placed_;  // by cell, as blocks are
  client_sim::View view_;
  client_sim::Others others_;
  std::vector<EntityRecord> records_;  // scratch
  std::vector<client_sim::ShownEntity> shown_;
};

}  // namespace ashlar::simulation
