#include "client_sim/client/replica.h"

#include <algorithm>
#include <utility>

#include "client_sim/client/edited_ground.h"
#include "client_sim/client/sector_forecast.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"
#include "world/math/assert.h"
#include "world/sim/free_ammo.h"
#include "world/sim/player_tick.h"

namespace ashlar::client_sim {
namespace {

/// Of the one player; the server's id for it is another, and nothing here depends on it.
constexpr EntityId self = make_entity_id(0, 1);

}  // namespace

Replica::Replica(const WorldSetup& setup, std::optional<ColumnSpan> columns,
                 std::shared_ptr<const PlayerMotion> motion)
    : setup_(setup), motion_(std::move(motion)), ground_(setup, columns) {
  for (const auto& map : setup_.maps) {
    ASHLAR_ASSERT(map != nullptr);
    const HeightsView initial = map->initial_heights();
    heights_.emplace_back(initial.begin(), initial.end());
  }
  for (std::size_t i = 0; i < setup_.maps.size(); ++i) placed_.push_back({setup_.maps[i].get(), heights_[i]});
  for (const auto& prop : setup_.props) props_.push_back(prop.get());
  mechanics_ = Mechanics(setup_.maps, heights_, 1, 0);
  shooting_ = Shooting(1, 0, setup_.maps.size(), ammo_free(setup_.rules, setup_.maps));
  edits_ = GroundEdits(BlockActs::acts_per_tick_max + 1);
  edits_.protect(setup_.zones);
  acts_ = BlockActs(1, 0);
  player_.resize(1);
  nobody_.resize(0);
  nobody_.use_kinds(setup_.kinds);
  crowd_.reserve(bystanders_max + 1);
  player_.id[0] = self;
  player_.generation[0] = 1;
  player_.health[0] = setup_.rules.player_health;
  mechanics_.player_joined(0);
  player_.arsenal[0] = fresh_arsenal(nobody_.kind_set());
  acts_.player_joined(0);
}

/// What a replica does beside its player's part of a tick.
struct Replica::Rest {
  Replica& r;
  std::span<const Bystander> bystanders;
  bool lives = r.alive();

