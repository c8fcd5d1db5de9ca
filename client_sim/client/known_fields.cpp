#include "client_sim/client/known_fields.h"

#include <algorithm>

namespace ashlar::client_sim {

double KnownFields::at(const FieldTraits& field, std::size_t number, double tick_now) const {
  const double now = field.value_of(values[number]);
  if (!field.interpolated || before_tick >= tick || tick_now >= tick) return now;
  const double was = field.value_of(before[number]);
  const double share = (tick_now - before_tick) / (static_cast<double>(tick) - before_tick);
  return was + (now - was) * std::max(share, 0.0);
}

void PlainFieldMemory::reset(std::uint16_t tick_rate_hz) {
  *this = PlainFieldMemory{};
  second_ticks_ = tick_rate_hz;
}

bool PlainFieldMemory::take(const FieldList& list, const ReplicationRegistry& registry,
                            std::uint32_t refresh_ticks) {
  for (const FieldValue& value : list.values) {
    const ReplicatedKind* const kind = registry.find(value.kind);
    if (kind == nullptr || value.field >= kind->fields.size()) return false;
    const unsigned bits = kind->fields[value.field].bits;
    if (bits < 32 && value.steps >> bits != 0) return false;
  }
  for (std::size_t i = 0; i < list.values.size();) {
    const FieldValue& first = list.values[i];
    KnownFields now{first.kind, list.tick, list.tick, {}, {}, 0};
    for (; i < list.values.size() && list.values[i].id == first.id; ++i) {
      now.values[list.values[i].field] = list.values[i].steps;
      now.named = static_cast<std::uint8_t>(now.named | 1u << list.values[i].field);
    }
    KnownFields& known = entities_[first.id];
    if (known.tick >= list.tick) continue;
    if (known.tick != 0 && known.kind == now.kind) now.before_tick = known.tick, now.before = known.values;
    known = now;
  }
  newest_tick_ = std::max(newest_tick_, list.tick);
  const std::uint32_t life = second_ticks_ + 2 * refresh_ticks;
  std::erase_if(entities_, [&](const auto& e) { return newest_tick_ - e.second.tick > life; });
  return true;
}

const KnownFields* PlainFieldMemory::find(EntityId id) const {
  const auto it = entities_.find(id);
  return it == entities_.end() ? nullptr : &it->second;
}

}  // namespace ashlar::client_sim
