#include "server/host/chunk_loader.h"

#include <cstdlib>

#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

IVec2 column_of(DVec3 position) {
  const ChunkCoord c = chunk_of(block_at(position));
  return {c.x, c.y};
}

int distance(IVec2 a, IVec2 b) { return std::max(std::abs(a.x - b.x), std::abs(a.y - b.y)); }

}  // namespace

void ChunkLoader::make(const World& world, IVec2 column, std::vector<ReadyChunk>& ready) {
  for (int z = World::column_low; z < World::column_high; ++z) {
    const ChunkCoord at{column.x, column.y, z};
    ready.push_back({at, world.make_chunk(at)});
  }
  extra_.push_back(column);
}

bool ChunkLoader::wanted_by_anyone(const World& world, IVec2 column, int radius) const {
  const PlayerTable& players = world.players();
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.id[i] != EntityId{0} && distance(column_of(players.body[i].position_m), column) <= radius)
      return true;
  return false;
}

void ChunkLoader::plan(const World& world, std::vector<ReadyChunk>& ready, std::vector<ChunkCoord>& dropped) {
  const PlayerTable& players = world.players();
  settled_.resize(players.rows());
  settled_for_.resize(players.rows());

  IVec2 best{};
  int best_distance = want_radius + 1;
  const std::size_t rows = players.rows();
  if (first_row_ >= rows) first_row_ = 0;
  for (std::size_t visit = 0; visit < rows; ++visit) {
    const std::size_t i = first_row_ + visit < rows ? first_row_ + visit : first_row_ + visit - rows;
    if (players.id[i] == EntityId{0}) continue;
    const IVec2 at = column_of(players.body[i].position_m);
    if (settled_for_[i] == players.id[i] && settled_[i] == at) continue;
    bool complete = true;
    for (int dx = -want_radius; dx <= want_radius; ++dx)
      for (int dy = -want_radius; dy <= want_radius; ++dy) {
        const IVec2 column{at.x + dx, at.y + dy};
        if (world.column_loaded(column.x, column.y)) continue;
        complete = false;
        if (distance(at, column) < best_distance) best = column, best_distance = distance(at, column);
      }
    if (complete) settled_for_[i] = players.id[i], settled_[i] = at;
  }
  first_row_ = first_row_ + 1 < rows ? first_row_ + 1 : 0;
  if (best_distance <= want_radius) make(world, best, ready);

  if (extra_.empty()) return;
  next_check_ = next_check_ < extra_.size() ? next_check_ : 0;
  const IVec2 column = extra_[next_check_];
  if (wanted_by_anyone(world, column, keep_radius) || world.column_edited(column.x, column.y)) {
    ++next_check_;
    return;
  }
  for (int z = World::column_low; z < World::column_high; ++z) dropped.push_back({column.x, column.y, z});
  extra_[next_check_] = extra_.back();
  extra_.pop_back();
}

}  // namespace ashlar::server
