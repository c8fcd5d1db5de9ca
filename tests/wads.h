#pragma once
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "world/content/wad.h"
#include "world/content/wad_folders.h"

// The WADs that tests and benchmarks share with whoever has them installed.

namespace ashlar::testing {

/// Empty where there is no such file. At once, as a WAD has tens of millions of bytes.
inline std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return {};
  std::vector<std::uint8_t> bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

/// A WAD by name from the usual places, or nothing. Throws on one that cannot be read.
inline std::optional<WadStack> find_wad(const std::string& name) {
  const auto folders = wad_folders(std::getenv("DOOMWADDIR"), std::getenv("DOOMWADPATH"));
  for (const std::string& path : wad_files(name, folders)) {
    auto bytes = read_bytes(path);
    if (bytes.empty()) continue;
    auto wad = open_wad(std::move(bytes), name);
    if (!wad) throw std::runtime_error(wad.error().line());
    WadStack stack;
    stack.files.push_back(std::move(*wad));
    return stack;
  }
  return std::nullopt;
}

}  // namespace ashlar::testing
