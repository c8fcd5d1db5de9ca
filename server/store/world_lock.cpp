#include "server/store/world_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "server/config/owner_remedy.h"

namespace ashlar::server {

std::expected<WorldLock, std::string> WorldLock::take(const std::string& world_dir) {
  if (world_dir.empty()) return WorldLock(-1);
  const auto failed = [&](const std::string& what, int error) {
    return std::unexpected("cannot " + what + " the world's folder " + world_dir + ": " +
                           std::generic_category().message(error) + owner_remedy(world_dir, error) +
                           "; see --world");
  };
  std::error_code error;
  std::filesystem::create_directories(world_dir, error);
  if (error) return failed("make", error.value());
  // The folder itself is locked, so that no file is left behind, and a world that may only be read is held
  // too.
  const int folder = ::open(world_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return failed("open", errno);
  WorldLock lock(folder);
  if (::flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return std::unexpected("world " + world_dir +
                           " is in the hands of another server: stop that one, or name another with --world");
  return lock;
}

WorldLock::WorldLock(WorldLock&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}

WorldLock::~WorldLock() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace ashlar::server
