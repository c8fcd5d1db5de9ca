// What the wire costs: encoding and decoding beside a plain copy of the same bytes, which is the least that
// any codec can cost. What sealing them costs is bench_sessions' to say.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/snapshot/plain_codec.h"
#include "protocol/snapshot/plain_part.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

/// Blocks of entities as a server would hold them, coded whole.
struct Scene {
  std::vector<EntityRecord> records;
  std::vector<std::vector<std::uint8_t>> blocks;
  std::vector<std::uint8_t> own = std::vector<std::uint8_t>(plain_own_bytes);
  PartHead head;

  explicit Scene(std::size_t entities, std::size_t per_block = 20) {
    Rng rng{1};
    records.resize(entities);
    for (std::size_t i = 0; i < entities; ++i) {
      records[i].id = make_entity_id(static_cast<std::uint32_t>(i), 1);
      records[i].x = static_cast<std::uint16_t>(rng.below(cell_steps));
      records[i].y = static_cast<std::uint16_t>(rng.below(cell_steps));
    }
    for (std::size_t i = 0; i < entities; i += per_block) {
      std::vector<MovingRecord> moving;
      for (std::size_t j = i; j < std::min(i + per_block, entities); ++j) moving.push_back({records[j], {}});
      auto& bytes = blocks.emplace_back(plain_block_bytes_max);
      const CellCoord cell{static_cast<std::int16_t>(i / per_block), 0, 0};
      bytes.resize(encode_plain_block({cell, moving}, {}, bytes).bytes);
    }
    head.tick = 1000;
    encode_plain_own({}, own);
  }
  /// Writes the scene's parts, and hands each to `take`.
  template <class Take>
  void write(std::vector<PlainPartWriter>& parts, Take&& take) const {
    std::size_t count = 0;
    const auto begin = [&] {
      if (count == parts.size()) parts.emplace_back();
      parts[count++].begin(head);
    };
    begin();
    parts[0].add_own(0, own);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto number = static_cast<std::uint16_t>(i);
      if (parts[count - 1].add_block(number, 0, blocks[i])) continue;
      begin();
      parts[count - 1].add_block(number, 0, blocks[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      parts[i].set_part_count(count);
      take(parts[i].bytes());
    }
  }
};

void snapshot_encode(benchmark::State& state) {
  const Scene scene(static_cast<std::size_t>(state.range(0)));
  std::vector<PlainPartWriter> writers;
  DatagramBatch batch;
  std::size_t parts = 0;
  for (auto _ : state) {
    batch.clear();
    scene.write(writers, [&](std::span<const std::uint8_t> bytes) {
      batch.add(PeerAddress{}, bytes);
      ++parts;
    });
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
  std::vector<PlainPartWriter> writers;
  DatagramBatch batch;
  scene.write(writers, [&](std::span<const std::uint8_t> bytes) { batch.add(PeerAddress{}, bytes); });
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
