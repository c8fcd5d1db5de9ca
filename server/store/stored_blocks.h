#pragma once
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "world/voxel/block_registry.h"

namespace ashlar::server {

/// A world's kinds of blocks as its database keeps them: their bytes (protocol/block_kinds.h) and a hash over
/// those, in hexadecimal digits.
std::string stored_blocks_text(const BlockRegistry& kinds);

/// The same back. An empty text, of worlds from before kinds were kept, is the built-in ones.
/// @return or half a sentence about what is wrong
std::expected<std::shared_ptr<const BlockRegistry>, std::string> read_stored_blocks(std::string_view text);

/// The kinds that a world goes on with: those of its file where one was given, else those that are kept.
/// @param given  null: no file was given
/// @param kept   null: it is a new world, or one from before kinds were kept
/// @return or half a sentence that names the first block which would become another one
std::expected<std::shared_ptr<const BlockRegistry>, std::string> settle_blocks(
    const std::shared_ptr<const BlockRegistry>& given, const std::shared_ptr<const BlockRegistry>& kept);

}  // namespace ashlar::server
