#pragma once
#include <sys/resource.h>

#include <csignal>

namespace ashlar::server::test {

/// A disk that is full at so many bytes of a file, as far as this process can tell.
class FullAt {
 public:
  explicit FullAt(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullAt() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullAt(const FullAt&) = delete;
  FullAt& operator=(const FullAt&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

}  // namespace ashlar::server::test
