#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/settings.h"

namespace ashlar::server {

/// One key of a file, its type checked but not its range.
struct FileValue {
  std::size_t setting = 0;  ///< index into settings()
  RawValue raw;
  std::uint32_t line = 0;
};

/// world: a world's own world.toml, which holds the settings of the world alone and a format number.
enum class FileKind : std::uint8_t { settings, world };

inline constexpr std::uint32_t world_format = 1;

/// Checks syntax, keys and types. @param name  what errors call the text
/// @return or one line that names file, line and key, with the nearest key to an unknown one
std::expected<std::vector<FileValue>, std::string> parse_settings(std::string_view text,
                                                                  const std::string& name, FileKind kind);

/// The same of a file; at most a megabyte.
std::expected<std::vector<FileValue>, std::string> read_settings(const std::string& path, FileKind kind);

/// @return or one line that names the file and the reason
std::expected<std::string, std::string> read_text_file(const std::string& path, std::size_t bytes_max);

/// How write_settings treats what it writes.
struct WriteStyle {
  FileKind kind = FileKind::settings;
  bool commented_out = false;            ///< keys as examples, for a file that a human will fill in
  std::span<const std::string> origins;  ///< where each setting came from, told in its comment; may be empty
};

/// A TOML file with a comment on every key; parse_settings reads the same values back.
std::string write_settings(const Config& config, const WriteStyle& style);

}  // namespace ashlar::server
