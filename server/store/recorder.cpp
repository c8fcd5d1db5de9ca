#include "server/store/recorder.h"

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
  Impl(RecordingFile given, const RecordingHeader& header, Options given_options)
      : file(std::move(given)), options(std::move(given_options)), writer(header, header.rules.tick_rate_hz) {
    file.keep();
    writer.take(waiting);  // the header at once: an empty match is a recording too
    thread = std::thread([this] { run(); });
  }

  void run() {
    std::vector<std::uint8_t> bytes;
    for (std::uint64_t blocks = 0;; ++blocks) {
      if (options.housekeeping && blocks % housekeeping_every_blocks == 0) options.housekeeping();
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
    if (options.bytes_max > 0 && written + bytes.size() > options.bytes_max) {
      fail("recording to " + file.path() + " stopped: it has the " + std::to_string(options.bytes_max >> 20) +
           " MiB that record_keep_mib allows");
      return false;
    }
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::write(file.descriptor(), bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        fail("recording to " + file.path() + " stopped: " + std::strerror(errno));
        return false;
      }
      done += static_cast<std::size_t>(n);
    }
    written += bytes.size();
    // What cannot be synced at all, as a pipe, is no error.
    int synced = 0;
    do synced = ::fdatasync(file.descriptor());
    while (synced != 0 && errno == EINTR);
    if (synced == 0 || errno == EINVAL || errno == EROFS) return true;
    fail("recording to " + file.path() + " stopped: it could not be synced: " + std::strerror(errno));
    return false;
  }

  void fail(std::string why) {
    const std::lock_guard lock(mutex);
    if (failed.empty()) failed = std::move(why);
    waiting.clear();
  }

  RecordingFile file;
  const Options options;
  std::uint64_t written = 0;  // bytes; the recorder's thread alone
  RecordingWriter writer;     // the Host's thread alone
  bool ended = false;         // likewise: nothing is recorded any more

  mutable std::mutex mutex;
  std::condition_variable wake;
  std::vector<std::uint8_t> waiting;  // guarded by mutex
  std::string failed;                 // guarded by mutex
  bool stopping = false;              // guarded by mutex
  std::thread thread;
};

Recorder::Recorder(RecordingFile file, const RecordingHeader& header, Options options)
    : impl_(std::make_unique<Impl>(std::move(file), header, std::move(options))) {}

Recorder::~Recorder() { finish(); }

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
      r.failed = "recording to " + r.file.path() + " stopped: the disk is too slow, " +
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
