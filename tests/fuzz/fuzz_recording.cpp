// Recordings are foreign bytes to `ashlar-sim replay`: nothing in them may crash the reader, nor the world
// that is stepped through what was read. The bytes are tried as they are and with the checks that belong to
// their blocks, or nothing would get past those.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "client_sim/simulation/replay.h"
#include "protocol/bytes.h"
#include "protocol/recorded_world.h"
#include "protocol/recording.h"
#include "world/math/hash.h"
#include "world/voxel/chunk.h"

namespace {

using namespace ashlar;

constexpr std::size_t magic_bytes = 8;

void put_checks_right(std::vector<std::uint8_t>& file) {
  for (std::size_t at = magic_bytes; at + recording_block_head_bytes <= file.size();) {
    ByteReader head(std::span(file).subspan(at));
    const std::size_t size = head.u32();
    if (size > file.size() - at - recording_block_head_bytes) return;
    Hasher check;
    check.add_bytes(std::span(file).subspan(at + recording_block_head_bytes, size));
    for (std::size_t i = 0; i < 8; ++i)
      file[at + 4 + i] = static_cast<std::uint8_t>(check.value() >> (8 * i));
    at += recording_block_head_bytes + size;
  }
}

/// Terrain takes longer than all else and is not what is tried.
std::unique_ptr<Chunk> flat_ground(const Terrain&, ChunkCoord at) {
  return std::make_unique<Chunk>(at.z < 0 ? BlockId::stone : BlockId::air);
}

/// A world without maps, as they would have to be at hand; null where it would be a large one, or where it
/// was played on ground of another generator, which `world_of` refuses.
std::unique_ptr<World> small_world(RecordingHeader header) {
  if (header.players_max > 8 || header.monsters > 8 || header.monsters_max > 8) return nullptr;
  if (!terrain_known(static_cast<std::uint8_t>(header.terrain), header.generator)) return nullptr;
  header.maps.clear();
  header.props.clear();
  auto world = world_of(header, {}, flat_ground);
  if (!world) std::abort();
  return std::move(*world);
}

void read(std::span<const std::uint8_t> file) {
  constexpr int ticks_max = 120;
  auto reader = RecordingReader::open(file);
  if (!reader) return;
  const std::unique_ptr<World> world = small_world(reader->header());
  RecordingWriter writer(reader->header());
  std::vector<TickRecord> ticks;
  TickRecord tick;
  simulation::RecordedGround ground;
  for (auto more = reader->next(tick); more && *more; more = reader->next(tick)) {
    if (world != nullptr && ticks.size() < ticks_max) simulation::step_recorded(*world, tick, ground);
    writer.add(tick);
    ticks.push_back(tick);
  }

  std::vector<std::uint8_t> again;
  writer.take(again);
  auto second = RecordingReader::open(again);
  if (!second) std::abort();
  for (const TickRecord& wanted : ticks) {
    const auto more = second->next(tick);
    if (!more || !*more || tick.hash != wanted.hash || tick.commands.size() != wanted.commands.size() ||
        tick.edits.size() != wanted.edits.size())
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> file(data, data + size);
  read(file);
  if (file.size() < magic_bytes) return 0;
  put_checks_right(file);
  read(file);
  return 0;
}
