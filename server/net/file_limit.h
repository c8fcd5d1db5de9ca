#pragma once
#include <cstdint>

namespace ashlar::server {

/// How many files and sockets this process may have open, and how many it wants.
struct FileLimit {
  std::uint64_t allowed = 0, wanted = 0;
  bool enough() const { return allowed >= wanted; }
};

/// Raises the soft limit (ulimit -Sn) towards `sockets` and what else a server opens, as far as the hard one
/// lets it. Never lowers it.
FileLimit raise_file_limit(std::uint64_t sockets);

}  // namespace ashlar::server
