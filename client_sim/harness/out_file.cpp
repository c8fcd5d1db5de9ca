#include "client_sim/harness/out_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ashlar::client_sim {

std::expected<OutFile, std::string> OutFile::open(const std::string& path) {
  if (path.empty()) return OutFile(-1, path);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
  if (file < 0) {
    const int error = errno;
    return std::unexpected("cannot write " + path + ": " +
                           (error == ENXIO ? "it is a pipe that nobody reads" : std::strerror(error)) +
                           (error == ENOENT ? "; name a file in a folder that exists" : ""));
  }
  // Whoever reads a pipe may be slow: that is waited for.
  ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return OutFile(file, path);
}

OutFile::~OutFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::expected<void, std::string> OutFile::write(std::span<const std::uint8_t> bytes) {
  // Not before there is something in its place. A pipe has nothing to empty.
  if (!std::exchange(emptied_, true) && ::ftruncate(descriptor_, 0) != 0 && errno != EINVAL)
    return std::unexpected("cannot write " + path_ + ": " + std::strerror(errno));
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected("cannot write " + path_ + ": " + std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace ashlar::client_sim
