#pragma once
#include <string_view>

namespace ashlar {

/// The map that is built in, as UDMF text: the default world where no WAD is to be had.
std::string_view builtin_map_text();
inline constexpr std::string_view builtin_map_name = "COURTYARD";

}  // namespace ashlar
