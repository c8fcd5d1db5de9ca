#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "protocol/recording.h"
#include "world/bsp/placement.h"
#include "world/sim/world.h"

namespace ashlar::simulation {

/// Hands out the map that a recording names, placed as it was; or one line why not.
using MapSource =
    std::function<std::expected<std::shared_ptr<const PlacedMap>, std::string>(const RecordedMap&)>;

/// How the map was placed: what a MapSource has to make of it.
PlaceOptions place_of(const RecordedMap& map);

/// WorldSetup::make_chunk; null: generated.
using ChunkSource = decltype(WorldSetup::make_chunk);
/// Likewise a prop.
using PropSource =
    std::function<std::expected<std::shared_ptr<const Prop>, std::string>(const RecordedProp&)>;

/// Where an entity was after a tick.
struct TracePoint {
  std::uint32_t tick = 0;
  DVec3 position_m, velocity_mps;
  Turn16 yaw{0};
  bool grounded = false;
  std::uint8_t stuck_ticks = 0;
};

struct ReplayOptions {
  std::optional<std::uint32_t> until_tick;  ///< stops after this tick
  EntityId trace{};                         ///< 0: nobody; a player or a monster
  std::function<void(const TracePoint&)> on_trace;
  ChunkSource ground;
  PropSource props;  ///< may be empty: no recording with props can then be replayed
};

/// A tick whose hash is not the recorded one. Tick 0: the world differs before anyone moved.
struct ReplayMismatch {
  std::uint32_t tick = 0;
  std::uint64_t recorded = 0, replayed = 0;
};

struct ReplayResult {
  std::uint32_t ticks = 0;
  std::uint64_t hash = 0;                  ///< of the world after the last tick
  bool torn = false;                       ///< the recording's end was cut off, as after a crash
  std::optional<ReplayMismatch> mismatch;  ///< the first; the replay ended there
  std::uint32_t traced = 0;                ///< ticks in which the traced entity was there
};

/// Rebuilds the world that a recording began with. @return one line when a map is not to be had or differs.
std::expected<std::unique_ptr<World>, std::string> world_of(const RecordingHeader& header,
                                                            const MapSource& maps,
                                                            const ChunkSource& ground = {},
                                                            const PropSource& props = {});

/// Steps a world through what a recording says entered it. Ground is made from its coordinates.
void step_recorded(World& world, const TickRecord& record);

/// Plays a recorded match again and compares the hash of every tick. Needs no network and no clock.
/// @return an error line for what cannot be replayed: not a recording, another version, damaged, other maps.
std::expected<ReplayResult, std::string> replay(std::span<const std::uint8_t> recording,
                                                const MapSource& maps, const ReplayOptions& options = {});

}  // namespace ashlar::simulation
