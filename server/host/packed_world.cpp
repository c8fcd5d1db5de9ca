#include "server/host/packed_world.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "world/sim/game_replication.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

/// So many frames are kept: of a second, and never fewer than an acknowledgement takes over a slow path.
std::size_t frames_kept(std::uint32_t tick_rate_hz, std::uint32_t every_ticks) {
  return std::clamp<std::size_t>(tick_rate_hz / every_ticks, 16, base_age_max);
}

/// Dissolved blocks' numbers rest for two seconds: what is still on its way means the old ones.
constexpr std::uint32_t rest_seconds = 2;

/// Slower than this, in steps of a velocity, nobody is said to move: 1 m/s.
constexpr int moves_from = 16;
constexpr double moving_weight = 0.5, fighting_weight = 1;

/// Squares of the ground whose viewers share a list of blocks.
constexpr double vicinity_side_m = 64;

/// Floats are good enough to leave out what lies farther than this share of the square of a distance.
constexpr double rough_share = 1.001;

/// Ways to look that are kept in a tick: more than groups of sectors with players in them.
constexpr std::size_t sights_max = 64;

bool moves(const Velocity& velocity) {
  return std::ranges::any_of(velocity, [](std::int16_t v) { return v >= moves_from || v <= -moves_from; });
}

bool fights(const MovingRecord& e) {
  const bool monster =
      e.record.kind >= entity_kind(MonsterKind{0}) && e.record.kind < projectile_entity_kind(0);
  return e.record.kind >= projectile_entity_kind(0) ||
         (monster && e.record.state == static_cast<std::uint8_t>(MonsterMood::chase));
}

/// How far `v` lies outside of a to b; 0 within.
double outside(double v, double a, double b) { return std::max({a - v, v - b, 0.0}); }

/// Those for everybody; what only some may know is in no frame.
FieldValues shared_fields(const ReplicationRegistry& registry, const GameReplication& told,
                          const EntityRecord& entity) {
  FieldValues out{};
  const ReplicatedKind* const kind = registry.find(entity.kind);
  if (kind == nullptr || kind->fields.empty()) return out;
  const FieldValues& values = told.values(entity.id);
  for (std::size_t f = 0; f < kind->fields.size(); ++f)
    if (kind->fields[f].to == FieldAudience::all) out[f] = values[f];
  return out;
}

DVec3 least(DVec3 a, DVec3 b) { return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)}; }
DVec3 most(DVec3 a, DVec3 b) { return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)}; }

}  // namespace

PackedWorld::PackedWorld(std::uint32_t tick_rate_hz, std::uint32_t every_ticks,
                         std::shared_ptr<const ReplicationRegistry> registry, bool culled)
    : tick_rate_hz_(tick_rate_hz),
      reach_s_(culled ? sight_ahead(tick_rate_hz, every_ticks) : 0),
      registry_(std::move(registry)),
      partition_(culled                       ? 1
                 : registry_->shares_fields() ? block_entities_with_fields_max
                                              : block_entities_max),
      frames_(frames_kept(tick_rate_hz, every_ticks), registry_->shares_fields() ? registry_ : nullptr) {}

void PackedWorld::gather(const World& world, std::span<const PlacedEntity> placed, SightCuller* culler) {
  const std::uint32_t tick = number(world.tick());
  const std::uint32_t ticks = tick_before_ == 0 ? 0 : tick - tick_before_;
  tick_before_ = tick;
  const Rules& rules = world.setup().rules;
  const auto pace = static_cast<std::int32_t>(
      std::clamp<double>(quantise_speed(rules.walk_speed_mps_max), 0, (1 << pace_bits) - 1));
  tracks_.begin(tick_rate_hz_, rules.ground_acceleration_mps2, pace);
  places_in_.clear();
  moving_.clear();
  for (const PlacedEntity& e : placed) {
    places_in_.push_back({e.record.id, e.cell, {e.record.x, e.record.y, e.record.z}});
    const ReplicatedKind* const kind = registry_->find(e.record.kind);
    moving_.push_back({e.record, {}});
    if (kind != nullptr && !kind->motion_predicted) continue;
    moving_.back().velocity = tracks_.told(e, ticks);
    tracks_.keep_way(moving_.back(), e.cell, tick);
  }
  partition_.assign(places_in_, tick, rest_seconds * tick_rate_hz_);

  // Members by block.
  const auto blocks = partition_.blocks();
  first_member_.assign(blocks.size() + 1, 0);
  for (const std::uint32_t block : partition_.block_of()) ++first_member_[block + 1];
  for (std::size_t i = 1; i < first_member_.size(); ++i) first_member_[i] += first_member_[i - 1];
  members_.resize(placed.size());
  next_member_.assign(first_member_.begin(), first_member_.end());
  for (std::uint32_t i = 0; i < placed.size(); ++i) members_[next_member_[partition_.block_of()[i]]++] = i;

  frames_.begin(tick, tick_rate_hz_, pace);
  sights_used_ = 1;
  extents_.clear();
  grounds_.clear();
  vicinity_blocks_.clear();
  vicinity_grounds_.clear();
  places_.clear();
  spots_.clear();
  slots_.clear();
  for (std::size_t b = 0; b < blocks.size(); ++b)
    add_block(world, blocks[b], placed,
              std::span(members_).subspan(first_member_[b], first_member_[b + 1] - first_member_[b]), culler);
  sort_grounds();
  heights_.gather(world);
}

