#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/config_file.h"

// A world's own file, world.toml: settings that make it this world, and a last line that proves that all
// before it is as the server wrote it. A file that was cut or damaged must never become another world.

namespace ashlar::server {

/// Appends the last line: a hash of everything before it. @param text  ends with a newline
std::string seal_world_text(std::string text);

/// What a world.toml says, and how far it is to be believed.
struct WorldFile {
  std::vector<FileValue> values;
  /// Of the format before check lines: whole as far as can be told, which is not far.
  bool unchecked = false;
  /// The text with its check line made anew, to be written; empty: what is there is right.
  std::string resealed;
};

/// Checks and parses. @param name    what errors call the text
/// @param accept  takes a text whose check line is wrong or missing, as an operator says that it is right
/// @return or one line with the remedy
std::expected<WorldFile, std::string> parse_world_file(std::string_view text, const std::string& name,
                                                       bool accept);

}  // namespace ashlar::server
