#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "world/math/hash.h"
#include "world/nav/block_ways.h"
#include "world/nav/region_ways.h"
#include "world/sim/hunt_ends.h"

namespace ashlar {

/// Ways over voxel ground for those who hunt from farther away than a field over blocks reaches, or whose way
/// leads round something that is larger: from region to region (nav/region_ways.h), one search for all who
/// are after the same player; and from the cell that a walker is in to where its regions lead some 20 m on,
/// over blocks, shared by all who come through that cell. One search of each goes on at a time, by a bounded
/// part of each tick; they take turns, the oldest first. Part of the world's state and hash. Nothing
/// allocates after construction.
class FarNavigation {
 public:
  static constexpr std::size_t fields_max = 32, legs_max = 64;
  static constexpr std::uint32_t units_per_tick = 96;    ///< of RegionSearch: some 2 cells made
  static constexpr std::uint32_t places_per_tick = 400;  ///< of legs
  /// An older field is made anew if its player went on or any block changed, and in any case.
  static constexpr std::uint32_t fresh_ticks = 120, aged_ticks = 1200;
  static constexpr std::uint32_t leg_fresh_ticks = 90;  ///< likewise, if blocks about its end changed

  FarNavigation() = default;
  /// For hunts that end there; all memory is taken here.
  explicit FarNavigation(const HuntEnds& ends);
  /// Somebody at a place hunts a player who is far by his ways.
  void ask(EntityId player, BlockWalker walker, DVec3 from_m, std::uint32_t tick);
  /// Begins and goes on with searches. Call once a tick.
  void advance(const VoxelVolume& volume, const PlayerTable& players, const HuntEnds& ends,
               std::uint32_t tick);
  /// A body's way to a player.
  BlockRoute route(EntityId player, BlockWalker walker, DVec3 from_m) const;

  /// Fields, legs and the searches under way.
  void add_to_hash(StripeHasher& hash) const;
  /// Since construction.
  std::uint64_t fields_made() const { return fields_made_; }
  /// Likewise.
  std::uint64_t cells_made() const { return regions_.cells_made(); }

 private:
  static constexpr std::size_t chain_max = 8;
  struct Field {
    EntityId player{};
    BlockWalker walker;
    std::uint32_t asked_tick = 0, begun_tick = 0;
    bool ready = false;
    bool missed = false;      ///< somebody finds no way in it
    bool everywhere = false;  ///< its search ended where there was nothing more, or no room
    std::uint8_t misses = 0;  ///< searches in a row that did not help that
    std::array<GroundPlace, RegionSearch::from_max> from{};  ///< of who asked, since it was begun last
    std::size_t from_count = 0, from_at = 0;
    DVec3 to_m{};               ///< of the last search
    std::uint64_t content = 0;  ///< of the volume then
    RegionWays ways;
  };
  struct Leg {
    IVec3 cell{};
    GroundPlace to;
    BlockWalker walker;
    std::uint32_t asked_tick = 0, begun_tick = 0;
    bool used = false, ready = false;
    BlockBox within{};          ///< corners that its ways keep to: of all who asked for it
    BlockBox searched{};        ///< what that was in the last search
    std::uint64_t content = 0;  ///< ground_content() then
    BlockWays ways;
  };
  /// What lies before a walker.
  struct Ahead {
    GroundPlace at;                           ///< where it stands
    std::array<GroundPlace, chain_max> to{};  ///< behind the next exits, the farthest last
    std::size_t count = 0;
    std::uint32_t distance = 0;  ///< tenths of a metre from the last of these on
    BlockBox within{};           ///< corners of the cells up to there
  };
  /// Its number; fields_max: there is none.
  std::size_t find(EntityId player, BlockWalker walker) const;
  std::optional<Ahead> ahead(const Field& field, DVec3 from_m) const;
  const Leg* leg_to(const Ahead& ahead, BlockWalker walker) const;
  void ask_leg(const Ahead& ahead, BlockWalker walker, std::uint32_t tick);
  void search_fields(const VoxelVolume& volume, const PlayerTable& players, const HuntEnds& ends,
                     std::uint32_t tick);
  static bool stale(const VoxelVolume& volume, const Field& field, DVec3 to_m, std::uint32_t tick);
  static bool stale(const VoxelVolume& volume, Leg& leg, std::uint32_t tick);
  void search_legs(const VoxelVolume& volume, std::uint32_t tick);

  BlockRegions regions_;
  std::vector<Field> fields_;
  std::vector<Leg> legs_;
  std::array<std::uint64_t, fields_max>
      keys_{};  // by field, whose it is: everybody who asks looks through them
  std::size_t fields_used_ = 0, legs_used_ = 0;  // those behind were never taken
  RegionSearch search_;
  BlockSearch leg_search_;
  std::size_t searched_ = fields_max, leg_searched_ = legs_max;  // which; none: their number
  std::uint64_t fields_made_ = 0, legs_made_ = 0;
};

}  // namespace ashlar
