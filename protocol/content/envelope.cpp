#include "protocol/content/envelope.h"

#include <zstd.h>

#include <memory>
#include <optional>

#include "protocol/bytes.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

// Of Freedoom's maps 19 makes a twentieth less than 9; it is done once a start.
constexpr int compression_level = 19;
constexpr int window_log = 22;
static_assert(std::uint64_t{1} << window_log <= content_window_bytes_max);

struct FreeCompressor {
  void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
};

std::unexpected<std::string> refuse(const char* why) { return std::unexpected<std::string>(why); }

/// The window that a frame's header asks for (RFC 8878, 3.1.1.1.2); nullopt: it has none, the content is its
/// own window. Precondition: zstd has read a content size from it, so its magic number is right.
std::optional<std::uint64_t> window_bytes(std::span<const std::uint8_t> frame) {
  ASHLAR_ASSERT(frame.size() >= 6);
  const std::uint8_t descriptor = frame[4];
  const bool single_segment = (descriptor & 0x20) != 0;
  if (single_segment) return std::nullopt;
  const std::uint8_t window = frame[5];
  const std::uint64_t base = std::uint64_t{1} << (10 + (window >> 3));
  return base + base / 8 * (window & 7);
}

}  // namespace

std::expected<std::vector<std::uint8_t>, std::string> pack(ContentKind kind,
                                                           std::span<const std::uint8_t> layout) {
  if (layout.size() > content_layout_bytes_max)
    return std::unexpected("takes " + std::to_string(layout.size() >> 20) +
                           " MiB laid out, more than the limit of " +
                           std::to_string(content_layout_bytes_max >> 20));
  std::vector<std::uint8_t> out;
  ByteWriter w(out);
  w.u32(content_magic), w.u8(content_format), w.u8(static_cast<std::uint8_t>(kind)), w.u16(0);
  w.u32(static_cast<std::uint32_t>(layout.size()));
  ASHLAR_ASSERT(out.size() == content_header_bytes);
  out.resize(content_header_bytes + ZSTD_compressBound(layout.size()));
  const std::unique_ptr<ZSTD_CCtx, FreeCompressor> compressor(ZSTD_createCCtx());
  ASHLAR_ASSERT(compressor != nullptr);
  ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_compressionLevel, compression_level);
  ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_windowLog, window_log);
  const std::size_t size = ZSTD_compress2(compressor.get(), out.data() + content_header_bytes,
                                          out.size() - content_header_bytes, layout.data(), layout.size());
  ASHLAR_ASSERT(ZSTD_isError(size) == 0);  // there was room for any
  out.resize(content_header_bytes + size);
  if (out.size() > content_bytes_max)
    return std::unexpected("takes " + std::to_string(out.size() >> 10) +
                           " KiB compressed, more than the limit of " +
                           std::to_string(content_bytes_max >> 10));
  out.shrink_to_fit();
  return out;
}

std::size_t announced_layout_bytes(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < content_header_bytes) return 0;
  ByteReader r(bytes.subspan(content_header_bytes - sizeof(std::uint32_t)));
  return r.u32();
}

std::expected<Envelope, std::string> unpack(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > content_bytes_max) return refuse("it is longer than content may be");
  ByteReader r(bytes);
  const std::uint32_t magic = r.u32();
  const std::uint8_t format = r.u8(), kind = r.u8();
  const std::uint16_t zero = r.u16();
  const std::uint32_t size = r.u32();
  if (!r.ok()) return refuse("it ends early");
  if (magic != content_magic) return refuse("it is no content of a world");
  if (format != content_format) return refuse("another version made it");
  if ((kind != 1 && kind != 2) || zero != 0) return refuse("it is of an unknown kind");
  if (size > content_layout_bytes_max) return refuse("it announces more than content may hold");

  const std::span<const std::uint8_t> frame = bytes.subspan(content_header_bytes);
  const unsigned long long told = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (told == ZSTD_CONTENTSIZE_ERROR || told == ZSTD_CONTENTSIZE_UNKNOWN || told != size)
    return refuse("what is compressed does not say what the header says");
  // Which also means that the frame is whole, and that nothing is behind it.
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size())
    return refuse("what is compressed ends early, or goes on too long");
  if (window_bytes(frame).value_or(0) > content_window_bytes_max)
    return refuse("what is compressed asks for too much memory");
  Envelope out{static_cast<ContentKind>(kind), std::vector<std::uint8_t>(size)};
  const std::size_t got = ZSTD_decompress(out.layout.data(), out.layout.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != size) return refuse("what is compressed is damaged");
  return out;
}

}  // namespace ashlar
