#include "client_sim/load/crowd_check.h"

#include <algorithm>

namespace ashlar::client_sim {

void CrowdCheck::note(const Client& client) {
  if (!client.own() || client.own_tick() == 0) return;
  known_[client.player()][client.own_tick() % ticks_kept] = {client.own_tick(),
                                                             quantise(client.own()->body.position_m)};
}

void CrowdCheck::look(const Client& client) {
  for (const ViewCell& cell : client.view().cells())
    for (const EntityRecord& entity : cell.now.entities) {
      const auto whose = known_.find(entity.id);
      if (whose == known_.end() || entity.id == client.player()) continue;
      const Place& was = whose->second[cell.now.tick % ticks_kept];
      if (was.tick != cell.now.tick || cell.now.tick == 0) continue;
      ++compared_;
      const bool right =
          was.at.cell == cell.cell && was.at.x == entity.x && was.at.y == entity.y && was.at.z == entity.z;
      wrong_ += right ? 0 : 1;
    }
  if (!client.own()) return;
  client.view().entities(seen_);
  const auto near = std::ranges::count_if(seen_, [&](const ViewEntity& entity) {
    const DVec3 off = entity.position_m - client.own()->body.position_m;
    return entity.record.id != client.player() && dot(off, off) <= near_m * near_m;
  });
  constexpr double newest_share = 1.0 / 200;
  seen_near_ += (static_cast<double>(near) - seen_near_) * newest_share;
}

}  // namespace ashlar::client_sim
