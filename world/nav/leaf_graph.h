#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "world/bsp/open_doors.h"
#include "world/bsp/placement.h"
#include "world/math/shapes.h"

namespace ashlar {

/// A size and skill of walkers that share their ways: of all that a class holds the widest and tallest, and
/// the one that steps least high.
struct WalkerClass {
  Cylinder shape;
  double step_m = 0.75;
  bool flies = false;  ///< over whatever leaves it room
};
inline constexpr std::size_t walker_class_count = 9;
/// Of Doom's sizes, from soldiers to the mastermind, and flyers.
const WalkerClass& walker_class(std::size_t which);
/// Whoever is no wider, taller or worse at steps gets through wherever the other one does.
bool walker_covers(const WalkerClass& able, const WalkerClass& other);
/// The class that a body goes by; walker_class_count: it is larger than all, or steps too low.
std::size_t walker_class_of(const Cylinder& shape, double step_m, bool flies);

/// One sends whoever comes to a place on to another: a teleporter. World frame.
struct Sending {
  DVec2 from_m;  ///< before its line
  DVec2 over_m;  ///< behind it
  DVec2 to_m;
  DVec2 a_m, b_m;  ///< ends of its line
};

/// Where walkers may go in a placed map: its convex leaves, joined by the openings between them, whatever way
/// doors and lifts are. Heights are asked for when a way is looked for, so a sector that moves costs the
/// graph nothing. Immutable; shared by who plays the same map.
class LeafGraph {
 public:
  /// From a leaf into another one, through a part of a straight line. World frame, metres.
  struct Join {
    std::uint32_t to = 0;  ///< leaf
    DVec2 a, b;            ///< the opening
    /// By class: the part of a to b, from 0 to 1, in which a walker's middle may pass; none: from > to.
    float from[walker_class_count], until[walker_class_count];
    bool sends = false;  ///< a teleporter: a is before its line, b the landing
    DVec2 over{};        ///< behind its line
    std::uint32_t over_leaf = 0;

    DVec2 at(double t) const { return a + (b - a) * t; }
    bool open(std::size_t which) const { return from[which] <= until[which]; }
    DVec2 middle(std::size_t which) const { return at((from[which] + until[which]) / 2); }
  };

  /// Cost: some tens of milliseconds for a large map: a few looks under a disc for each opening.
  LeafGraph(const PlacedMap& map, std::span<const Sending> sendings);

  std::uint32_t leaf_count() const { return static_cast<std::uint32_t>(sector_.size()); }
  /// no_index: a leaf of the void.
  std::uint32_t sector(std::uint32_t leaf) const { return sector_[leaf]; }
  /// The leaf at a point of the world's plane. Cost: one descent of the tree.
  std::uint32_t leaf_at(DVec2 at_m) const { return map_->tree().leaf_at(map_->to_map(at_m)); }
  /// Ways out of a leaf: joins first_join(leaf) to first_join(leaf + 1) - 1.
  std::uint32_t first_join(std::uint32_t leaf) const { return first_[leaf]; }
  const Join& join(std::uint32_t number) const { return joins_[number]; }
  std::uint32_t join_count() const { return static_cast<std::uint32_t>(joins_.size()); }
  /// Ways into a leaf: number of a join, and the leaf that it leads out of.
  struct Entry {
    std::uint32_t join, leaf;
  };
  /// Sectors that move and lie under the disc of who goes through a join, beside those that it joins: a
  /// door's other half, bars at its edge.
  std::span<const std::uint32_t> beside(std::uint32_t number, std::size_t which) const {
    const std::size_t at = number * walker_class_count + which;
    return std::span(beside_).subspan(first_beside_[at], first_beside_[at + 1] - first_beside_[at]);
  }
  std::span<const Entry> entries(std::uint32_t leaf) const {
    return std::span(entries_).subspan(first_entry_[leaf], first_entry_[leaf + 1] - first_entry_[leaf]);
  }

 private:
  /// What is looked for under a disc.
  struct Look {
    double radius_m;
    double floor_m_max;  ///< higher floors are in the way
    double base_m;       ///< from which a walker needs its height
  };
  void find_free_parts(Join& join, std::uint32_t from_leaf) const;
  void look_for_free(Join& join, std::size_t which, const Look& look) const;
  void find_beside(const Join& join, std::uint32_t from_leaf);
  bool sent_away(std::span<const Sending> sendings, const Join& join, std::uint32_t from_leaf) const;

  const PlacedMap* map_;
  MovingPlanes planes_;
  std::vector<std::uint32_t> sector_, first_, first_entry_;
  std::vector<Join> joins_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> first_beside_, beside_;  // by join and class
};

}  // namespace ashlar
