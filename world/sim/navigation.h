#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "world/collide/space.h"
#include "world/math/hash.h"
#include "world/nav/way_field.h"
#include "world/sim/block_navigation.h"
#include "world/sim/tables.h"

namespace ashlar {

class MapPlan;

/// Where somebody who goes by a field heads next.
struct WayPoint {
  DVec2 at_m;
  double floor_m = 0;     ///< of the sector behind the next opening
  double distance_m = 0;  ///< of the whole way, from the next opening on
};

/// Ways of monsters to players whom they hunt through the worlds' maps: one field a player, map and class of
/// walkers, shared by all who are after that player and made anew as he goes or sectors move. A tick searches
/// at most leaves_per_tick leaves, whoever asks; fields take turns by age. Beside maps ways lead over blocks
/// (block_navigation.h). Part of the world's state and hash. Nothing allocates after construction.
class Navigation {
 public:
  static constexpr std::size_t fields_max = 32;
  static constexpr std::uint32_t leaves_per_tick = 1500;
  static constexpr std::uint32_t fresh_ticks =
      30;  ///< a field older than that is made anew, sooner if its player left the leaf

  Navigation() = default;
  /// @param plans  of the maps, in their order; must outlive this
  explicit Navigation(std::span<const MapPlan* const> plans);

  /// Begins and goes on with searches for those who hunt. Call once a tick, before anybody asks.
  void advance(const Space& space, const PlayerTable& players, const MonsterTable& monsters,
               std::uint32_t tick);

  /// Where a monster's body goes next on its way to a player; nullopt: the two are not in the same map or
  /// both beside all, it is too large, no way is known (yet), or there are but blocks and it sees him, with
  /// nothing to go round.
  /// @param careful  off the corners of the openings, one after the other, instead of as straight as may be
  std::optional<WayPoint> way(const Space& space, const PlayerTable& players, const MonsterTable& monsters,
                              std::size_t row, bool careful = false) const;

  void add_to_hash(StripeHasher& hash) const;
  std::uint64_t fields_made() const { return made_; }
  const BlockNavigation& blocks() const { return *blocks_; }

 private:
  struct Field {
    EntityId player{};
    std::size_t map = 0, which = 0;
    std::uint32_t asked_tick = 0, begun_tick = 0;
    bool searching = false, ready = false;
    DVec2 to_m;     ///< of the search that goes on, or of the last one
    WayField now;   ///< what is walked by
    WayField next;  ///< the search
  };
  struct Ground {
    const MapPlan* plan;
    std::unique_ptr<LeafGraph> graph;
    std::vector<std::uint8_t> doors;
  };
  std::size_t map_at(DVec3 at) const;
  Field* field_of(EntityId player, std::size_t map, std::size_t which);
  const Field* field_of(EntityId player, std::size_t map, std::size_t which) const;
  void ask(EntityId player, std::size_t map, std::size_t which, std::uint32_t tick);
  WayRules rules(std::span<const MapInSpace> maps, std::size_t map) const;
  void ask_for(const PlayerTable& players, const MonsterTable& monsters, std::size_t row, std::uint32_t tick);
  void search(std::span<const MapInSpace> maps, const PlayerTable& players, std::uint32_t tick);
  std::optional<WayPoint> way_over_blocks(const PlayerTable& players, const MonsterTable& monsters,
                                          std::size_t row) const;
  std::optional<WayPoint> way_in_map(std::span<const MapInSpace> maps, const MonsterTable& monsters,
                                     std::size_t row, std::size_t map, bool careful) const;

  std::vector<Ground> grounds_;  // by map
  std::vector<Field> fields_;
  std::unique_ptr<BlockNavigation> blocks_;  // null: nobody ever asks
  std::uint64_t made_ = 0;
};

}  // namespace ashlar
