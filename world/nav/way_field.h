#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "world/bsp/heights.h"
#include "world/nav/leaf_graph.h"

namespace ashlar {

/// Between which heights a sector's floor goes up and down with who stands on it: a lift that is in motion or
/// that may be called. World metres.
struct FloorRange {
  double low_m = 1, high_m = 0;
  bool rides() const { return low_m <= high_m; }
};

/// What a way may lead through, as sectors are now.
struct WayRules {
  HeightsView heights;
  const PlacedMap* map = nullptr;
  std::span<const std::uint8_t> doors = {};    ///< by sector, 0 or 1: who comes to it may open it
  std::span<const FloorRange> lifts = {};      ///< by sector; empty: nobody waits for any
  std::span<const std::uint16_t> barred = {};  ///< by join, a bit a class: no way; empty: none is

  bool rides(std::uint32_t sector) const { return !lifts.empty() && lifts[sector].rides(); }
};

/// May a walker of the class go from the first of two neighbouring sectors into the second? Up by a step,
/// down by anything, under ceilings that leave it room or behind a door that it may open. A lift counts at
/// the height that suits: who waits for it finds it there.
/// @param beside  sectors that its disc meets on the way and that are no higher than a step, with room, too
bool way_open(const WayRules& rules, const WalkerClass& walker, std::uint32_t from, std::uint32_t to,
              std::span<const std::uint32_t> beside = {});

/// Ways from everywhere in a map to one place, for one class of walkers: by leaf, which way out and how far.
/// Found by Dijkstra's search from the place outwards, a few leaves a call, so that a tick's share is
/// bounded; until it is whole, leaves that it has not come to have no way. Nothing allocates after
/// construction.
class WayField {
 public:
  WayField() = default;
  /// Room for graphs of so many leaves and joins; without joins it only takes what others found.
  WayField(std::uint32_t leaves_max, std::uint32_t joins_max);
  /// Takes the ways of a search that is whole, which gets its own in exchange. Both have room for the same.
  void take(WayField& found);

  /// Begins anew, towards a place of the plane. Old ways are gone. Nothing to search: the place is in void.
  void begin(const LeafGraph& graph, DVec2 to_m, std::size_t which);
  /// Goes on. @return leaves that it settled, at most `leaves_max`
  std::uint32_t advance(const LeafGraph& graph, const WayRules& rules, std::uint32_t leaves_max);
  bool whole() const { return heap_.empty(); }

  /// The join by which one leaves a leaf for the place; no_index: none, or one is there.
  std::uint32_t way_out(std::uint32_t leaf) const { return next_[leaf]; }
  /// Metres from the leaf's way out to the place; below 0: no way is known.
  float distance_m(std::uint32_t leaf) const { return settled_[leaf] != 0 ? distance_[leaf] : -1; }
  /// Metres from a point of a leaf to the place; below 0: no way is known.
  double remaining_m(std::uint32_t leaf, DVec2 at_m) const;
  std::uint32_t target_leaf() const { return target_; }
  std::size_t walker() const { return which_; }

 private:
  struct Open {
    float distance;
    std::uint32_t leaf;
  };
  void push(Open open);
  Open pop();

  std::size_t which_ = 0;
  std::uint32_t target_ = no_index;
  std::vector<std::uint32_t> next_;
  std::vector<float> distance_;
  std::vector<DVec2> exit_m_;  // where a leaf is left
  std::vector<std::uint8_t> settled_;
  std::vector<Open> heap_;
};

}  // namespace ashlar
