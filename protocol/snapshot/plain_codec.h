#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/messages.h"
#include "protocol/snapshot/block_delta.h"
#include "protocol/snapshot/packed_part.h"

// What plain snapshots are made of: structs of the schema, one behind the other. Who writes codes each once
// for all who hold the same base, as bytes; plain_part.h puts them into the lists of a message. Who reads
// finds the lists in a PlainPart, and applies them to what it holds.

namespace ashlar {

/// Bytes of a coded block at most: its header, and everybody whole.
inline constexpr std::size_t plain_block_bytes_max =
    sizeof(BlockHeader) + block_entities_max * sizeof(EntityRecord);
static_assert(block_entities_with_fields_max * (sizeof(EntityRecord) + sizeof(FieldBits)) <=
              block_entities_max * sizeof(EntityRecord));
/// Of a slice of heights, an own player, a group and cues.
inline constexpr std::size_t plain_slice_bytes_max = height_slice_sectors * sizeof(SliceHeight);
inline constexpr std::size_t plain_own_bytes = 138;
inline constexpr std::size_t plain_group_bytes_max =
    4 + private_entities_max * (sizeof(GroupedEntity) + own_fields_max * sizeof(std::uint32_t));
inline constexpr std::size_t plain_cue_bytes = 20;

/// How a block was coded.
struct PlainCoded {
  std::uint32_t age = 0;  ///< of the base; 0: whole, as that is shorter
  std::size_t bytes = 0;
};

/// Codes a block: a header without number and age, the entities that changed, their fields, and the ids of
/// those that are gone.
/// @param out  at least plain_block_bytes_max bytes
PlainCoded encode_plain_block(const BlockContent& now, const BlockBase& base, std::span<std::uint8_t> out);
/// The others likewise; @return bytes
std::size_t encode_plain_own(const OwnPlayer& own, std::span<std::uint8_t> out);
std::size_t encode_plain_heights(std::span<const SliceHeight> changed, std::span<std::uint8_t> out);
std::size_t encode_plain_group(std::span<const PrivateEntity> group, FieldAudience to,
                               const ReplicationRegistry& registry, std::span<std::uint8_t> out);
/// As many as fit, from the first on, at most cues_max. @return how many
std::size_t encode_plain_cues(std::span<const Cue> cues, std::span<std::uint8_t> out);

/// A block of a part.
struct PlainBlock {
  BlockHeader header;
  std::span<const EntityRecord> entities;
  std::span<const FieldBits> fields;
  std::span<const EntityId> removed;
};

/// Makes the block that a part's changes and their base come to; velocities stay 0. False: they are no block
/// against this base, as somebody is removed who is not in it, or a kind has no such fields.
/// @param base      of the age that the header names; empty for 0
/// @param registry  what the world's game adds to kinds; null: nothing
bool apply_plain_block(const PlainBlock& block, const BlockBase& base, const ReplicationRegistry* registry,
                       DecodedBlock& out);

/// A group of a part. False: a kind has no such fields.
/// @param values  those of its entities; takes from the front
bool read_plain_group(FieldAudience to, std::span<const GroupedEntity> entities,
                      std::span<const std::uint32_t>& values, const ReplicationRegistry& registry,
                      std::vector<PrivateEntity>& out);

}  // namespace ashlar
