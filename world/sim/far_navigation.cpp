#include "world/sim/far_navigation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

namespace ashlar {
namespace {

constexpr std::uint32_t kept_ticks = 40;       // so long after it was asked for, something is kept up
constexpr std::uint32_t far_again_ticks = 60;  // a field that somebody misses a way in is made anew so soon,
constexpr std::uint8_t misses_max = 2;         // and where that does not help, twice as late, so many times
constexpr std::uint32_t missed_everywhere_ticks = 600;  // or so late, if it has all ways that there are
constexpr double far_follows_m = 2;                     // who went no farther is where he was
constexpr std::int32_t ahead_blocks_max = 22;  // from the middle of a cell, within the window of a leg's ways
constexpr std::size_t legs_begun_per_tick = 2;
constexpr double near_ground_m = 1.1;

void take_in(BlockBox& box, IVec3 cell) {
  box.min.x = std::min(box.min.x, cell.x), box.min.y = std::min(box.min.y, cell.y);
  box.max.x = std::max(box.max.x, cell.x + BlockRegions::cell_side);
  box.max.y = std::max(box.max.y, cell.y + BlockRegions::cell_side);
}

/// In the plane.
bool holds(const BlockBox& box, const BlockBox& other) {
  return other.min.x >= box.min.x && other.min.y >= box.min.y && other.max.x <= box.max.x &&
         other.max.y <= box.max.y;
}

void take_in(BlockBox& box, const BlockBox& other) {
  box.min.x = std::min(box.min.x, other.min.x), box.min.y = std::min(box.min.y, other.min.y);
  box.max.x = std::max(box.max.x, other.max.x), box.max.y = std::max(box.max.y, other.max.y);
}

}  // namespace

FarNavigation::FarNavigation(const HuntEnds& ends)
    : regions_(ends.rock()), fields_(fields_max), legs_(legs_max), leg_search_(ends.rock()) {}

std::size_t FarNavigation::find(EntityId player, BlockWalker walker) const {
  const auto used = std::span(keys_).first(fields_used_);
  const auto key = std::ranges::find(used, hunt_key(player, walker));
  return key != used.end() ? static_cast<std::size_t>(key - used.begin()) : fields_max;
}

/// As a way over blocks is entered: by one of the four corners about a body, of those at its own height.
std::optional<FarNavigation::Ahead> FarNavigation::ahead(const Field& field, DVec3 from_m) const {
  const auto x = static_cast<std::int32_t>(std::floor(from_m.x));
  const auto y = static_cast<std::int32_t>(std::floor(from_m.y));
  const auto half = static_cast<std::int32_t>(std::floor(from_m.z * 2 + 0.5));
  const RegionWays::Region* best = nullptr;
  Ahead out;
  std::uint32_t best_distance = 0;
  for (const std::int32_t off : {0, -1, 1, -2, 2}) {
    if (off != 1 && best != nullptr) break;
    if (off == 2 && !field.walker.climbs) break;
    for (std::int32_t i = 0; i < 4; ++i) {
      const GroundPlace at{x + (i & 1), y + (i >> 1), half + off};
      if (std::fabs(at.half * 0.5 - from_m.z) > near_ground_m) continue;
      const auto first = regions_.region(at, field.walker);
      if (!first) continue;
      const RegionWays::Region* region = field.ways.find(*first);
      if (region == nullptr) continue;
      const std::uint32_t distance = region->distance + straight_way(at, region->exit);
      if (best == nullptr || distance < best_distance) best = region, best_distance = distance, out.at = at;
    }
  }
  if (best == nullptr) return std::nullopt;
  const IVec3 cell = BlockRegions::cell_of(out.at);
  const IVec3 middle =
      cell + IVec3{BlockRegions::cell_side / 2, BlockRegions::cell_side / 2, BlockRegions::cell_levels / 2};
  out.within = {cell, cell};
  take_in(out.within, cell);
  for (const RegionWays::Region* r = best; r != nullptr && out.count < chain_max; r = field.ways.next(*r)) {
    const IVec3 off = IVec3{r->to.x, r->to.y, r->to.half / 2} - middle;
    const std::int32_t most = std::max({std::abs(off.x), std::abs(off.y), std::abs(off.z)});
    if (out.count > 0 && most > ahead_blocks_max) break;
    out.to[out.count++] = r->to;
    out.distance = r->distance;
    take_in(out.within, BlockRegions::cell_of(r->to));
    take_in(out.within, BlockRegions::cell_of(r->exit));
  }
  return out;
}

void FarNavigation::ask_leg(const Ahead& ahead, BlockWalker walker, std::uint32_t tick) {
  const IVec3 cell = BlockRegions::cell_of(ahead.at);
  const GroundPlace to = ahead.to[ahead.count - 1];
  auto leg = std::ranges::find_if(
      legs_, [&](const Leg& l) { return l.used && l.cell == cell && l.to == to && l.walker == walker; });
  if (leg == legs_.end()) {
    leg = std::ranges::min_element(legs_, {}, &Leg::asked_tick);
    const bool busy = leg->used && leg->asked_tick + kept_ticks > tick;
    if (busy || static_cast<std::size_t>(leg - legs_.begin()) == leg_searched_) return;
    leg->used = true, leg->ready = false;
    leg->begun_tick = 0;
    leg->cell = cell, leg->to = to, leg->walker = walker;
    leg->within = ahead.within;
    legs_used_ = std::max(legs_used_, static_cast<std::size_t>(leg - legs_.begin()) + 1);
  }
  // From another region of the cell the way there may go by cells that nobody asked for before.
  take_in(leg->within, ahead.within);
  leg->asked_tick = tick;
}

/// Takes the field that nobody asked for for the longest time, if it is not wanted now.
void FarNavigation::ask(EntityId player, BlockWalker walker, DVec3 from_m, std::uint32_t tick) {
  const std::size_t number = find(player, walker);
  auto field = fields_.begin() + static_cast<std::ptrdiff_t>(number);
  if (number == fields_max) {
    field = std::ranges::min_element(fields_, {}, &Field::asked_tick);
    const bool busy = field->player != EntityId{0} && field->asked_tick + kept_ticks > tick;
    if (busy || static_cast<std::size_t>(field - fields_.begin()) == searched_) return;
    field->player = player, field->walker = walker;
    keys_[static_cast<std::size_t>(field - fields_.begin())] = hunt_key(player, walker);
    field->ready = field->missed = false;
    field->begun_tick = 0;
    field->misses = 0;
    field->from_count = field->from_at = 0;
    fields_used_ = std::max(fields_used_, static_cast<std::size_t>(field - fields_.begin()) + 1);
  }
  field->asked_tick = tick;
  const auto before = field->ready ? ahead(*field, from_m) : std::nullopt;
  if (before)
    ask_leg(*before, walker, tick);
  else
    field->missed = true;
  // The next search has to come as far as here.
  GroundPlace at{static_cast<std::int32_t>(std::floor(from_m.x + 0.5)),
                 static_cast<std::int32_t>(std::floor(from_m.y + 0.5)),
                 static_cast<std::int32_t>(std::floor(from_m.z * 2 + 0.5))};
  if (before) at = before->at;
  const auto end = field->from.begin() + static_cast<std::ptrdiff_t>(field->from_count);
  const auto covers = [&](const GroundPlace& p) {
    if (before) return BlockRegions::cell_of(p) == BlockRegions::cell_of(at);
    return std::abs(p.x - at.x) <= 2 && std::abs(p.y - at.y) <= 2 && p.half == at.half;
  };
  if (std::find_if(field->from.begin(), end, covers) != end) return;
  field->from[field->from_at] = at;
  field->from_at = (field->from_at + 1) % field->from.size();
  field->from_count = std::min(field->from_count + 1, field->from.size());
}

bool FarNavigation::stale(const VoxelVolume& volume, const Field& f, DVec3 to_m, std::uint32_t tick) {
  const std::uint32_t age = tick - f.begun_tick;
  if (!f.ready || age >= aged_ticks) return true;
  const bool all_known = f.everywhere && f.content == volume.hash();
  if (f.missed && age >= (all_known ? missed_everywhere_ticks : far_again_ticks << f.misses)) return true;
  const DVec3 moved = to_m - f.to_m;
  return age >= fresh_ticks &&
         (dot(moved, moved) > far_follows_m * far_follows_m || f.content != volume.hash());
}

/// One that would come out the same counts as made in this tick.
bool FarNavigation::stale(const VoxelVolume& volume, Leg& l, std::uint32_t tick) {
  if (!l.ready || !holds(l.searched, l.within)) return true;
  if (tick - l.begun_tick < leg_fresh_ticks) return false;
  if (l.content != ground_content(volume, {l.to.x, l.to.y, l.to.half >> 1})) return true;
  l.begun_tick = tick;
  return false;
}

void FarNavigation::search_fields(const VoxelVolume& volume, const PlayerTable& players, const HuntEnds& ends,
                                  std::uint32_t tick) {
  if (searched_ == fields_max) {
    Field* oldest = nullptr;
    for (Field& f : std::span(fields_).first(fields_used_)) {
      if (f.player == EntityId{0} || f.asked_tick + kept_ticks < tick || !ends.there(players, f.player))
        continue;
      if (!stale(volume, f, ends.place_m(players, f.player), tick)) continue;
      if (oldest == nullptr || f.begun_tick < oldest->begun_tick) oldest = &f;
    }
    if (oldest == nullptr) return;
    searched_ = static_cast<std::size_t>(oldest - fields_.data());
    oldest->begun_tick = tick;
    oldest->to_m = ends.place_m(players, oldest->player);
    oldest->content = volume.hash();
    oldest->misses = oldest->ready && oldest->missed
                         ? static_cast<std::uint8_t>(std::min(oldest->misses + 1, int{misses_max}))
                         : std::uint8_t{0};
    search_.begin(oldest->to_m, oldest->walker, std::span(oldest->from).first(oldest->from_count));
    oldest->from_count = oldest->from_at = 0;
    oldest->missed = false;
  }
  search_.advance(volume, regions_, units_per_tick);
  if (!search_.whole()) return;
  Field& field = fields_[searched_];
  std::swap(field.ways, search_.ways());
  field.ready = true;
  field.everywhere = !search_.limited();
  searched_ = fields_max;
  ++fields_made_;
}

void FarNavigation::search_legs(const VoxelVolume& volume, std::uint32_t tick) {
  std::uint32_t left = places_per_tick;
  for (std::size_t begun = 0; left > 0 && begun < legs_begun_per_tick; ++begun) {
    if (leg_searched_ == legs_max) {
      Leg* oldest = nullptr;
      for (Leg& l : std::span(legs_).first(legs_used_)) {
        if (!l.used || l.asked_tick + kept_ticks < tick || !stale(volume, l, tick)) continue;
        if (oldest == nullptr || l.begun_tick < oldest->begun_tick) oldest = &l;
      }
      if (oldest == nullptr) return;
      leg_searched_ = static_cast<std::size_t>(oldest - legs_.data());
      oldest->begun_tick = tick;
      oldest->content = ground_content(volume, {oldest->to.x, oldest->to.y, oldest->to.half >> 1});
      oldest->searched = oldest->within;
      leg_search_.begin_at(volume, oldest->to, oldest->walker, oldest->within);
    }
    left -= leg_search_.advance(volume, left);
    if (!leg_search_.whole()) return;
    Leg& leg = legs_[leg_searched_];
    std::swap(leg.ways, leg_search_.ways());
    leg.ready = true;
    leg_searched_ = legs_max;
    ++legs_made_;
  }
}

void FarNavigation::advance(const VoxelVolume& volume, const PlayerTable& players, const HuntEnds& ends,
                            std::uint32_t tick) {
  search_fields(volume, players, ends, tick);
  search_legs(volume, tick);
}

/// The one of the walker's own cell, or one that leads to a place on its way, which it came here by.
const FarNavigation::Leg* FarNavigation::leg_to(const Ahead& ahead, BlockWalker walker) const {
  const IVec3 cell = BlockRegions::cell_of(ahead.at);
  const Leg* other = nullptr;
  std::size_t other_at = 0;
  for (const Leg& l : std::span(legs_).first(legs_used_)) {
    if (!l.used || !l.ready || !(l.walker == walker)) continue;
    for (std::size_t i = 0; i < ahead.count; ++i) {
      if (!(l.to == ahead.to[i])) continue;
      if (l.cell == cell && i + 1 == ahead.count) return &l;
      const bool covers = ahead.at.x >= l.within.min.x && ahead.at.x < l.within.max.x &&
                          ahead.at.y >= l.within.min.y && ahead.at.y < l.within.max.y;
      if (covers && (other == nullptr || i > other_at)) other = &l, other_at = i;
    }
  }
  return other;
}

BlockRoute FarNavigation::route(EntityId player, BlockWalker walker, DVec3 from_m) const {
  const std::size_t number = find(player, walker);
  if (number == fields_max) return {};
  const Field& field = fields_[number];
  if (!field.ready) return {std::nullopt, true};
  const auto before = ahead(field, from_m);
  if (!before) return {};
  const Leg* leg = leg_to(*before, walker);
  if (leg == nullptr) return {std::nullopt, true};
  if (auto step = leg->ways.step(from_m)) {
    step->distance_m += before->distance * 0.1;
    return {step, false};
  }
  const bool searched = static_cast<std::size_t>(leg - legs_.data()) == leg_searched_;
  return {std::nullopt, searched || !holds(leg->searched, before->within)};
}

void FarNavigation::add_to_hash(StripeHasher& hash) const {
  hash.add(fields_made_), hash.add(legs_made_), hash.add(cells_made());
  hash.add(static_cast<std::uint64_t>(searched_) << 32 | static_cast<std::uint64_t>(leg_searched_));
  for (const Field& f : std::span(fields_).first(fields_used_)) {
    if (f.player == EntityId{0}) continue;
    hash.add(static_cast<std::uint64_t>(f.player) << 32 | f.asked_tick);
    hash.add(static_cast<std::uint64_t>(f.begun_tick) << 32 |
             static_cast<std::uint64_t>(f.ways.count()) << 16 | f.walker.bits() << 1 | (f.ready ? 1u : 0u));
    hash.add(f.content ^ f.misses);
  }
  for (const Leg& l : std::span(legs_).first(legs_used_)) {
    if (!l.used) continue;
    hash.add(static_cast<std::uint64_t>(l.asked_tick) << 32 | l.begun_tick);
    hash.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(l.to.x)) << 32 |
             static_cast<std::uint32_t>(l.to.y));
    hash.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(l.to.half)) << 32 | l.walker.bits() << 1 |
             (l.ready ? 1u : 0u));
  }
}

}  // namespace ashlar
