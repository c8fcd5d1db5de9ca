#include "server/store/recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ashlar::server {

struct Recorder::Impl {
  Impl(int file, std::string file_path, const RecordingHeader& header)
      : fd(file), path(std::move(file_path)), writer(header) {
    writer.take(waiting);  // the header at once: an empty match is a recording too
    thread = std::thread([this] { run(); });
  }

  void run() {
    std::vector<std::uint8_t> bytes;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [this] { return stopping || !waiting.empty(); });
        if (waiting.empty()) return;
        bytes.swap(waiting);
      }
      if (!write_all(bytes)) return;
      bytes.clear();
    }
  }

  bool write_all(const std::vector<std::uint8_t>& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        fail("recording to " + path + " stopped: " + std::strerror(errno));
        return false;
      }
      done += static_cast<std::size_t>(n);
    }
    ::fdatasync(fd);
    return true;
  }

  void fail(std::string why) {
    const std::lock_guard lock(mutex);
    if (failed.empty()) failed = std::move(why);
    waiting.clear();
  }

  const int fd;
  const std::string path;
  RecordingWriter writer;  // the Host's thread alone
  bool ended = false;      // likewise: nothing is recorded any more

  mutable std::mutex mutex;
  std::condition_variable wake;
  std::vector<std::uint8_t> waiting;  // guarded by mutex
  std::string failed;                 // guarded by mutex
  bool stopping = false;              // guarded by mutex
  std::thread thread;
};

std::expected<std::unique_ptr<Recorder>, std::string> Recorder::create(const std::string& path,
                                                                       const RecordingHeader& header) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) {
    const std::string remedy =
        errno == EEXIST ? "; name another file or remove it" : "; the folder must exist and be writable";
    return std::unexpected{"cannot record to " + path + ": " + std::strerror(errno) + remedy};
  }
  return std::unique_ptr<Recorder>(new Recorder(std::make_unique<Impl>(fd, path, header)));
}

Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Recorder::~Recorder() {
  finish();
  ::close(impl_->fd);
}

void Recorder::finish() {
  if (!impl_->thread.joinable()) return;
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->failed.empty()) impl_->writer.take(impl_->waiting);
    impl_->stopping = true;
  }
  impl_->wake.notify_one();
  impl_->thread.join();
  impl_->ended = true;
}

void Recorder::on_tick(const TickRecord& record) {
  Impl& r = *impl_;
  if (r.ended) return;
  r.writer.add(record);
  if (!r.writer.block_ready()) return;
  {
    const std::lock_guard lock(r.mutex);
    r.ended = !r.failed.empty();
    if (r.ended) return;
    if (r.waiting.size() > recorder_backlog_bytes_max) {
      r.failed = "recording to " + r.path + " stopped: the disk is too slow, " +
                 std::to_string(recorder_backlog_bytes_max >> 20) + " MiB were waiting";
      r.waiting.clear();
      return;
    }
    r.writer.take(r.waiting);
  }
  r.wake.notify_one();
}

std::string Recorder::failure() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->failed;
}

}  // namespace ashlar::server
