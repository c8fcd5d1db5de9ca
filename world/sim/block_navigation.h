#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "world/math/hash.h"
#include "world/nav/block_ways.h"
#include "world/sim/far_navigation.h"
#include "world/sim/hunt_ends.h"
#include "world/sim/tables.h"

namespace ashlar {

/// Ways of monsters over voxel ground to players whom they hunt: one field a player and kind of walker,
/// shared by all who are after him (or go to a map's stairs), made anew as he goes and as blocks about him
/// change. Who sees his player before him and gets on needs none. One search goes on at a time, by
/// places_per_tick a tick and more where many fields are wanted; they take turns, the oldest first. A search
/// that few wait for ends a little behind them. Who is out of a field's reach, or finds no way in it, goes by
/// regions of the ground (far_navigation.h).
/// Part of the world's state and hash. Nothing allocates after construction.
class BlockNavigation {
 public:
  static constexpr std::size_t fields_max = 128;
  static constexpr std::uint32_t places_per_tick = 400, places_per_tick_max = 900;
  static constexpr std::uint32_t fresh_ticks = 45;  ///< an older field is made anew, if anything changed

  explicit BlockNavigation(std::vector<MapGround> maps = {});
  /// Somebody at a place hunts a player and does not get there straight: a field over blocks is asked for
  /// where that may lie in it, and a way from afar where it does not or there is none.
  void ask_from(const PlayerTable& players, EntityId player, BlockWalker walker, DVec3 from_m,
                std::uint32_t tick);
  /// Begins and goes on with searches. Call once a tick.
  void advance(const VoxelVolume& volume, const PlayerTable& players, std::uint32_t tick);
  /// A body's way to a player.
  BlockRoute route(const PlayerTable& players, EntityId player, BlockWalker walker, DVec3 from_m) const;

  /// All fields and what is searched.
  void add_to_hash(StripeHasher& hash) const;
  /// Since construction.
  std::uint64_t fields_made() const { return made_; }
  /// Ways beyond the fields.
  const FarNavigation& far() const { return far_; }

 private:
  static constexpr std::size_t from_max = 16;
  struct Field {
    EntityId player{};
    BlockWalker walker;
    std::uint32_t asked_tick = 0, begun_tick = 0;
    bool ready = false;
    bool part = false;         ///< its search ended behind those who waited for it
    bool missed = false;       ///< somebody else finds no way in that
    bool many = false;         ///< more asked since it was begun than from_m has room for
    std::uint32_t places = 0;  ///< that its last search came to
    std::size_t from_count = 0;
    std::array<DVec3, from_max> from_m{};  ///< of who asked since it was begun
    DVec3 to_m{};                          ///< of the last search
    std::uint64_t content = 0;             ///< ground_content() then
    std::uint32_t looked_tick = 0;         ///< when that was compared last
    bool changed = false;                  ///< and it was another
    BlockWays ways;
  };
  /// Its number; fields_max: there is none.
  std::size_t find(EntityId player, BlockWalker walker) const;
  static std::size_t first_look(std::uint64_t key);
  void note_keys();
  static void note_from(Field& field, DVec3 from_m);
  bool enough();
  void begin(const VoxelVolume& volume, const PlayerTable& players, Field& field, std::uint32_t tick);
  bool near(const PlayerTable& players, EntityId player, DVec3 from_m) const;
  bool wanted(const Field& field, const PlayerTable& players, std::uint32_t tick) const;
  Field* take(EntityId player, BlockWalker walker, std::uint32_t tick);
  bool stale(const VoxelVolume& volume, const PlayerTable& players, Field& field, std::uint32_t tick) const;
  Field* oldest_wanted(const VoxelVolume& volume, const PlayerTable& players, std::uint32_t tick);
  std::uint32_t budget(const PlayerTable& players, std::uint32_t tick) const;

  HuntEnds ends_;
  std::vector<Field> fields_;
  std::vector<std::uint64_t> keys_;  // by field, of those that ever had a player: no more are in use
  static constexpr std::uint8_t no_field = 0xff;
  static_assert(fields_max < no_field);
  std::array<std::uint8_t, 4 * fields_max> by_key_{};  // open addressing: the field's number
  std::size_t searched_ = fields_max;                  // of which the search is; fields_max: none
  BlockSearch search_;
  std::array<DVec3, from_max> search_from_m_{};  // whom it is for
  std::size_t search_from_count_ = 0;            // 0: for everybody
  std::uint32_t search_places_ = 0;              // that it came to
  FarNavigation far_;
  std::uint64_t made_ = 0;
};

/// The skill by which a kind goes over blocks; nullopt: it flies, or is larger than ways are for.
std::optional<BlockWalker> block_walker_of(const MonsterTraits& kind);

}  // namespace ashlar
