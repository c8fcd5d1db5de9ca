#include "world/sim/navigation.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/column.h"
#include "world/bsp/placed_map.h"
#include "world/math/assert.h"
#include "world/sim/map_plan.h"
#include "world/sim/mechanics.h"
#include "world/sim/teleport.h"
#include "world/sim/triggers.h"

namespace ashlar {
namespace {

constexpr double moved_m = 1.0;              // a player who went so far is looked for anew
constexpr std::uint32_t ask_every = 8;       // ticks from one question of a row to its next
constexpr std::uint32_t heights_every = 16;  // likewise from one look at a map's floors and ceilings
constexpr std::uint32_t by_ways_ticks = 180;
constexpr std::size_t searches_begun_per_tick = 16;  // a search costs something to begin, too
constexpr double last_step_look_m = 0.25;

/// Sectors with a door that a monster opens: by a line before it that it may use.
std::vector<std::uint8_t> doors_of(const MapPlan& plan) {
  std::vector<std::uint8_t> doors(plan.sector_count(), 0);
  const SectorMap& source = plan.map().source();
  for (std::uint32_t line = 0; line < source.lines.size(); ++line) {
    const LineAction* action = plan.action(line);
    if (action == nullptr || !action->monsters || action->trigger != LineTrigger::use) continue;
    if (!action->sector_behind || action->keys != 0) continue;  // no monster has a key
    const bool door = action->effect == LineEffect::door_raise || action->effect == LineEffect::door_open;
    const MapLine& l = source.lines[line];
    if (!door || l.back == no_index || (l.flags & line_flag::secret) != 0) continue;
    doors[source.sides[l.back].sector] = 1;
  }
  return doors;
}

/// Teleporters that monsters walk over.
std::vector<Sending> sendings_of(const MapPlan& plan) {
  std::vector<Sending> out;
  const SectorMap& source = plan.map().source();
  for (std::uint32_t line = 0; line < source.lines.size(); ++line) {
    const LineAction* action = plan.action(line);
    if (action == nullptr || !action->monsters || action->trigger != LineTrigger::walk) continue;
    // One that works once is none to rely on: whoever comes later stands before it for ever.
    if (action->effect != LineEffect::teleport || !action->repeats) continue;
    const auto landing = teleport_landing(plan, plan.map().initial_heights(), line);
    if (!landing) continue;
    const MapLine& l = source.lines[line];
    if (l.back == no_index || (l.flags & line_flag::blocking) != 0) continue;  // nobody gets over it
    // Only the front sends: from a little before it.
    const DVec2 a = plan.start_m(line), b = plan.end_m(line);
    const DVec2 along = b - a;
    const double size = length(along);
    if (!(size > 0)) continue;
    const DVec2 front{along.y / size, -along.x / size};
    const DVec2 middle = (a + b) * 0.5;
    out.push_back({middle + front * 0.05, middle - front * 0.75, xy(landing->position_m), a, b});
  }
  return out;
}

}  // namespace

Navigation::Skill Navigation::skill_of(const MonsterTraits& kind) {
  return {walker_class_of(kind.shape, kind.step_height_m_max, kind.flies != 0), kind.opens_doors != 0};
}

Navigation::Ground Navigation::ground_of(const MapPlan& plan) {
  Ground out{&plan, std::make_unique<LeafGraph>(plan.map(), sendings_of(plan)), doors_of(plan),
             std::vector<std::uint8_t>(plan.sector_count(), 0), MapLifts(plan)};
  out.moves = moving_planes(plan.map().source());
  out.barred.assign(out.graph->join_count(), 0);
  if (plan.map().doorways().empty()) return out;
  const Doorway& doorway = plan.map().doorways().front();
  const DVec2 down = xy(doorway.foot_m - doorway.top_m);
  const double size = length(down);
  for (double at_m = 0; at_m < size && !out.has_stairs; at_m += last_step_look_m) {
    out.last_step_m = xy(doorway.top_m) + down * (at_m / size);
    out.has_stairs = out.graph->sector(out.graph->leaf_at(out.last_step_m)) != no_index;
  }
  out.top_m = doorway.top_m, out.foot_m = doorway.foot_m;
  return out;
}

Navigation::Navigation(std::span<const MapPlan* const> plans, std::size_t monster_rows)
    : field_of_row_(monster_rows, std::uint16_t{fields_max}),
      detours_(monster_rows),
      by_ways_until_tick_(monster_rows) {
  std::vector<MapGround> boxes;
  for (const MapPlan* plan : plans) {
    grounds_.push_back(ground_of(*plan));
    boxes.push_back({{plan->map().box(), open_columns(plan->map())}, grounds_.back().top_m});
  }
  blocks_ = std::make_unique<BlockNavigation>(std::move(boxes));
  if (grounds_.empty()) return;
  bars_.reserve(bars_max);
  fields_.resize(fields_max);
  std::uint32_t leaves = 0, joins = 0;
  for (const Ground& ground : grounds_) {
    leaves = std::max(leaves, ground.graph->leaf_count());
    joins = std::max(joins, ground.graph->join_count());
  }
  for (Field& field : fields_) field.now = WayField(leaves, 0);
  search_ = WayField(leaves, joins);
}

/// nullopt: it hunts nobody who lives, or no stairs lead there.
std::optional<Navigation::Target> Navigation::target_of(const PlayerTable& players,
                                                        const MonsterTable& monsters, std::size_t row) const {
  const EntityId player = monsters.target[row];
  if (!players.has(player) || !players.takes_part(slot_of(player))) return std::nullopt;
  const std::size_t none = grounds_.size();
  const std::size_t map = map_at(monsters.body[row].position_m);
  const DVec3 to = players.body[slot_of(player)].position_m;
  if (map != none && in_box(grounds_[map].plan->map(), to)) return Target{player, map, none};
  const std::size_t stairs = map != none ? map : map_at(to);
  if (stairs == none) return Target{player, none, none};
  if (!grounds_[stairs].has_stairs) return std::nullopt;
  return Target{stairs_of(stairs), map, stairs};
}

std::size_t Navigation::map_at(DVec3 at) const {
  for (std::size_t i = 0; i < grounds_.size(); ++i)
    if (in_box(grounds_[i].plan->map(), at)) return i;
  return grounds_.size();
}

bool Navigation::suits(const Field& field, EntityId player, std::size_t map, Skill skill) const {
  return field.player == player && field.map == map && (skill.opens || !field.opens) &&
         (field.which == skill.which || walker_covers(walker_class(skill.which), walker_class(field.which)));
}

const Navigation::Field* Navigation::field_of(std::size_t row, const Target& target, Skill skill) const {
  const std::uint16_t number = field_of_row_[row];
  if (number == fields_max || !suits(fields_[number], target.to, target.map, skill)) return nullptr;
  return &fields_[number];
}

/// Takes the field that nobody asked for for the longest time, if it is not wanted now; where all are, one
/// that others go by and that suits.
void Navigation::ask(std::size_t row, EntityId player, std::size_t map, Skill skill, std::uint32_t tick) {
  const auto same = [&](const Field& f) {
    return f.player == player && f.map == map && f.which == skill.which && f.opens == skill.opens;
  };
  std::uint16_t& number = field_of_row_[row];
  if (number == fields_max || !same(fields_[number])) {
    auto at = std::ranges::find_if(fields_, same);
    if (at == fields_.end()) {
      at = std::ranges::min_element(fields_, {}, &Field::asked_tick);
      const bool busy = at->player != EntityId{0} && at->asked_tick + fresh_ticks > tick;
      if (busy || static_cast<std::size_t>(at - fields_.begin()) == searched_) {
        at = std::ranges::find_if(fields_, [&](const Field& f) { return suits(f, player, map, skill); });
      } else {
        at->player = player, at->map = map, at->which = skill.which, at->opens = skill.opens;
        at->ready = false;
        at->begun_tick = 0;
        fields_used_ = std::max(fields_used_, static_cast<std::size_t>(at - fields_.begin()) + 1);
      }
    }
    number = static_cast<std::uint16_t>(at - fields_.begin());  // of none: fields_max
  }
  if (number != fields_max) fields_[number].asked_tick = tick;
}

WayRules Navigation::rules(std::span<const MapInSpace> maps, std::size_t map, bool opens) const {
  const Ground& ground = grounds_[map];
  return {maps[map].heights, maps[map].map, opens ? ground.doors : ground.no_doors, ground.lifts.ranges(),
          ground.barred};
}

/// What one row that hunts needs a way for.
void Navigation::ask_for(const Space& space, const PlayerTable& players, const MonsterTable& monsters,
                         std::size_t row, std::uint32_t tick) {
  const auto target = target_of(players, monsters, row);
  if (!target) return;
  const MonsterTraits& kind = monsters.traits_at(row);
  if (target->map == grounds_.size()) {
    const auto walker = block_walker_of(kind);
    const bool to_stairs = target->other_map != grounds_.size();
    if (!walker) return;
    if (!to_stairs && !straight_to(space, monsters, row, players.body[slot_of(target->to)].position_m))
      by_ways_until_tick_[row] = tick + by_ways_ticks;
    if (to_stairs || tick < by_ways_until_tick_[row])
      blocks_->ask_from(players, target->to, *walker, monsters.body[row].position_m, tick);
    return;
  }
  const Skill skill = skill_of(kind);
  if (skill.which == walker_class_count) return;
  ask(row, target->to, target->map, skill, tick);
  ask_for_detour(monsters, row, *target, tick);
}

void Navigation::ask_for_detour(const MonsterTable& monsters, std::size_t row, const Target& target,
                                std::uint32_t tick) {
  const MonsterTraits& kind = monsters.traits_at(row);
  const Field* field = field_of(row, target, skill_of(kind));
  if (field == nullptr || !field->ready || kind.flies != 0) return;
  const DVec2 at = xy(monsters.body[row].position_m);
  const double remains_m = field->now.remaining_m(grounds_[target.map].graph->leaf_at(at), at);
  if (remains_m < 0 || monsters.action[row] != MonsterAction::none) return;
  if (detours_.gets_no_nearer(row, target.to, remains_m, tick))
    detours_.begin(monsters, row, kind.shape, kind.step_height_m_max, tick);
}

void Navigation::search_detour(std::span<const MapInSpace> maps, const PlayerTable& players,
                               const MonsterTable& monsters, std::uint32_t tick) {
  detours_.follow(monsters, tick);
  if (!detours_.searching()) return;
  const std::size_t row = detours_.searched();
  const auto target = monsters.id[row] != EntityId{0} ? target_of(players, monsters, row) : std::nullopt;
  if (!target || target->map == grounds_.size()) return detours_.give_up();
  const Skill skill = skill_of(monsters.traits_at(row));
  const Field* field = field_of(row, *target, skill);
  if (field == nullptr || !field->ready) return detours_.give_up();
  const Ground& ground = grounds_[target->map];
  if (!detours_.advance(*ground.graph, rules(maps, target->map, field->opens), field->now, monsters, tick))
    return;
  const std::uint32_t leaf = ground.graph->leaf_at(xy(monsters.body[row].position_m));
  bar({target->map, field->now.way_out(leaf), {field->which, skill.opens}, tick, row, *target}, leaf);
}

/// The openings are right and yet nobody of the class gets through: others need not try for a while. What may
/// open by itself is never barred.
void Navigation::bar(const Bar& bar, std::uint32_t leaf) {
  if (bar.join == no_index || bars_.size() == bars_max) return;
  Ground& ground = grounds_[bar.map];
  const LeafGraph::Join& way = ground.graph->join(bar.join);
  for (const std::uint32_t sector : {ground.graph->sector(leaf), ground.graph->sector(way.to)})
    if (ground.moves.floor_moves[sector] != 0 || ground.moves.ceiling_moves[sector] != 0) return;
  if (way.sends || !ground.graph->beside(bar.join, bar.skill.which).empty()) return;
  ground.barred[bar.join] = static_cast<std::uint16_t>(ground.barred[bar.join] | 1u << bar.skill.which);
  ground.changed_tick = bar.since_tick;
  bars_.push_back(bar);
}

/// Those whose time is over, and those without which there is no way at all: better one that may work.
void Navigation::lift_bars(const MonsterTable& monsters, std::uint32_t tick) {
  std::size_t kept = 0;
  for (const Bar& bar : bars_) {
    const Ground& ground = grounds_[bar.map];
    const Field* field = field_of(bar.row, bar.target, bar.skill);
    const DVec2 at = xy(monsters.body[bar.row].position_m);
    const bool searched = field != nullptr && static_cast<std::size_t>(field - fields_.data()) == searched_;
    const bool only_way = field != nullptr && field->ready && !searched &&
                          field->begun_tick > bar.since_tick &&
                          field->now.distance_m(ground.graph->leaf_at(at)) < 0;
    std::uint16_t& bits = grounds_[bar.map].barred[bar.join];
    if (only_way || tick - bar.since_tick >= barred_ticks) {
      bits = static_cast<std::uint16_t>(bits & ~(1u << bar.skill.which));
      grounds_[bar.map].changed_tick = tick;
    } else {
      bars_[kept++] = bar;
    }
  }
  bars_.erase(bars_.begin() + static_cast<std::ptrdiff_t>(kept), bars_.end());
}

/// Whoever moved them.
void Navigation::follow_heights(Ground& ground, HeightsView heights, std::uint32_t tick) {
  StripeHasher hash;
  for (const SectorHeights& s : heights) hash.add(s.floor_m), hash.add(s.ceiling_m);
  if (hash.value() == ground.heights) return;
  ground.heights = hash.value();
  ground.changed_tick = tick;
}

void Navigation::advance(const Space& space, const PlayerTable& players, const MonsterTable& monsters,
                         std::uint32_t tick, std::span<const MapMechanics> mechanics) {
  if (blocks_ == nullptr) return;
  tick_ = tick;
  ASHLAR_ASSERT(space.maps.size() == grounds_.size());
  ASHLAR_ASSERT(mechanics.empty() || mechanics.size() == grounds_.size());
  for (std::size_t i = 0; i < mechanics.size(); ++i)
    grounds_[i].lifts.follow(*grounds_[i].plan, space.maps[i].heights, mechanics[i].movers, tick);
  if (tick % heights_every == 0)
    for (std::size_t i = 0; i < grounds_.size(); ++i)
      follow_heights(grounds_[i], space.maps[i].heights, tick);
  // Rows take turns: who hunts asks six times a second or so.
  for (std::size_t row = tick % ask_every; row < monsters.rows(); row += ask_every)
    if (monsters.id[row] != EntityId{0} && monsters.mood[row] == MonsterMood::chase)
      ask_for(space, players, monsters, row, tick);
  search(space.maps, players, tick);
  search_detour(space.maps, players, monsters, tick);
  lift_bars(monsters, tick);
  blocks_->advance(*space.voxels, players, tick);
}

bool Navigation::wanted(const Field& field, const PlayerTable& players, std::uint32_t tick) const {
  if (field.player == EntityId{0} || field.asked_tick + 2 * ask_every < tick) return false;
  return is_stairs(field.player) || players.has(field.player);
}

DVec2 Navigation::place_of(const Field& field, const PlayerTable& players) const {
  if (is_stairs(field.player)) return xy(grounds_[field.map].top_m);
  return xy(players.body[slot_of(field.player)].position_m);
}

bool Navigation::stale(const Field& f, const PlayerTable& players, std::uint32_t tick) const {
  const DVec2 moved = place_of(f, players) - f.to_m;
  const std::uint32_t age = tick - f.begun_tick;
  if (!f.ready || age >= aged_ticks) return true;
  if (age >= follows_ticks && dot(moved, moved) > moved_m * moved_m) return true;
  // What lifts do is looked at only so often.
  return age >= fresh_ticks && grounds_[f.map].changed_tick + MapLifts::rest_every_ticks >= f.begun_tick;
}

/// Of the fields that are wanted and out of date, the one that was begun first.
bool Navigation::begin_search(const PlayerTable& players, std::uint32_t tick) {
  Field* oldest = nullptr;
  for (Field& f : std::span(fields_).first(fields_used_)) {
    if (!wanted(f, players, tick) || (oldest != nullptr && oldest->begun_tick <= f.begun_tick)) continue;
    if (stale(f, players, tick)) oldest = &f;
  }
  if (oldest == nullptr) return false;
  oldest->to_m = place_of(*oldest, players);
  oldest->begun_tick = tick;
  searched_ = static_cast<std::size_t>(oldest - fields_.data());
  const Ground& ground = grounds_[oldest->map];
  search_.begin(*ground.graph, is_stairs(oldest->player) ? ground.last_step_m : oldest->to_m, oldest->which);
  return true;
}

void Navigation::search(std::span<const MapInSpace> maps, const PlayerTable& players, std::uint32_t tick) {
  std::uint32_t left = leaves_per_tick;
  for (std::size_t begun = 0; left > 0 && begun < searches_begun_per_tick; ++begun) {
    if (searched_ == fields_max && !begin_search(players, tick)) return;
    Field& f = fields_[searched_];
    left -= search_.advance(*grounds_[f.map].graph, rules(maps, f.map, f.opens), left);
    if (!search_.whole()) return;
    f.now.take(search_);
    f.ready = true;
    searched_ = fields_max;
    ++made_;
  }
}

void Navigation::add_to_hash(StripeHasher& hash) const {
  hash.add(made_);
  hash.add(static_cast<std::uint64_t>(searched_));
  detours_.add_to_hash(hash);
  for (const std::uint32_t until : by_ways_until_tick_)
    if (until > tick_) hash.add(std::uint64_t{until});
  for (const Ground& ground : grounds_) hash.add(static_cast<std::uint64_t>(ground.changed_tick));
  for (const Bar& bar : bars_)
    hash.add(static_cast<std::uint64_t>(bar.since_tick) << 32 | bar.join), hash.add(std::uint64_t{bar.map});
  if (blocks_ != nullptr) blocks_->add_to_hash(hash);
  for (const Field& f : std::span(fields_).first(fields_used_)) {
    if (f.player == EntityId{0}) continue;
    hash.add(static_cast<std::uint64_t>(f.player) << 32 | f.asked_tick);
    hash.add(static_cast<std::uint64_t>(f.begun_tick) << 32 | static_cast<std::uint64_t>(f.map) << 8 |
             static_cast<std::uint64_t>(f.which) << 2 | (f.opens ? 2u : 0u) | (f.ready ? 1u : 0u));
    hash.add(f.to_m.x), hash.add(f.to_m.y);
  }
}

}  // namespace ashlar
