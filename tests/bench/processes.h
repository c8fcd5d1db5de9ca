#pragma once
// Processes of a benchmark: pinned to a core, read line by line, measured, and ended with it.

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace ashlar::bench {

/// A child whose output is read here; it is ended when this goes.
class Child {
 public:
  /// @param core  that it may run on; -1: any
  Child(std::vector<std::string> command, int core) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (core >= 0) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET(static_cast<std::size_t>(core), &cores);
        ::sched_setaffinity(0, sizeof cores, &cores);
      }
      ::dup2(ends[1], STDOUT_FILENO);
      std::vector<char*> arguments;
      for (std::string& word : command) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
  }
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGTERM);
      for (int i = 0; i < 300 && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i) {
        drain();
        ::usleep(10'000);
        if (i == 299) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
      }
    }
    if (output_ >= 0) ::close(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// The next line; nullopt when none came in time or the child is gone.
  std::optional<std::string> line(std::chrono::milliseconds patience) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    for (;;) {
      if (const auto end = buffer_.find('\n'); end != std::string::npos) {
        std::string out = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return out;
      }
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(give_up - std::chrono::steady_clock::now());
      pollfd poll{output_, POLLIN, 0};
      if (left.count() < 0 || ::poll(&poll, 1, static_cast<int>(left.count())) <= 0) return std::nullopt;
      char bytes[4096];
      const ssize_t count = ::read(output_, bytes, sizeof bytes);
      if (count <= 0) return std::nullopt;
      buffer_.append(bytes, static_cast<std::size_t>(count));
    }
  }

  /// The number that the system knows it by.
  pid_t pid() const { return pid_; }

  /// Throws away what has come.
  void drain() {
    while (line(std::chrono::milliseconds(0))) {
    }
  }

  /// Processor time of all its threads so far, in nanoseconds; 0 where the system does not tell.
  std::uint64_t cpu_ns() const {
    std::uint64_t sum = 0;
    std::error_code error;
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task", error)) {
      std::uint64_t ns = 0;
      std::ifstream(task.path() / "schedstat") >> ns;
      sum += ns;
    }
    return sum;
  }

  /// What of its memory lies in RAM.
  double resident_bytes() const {
    double pages_all = 0, pages = 0;
    std::ifstream("/proc/" + std::to_string(pid_) + "/statm") >> pages_all >> pages;
    return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string buffer_;
};

/// Moves this process and those it starts into a network of their own, with nothing but a loopback: no
/// firewall, no other traffic. @return false, and nothing changed, where the system does not permit it
inline bool enter_own_network() {
  if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  bool up = ::ioctl(socket, SIOCGIFFLAGS, &request) == 0;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  up = up && ::ioctl(socket, SIOCSIFFLAGS, &request) == 0;
  ::close(socket);
  return up;
}

}  // namespace ashlar::bench