void PackedWorld::add_block(const World& world, const PartitionBlock& block,
                            std::span<const PlacedEntity> placed, std::span<std::uint32_t> members,
                            SightCuller* culler) {
  const std::span<const MapInSpace> maps = world.maps();
  std::ranges::sort(members, {}, [&](std::uint32_t i) { return placed[i].record.id; });
  block_.clear();
  block_fields_.clear();
  Extent extent{placed[members[0]].base,
                placed[members[0]].base,
                static_cast<std::uint32_t>(places_.size()),
                0,
                static_cast<std::uint32_t>(spots_.size()),
                static_cast<std::uint32_t>(members.size()),
                0};
  bool any_moves = false, any_fights = false;
  for (const std::uint32_t i : members) {
    block_.push_back(moving_[i]);
    spots_.push_back(placed[i].base);
    slots_.push_back(slot_of(moving_[i].record.id));
    extent.slots_end = std::max(extent.slots_end, slots_.back() + 1);
    if (registry_->shares_fields())
      block_fields_.push_back(shared_fields(*registry_, world.replication(), moving_[i].record));
    any_moves = any_moves || moves(tracks_.usual(moving_[i].record.id));
    any_fights = any_fights || fights(moving_[i]);
    extent.low = least(extent.low, placed[i].base);
    extent.high = most(extent.high, placed[i].base);
    if (reach_s_ > 0)  // its only one
      extent.reach = culler != nullptr ? culler->reach_of(placed[i], world.setup().rules, reach_s_)
                                       : reach_of(placed[i], world.setup().rules, reach_s_);
    if (!maps.empty())
      sight_places(maps, placed[i].base, placed[i].shape.radius_m, placed[i].shape.height_m, places_);
  }
  const auto own = places_.begin() + extent.first_place;
  std::sort(own, places_.end());
  places_.erase(std::unique(own, places_.end()), places_.end());
  extent.place_count = static_cast<std::uint32_t>(places_.size()) - extent.first_place;
  extent.weight += (any_moves ? moving_weight : 0) + (any_fights ? fighting_weight : 0);
  extents_.push_back(extent);
  grounds_.push_back({extent.low.x, extent.high.x, extent.low.y, extent.high.y});
  frames_.add(block.number, block.cube.cell, block.born, block_, block_fields_);
}

/// Viewers of whom the same may be said share what was found out.
PackedWorld::Sight& PackedWorld::look_from(DVec3 eye_m, double margin_m, std::span<const MapInSpace> maps,
                                           std::span<const OpenRooms> rooms) {
  if (sights_.empty()) sights_.resize(1);
  sights_[0].query.look_from(maps, rooms, eye_m, margin_m);
  for (std::size_t i = 1; i < sights_used_; ++i)
    if (sights_[i].query.answers_like(sights_[0].query)) return sights_[i];
  std::size_t at = 0;
  if (sights_used_ < sights_max) {
    at = sights_used_++;
    if (at == sights_.size()) sights_.emplace_back();
    sights_[at].query = sights_[0].query;
  }
  sights_[at].blocks.assign(extents_.size(), 0);
  return sights_[at];
}

bool PackedWorld::may_see(Sight& sight, std::uint32_t block) const {
  std::uint8_t& known = sight.blocks[block];
  if (known == 0) {
    const auto places = std::span(places_).subspan(extents_[block].first_place, extents_[block].place_count);
    const bool seen =
        std::ranges::any_of(places, [&](const SightPlace& place) { return sight.query.may_see(place); });
    known = seen ? 2 : 1;
  }
  return known == 2;
}

