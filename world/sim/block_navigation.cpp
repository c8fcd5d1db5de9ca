#include "world/sim/block_navigation.h"

#include <algorithm>
#include <span>
#include <utility>

namespace ashlar {
namespace {

constexpr std::uint32_t places_per_field =
    32;                                      // of a tick's budget: a hundred fields are whole in some seconds
constexpr std::size_t begun_per_tick = 2;    // a search costs some 30 us to begin
constexpr std::uint32_t kept_up_ticks = 32;  // so long after it was asked for, a field is kept up

std::vector<BlockBox> boxes_of(std::span<const MapGround> maps) {
  std::vector<BlockBox> out;
  for (const MapGround& map : maps) out.push_back(map.box);
  return out;
}

}  // namespace

std::optional<BlockWalker> block_walker_of(const MonsterTraits& kind) {
  const bool fits =
      kind.shape.radius_m <= block_walker_radius_m_max && kind.shape.height_m <= block_walker_height_m_max;
  if (kind.flies != 0 || !fits) return std::nullopt;
  return BlockWalker{kind.step_height_m_max >= 1.0, kind.swims != 0, kind.climbs != 0};
}

BlockNavigation::BlockNavigation(std::vector<MapGround> maps)
    : maps_(std::move(maps)), fields_(fields_max), search_(boxes_of(maps_)) {}

bool BlockNavigation::there(const PlayerTable& players, EntityId who) const {
  return is_stairs(who) ? generation_of(who) <= maps_.size() : players.has(who);
}

DVec3 BlockNavigation::place_of(const PlayerTable& players, EntityId who) const {
  return is_stairs(who) ? maps_[generation_of(who) - 1].stairs_top_m : players.body[slot_of(who)].position_m;
}

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
  return f.player != EntityId{0} && f.asked_tick + kept_up_ticks >= tick && there(players, f.player);
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

void BlockNavigation::advance(const VoxelVolume& volume, const PlayerTable& players, std::uint32_t tick) {
  std::uint32_t left = budget(players, tick);
  for (std::size_t begun = 0; left > 0 && begun < begun_per_tick; ++begun) {
    if (searched_ == fields_max) {
      Field* field = oldest_wanted(players, tick);
      if (field == nullptr) return;
      searched_ = static_cast<std::size_t>(field - fields_.data());
      field->begun_tick = tick;
      search_.begin(volume, place_of(players, field->player), field->walker);
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
  for (const Field& f : fields_)
    if (f.player == player && f.walker == walker && f.ready) return f.ways.step(from_m);
  return std::nullopt;
}

void BlockNavigation::add_to_hash(StripeHasher& hash) const {
  hash.add(made_);
  hash.add(static_cast<std::uint64_t>(searched_));
  for (const Field& f : fields_) {
    if (f.player == EntityId{0}) continue;
    hash.add(static_cast<std::uint64_t>(f.player) << 32 | f.asked_tick);
    hash.add(static_cast<std::uint64_t>(f.begun_tick) << 2 | (f.walker.climbs ? 2u : 0u) |
             (f.ready ? 1u : 0u));
    hash.add(static_cast<std::uint64_t>(f.walker.swims ? 1u : 0u) | (f.walker.ladders ? 2u : 0u));
  }
}

}  // namespace ashlar
