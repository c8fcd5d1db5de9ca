#include "server/store/backup_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "server/store/sqlite_store.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

/// Bytes of a file that may be locked.
struct LockedBytes {
  off_t first = 0, count = 0;
};

// SQLite's file format: who is about to write, writes, or lets nobody else read holds one of these (pending,
// reserved, shared) in the database, and of what waits beside it the first of eight in the -shm.
constexpr LockedBytes database_locks{0x4000'0000, 512};
constexpr LockedBytes wal_write_lock{120, 1};

/// Does another process hold them for itself? False where the file is not there.
bool held(const std::string& file, LockedBytes bytes) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock asked{};
  asked.l_type = F_RDLCK;
  asked.l_whence = SEEK_SET;
  asked.l_start = bytes.first, asked.l_len = bytes.count;
  const bool answered = ::fcntl(descriptor, F_GETLK, &asked) == 0;
  ::close(descriptor);
  return answered && asked.l_type != F_UNLCK;
}

}  // namespace

std::expected<BackupSource, std::string> BackupSource::take(const std::string& dir) {
  auto lock = WorldLock::take(dir);
  if (!lock) return std::unexpected(std::move(lock.error()));
  BackupSource source(std::move(*lock), (fs::path(dir) / store_name).string());
  const std::string& file = source.file_;
  if (held(file, database_locks) || held(file + "-shm", wal_write_lock))
    return std::unexpected(file + ": another program writes to it: end that one");
  std::error_code error;
  for (const char* end : {"-wal", "-journal"}) {
    const auto waiting = fs::file_size(file + end, error);
    if (!error && waiting > 0) source.still_ = false;
  }
  source.clears_ = !source.still_ && !fs::exists(file + "-shm", error);
  return source;
}

BackupSource::BackupSource(BackupSource&& other) noexcept
    : lock_(std::move(other.lock_)),
      file_(std::move(other.file_)),
      still_(other.still_),
      clears_(std::exchange(other.clears_, false)) {}

BackupSource::~BackupSource() {
  std::error_code ignored;
  if (clears_) fs::remove(file_ + "-shm", ignored);
}

}  // namespace ashlar::server
