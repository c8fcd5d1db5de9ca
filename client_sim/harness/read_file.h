#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace ashlar::client_sim {

inline constexpr std::size_t file_bytes_max = std::size_t{512} << 20;

/// A whole regular file, behind links as well. Folders, pipes and devices are refused: a pipe would make its
/// reader wait for a writer.
/// @return or one line that names the file and why it cannot be read
std::expected<std::vector<std::uint8_t>, std::string> read_file(const std::string& path,
                                                                std::size_t bytes_max = file_bytes_max);

}  // namespace ashlar::client_sim
