#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "protocol/recorded_world.h"
#include "world/sim/observer.h"

namespace ashlar::simulation {

/// Where an entity was after a tick.
struct TracePoint {
  std::uint32_t tick = 0;
  DVec3 position_m, velocity_mps;
  Turn16 yaw{0};
  bool grounded = false;
  std::uint8_t stuck_ticks = 0;
};

/// How far to replay, whom to watch, and where ground and props come from.
struct ReplayOptions {
  std::optional<std::uint32_t> until_tick;  ///< stops after this tick
  EntityId trace{};                         ///< 0: nobody; a player or a monster
  /// Called after each tick in which `trace` is there; may be empty.
  std::function<void(const TracePoint&)> on_trace;
  /// Called with the world after each tick; may be empty.
  std::function<void(const World&)> on_tick;
  Observer* observer = nullptr;  ///< looks on; null: nobody does
  /// Called with what it comes to, after each tick; may be empty.
  std::function<void(std::uint32_t tick, const ObserverVerdict&)> on_verdict;
  ChunkSource ground;  ///< null: generated from the seed
  RecordedGame game;   ///< of a recorded game of somebody's own; null: that of the mode
  PropSource props;    ///< may be empty: no recording with props can then be replayed
};

/// A tick whose hash is not the recorded one. Tick 0: the world differs before anyone moved.
struct ReplayMismatch {
  std::uint32_t tick = 0;
  std::uint64_t recorded = 0, replayed = 0;
};

/// How far a replay came and whether it agreed.
struct ReplayResult {
  std::uint32_t ticks = 0;                 ///< stepped, one that did not agree among them
  std::uint64_t hash = 0;                  ///< of the world after the last tick
  bool torn = false;                       ///< the recording's end was cut off, as after a crash
  std::optional<ReplayMismatch> mismatch;  ///< the first; the replay ended there
  std::uint32_t traced = 0;                ///< times that on_trace was called
};

/// Why a recording cannot be read on, one line. The remedy is part of it: people meet these when they carry a
/// recording from one build to another.
std::string recording_trouble(RecordingError error, std::span<const std::uint8_t> recording);

/// Ground that went from a replayed world and may come back: as the match's store had it.
class RecordedGround {
 public:
  /// What a tick takes away; of the seed's ground nothing has to be kept.
  void keep(const World& world, std::span<const ChunkCoord> dropped);
  /// What comes into it: as the recording has it, as it went, or made from its coordinates.
  std::unique_ptr<Chunk> bring(const World& world, const TickRecord& record, ChunkCoord at);

 private:
  struct Less {
    bool operator()(const ChunkCoord& a, const ChunkCoord& b) const {
      return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
    }
  };
  std::map<ChunkCoord, std::unique_ptr<Chunk>, Less> gone_;
};

/// Steps a world through what a recording says entered it. @param ground  of all ticks before
/// @param observer  looks on; null: nobody does
void step_recorded(World& world, const TickRecord& record, RecordedGround& ground,
                   Observer* observer = nullptr);

/// Plays a recorded match again and compares the hash of every tick. Needs no network and no clock.
/// @return an error line for what cannot be replayed: not a recording, another version, damaged, other maps.
std::expected<ReplayResult, std::string> replay(std::span<const std::uint8_t> recording,
                                                const MapSource& maps, const ReplayOptions& options = {});

/// What people are told of a recording whose end was cut off behind so many ticks; no newline.
std::string torn_line(std::uint32_t ticks);

}  // namespace ashlar::simulation
