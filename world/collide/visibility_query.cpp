#include "world/collide/visibility_query.h"

#include <algorithm>

#include "world/bsp/column.h"
#include "world/bsp/trace.h"
#include "world/bsp/visibility.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

/// Whoever is as near to an edge as this counts as on both sides of it.
constexpr double eye_radius_m = 0.1;

}  // namespace

void sight_places(std::span<const MapInSpace> maps, DVec3 base, double radius_m, double height_m,
                  std::vector<SightPlace>& out) {
  const std::size_t first = out.size();
  bool enclosed = false;  // wholly between one map's bottom and roof
  for (std::uint32_t i = 0; i < maps.size(); ++i) {
    const PlacedMap& map = *maps[i].map;
    const BlockBox& box = map.box();
    if (base.z >= box.max.z || base.z + height_m <= box.min.z || !meets_box(map, xy(base), radius_m))
      continue;
    const DVec2 centre = map.to_map(xy(base));
    const BspTree& tree = map.tree();
    if (over_box(map, xy(base))) {
      enclosed = enclosed || base.z + height_m < box.max.z;
      const bool low = base.z + height_m / 2 < box.max.z;
      if (low && tree.leaves[map.grid().leaf_at(tree, centre)].sector == no_index)
        out.push_back({SightPlace::anywhere, 0});
    }
    leaves_in_disc(tree, centre, radius_m * map_units_per_m, [&](std::uint32_t leaf) {
      const std::uint32_t sector = tree.leaves[leaf].sector;
      if (sector != no_index && (out.size() == first || out.back() != SightPlace{i, sector}))
        out.push_back({i, sector});
    });
  }
  if (!enclosed) out.push_back({SightPlace::outdoors, 0});
}

bool VisibilityQuery::in_own_room(SightPlace place) const {
  ASHLAR_ASSERT(place.map < rooms_.size());
  const OpenRooms& open = rooms_[place.map];
  const std::uint32_t room = open.room(place.sector);
  return std::ranges::any_of(own_rooms_, [&](SightPlace own) {
    if (own.map == SightPlace::anywhere) return true;
    if (own.map == SightPlace::outdoors) return room == open.outdoors();
    return own.map == place.map && own.sector == room;
  });
}

bool VisibilityQuery::under_the_sky() const {
  return std::ranges::any_of(own_, [&](SightPlace own) {
    if (own.map == SightPlace::anywhere || own.map == SightPlace::outdoors) return true;
    return rooms_[own.map].room(own.sector) == rooms_[own.map].outdoors();
  });
}

void VisibilityQuery::look_from(std::span<const MapInSpace> maps, std::span<const OpenRooms> rooms, DVec3 eye,
                                double margin_m) {
  ASHLAR_ASSERT(maps.size() == rooms.size());
  ASHLAR_ASSERT(margin_m >= 0);
  maps_ = maps;
  rooms_ = rooms;
  own_.clear();
  sight_places(maps, eye, eye_radius_m, eye_radius_m, own_);
  own_rooms_.clear();
  for (const SightPlace own : own_)
    own_rooms_.push_back(own.map < rooms.size() ? SightPlace{own.map, rooms[own.map].room(own.sector)} : own);
  std::ranges::sort(own_rooms_);
  own_rooms_.erase(std::ranges::unique(own_rooms_).begin(), own_rooms_.end());
  places_.clear();
  views_.clear();
  words_.clear();
  outdoors_ = everything_ = false;
  sight_places(maps, eye - DVec3{0, 0, margin_m}, margin_m, 2 * margin_m, places_);
  for (const SightPlace place : places_) {
    if (place.map == SightPlace::outdoors) {
      outdoors_ = outdoors_ || under_the_sky();
      continue;
    }
    if (place.map != SightPlace::anywhere && !in_own_room(place)) continue;
    const SectorVisibility* set =
        place.map == SightPlace::anywhere ? nullptr : maps[place.map].map->visibility();
    if (set == nullptr) {
      everything_ = true;
      return;
    }
    const OpenRooms& open = rooms_[place.map];
    outdoors_ =
        outdoors_ || (set->from_above[place.sector] != 0 && open.room(place.sector) == open.outdoors());
    if (views_.empty() || views_.back().map != place.map) {
      views_.push_back({place.map, words_.size()});
      words_.resize(words_.size() + set->row_words, 0);
    }
    const std::span<std::uint64_t> seen = std::span(words_).subspan(views_.back().first_word);
    std::ranges::transform(seen, set->row(place.sector), seen.begin(),
                           [](std::uint64_t a, std::uint64_t b) { return a | b; });
  }
}

bool VisibilityQuery::answers_like(const VisibilityQuery& other) const {
  if (everything_ || other.everything_) return everything_ == other.everything_;
  return outdoors_ == other.outdoors_ && own_rooms_ == other.own_rooms_ && views_ == other.views_ &&
         words_ == other.words_;
}

bool VisibilityQuery::may_see(SightPlace place) const {
  if (everything_ || place.map == SightPlace::anywhere) return true;
  if (place.map == SightPlace::outdoors) return outdoors_;
  ASHLAR_ASSERT(place.map < maps_.size());
  const SectorVisibility* set = maps_[place.map].map->visibility();
  if (set == nullptr) return true;
  ASHLAR_ASSERT(place.sector < set->sectors);
  const OpenRooms& open = rooms_[place.map];
  const bool in_the_open = open.room(place.sector) == open.outdoors();
  if (outdoors_ && in_the_open && set->from_above[place.sector] != 0) return true;
  if (!in_own_room(place)) return false;
  for (const View& view : views_)
    if (view.map == place.map) {
      ASHLAR_ASSERT_SLOW(view.first_word + set->row_words <= words_.size());
      return (words_[view.first_word + (place.sector >> 6)] >> (place.sector & 63) & 1) != 0;
    }
  return false;
}

}  // namespace ashlar
