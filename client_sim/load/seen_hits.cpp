#include "client_sim/load/seen_hits.h"

#include <algorithm>

#include "world/sim/history.h"
#include "world/sim/shot.h"

namespace ashlar::client_sim {
namespace {

constexpr double word_within_s = 1;  // the server's on a hit
constexpr double elsewhere_m = 0.01;
/// When several messages of fights come in one turn only the last one's tick is known.
constexpr std::uint32_t ticks_in_turn = 3;

HitBuild build_of(const Client& client, EntityKind kind) {
  const auto& monsters = client.kinds()->monsters;
  for (std::size_t i = 0; i < monsters.size(); ++i)
    if (entity_kind(static_cast<MonsterKind>(i)) == kind) return monsters[i].build;
  return HitBuild::upright;
}

/// May it be that a shot hurts nobody, and is not told of? Of teams nobody says who is in which.
bool spared(const Rules& rules, EntityKind kind) {
  return kind == EntityKind::player && rules.friendly_fire == Switch::off &&
         rules.mode != GameMode::deathmatch;
}

}  // namespace

void SeenHitCounts::merge(const SeenHitCounts& other) {
  agreed += other.agreed, denied += other.denied, beyond += other.beyond;
  displaced += other.displaced, untold += other.untold;
}

bool SeenHitLedger::Waiting::may_be_of(std::uint32_t told, EntityId target) const {
  return !given && hit.target == target && hit.tick <= told && told - hit.tick <= ticks_in_turn;
}

void SeenHitLedger::saw(const SeenHit& hit) {
  // Pictures are older than what is told of fights.
  const bool dead = std::ranges::any_of(
      dead_, [&](const Death& death) { return death.who == hit.target && death.tick < hit.tick; });
  if (!dead) waiting_.push_back({hit});
}

void SeenHitLedger::given(std::uint32_t told, EntityId target) {
  for (std::size_t i = waiting_.size(); i-- > 0;) {
    if (!waiting_[i].may_be_of(told, target)) continue;
    waiting_[i].given = true;
    return;
  }
}

void SeenHitLedger::died(std::uint32_t told, EntityId target) {
  dead_.push_back({told, target});
  std::erase_if(waiting_, [&](const Waiting& seen) {
    return seen.may_be_of(told, target) || (seen.hit.target == target && seen.hit.tick > told);
  });
}

void SeenHitLedger::stood(std::uint32_t tick, DVec3 feet_m) {
  for (Waiting& seen : waiting_)
    if (tick == seen.hit.tick - 1)
      seen.stood = length(feet_m - seen.hit.feet_m) > elsewhere_m ? Stood::elsewhere : Stood::there;
}

void SeenHitLedger::settle(std::uint32_t newest_tick, std::uint32_t patience_ticks) {
  std::erase_if(dead_, [&](const Death& death) { return newest_tick >= death.tick + patience_ticks; });
  std::erase_if(waiting_, [&](const Waiting& seen) {
    if (newest_tick < seen.hit.tick + patience_ticks) return false;
    ++(seen.hit.beyond                  ? counts_.beyond
       : seen.stood == Stood::untold    ? counts_.untold
       : seen.stood == Stood::elsewhere ? counts_.displaced
       : seen.given                     ? counts_.agreed
                                        : counts_.denied);
    return true;
  });
}

void SeenHits::advance(Client& client, Predictor& predictor, std::span<const ShownEntity> shown) {
  if (client.stats().worlds != world_) {
    world_ = client.stats().worlds;
    ledger_.clear();
  }
  for (const ShotEvent& shot : predictor.take_shots()) look(client, predictor, shot, shown);
  const std::uint32_t told = client.fight() ? client.fight()->tick : 0;
  for (const CombatEvent& hit : client.take_hits()) {
    if (hit.kind == CombatEventKind::died) ledger_.died(told, hit.who);
    const bool shot =
        hit.how == HurtBy::shot || hit.how == HurtBy::claw;  // fists are shots that reach so far
    if (hit.kind == CombatEventKind::hurt && shot && hit.by == client.player()) ledger_.given(told, hit.who);
  }
  if (ledger_.empty()) return;
  if (client.own()) ledger_.stood(client.own_tick(), client.own()->body.position_m);
  ledger_.settle(client.view().newest_tick(), client.welcome().rules.ticks_within(word_within_s, 1));
}

/// Whom a shot hits in the picture.
void SeenHits::look(const Client& client, const Predictor& predictor, const ShotEvent& shot,
                    std::span<const ShownEntity> shown) {
  targets_.clear();
  for (const ShownEntity& e : shown) {
    const auto shape = client.welcome().body_of(e.record.kind);
    if (!shape || e.record.health == 0) continue;
    targets_.push_back(
        {e.record.id, *shape, e.position_m, hit_shape(*shape, build_of(client, e.record.kind))});
  }
  const ShotHit hit = resolve_shot(predictor.replica().space(), targets_, client.player(), shot.origin,
                                   shot.direction, shot.range_m);
  const Rules& rules = client.welcome().rules;
  const auto target = std::ranges::find(shown, hit.target, [](const ShownEntity& e) { return e.record.id; });
  if (target == shown.end() || spared(rules, target->record.kind)) return;
  SeenHit seen;
  seen.tick = number(shot.seen) + 1;
  seen.target = hit.target;
  seen.feet_m = shot.origin - DVec3{0, 0, rules.player_eye_m};
  const PlayerCommand* command = client.command_of(seen.tick);
  const std::uint32_t claimed = command == nullptr ? 0 : number(command->seen);
  seen.beyond = seen.tick - 1 - std::min(claimed, seen.tick - 1) > rules.ticks_within(rewind_s_max, 1);
  ledger_.saw(seen);
}

}  // namespace ashlar::client_sim
