#include "world/sim/block_navigation.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "world/math/random.h"

namespace ashlar {
namespace {

constexpr std::uint32_t places_per_field =
    32;                                    // of a tick's budget: a hundred fields are whole in some seconds
constexpr std::size_t begun_per_tick = 2;  // a search costs some 30 us to begin
constexpr std::uint32_t places_per_look = 128;  // it goes on so far before it looks whether it is far enough
constexpr double beyond_times = 1.2, beyond_m = 4;  // and so far beyond those for whom it is
constexpr double from_apart_m = 4, from_above_m = 2;
// Who went no farther is where he was; and where he is no farther off than that, a field that cost much stays
// a tick longer for so many of its places.
constexpr double follows_m = 0.5, near_follows_m = 2;
constexpr std::uint32_t places_per_stay_tick = 4, stay_ticks_max = 360;
constexpr std::uint32_t again_ticks = 15;    // a field that somebody misses a way in is made anew so soon
constexpr std::uint32_t kept_up_ticks = 32;  // so long after it was asked for, a field is kept up

// So far from a player his field over blocks may have a way.
constexpr double field_m = BlockWays::side / 2.0 - 1, field_levels_m = BlockWays::levels / 2.0 - 2;

}  // namespace

std::optional<BlockWalker> block_walker_of(const MonsterTraits& kind) {
  const bool fits =
      kind.shape.radius_m <= block_walker_radius_m_max && kind.shape.height_m <= block_walker_height_m_max;
  if (kind.flies != 0 || !fits) return std::nullopt;
  const bool up = kind.step_height_m_max >= 1.0 || kind.jump_m >= 1.0;
  const double drop_m = std::floor(std::clamp(kind.drop_m, 0.0, double{block_drop_max}));
  return BlockWalker{up, kind.swims != 0, kind.climbs != 0, static_cast<std::uint8_t>(drop_m)};
}

BlockNavigation::BlockNavigation(std::vector<MapGround> maps)
    : ends_(std::move(maps)), fields_(fields_max), search_(ends_.rock()), far_(ends_) {
  keys_.reserve(fields_max);
  by_key_.fill(no_field);
}

std::size_t BlockNavigation::find(EntityId player, BlockWalker walker) const {
  const std::uint64_t key = hunt_key(player, walker);
  for (std::size_t at = first_look(key); by_key_[at] != no_field; at = (at + 1) % by_key_.size())
    if (keys_[by_key_[at]] == key) return by_key_[at];
  return fields_max;
}

std::size_t BlockNavigation::first_look(std::uint64_t key) {
  return static_cast<std::size_t>(mix64(key) % (4 * fields_max));
}

/// After one of them changed.
void BlockNavigation::note_keys() {
  by_key_.fill(no_field);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::size_t at = first_look(keys_[i]);
    while (by_key_[at] != no_field) at = (at + 1) % by_key_.size();
    by_key_[at] = static_cast<std::uint8_t>(i);
  }
}

/// Its own, or the one that nobody asked for for the longest time, if it is not wanted now.
BlockNavigation::Field* BlockNavigation::take(EntityId player, BlockWalker walker, std::uint32_t tick) {
  std::size_t number = find(player, walker);
  if (number == fields_max) {
    if (keys_.size() < fields_max) {
      number = keys_.size();
      keys_.push_back({});
    } else {
      const auto oldest = std::ranges::min_element(fields_, {}, &Field::asked_tick);
      number = static_cast<std::size_t>(oldest - fields_.begin());
      if (oldest->asked_tick + kept_up_ticks > tick || number == searched_) return nullptr;
    }
    keys_[number] = hunt_key(player, walker);
    note_keys();
    Field& field = fields_[number];
    field.player = player, field.walker = walker;
    field.ready = field.part = field.missed = field.many = false;
    field.begun_tick = 0;
    field.from_count = 0;
  }
  fields_[number].asked_tick = tick;
  return &fields_[number];
}

void BlockNavigation::note_from(Field& field, DVec3 from_m) {
  const auto end = field.from_m.begin() + static_cast<std::ptrdiff_t>(field.from_count);
  const auto covers = [&](DVec3 other) {
    const DVec3 d = other - from_m;
    return std::fabs(d.x) < from_apart_m && std::fabs(d.y) < from_apart_m && std::fabs(d.z) < from_above_m;
  };
  if (field.many || std::find_if(field.from_m.begin(), end, covers) != end) return;
  if (field.from_count == from_max)
    field.many = true;
  else
    field.from_m[field.from_count++] = from_m;
}

bool BlockNavigation::wanted(const Field& f, const PlayerTable& players, std::uint32_t tick) const {
  return f.player != EntityId{0} && f.asked_tick + kept_up_ticks >= tick && ends_.there(players, f.player);
}

std::uint32_t BlockNavigation::budget(const PlayerTable& players, std::uint32_t tick) const {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < keys_.size(); ++i) count += wanted(fields_[i], players, tick) ? 1 : 0;
  return std::clamp(count * places_per_field, places_per_tick, places_per_tick_max);
}

