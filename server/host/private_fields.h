#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/snapshot/field_delta.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Entities whose fields one player or one team is told, some of all of them.
struct FieldGroup {
  FieldAudience to{};         ///< owner or team
  std::uint32_t source = 0;   ///< the player's id, or the team
  std::uint16_t number = 0;   ///< of the group among those of its source
  std::uint32_t changed = 0;  ///< newest tick at which it was not what it had been in the snapshot before
  std::uint32_t first = 0, count = 0;  ///< in PrivateFields::entities()

  /// Of it and no other of the same client.
  std::uint16_t key() const {
    return static_cast<std::uint16_t>((to == FieldAudience::team ? 0x8000u : 0u) | number);
  }
};

/// The added fields of players and things that go to their owners and teams, gathered once a tick. What a
/// client is not to know is in no group that it is sent. The Host's thread. No allocation once grown.
class PrivateFields {
 public:
  /// Call once per published tick, after the step. Nothing where no kind has such fields.
  void gather(const World& world);

  /// The groups of a player: its own, and its team's. @param out  appended to
  void find(EntityId player, std::uint8_t team, std::vector<FieldGroup>& out) const;
  std::span<const PrivateEntity> entities(const FieldGroup& group) const {
    return std::span(entities_).subspan(group.first, group.count);
  }
  const ReplicationRegistry& registry() const { return *registry_; }

 private:
  struct Entry {
    FieldAudience to{};
    std::uint32_t source = 0;
    std::uint16_t number = 0;
    PrivateEntity entity;
  };
  void add(FieldAudience to, std::uint32_t source, std::size_t number, const PrivateEntity& entity);
  void form_groups(std::uint32_t tick);
  void find(FieldAudience to, std::uint32_t source, std::vector<FieldGroup>& out) const;

  std::shared_ptr<const ReplicationRegistry> registry_ = ReplicationRegistry::builtin_ptr();
  std::vector<Entry> entries_;                             // scratch
  std::vector<FieldGroup> groups_, groups_before_;         // by audience, source and number
  std::vector<PrivateEntity> entities_, entities_before_;  // one group behind the other
};

}  // namespace ashlar::server
