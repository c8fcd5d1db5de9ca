#include "world/bsp/placement.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "world/bsp/doorway.h"
#include "world/bsp/line_grid.h"
#include "world/bsp/open_doors.h"
#include "world/bsp/visibility.h"
#include "world/bsp/widest_heights.h"
#include "world/math/assert.h"
#include "world/math/hash.h"

namespace ashlar {
namespace {

/// Rock around the map's bounds, under its lowest floor and over its highest room.
constexpr double margin_m = 1;
constexpr double slab_units = PlacedMap::slab_m * map_units_per_m;
static_assert(margin_m > 0 && slab_units > 0);  // or bodies beside the map would stand in its rooms
constexpr std::uint16_t player_1_start = 1;
constexpr std::int32_t world_xy_max = 1 << 20;
constexpr std::int32_t world_z_max = 1 << 12;

Turn16 yaw_of(std::int16_t degrees) {
  const int turned = ((degrees % 360) + 360) % 360;
  return Turn16{static_cast<std::uint16_t>(turned * 65536 / 360)};
}

std::string why_no_doorway(NoDoorway why) {
  switch (why) {
    case NoDoorway::too_deep:
      return "stairs to the surface would need more than " + std::to_string(doorway_steps_max) +
             " steps; raise the floor of a room or lower the map's highest ceiling";
    case NoDoorway::no_room: break;
  }
  return "no wall has void enough behind it for stairs to the surface";
}

}  // namespace

/// Fills a PlacedMap step by step; the steps need each other's results in this order.
class MapPlacer {
 public:
  MapPlacer(const SectorMap& map, const PlaceOptions& options, const VisibilitySource& visibility)
      : options_(options), visibility_(visibility) {
    placed_->source_ = map;
    placed_->name_ = options.name.empty() ? map.name : options.name;
    placed_->options_ = options;
    placed_->options_.name = placed_->name_;
  }

  std::expected<std::shared_ptr<const PlacedMap>, PlacementError> run() {
    PlacedMap& m = *placed_;
    if (m.source_.lines.empty() || m.source_.sectors.empty()) return refuse("has no lines or no sectors");
    heights_ = options_.doors_open ? heights_with_open_doors(m.source_) : heights_as_drawn(m.source_);
    ASHLAR_ASSERT(heights_.size() == m.source_.sectors.size());
    find_ends();
    ASHLAR_ASSERT(lowest_ <= highest_);
    m.z_base_ = highest_ + slab_units;

    m.tree_ = build_bsp(m.source_);
    std::optional<CutDoorway> cut;
    if (options_.doorway) {
      if (const auto stairs = doorway()) {
        cut = *stairs;
        m.tree_ = build_bsp(m.source_);
      } else {
        m.no_doorway_ = why_no_doorway(stairs.error());
      }
    }
    if (auto wrong = find_box()) return refuse(*wrong);
    ASHLAR_ASSERT(m.box_.min.x < m.box_.max.x && m.box_.min.y < m.box_.max.y && m.box_.min.z < m.box_.max.z);
    ASHLAR_ASSERT(heights_.size() == m.source_.sectors.size());  // the stairs' sectors have theirs
    sectors();
    const DVec2 low{static_cast<double>(m.box_.min.x), static_cast<double>(m.box_.min.y)};
    const DVec2 high{static_cast<double>(m.box_.max.x), static_cast<double>(m.box_.max.y)};
    m.grid_ = std::make_shared<const LineGrid>(
        build_line_grid(m.source_, m.tree_, MapBounds{m.to_map(low), m.to_map(high)}));
    if (options_.visibility) {
      m.neighbours_ = sector_neighbours(m.tree_);
      m.visibility_ = visibility_
                          ? visibility_(m.source_, m.tree_)
                          : std::make_shared<const SectorVisibility>(compute_visibility(m.source_, m.tree_));
      ASHLAR_ASSERT(m.visibility_ != nullptr && m.visibility_->sectors == m.source_.sectors.size());
    }
    if (cut) {
      m.doorways_.push_back(placed_doorway(*cut));
      m.seam_ = cut->seam;
    }
    things();
    m.content_hash_ = hash();
    return placed_;
  }

 private:
  std::unexpected<PlacementError> refuse(std::string reason) const {
    return std::unexpected(PlacementError{placed_->name_, std::move(reason)});
  }

  /// Top of the highest room or floor, which the roof lies a slab above, and the deepest floor: also where
  /// lines move them. What they move again and again, without an end, stops at the slab.
  void find_ends() {
    const SectorMap& map = placed_->source_;
    const std::vector<DrawnHeights> widest = widest_heights(map);
    for (std::size_t i = 0; i < heights_.size(); ++i) {
      const MapSector& s = map.sectors[i];
      highest_ = std::max({highest_, heights_[i].floor, s.floor});
      lowest_ = std::min({lowest_, heights_[i].floor, s.floor});
      if (std::isfinite(widest[i].floor)) lowest_ = std::min(lowest_, widest[i].floor);
      if (s.sky()) continue;
      highest_ = std::max({highest_, heights_[i].ceiling, s.ceiling});
      if (std::isfinite(widest[i].ceiling)) highest_ = std::max(highest_, widest[i].ceiling);
    }
  }