/// A field that would come out the same counts as made in this tick.
bool BlockNavigation::stale(const VoxelVolume& volume, const PlayerTable& players, Field& f,
                            std::uint32_t tick) const {
  const std::uint32_t age = tick - f.begun_tick;
  if (!f.ready || (f.missed && age >= again_ticks)) return true;
  if (age < fresh_ticks) return false;
  const DVec3 moved = ends_.place_m(players, f.player) - f.to_m;
  const double moved2 = dot(moved, moved);
  if (!f.changed && tick - f.looked_tick >= fresh_ticks) {
    f.looked_tick = tick;
    f.changed = f.content != ground_content(volume, block_at(f.to_m));
  }
  if (f.changed || moved2 > near_follows_m * near_follows_m) return true;
  if (moved2 > follows_m * follows_m)
    return age >= fresh_ticks + std::min(f.places / places_per_stay_tick, stay_ticks_max);
  f.begun_tick = tick;
  f.from_count = 0, f.many = false;
  return false;
}

BlockNavigation::Field* BlockNavigation::oldest_wanted(const VoxelVolume& volume, const PlayerTable& players,
                                                       std::uint32_t tick) {
  Field* oldest = nullptr;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    Field& f = fields_[i];
    if (!wanted(f, players, tick) || !stale(volume, players, f, tick)) continue;
    if (oldest == nullptr || f.begun_tick < oldest->begun_tick) oldest = &f;
  }
  return oldest;
}

/// May a field over blocks about a player reach so far?
bool BlockNavigation::near(const PlayerTable& players, EntityId player, DVec3 from_m) const {
  const DVec3 off = ends_.place_m(players, player) - from_m;
  return std::fabs(off.x) < field_m && std::fabs(off.y) < field_m && std::fabs(off.z) < field_levels_m;
}

void BlockNavigation::ask_from(const PlayerTable& players, EntityId player, BlockWalker walker, DVec3 from_m,
                               std::uint32_t tick) {
  if (!ends_.there(players, player)) return;
  if (near(players, player, from_m)) {
    Field* field = take(player, walker, tick);
    if (field == nullptr) return;
    note_from(*field, from_m);
    if (!field->ready || field->ways.step(from_m)) return;
    if (field->part) return static_cast<void>(field->missed = true);
  }
  far_.ask(player, walker, from_m, tick);
}

/// Have all for whom a search is their ways, and who is a little farther away, too?
bool BlockNavigation::enough() {
  if (search_from_count_ == 0) return false;
  double farthest_m = 0;
  for (const DVec3 from_m : std::span(search_from_m_).first(search_from_count_)) {
    const auto step = search_.ways().step(from_m);
    if (!step || step->distance_m * 10 > search_.reached()) return false;
    farthest_m = std::max(farthest_m, step->distance_m);
  }
  return search_.reached() >= (farthest_m * beyond_times + beyond_m) * 10;
}

void BlockNavigation::begin(const VoxelVolume& volume, const PlayerTable& players, Field& field,
                            std::uint32_t tick) {
  searched_ = static_cast<std::size_t>(&field - fields_.data());
  field.begun_tick = tick;
  field.to_m = ends_.place_m(players, field.player);
  field.content = ground_content(volume, block_at(field.to_m));
  field.looked_tick = tick, field.changed = false;
  search_from_count_ = field.many ? 0 : field.from_count;
  search_from_m_ = field.from_m;
  field.from_count = 0;
  field.many = field.missed = false;
  search_places_ = 0;
  search_.begin(volume, field.to_m, field.walker);
}

void BlockNavigation::advance(const VoxelVolume& volume, const PlayerTable& players, std::uint32_t tick) {
  far_.advance(volume, players, ends_, tick);
  std::uint32_t left = budget(players, tick);
  for (std::size_t begun = 0; left > 0;) {
    if (searched_ == fields_max) {
      Field* field = begun < begun_per_tick ? oldest_wanted(volume, players, tick) : nullptr;
      if (field == nullptr) return;
      ++begun;
      begin(volume, players, *field, tick);
    }
    const std::uint32_t places = search_.advance(volume, std::min(left, places_per_look));
    left -= places, search_places_ += places;
    const bool part = !search_.whole() && enough();
    if (part) search_.stop();
    if (!search_.whole()) continue;
    Field& field = fields_[searched_];
    std::swap(field.ways, search_.ways());
    field.ready = true, field.part = part;
    field.places = search_places_;
    field.missed = false;  // in the one before
    searched_ = fields_max;
    ++made_;
  }
}

BlockRoute BlockNavigation::route(const PlayerTable& players, EntityId player, BlockWalker walker,
                                  DVec3 from_m) const {
  const std::size_t number = find(player, walker);
  const Field* field = number != fields_max ? &fields_[number] : nullptr;
  if (field != nullptr && field->ready)
    if (const auto step = field->ways.step(from_m)) return {step, false};
  BlockRoute out = far_.route(player, walker, from_m);
  if (out.step) return out;
  if (!ends_.there(players, player)) return {};
  if (near(players, player, from_m)) {
    if (field == nullptr) return {};
    if (!field->ready || field->part) out.pending = true;
  }
  return out;
}

void BlockNavigation::add_to_hash(StripeHasher& hash) const {
  hash.add(made_);
  hash.add(static_cast<std::uint64_t>(searched_));
  far_.add_to_hash(hash);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const Field& f = fields_[i];
    hash.add(keys_[i]);
    hash.add(static_cast<std::uint64_t>(f.begun_tick) << 32 | f.asked_tick);
    hash.add(static_cast<std::uint64_t>(f.from_count) << 8 | (f.ready ? 1u : 0u) | (f.part ? 2u : 0u) |
             (f.missed ? 4u : 0u) | (f.many ? 8u : 0u));
    hash.add(f.content);
  }
}

}  // namespace ashlar
