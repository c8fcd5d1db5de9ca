#include "client_sim/load/crowd_check.h"

#include <algorithm>

#include "protocol/snapshot/moving_record.h"

namespace ashlar::client_sim {

void CrowdCheck::note(const Client& client) {
  if (!client.own() || client.own_tick() == 0) return;
  known_[client.player()][client.own_tick() % ticks_kept] = {client.own_tick(),
                                                             quantise(client.own()->body.position_m)};
  newest_[client.player()] = client.own()->body.position_m;
  Hearing& hearing = hearing_[&client];
  const std::uint32_t tick = client.view().newest_tick();
  if (tick == hearing.newest) return;
  const Welcome& welcome = client.welcome();
  const std::uint32_t gap =
      std::max<std::uint32_t>(welcome.rules.tick_rate_hz / 2u, 2u * welcome.snapshot_every_ticks);
  if (hearing.newest != 0 && tick > hearing.newest + gap) ++gaps_, hearing.since = tick, hearing.looks = 0;
  hearing.newest = tick;
  if (hearing.since == 0) return;
  ++hearing.looks;
  if (!agrees(client, hearing.since)) return;
  agreed_after_ = std::max(agreed_after_, hearing.looks);
  hearing.since = 0;
}

bool CrowdCheck::agrees(const Client& client, std::uint32_t since) {
  const DVec3 own = client.own()->body.position_m;
  for (const auto& [id, place] : newest_) {
    const DVec3 off = place - own;
    if (id == client.player() || dot(off, off) > agrees_m * agrees_m) continue;
    const auto knows = [&](const ViewCell& cell) {
      return cell.now.tick >= since && cell.find(id) != nullptr;
    };
    if (std::ranges::none_of(client.view().cells(), knows)) return false;
  }
  return true;
}

std::uint32_t CrowdCheck::disagreeing() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(hearing_, [](const auto& entry) { return entry.second.since != 0; }));
}

void CrowdCheck::look(const Client& client) {
  for (const ViewCell& cell : client.view().cells())
    for (const EntityRecord& entity : cell.now.entities) {
      const auto whose = known_.find(entity.id);
      if (whose == known_.end() || entity.id == client.player()) continue;
      const Place& was = whose->second[cell.now.tick % ticks_kept];
      if (was.tick != cell.now.tick || cell.now.tick == 0) continue;
      ++compared_;
      EntityRecord there = entity;
      there.x = was.at.x, there.y = was.at.y, there.z = was.at.z;
      wrong_ += was.at.cell == cell.cell && tells(entity, there) ? 0 : 1;
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
