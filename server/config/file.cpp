#include "server/config/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ashlar::server {
namespace {

/// A descriptor that is closed with its scope.
struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

}  // namespace

std::expected<std::string, std::string> read_file(const std::string& path, std::size_t bytes_max) {
  const auto failed = [&](const std::string& why) {
    return std::unexpected("cannot read " + path + ": " + why);
  };
  // Without O_NONBLOCK a pipe's open() waits for its other end.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.number < 0) return failed(std::strerror(errno));
  struct stat what{};
  if (::fstat(file.number, &what) != 0) return failed(std::strerror(errno));
  if (S_ISDIR(what.st_mode)) return failed("it is a folder, name a file in it");
  if (S_ISFIFO(what.st_mode)) return failed("it is a pipe, name a file");
  if (!S_ISREG(what.st_mode)) return failed("it is a device or a socket, name a file");
  const std::string too_long = bytes_max % (1u << 20) == 0 ? std::to_string(bytes_max >> 20) + " MiB"
                                                           : std::to_string(bytes_max) + " bytes";
  if (what.st_size > 0 && static_cast<std::uintmax_t>(what.st_size) > bytes_max)
    return failed("it is longer than " + too_long);
  std::string bytes;
  // The size is a hint: files below /proc say 0, and others may grow meanwhile.
  std::size_t room = static_cast<std::size_t>(what.st_size) + 1;
  for (;;) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + room);
    const ssize_t got = ::read(file.number, bytes.data() + begin, room);
    bytes.resize(begin + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(std::strerror(errno));
    if (got == 0) return bytes;
    if (bytes.size() > bytes_max) return failed("it is longer than " + too_long);
    room = std::max<std::size_t>(4096, room - static_cast<std::size_t>(got));
  }
}

int write_file(const std::string& path, const std::string& bytes) {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644));
  if (file.number < 0) return errno;
  struct stat what{};
  const bool regular = ::fstat(file.number, &what) == 0 && S_ISREG(what.st_mode);
  // Only open() must not wait for a pipe's other end; whoever reads one may be slow, and that is waited for.
  ::fcntl(file.number, F_SETFL, ::fcntl(file.number, F_GETFL) & ~O_NONBLOCK);
  std::size_t written = 0;
  int error = 0;
  while (error == 0 && written < bytes.size()) {
    const ssize_t count = ::write(file.number, bytes.data() + written, bytes.size() - written);
    if (count > 0) written += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) error = errno;
  }
  if (error == 0 && regular && ::fsync(file.number) != 0) error = errno;
  if (error != 0 && regular) ::unlink(path.c_str());
  return error;
}

}  // namespace ashlar::server
