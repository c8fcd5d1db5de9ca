#include "world/content/wad_folders.h"

#include <algorithm>
#include <string_view>

#include "world/math/ascii.h"

namespace ashlar {
namespace {

void add_folders(std::vector<std::string>& folders, std::string_view list) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    if (end > at) folders.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

std::vector<std::string> wad_folders(const char* doomwaddir, const char* doomwadpath) {
  std::vector<std::string> folders;
  if (doomwaddir != nullptr && *doomwaddir != 0) folders.emplace_back(doomwaddir);
  if (doomwadpath != nullptr) add_folders(folders, doomwadpath);
  add_folders(folders,
              "/usr/local/share/games/doom:/usr/share/games/doom:/usr/local/share/doom:/usr/share/doom");
  return folders;
}

std::vector<std::string> wad_files(const std::string& name, std::span<const std::string> folders) {
  std::vector<std::string> files{name};
  if (name.find('/') != std::string::npos) return files;
  std::vector<std::string> spellings{name, lower_ascii(name), upper_ascii(name)};
  if (!lower_ascii(name).ends_with(".wad")) {
    spellings.push_back(name + ".wad");
    spellings.push_back(lower_ascii(name) + ".wad");
    spellings.push_back(upper_ascii(name) + ".WAD");
  }
  for (const std::string& folder : folders)
    for (const std::string& spelling : spellings)
      files.push_back(folder + (folder.ends_with('/') ? "" : "/") + spelling);
  return files;
}

}  // namespace ashlar
