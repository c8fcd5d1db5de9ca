#include "world/voxel/volume.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "world/math/assert.h"
#include "world/math/prefetch.h"
#include "world/math/random.h"

namespace ashlar {
namespace {

constexpr std::uint64_t empty_key = ~std::uint64_t{0};
constexpr std::int32_t block_coordinate_max = 1 << 20;

/// 21 bits a coordinate: never all ones, which is the empty key.
std::uint64_t pack(ChunkCoord c) {
  const auto bits = [](std::int32_t v) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(v + block_coordinate_max));
  };
  return bits(c.z) << 42 | bits(c.y) << 21 | bits(c.x);
}

ChunkCoord unpack(std::uint64_t key) {
  const auto part = [key](unsigned shift) {
    return static_cast<std::int32_t>((key >> shift) & 0x1fffff) - block_coordinate_max;
  };
  return {part(0), part(21), part(42)};
}

/// A loaded chunk's share of the volume's hash: where it is and what it holds.
std::uint64_t share(std::uint64_t key, std::uint64_t content) { return mix64(mix64(key) + content); }

}  // namespace

VoxelVolume::VoxelVolume(std::size_t chunks_expected, std::shared_ptr<const BlockRegistry> kinds)
    : kinds_(std::move(kinds)) {
  ASHLAR_ASSERT(kinds_ != nullptr);
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(16, 2 * chunks_expected));
  keys_.assign(slots, empty_key);
  chunks_.resize(slots);
  shift_ = 64u - static_cast<unsigned>(std::countr_zero(slots));
}

std::size_t VoxelVolume::home_of_key(std::uint64_t key) const {
  // Multiplicative hashing (Knuth): the high bits depend on all of the key.
  return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> shift_);
}

std::size_t VoxelVolume::slot_of_key(std::uint64_t key) const {
  std::size_t slot = home_of_key(key);
  while (keys_[slot] != key && keys_[slot] != empty_key) slot = (slot + 1) & (keys_.size() - 1);
  return slot;
}

void VoxelVolume::grow() {
  std::vector<std::uint64_t> old_keys(keys_.size() * 2, empty_key);
  std::vector<std::unique_ptr<Chunk>> old_chunks(chunks_.size() * 2);
  old_keys.swap(keys_);
  old_chunks.swap(chunks_);
  --shift_;
  for (std::size_t i = 0; i < old_keys.size(); ++i) {
    if (old_keys[i] == empty_key) continue;
    const std::size_t slot = slot_of_key(old_keys[i]);
    keys_[slot] = old_keys[i];
    chunks_[slot] = std::move(old_chunks[i]);
  }
}

bool VoxelVolume::in_range(ChunkCoord c) {
  const auto ok = [](std::int32_t v) { return v > -block_coordinate_max && v < block_coordinate_max; };
  return ok(c.x) && ok(c.y) && ok(c.z);
}

void VoxelVolume::insert_chunk(ChunkCoord at, std::unique_ptr<Chunk> chunk) {
  ASHLAR_ASSERT(chunk != nullptr);
  ASHLAR_ASSERT(in_range(at));
  chunk->set_forms(kinds_->forms());
  if (2 * (count_ + 1) > keys_.size()) grow();
  ASHLAR_ASSERT(2 * (count_ + 1) <= keys_.size());  // a full table would be searched for ever
  const std::uint64_t key = pack(at);
  const std::size_t slot = slot_of_key(key);
  if (keys_[slot] == key) {
    ASHLAR_ASSERT(chunks_[slot] != nullptr);
    hash_ -= share(key, chunks_[slot]->content_hash());
  } else {
    keys_[slot] = key;
    ++count_;
  }
  hash_ += share(key, chunk->content_hash());
  chunks_[slot] = std::move(chunk);
}

