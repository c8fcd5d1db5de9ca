#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "world/collide/space.h"
#include "world/math/block_box.h"
#include "world/sim/block_act.h"
#include "world/sim/block_contents.h"
#include "world/sim/protected_zone.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/volume.h"

namespace ashlar {

/// Is the block a map's, or within margin_m of one on the plane, at whatever height? Players change nothing
/// there: they could shut others in or out.
bool protected_by_map(std::span<const MapInSpace> maps, std::int32_t margin_m, IVec3 block);

/// Says who may change which block, beside all else that is asked: the game (game.h).
class EditRule {
 public:
  virtual bool allows(EntityId player, IVec3 block, BlockId to) = 0;

 protected:
  ~EditRule() = default;
};

/// The one place that changes blocks of a running world, and what it changed in the last tick. Collision,
/// sight and rays read the volume's solid bits, which an edit keeps.
class GroundEdits {
 public:
  GroundEdits() = default;
  explicit GroundEdits(std::size_t edits_expected) { applied_.reserve(edits_expected); }

  /// Blocks that one box or sphere changes at most.
  static constexpr std::int64_t batch_blocks_max = 4096;
  static constexpr double sphere_radius_m_max = 9;
  static_assert(4.2 * (sphere_radius_m_max + 0.1) * (sphere_radius_m_max + 0.1) *
                    (sphere_radius_m_max + 0.1) <
                static_cast<double>(batch_blocks_max));

  /// The last tick's list is over.
  void begin_tick() { applied_.clear(), contents_.begin_tick(); }

  /// Whether set() would change that block, where it is loaded: a map's rock is in no block's way but its
  /// own. A door or lift may have come to where one was changed before.
  static bool changeable(std::span<const MapInSpace> maps, IVec3 block);

  /// What players may not change from now on: at most protected_zones_max.
  void protect(std::vector<ProtectedZone> zones);
  bool in_zone(IVec3 block) const { return in_any_zone(zones_, block); }

  /// Treasures (BlockRegistry::treasure()) hold what loot_of() says by this seed; without one nothing.
  void hide_loot(std::uint64_t secret) { loot_secret_ = secret; }
  /// Makes a treasure what it drops, a chest, which holds its loot from now on. False, and nothing done, as
  /// of set(), and where no more blocks may hold anything. Precondition: a treasure is there.
  bool open_treasure(VoxelVolume& volume, std::span<const MapInSpace> maps, IVec3 block, EntityId who);
  /// Items of loot that came into the world since the last call.
  std::uint64_t take_found() { return std::exchange(found_items_, 0); }

  /// Sets a block. False, and nothing done, out of bounds, where the chunk is not loaded, in a map's rock and
  /// for a kind that the volume does not know; true also where it is there already. Allocates for a kind of
  /// block new to its chunk and for a column's first. What the block before held is spilled.
  bool set(VoxelVolume& volume, std::span<const MapInSpace> maps, const BlockEdit& edit, EntityId who);

  /// Likewise every block of a box. @return how many could not be set. Precondition: box_sane(box).
  std::uint64_t fill(VoxelVolume& volume, std::span<const MapInSpace> maps, const BlockBox& box, BlockId id,
                     EntityId who);
  /// Not empty, within the world, and at most batch_blocks_max blocks.
  static bool box_sane(const BlockBox& box);

  /// Takes away what can be dug of all blocks whose middle is within a sphere, but for protected ground.
  /// Precondition: radius_m in [0, sphere_radius_m_max], the middle in bounds.
  /// @param rule  asked for each block; null: nobody is
  /// @return how many are gone
  std::uint32_t blast(VoxelVolume& volume, std::span<const MapInSpace> maps, std::int32_t map_margin_m,
                      DVec3 middle_m, double radius_m, EntityId who, EditRule* rule = nullptr);

  /// What has changed in this tick, in the order in which it did; a block may be in it twice.
  std::span<const AppliedEdit> applied() const { return applied_; }
  /// What blocks hold beside their kind; another block in their place has it spilled.
  const BlockContents& contents() const { return contents_; }
  BlockContents& contents() { return contents_; }
  /// Columns of chunks that hold a block that was changed since the world began.
  bool column_edited(IVec2 column) const { return columns_.contains(key_of(column)); }

 private:
  /// @return what was there before; nullopt: nothing done
  std::optional<BlockId> replace(VoxelVolume& volume, std::span<const MapInSpace> maps, const BlockEdit& edit,
                                 EntityId who);
  static std::uint64_t key_of(IVec2 column) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(column.x)) << 32 |
           static_cast<std::uint32_t>(column.y);
  }
  std::vector<AppliedEdit> applied_;
  BlockContents contents_;
  std::vector<ProtectedZone> zones_;
  std::optional<std::uint64_t> loot_secret_;
  std::uint64_t found_items_ = 0;
  std::unordered_set<std::uint64_t> columns_;  // asked, never walked through
};

}  // namespace ashlar
