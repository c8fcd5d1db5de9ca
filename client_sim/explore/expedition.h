#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "world/collide/space.h"
#include "world/nav/ground_grid.h"
#include "world/nav/ground_regions.h"
#include "world/sim/map_plan.h"
#include "world/sim/rules.h"
#include "world/voxel/volume.h"

namespace ashlar::client_sim {

/// Heights of a set of sectors under one disc: as they are, and how far they were ever seen to go in sectors
/// that can be moved again.
struct StandHeights {
  double floor_m = 0, ceiling_m = 0;         ///< now
  double low_floor_m = 0, high_floor_m = 0;  ///< of the floor's way
  double high_ceiling_m = 0;
};

/// What one explorer is after.
struct ExploreGoal {
  enum class Kind : std::uint8_t { none, sector, line, key, place };
  Kind kind = Kind::none;
  std::uint32_t what = no_index;  ///< sector, line, the key's number in MapPlan::keys(), or a cell
  friend bool operator==(const ExploreGoal&, const ExploreGoal&) = default;
};

/// What explorers of one map know together: where one can stand, what moves what, which sectors were entered,
/// which lines were set off, how far floors and ceilings were seen to go. Fed with nothing but heights and
/// what the explorers themselves did: no secrets of the simulation. One thread.
class Expedition {
 public:
  /// Nobody has been anywhere, and all heights are as at the map's start. Cost: lays a grid over the whole
  /// map.
  Expedition(std::shared_ptr<const PlacedMap> map, const Rules& rules);

  /// A new match in the same map: nobody has been anywhere, nothing was set off. How far floors and ceilings
  /// were seen to go stays known.
  void begin_anew();

  const MapPlan& plan() const { return plan_; }     ///< lines, keys and what they do
  const GroundGrid& grid() const { return grid_; }  ///< whose cells the numbers below are of
  const Rules& rules() const { return rules_; }     ///< of the server
  /// The map alone, as use and shots see it.
  Space space() const { return {&air_, placed_}; }
  HeightsView heights() const { return heights_; }

  /// Takes in the present heights. Call before the explorers think; once for a time is enough.
  void observe(double now_s, HeightsView heights);
  double now_s() const { return now_s_; }
  const StandHeights& stand(std::uint32_t set) const { return stands_[set]; }
  /// Does a body that stands there lean out over ground that is more than a step lower?
  bool leans_out(std::uint32_t cell) const {
    return stands_[grid_.set(cell)].floor_m - heights_[grid_.sector(cell)].floor_m > rules_.step_height_m_max;
  }
  /// Is there a stretch between two neighbouring stands of one height on which nothing carries a body? Over a
  /// slit a body leans from either rim, and between the two it falls.
  bool slit_between(std::uint32_t from, std::uint32_t to) const;
  /// Heights that a sector was seen to have, lowest and highest.
  const SectorHeights& low(std::uint32_t sector) const { return low_[sector]; }
  const SectorHeights& high(std::uint32_t sector) const { return high_[sector]; }
  /// When the sector's heights last changed; long ago at the start.
  double moved_s(std::uint32_t sector) const { return moved_s_[sector]; }
  /// Is the sector one that comes back: moved by a line that works again, or to and fro for ever?
  bool recurs(std::uint32_t sector) const { return recurs_[sector] != 0; }
  /// A way led over a sector that would have had to move, and nobody got it to: no ways through there for a
  /// while, longer each time, or until it moves. What lies behind is as worth going to as before.
  void block(std::uint32_t sector);
  bool blocked(std::uint32_t sector) const { return blocks_[sector].until_s > now_s_; }
  /// Lines that move a sector.
  std::span<const std::uint32_t> lines_moving(std::uint32_t sector) const {
    return std::span(moving_).subspan(first_moving_[sector],
                                      first_moving_[sector + 1] - first_moving_[sector]);
  }

  /// A body is there: sectors under it count as entered. A sector counts when the middle of a body was in it
  /// and the body at most a step over its floor; where no body's middle fits in, when it stood over a part.
  void enter(DVec3 base);
  /// A body was sent on by a teleporter's line: it was in what lies behind that line.
  void enter_behind(std::uint32_t line);
  bool entered(std::uint32_t sector) const { return entered_[sector] != 0; }
  std::uint32_t entered_count() const { return entered_count_; }
  /// Does the middle of a body fit into the sector anywhere?
  bool roomy(std::uint32_t sector) const { return roomy_[sector] != 0; }