std::unique_ptr<Chunk> VoxelVolume::drop_chunk(ChunkCoord at) {
  if (!in_range(at)) return nullptr;
  const std::uint64_t key = pack(at);
  std::size_t hole = slot_of_key(key);
  if (keys_[hole] != key) return nullptr;
  ASHLAR_ASSERT(count_ > 0);
  ASHLAR_ASSERT(chunks_[hole] != nullptr);
  std::unique_ptr<Chunk> out = std::move(chunks_[hole]);
  hash_ -= share(key, out->content_hash());
  keys_[hole] = empty_key;
  --count_;
  // Close the gap: whoever probed past the hole moves back into it.
  const std::size_t mask = keys_.size() - 1;
  for (std::size_t i = (hole + 1) & mask; keys_[i] != empty_key; i = (i + 1) & mask) {
    const std::size_t home = home_of_key(keys_[i]);
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    keys_[hole] = std::exchange(keys_[i], empty_key);
    chunks_[hole] = std::move(chunks_[i]);
    hole = i;
  }
  return out;
}

const Chunk* VoxelVolume::find(ChunkCoord at) const {
  if (!in_range(at)) return nullptr;
  const std::uint64_t key = pack(at);
  const std::size_t slot = slot_of_key(key);
  return keys_[slot] == key ? chunks_[slot].get() : nullptr;
}

void VoxelVolume::prefetch_chunk(ChunkCoord at) const {
  if (const Chunk* const chunk = find(at)) prefetch(chunk, sizeof(void*) * 4);
}

void VoxelVolume::prefetch_slot(ChunkCoord at) const {
  if (!in_range(at)) return;
  const std::size_t home = home_of_key(pack(at));
  prefetch(&keys_[home], sizeof keys_[home]);
  prefetch(&chunks_[home], sizeof chunks_[home]);
}

std::vector<ChunkCoord> VoxelVolume::loaded_chunks() const {
  std::vector<ChunkCoord> out;
  out.reserve(count_);
  for (const std::uint64_t key : keys_)
    if (key != empty_key) out.push_back(unpack(key));
  std::sort(out.begin(), out.end(), [](ChunkCoord a, ChunkCoord b) { return pack(a) < pack(b); });
  return out;
}

bool VoxelVolume::solid(IVec3 block) const { return ChunkCursor(*this).solid(block); }

const BlockShape& VoxelVolume::shape(IVec3 where) const {
  constexpr BlockId unknown{block_kinds_max};  // all of it is solid
  const Chunk* chunk = find(chunk_of(where));
  return kinds_->shape(chunk == nullptr ? unknown : chunk->block(local_in_chunk(where)));
}

bool VoxelVolume::solid_at(DVec3 point) const {
  const IVec3 block = block_at(point);
  if (!solid(block)) return false;
  const DVec3 corner = to_dvec3(block);
  return std::ranges::any_of(shape(block).boxes(), [&](const ShapeBox& box) {
    const Aabb b = box.at(corner);
    return point.x >= b.min.x && point.x < b.max.x && point.y >= b.min.y && point.y < b.max.y &&
           point.z >= b.min.z && point.z < b.max.z;
  });
}

BlockId VoxelVolume::block(IVec3 block) const {
  const Chunk* chunk = find(chunk_of(block));
  return chunk == nullptr ? BlockId::stone : chunk->block(local_in_chunk(block));
}

bool VoxelVolume::set_block(IVec3 block, BlockId id) {
  const ChunkCoord at = chunk_of(block);
  if (!in_range(at)) return false;
  const std::uint64_t key = pack(at);
  const std::size_t slot = slot_of_key(key);
  if (keys_[slot] != key) return false;
  ASHLAR_ASSERT(static_cast<std::uint16_t>(id) < block_kinds_max);
  Chunk& chunk = *chunks_[slot];
  hash_ -= share(key, chunk.content_hash());
  chunk.set_block(local_in_chunk(block), id);
  hash_ += share(key, chunk.content_hash());
  return true;
}

}  // namespace ashlar
