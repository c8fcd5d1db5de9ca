#pragma once
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/recording.h"
#include "world/bsp/placement.h"
#include "world/sim/world.h"

// A world as the header of its recording tells it, and back. What one of the two names the other has to.

namespace ashlar {

/// What a recording of this world begins with. Precondition: nothing has been stepped yet.
/// @param kept  chunks of its home that are not as they were generated, as its store had them
RecordingHeader recording_header(const World& world, const std::string& build,
                                 std::vector<ChangedChunk> kept = {});

/// How a recorded map was placed: what a MapSource has to make of it.
PlaceOptions place_of(const RecordedMap& map);

/// Hands out the map that a recording names, placed as it was; or one line why not.
using MapSource =
    std::function<std::expected<std::shared_ptr<const PlacedMap>, std::string>(const RecordedMap&)>;
/// Likewise a prop. May be empty: no recording with props can then be replayed.
using PropSource =
    std::function<std::expected<std::shared_ptr<const Prop>, std::string>(const RecordedProp&)>;
/// WorldSetup::make_chunk; null: generated.
using ChunkSource = decltype(WorldSetup::make_chunk);
/// WorldSetup::game; null: that of the rule set's mode.
using RecordedGame = decltype(WorldSetup::game);

/// Rebuilds the world that a recording began with, played by the rules of its mode or, where `game` makes
/// one, by that game (WorldSetup::game). @return one line when a map or prop is not to be had or is not the
/// one that was played.
std::expected<std::unique_ptr<World>, std::string> world_of(const RecordingHeader& header,
                                                            const MapSource& maps,
                                                            const ChunkSource& ground = {},
                                                            const PropSource& props = {},
                                                            const RecordedGame& game = {});

}  // namespace ashlar
