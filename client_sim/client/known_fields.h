#pragma once
#include <cstdint>

#include "protocol/messages.h"

namespace ashlar::client_sim {

/// What is known of an entity's added fields: the newest values, and those before, to show what is between.
struct KnownFields {
  EntityKind kind{};
  std::uint32_t tick = 0;
  std::uint32_t before_tick = 0;  ///< equal to tick where nothing older is known
  FieldValues values{}, before{};

  /// A field at a tick between the two, or nearest to them; interpolated where it is so declared.
  double at(const FieldTraits& field, std::size_t number, double tick_now) const;
};

}  // namespace ashlar::client_sim
