// What a client is told of fights.

#include <utility>

#include "client_sim/client/client.h"

namespace ashlar::client_sim {

std::vector<CombatEvent> Client::take_hits() { return std::exchange(hits_, {}); }

void Client::handle(const Fight& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  const EntityId own = player();
  for (const CombatEvent& hit : message.hits) {
    const bool died = hit.kind == CombatEventKind::died;
    if (hit.who == own && own != EntityId{0}) ++(died ? stats_.deaths : stats_.hits_taken);
    if (hit.by == own && hit.who != own && own != EntityId{0}) ++(died ? stats_.kills : stats_.hits_given);
    if (hits_.size() == hits_max) hits_.erase(hits_.begin());
    hits_.push_back(hit);
  }
  fight_ = message;
}

}  // namespace ashlar::client_sim