/// From south to north, for vicinity().
void PackedWorld::sort_grounds() {
  by_low_y_.clear();
  depth_most_m_ = 0;
  for (std::uint32_t i = 0; i < grounds_.size(); ++i) {
    by_low_y_.push_back(i);
    depth_most_m_ = std::max(depth_most_m_, grounds_[i].high_y - grounds_[i].low_y);
  }
  std::ranges::sort(by_low_y_, {}, [this](std::uint32_t i) { return std::pair(grounds_[i].low_y, i); });
}

/// In the order of blocks. Squares of 64 m: a few viewers share one, and it holds few that are out of reach.
const PackedWorld::Vicinity& PackedWorld::vicinity(DVec3 eye_m, double radius_m) {
  constexpr double side_m = vicinity_side_m;
  constexpr std::size_t probes = 4;
  const auto x = static_cast<std::int32_t>(std::floor(eye_m.x / side_m));
  const auto y = static_cast<std::int32_t>(std::floor(eye_m.y / side_m));
  const std::uint32_t home =
      static_cast<std::uint32_t>(x) * 0x9e3779b1u + static_cast<std::uint32_t>(y) * 0x85ebca6bu;
  Vicinity* free = nullptr;
  for (std::size_t n = 0; n < probes; ++n) {
    Vicinity& known = vicinities_[((home >> 16) + n) % vicinities_.size()];
    const bool holds = known.tick == tick_before_;
    if (holds && known.x == x && known.y == y && known.radius_m == radius_m) return known;
    if (!holds && free == nullptr) free = &known;
  }
  Vicinity& found = free != nullptr ? *free : vicinities_[(home >> 16) % vicinities_.size()];
  found = {x, y, radius_m, static_cast<std::uint32_t>(vicinity_blocks_.size()), 0, tick_before_};
  const double low_x = x * side_m, low_y = y * side_m;
  // Of a thousand blocks most are too far along y: those are passed over.
  const auto low_y_of = [this](std::uint32_t i) { return grounds_[i].low_y; };
  auto at = std::ranges::lower_bound(by_low_y_, low_y - radius_m - depth_most_m_, {}, low_y_of);
  for (; at != by_low_y_.end() && grounds_[*at].low_y <= low_y + side_m + radius_m; ++at) {
    const Ground& ground = grounds_[*at];
    const double dx = std::max({ground.low_x - (low_x + side_m), low_x - ground.high_x, 0.0});
    const double dy = std::max({ground.low_y - (low_y + side_m), low_y - ground.high_y, 0.0});
    if (dx * dx + dy * dy <= radius_m * radius_m) vicinity_blocks_.push_back(*at);
  }
  std::ranges::sort(std::span(vicinity_blocks_).subspan(found.first));
  found.count = static_cast<std::uint32_t>(vicinity_blocks_.size()) - found.first;
  for (const std::uint32_t i : std::span(vicinity_blocks_).subspan(found.first)) {
    const Ground& ground = grounds_[i];
    vicinity_grounds_.low_x.push_back(static_cast<float>(ground.low_x - low_x));
    vicinity_grounds_.high_x.push_back(static_cast<float>(ground.high_x - low_x));
    vicinity_grounds_.low_y.push_back(static_cast<float>(ground.low_y - low_y));
    vicinity_grounds_.high_y.push_back(static_cast<float>(ground.high_y - low_y));
  }
  return found;
}

/// Blocks whose ground is within reach, and a few that are just beyond it. Of those around most are not, and
/// which ones cannot be foreseen: no branches.
std::span<const std::uint32_t> PackedWorld::roughly_near(DVec3 eye_m, double radius_m) {
  const Vicinity& around = vicinity(eye_m, radius_m);
  const std::size_t count = around.count;
  off2_.resize(count);
  rough_near_.resize(count);
  const auto x = static_cast<float>(eye_m.x - around.x * vicinity_side_m);
  const auto y = static_cast<float>(eye_m.y - around.y * vicinity_side_m);
  const VicinityGrounds& grounds = vicinity_grounds_;
  const float *const low_x = grounds.low_x.data() + around.first,
                     *const high_x = grounds.high_x.data() + around.first,
                     *const low_y = grounds.low_y.data() + around.first,
                     *const high_y = grounds.high_y.data() + around.first;
  float* const off2 = off2_.data();
  const auto beyond = [](float a, float b) { return std::max(std::max(a, b), 0.0f); };
  for (std::size_t i = 0; i < count; ++i) {
    const float dx = beyond(low_x[i] - x, x - high_x[i]), dy = beyond(low_y[i] - y, y - high_y[i]);
    off2[i] = dx * dx + dy * dy;
  }
  const auto reach2 = static_cast<float>(radius_m * radius_m * rough_share);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    rough_near_[kept] = vicinity_blocks_[around.first + i];
    kept += off2[i] <= reach2 ? 1 : 0;
  }
  return std::span(rough_near_).first(kept);
}

