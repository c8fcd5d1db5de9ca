#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "protocol/messages.h"

// What content travels in, and lies on the disk in, little-endian:
//
//   u32  content_magic
//   u8   content_format, u8 kind, u16 0
//   u32  bytes of the layout
//   ...  one zstd frame that says it holds as many, to the end; content_bytes_max (messages.h) with all
//   before

namespace ashlar {

inline constexpr std::uint32_t content_magic = 0x4e4f4341;  // "ACON"
/// Goes up with any change of a layout: what another version made is refused, and fetched anew.
inline constexpr std::uint8_t content_format = 1;
inline constexpr std::size_t content_header_bytes = 12;
/// Of the layout within.
inline constexpr std::size_t content_layout_bytes_max = std::size_t{16} << 20;
/// The window that a frame may ask for: what every reader of zstd has to support (RFC 8878, 3.1.1.1.2).
inline constexpr std::uint64_t content_window_bytes_max = std::uint64_t{8} << 20;

/// What a layout is of.
enum class ContentKind : std::uint8_t { map = 1, prop = 2 };

struct Envelope {
  ContentKind kind{};
  std::vector<std::uint8_t> layout;
};

/// Compresses. Refused, with a line: a layout above content_layout_bytes_max, a result above
/// content_bytes_max. Cost: about 0.3 s a MiB.
std::expected<std::vector<std::uint8_t>, std::string> pack(ContentKind kind,
                                                           std::span<const std::uint8_t> layout);

/// Bytes of the layout that content of any origin announces; 0: it has no header.
std::size_t announced_layout_bytes(std::span<const std::uint8_t> bytes);

/// Bytes of any origin to a layout, or a line that says what is wrong. Takes memory for what the header
/// announces, at most content_layout_bytes_max, and only when the frame announces the same and no more
/// window than content_window_bytes_max.
std::expected<Envelope, std::string> unpack(std::span<const std::uint8_t> bytes);

}  // namespace ashlar
