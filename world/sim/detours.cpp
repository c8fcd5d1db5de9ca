#include "world/sim/detours.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double detour_nearer_m = 0.5;   // less is none
constexpr double detour_there_m = 0.12;   // so near to a point one is there
constexpr double detour_strayed_m = 1.5;  // so far from it one was pushed off

}  // namespace

Detours::Detours(std::size_t monster_rows) : progress_(monster_rows), held_(held_max) {}

bool Detours::gets_no_nearer(std::size_t row, EntityId target, double remaining_m, std::uint32_t tick) {
  Progress& p = progress_[row];
  if (p.target != target || remaining_m < static_cast<double>(p.best_m) - detour_nearer_m) {
    p.target = target;
    p.best_m = static_cast<float>(remaining_m);
    p.since_tick = tick;
    return false;
  }
  return tick - p.since_tick >= patience_ticks && p.held == none && !searching();
}

void Detours::begin(const MonsterTable& monsters, std::size_t row, const Cylinder& shape, double step_m,
                    std::uint32_t tick) {
  ASHLAR_ASSERT(!searching());
  searched_ = row;
  searched_id_ = monsters.id[row];
  progress_[row].since_tick = tick;  // not the next one again
  search_.begin(monsters.body[row].position_m, shape, step_m);
}

bool Detours::advance(const LeafGraph& graph, const WayRules& rules, const WayField& ways,
                      const MonsterTable& monsters, std::uint32_t tick) {
  if (!searching()) return false;
  if (monsters.id[searched_] != searched_id_) return give_up(), false;
  search_.advance(graph, rules, ways, cells_per_tick);
  if (!search_.whole()) return false;
  const std::size_t row = searched_;
  give_up();
  const Detour way = search_.found();
  const auto free = std::ranges::find(held_, EntityId{0}, &Held::id);
  if (way.count == 0) return true;
  if (free == held_.end()) return false;
  *free = {monsters.id[row], row, 0, tick, way};
  progress_[row].held = static_cast<std::uint8_t>(free - held_.begin());
  ++found_;
  return false;
}

void Detours::drop(Held& held) {
  progress_[held.row].held = none;
  held.id = EntityId{0};
}

void Detours::follow(const MonsterTable& monsters, std::uint32_t tick) {
  for (Held& held : held_) {
    if (held.id == EntityId{0}) continue;
    if (monsters.id[held.row] != held.id || monsters.mood[held.row] != MonsterMood::chase ||
        tick - held.since_tick > walked_ticks_max) {
      drop(held);
      continue;
    }
    const DVec2 off = held.way.points[held.at] - xy(monsters.body[held.row].position_m);
    const double off2 = dot(off, off);
    if (off2 < detour_there_m * detour_there_m) ++held.at;
    const double first_m = held.at == 0 ? DetourSearch::half_side_m : 0;  // points lie far apart
    const double back_m = held.at > 0 && held.at < held.way.count
                              ? length(held.way.points[held.at] - held.way.points[held.at - 1])
                              : first_m;
    if (held.at == held.way.count || off2 > (back_m + detour_strayed_m) * (back_m + detour_strayed_m))
      drop(held);
  }
}

std::optional<DVec2> Detours::next(std::size_t row) const {
  const std::uint8_t number = progress_[row].held;
  if (number == none) return std::nullopt;
  return held_[number].way.points[held_[number].at];
}

void Detours::add_to_hash(StripeHasher& hash) const {
  hash.add(found_);
  hash.add(static_cast<std::uint64_t>(searched_));
  for (const Held& held : held_)
    if (held.id != EntityId{0})
      hash.add(static_cast<std::uint64_t>(held.id) << 32 | held.since_tick),
          hash.add(static_cast<std::uint64_t>(held.at));
}

}  // namespace ashlar