  /// Where explorers are, so that they can make way.
  void note_place(std::uint32_t explorer, DVec3 base);
  /// Does another explorer stand in arm's reach of a body? Of two, the one with the higher number makes way.
  bool meets(std::uint32_t explorer, DVec3 base, bool lower_number_only) const;

  /// A line was set off, as far as an explorer can tell.
  void note_fired(std::uint32_t line);
  std::uint32_t fired(std::uint32_t line) const { return fired_[line]; }
  double fired_s(std::uint32_t line) const { return fired_s_[line]; }
  /// Lines that can be set off from a cell by use or by a shot, most of them: to be checked when standing
  /// there.
  std::span<const std::pair<std::uint32_t, std::uint32_t>> stands_at(std::uint32_t cell) const;
  /// Would a body take a key of the map there? Keys lie on their sector's floor, wherever that has gone.
  bool takes_key(std::uint32_t key, DVec3 base) const;
  /// Keys that can be taken from a cell, most of them.
  std::span<const std::pair<std::uint32_t, std::uint32_t>> keys_at(std::uint32_t cell) const;
  /// What there is to know about a cell beyond its ground.
  static constexpr std::uint8_t near_walk_line = 1;  ///< a line that is set off by walking runs close by
  static constexpr std::uint8_t has_stand = 2;       ///< stands_at() is not empty
  static constexpr std::uint8_t has_key = 4;         ///< keys_at() is not empty
  static constexpr std::uint8_t near_way_out = 8;    ///< such a line is an exit or a teleporter's
  static constexpr std::uint8_t at_exit = 16;        ///< nearer to an exit's walk line than a body is wide
  std::uint8_t marks(std::uint32_t cell) const { return marks_[cell]; }

  /// From a place to a line of the map.
  double line_away_m(std::uint32_t line, DVec2 p) const;
  /// Is there a cell at an exit within so many metres in a direction?
  bool exit_ahead(DVec2 from, Turn16 yaw, double within_m) const;

  /// Who is after a goal; two explorers never go for the same.
  bool taken(ExploreGoal goal, std::uint32_t explorer) const;
  void take(ExploreGoal goal, std::uint32_t explorer, double for_s);
  /// Is it a pit, seen from another cell: of the ground that lies ahead there a fifth at most is ahead of it?
  /// As things stand and were seen to stand, a few seconds ago at most; leaps do not count.
  bool dead_end(std::uint32_t cell, std::uint32_t from) const;
  /// One explorer is enough in a dead end: the others leave it alone while somebody is in it or on the way.
  bool dead_end_taken(std::uint32_t cell, std::uint32_t explorer) const;
  void take_dead_end(std::uint32_t cell, std::uint32_t explorer, double for_s);
  /// When something new was found last: a sector entered, a line set off that nobody had set off before.
  double news_s() const { return news_s_; }
  /// It did not work out: nobody tries for a while, longer each time.
  void give_up(ExploreGoal goal);

 private:
  struct Claim {
    std::uint32_t by = no_index;
    double until_s = -1;
    std::uint16_t failures = 0;
  };
  std::size_t claim_index(ExploreGoal goal) const;
  void find_moving();
  void find_stands();
  void find_walk_lines();
  void find_keys();
  void find_regions();
  void measure_regions();
  void raise_stands();
  void count(std::uint32_t sector);

  std::shared_ptr<const PlacedMap> map_;
  MapPlan plan_;
  Rules rules_;
  GroundGrid grid_;
  VoxelVolume air_;
  std::vector<SectorHeights> heights_, low_, high_;
  std::vector<MapInSpace> placed_;
  double now_s_ = 0, news_s_ = 0;
  std::vector<double> moved_s_;
  std::vector<Claim> blocks_;         // by sector
  std::vector<StandHeights> stands_;  // by set
  std::vector<std::uint8_t> recurs_, roomy_, entered_;
  std::uint32_t entered_count_ = 0;
  std::vector<DVec3> places_;  // by explorer
  std::vector<std::uint32_t> first_moving_, moving_;
  std::vector<std::uint32_t> fired_;
  std::vector<double> fired_s_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> line_stands_;  // (cell, line), sorted
  std::vector<std::pair<std::uint32_t, std::uint32_t>> key_stands_;   // (cell, key), sorted
  std::vector<std::uint32_t> key_sector_;                             // by key
  std::vector<std::uint8_t> marks_;                                   // by cell
  GroundRegions regions_;
  bool regions_stale_ = true;
  double regions_measured_s_ = 0;
  std::vector<Claim> dead_ends_;  // by region
  std::vector<Claim> claims_;     // sectors, then lines, then keys
};

}  // namespace ashlar::client_sim
