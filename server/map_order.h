#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ashlar::server {

/// Where the secret exit of one of Doom's maps leads: MAP15 to MAP31, E1M3 to E1M9 and so on. Empty: it has
/// none.
std::string_view secret_exit_of(std::string_view map);

/// Is a line special an exit to a secret map? (Doom's 51 and 124, Boom's 198.)
bool is_secret_exit(std::uint16_t special);

/// Which map is played after that at `at`: the next of the list, behind the last one the first. A secret exit
/// leads to its secret map where the list has that, and from there one goes on behind the map that led there,
/// as in Doom.
/// @param names  at least one
/// @param skip_secret  maps that only secret exits lead to are no part of the round
std::size_t next_in_order(std::span<const std::string> names, std::size_t at, bool secret, bool skip_secret);

}  // namespace ashlar::server
