#pragma once
#include <span>
#include <string>
#include <vector>

// Where WADs usually lie. Names only: whether a file is there is the caller's to see.

namespace ashlar {

/// The WAD that is taken where none is named.
inline constexpr const char* default_wad = "freedoom2.wad";

/// Where WADs that are named without a folder are looked for, in this order: the value of DOOMWADDIR, each of
/// DOOMWADPATH's (parted by colons), then where distributions put them. Null or empty: not set.
std::vector<std::string> wad_folders(const char* doomwaddir, const char* doomwadpath);

/// Files that a WAD's name may mean, in the order in which they are tried: itself, then in each folder the
/// name as given, in lower and in upper case, and with .wad added. A name with a folder means itself alone.
std::vector<std::string> wad_files(const std::string& name, std::span<const std::string> folders);

}  // namespace ashlar