  void acts_judged() {}
  /// Whom a crusher hurts is the server's word.
  void sectors_moved() { r.player_.health[0] = lives ? r.setup_.rules.player_health : std::uint16_t{0}; }
  void shots_fired() {}
  void player_moves(std::size_t) {}
  void player_moved(std::size_t) {}
  void players_moved() {
    const std::size_t count = std::min(bystanders.size(), bystanders_max);
    if (count == 0 || !lives || r.player_.body[0].noclip != 0) return;
    constexpr EntityId own{0xffffffffu};  // that nobody else has
    r.crowd_.add(r.setup_.rules.player, r.player_.body[0], own);
    for (const Bystander& other : bystanders.first(count))
      r.crowd_.add_fixed(other.shape, other.position_m, other.id);
  }
  void crowd_pushed() {}
};

void Replica::step(const PlayerCommand& command, std::span<const BlockAct> acts,
                   std::span<const Bystander> bystanders) {
  const Rules& rules = setup_.rules;
  PlayerCommand turned = command;
  turned.yaw = command.yaw + delta_yaw_;
  edits_.begin_tick();
  player_.take(0, turned);
  judged_.assign(acts.begin(), acts.end());
  for (BlockAct& act : judged_) act.player = self;
  BlockActsTick acting{space(), ground_.volume(), edits_, rules, player_, nobody_};
  MechanicsTick moving{space(), heights_, rules, player_, nobody_, TickId{tick_}, true};
  const PlayerTick tick{moving, acting,    judged_, no_history_,  mechanics_,
                        acts_,  shooting_, crowd_,  motion_.get()};
  const std::uint64_t lines = mechanics_.counters().lines;
  const bool in_motion = mechanics_.in_motion();
  step_players(tick, Rest{*this, bystanders});
  if (in_motion || mechanics_.counters().lines != lines) sectors_ = ++sectors_newest_;
  delta_yaw_ = delta_yaw_ + (player_.yaw[0] - turned.yaw);
  ++tick_;
  for (const AppliedEdit& edit : edits_.applied()) {
    const auto by = std::ranges::find_if(acts_.verdicts(), [&edit](const BlockVerdict& verdict) {
      return verdict.verdict == ActVerdict::done && verdict.block == edit.block;
    });
    own_edits_.push_back({tick_, by == acts_.verdicts().end() ? 0 : by->number, edit});
  }
}

void Replica::save(ReplicaState& out) const {
  out.tick = tick_;
  out.delta_yaw = delta_yaw_;
  out.pressed = mechanics_.player(0);
  out.acts = acts_.player(0);
  player_.save(0, out.player);
  if (out.sectors == sectors_) return;
  out.heights = heights_;
  mechanics_.save_sectors(out.mechanics);
  out.sectors = sectors_;
}

void Replica::restore(const ReplicaState& state) {
  ASHLAR_ASSERT(state.sectors != 0 && state.heights.size() == heights_.size());
  while (!own_edits_.empty() && own_edits_.back().tick > state.tick) {
    const AppliedEdit& edit = own_edits_.back().edit;
    static_cast<void>(ground_.volume().set_block(edit.block, edit.before));
    own_edits_.pop_back();
  }
  tick_ = state.tick;
  delta_yaw_ = state.delta_yaw;
  mechanics_.restore_player(0, state.pressed);
  acts_.restore_player(0, state.acts);
  acts_.rest();
  shooting_.rest();
  player_.restore(0, state.player);
  if (sectors_ == state.sectors) return;
  for (std::size_t i = 0; i < heights_.size(); ++i)  // in place: spans of the space point there
    std::ranges::copy(state.heights[i], heights_[i].begin());
  mechanics_.restore_sectors(state.mechanics);
  sectors_ = state.sectors;
}

void Replica::put_player(std::uint32_t tick, const Body& body, bool alive, Turn16 delta_yaw) {
  tick_ = tick;
  player_.body[0] = body;
  player_.health[0] = alive ? setup_.rules.player_health : std::uint16_t{0};
  delta_yaw_ = delta_yaw;
}

void Replica::put_inventory(const Inventory& inventory) { player_.inventory[0] = inventory; }

bool Replica::put_arsenal(const Arsenal& told, std::span<const PlayerCommand> since) {
  const KindSet& kinds = nobody_.kind_set();
  if (!arsenal_sane(kinds, told)) return false;
  const bool free_ammo = ammo_free(setup_.rules, setup_.maps);
  Arsenal now = told;
  for (const PlayerCommand& command : since)
    static_cast<void>(wield(kinds, setup_.rules, free_ammo, command, alive(), now));
  if (now == player_.arsenal[0]) return false;
  player_.arsenal[0] = now;
  return true;
}

bool same_sectors(const ReplicaState& state, const SectorForecast& sectors) {
  const std::size_t maps = std::min(state.heights.size(), sectors.map_count());
  for (std::size_t i = 0; i < maps; ++i) {
    const auto same = [](const SectorHeights& a, const SectorHeights& b) {
      return a.floor_m == b.floor_m && a.ceiling_m == b.ceiling_m;
    };
    if (!std::ranges::equal(sectors.heights(i), state.heights[i], same)) return false;
    if (!std::ranges::equal(sectors.movers(i), state.mechanics.maps[i].movers.movers(), same_motion))
      return false;
  }
  return true;
}

bool Replica::alike(const ReplicaState& state, const SectorForecast& sectors) {
  if (setup_.maps.empty() || (state.sectors == alike_ && sectors.changes() == alike_changes_)) return true;
  if (!same_sectors(state, sectors)) return false;
  alike_ = state.sectors, alike_changes_ = sectors.changes();
  return true;
}

bool Replica::put_sectors(const SectorForecast& sectors) {
  if (sectors_ == alike_ && sectors.changes() == alike_changes_) return false;
  save(scratch_);
  if (alike(scratch_, sectors)) return false;
  const std::size_t maps = std::min(heights_.size(), sectors.map_count());
  for (std::size_t i = 0; i < maps; ++i) {
    const HeightsView told = sectors.heights(i);
    if (told.size() != heights_[i].size()) continue;  // a map that the forecast does not hold
    std::ranges::copy(told, heights_[i].begin());
    static_cast<void>(scratch_.mechanics.maps[i].movers.assign(sectors.movers(i)));
  }
  mechanics_.restore_sectors(scratch_.mechanics);
  sectors_ = ++sectors_newest_;
  scratch_.sectors = 0;  // its heights are those before
  return true;
}

bool Replica::put_block(IVec3 block, BlockId id) {
  std::erase_if(own_edits_, [&](const OwnEdit& own) { return own.edit.block == block; });
  if (!ground_.volume().loaded(chunk_of(block)) || ground_.volume().block(block) == id) return false;
  return ground_.volume().set_block(block, id);
}

/// What was changed twice is what it was before the first time.
bool Replica::undo(AppliedEdit edit, const EditedGround& told) {
  return put_block(edit.block, told.told(edit.block).value_or(edit.before));
}

bool Replica::changed_otherwise(std::uint32_t tick, const EditedGround& told) const {
  return std::ranges::any_of(own_edits_, [&](const OwnEdit& own) {
    return own.tick <= tick && told.told(own.edit.block) != own.edit.after;
  });
}

bool Replica::take_back_until(std::uint32_t tick, const EditedGround& told) {
  bool any = false;
  while (!own_edits_.empty() && own_edits_.front().tick <= tick)
    any = undo(own_edits_.front().edit, told) || any;
  return any;
}

bool Replica::take_back(std::uint32_t act, const EditedGround& told) {
  const auto own = std::ranges::find(own_edits_, act, &OwnEdit::act);
  return own != own_edits_.end() && undo(own->edit, told);
}

}  // namespace ashlar::client_sim