  std::optional<std::string> find_box() {
    PlacedMap& m = *placed_;
    m.base_ = m.tree_.bounds.min;
    m.shift_m_ = {static_cast<double>(options_.origin_block.x) + margin_m,
                  static_cast<double>(options_.origin_block.y) + margin_m};
    const DVec2 extent = m.tree_.bounds.max - m.tree_.bounds.min;
    const auto blocks = [](double units) { return std::ceil(units / map_units_per_m); };
    const double wide = blocks(extent.x) + 2 * margin_m, deep = blocks(extent.y) + 2 * margin_m;
    const double down = blocks(m.z_base_ - lowest_) + blocks(slab_units);
    const auto beyond = [](double low, double size, double limit) {
      return low < -limit || low + size > limit;
    };
    if (beyond(options_.origin_block.x, wide, world_xy_max) ||
        beyond(options_.origin_block.y, deep, world_xy_max))
      return "does not fit into the world at block " + std::to_string(options_.origin_block.x) + "," +
             std::to_string(options_.origin_block.y) + "; place it nearer to the origin";
    if (beyond(options_.surface_z - down, down, world_z_max))
      return "reaches " + std::to_string(static_cast<int>(down)) +
             " blocks below the surface, more than the world has there";
    m.box_.min = {options_.origin_block.x, options_.origin_block.y,
                  options_.surface_z - static_cast<std::int32_t>(down)};
    m.box_.max = {options_.origin_block.x + static_cast<std::int32_t>(wide),
                  options_.origin_block.y + static_cast<std::int32_t>(deep), options_.surface_z};
    return std::nullopt;
  }

  /// Needs the tree of the map as it was, to know where player 1 starts.
  std::expected<CutDoorway, NoDoorway> doorway() {
    PlacedMap& m = *placed_;
    DVec2 start = (m.tree_.bounds.min + m.tree_.bounds.max) * 0.5;
    std::uint32_t sector = no_index;
    for (const MapThing& t : m.source_.things) {
      if (t.type != player_1_start) continue;
      start = {t.x, t.y};
      sector = m.tree_.sector_at(start);
      break;
    }
    return cut_doorway(m.source_, heights_, m.z_base_, start, sector);
  }

  Doorway placed_doorway(const CutDoorway& cut) const {
    const PlacedMap& m = *placed_;
    const DVec2 foot = m.to_world(cut.foot), top = m.to_world(cut.top);
    return {{foot.x, foot.y, m.z_to_world(cut.foot_z)}, {top.x, top.y, m.roof_m()}};
  }

  void sectors() {
    PlacedMap& m = *placed_;
    const std::vector<std::uint8_t> moving = moving_ceilings(m.source_);
    for (std::size_t i = 0; i < heights_.size(); ++i) {
      m.sky_.push_back(!m.source_.sectors[i].sky() ? 0 : moving[i] != 0 ? PlacedMap::moving_sky : 1);
      m.initial_heights_.push_back({m.z_to_world(heights_[i].floor), m.z_to_world(heights_[i].ceiling)});
    }
  }

  void things() {
    PlacedMap& m = *placed_;
    for (const MapThing& t : m.source_.things) {
      PlacedThing p;
      const DVec2 at = m.to_world({t.x, t.y});
      p.sector = m.tree_.sector_at({t.x, t.y});
      const double z = p.sector == no_index ? m.roof_m() : m.initial_heights_[p.sector].floor_m;
      p.position_m = {at.x, at.y, z};
      p.yaw = yaw_of(t.angle_deg);
      p.type = t.type;
      p.flags = t.flags;
      m.things_.push_back(p);
    }
  }

  std::uint64_t hash() const {
    const PlacedMap& m = *placed_;
    Hasher h;
    h.add(ashlar::content_hash(m.source_));
    h.add(m.box_.min);
    h.add(m.box_.max);
    for (const SectorHeights& s : m.initial_heights_) h.add(s.floor_m), h.add(s.ceiling_m);
    return h.value();
  }

  const PlaceOptions& options_;
  const VisibilitySource& visibility_;
  std::shared_ptr<PlacedMap> placed_ = std::make_shared<PlacedMap>();
  std::vector<DrawnHeights> heights_;
  double highest_ = -1e300, lowest_ = 1e300;  // map units
};

SectorMap PlacedMap::drawn() const {
  SectorMap map = source_;
  if (seam_) close_doorway(map, *seam_);
  return map;
}

std::expected<std::shared_ptr<const PlacedMap>, PlacementError> place_map(
    const SectorMap& map, const PlaceOptions& options, const VisibilitySource& visibility) {
  return MapPlacer(map, options, visibility).run();
}

}  // namespace ashlar
