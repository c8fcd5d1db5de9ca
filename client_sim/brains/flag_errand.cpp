#include "client_sim/brains/flag_errand.h"

#include <algorithm>

namespace ashlar::client_sim {
void FlagErrand::look(const Client& client, std::span<const ViewEntity> seen, DVec3 home_m) {
  if (client.welcome().world != world_) flags_.clear();
  world_ = client.welcome().world;
  home_m_ = home_m;
  for (const ViewEntity& e : seen) {
    const ReplicatedKind* const kind = client.replication()->find(e.record.kind);
    if (kind == nullptr || kind->name != "flag") continue;
    auto flag = std::ranges::find(flags_, e.record.id, &Flag::id);
    if (flag == flags_.end())
      flag = flags_.insert(flag, {e.record.id, EntityId{0}, e.position_m, e.position_m});
    flag->at_m = e.position_m;
    flag->carrier = EntityId{static_cast<std::uint32_t>(client.field(e.record.id, "carrier").value_or(0))};
  }
}

/// That which stood nearest to where the player began.
const FlagErrand::Flag* FlagErrand::own() const {
  const auto away = [this](const Flag& f) { return dot(f.base_m - home_m_, f.base_m - home_m_); };
  const auto nearest = std::ranges::min_element(flags_, {}, away);
  return nearest == flags_.end() ? nullptr : &*nearest;
}

std::optional<DVec3> FlagErrand::place_m(EntityId player) const {
  const Flag* const ours = own();
  if (ours == nullptr) return std::nullopt;
  for (const Flag& f : flags_)
    if (&f != ours && f.carrier == player) return ours->base_m;
  if (ours->carrier != EntityId{0}) return ours->at_m;
  for (const Flag& f : flags_)
    if (&f != ours) return f.at_m;
  return std::nullopt;
}

}  // namespace ashlar::client_sim
