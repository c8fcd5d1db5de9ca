#include "server/store/world_restore.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "server/bans/ban_file.h"
#include "server/config/owner_remedy.h"
#include "server/store/sqlite_store.h"
#include "server/store/world_backup.h"
#include "server/store/world_lock.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;
using Step = std::expected<void, std::string>;

constexpr const char* own_file = "world.toml";  // what makes a folder a world: goes first, comes last
// Within a folder that stays in its place: what is being copied, all of it, and what of it is not in its
// place yet. The name says how far a restore came.
constexpr const char* copying = ".restoring";
constexpr const char* copied_all = ".restored";
constexpr const char* moving_in = ".entering";
constexpr const char* moving_out = ".before";  // the world before, as far as it was put aside
constexpr const char* aside_inside = "before-restore";

bool there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// Names that were given in a folder are there after a power cut.
void sync_names_in(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

fs::path parent_of(const std::string& folder) {
  std::error_code error;
  return fs::absolute(folder, error).parent_path();
}

Step move_path(const fs::path& what, const fs::path& where) {
  std::error_code error;
  fs::rename(what, where, error);
  if (!error) return {};
  return std::unexpected("cannot move " + what.string() + " to " + where.string() + ": " + error.message() +
                         owner_remedy(what.parent_path().string(), error.value()));
}

/// Is it a folder that cannot get another name: something is mounted there, as a container's volumes are, or
/// its parent takes no names?
bool stays_in_place(const std::string& folder) {
  struct statx what{};
  if (::statx(AT_FDCWD, folder.c_str(), 0, STATX_INO, &what) != 0 || !S_ISDIR(what.stx_mode)) return false;
  const fs::path parent = parent_of(folder);
  if (::access(parent.c_str(), W_OK | X_OK) != 0) return true;
  if ((what.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0)
    return (what.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  struct statx above{};  // kernels before 5.8
  return ::statx(AT_FDCWD, parent.c_str(), 0, STATX_INO, &above) == 0 &&
         (above.stx_dev_major != what.stx_dev_major || above.stx_dev_minor != what.stx_dev_minor);
}

/// The first of NAME, NAME-2, NAME-3, ... that is not there.
std::string free_name(const std::string& first) {
  std::string free = first;
  for (int number = 2; there(free); ++number) free = first + "-" + std::to_string(number);
  return free;
}

/// What stays of the world before, which still lies in `to`, is added to the copy.
std::expected<std::vector<std::string>, std::string> add_kept(const fs::path& to, const fs::path& part,
                                                              const RestoreOptions& options) {
  std::vector<std::string> kept;
  std::error_code error;
  // Who knew the server by its key still does.
  if (const fs::path key = to / "server.key"; there(key)) {
    fs::copy_file(key, part / "server.key", error);
    if (error) return std::unexpected("cannot copy " + key.string() + ": " + error.message());
  }
  // Who was banned since the backup was made stays out, and who was shut out by a setting.
  for (const char* name : {ban_file_name, "server.toml"}) {
    if (options.with_settings || !there(to / name)) continue;
    fs::remove(part / name, error);
    if (auto copied = copy_beside((to / name).string(), (part / name).string()); !copied)
      return std::unexpected(copied.error());
    kept.emplace_back(name);
  }
  return kept;
}

/// The copy takes the world's name, and that one another.
Step swap_folders(const std::string& part, const std::string& to, const std::string& aside) {
  if (!aside.empty())
    if (auto moved = move_path(to, aside); !moved) return moved;
  if (auto moved = move_path(part, to); !moved) {
    std::error_code ignored;
    if (!aside.empty()) fs::rename(aside, to, ignored);
    return moved;
  }
  // They are of this world as much as of the one before, and dated ones go on being made among them.
  const fs::path backups = fs::path(aside) / "backups";
  if (!aside.empty() && there(backups)) {
    if (auto moved = move_path(backups, fs::path(to) / "backups"); !moved)
      return std::unexpected("the world is restored, but its backups are still in " + backups.string() +
                             ": move them to " + to + " (" + moved.error() + ")");
    sync_names_in(to);
  }
  sync_names_in(parent_of(to));
  return {};
}

/// Is it of the world that is put aside? Not what a restore makes, the disk's own, and backups.
bool is_put_aside(const fs::path& entry) {
  const std::string name = entry.filename().string();
  for (const char* stays : {copying, copied_all, moving_in, moving_out, "backups", "lost+found"})
    if (name == stays) return false;
  return !name.starts_with(aside_inside) && !there(entry / own_file);
}

/// The entries of a folder by their names, world.toml first.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  std::ranges::sort(entries, [](const fs::path& a, const fs::path& b) {
    const bool a_later = a.filename() != own_file, b_later = b.filename() != own_file;
    return a_later != b_later ? b_later : a < b;
  });
  return entries;
}

