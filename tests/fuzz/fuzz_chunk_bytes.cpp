// Any bytes as a kept chunk: as they are, and as what zstd would have unpacked, or hardly any would get past
// it.
#include <zstd.h>

#include <cstdlib>

#include "protocol/chunk_codec.h"

namespace {

void look_at(ashlar::ChunkCodec& codec, std::span<const std::uint8_t> bytes) {
  const auto chunk = codec.decode(bytes);
  if (!chunk) return;
  static std::vector<ashlar::BlockId> blocks(ashlar::chunk_blocks);
  (*chunk)->copy_blocks(blocks);
  for (const ashlar::BlockId id : blocks)
    if (!(*chunk)->may_hold(id)) std::abort();
  const auto again = codec.decode(codec.encode(**chunk));
  if (!again || (*again)->content_hash() != (*chunk)->content_hash()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ashlar::ChunkCodec codec;
  look_at(codec, {data, size});
  if (size > 1u << 17) return 0;
  std::vector<std::uint8_t> packed(1 + ZSTD_compressBound(size), ashlar::chunk_bytes_version);
  packed.resize(1 + ZSTD_compress(packed.data() + 1, packed.size() - 1, data, size, 1));
  look_at(codec, packed);
  return 0;
}
