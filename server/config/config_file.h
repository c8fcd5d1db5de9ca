#pragma once
#include <cstddef>
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

/// Of world.toml. Since 2 it ends in a check line (world_file.h); 1 is read as well.
inline constexpr std::uint32_t world_format = 2;

inline constexpr std::size_t settings_bytes_max = 1024 * 1024;

/// Checks syntax, keys and types. @param name  what errors call the text
/// @return or one line that names file, line and key, with the nearest key to an unknown one
std::expected<std::vector<FileValue>, std::string> parse_settings(std::string_view text,
                                                                  const std::string& name, FileKind kind);

/// The same of a file; at most settings_bytes_max.
std::expected<std::vector<FileValue>, std::string> read_settings(const std::string& path, FileKind kind);

/// First line of the server.toml that is written when a world is made: it tells a folder whose world.toml was
/// lost from one that an operator filled for a world to come.
inline constexpr std::string_view made_with_world =
    "# Made with the world whose world.toml stands beside it.";

/// How write_settings treats what it writes.
struct WriteStyle {
  FileKind kind = FileKind::settings;
  bool commented_out = false;            ///< keys as examples, for a file that a human will fill in
  bool in_world = false;                 ///< begins with made_with_world
  std::span<const std::string> origins;  ///< where each setting came from, told in its comment; may be empty
};

/// A TOML file with a comment on every key; parse_settings reads the same values back.
std::string write_settings(const Config& config, const WriteStyle& style);

}  // namespace ashlar::server
