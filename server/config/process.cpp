#include "server/config/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>

namespace ashlar::server {

void keep_standard_streams() {
  int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  while (file >= 0 && file <= STDERR_FILENO) file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (file >= 0) ::close(file);
}

void begin_with_huge_pages(const char* const* argv) {
#ifdef __GLIBC__
  constexpr const char* variable = "GLIBC_TUNABLES";
  if (std::getenv(variable) != nullptr) return;
  // By its name: who looks for the process finds it by that.
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (size <= 0 || ::setenv(variable, "glibc.malloc.hugetlb=1", 1) != 0) return;
  ::execv(path.data(), const_cast<char* const*>(argv));
#else
  (void)argv;
#endif
}

}  // namespace ashlar::server
