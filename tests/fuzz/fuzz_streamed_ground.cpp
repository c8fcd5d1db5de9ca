// The ground as a client is sent it: a script of chunks, changes and goodbyes, with bytes of any kind and
// with those of true chunks.

#include "client_sim/client/streamed_ground.h"
#include "tests/fuzz/script.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

/// A chunk's bytes: true ones, or what the script says.
std::vector<std::uint8_t> chunk_bytes(fuzz::Script& script, ChunkCodec& codec, std::uint64_t& hash) {
  if (script.u8() % 4 == 0) {
    const auto raw = script.take(script.u8());
    return {raw.begin(), raw.end()};
  }
  Chunk chunk(static_cast<BlockId>(script.u8()));
  for (std::uint8_t i = 0, n = script.u8() % 8; i < n; ++i)
    chunk.set_block({script.u8() % 32, script.u8() % 32, script.u8() % 32},
                    static_cast<BlockId>(script.u8()));
  hash = chunk.content_hash();
  return codec.encode(chunk);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ChunkCodec codec;
  fuzz::Script script{data, size};
  StreamedGround ground;
  ground.begin(true);
  std::vector<IVec3> touched;
  std::uint32_t tick = 1;
  while (script.size > 0) {
    tick += script.u8() % 4;
    const ChunkCoord at{script.u8() % 2, script.u8() % 2, 0};
    std::vector<BlockChange> changes;
    for (std::uint8_t i = 0, n = script.u8() % 4; i < n; ++i)
      changes.push_back({static_cast<std::uint16_t>(i * 8000 + script.u8()), script.u8()});
    switch (script.u8() % 4) {
      case 0: {
        std::uint64_t hash = script.u8();
        const auto bytes = chunk_bytes(script, codec, hash);
        if (ground.take(GroundChunk{tick, 1, at, hash, bytes, changes}, touched) != nullptr) return 0;
        // It holds all changes up to its tick, and what is over it is later.
        fuzz::require(ground.find(at) != nullptr);
        break;
      }
      case 1: ground.take(BlockEdits{tick, 1, at, changes}, touched); break;
      case 2:
        ground.take(GroundGone{tick, 1, {&at, 1}});
        fuzz::require(ground.find(at) == nullptr);
        break;
      default: ground.begin(true), tick = 1; break;
    }
    for (const ChunkCoord held : ground.chunks()) fuzz::require(ground.version(held) != 0);
    fuzz::require(ground.kept().size() <= kept_chunks_max);
    touched.clear();
  }
  return 0;
}
