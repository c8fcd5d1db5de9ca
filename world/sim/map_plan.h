#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "world/bsp/line_specials.h"
#include "world/bsp/placement.h"

namespace ashlar {

/// A place to appear at: base of the body and where it looks.
struct Landing {
  DVec3 position_m;
  Turn16 yaw{0};
  std::uint32_t sector = no_index;
  std::uint32_t thing = no_index;  ///< its number in the map
};

inline constexpr double key_reach_m = 36.0 / 32;  ///< see key_in_reach()

/// A key lying in a map.
struct MapKey {
  DVec3 position_m;
  std::uint8_t key = 0;     ///< one bit of world/bsp/line_specials.h key::
  std::uint16_t flags = 0;  ///< thing_flag: in which games it lies there (thing_in_game())
};

/// Is a body whose middle is at `middle` near enough, along x and along y, to take the key? The boxes that
/// Doom gives both (20 and 16 units) touch: many keys lie in niches that nobody fits into and are taken from
/// outside.
inline bool key_in_reach(const MapKey& key, DVec2 middle) {
  return std::fabs(key.position_m.x - middle.x) < key_reach_m &&
         std::fabs(key.position_m.y - middle.y) < key_reach_m;
}
/// Likewise upright: a key that lies at key_z beside a body from base_z up.
inline bool key_beside(double key_z, double base_z, double body_height_m) {
  constexpr double key_height_m = 0.5;
  return key_z + key_height_m >= base_z && key_z <= base_z + body_height_m;
}

/// A sector whose floor carries what stands on it.
struct Conveyor {
  std::uint32_t sector = 0;
  DVec2 velocity_mps;
};

/// The rectangle around a sector's lines.
struct SectorBounds {
  DVec2 low, high;
};

/// What the moving parts of one map are made of: neighbours, tags, triggers, landings, keys.
/// Immutable, built once per placed map, shared by every world that runs it. World frame, metres.
class MapPlan {
 public:
  /// Cost: linear in the map, about a millisecond.
  explicit MapPlan(std::shared_ptr<const PlacedMap> map);

  const PlacedMap& map() const { return *map_; }  ///< kept alive by this
  /// Of the map as compiled, with the doorway's own.
  std::uint32_t sector_count() const { return static_cast<std::uint32_t>(map_->source().sectors.size()); }

  /// Lines with the sector on either side, in the map's order.
  std::span<const std::uint32_t> lines_of(std::uint32_t sector) const {
    return std::span(sector_lines_)
        .subspan(first_line_[sector], first_line_[sector + 1] - first_line_[sector]);
  }
  const SectorBounds& bounds_of(std::uint32_t sector) const { return bounds_[sector]; }
  /// The sector on the other side of a line; no_index: void, or the same sector on both sides.
  std::uint32_t beside(std::uint32_t sector, std::uint32_t line) const;
  /// Nothing fits or is heard between two sectors: void on a side, or no room between the floors and ceilings
  /// of both, a sky ceiling being at the roof.
  bool closed(HeightsView heights, std::uint32_t a, std::uint32_t b) const;
  /// The sector that a place (within the map's box) lies in; no_index: in void. Cost: one descent of the
  /// tree.
  std::uint32_t sector_at(DVec2 at_m) const;
  /// Sectors that carry a tag, ascending. Tag 0 is nobody's.
  std::span<const std::pair<std::uint16_t, std::uint32_t>> tagged(std::uint16_t tag) const;

  /// What a line does; nullptr: nothing (no special, an unknown one, or one for eyes and ears only).
  const LineAction* action(std::uint32_t line) const {
    const std::uint32_t at = action_of_line_[line];
    return at == no_index ? nullptr : &actions_[at];
  }

  /// A line's ends.
  DVec2 start_m(std::uint32_t line) const { return ends_[line].first; }
  DVec2 end_m(std::uint32_t line) const { return ends_[line].second; }
  /// On which side of a line is a point: true in front, the line included.
  bool in_front(std::uint32_t line, DVec2 p) const {
    const auto& [a, b] = ends_[line];
    return cross(b - a, p - a) <= 0;
  }

  /// Calls visit(line) for every line near the box that is set off by use or by walking; some twice.
  template <typename Visit>
  void visit_triggers(DVec2 low, DVec2 high, Visit&& visit) const {
    const std::int32_t x0 = cell_of(low.x - origin_.x, nx_), x1 = cell_of(high.x - origin_.x, nx_);
    const std::int32_t y0 = cell_of(low.y - origin_.y, ny_), y1 = cell_of(high.y - origin_.y, ny_);
    for (std::int32_t y = y0; y <= y1; ++y)
      for (std::int32_t x = x0; x <= x1; ++x) {
        const std::size_t c = cell_index(x, y);
        for (std::size_t i = first_trigger_[c]; i < first_trigger_[c + 1]; ++i) visit(triggers_[i]);
      }
  }
  /// Lines that are set off by a shot.
  std::span<const std::uint32_t> shoot_lines() const { return shoot_lines_; }
  /// Landings of teleporters, by sector, then in the map's order.
  std::span<const Landing> landings() const { return landings_; }
  std::span<const MapKey> keys() const { return keys_; }
  /// Where an exit leads: the top of the doorway, or the roof's edge.
  const Landing& surface() const { return surface_; }
  /// Sectors that start on their own after a while: closed after 30 s (10), opened after 5 minutes (14).
  std::span<const std::uint32_t> timed_sectors() const { return timed_sectors_; }
  /// Sectors with floors that carry, ascending.
  std::span<const Conveyor> conveyors() const { return conveyors_; }
  /// Specials that do nothing here, by number and count.
  std::span<const std::pair<std::uint16_t, std::uint32_t>> unknown() const { return unknown_; }

 private:
  static constexpr double cell_m = 4;
  std::int32_t cell_of(double v, std::int32_t n) const {
    const double c = v / cell_m;
    return c < 0 ? 0 : c >= n ? n - 1 : static_cast<std::int32_t>(c);
  }
  std::size_t cell_index(std::int32_t x, std::int32_t y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(nx_) + static_cast<std::size_t>(x);
  }
  template <typename Visit>
  void visit_cells(std::uint32_t line, Visit&& visit) const;
  void find_conveyors();
  void sort_lines();
  void find_bounds();
  void sort_triggers();
  void find_places();

  std::shared_ptr<const PlacedMap> map_;
  std::vector<std::uint32_t> first_line_, sector_lines_;
  std::vector<SectorBounds> bounds_;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> tags_;
  std::vector<std::uint32_t> action_of_line_;
  std::vector<LineAction> actions_;
  std::vector<std::pair<DVec2, DVec2>> ends_;
  DVec2 origin_;
  std::int32_t nx_ = 1, ny_ = 1;
  std::vector<std::size_t> first_trigger_;  // by cell: where its lines begin in triggers_
  std::vector<std::uint32_t> triggers_, shoot_lines_;
  std::vector<Landing> landings_;
  std::vector<MapKey> keys_;
  std::vector<std::uint32_t> timed_sectors_;
  std::vector<Conveyor> conveyors_;
  Landing surface_;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> unknown_;
};

}  // namespace ashlar
