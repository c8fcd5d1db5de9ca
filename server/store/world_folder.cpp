#include "server/store/world_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ranges>
#include <system_error>

#include "server/config/config_file.h"
#include "server/config/file.h"
#include "server/config/owner_remedy.h"
#include "server/config/world_file.h"
#include "server/store/world_restore.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;
using Failure = std::unexpected<std::string>;

void sync_folder(const fs::path& folder) {
  const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

/// The folders on the way there that are not there yet, the outermost first.
std::vector<std::string> missing_folders(const std::string& folder) {
  std::vector<std::string> missing;
  std::error_code error;
  for (fs::path at = fs::absolute(folder, error).lexically_normal();
       !error && !at.empty() && at != at.root_path(); at = at.parent_path()) {
    if (!at.has_filename()) continue;  // what a trailing slash leaves
    if (fs::exists(at, error) || error) break;
    missing.push_back(at.string());
  }
  std::ranges::reverse(missing);
  return missing;
}

}  // namespace

std::expected<WorldFolder, std::string> WorldFolder::take(const LoadedConfig& loaded) {
  const std::string& dir = loaded.config.world_dir;
  if (std::string cut = restore_cut_off(dir); !cut.empty()) return Failure(std::move(cut));
  std::vector<std::string> missing = dir.empty() ? std::vector<std::string>() : missing_folders(dir);
  auto lock = WorldLock::take(dir);
  if (!lock) {
    for (const std::string& made : missing | std::views::reverse) ::rmdir(made.c_str());
    return Failure(std::move(lock.error()));
  }
  WorldFolder folder(std::move(*lock), dir);
  folder.made_ = std::move(missing);
  std::error_code error;
  if (dir.empty() || fs::exists(fs::path(dir) / "server.toml", error)) {
    // A new world's own file is written last, when its maps have their places: see now whether it can be.
    if (!dir.empty() && (!loaded.world_exists || !loaded.world_resealed.empty()))
      if (auto good = folder.write_beside("world.toml", "", true); !good) return Failure(good.error());
    return folder;
  }
  WriteStyle style;
  style.commented_out = true;
  style.in_world = true;
  if (auto good = folder.write_beside("server.toml", write_settings(Config(), style), !loaded.world_exists);
      !good)
    return Failure(std::move(good.error()));
  return folder;
}

WorldFolder::~WorldFolder() {
  for (const Written& file : written_) ::unlink((file.path + ".new").c_str());
  for (const std::string& made : made_ | std::views::reverse) ::rmdir(made.c_str());
}

std::expected<void, std::string> WorldFolder::write_beside(const std::string& name, const std::string& text,
                                                           bool matters) {
  const std::string path = (fs::path(folder_) / name).string();
  const int error = write_file(path + ".new", text);
  if (error == 0) {
    // It has the seed of what players are not to know.
    if (name == "world.toml") ::chmod((path + ".new").c_str(), S_IRUSR | S_IWUSR);
    if (std::ranges::find(written_, path, &Written::path) == written_.end())
      written_.push_back({path, matters});
    return {};
  }
  if (!matters) return {};
  return Failure("cannot write " + path + ": " + std::generic_category().message(error) +
                 owner_remedy(folder_, error) + "; see --world");
}

std::expected<void, std::string> WorldFolder::prepare(const LoadedConfig& loaded) {
  if (folder_.empty()) return {};
  if (!loaded.world_resealed.empty()) return write_beside("world.toml", loaded.world_resealed, true);
  if (loaded.world_exists) return {};
  WriteStyle style;
  style.kind = FileKind::world;
  return write_beside("world.toml", seal_world_text(write_settings(loaded.config, style)), true);
}

std::expected<void, std::string> WorldFolder::keep() {
  const auto world =
      std::ranges::find_if(written_, [](const Written& file) { return file.path.ends_with("world.toml"); });
  if (world != written_.end()) std::rotate(written_.begin(), world, world + 1);
  while (!written_.empty()) {
    const Written file = written_.front();
    if (::rename((file.path + ".new").c_str(), file.path.c_str()) != 0 && file.matters)
      return Failure("cannot write " + file.path + ": " + std::generic_category().message(errno) +
                     "; see --world");
    written_.erase(written_.begin());
    made_.clear();  // it is a world now
  }
  if (!folder_.empty()) {
    sync_folder(folder_);
    sync_folder(fs::absolute(folder_).parent_path());
  }
  made_.clear();
  return {};
}

}  // namespace ashlar::server
