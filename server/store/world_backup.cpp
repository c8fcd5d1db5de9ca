#include "server/store/world_backup.h"

#include <fcntl.h>
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
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t world_file_bytes_max = ban_file_bytes_max;
/// world.toml comes last: it is what makes the folder a world.
constexpr std::array beside_store{ban_file_name, "server.toml", "world.toml"};
constexpr std::string_view unfinished = ".part", restoring = ".restoring", before_restore = ".before-restore";

/// Copies a small file of the world's folder; one that is not there needs no copy.
std::expected<void, std::string> copy_beside(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  if (!fs::exists(from, ignored)) return {};
  const auto text = read_file(from.string(), world_file_bytes_max);
  if (!text) return std::unexpected(text.error());
  if (const int error = write_file(to.string(), *text); error != 0)
    return std::unexpected("cannot write " + to.string() + ": " + std::generic_category().message(error) +
                           owner_remedy(to.string(), error));
  return {};
}

std::expected<void, std::string> copy_world(const fs::path& from, const fs::path& to, OpenMode mode) {
  std::error_code ignored;
  if (const fs::path store = from / store_name; fs::exists(store, ignored))
    if (auto copied = copy_store(store.string(), (to / store_name).string(), mode); !copied)
      return std::unexpected(copied.error().line);
  for (const char* name : beside_store)
    if (auto copied = copy_beside(from / name, to / name); !copied) return copied;
  return {};
}

std::expected<void, std::string> make_folder(const fs::path& folder, bool& made) {
  std::error_code error;
  made = fs::create_directories(folder, error);
  if (!error) return {};
  return std::unexpected("cannot make " + folder.string() + ": " + error.message() +
                         owner_remedy(folder.string(), error.value()));
}

/// Names that were given in a folder are there after a power cut.
void sync_moves_in(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

std::expected<void, std::string> back_up_world(const std::string& from, const std::string& to,
                                               OpenMode mode) {
  bool made = false;
  if (auto good = make_folder(to, made); !good) return good;
  std::error_code error;
  ASHLAR_ASSERT(made || fs::is_empty(to, error));
  auto copied = copy_world(from, to, mode);
  if (copied) return {};
  fs::remove(fs::path(to) / store_name, error);
  for (const char* name : beside_store) fs::remove(fs::path(to) / name, error);
  if (made) fs::remove(to, error);
  return copied;
}

std::string beside_folder(const std::string& dir, std::string_view ending) {
  return fs::path(dir + "/.").lexically_normal().parent_path().string() + std::string(ending);
}

std::expected<void, std::string> restore_world(const std::string& from, const std::string& to,
                                               const std::string& aside, OpenMode mode) {
  const std::string part = beside_folder(to, restoring);
  std::error_code error;
  fs::remove_all(part, error);  // of one that was cut off
  auto copied = back_up_world(from, part, mode);
  // Who knew the server by its key still does.
  if (const fs::path key = fs::path(to) / "server.key"; copied && fs::exists(key, error)) {
    fs::copy_file(key, fs::path(part) / "server.key", error);
    if (error) copied = std::unexpected("cannot copy " + key.string() + ": " + error.message());
  }
  const auto move = [&](const std::string& what, const std::string& where) {
    fs::rename(what, where, error);
    if (error) copied = std::unexpected("cannot move " + what + " to " + where + ": " + error.message());
    return !error;
  };
  if (copied) {
    sync_moves_in(part);
    if ((aside.empty() || move(to, aside)) && !move(part, to) && !aside.empty()) {
      std::error_code ignored;
      fs::rename(aside, to, ignored);
    }
    sync_moves_in(fs::absolute(beside_folder(to, "")).parent_path());
  }
  if (!copied) fs::remove_all(part, error);
  return copied;
}

std::string restore_cut_off(const std::string& dir) {
  std::error_code error;
  const auto there = [&](const fs::path& path) { return fs::exists(path, error); };
  if (dir.empty() || there(fs::path(dir) / "world.toml")) return {};
  const std::string part = beside_folder(dir, restoring), aside = beside_folder(dir, before_restore);
  const std::string head = dir + " holds no world (world.toml): ";
  if (there(fs::path(part) / "world.toml"))
    return head + "a restore was cut off when all was copied: move " + part + " to " + dir +
           (there(dir) ? ", which is to be removed first" : "");
  if (there(part) || there(fs::path(dir) / (std::string(store_name) + ".new")) ||
      (there(fs::path(dir) / store_name) && there(aside)))
    return head + "a restore was cut off: do it again" +
           (there(aside) ? ", or move the world before, " + aside + ", back" : "");
  if (there(aside))
    return head + "the world that was there before a restore is " + aside +
           ": move it back, or restore it (ashlar-server world restore); to begin a new world name another "
           "folder";
  return {};
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

std::vector<std::string> remove_half_backups(const std::string& folder) {
  std::vector<std::string> removed;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool half =
        name.ends_with(unfinished) && is_backup_name(name.substr(0, name.size() - unfinished.size()));
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

std::expected<std::string, std::string> make_dated_backup(const std::string& world_dir,
                                                          const std::string& folder, std::time_t unix_s,
                                                          std::uint32_t keep) {
  ASHLAR_ASSERT(keep >= 1);
  bool made = false;
  if (auto good = make_folder(folder, made); !good) return std::unexpected(good.error());
  std::error_code error;
  remove_half_backups(folder);
  std::vector<std::string> whole;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (std::string name = entry.path().filename().string(); is_backup_name(name))
      whole.push_back(std::move(name));
  const std::string name = backup_name(unix_s);
  const fs::path path = fs::path(folder) / name, part = fs::path(folder) / (name + std::string(unfinished));
  if (std::ranges::find(whole, name) != whole.end()) return path.string();
  if (auto copied = back_up_world(world_dir, part.string()); !copied) return std::unexpected(copied.error());
  fs::rename(part, path, error);
  if (error) return std::unexpected("cannot name " + path.string() + ": " + error.message());
  whole.push_back(name);
  std::ranges::sort(whole);
  for (std::size_t i = 0; i + keep < whole.size(); ++i) fs::remove_all(fs::path(folder) / whole[i], error);
  return path.string();
}

}  // namespace ashlar::server
