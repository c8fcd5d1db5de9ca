#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace ashlar::client_sim {

inline constexpr std::size_t file_bytes_max = std::size_t{512} << 20;

/// A whole file (or what comes through a pipe of that name), at most file_bytes_max.
/// @return or one line that names the file and why it cannot be read
std::expected<std::vector<std::uint8_t>, std::string> read_file(const std::string& path);

}  // namespace ashlar::client_sim
