#include "server/store/world_backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "server/bans/ban_file.h"
#include "server/config/file.h"
#include "server/config/owner_remedy.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_check.h"
#include "server/store/world_lock.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t world_file_bytes_max = ban_file_bytes_max;
/// world.toml comes last: it is what makes the folder a world.
constexpr std::array beside_store{ban_file_name, "server.toml", "world.toml"};
constexpr std::string_view unfinished = ".part", with_faults = ".damaged";

}  // namespace

std::expected<void, std::string> copy_beside(const std::string& from, const std::string& to) {
  struct stat what{};
  if (::stat(from.c_str(), &what) != 0) return {};
  const auto text = read_file(from, world_file_bytes_max);
  if (!text) return std::unexpected(text.error());
  // Nobody else's before it has its mode: world.toml has the secret seed.
  if (const int made = ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
      made >= 0)
    ::close(made);
  int error = write_file(to, *text);
  if (error == 0 && ::chmod(to.c_str(), what.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) != 0) error = errno;
  if (error != 0)
    return std::unexpected("cannot write " + to + ": " + std::generic_category().message(error) +
                           owner_remedy(to, error));
  return {};
}

namespace {

std::expected<void, std::string> copy_world(const fs::path& from, const fs::path& to, OpenMode mode) {
  if (auto copied = copy_store((from / store_name).string(), (to / store_name).string(), mode); !copied)
    return std::unexpected(copied.error().line);
  for (const char* name : beside_store)
    if (auto copied = copy_beside((from / name).string(), (to / name).string()); !copied) return copied;
  // Without it the copy is no world.
  std::error_code ignored;
  if (fs::exists(to / "world.toml", ignored)) return {};
  return std::unexpected((from / "world.toml").string() +
                         " is not there: put it back, or restore the world from a backup");
}

std::expected<void, std::string> make_folder(const fs::path& folder, bool& made) {
  std::error_code error;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  if (!error) made = fs::create_directory(folder, error);
  if (!error) return {};
  return std::unexpected("cannot make " + folder.string() + ": " + error.message() +
                         owner_remedy(folder.string(), error.value()));
}

}  // namespace

std::expected<void, std::string> fill_backup(const std::string& from, const std::string& to, OpenMode mode) {
  std::error_code error;
  if (!fs::is_empty(to, error))
    return std::unexpected(to + " is not empty: name a folder that is not there yet");
  auto copied = copy_world(from, to, mode);
  if (copied) return {};
  fs::remove(fs::path(to) / store_name, error);
  for (const char* name : beside_store) fs::remove(fs::path(to) / name, error);
  return copied;
}

std::expected<void, std::string> back_up_world(const std::string& from, const std::string& to,
                                               OpenMode mode) {
  // Without a trailing slash, whose folder would be there before it is made.
  const fs::path folder = named_folder(to);
  bool made = false;
  if (auto good = make_folder(folder, made); !good) return good;
  // Of two that go to one place one has it, and the other touches nothing there.
  const auto lock = WorldLock::take(folder.string());
  if (!lock)
    return std::unexpected(folder.string() +
                           " is in use: another backup goes there, or a server runs in it: name another");
  auto copied = fill_backup(from, folder.string(), mode);
  std::error_code ignored;
  if (!copied && made) fs::remove(folder, ignored);  // where it is empty
  return copied;
}

std::string named_folder(const std::string& dir) {
  if (dir.empty()) return dir;
  const fs::path plain = fs::path(dir + "/.").lexically_normal().parent_path();
  const fs::path last = plain.filename();
  if (!last.empty() && last != "." && last != "..") return plain.string();
  // A folder that is named by where one stands has a name of its own, which it can be moved by.
  std::error_code error;
  const fs::path whole = fs::canonical(dir, error);
  return error ? plain.string() : whole.string();
}

std::string backup_name(std::time_t unix_s) {
  std::tm utc{};
  ::gmtime_r(&unix_s, &utc);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &utc);
  return {text, size};
}

bool is_backup_name(std::string_view name) {
  if (name.size() != 15 || name[8] != '-') return false;
  return std::ranges::count_if(name, [](char c) { return c >= '0' && c <= '9'; }) == 14;
}