/// The world before is put aside. What of it was already, by one that was cut off, stays there.
Step move_out(const fs::path& to) {
  std::vector<fs::path> entries = entries_of(to);
  std::erase_if(entries, [](const fs::path& entry) { return !is_put_aside(entry); });
  if (entries.empty()) return {};
  const fs::path before = to / moving_out;
  std::error_code error;
  fs::create_directory(before, error);
  if (error) return std::unexpected("cannot make " + before.string() + ": " + error.message());
  for (const fs::path& entry : entries) {
    if (auto moved = move_path(entry, before / entry.filename()); !moved) return moved;
    if (entry.filename() == own_file) sync_names_in(to);  // from now on it is no world
  }
  sync_names_in(before);
  sync_names_in(to);
  return {};
}

/// What was copied comes to its place.
Step move_in(const fs::path& to) {
  std::vector<fs::path> entries = entries_of(to / moving_in);
  std::ranges::reverse(entries);
  for (const fs::path& entry : entries) {
    if (entry.filename() == own_file) sync_names_in(to);  // all else is there
    if (auto moved = move_path(entry, to / entry.filename()); !moved) return moved;
  }
  std::error_code ignored;
  fs::remove(to / moving_in, ignored);
  sync_names_in(to);
  return {};
}

/// From where all is copied to the end, also of one that was cut off on the way. @return where the world
/// before is
std::expected<std::string, std::string> swap_inside(const fs::path& to) {
  std::string aside;
  if (there(to / copied_all)) {
    if (auto out = move_out(to); !out) return std::unexpected(out.error());
    if (there(to / moving_out)) {
      aside = free_name((to / aside_inside).string());
      if (auto named = move_path(to / moving_out, aside); !named) return std::unexpected(named.error());
    }
    if (auto named = move_path(to / copied_all, to / moving_in); !named)
      return std::unexpected(named.error());
    sync_names_in(to);
  }
  if (auto in = move_in(to); !in) return std::unexpected(in.error());
  return aside;
}

/// All of the backup and what stays is in `part`, which the caller has locked; or nothing.
std::expected<std::vector<std::string>, std::string> copy_to_part(const std::string& from,
                                                                  const std::string& to,
                                                                  const std::string& part,
                                                                  const RestoreOptions& options) {
  std::error_code error;
  for (const fs::path& left : entries_of(part)) fs::remove_all(left, error);  // of one that was cut off
  auto copied = fill_backup(from, part, options.mode);
  if (!copied) return std::unexpected(copied.error());
  auto kept = add_kept(to, part, options);
  sync_names_in(part);
  return kept;
}

}  // namespace

std::string real_folder(const std::string& dir) {
  std::error_code error;
  std::string at = named_folder(dir);
  // One that leads nowhere, too: what it led to may have been put aside by a restore that was cut off.
  for (int links = 0; links < 40 && fs::is_symlink(at, error); ++links) {
    const fs::path target = fs::read_symlink(at, error);
    if (error) break;
    at = named_folder((fs::path(at).parent_path() / target).string());
  }
  return at;
}

