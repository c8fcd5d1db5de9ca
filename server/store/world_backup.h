#pragma once
#include <cstdint>
#include <ctime>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/sqlite.h"

// Copies of a kept world: by hand (`ashlar-server world backup`), and by themselves with a date as their
// name.

namespace ashlar::server {

/// Copies a world as of one moment, also while a server plays on in it: database, world.toml, server.toml and
/// bans.toml, not the secret server.key; each file with who may read it. A folder that is made for it, or was
/// empty, is left as it was on failure. Takes as long as a disk does; any thread.
/// @param to  is made, and locked meanwhile (WorldLock)
/// @return or one line that names the file, the reason and the remedy: also where the folder is not empty,
/// another backup goes there, or the world's database or world.toml is not there
/// @param mode  how its database is read: read, or read_still
std::expected<void, std::string> back_up_world(const std::string& from, const std::string& to,
                                               OpenMode mode = OpenMode::read);

/// The same where the caller has made the folder, which is empty, and holds it.
std::expected<void, std::string> fill_backup(const std::string& from, const std::string& to, OpenMode mode);
/// Copies a small file of a world's folder, with who may read it; one that is not there needs no copy.
std::expected<void, std::string> copy_beside(const std::string& from, const std::string& to);

/// A folder's name without a slash behind it; one that is there and was named as "." or ".." by its whole
/// path.
std::string named_folder(const std::string& dir);

/// The name of a backup of that time (UTC): "20301231-235959".
std::string backup_name(std::time_t unix_s);
/// Is it one of those?
bool is_backup_name(std::string_view name);

/// Is it the name of one that is being made, or was cut off?
bool is_half_backup(const std::string& dir);

/// When the newest of a folder's dated backups was made (Unix, s), damaged ones included, but for those of a
/// clock that was ahead of `now_s`. None: there is none.
std::optional<std::time_t> newest_backup_s(const std::string& folder, std::time_t now_s);

/// Removes what backups that were cut off left half-made in a folder. @return their paths
std::vector<std::string> remove_half_backups(const std::string& folder);
/// Are the settings and bans of a world as its backup has them? Says nothing of its database.
bool same_settings(const std::string& world_dir, const std::string& backup);

/// A backup that was made by itself.
struct DatedBackup {
  std::string path;
  std::uint64_t faults = 0;  ///< that reading all of it has shown; the world has them, too
};
/// Makes the backup of this moment in a folder, which is made where it is absent but for the one it lies in,
/// under another name until it is whole and all of it was read. Then the oldest backups there go until no
/// more than `keep` are left, this one among them, and what a start that was cut off left half-made. One that
/// has faults is named NAME.damaged, and only the one before it that is named so goes: none that is whole.
/// One in which a server runs stays, and so does all else in the folder. The oldest are those by their names,
/// behind those of a clock that was ahead of this moment.
/// @param keep  at least 1
/// @return or one line that names file, reason and remedy: also where the world is not there any more
std::expected<DatedBackup, std::string> make_dated_backup(const std::string& world_dir,
                                                          const std::string& folder, std::time_t unix_s,
                                                          std::uint32_t keep);

}  // namespace ashlar::server