namespace {

/// Is it the name of a backup with that ending behind it?
bool is_dated(std::string_view name, std::string_view ending) {
  return name.ends_with(ending) && is_backup_name(name.substr(0, name.size() - ending.size()));
}

}  // namespace

bool is_half_backup(const std::string& dir) {
  return is_dated(fs::path(named_folder(dir)).filename().string(), unfinished);
}

std::optional<std::time_t> newest_backup_s(const std::string& folder, std::time_t now_s) {
  std::string newest;
  const std::string present = backup_name(now_s);
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!is_dated(name, "") && !is_dated(name, with_faults)) continue;
    std::string time = name.substr(0, present.size());
    if (time <= present && time > newest) newest = std::move(time);
  }
  std::tm utc{};
  if (newest.empty() || ::strptime(newest.c_str(), "%Y%m%d-%H%M%S", &utc) == nullptr) return std::nullopt;
  return ::timegm(&utc);
}

std::vector<std::string> remove_half_backups(const std::string& folder) {
  std::vector<std::string> removed;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const bool half = is_dated(entry.path().filename().string(), unfinished);
    if (half && fs::remove_all(entry.path(), error) > 0 && !error) removed.push_back(entry.path().string());
  }
  return removed;
}

bool same_settings(const std::string& world_dir, const std::string& backup) {
  return std::ranges::all_of(beside_store, [&](const char* name) {
    std::error_code error;
    const fs::path here = fs::path(world_dir) / name, there = fs::path(backup) / name;
    if (!fs::exists(here, error)) return !fs::exists(there, error) && !error;
    const auto now = read_file(here.string(), world_file_bytes_max);
    return now.has_value() && now == read_file(there.string(), world_file_bytes_max);
  });
}

namespace {

/// The backups in a folder whose names end so behind their time, the oldest first. Those whose names are
/// ahead of the present one are of a clock that was ahead, and older than it: they come first.
std::vector<std::string> backups_in(const std::string& folder, const std::string& present,
                                    std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (std::string name = at->path().filename().string(); is_dated(name, ending))
      names.push_back(std::move(name));
  std::ranges::sort(names);
  std::ranges::rotate(names, std::ranges::upper_bound(names, present + std::string(ending)));
  return names;
}

/// Removes a backup in which no server runs, and from which no world is restored.
void remove_backup(const fs::path& backup) {
  const auto lock = WorldLock::take(backup.string());
  std::error_code error;
  if (lock) fs::remove_all(backup, error);
}

/// Makes a folder in one that is there. Where a world is gone none is made again that holds backups alone.
std::expected<void, std::string> make_folder_in(const fs::path& folder) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (!error) return {};
  return std::unexpected("cannot make " + folder.string() + ": " + error.message() +
                         owner_remedy(folder.string(), error.value()));
}

}  // namespace

std::expected<DatedBackup, std::string> make_dated_backup(const std::string& world_dir,
                                                          const std::string& folder, std::time_t unix_s,
                                                          std::uint32_t keep) {
  ASHLAR_ASSERT(keep >= 1);
  if (auto good = make_folder_in(folder); !good) return std::unexpected(good.error());
  std::error_code error;
  remove_half_backups(folder);
  const std::string name = backup_name(unix_s);
  fs::path path = fs::path(folder) / name;
  const fs::path part = fs::path(folder) / (name + std::string(unfinished));
  if (fs::exists(path, error)) return DatedBackup{path.string()};
  if (auto copied = back_up_world(world_dir, part.string()); !copied) return std::unexpected(copied.error());
  // A world that was torn is copied as it is, and must not push out those that are whole.
  const auto check = check_store((part / store_name).string(), OpenMode::read_still);
  if (!check) {
    fs::remove_all(part, error);
    return std::unexpected(check.error().line);
  }
  const bool whole = check->faults == 0;
  const std::vector<std::string> older = backups_in(folder, name, whole ? std::string_view() : with_faults);
  if (!whole) path += with_faults;
  fs::rename(part, path, error);
  if (error) return std::unexpected("cannot name " + path.string() + ": " + error.message());
  const std::size_t left = whole ? keep : 1;
  for (std::size_t i = 0; i + left <= older.size(); ++i) remove_backup(fs::path(folder) / older[i]);
  return DatedBackup{path.string(), check->faults};
}

}  // namespace ashlar::server
