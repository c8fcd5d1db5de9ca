#include "server/host/ground_cache.h"

#include <algorithm>
#include <array>
#include <utility>

#include "server/host/exposed_ores.h"
#include "world/math/assert.h"
#include "world/sim/world.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

/// Entries that are looked at for one to drop, at most.
constexpr int looks_max = 64;
/// What a node of the table takes beside bytes and changes.
constexpr std::size_t entry_bytes = 160;

void put(std::vector<BlockChange>& changes, BlockChange change) {
  const auto known = std::ranges::lower_bound(changes, change.index, {}, &BlockChange::index);
  if (known != changes.end() && known->index == change.index)
    known->block = change.block;
  else
    changes.insert(known, change);
}

}  // namespace

PackRequest pack_request(const World& world, const ChangeLog& log, ChunkCoord at, std::uint32_t ticket) {
  const Chunk* const chunk = world.space().voxels->find(at);
  ASHLAR_ASSERT(chunk != nullptr);
  PackRequest out;
  out.ticket = ticket;
  out.blocks.assign(*chunk);
  out.hash = chunk->content_hash();
  out.kinds = world.setup().blocks;
  out.hides = world.setup().secret.has_value() && may_hold_hidden(*out.kinds, *chunk);
  if (!out.hides) return out;
  for (const BlockChange& change : log.chunk(at))
    if (out.kinds->hidden(static_cast<BlockId>(change.block))) out.shown.push_back(change.index);
  return out;
}

void GroundCache::begin_world() {
  entries_.clear();
  under_way_.clear();
  bytes_ = 0;
}

std::size_t GroundCache::size_of(const Entry& entry) {
  return entry_bytes + entry.bytes.size() + entry.changes.size() * sizeof(BlockChange);
}

GroundCache::Entries::iterator GroundCache::erase(Entries::iterator entry) {
  bytes_ -= size_of(entry->second);
  return entries_.erase(entry);
}

void GroundCache::take(std::span<PackedGround> packed) {
  for (PackedGround& one : packed) {
    const auto asked = std::ranges::find(under_way_, one.ticket, &UnderWay::ticket);
    if (asked == under_way_.end()) continue;
    const auto found = entries_.find(asked->at);
    under_way_.erase(asked);
    ++packed_;
    // Forgotten meanwhile, or forgotten and asked for again.
    if (found == entries_.end() || found->second.ticket != one.ticket) continue;
    Entry& entry = found->second;
    bytes_ -= size_of(entry);
    entry.ready = entry.used = true;
    entry.hash = one.hash;
    entry.bytes = std::move(one.bytes);
    bytes_ += size_of(entry);
  }
  make_room();
}

void GroundCache::note(std::span<const ChangeLog::ChunkChanges> changes) {
  for (const ChangeLog::ChunkChanges& chunk : changes) {
    const auto found = entries_.find(chunk.at);
    if (found == entries_.end()) continue;
    Entry& entry = found->second;
    if (entry.changes.size() + chunk.changes.size() > changes_max) {
      erase(found);
      continue;
    }
    bytes_ -= size_of(entry);
    for (const BlockChange& change : chunk.changes) put(entry.changes, change);
    bytes_ += size_of(entry);
  }
}

const GroundCache::Entry* GroundCache::find(ChunkCoord at) {
  const auto found = entries_.find(at);
  if (found == entries_.end() || !found->second.ready) return nullptr;
  found->second.used = true;
  return &found->second;
}

void GroundCache::request(const World& world, const ChangeLog& log, ChunkCoord at,
                          std::vector<PackRequest>& requests) {
  if (under_way_.size() >= pack_requests_max || entries_.contains(at)) return;
  if (!world.space().voxels->loaded(at)) return;
  Entry& entry = entries_[at];
  entry.ticket = ++tickets_;
  bytes_ += size_of(entry);
  under_way_.push_back({entry.ticket, at});
  requests.push_back(pack_request(world, log, at, entry.ticket));
}

void GroundCache::forget(ChunkCoord at) {
  if (const auto found = entries_.find(at); found != entries_.end()) erase(found);
}

/// Goes round: who was not asked for since the last round goes.
void GroundCache::make_room() {
  for (int looked = 0; looked < looks_max && bytes_ > bytes_max; ++looked) {
    auto next = entries_.upper_bound(hand_);
    if (next == entries_.end()) next = entries_.begin();
    hand_ = next->first;
    if (next->second.ready && !std::exchange(next->second.used, false)) erase(next);
  }
}

}  // namespace ashlar::server
