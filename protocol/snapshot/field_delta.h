#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/bit_stream.h"
#include "protocol/messages.h"
#include "protocol/snapshot/block_models.h"
#include "protocol/snapshot/moving_record.h"
#include "world/sim/replication.h"

// The fields that games add to kinds, in packed snapshots: those for everybody behind what a block says of
// every entity, those for owners and teams in groups of their own. WIRE.md draws their bits.

namespace ashlar {

/// Entities of a block at most where a registry has fields for everybody: then one told whole fits a part.
inline constexpr std::size_t block_entities_with_fields_max = 32;

/// Entities and their added fields; `fields` is empty, or has a row for each.
struct FieldRows {
  std::span<const MovingRecord> entities;  ///< by ascending id
  std::span<const FieldValues> fields;
};

/// Codes the fields for everybody of entities whose kinds have any, by the coder and with the odds of their
/// block.
template <class Coder>
class FieldCoding {
 public:
  FieldCoding(Coder& coder, BlockModels& odds, const ReplicationRegistry& registry)
      : coder_(coder), odds_(odds), registry_(registry) {}

  /// Of all entities, by what differs from the base; who is not in the base, or was of another kind there,
  /// has zeros in it. Nothing where no kind has such fields.
  /// @param now  its fields are a writer's; @param read  a reader's: gets a row for each
  void all(const FieldRows& now, const FieldRows& base, std::vector<FieldValues>& read);
  /// Of one, whole.
  void plain(EntityKind kind, FieldValues& values);

 private:
  void changes(const ReplicatedKind& kind, FieldValues& values, const FieldValues& before);

  Coder& coder_;
  BlockModels& odds_;
  const ReplicationRegistry& registry_;
};
extern template class FieldCoding<RangeWriter>;
extern template class FieldCoding<RangeReader>;

/// An entity in a group of those whose fields only some are told.
struct PrivateEntity {
  EntityId id{};
  EntityKind kind{};
  FieldValues values{};  ///< only those for the group's audience count
  friend bool operator==(const PrivateEntity&, const PrivateEntity&) = default;
};
/// Bytes of a coded group at most.
inline constexpr std::size_t coded_group_bytes_max = 600;

/// Codes a group whole: entities by ascending id, of kinds that have fields for that audience.
/// @param out  at least coded_group_bytes_max bytes; @return how many were written
std::size_t encode_group(std::span<const PrivateEntity> group, FieldAudience to,
                         const ReplicationRegistry& registry, std::span<std::uint8_t> out);
/// Reads what encode_group() wrote, or foreign bytes. False: they are no group.
bool decode_group(std::span<const std::uint8_t> bytes, FieldAudience to, const ReplicationRegistry& registry,
                  std::vector<PrivateEntity>& out);

}  // namespace ashlar
