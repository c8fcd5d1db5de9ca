#include "world/sim/block_navigation.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ashlar {
namespace {

constexpr std::uint32_t places_per_field =
    32;                                      // of a tick's budget: a hundred fields are whole in some seconds
constexpr std::size_t begun_per_tick = 2;    // a search costs some 30 us to begin
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
    : ends_(std::move(maps)), fields_(fields_max), search_(ends_.rock()), far_(ends_) {}

/// Takes the field that nobody asked for for the longest time, if it is not wanted now.
void BlockNavigation::ask(EntityId player, BlockWalker walker, std::uint32_t tick) {
  auto field =
      std::ranges::find_if(fields_, [&](const Field& f) { return f.player == player && f.walker == walker; });
  if (field == fields_.end()) {
    field = std::ranges::min_element(fields_, {}, &Field::asked_tick);
    const auto number = static_cast<std::size_t>(field - fields_.begin());
    const bool busy = field->player != EntityId{0} && field->asked_tick + kept_up_ticks > tick;
    if (busy || number == searched_) return;
    field->player = player, field->walker = walker;
    field->ready = false;
    field->begun_tick = 0;
  }
  field->asked_tick = tick;
}

bool BlockNavigation::wanted(const Field& f, const PlayerTable& players, std::uint32_t tick) const {
  return f.player != EntityId{0} && f.asked_tick + kept_up_ticks >= tick && ends_.there(players, f.player);
}

std::uint32_t BlockNavigation::budget(const PlayerTable& players, std::uint32_t tick) const {
  std::uint32_t count = 0;
  for (const Field& f : fields_) count += wanted(f, players, tick) ? 1 : 0;
  return std::clamp(count * places_per_field, places_per_tick, places_per_tick_max);
}

BlockNavigation::Field* BlockNavigation::oldest_wanted(const PlayerTable& players, std::uint32_t tick) {
  Field* oldest = nullptr;
  for (Field& f : fields_) {
    if (!wanted(f, players, tick) || (f.ready && tick - f.begun_tick < fresh_ticks)) continue;
    if (oldest == nullptr || f.begun_tick < oldest->begun_tick) oldest = &f;
  }
  return oldest;
}

const BlockNavigation::Field* BlockNavigation::field_of(EntityId player, BlockWalker walker) const {
  for (const Field& f : fields_)
    if (f.player == player && f.walker == walker && f.ready) return &f;
  return nullptr;
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
    ask(player, walker, tick);
    const Field* field = field_of(player, walker);
    if (field == nullptr || field->ways.step(from_m)) return;
  }
  far_.ask(player, walker, from_m, tick);
}

void BlockNavigation::advance(const VoxelVolume& volume, const PlayerTable& players, std::uint32_t tick) {
  far_.advance(volume, players, ends_, tick);
  std::uint32_t left = budget(players, tick);
  for (std::size_t begun = 0; left > 0 && begun < begun_per_tick; ++begun) {
    if (searched_ == fields_max) {
      Field* field = oldest_wanted(players, tick);
      if (field == nullptr) return;
      searched_ = static_cast<std::size_t>(field - fields_.data());
      field->begun_tick = tick;
      search_.begin(volume, ends_.place_m(players, field->player), field->walker);
    }
    left -= search_.advance(volume, left);
    if (!search_.whole()) return;
    Field& field = fields_[searched_];
    std::swap(field.ways, search_.ways());
    field.ready = true;
    searched_ = fields_max;
    ++made_;
  }
}

std::optional<BlockWays::Step> BlockNavigation::way(EntityId player, BlockWalker walker, DVec3 from_m) const {
  if (const Field* field = field_of(player, walker))
    if (const auto step = field->ways.step(from_m)) return step;
  return far_.way(player, walker, from_m);
}

bool BlockNavigation::pending(const PlayerTable& players, EntityId player, BlockWalker walker,
                              DVec3 from_m) const {
  if (!ends_.there(players, player)) return false;
  if (near(players, player, from_m)) {
    const Field* field = field_of(player, walker);
    if (field == nullptr || field->ways.step(from_m)) return false;
  }
  return far_.pending(player, walker, from_m);
}

void BlockNavigation::add_to_hash(StripeHasher& hash) const {
  hash.add(made_);
  hash.add(static_cast<std::uint64_t>(searched_));
  far_.add_to_hash(hash);
  for (const Field& f : fields_) {
    if (f.player == EntityId{0}) continue;
    hash.add(static_cast<std::uint64_t>(f.player) << 32 | f.asked_tick);
    hash.add(static_cast<std::uint64_t>(f.begun_tick) << 2 | (f.walker.climbs ? 2u : 0u) |
             (f.ready ? 1u : 0u));
    hash.add(static_cast<std::uint64_t>(f.walker.swims ? 1u : 0u) | (f.walker.ladders ? 2u : 0u) |
             static_cast<std::uint64_t>(f.walker.drop) << 2);
  }
}

}  // namespace ashlar
