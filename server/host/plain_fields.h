#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/message_writer.h"
#include "server/host/private_fields.h"
#include "server/host/session.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Tells clients with plain snapshots the added fields of entities, whole, beside each snapshot. The Host's
/// thread. No allocation once grown.
class PlainFields {
 public:
  /// Messages to one client and snapshot at most; where there is more, entities come in turns.
  static constexpr std::size_t messages_max = 8;

  /// @param blocks  of entities that the client is told of in this snapshot
  void tell(const World& world, const PrivateFields& privates, std::span<const CellBlock> blocks,
            Session& session, Micros now, DatagramBatch& out);

 private:
  struct Entity {
    EntityId id{};
    EntityKind kind{};
    std::uint8_t known = 0;  // a bit for each field that the client may know
    std::uint8_t some = 0;   // for each of these that only some are told
    FieldValues values{};
  };
  void add(const PrivateEntity& entity, FieldAudience to, const ReplicationRegistry& registry);
  void append(const Entity& entity);

  std::vector<Entity> entities_;
  std::vector<FieldGroup> groups_;
  FieldList list_;
  MessageWriter writer_;
};

}  // namespace ashlar::server
