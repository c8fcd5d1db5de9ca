#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "world/bsp/doorway.h"
#include "world/bsp/heights.h"
#include "world/bsp/placed_map.h"
#include "world/bsp/sector_map.h"
#include "world/bsp/tree.h"
#include "world/math/turn.h"

namespace ashlar {

/// How a map is put into a world.
struct PlaceOptions {
  std::string name;            ///< what welcome messages and errors call it; empty: the map's own name
  IVec2 origin_block{};        ///< lower corner of the box
  std::int32_t surface_z = 0;  ///< the roof's height: the ground around the box is levelled to it
  bool doors_open = true;      ///< doors raised, lifts and other blocking floors lowered
  bool doorway = true;         ///< cut stairs from a room up to the surface
  bool visibility = false;     ///< know which sectors may see each other (visibility.h tells the cost)
};

/// Why a map could not be placed, for people.
struct PlacementError {
  std::string map;
  std::string reason;
  std::string line() const { return map + ": " + reason; }  ///< "map: reason", without an end of line
};

/// A thing where it stands in the world.
struct PlacedThing {
  DVec3 position_m;  ///< on the initial floor of its sector
  Turn16 yaw{0};
  std::uint16_t type = 0;           ///< editor number; world/sim/thing_table.h says what it is
  std::uint16_t flags = 0;          ///< thing_flag
  std::uint32_t sector = no_index;  ///< no_index: stands in void, leave it out
};

/// Stairs from a room to the surface, cut at placement.
struct Doorway {
  DVec3 foot_m;  ///< on the room's floor in front of the stairs
  DVec3 top_m;   ///< on the roof behind the last step
};

struct LineGrid;
struct SectorVisibility;

/// Gives the visibility set of a map as it was compiled, doorways cut: who kept the sets of an earlier run
/// need not compute them again. What it gives must be what compute_visibility would; never null.
using VisibilitySource =
    std::function<std::shared_ptr<const SectorVisibility>(const SectorMap& compiled, const BspTree& tree)>;

/// A map where it stands: geometry, tree, things; everything but the sectors' heights, which are state.
/// Immutable and shared.
class PlacedMap {
 public:
  const std::string& name() const { return name_; }
  /// What it was placed with, the name filled in.
  const PlaceOptions& options() const { return options_; }
  /// The geometry that was compiled, with doorways cut.
  const SectorMap& source() const { return source_; }
  /// The geometry before doorways were cut: placed with options() it gives this map again. A copy.
  SectorMap drawn() const;
  const BspTree& tree() const { return tree_; }
  const BlockBox& box() const { return box_; }
  double roof_m() const { return static_cast<double>(box_.max.z); }
  /// Rock under the deepest floor and over the highest room, at least: what moves stops there.
  static constexpr double slab_m = 1;
  double lowest_floor_m() const { return static_cast<double>(box_.min.z) + slab_m; }
  double highest_ceiling_m() const { return roof_m() - slab_m; }
  /// Heights at placement, by sector; the world's sector state starts as a copy.
  std::span<const SectorHeights> initial_heights() const { return initial_heights_; }
  std::span<const PlacedThing> things() const { return things_; }
  std::span<const Doorway> doorways() const { return doorways_; }
  /// Why a doorway that the options asked for was not cut; empty when it was, or was not asked for.
  const std::string& no_doorway() const { return no_doorway_; }
  /// Over source, place and options: equal on two machines means equal worlds.
  std::uint64_t content_hash() const { return content_hash_; }

  /// World x, y to map units, and back. Exact for what a double can hold of both.
  DVec2 to_map(DVec2 world_m) const {
    return {(world_m.x - shift_m_.x) * map_units_per_m + base_.x,
            (world_m.y - shift_m_.y) * map_units_per_m + base_.y};
  }
  DVec2 to_world(DVec2 map) const {
    return {(map.x - base_.x) / map_units_per_m + shift_m_.x,
            (map.y - base_.y) / map_units_per_m + shift_m_.y};
  }
  /// Map z to world z, and back.
  double z_to_world(double z) const { return (z - z_base_) / map_units_per_m + roof_m(); }
  double z_to_map(double z_m) const { return (z_m - roof_m()) * map_units_per_m + z_base_; }

  /// Lines and leaves in cells: what the queries of placed_map.h read.
  const LineGrid& grid() const { return *grid_; }
  /// Which sectors may see each other; null when the options did not ask for it.
  const SectorVisibility* visibility() const { return visibility_.get(); }
  /// Pairs of sectors, lower first, whose leaves touch along a line, sorted; empty without a visibility set.
  std::span<const std::pair<std::uint32_t, std::uint32_t>> neighbours() const { return neighbours_; }
  /// Is the sector's ceiling sky: open to the roof and above, whatever its height?
  bool sky(std::uint32_t sector) const { return sky_[sector] != 0; }
  /// Is it open to the sky now? A sky that the map moves is a door of sky: shut on its floor it is rock.
  bool open_to_sky(std::uint32_t sector, const SectorHeights& now) const {
    return sky_[sector] == 1 || (sky_[sector] == moving_sky && now.ceiling_m > now.floor_m);
  }

 private:
  friend class MapPlacer;
  std::string name_;
  PlaceOptions options_;
  SectorMap source_;
  BspTree tree_;
  BlockBox box_{};
  DVec2 shift_m_;      ///< world place of base_, whole metres
  DVec2 base_;         ///< lower corner of the map's bounds, map units
  double z_base_ = 0;  ///< the roof in map units
  static constexpr std::uint8_t moving_sky = 2;
  std::vector<std::uint8_t> sky_;  ///< by sector: 0 none, 1 sky, moving_sky one that lines move
  std::vector<SectorHeights> initial_heights_;
  std::vector<PlacedThing> things_;
  std::vector<Doorway> doorways_;
  std::optional<DoorwaySeam> seam_;  ///< of the doorway, if one was cut
  std::string no_doorway_;
  std::uint64_t content_hash_ = 0;
  std::shared_ptr<const LineGrid> grid_;
  std::shared_ptr<const SectorVisibility> visibility_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> neighbours_;
};

/// Puts a map into the world: cuts doorways, compiles, opens doors, finds box and roof.
/// Refused: a map without sectors or lines, a box that leaves the world (|x|, |y| < 2^20 m).
/// Cost: that of build_bsp, tens of milliseconds.
/// @param visibility  asked once when the options want a set; empty: compute_visibility
std::expected<std::shared_ptr<const PlacedMap>, PlacementError> place_map(
    const SectorMap& map, const PlaceOptions& options, const VisibilitySource& visibility = {});

}  // namespace ashlar