std::span<const PackedWorld::Near> PackedWorld::near(DVec3 eye_m, double radius_m, double margin_m,
                                                     std::span<const MapInSpace> maps,
                                                     std::span<const OpenRooms> rooms,
                                                     const SightView* view) {
  near_.clear();
  found_.clear();
  Sight* const sight = maps.empty() ? nullptr : &look_from(eye_m, margin_m, maps, rooms);
  for (const std::uint32_t i : roughly_near(eye_m, radius_m)) {
    const Ground& ground = grounds_[i];
    const double dx = outside(eye_m.x, ground.low_x, ground.high_x);
    const double dy = outside(eye_m.y, ground.low_y, ground.high_y);
    const double flat2 = dx * dx + dy * dy;
    if (flat2 > radius_m * radius_m) continue;
    const Extent& extent = extents_[i];
    const double dz = outside(eye_m.z, extent.low.z, extent.high.z);
    const double d2 = flat2 + dz * dz;
    if (d2 > radius_m * radius_m) continue;
    if (sight != nullptr && !may_see(*sight, i)) continue;
    if (view == nullptr || view->may_see(extent.reach)) found_.push_back({i, d2});
  }
  // By block where they are alike, as that is how they were found.
  order_.clear();
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const double weight = extents_[found_[i].block].weight;
    const auto urgency2 = static_cast<float>(found_[i].distance2 / (weight * weight));
    order_.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(urgency2)} << 32 | i);
  }
  sort_.sort(order_);
  for (const std::uint64_t key : order_) near_.push_back(found_[static_cast<std::uint32_t>(key)]);
  return near_;
}

/// Counts by magnitude, four steps to a doubling of the square: at most an eighth of the distance each.
std::span<const std::uint8_t> PackedWorld::holds_nearest(DVec3 eye_m, std::span<const Near> near,
                                                         std::size_t count) {
  constexpr std::uint32_t octave_bits = 2, step_count = 128;
  constexpr std::uint32_t lowest = 120u << octave_bits;  // of a square's exponent: nearer than 0.1 m
  const auto step_of = [](double distance2) {
    const std::uint32_t at =
        std::bit_cast<std::uint32_t>(static_cast<float>(distance2)) >> (23 - octave_bits);
    return std::min(at < lowest ? 0 : at - lowest, step_count - 1);
  };
  // Where the nearest of those behind each block, and of its own, may be.
  holds_nearest_.resize(near.size());
  std::uint32_t nearest = step_count - 1;
  for (std::size_t i = near.size(); i-- > 0;)
    holds_nearest_[i] = static_cast<std::uint8_t>(nearest = std::min(nearest, step_of(near[i].distance2)));
  std::array<std::uint32_t, step_count> counts{};
  for (std::size_t i = 0; i < near.size(); ++i) {
    // Enough are nearer than all that is left.
    const std::size_t beyond = holds_nearest_[i];
    if (i % 4 == 0 && std::accumulate(counts.begin(), counts.begin() + beyond, std::size_t{0}) >= count) {
      std::fill(holds_nearest_.begin() + static_cast<std::ptrdiff_t>(i), holds_nearest_.end(),
                static_cast<std::uint8_t>(step_count - 1));
      break;
    }
    const Extent& extent = extents_[near[i].block];
    nearest = step_count - 1;
    for (const DVec3& spot : std::span(spots_).subspan(extent.first_spot, extent.spot_count)) {
      const DVec3 off = spot - eye_m;
      const std::uint32_t step = step_of(dot(off, off));
      ++counts[step];
      nearest = std::min(nearest, step);
    }
    holds_nearest_[i] = static_cast<std::uint8_t>(nearest);
  }
  std::uint32_t last = 0;
  for (std::size_t seen = counts[0]; seen < count && last + 1 < step_count;) seen += counts[++last];
  for (std::uint8_t& block : holds_nearest_) block = block <= last ? 1 : 0;
  return holds_nearest_;
}

}  // namespace ashlar::server
