// What the wire costs: encoding and decoding beside a plain copy of the same bytes, which is the least that
// any codec can cost. What sealing them costs is bench_sessions' to say.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/snapshot_writer.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

/// Cells with entities as a server would hold them.
struct Scene {
  std::vector<EntityRecord> records;
  BlockArena coded;
  std::vector<CellBlock> blocks;
  OwnPlayer own;
  SnapshotHead head;

  explicit Scene(std::size_t entities, std::size_t per_cell = 20) {
    Rng rng{1};
    records.resize(entities);
    for (std::size_t i = 0; i < entities; ++i) {
      records[i].id = make_entity_id(static_cast<std::uint32_t>(i), 1);
      records[i].x = static_cast<std::uint16_t>(rng.below(cell_steps));
      records[i].y = static_cast<std::uint16_t>(rng.below(cell_steps));
    }
    coded.reserve(entities * block_bytes(1));
    for (std::size_t i = 0; i < entities; i += per_cell) {
      coded.open({static_cast<std::int16_t>(i / per_cell), 0, 0});
      for (std::size_t j = i; j < std::min(i + per_cell, entities); ++j) coded.add(records[j]);
      blocks.push_back(coded.close());
    }
    head.tick = 1000;
    head.own = &own;
  }
};

void snapshot_encode(benchmark::State& state) {
  const Scene scene(static_cast<std::size_t>(state.range(0)));
  SnapshotWriter writer;
  DatagramBatch batch;
  std::size_t parts = 0;
  for (auto _ : state) {
    batch.clear();
    const SnapshotPlan plan = writer.begin(scene.head, scene.blocks, {}, snapshot_parts_max);
    for (std::size_t p = 0; p < plan.parts; ++p)
      writer.write(p, batch.append(PeerAddress{}, writer.part_bytes(p)));
    parts += plan.parts;
    benchmark::DoNotOptimize(batch);
  }
  state.counters["parts"] =
      benchmark::Counter(static_cast<double>(parts), benchmark::Counter::kAvgIterations);
}
BENCHMARK(snapshot_encode)->Arg(1)->Arg(40)->Arg(400)->Arg(1000);

/// The least an encoder can do: copy the entities into the batch.
void snapshot_copy_only(benchmark::State& state) {
  const Scene scene(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> packet(datagram_bytes_max);
  DatagramBatch batch;
  for (auto _ : state) {
    batch.clear();
    for (std::size_t at = 0; at < scene.records.size(); at += 64) {
      const std::size_t count = std::min<std::size_t>(64, scene.records.size() - at);
      std::memcpy(packet.data(), &scene.records[at], count * sizeof(EntityRecord));
      batch.add(PeerAddress{}, std::span(packet).first(count * sizeof(EntityRecord)));
    }
    benchmark::DoNotOptimize(batch);
  }
}
BENCHMARK(snapshot_copy_only)->Arg(1)->Arg(40)->Arg(400)->Arg(1000);

void snapshot_decode(benchmark::State& state) {
  const Scene scene(40);
  SnapshotWriter writer;
  writer.begin(scene.head, scene.blocks, {}, 1);
  DatagramBatch batch;
  writer.write(0, batch.append(PeerAddress{}, writer.part_bytes(0)));
  const auto bytes = batch.bytes(batch.entries()[0]);
  for (auto _ : state) {
    auto message = decode_server_message(bytes);
    benchmark::DoNotOptimize(message);
  }
}
BENCHMARK(snapshot_decode);

void input_encode(benchmark::State& state) {
  Input input;
  input.command_count = static_cast<std::uint8_t>(state.range(0));
  MessageWriter writer;
  for (auto _ : state) benchmark::DoNotOptimize(writer.write(input).data());
}
BENCHMARK(input_encode)->Arg(3);

void input_decode(benchmark::State& state) {
  Input input;
  input.command_count = static_cast<std::uint8_t>(state.range(0));
  MessageWriter writer;
  DatagramBatch batch;
  batch.add(PeerAddress{}, writer.write(input));
  const auto bytes = batch.bytes(batch.entries()[0]);
  for (auto _ : state) {
    auto message = decode_client_message(bytes);
    benchmark::DoNotOptimize(message);
  }
}
BENCHMARK(input_decode)->Arg(3);

}  // namespace

BENCHMARK_MAIN();
