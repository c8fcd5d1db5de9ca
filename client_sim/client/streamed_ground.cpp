#include "client_sim/client/streamed_ground.h"

#include <algorithm>
#include <utility>

#include "world/voxel/chunk_place.h"

namespace ashlar::client_sim {
namespace {

/// Twenty blasts a tick for a second; an honest server settles sixty times before.
constexpr std::size_t pending_max = std::size_t{1} << 20;

void put(Chunk& chunk, BlockChange change) {
  chunk.set_block(local_of_index(change.index), static_cast<BlockId>(change.block));
}

void note_differences(ChunkCoord at, const Chunk& a, const Chunk& b, std::vector<IVec3>& touched) {
  if (a.content_hash() == b.content_hash()) return;
  for (std::size_t i = 0; i < chunk_blocks; ++i) {
    const IVec3 local = local_of_index(i);
    if (a.block(local) != b.block(local)) touched.push_back(block_of_index(at, i));
  }
}

/// Is every block of it of a kind that the world has? A kept one may once have held others.
bool knows_all(const BlockRegistry& kinds, const Chunk& chunk) {
  const auto unknown = [&kinds](BlockId id) { return !kinds.knows(id); };
  bool may_be = false;
  for (std::size_t id = kinds.size(); id < block_kinds_max; ++id)
    may_be = may_be || chunk.may_hold(static_cast<BlockId>(id));
  if (!may_be) return true;
  std::vector<BlockId> blocks(chunk_blocks);
  chunk.copy_blocks(blocks);
  return std::ranges::none_of(blocks, unknown);
}

}  // namespace

void StreamedGround::begin(bool streams) {
  for (auto& [at, held] : held_) kept_[at] = std::move(held.chunk);
  held_.clear();
  while (kept_.size() > kept_chunks_max) kept_.erase(std::prev(kept_.end()));
  if (!streams) kept_.clear();
  streams_ = streams;
  pending_.clear();
  settled_tick_ = 0;
}

std::vector<KeptChunk> StreamedGround::kept() const {
  std::vector<KeptChunk> out;
  out.reserve(kept_.size());
  for (const auto& [at, chunk] : kept_) out.push_back({at, chunk->content_hash()});
  return out;
}

/// No chunk of an older tick comes any more.
void StreamedGround::settle(std::uint32_t tick) {
  settled_tick_ = tick;
  while (!pending_.empty() && pending_.front().tick <= tick) pending_.pop_front();
}

const char* StreamedGround::take(const GroundChunk& message, std::vector<IVec3>& touched) {
  if (message.tick < settled_tick_) return "a chunk is older than what came before it";
  std::unique_ptr<Chunk> chunk;
  if (const auto kept = kept_.find(message.at); kept != kept_.end()) {
    if (message.bytes.empty()) chunk = std::move(kept->second);
    kept_.erase(kept);
  }
  if (!message.bytes.empty()) {
    if (codec_ == nullptr) codec_ = std::make_unique<ChunkCodec>();
    auto read = codec_->decode(message.bytes);
    if (!read) return describe(read.error());
    chunk = std::move(*read);
  }
  if (chunk == nullptr) return "a chunk was not kept";
  if (chunk->content_hash() != message.hash) return "a chunk is another one than its hash names";
  for (const BlockChange& change : message.changes) put(*chunk, change);
  settle(message.tick);
  for (const Pending& later : pending_)
    if (later.chunk == message.at) put(*chunk, later.change);
  if (!knows_all(*kinds_, *chunk)) return "a block is of no kind that this world has";

  const auto found = held_.find(message.at);
  if (found == held_.end()) {
    if (held_.size() >= chunks_max) return "there are more chunks than a client holds";
    held_[message.at] = {std::move(chunk), message.tick, ++versions_};
    return nullptr;
  }
  note_differences(message.at, *found->second.chunk, *chunk, touched);
  found->second.chunk = std::move(chunk);
  found->second.tick = message.tick;
  return nullptr;
}

void StreamedGround::take(const GroundGone& message) {
  for (const ChunkCoord at : message.chunks) held_.erase(at);
  settle(std::max(message.tick, settled_tick_));
}

void StreamedGround::take(const BlockEdits& edits, std::vector<IVec3>& touched) {
  const auto found = held_.find(edits.chunk);
  const bool newer = found != held_.end() && edits.tick > found->second.tick;
  for (const BlockChange& change : edits.changes) {
    if (newer) {
      put(*found->second.chunk, change);
      touched.push_back(block_of_index(edits.chunk, change.index));
    }
    // A chunk from before it may be on its way, or come again.
    if (edits.tick > settled_tick_) pending_.push_back({edits.tick, edits.chunk, change});
    if (pending_.size() > pending_max) pending_.pop_front();
  }
}

const Chunk* StreamedGround::find(ChunkCoord at) const {
  const auto found = held_.find(at);
  return found == held_.end() ? nullptr : found->second.chunk.get();
}

std::uint64_t StreamedGround::version(ChunkCoord at) const {
  const auto found = held_.find(at);
  return found == held_.end() ? 0 : found->second.version;
}

std::vector<ChunkCoord> StreamedGround::chunks() const {
  std::vector<ChunkCoord> out;
  out.reserve(held_.size());
  for (const auto& [at, held] : held_) out.push_back(at);
  return out;
}

std::size_t StreamedGround::bytes() const {
  std::size_t sum = pending_.size() * sizeof(Pending);
  for (const auto& [at, held] : held_) sum += held.chunk->bytes();
  for (const auto& [at, chunk] : kept_) sum += chunk->bytes();
  return sum;
}

}  // namespace ashlar::client_sim
