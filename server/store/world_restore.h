#pragma once
#include <expected>
#include <string>
#include <vector>

#include "server/store/sqlite.h"

// A backup takes the place of a world (`ashlar-server world restore`).

namespace ashlar::server {

struct RestoreOptions {
  bool replace = false;            ///< the folder holds a world, in which nobody plays: it is put aside
  bool with_settings = false;      ///< bans.toml and server.toml are the backup's, not those that are there
  OpenMode mode = OpenMode::read;  ///< how the backup's database is read: read, or read_still
};

struct Restored {
  std::string aside;              ///< where the world before is; empty: there was none
  std::vector<std::string> kept;  ///< of its files that say who may come in those that stay
};

/// Puts a backup where a world is to be: copied beside it under another name (DIR.restoring) and named last,
/// so that at every moment what is there is whole, or restore_cut_off() says what is left to do. Where the
/// folder cannot be moved (a mount point, a parent that may not be written) all goes on within it, by
/// DIR/.restoring and DIR/before-restore. A link stays, and what it leads to is meant. The world's server.key
/// and backups stay.
/// @param dir  not there yet, free_to_restore(), or (with `replace`) a world that the caller has locked
/// @return or one line
std::expected<Restored, std::string> restore_world(const std::string& from, const std::string& dir,
                                                   const RestoreOptions& options);
/// Brings a restore within a folder to its end that was cut off when all was copied, or forgets it where the
/// world before is still whole. @return was there one to end? Or one line
std::expected<bool, std::string> finish_restore(const std::string& dir);

/// Does a folder hold nothing, but for what a restore within it that was cut off, or its disk, left there?
bool free_to_restore(const std::string& dir);
/// A folder's name without a slash behind it, and what a link leads to in its place.
std::string real_folder(const std::string& dir);
/// One line where a folder holds no world because a restore was cut off, or the world that was put aside for
/// one is still there: a new world must not take its place unasked. Empty: neither, or there is a world.
std::string restore_cut_off(const std::string& dir);

}  // namespace ashlar::server
