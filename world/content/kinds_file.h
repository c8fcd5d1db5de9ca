#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "world/content/content_error.h"
#include "world/sim/kinds.h"

namespace ashlar {

inline constexpr std::size_t kinds_file_bytes_max = 256 * 1024;

/// Those of a file's names. Any: of recordings, as names might once have others, which became '?'.
enum class KindsLetters : std::uint8_t { ascii, any };

/// Reads kinds of monsters and projectiles from TOML (docs/kinds.md): tables [monster.NAME] and
/// [projectile.NAME] change ours of that name, or add one that begins like another (`like`). What a table
/// does not say stays. Refused with file, line and reason: what is no TOML, an unknown key, kind or form, a
/// value of another type or out of bounds, more kinds than fit.
/// @param source  the file as the operator named it
std::expected<std::shared_ptr<const KindSet>, ContentError> read_kinds(
    std::string_view text, const std::string& source, KindsLetters letters = KindsLetters::ascii);

/// All kinds of a set as such a file: read_kinds() of it makes the same set.
std::string kinds_text(const KindSet& kinds);

}  // namespace ashlar