std::expected<Restored, std::string> restore_world(const std::string& from, const std::string& dir,
                                                   const RestoreOptions& options) {
  const std::string to = real_folder(dir);
  const bool inside = stays_in_place(to);
  const std::string part = inside ? (fs::path(to) / copying).string() : to + copying;
  std::optional<WorldLock> held;  // so that no server begins where half of it is
  if (inside && !options.replace) {
    auto lock = WorldLock::take(to);
    if (!lock) return std::unexpected(lock.error());
    held.emplace(std::move(*lock));
  }
  std::error_code error;
  fs::create_directories(part, error);
  if (error)
    return std::unexpected("cannot make " + part + ": " + error.message() +
                           owner_remedy(part, error.value()));
  const auto lock = WorldLock::take(part);
  if (!lock) return std::unexpected(part + " is in use, another restore goes there: wait for it");
  auto kept = copy_to_part(from, to, part, options);
  Restored restored;
  Step done;
  if (kept && inside) {
    done = move_path(part, fs::path(to) / copied_all);
    sync_names_in(to);
    auto aside = done ? swap_inside(to) : std::unexpected(done.error());
    if (!aside) return std::unexpected(aside.error() + ": then restore it again, which goes on from there");
    restored.aside = std::move(*aside);
  } else if (kept) {
    if (options.replace) restored.aside = free_name(to + "." + aside_inside);
    done = swap_folders(part, to, restored.aside);
  }
  if (!kept || !done) {
    fs::remove_all(part, error);
    return std::unexpected(kept ? done.error() : kept.error());
  }
  restored.kept = std::move(*kept);
  return restored;
}

std::expected<bool, std::string> finish_restore(const std::string& dir) {
  const fs::path to = real_folder(dir);
  if (!there(to / copied_all) && !there(to / moving_in)) return false;
  const auto lock = WorldLock::take(to.string());
  if (!lock) return std::unexpected(lock.error());
  if (there(to / own_file)) {
    // Cut off before it moved anything, or after all was moved.
    std::error_code error;
    for (const char* left : {copied_all, moving_in}) fs::remove_all(to / left, error);
    return false;
  }
  if (auto aside = swap_inside(to); !aside) return std::unexpected(aside.error());
  return true;
}

bool free_to_restore(const std::string& dir) {
  return std::ranges::all_of(entries_of(real_folder(dir)), [](const fs::path& entry) {
    return entry.filename() == copying || entry.filename() == "lost+found";
  });
}

std::string restore_cut_off(const std::string& dir) {
  if (dir.empty() || there(fs::path(dir) / own_file)) return {};
  const fs::path to = real_folder(dir);
  const std::string part = to.string() + copying, aside = to.string() + "." + aside_inside;
  const std::string head = dir + " holds no world (world.toml): ";
  if (is_half_backup(dir))
    return head + "it is a backup that is being made, or was cut off: take another, the server removes it";
  const std::string backups = there(fs::path(aside) / "backups") && !there(to / "backups")
                                  ? "; its backups are in " + aside + "/backups"
                                  : "";
  if (there(to / copied_all) || there(to / moving_in))
    return head +
           "a restore was cut off when all was copied: do it again (ashlar-server world restore), which "
           "brings it to its end";
  if (there(fs::path(part) / own_file))
    return head + "a restore was cut off when all was copied: move " + part + " to " + dir +
           (there(dir) ? ", which is to be removed first" : "") + backups;
  if (there(part) || there(to / copying) || there(to / (std::string(store_name) + ".new")) ||
      (there(to / store_name) && there(aside)))
    return head + "a restore was cut off: do it again" +
           (there(aside) ? ", or move the world before, " + aside + ", back" : "");
  if (there(aside))
    return head + "the world that was there before a restore is " + aside +
           ": move it back, or restore it (ashlar-server world restore); to begin a new world name another "
           "folder";
  return {};
}

}  // namespace ashlar::server
