#include "server/config/owner_remedy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace ashlar::server {

std::string owner_remedy(const std::string& path, int error) {
  if (error != EACCES && error != EPERM) return {};
  // The nearest that is there is the one that forbids.
  std::string at = path;
  struct stat what{};
  while (::stat(at.c_str(), &what) != 0) {
    const std::string above = std::filesystem::path(at).parent_path().string();
    if (above == at) return {};
    at = above.empty() ? "." : above;
  }
  const std::string user = std::to_string(::geteuid());
  if (what.st_uid == ::geteuid()) return "; it is the server's own user's: chmod u+rwX " + at;
  return "; " + at + " belongs to user " + std::to_string(what.st_uid) + ", the server runs as user " + user +
         (at == path ? ": chown -R " + user + " " + at : ": name a place that it may write");
}

}  // namespace ashlar::server
