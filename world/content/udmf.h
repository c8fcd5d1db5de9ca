#pragma once
#include <expected>
#include <string_view>

#include "world/bsp/sector_map.h"
#include "world/content/content_error.h"

namespace ashlar {

/// Reads UDMF text, the format that map editors write (Universal Doom Map Format 1.1): namespaces "doom" and
/// the geometry subset of "zdoom". Unknown blocks and fields are skipped, as the format asks.
/// Refused with the text's line: bad syntax, a missing required field, an index or coordinate out of range.
/// Cost: linear in the text.
std::expected<SectorMap, ContentError> parse_udmf(std::string_view text);

}  // namespace ashlar
