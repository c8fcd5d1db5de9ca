#include "server/admin/output_writer.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/admin/live_view.h"

namespace ashlar::server {
namespace {

constexpr int wait_ms = 100;  // between two looks whether it is to end

}  // namespace

struct OutputWriter::Shared {
  explicit Shared(int a_descriptor) : descriptor(a_descriptor) {}

  const int descriptor;
  std::atomic<bool> give_up{false};
  std::atomic<std::uint64_t> bytes_written{0};
  std::atomic<std::uint64_t> lost{0};

  std::mutex mutex;
  std::condition_variable woken, ended;
  // Guarded by mutex.
  std::deque<std::string> lines;
  std::optional<std::string> block;
  bool ending = false, over = false;

  // The thread's.
  LiveView view;
  bool complained = false;
  bool torn = false;  // a line was written in part and not ended

  /// Room for PIPE_BUF bytes, which is what poll() promises of a pipe. False: nobody will read it.
  bool wait_for_room() {
    while (!give_up) {
      pollfd poll{descriptor, POLLOUT, 0};
      const int ready = ::poll(&poll, 1, wait_ms);
      if (ready > 0) return (poll.revents & (POLLERR | POLLNVAL)) == 0;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }

  /// @return bytes that were written; those behind them are lost
  std::size_t write_out(std::string_view bytes) {
    std::size_t written = 0;
    while (written < bytes.size() && wait_for_room()) {
      const std::size_t most = std::min<std::size_t>(bytes.size() - written, PIPE_BUF);
      const ssize_t count = ::write(descriptor, bytes.data() + written, most);
      if (count < 0 && errno != EINTR && errno != EAGAIN) return complain(errno), written;
      if (count <= 0) continue;
      bytes_written += static_cast<std::uint64_t>(count);
      written += static_cast<std::size_t>(count);
    }
    return written;
  }

  /// @param shown  a new block, if there is one
  void write_batch(const std::deque<std::string>& batch, const std::optional<std::string>& shown) {
    // A full disk takes the first part of a line. What comes when there is room again is a line of its own.
    std::string bytes = torn ? "\n" : "";
    std::vector<std::size_t> ends;
    for (const std::string& line : batch) bytes += view.line(line), ends.push_back(bytes.size());
    if (shown) bytes += view.show(*shown);
    const std::size_t written = write_out(bytes);
    lost +=
        static_cast<std::uint64_t>(std::ranges::count_if(ends, [&](std::size_t e) { return e > written; }));
    if (written > 0) torn = written < bytes.size() && bytes[written - 1] != '\n';
  }

  /// Once, where somebody may see it: on a disk that is full the log cannot say so. A reader that went away
  /// is no trouble.
  void complain(int error) {
    if (error == EPIPE || std::exchange(complained, true)) return;
    std::fprintf(stderr,
                 "ashlar-server: cannot write the log: %s: its lines are lost until that works again\n",
                 std::strerror(error));
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      woken.wait(lock, [this] { return ending || !lines.empty() || block; });
      if (lines.empty() && !block) break;
      std::deque<std::string> now;
      // Some at a time: what waits behind a reader that stands still counts against lines_max.
      while (!lines.empty() && now.size() < 64) now.push_back(std::move(lines.front())), lines.pop_front();
      const std::optional<std::string> shown = std::move(block);
      block.reset();
      lock.unlock();
      write_batch(now, shown);
      lock.lock();
    }
    over = true;
    ended.notify_all();
  }
};

OutputWriter::OutputWriter(int descriptor) : shared_(std::make_shared<Shared>(descriptor)) {
  // Detached: a write to a stopped terminal may never return, and the process must end all the same.
  std::thread([shared = shared_] { shared->run(); }).detach();
}

OutputWriter::~OutputWriter() {
  Shared& s = *shared_;
  std::unique_lock lock(s.mutex);
  s.ending = true;
  s.woken.notify_all();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point last = Clock::now() + drain_max;
  std::uint64_t seen = s.bytes_written;
  Clock::time_point moved = Clock::now();
  while (!s.over && Clock::now() < last && Clock::now() < moved + idle_max) {
    s.ended.wait_for(lock, std::chrono::milliseconds(20));
    if (s.bytes_written != seen) seen = s.bytes_written, moved = Clock::now();
  }
  s.give_up = true;
  if (!s.over) s.ended.wait_for(lock, std::chrono::milliseconds(2 * wait_ms), [&] { return s.over; });
}

void OutputWriter::line(std::string_view text) {
  Shared& s = *shared_;
  const std::scoped_lock lock(s.mutex);
  if (s.lines.size() == lines_max) {
    s.lines.pop_front();
    ++s.lost;
  }
  s.lines.emplace_back(text);
  s.woken.notify_one();
}

void OutputWriter::show(std::string_view block) {
  const std::scoped_lock lock(shared_->mutex);
  shared_->block = block;
  shared_->woken.notify_one();
}

std::uint64_t OutputWriter::lines_lost() const { return shared_->lost; }

}  // namespace ashlar::server
