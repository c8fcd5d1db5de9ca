#include "client_sim/simulation/replay.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "protocol/chunk_codec.h"
#include "world/sim/ground_generator.h"
#include "world/voxel/volume.h"

namespace ashlar::simulation {
namespace {

std::optional<TracePoint> trace_point(const World& world, EntityId id) {
  TracePoint point;
  point.tick = number(world.tick());
  const Body* body = nullptr;
  if (const int row = world.player_row(id); row >= 0) {
    body = &world.players().body[static_cast<std::size_t>(row)];
    point.yaw = world.players().yaw[static_cast<std::size_t>(row)];
  } else if (const int other = world.monster_row(id); other >= 0) {
    body = &world.monsters().body[static_cast<std::size_t>(other)];
    point.yaw = world.monsters().yaw[static_cast<std::size_t>(other)];
  }
  if (body == nullptr) return std::nullopt;
  point.position_m = body->position_m;
  point.velocity_mps = body->velocity_mps;
  point.grounded = body->grounded != 0;
  point.stuck_ticks = body->stuck_ticks;
  return point;
}

}  // namespace

std::string recording_trouble(RecordingError error, std::span<const std::uint8_t> recording) {
  if (error != RecordingError::wrong_version) return describe(error);
  return "written in version " + std::to_string(version_of_recording(recording).value_or(0)) +
         " of the recording format, and this build reads versions " + std::to_string(recording_version_min) +
         " to " + std::to_string(recording_version) + ": replay it with the build that wrote it";
}

void RecordedGround::keep(const World& world, std::span<const ChunkCoord> dropped) {
  for (const ChunkCoord at : dropped) {
    const Chunk* const chunk = world.space().voxels->find(at);
    if (chunk != nullptr && world.column_edited(at.x, at.y)) gone_[at] = std::make_unique<Chunk>(*chunk);
  }
}

std::unique_ptr<Chunk> RecordedGround::bring(const World& world, const TickRecord& record, ChunkCoord at) {
  const auto found = gone_.find(at);
  const auto kept = std::ranges::find(record.chunks_kept, at, &ChangedChunk::at);
  if (kept != record.chunks_kept.end())
    if (auto chunk = ChunkCodec().decode(*kept->bytes)) {
      if (found != gone_.end()) gone_.erase(found);
      return std::move(*chunk);
    }
  if (found == gone_.end()) return world.ground()->make_chunk(at);
  auto chunk = std::move(found->second);
  gone_.erase(found);
  return chunk;
}

void step_recorded(World& world, const TickRecord& record, RecordedGround& ground, Observer* observer) {
  ground.keep(world, record.chunks_dropped);
  std::vector<ReadyChunk> ready;
  ready.reserve(record.chunks_ready.size());
  for (const ChunkCoord at : record.chunks_ready) ready.push_back({at, ground.bring(world, record, at)});
  TickInput input;
  input.joins = record.joins;
  input.leaves = record.leaves;
  input.commands = record.commands;
  input.admin = record.admin;
  input.edits = record.edits;
  input.chunks_ready = ready;
  input.chunks_dropped = record.chunks_dropped;
  input.acts = record.acts;
  input.returning = record.returning;
  input.calls = record.calls;
  input.watchers = record.watchers;
  input.told_apart = record.told_apart;
  input.names = record.names;
  input.away = record.away;
  if (observer != nullptr) observe_input(*observer, world, input);
  world.step(input);
  if (observer != nullptr) observe_step(*observer, world);
}

std::expected<ReplayResult, std::string> replay(std::span<const std::uint8_t> recording,
                                                const MapSource& maps, const ReplayOptions& options) {
  auto reader = RecordingReader::open(recording);
  if (!reader) return std::unexpected{recording_trouble(reader.error(), recording)};
  auto built = world_of(reader->header(), maps, options.ground, options.props, options.game);
  if (!built) return std::unexpected{built.error()};
  World& world = **built;

  ReplayResult result;
  result.hash = world.hash();
  if (world.hash() != reader->header().start_hash) {
    result.mismatch = ReplayMismatch{0, reader->header().start_hash, world.hash()};
    return result;
  }
  TickRecord record;
  RecordedGround ground;
  while (!options.until_tick || result.ticks < *options.until_tick) {
    const auto more = reader->next(record);
    if (!more)
      return std::unexpected{recording_trouble(more.error(), recording) + " (after tick " +
                             std::to_string(result.ticks) + ")"};
    if (!*more) break;
    step_recorded(world, record, ground, options.observer);
    result.ticks = number(world.tick());
    result.hash = world.hash();
    if (options.on_trace) {
      if (const auto point = trace_point(world, options.trace)) ++result.traced, options.on_trace(*point);
    }
    if (options.on_tick) options.on_tick(world);
    while (options.observer != nullptr) {
      const auto verdict = options.observer->take_verdict();
      if (!verdict) break;
      if (options.on_verdict) options.on_verdict(result.ticks, *verdict);
    }
    if (result.hash != record.hash) {
      result.mismatch = ReplayMismatch{result.ticks, record.hash, result.hash};
      break;
    }
  }
  result.torn = reader->torn();
  return result;
}

std::string torn_line(std::uint32_t ticks) {
  return "the last block is cut off, as after a crash: the " + std::to_string(ticks) +
         " ticks before it are whole";
}

}  // namespace ashlar::simulation
