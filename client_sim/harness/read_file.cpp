#include "client_sim/harness/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ashlar::client_sim {

std::expected<std::vector<std::uint8_t>, std::string> read_file(const std::string& path,
                                                                std::size_t bytes_max) {
  // Without O_NONBLOCK a pipe's open() waits for its other end.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  const auto failure = [&](const std::string& why) {
    if (file >= 0) ::close(file);
    return std::unexpected("cannot read " + path + ": " + why);
  };
  if (file < 0) return failure(std::strerror(errno));
  struct stat what{};
  if (::fstat(file, &what) != 0) return failure(std::strerror(errno));
  if (S_ISDIR(what.st_mode)) return failure(std::strerror(EISDIR));
  if (!S_ISREG(what.st_mode)) return failure("it is a pipe, a device or a socket, name a file");
  std::vector<std::uint8_t> bytes;
  // The size is a hint: files below /proc say 0, and others may grow meanwhile.
  std::size_t room = std::min(static_cast<std::size_t>(what.st_size), bytes_max) + 1;
  for (;;) {
    const std::size_t size = bytes.size();
    bytes.resize(size + room);
    const ssize_t got = ::read(file, bytes.data() + size, room);
    bytes.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(std::strerror(errno));
    if (bytes.size() > bytes_max)
      return failure("it is larger than " + std::to_string(bytes_max >> 20) + " MiB");
    if (got == 0) break;
    room = std::max<std::size_t>(4096, room - static_cast<std::size_t>(got));
  }
  ::close(file);
  return bytes;
}

}  // namespace ashlar::client_sim
