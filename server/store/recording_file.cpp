#include "server/store/recording_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "server/owner_remedy.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "ASHREC01";

/// Digits that a conversion gives; 0: it is none of ours.
std::size_t digits_of(char conversion) {
  switch (conversion) {
    case 'Y': return 4;
    case 'j': return 3;
    case 'm':
    case 'd':
    case 'H':
    case 'M':
    case 'S': return 2;
    default: return 0;
  }
}

std::string_view file_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}  // npos + 1 is 0

/// "match-3.rec" for "match.rec": the number stands before the last dot of the file's own name.
std::string numbered(const std::string& path, unsigned number) {
  if (number < 2) return path;
  const std::size_t name = path.rfind('/') + 1;
  const std::size_t dot = path.rfind('.');
  const std::size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
  return path.substr(0, at) + "-" + std::to_string(number) + path.substr(at);
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The name against the pattern's letters and conversions alone.
bool matches(std::string_view name, std::string_view pattern) {
  while (!pattern.empty()) {
    if (pattern.front() == '%' && pattern.size() > 1 && pattern[1] != '%') {
      const std::size_t digits = digits_of(pattern[1]);
      if (digits == 0 || name.size() < digits || !all_digits(name.substr(0, digits))) return false;
      name.remove_prefix(digits);
      pattern.remove_prefix(2);
      continue;
    }
    if (name.empty() || name.front() != pattern.front()) return false;
    name.remove_prefix(1);
    pattern.remove_prefix(pattern.starts_with("%%") ? 2 : 1);
  }
  return name.empty();
}

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

}  // namespace

std::expected<void, std::string> check_recording_name(std::string_view pattern) {
  if (pattern.empty()) return std::unexpected("is empty: name a file, or leave the setting out");
  if (file_part(pattern).empty()) return std::unexpected("is a folder's name: name a file in it");
  const std::size_t folder = pattern.size() - file_part(pattern).size();
  for (std::size_t at = pattern.find('%'); at != std::string_view::npos; at = pattern.find('%', at + 2)) {
    const char conversion = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    if (conversion != '%' && digits_of(conversion) == 0)
      return std::unexpected(
          "has a % that stands for no time: give %Y %m %d %H %M %S or %j, and %% for itself");
    if (conversion != '%' && at < folder)
      return std::unexpected("has a time in a folder's name: only the file's own name may have one");
  }
  return {};
}

std::string recording_name(const std::string& pattern, const std::tm& at) {
  std::string out(pattern.size() * 4 + 16, '\0');
  out.resize(std::strftime(out.data(), out.size(), pattern.c_str(), &at));
  return out;
}

bool is_recording_name(std::string_view name, std::string_view pattern) {
  if (matches(name, pattern)) return true;
  const std::size_t dot = name.rfind('.');
  const std::size_t end = dot == std::string_view::npos || dot == 0 ? name.size() : dot;
  const std::size_t dash = name.substr(0, end).rfind('-');
  if (dash == std::string_view::npos || !all_digits(name.substr(dash + 1, end - dash - 1))) return false;
  return matches(std::string(name.substr(0, dash)) + std::string(name.substr(end)), pattern);
}

std::expected<RecordingFile, std::string> RecordingFile::create(const std::string& pattern, std::time_t now,
                                                                ExistingRecording existing) {
  std::tm local{};
  ::localtime_r(&now, &local);
  const std::string name = recording_name(pattern, local);
  for (unsigned number = 1; number <= recording_numbers_max; ++number) {
    std::string path = numbered(name, number);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0) return RecordingFile(file, std::move(path));
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
  const std::string name_pattern(file_part(pattern));
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
    if (::unlink(file.path.c_str()) != 0) continue;
    total -= file.bytes;
    removed.push_back(file.path);
  }
  return removed;
}

}  // namespace ashlar::server
