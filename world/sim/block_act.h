#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "world/math/vec.h"
#include "world/sim/block_contents.h"
#include "world/sim/kinds.h"
#include "world/voxel/block.h"

// What players do to blocks, as values: an act, its verdict, and the change that came of it.

namespace ashlar {

/// A block to be set; air removes what is there.
struct BlockEdit {
  IVec3 block;
  BlockId id = BlockId::air;
};

/// One of a block's six sides. On wire and in recordings: append only.
enum class BlockFace : std::uint8_t { west, east, south, north, bottom, top };
inline constexpr std::uint8_t block_face_count = 6;

/// The way out of a face.
constexpr IVec3 normal_of(BlockFace face) {
  switch (face) {
    case BlockFace::west: return {-1, 0, 0};
    case BlockFace::east: return {1, 0, 0};
    case BlockFace::south: return {0, -1, 0};
    case BlockFace::north: return {0, 1, 0};
    case BlockFace::bottom: return {0, 0, -1};
    case BlockFace::top: return {0, 0, 1};
  }
  return {};
}

/// The face with that normal, as a RayHit of a block has it; none for any other vector.
constexpr std::optional<BlockFace> face_of(DVec3 normal) {
  for (std::uint8_t i = 0; i < block_face_count; ++i) {
    const auto face = static_cast<BlockFace>(i);
    if (normal == to_dvec3(normal_of(face))) return face;
  }
  return std::nullopt;
}

/// On wire and in recordings: append only.
enum class BlockActKind : std::uint8_t {
  dig,    ///< begins to dig a block: it is gone when the player kept at it for as long as it is hard
  place,  ///< puts a block in front of a face
  stop,   ///< leaves off digging
  drop,   ///< throws items out of the inventory, where the player looks
  open,   ///< looks into a chest, until `close`, another `open`, or it is out of reach
  close,  ///< leaves off looking
  take,   ///< moves items out of the chest that is open into the inventory
  put,    ///< moves them back
  write,  ///< gives a sign its text
};
inline constexpr std::uint8_t block_act_kind_count = 9;
/// Does it move a number of items between a chest and the inventory?
constexpr bool moves_items(BlockActKind kind) {
  return kind == BlockActKind::take || kind == BlockActKind::put;
}
/// Does it name a kind of block or item?
constexpr bool names_kind(BlockActKind kind) {
  return kind == BlockActKind::place || kind == BlockActKind::drop || moves_items(kind);
}

/// What a player does to a block in one tick.
struct BlockAct {
  EntityId player{};
  std::uint32_t number = 0;  ///< of the player's acts; each is higher than the one before, from 1
  BlockActKind kind{};
  BlockFace face{};  ///< of the block looked at
  IVec3 block{};  ///< the one looked at: it is dug, or the new one stands before its face; of drop: x is how
                  ///< many, and more than there are means all
  BlockId id = BlockId::air;  ///< of place: what is put there; of drop, take and put: items of what kind
  std::uint8_t count = 0;     ///< of take and put: how many items; more than there are means all
  SignText text = {};         ///< of write; empty: none any more
  friend bool operator==(const BlockAct&, const BlockAct&) = default;
};

/// What became of an act. On the wire: append only.
enum class ActVerdict : std::uint8_t {
  done,              ///< the block is changed
  progress,          ///< digging has begun; another verdict of the same number follows
  stopped,           ///< digging ended without effect: the player left off, or did something else
  looked_away,       ///< likewise: the player does not look at the block
  out_of_reach,      ///< block_reach_m is less than the way from the eye to the block
  no_sight,          ///< something is before the face
  cooling_down,      ///< block_interval_s has not passed since the player's last change
  protected_ground,  ///< a map's, or within map_margin_m of one
  body_in_the_way,   ///< a player or monster stands there
  not_loaded,        ///< the ground is not there (any more)
  out_of_bounds,     ///< not of this world
  nothing_there,     ///< no block to dig, or none any more
  occupied,          ///< a block is there already
  unknown_block,     ///< no such block, or none that can be placed
  not_diggable,      ///< too hard for ever, or for what the player holds
  no_support,        ///< no solid block to put it against
  no_blocks,         ///< the player has none: free_blocks is off, or there is nothing to drop or move
  dead,              ///< the player is
  stale_number,      ///< not higher than that of an act before
  not_saved,         ///< more changes wait to be saved than may: the server's disk is full or too slow
  not_open,          ///< the player has not opened that chest, or it closed
  holds_none,        ///< a block of that kind holds no items, or no text
  no_room,           ///< where the items are to go, or in the world or its area for one more block that holds
                     ///< something
  protected_zone,    ///< an operator lets nobody change it (protected_zone.h)
};
inline constexpr std::uint8_t act_verdict_count = 24;

/// Did the act neither change the world nor is on its way to?
constexpr bool refused(ActVerdict v) { return v != ActVerdict::done && v != ActVerdict::progress; }

/// The verdict's name, as above; "unknown" for numbers beyond.
std::string_view name(ActVerdict verdict);

/// Answer to an act. One that ends in `progress` is answered again when it ended.
struct BlockVerdict {
  EntityId player{};
  std::uint32_t number = 0;
  ActVerdict verdict{};
  IVec3 block{};  ///< the one that was or would have been changed
  friend bool operator==(const BlockVerdict&, const BlockVerdict&) = default;
};

/// A block that has changed.
struct AppliedEdit {
  IVec3 block;
  BlockId before{}, after{};  ///< never the same
  EntityId who{};             ///< 0: nobody in the world: an operator, a rule, who embeds the world
  friend bool operator==(const AppliedEdit&, const AppliedEdit&) = default;
};

/// A block on its way to be dug, and how far that is. Part of the world's state and hash.
struct Digging {
  IVec3 block{};
  BlockId id{};  ///< what is dug; once another block stands there it is over
  BlockFace face{};
  std::uint32_t number = 0;        ///< of the act
  std::uint16_t ticks = 0;         ///< done
  std::uint16_t ticks_needed = 0;  ///< 0: the player does not dig

  bool active() const { return ticks_needed != 0; }
  /// How far it is: 0 none, 1 to 255 under way.
  std::uint8_t share() const {
    return active() ? static_cast<std::uint8_t>(1 + 254 * std::uint32_t{ticks} / ticks_needed)
                    : std::uint8_t{0};
  }
};

}  // namespace ashlar
