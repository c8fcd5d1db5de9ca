#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "world/content/content_error.h"
#include "world/voxel/block_registry.h"

namespace ashlar {

inline constexpr std::size_t block_file_bytes_max = std::size_t{1} << 20;

/// Reads kinds of blocks from a TOML text of [[block]] tables (docs/blocks.md). A table with the name of a
/// built-in kind says what is different about it; every other one adds a kind behind those, in the order of
/// the file, so that a new kind belongs at its end.
/// @param name  what errors call the text
/// @return the built-in kinds with what the text says, or an error with the line that is wrong
std::expected<BlockRegistry, ContentError> read_block_file(std::string_view text, const std::string& name);

}  // namespace ashlar
