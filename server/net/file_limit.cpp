#include "server/net/file_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace ashlar::server {
namespace {

constexpr std::uint64_t others = 64;  // listening sockets, log, recording, world, libraries

}  // namespace

FileLimit raise_file_limit(std::uint64_t sockets) {
  FileLimit limit;
  limit.wanted = sockets + others;
  rlimit now{};
  if (getrlimit(RLIMIT_NOFILE, &now) != 0) return {limit.wanted, limit.wanted};  // no limit that we know of
  limit.allowed = now.rlim_cur;
  if (limit.enough()) return limit;
  rlimit raised = now;
  raised.rlim_cur = std::min<rlim_t>(now.rlim_max, limit.wanted);
  if (raised.rlim_cur > now.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0)
    limit.allowed = raised.rlim_cur;
  return limit;
}

}  // namespace ashlar::server
