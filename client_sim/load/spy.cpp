#include "client_sim/load/spy.h"

#include <algorithm>
#include <utility>

#include "world/sim/world.h"
#include "world/voxel/chunk.h"

namespace ashlar::client_sim {

void SpyReport::merge(const SpyReport& other) {
  spies += other.spies;
  told_s += other.told_s, unseen_s += other.unseen_s;
}

bool SpyWalls::enter(const Client& client) {
  const Welcome& welcome = client.welcome();
  std::vector<std::uint64_t> hashes;
  hashes.reserve(welcome.maps.size());
  for (const WelcomeMap& map : welcome.maps) hashes.push_back(map.content_hash);
  if (entered_ && seed_ == welcome.seed && hashes_ == hashes) return known_;
  entered_ = true;
  seed_ = welcome.seed;
  hashes_ = std::move(hashes);
  held_.clear();
  ground_ = VoxelVolume();
  known_ = terrain_known(welcome.terrain, welcome.generator);
  WorldSetup setup;
  setup.seed = welcome.seed;
  setup.terrain = static_cast<TerrainKind>(welcome.terrain);
  setup.bare = welcome.bare;
  for (const WelcomeMap& map : welcome.maps) {
    held_.push_back(maps_(map));
    known_ = known_ && held_.back() != nullptr;
  }
  if (!known_) return false;
  setup.maps = held_;
  generator_.emplace(setup);
  return true;
}

bool SpyWalls::load(DVec3 from, DVec3 to) {
  const ChunkCoord low =
      chunk_of(block_at({std::min(from.x, to.x), std::min(from.y, to.y), std::min(from.z, to.z)}));
  const ChunkCoord high =
      chunk_of(block_at({std::max(from.x, to.x), std::max(from.y, to.y), std::max(from.z, to.z)}));
  for (std::int32_t z = low.z; z <= high.z; ++z)
    for (std::int32_t y = low.y; y <= high.y; ++y)
      for (std::int32_t x = low.x; x <= high.x; ++x) {
        if (ground_.loaded({x, y, z})) continue;
        if (ground_.chunk_count() == chunks_max) return false;
        ground_.insert_chunk({x, y, z}, generator_->make_chunk({x, y, z}));
      }
  return true;
}

std::optional<bool> SpyWalls::sees(const Client& client, DVec3 from, DVec3 to) {
  if (!load(from, to)) return std::nullopt;
  std::vector<MapInSpace> placed;
  placed.reserve(held_.size());
  for (std::size_t i = 0; i < held_.size(); ++i)
    placed.push_back({held_[i].get(), i < client.sectors().map_count() ? client.sectors().heights(i)
                                                                       : held_[i]->initial_heights()});
  return space_sees({&ground_, placed, {}}, from, to);
}

void Spy::look(const Client& client) {
  const std::uint32_t tick = client.view().newest_tick();
  if (!client.own() || client.own()->health == 0 || tick == tick_) return;
  if (client.stats().worlds != world_) world_ = client.stats().worlds, known_.clear();
  tick_ = tick;
  if (!walls_->enter(client)) return;
  const Welcome& welcome = client.welcome();
  const auto idle_ticks = static_cast<std::uint32_t>(idle_s * welcome.rules.tick_rate_hz);
  const DVec3 eye = client.own()->body.position_m + DVec3{0, 0, welcome.rules.player_eye_m};
  client.view().entities(seen_);
  for (const ViewEntity& other : seen_) {
    const auto shape = welcome.body_of(other.record.kind);
    if (other.record.id == client.player() || !shape) continue;
    std::optional<bool> sees = false;
    for (const double share : {0.05, 0.5, 0.95}) {
      if (sees.has_value() && *sees) break;
      sees = walls_->sees(client, eye, other.position_m + DVec3{0, 0, share * shape->height_m});
      if (!sees) break;
    }
    if (!sees) continue;
    Known& known = known_.try_emplace(other.record.id, Known{UnseenLedger(idle_ticks), 0}).first->second;
    known.tick = tick;
    ++told_;
    unseen_ += known.ledger.note(tick, true, *sees);
  }
  // Whom it is not told of any more it does not see.
  for (auto& [id, known] : known_)
    if (known.tick != tick) unseen_ += known.ledger.note(tick, false, false);
  std::erase_if(known_, [](const auto& entry) { return entry.second.ledger.settled(); });
}

SpyReport Spy::report(const Client& client) const {
  // It looks once a snapshot.
  const double look_s =
      client.welcomed() ? client.welcome().rules.tick_s() * client.welcome().snapshot_every_ticks : 0;
  return {1, static_cast<double>(told_) * look_s, static_cast<double>(unseen_) * look_s};
}

}  // namespace ashlar::client_sim
