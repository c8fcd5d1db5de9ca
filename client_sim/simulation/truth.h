#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/messages.h"
#include "protocol/quantise.h"
#include "protocol/recording.h"
#include "world/sim/player_move.h"

namespace ashlar {
class World;
}

namespace ashlar::simulation {

/// An entity as any client may be told of it: quantised from the world itself, not from what was sent.
struct TrueEntity {
  CellCoord cell;
  EntityRecord record;
};

/// A player to the last bit, and what moved it.
struct TruePlayer {
  EntityId id{};
  Body body;
  PlayerCommand command;  ///< as its client made it, where note_command() told; else as the world has it
  std::uint8_t health = 0;
};

/// A player whose eye sees an entity.
struct TrueSight {
  EntityId viewer{}, seen{};
  CellCoord cell;         ///< of the seen one
  double distance_m = 0;  ///< from the eye to its base
};

/// The world after one tick.
struct TrueFrame {
  std::uint32_t tick = 0;  ///< 0: empty
  std::uint64_t hash = 0;
  std::vector<TrueEntity> entities;  ///< by cell, then id
  std::vector<TruePlayer> players;   ///< by row
  /// Some of the pairs of whom no map's rock is between, found by rays: a few others in every tick.
  std::vector<TrueSight> sights;
  std::vector<std::vector<WireHeights>> heights;  ///< by map and sector

  /// The entities of one cell, by id. O(log n).
  std::span<const TrueEntity> cell(CellCoord at) const;
  /// Those of them whose ids are from `first` to `last`.
  std::span<const TrueEntity> cell(CellCoord at, EntityId first, EntityId last) const;
  const TruePlayer* player(EntityId id) const;
  /// Is the pair among `sights`?
  bool sees(EntityId viewer, EntityId seen) const;
  /// That it takes, beside itself.
  std::size_t bytes() const;
};

/// What the server's world was in its last ticks: what clients hold as confirmed is compared with it.
/// A ring; nothing is allocated once its frames have grown.
class Truth {
 public:
  static constexpr std::uint32_t seconds_kept = 34;  ///< beyond the longest stall of a client

  explicit Truth(std::uint32_t tick_rate_hz) : ring_(seconds_kept * tick_rate_hz) {}

  /// Call once per tick, after the step.
  void take(const World& world);
  /// What a player's client asked for in a tick that was taken, before its yaw was turned to the world's.
  void note_command(std::uint32_t tick, EntityId id, const PlayerCommand& command);
  /// Null when the tick is older than what is kept, or has not been.
  const TrueFrame* at(std::uint32_t tick) const;
  /// A new server has begun at tick 0.
  void clear();
  /// Of the ring. It grows until each frame has been of the fullest world.
  std::size_t bytes() const;

 private:
  /// One pair in so many is looked at in a tick: a ray costs what ten comparisons do.
  static constexpr std::uint32_t pairs_per_look = 32;

  static void look_around(const World& world, TrueFrame& frame);

  TrueFrame& frame_of(std::uint32_t tick) { return ring_[tick % ring_.size()]; }

  std::vector<TrueFrame> ring_;
};

}  // namespace ashlar::simulation
