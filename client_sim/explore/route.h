#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client_sim/explore/expedition.h"

namespace ashlar::client_sim {

/// A way over the cells of an expedition's grid, and what waits at its end.
struct Route {
  std::vector<std::uint32_t> cells;
  std::vector<std::size_t> leaps;  ///< from cells[i] to cells[i + 1] one runs and jumps; ascending
  ExploreGoal goal;
};

/// What a search is told beside the map.
struct RouteWish {
  std::uint32_t from = no_index;  ///< cell
  std::uint32_t explorer = 0;
  std::uint8_t keys = 0;                 ///< held
  std::uint8_t keys_later = 0;           ///< not worth a try now
  std::span<const std::uint16_t> avoid;  ///< by cell: extra cost in cm where something went wrong; or empty
  ExploreGoal favourite;                 ///< came close to it before: goes first where costs are near
  std::span<const std::uint32_t> only;   ///< lines: one of these is the goal, over open ways alone
  std::uint32_t to = no_index;           ///< a cell: it is the goal, and nothing else
  bool exits = false;                    ///< an exit is the goal, and nothing else
};

/// Can a body go from one stand to a neighbouring one?
enum class Passage : std::uint8_t {
  no,
  later,  ///< not as things stand, but once floors or ceilings stand as they were seen to stand
  jump,   ///< over an edge that is higher than a step
  open,
};
Passage passage(const StandHeights& from, const StandHeights& to, const Rules& rules);

/// How a line is set off from a place: where to look, and what to press.
struct LineAim {
  Turn16 yaw{0}, pitch{0};
  std::uint16_t buttons = 0;
};
/// nullopt: not from there, not now.
std::optional<LineAim> aim_at_line(const Expedition& e, std::uint32_t line, DVec3 base);

/// Is it a line that sends bodies elsewhere on the map?
bool teleports(const LineAction& action);

/// Does the player with these keys open a line's lock?
bool unlocks(const Expedition& e, std::uint32_t line, std::uint8_t keys);

/// Finds ways: Dijkstra over the cells, ends at the cheapest goal. Only where walking leads to none, leaps
/// over gaps are looked for, from every edge that was reached. One for all explorers of an expedition, as its
/// memory is 8 bytes a cell. Cost: 20 to 50 ns a cell looked at; the whole of a large map 50 ms.
class Router {
 public:
  /// The cheapest goal in reach; nullopt: none.
  std::optional<Route> find(const Expedition& e, const RouteWish& wish);

 private:
  struct Search;
  std::vector<std::uint32_t> cost_, parent_;  // by cell
  // By cell: the cell behind the line of the teleporter that leads here; itself: a leap leads here.
  std::vector<std::uint32_t> via_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::vector<std::uint32_t>> buckets_;
};

}  // namespace ashlar::client_sim
