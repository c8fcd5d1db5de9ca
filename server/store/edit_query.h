#pragma once
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "world/math/vec.h"

namespace ashlar::server {

/// Blocks from one corner to the other, both included.
struct EditArea {
  IVec3 low, high;
  bool contains(IVec3 b) const {
    return b.x >= low.x && b.x <= high.x && b.y >= low.y && b.y <= high.y && b.z >= low.z && b.z <= high.z;
  }
};
inline constexpr std::int32_t edit_radius_m_max = 512;

/// Who changes blocks and is no player: nobody (it fell, or a rule did it), and console and commands.
inline constexpr std::string_view world_author = "@world", operator_author = "@operator";
inline bool is_no_player(std::string_view author) {
  return author == world_author || author == operator_author;
}

/// Which edits of the log are asked for: those that everything here fits.
struct EditQuery {
  /// A name, an identity in 64 hexadecimal digits, world_author or operator_author.
  std::optional<std::string> player = {};
  std::int64_t since_s = 0;  ///< Unix time, included
  std::int64_t until_s = std::numeric_limits<std::int64_t>::max();
  std::optional<EditArea> area = {};
  std::uint64_t limit = 0;  ///< the newest so many; 0: all
};

/// "X,Y,R": all within R metres to each side, whatever their height. "X,Y,Z,R": to above and below, too.
/// @param radius_m_max  the most that R may be; @return or what is wrong with it
std::expected<EditArea, std::string> parse_edit_area(std::string_view text,
                                                     std::int32_t radius_m_max = edit_radius_m_max);

/// A span back from now (10m, 2h, 3d), or a UTC time. Unix time in seconds.
std::expected<std::int64_t, std::string> parse_past_s(std::string_view text, std::int64_t now_s);

}  // namespace ashlar::server
