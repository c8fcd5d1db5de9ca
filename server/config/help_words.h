#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ashlar::server {

/// Breaks text into lines of at most `width` characters, each after `indent` spaces but the first; blanks in
/// a row become one.
std::string wrapped_text(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace ashlar::server
