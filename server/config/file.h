#pragma once
#include <cstddef>
#include <expected>
#include <string>

namespace ashlar::server {

/// A whole regular file, behind links as well. Folders, pipes and devices are refused without opening them
/// for longer than it takes to see what they are: a pipe would make its reader wait for a writer.
/// @return or "cannot read PATH: reason", one line
std::expected<std::string, std::string> read_file(const std::string& path, std::size_t bytes_max);

/// Creates or empties the file, writes all of it and syncs. A file that could not be written whole is
/// removed. A pipe that nobody reads is an error. @return 0, or the error's number
int write_file(const std::string& path, const std::string& bytes);

}  // namespace ashlar::server
