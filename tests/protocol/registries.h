#pragma once
#include "world/math/random.h"
#include "world/sim/replication.h"

namespace ashlar::test {

/// A registry as some game might declare it.
inline ReplicationRegistry some_registry(Rng& rng) {
  ReplicationRegistry out;
  const auto field = [&](std::size_t number, bool owned) {
    FieldTraits f;
    f.name = "field" + std::to_string(number);
    f.bits = static_cast<std::uint8_t>(1 + rng.below(32));
    f.to = static_cast<FieldAudience>(owned ? rng.below(3) : 0);
    f.interpolated = rng.below(2) == 0;
    f.low = rng.between(-100.0, 100.0);
    f.step = rng.between(0.001, 10.0);
    return f;
  };
  const auto add = [&](EntityKind kind, bool owned) {
    for (std::uint32_t i = 0, n = rng.below(9); i < n; ++i) out.add_field(kind, field(i, owned));
  };
  add(EntityKind::player, true);
  add(entity_kind(MonsterKind::imp), false);
  for (std::uint32_t i = 0, n = rng.below(5); i < n; ++i)
    if (const auto kind = out.add_kind("thing" + std::to_string(i), rng.below(2) == 0)) add(*kind, true);
  for (std::uint32_t i = 0, n = rng.below(5); i < n; ++i)
    out.add_message("message" + std::to_string(i), static_cast<std::uint16_t>(rng.below(1025)));
  return out;
}

/// Values that the fields of a kind can have, for some audiences.
inline FieldValues some_values(Rng& rng, const ReplicationRegistry& registry, EntityKind kind,
                               FieldAudience to) {
  FieldValues out{};
  const ReplicatedKind* const declared = registry.find(kind);
  for (std::size_t f = 0; declared != nullptr && f < declared->fields.size(); ++f) {
    const unsigned bits = declared->fields[f].bits;
    const std::uint32_t value = rng.below(3) == 0 ? 0 : rng.next_u32();
    if (declared->fields[f].to == to) out[f] = value >> (32 - bits);
  }
  return out;
}

}  // namespace ashlar::test
