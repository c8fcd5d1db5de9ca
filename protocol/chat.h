#pragma once
#include <cstdint>

namespace ashlar {

/// Lines of chat that the server keeps for a client until it confirms them; when full the oldest is given up.
/// A line with number n says therefore that lines up to n - chat_lines_waiting_max will not come any more.
inline constexpr std::uint32_t chat_lines_waiting_max = 16;

}  // namespace ashlar
