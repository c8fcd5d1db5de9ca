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

}  // namespace ashlar::client_sim
