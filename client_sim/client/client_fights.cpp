// What a client is told of fights.

#include <algorithm>
#include <utility>

#include "client_sim/client/client.h"
#include "protocol/score_board.h"

namespace ashlar::client_sim {

std::vector<CombatEvent> Client::take_hits() { return std::exchange(world_.hits, {}); }

void Client::handle(const Fight& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  const EntityId own = player();
  for (const CombatEvent& hit : message.hits) {
    const bool died = hit.kind == CombatEventKind::died;
    if (hit.who == own && own != EntityId{0}) ++(died ? stats_.deaths : stats_.hits_taken);
    if (hit.by == own && hit.who != own && own != EntityId{0}) ++(died ? stats_.kills : stats_.hits_given);
    if (world_.hits.size() == hits_max) world_.hits.erase(world_.hits.begin());
    world_.hits.push_back(hit);
  }
  world_.fight = message;
}

void Client::hear(std::uint32_t tick, std::uint8_t part, std::span<const Cue> cues) {
  if (cues.empty() || !cues_.take_in(tick, part, cues)) return;
  stats_.cues += cues.size();
  for (const Cue& cue : cues) ++stats_.cues_of[static_cast<std::size_t>(cue.kind)];
}

std::vector<std::uint8_t> Client::take_picks() { return std::exchange(world_.picks, {}); }

void Client::handle(const Carried& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  for (const std::uint8_t item : message.picked) {
    ++stats_.items_picked;
    if (world_.picks.size() < picks_max) world_.picks.push_back(item);
  }
  world_.carried = message;
}

void Client::handle(Score& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  if (message.changes && !world_.score) return drop(DropReason::wrong_state);
  if (!world_.score) world_.score.emplace();
  if (!take_score(*world_.score, message)) return drop(DropReason::wrong_state);
}

void Client::handle(WeaponKinds& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  // What a projectile is like is the server's alone; the same weapons as before stay the same object.
  for (std::size_t i = 0; i < message.weapons.size(); ++i)
    if (i < kinds_->weapons.size()) message.weapons[i].projectile = kinds_->weapons[i].projectile;
  if (message.weapons == kinds_->weapons && message.ammo == kinds_->ammo) return;
  auto kinds = std::make_shared<KindSet>(*kinds_);
  kinds->weapons = std::move(message.weapons);
  kinds->ammo = message.ammo;
  kinds_ = std::move(kinds);
}

void Client::handle(MonsterShows& message) {
  if (!greeted_ || message.world != welcome_.world) return drop(DropReason::wrong_state);
  auto kinds = std::make_shared<KindSet>(default_kinds());
  kinds->weapons = kinds_->weapons;
  kinds->ammo = kinds_->ammo;
  for (KindShow& told : message.kinds) {
    const auto row = static_cast<std::size_t>(told.kind);
    if (row >= kinds->monsters.size()) kinds->monsters.resize(row + 1);
    kinds->monsters[row].show = std::move(told.show);
  }
  // The same ones stay the same object: who foresees begins anew with another.
  constexpr auto show = &MonsterTraits::show;
  if (!std::ranges::equal(kinds->monsters, kinds_->monsters, {}, show, show)) kinds_ = std::move(kinds);
}

}  // namespace ashlar::client_sim
