#pragma once
#include <cstdint>
#include <vector>

#include "world/bsp/placement.h"
#include "world/math/shapes.h"

namespace ashlar {

/// The leaves of a placed map and the openings between them, for asking whether anybody in one box may see
/// anything in another. Doors and lifts count as open as they ever may be: what they shut the rooms know
/// (open_rooms.h). Immutable; the map has to outlive it. Cost: a millisecond a thousand leaves, 40 bytes an
/// opening.
class SightGraph {
 public:
  explicit SightGraph(const PlacedMap& map);

  /// What a search needs; used again.
  struct Scratch {
    std::vector<std::uint32_t> seen;  ///< by leaf: the search that reached it
    std::vector<std::uint32_t> queue;
    std::uint32_t search = 0;
  };

  /// May a straight line from anywhere in one box to anywhere in the other stay out of this map's rock? False
  /// is sure, true is not; true where neither box lies within the map's, or one across its border. Leaves are
  /// walked through from one box to the other, by openings that lie in the hull of both; to who is outside
  /// the way leads through a sky under which the hull reaches up to the roof.
  /// Cost: some 50 ns for each opening in reach. No allocation once the scratch has grown.
  bool may_see(const Aabb& from, const Aabb& to, Scratch& scratch) const;

  /// The part of a box that something which fills `now` may get to within it: from the leaf that its middle
  /// is in by openings. Never less than `now` within the box; all of the box unless it lies within the map's,
  /// and the middle of `now` in no rock. Cost and memory as in may_see().
  Aabb confined(const Aabb& now, const Aabb& box, Scratch& scratch) const;

 private:
  struct Opening {
    DVec2 a, b;            // world
    double low_m, high_m;  // at most
    std::uint32_t leaf;    // that it leads to
  };
  /// Does a way lead from one box, in the map, to another, or out of the map to it?
  bool search(const Aabb& from, const Aabb& to, bool out, Scratch& scratch) const;
  bool is_rock(std::uint32_t leaf) const { return map_.tree().leaves[leaf].sector == no_index; }
  bool holds(const Aabb& box) const;
  bool begin(Scratch& scratch) const;
  /// Widens `out` by what a rectangle has of a leaf.
  void cover(std::uint32_t leaf, const Aabb& box, Aabb& out) const;
  /// Does the shaft reach the roof over a leaf, and is the sky there?
  template <class Shaft>
  bool leads_out(std::uint32_t leaf, const Shaft& shaft) const;
  template <class Visit>
  void leaves_in(const Aabb& box, Visit&& visit) const;

  const PlacedMap& map_;
  std::vector<std::uint32_t> first_;  // by leaf and one more, in openings_
  std::vector<Opening> openings_;
};

}  // namespace ashlar
