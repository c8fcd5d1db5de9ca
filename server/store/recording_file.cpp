#include "server/store/recording_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "server/config/owner_remedy.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "ASHREC01";

bool begins_as_recording(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  char head[magic.size()];
  struct stat what{};
  const bool good = ::fstat(file, &what) == 0 && S_ISREG(what.st_mode) &&
                    ::read(file, head, sizeof head) == static_cast<ssize_t>(sizeof head) &&
                    std::string_view(head, sizeof head) == magic;
  ::close(file);
  return good;
}

/// Removes it unless another server writes to it, which holds its lock.
bool remove_recording(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  const bool in_use = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  const bool removed = !in_use && ::unlink(path.c_str()) == 0;
  ::close(file);
  return removed;
}

}  // namespace

std::expected<RecordingFile, std::string> RecordingFile::create(const std::string& pattern, std::time_t now,
                                                                ExistingRecording existing) {
  std::tm local{};
  ::localtime_r(&now, &local);
  const std::string name = recording_name(pattern, local);
  for (unsigned number = 1; number <= recording_numbers_max; ++number) {
    std::string path = numbered_recording(name, number);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0) {
      // For as long as it is written. A file system without locks has none of it.
      static_cast<void>(::flock(file, LOCK_EX | LOCK_NB));
      return RecordingFile(file, std::move(path));
    }
    const int error = errno;
    if (error == EEXIST && existing == ExistingRecording::next) continue;
    if (error == EEXIST)
      return std::unexpected("cannot record to " + path +
                             ": it is there already; name another file, remove it, or give "
                             "--record-existing next to go on in a new one");
    const std::string owner = owner_remedy(path, error);
    return std::unexpected("cannot record to " + path + ": " + std::strerror(error) +
                           (owner.empty() ? "; the folder must exist and be writable" : owner));
  }
  return std::unexpected("cannot record to " + name + ": " + std::to_string(recording_numbers_max) +
                         " recordings of that name are there; remove some");
}

RecordingFile::RecordingFile(RecordingFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)), kept_(other.kept_) {}

RecordingFile::~RecordingFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!kept_) ::unlink(path_.c_str());
}

std::vector<std::string> remove_old_recordings(const std::string& pattern, const std::string& present,
                                               const RecordingLimits& limits, std::time_t now) {
  std::vector<std::string> removed;
  if (limits.bytes_max == 0 && limits.age_s_max == 0) return removed;
  struct Found {
    std::time_t written;
    std::string path;
    std::uint64_t bytes;
  };
  std::vector<Found> found;
  std::uint64_t total = 0;
  const std::string name_pattern(pattern.substr(pattern.rfind('/') + 1));  // npos + 1 is 0
  const std::string folder = pattern.substr(0, pattern.size() - name_pattern.size());
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    const std::string path = folder + name;
    struct stat what{};
    if (!is_recording_name(name, name_pattern) || ::lstat(path.c_str(), &what) != 0) continue;
    const auto bytes = static_cast<std::uint64_t>(what.st_size);
    if (path == present) {
      total += bytes;
    } else if (begins_as_recording(path)) {
      total += bytes;
      found.push_back({what.st_mtime, path, bytes});
    }
  }
  std::ranges::sort(found, [](const Found& a, const Found& b) {
    return std::tie(a.written, a.path) < std::tie(b.written, b.path);
  });
  for (const Found& file : found) {
    const bool too_old = limits.age_s_max > 0 && now - file.written > limits.age_s_max;
    const bool too_many = limits.bytes_max > 0 && total > limits.bytes_max;
    if (!too_old && !too_many) break;  // those behind it are younger
    if (!remove_recording(file.path)) continue;
    total -= file.bytes;
    removed.push_back(file.path);
  }
  return removed;
}

}  // namespace ashlar::server
