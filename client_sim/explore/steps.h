#pragma once
#include <cstdint>
#include <vector>

#include "client_sim/explore/expedition.h"
#include "client_sim/explore/route.h"
#include "world/collide/body.h"
#include "world/sim/command.h"

// What an explorer's feet know: single steps over the grid.

namespace ashlar::client_sim {

/// Walks straight to a point, slower towards its end.
/// @param stop  come to rest there, instead of going on
PlayerCommand step_to(const Rules& rules, DVec2 from, DVec2 to, bool stop);

/// The cell that a body stands in: the nearest with its height; no_index: none within half a metre.
std::uint32_t standing_cell(const Expedition& e, const Body& body);

/// Can a body go from a cell to the one beside it?
Passage passage_between(const Expedition& e, std::uint32_t from, std::uint32_t to);

/// Can one walk straight, over level ground or single steps, and over no line that is set off by it?
bool straight(const Expedition& e, DVec2 from, DVec2 to);

/// Where somebody came from: the way back when another one has to pass.
class Trail {
 public:
  /// It is here now.
  void note(DVec2 here);
  bool empty() const { return places_m_.empty(); }
  /// Is there any way back?
  bool leads() const { return places_m_.size() > 2; }
  /// Back along the trail, which gets shorter by it. Precondition: not empty.
  PlayerCommand back(const Rules& rules, DVec2 here);

 private:
  std::vector<DVec2> places_m_;  // newest last
};

}  // namespace ashlar::client_sim
