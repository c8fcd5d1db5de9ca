#pragma once
#include <cstdint>
#include <map>

#include "protocol/messages.h"

namespace ashlar::client_sim {

/// What is known of an entity's added fields: the newest values, and those before, to show what is between.
struct KnownFields {
  EntityKind kind{};
  std::uint32_t tick = 0;
  std::uint32_t before_tick = 0;  ///< equal to tick where nothing older is known
  FieldValues values{}, before{};
  std::uint8_t named = 0xff;  ///< a bit for each that was told by its name; of lists beside plain snapshots

  /// A field at a tick between the two, or nearest to them; interpolated where it is so declared.
  double at(const FieldTraits& field, std::size_t number, double tick_now) const;
};

/// Added fields as FieldLists beside plain snapshots tell them. One thread.
class PlainFieldMemory {
 public:
  void reset(std::uint16_t tick_rate_hz);
  /// Takes in a list; lists may come in any order. Who was not mentioned for a second and two of the server's
  /// refreshes is forgotten.
  /// @param registry  of the world: false, and nothing changes, where it has no such fields
  bool take(const FieldList& list, const ReplicationRegistry& registry, std::uint32_t refresh_ticks);
  /// Null: nothing is known of it.
  const KnownFields* find(EntityId id) const;

 private:
  std::uint32_t second_ticks_ = 60, newest_tick_ = 0;
  std::map<EntityId, KnownFields> entities_;
};

}  // namespace ashlar::client_sim
