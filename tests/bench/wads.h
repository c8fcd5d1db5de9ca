#pragma once
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "world/content/wad.h"

namespace ashlar::bench {

/// A WAD by name from DOOMWADDIR or the usual places; nothing where none of them holds one that can be read.
inline std::optional<WadStack> find_wad(const char* name) {
  std::vector<std::string> folders;
  if (const char* dir = std::getenv("DOOMWADDIR")) folders.emplace_back(dir);
  folders.insert(folders.end(), {"/usr/share/games/doom", "/usr/local/share/games/doom", "/usr/share/doom"});
  for (const std::string& folder : folders) {
    std::ifstream file(folder + "/" + name, std::ios::binary);
    if (!file) continue;
    auto wad = open_wad({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, name);
    if (!wad) continue;
    WadStack stack;
    stack.files.push_back(std::move(*wad));
    return stack;
  }
  return std::nullopt;
}

}  // namespace ashlar::bench
