#include "server/host/seldom_told.h"

#include <algorithm>

#include "protocol/quantise.h"
#include "world/sim/history.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

/// Rays scatter by so much of their length, and who was shown elsewhere was so near to where he is.
constexpr double aside_share = 0.2, beside_m = 3;

/// Can it go off in this tick?
bool may_fire(const PlayerCommand& command, const Arsenal& arsenal) {
  const bool held = (command.buttons & button::attack) != 0;
  return (held && arsenal.wait_ticks <= 1) || arsenal.windup_ticks > 0 || arsenal.charge_ticks > 0;
}

bool holds(const BlockFrames& frames, const FrameBlock& block, std::uint32_t tick, EntityId id) {
  const auto then = frames.at(block, tick);
  return then && std::ranges::binary_search(*then, id, {}, [](const MovingRecord& m) { return m.record.id; });
}

}  // namespace

void SeldomTold::list_targets(const BlockFrames& frames, const Session& session, DVec3 eye_m, DVec3 way) {
  targets_.clear();
  for (const FrameBlock& block : frames.blocks()) {
    if (session.blocks->find(block.number) == nullptr) continue;
    for (const MovingRecord& moving : frames.entities(block)) {
      const EntityRecord& e = moving.record;
      const DVec3 to = dequantise({block.cell, e.x, e.y, e.z}) - eye_m;
      const double along = dot(to, way);
      const double reach = beside_m + aside_share * std::max(along, 0.0);
      if (along < -beside_m || dot(to, to) - along * along > reach * reach) continue;
      if (e.id == session.player || e.health == 0) continue;
      if (targets_.size() == targets_max) return;
      targets_.push_back({e.id, &block, 0, 0, 0});
    }
  }
}

void SeldomTold::find(const World& world, const BlockFrames& frames, const Session& session,
                      const PlayerCommand& command, std::uint32_t given, std::vector<ToldApart>& out) {
  const ClientBlocks& held = *session.blocks;
  const std::uint32_t now = number(world.tick()), seen = number(command.seen);
  const Rules& rules = world.setup().rules;
  const std::uint32_t reach = rules.ticks_within(rewind_s_max + told_apart_s_max, 1);
  if (seen == 0 || given == 0 || held.uneven_tick == 0 || held.uneven_tick + reach < now) return;
  const int row = world.player_row(session.player);
  if (row < 0) return;
  const auto i = static_cast<std::size_t>(row);
  const PlayerTable& players = world.players();
  if (!may_fire(command, players.arsenal[i])) return;
  list_targets(frames, session, players.body[i].position_m + DVec3{0, 0, rules.player_eye_m},
               view_direction(command.yaw, command.pitch));
  if (targets_.empty()) return;
  for (const Target& target : targets_) wanted_.set(target.block->number);
  held.visit_told(given, now > reach ? now - reach : 1, [&](std::uint16_t block, std::uint32_t tick) {
    if (!wanted_[block]) return;
    for (Target& target : targets_) {
      if (target.block->number != block) continue;
      if (tick > seen)
        target.to = tick;
      else if (target.from == 0)
        target.from = tick;
      else if (target.from_before == 0 && tick < target.from)
        target.from_before = tick;
    }
  });
  for (const Target& target : targets_) {
    wanted_.reset(target.block->number);
    ToldApart told{session.player, target.id, 0, 0};
    if (target.from != seen) {
      const std::uint32_t to = target.to != 0 ? target.to : target.from;
      const std::uint32_t from = target.to != 0 ? target.from : target.from_before;
      if (from == 0 || seen - from > 255 || to > seen + 127) continue;
      if (!holds(frames, *target.block, from, target.id) || !holds(frames, *target.block, to, target.id))
        continue;
      told.told_before = static_cast<std::uint8_t>(seen - from);
      told.told_after = static_cast<std::int8_t>(static_cast<std::int32_t>(to - seen));
    }
    if (told.told_before != command.told_before || told.told_after != command.told_after) out.push_back(told);
  }
}

}  // namespace ashlar::server
