#pragma once
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "world/bsp/open_rooms.h"
#include "world/bsp/sector_map.h"
#include "world/collide/space.h"
#include "world/math/vec.h"

// Who may see what, over any number of placed maps, by their visibility sets and shut doors: for leaving out
// what a viewer cannot see. Never "no" for a pair that can see each other; exact sight is space_sees().

namespace ashlar {

/// A place as far as sight goes: a sector of a map, or the open air above and between the maps.
struct SightPlace {
  static constexpr std::uint32_t outdoors = 0xffffffffu;
  static constexpr std::uint32_t anywhere = 0xfffffffeu;  ///< inside rock: nobody shall vanish for that

  std::uint32_t map = outdoors;  ///< number of the map, or one of the above
  std::uint32_t sector = 0;
  friend auto operator<=>(const SightPlace&, const SightPlace&) = default;
};

/// Appends every place that an upright body touches, some twice. Bodies across a roof are in two worlds.
/// Cost: a descent of the map's tree for each map in reach.
void sight_places(std::span<const MapInSpace> maps, DVec3 base, double radius_m, double height_m,
                  std::vector<SightPlace>& out);

/// A pair of eyes and all that may be seen from there. Reusable; allocates until it has seen the largest map.
class VisibilityQuery {
 public:
  /// @param rooms  of each map, by the same heights; must stay as they are while may_see() is asked
  /// @param margin_m  how far the eye may really be from where it is told to be, on a way that leads through
  /// no wall: viewers move while news travels
  void look_from(std::span<const MapInSpace> maps, std::span<const OpenRooms> rooms, DVec3 eye,
                 double margin_m);

  /// May anything at the place be seen by the pair of eyes? False is sure, true is not; true for every place
  /// before the first look_from(). Cost: a walk over the few places that the eye itself touches.
  bool may_see(SightPlace place) const;

  /// Do both say the same of every place, as eyes in sectors that see alike do? Both have looked, at the same
  /// maps and rooms. False may be wrong, true never is.
  bool answers_like(const VisibilityQuery& other) const;

 private:
  bool in_own_room(SightPlace place) const;
  bool under_the_sky() const;  ///< is a way open from the eye to the air above?

  struct View {
    std::uint32_t map = 0;
    std::size_t first_word = 0;  ///< of its row in words_
    friend bool operator==(const View&, const View&) = default;
  };
  std::span<const MapInSpace> maps_;
  std::span<const OpenRooms> rooms_;
  std::vector<SightPlace> own_;        ///< what the eye itself touches, where it is told to be
  std::vector<SightPlace> own_rooms_;  ///< the same with rooms in the place of sectors, each once
  std::vector<SightPlace> places_;
  std::vector<View> views_;
  std::vector<std::uint64_t> words_;
  bool outdoors_ = false;
  bool everything_ = true;
};

}  // namespace ashlar
