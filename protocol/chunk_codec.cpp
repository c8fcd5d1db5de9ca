#include "protocol/chunk_codec.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <new>

#include "protocol/bytes.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr int chunk_packing_level = 1;  // level 3 takes 1.5 times as long for a twentieth less
constexpr unsigned index_bits_max = 8;
constexpr std::size_t unpacked_bytes_max =
    2 + 2 * std::size_t{block_kinds_max} + chunk_blocks * index_bits_max / 8;
static_assert(block_kinds_max <= 1u << index_bits_max, "wider indices need a longer chunk_bytes_max");
static_assert(1 + ZSTD_COMPRESSBOUND(unpacked_bytes_max) <= chunk_bytes_max);

/// As few as Chunk takes.
unsigned index_bits(std::size_t kinds) {
  unsigned bits = 0;
  while ((std::size_t{1} << bits) < kinds) bits = bits == 0 ? 1 : bits * 2;
  return bits;
}

}  // namespace

const char* describe(ChunkError error) {
  switch (error) {
    case ChunkError::empty: return "it is empty";
    case ChunkError::too_long: return "it is too long";
    case ChunkError::newer: return "it is of a version that this build does not know";
    case ChunkError::packing: return "it does not unpack";
    case ChunkError::wrong_size: return "it unpacks to a wrong size";
    case ChunkError::unknown_block: return "it holds a kind of block that no world has";
    case ChunkError::bad_palette: return "its list of kinds is wrong";
    case ChunkError::bad_index: return "it holds a block of no kind";
  }
  return "";
}

struct ChunkCodec::Impl {
  ZSTD_CCtx* packing = ZSTD_createCCtx();
  ZSTD_DCtx* unpacking = ZSTD_createDCtx();
  std::vector<std::uint8_t> plain;
  std::vector<BlockId> blocks = std::vector<BlockId>(chunk_blocks);
  std::array<std::uint16_t, chunk_blocks> places;  ///< of each block, in the list of kinds

  void write_plain(const PackedChunk& chunk);
  std::expected<void, ChunkError> read_plain();
};

ChunkCodec::ChunkCodec() : impl_(std::make_unique<Impl>()) {
  if (impl_->packing == nullptr || impl_->unpacking == nullptr) throw std::bad_alloc();
  impl_->plain.reserve(unpacked_bytes_max);
}

ChunkCodec::~ChunkCodec() {
  ZSTD_freeCCtx(impl_->packing);
  ZSTD_freeDCtx(impl_->unpacking);
}

/// Kinds that are gone from the chunk are not in its list, so that what was dug and put back is as it was.
void ChunkCodec::Impl::write_plain(const PackedChunk& chunk) {
  chunk.blocks.copy_to(blocks);
  std::array<std::uint16_t, block_kinds_max> place;  // by kind
  place.fill(0xffff);
  std::array<BlockId, block_kinds_max> kinds;
  std::uint16_t count = 0;
  for (std::size_t i = 0; i < chunk_blocks; ++i) {
    std::uint16_t& at = place[static_cast<std::size_t>(blocks[i])];
    if (at == 0xffff) {
      at = count;
      kinds[count++] = blocks[i];
    }
    places[i] = at;
  }
  plain.clear();
  ByteWriter w(plain);
  w.u16(count);
  for (std::uint16_t i = 0; i < count; ++i) w.u16(static_cast<std::uint16_t>(kinds[i]));
  const unsigned bits = index_bits(count);
  if (bits == 0) return;
  for (std::size_t i = 0; i < chunk_blocks;) {
    std::uint64_t word = 0;
    for (unsigned bit = 0; bit < 64; bit += bits, ++i) word |= std::uint64_t{places[i]} << bit;
    w.u64(word);
  }
}

/// From `plain` to `blocks`.
std::expected<void, ChunkError> ChunkCodec::Impl::read_plain() {
  ByteReader r(plain);
  const std::uint16_t count = r.u16();
  if (!r.ok()) return std::unexpected(ChunkError::wrong_size);
  if (count == 0) return std::unexpected(ChunkError::bad_palette);
  if (count > block_kinds_max) return std::unexpected(ChunkError::unknown_block);
  const unsigned bits = index_bits(count);
  if (r.left() != std::size_t{2} * count + chunk_blocks * bits / 8)
    return std::unexpected(ChunkError::wrong_size);
  std::array<BlockId, block_kinds_max> kinds;
  std::bitset<block_kinds_max> listed;
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::uint16_t id = r.u16();
    if (id >= block_kinds_max) return std::unexpected(ChunkError::unknown_block);
    if (listed[id]) return std::unexpected(ChunkError::bad_palette);
    listed[id] = true;
    kinds[i] = static_cast<BlockId>(id);
  }
  if (bits == 0) {
    std::ranges::fill(blocks, kinds[0]);
    return {};
  }
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  for (std::size_t i = 0; i < chunk_blocks;) {
    std::uint64_t word = r.u64();
    for (unsigned bit = 0; bit < 64; bit += bits, word >>= bits) {
      if ((word & mask) >= count) return std::unexpected(ChunkError::bad_index);
      blocks[i++] = kinds[word & mask];
    }
  }
  ASHLAR_ASSERT(r.ok() && r.at_end());
  return {};
}

void ChunkCodec::encode(const PackedChunk& chunk, std::vector<std::uint8_t>& out) {
  Impl& c = *impl_;
  c.write_plain(chunk);
  out.resize(chunk_bytes_max);
  out[0] = chunk_bytes_version;
  const std::size_t packed = ZSTD_compressCCtx(c.packing, out.data() + 1, out.size() - 1, c.plain.data(),
                                               c.plain.size(), chunk_packing_level);
  if (ZSTD_isError(packed)) throw std::bad_alloc();  // it has room enough: nothing else is left
  out.resize(1 + packed);
}

std::vector<std::uint8_t> ChunkCodec::encode(const Chunk& chunk) {
  PackedChunk packed;
  packed.assign(chunk);
  std::vector<std::uint8_t> out;
  encode(packed, out);
  return out;
}

std::expected<std::unique_ptr<Chunk>, ChunkError> ChunkCodec::decode(std::span<const std::uint8_t> bytes) {
  Impl& c = *impl_;
  if (bytes.empty()) return std::unexpected(ChunkError::empty);
  if (bytes.size() > chunk_bytes_max) return std::unexpected(ChunkError::too_long);
  if (bytes[0] != chunk_bytes_version) return std::unexpected(ChunkError::newer);
  c.plain.resize(unpacked_bytes_max);
  const std::size_t size =
      ZSTD_decompressDCtx(c.unpacking, c.plain.data(), c.plain.size(), bytes.data() + 1, bytes.size() - 1);
  if (ZSTD_isError(size)) return std::unexpected(ChunkError::packing);
  c.plain.resize(size);
  if (auto good = c.read_plain(); !good) return std::unexpected(good.error());
  return std::make_unique<Chunk>(std::span<const BlockId>(c.blocks));
}

}  // namespace ashlar
