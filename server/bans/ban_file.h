#pragma once
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

#include "server/bans/ban_list.h"

// A list of bans as a file, for people and for the server:
//
//   [[ban]]
//   key = "ashlar-public-..."          or token = "ID", or address = "192.0.2.0/24"
//   name = "Griefer"                   this and all that follows may be left out
//   reason = "dug the bridge away"
//   by = "console"
//   since = "2030-01-31T12:00:00Z"
//   until = "2030-02-28T12:00:00Z"     without it: for ever

namespace ashlar::server {

/// In a world's folder.
inline constexpr const char* ban_file_name = "bans.toml";
inline constexpr std::size_t ban_file_bytes_max = std::size_t{8} << 20;

/// All bans of a text, those that are over among them.
/// @param name  of the file
/// @return or one line: "NAME:LINE: what is wrong and what would do"
std::expected<BanList, std::string> parse_bans(std::string_view text, const std::string& name);

/// As parse_bans() reads it back.
std::string bans_text(const BanList& bans);

/// A list with the very text that it was read from.
struct BanFile {
  BanList bans;
  std::string text;
};

/// A file that is not there bans nobody. May wait for the disk.
/// @return or one line that names the file, the line and the remedy
std::expected<BanFile, std::string> read_ban_file(const std::string& path);

}  // namespace ashlar::server
