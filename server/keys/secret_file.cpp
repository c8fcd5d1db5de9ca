#include "server/keys/secret_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "protocol/secure/secret.h"
#include "server/config/key_value.h"
#include "server/config/owner_remedy.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* unfinished = ".new-";

void overwrite(std::string& text) {
  secure::wipe({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  text.clear();
}

/// All bytes at once; 0 or the error's number.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return ::fsync(file) == 0 ? 0 : errno;
}

/// Gives a file another name unless that is taken. 0 or the error's number.
int rename_anew(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system that cannot do that, but hard links.
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  ::unlink(from.c_str());
  return 0;
}

std::string cannot_write(const std::string& path, int error) {
  const std::string line = "cannot write " + path + ": ";
  if (error == EEXIST) return line + "it is there already; a key is never written over, so give another name";
  return line + std::strerror(error) + owner_remedy(fs::path(path).parent_path().string(), error);
}

void sync_folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

}  // namespace

// A copy, as a string that is moved from may keep its bytes.
// NOLINTNEXTLINE(performance-move-constructor-init)
SecretText::SecretText(SecretText&& other) noexcept : text_(other.text_) { overwrite(other.text_); }
SecretText& SecretText::operator=(SecretText&& other) noexcept {
  if (this == &other) return *this;
  overwrite(text_);
  text_ = other.text_;
  overwrite(other.text_);
  return *this;
}
SecretText::~SecretText() { overwrite(text_); }

std::string exposure_of(const std::string& path, unsigned mode, unsigned owner, unsigned user) {
  const bool mine = owner == user;
  const unsigned forbidden = mine ? 077u : 027u;
  if ((mode & forbidden) == 0) return {};
  const bool read = (mode & (mine ? 044u : 004u)) != 0;
  return path + " holds a secret that others can " + (read ? "read" : "change or run") +
         (mine ? ": chmod 600 " + path
               : ": have its owner, user " + std::to_string(owner) + ", chmod 640 " + path);
}

std::expected<SecretText, std::string> read_key_file(const std::string& path) {
  const auto failed = [&](const std::string& why) {
    return std::unexpected("cannot read " + path + ": " + why);
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) {
    const int error = errno;
    return failed(std::strerror(error) + owner_remedy(path, error));
  }
  struct stat what{};
  std::string text(key_file_bytes_max + 1, '\0');
  std::size_t size = 0;
  const bool regular = ::fstat(file, &what) == 0 && S_ISREG(what.st_mode);
  for (ssize_t got = 1; regular && got != 0 && size < text.size();) {
    got = ::read(file, text.data() + size, text.size() - size);
    if (got < 0 && errno != EINTR) break;
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  ::close(file);
  const bool too_long = size > key_file_bytes_max;
  SecretText read(std::string(text, 0, size));
  overwrite(text);
  if (!regular)
    return failed(S_ISDIR(what.st_mode) ? "it is a folder, name a file in it" : "it is no regular file");
  if (too_long) return failed("it is longer than a key or a token");
  if (is_secret(kind_of_key(read.view())))
    if (std::string exposed = exposure_of(path, what.st_mode, what.st_uid, ::geteuid()); !exposed.empty())
      return std::unexpected(std::move(exposed));
  return read;
}

std::expected<NewSecretFile, std::string> NewSecretFile::create(const std::string& path,
                                                                std::string_view text) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) == 0) return std::unexpected(cannot_write(path, EEXIST));
  std::string beside = path + unfinished + "XXXXXX";
  const int file = ::mkostemp(beside.data(), O_CLOEXEC);  // of mode 0600
  if (file < 0) return std::unexpected(cannot_write(path, errno));
  NewSecretFile made(path, beside);
  const int error = ::fchmod(file, 0600) == 0 ? write_all(file, text) : errno;
  ::close(file);
  if (error != 0) return std::unexpected(cannot_write(path, error));
  return made;
}

NewSecretFile::NewSecretFile(NewSecretFile&& other) noexcept
    : path_(std::move(other.path_)), beside_(std::exchange(other.beside_, {})) {}

NewSecretFile::~NewSecretFile() {
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

std::expected<void, std::string> NewSecretFile::keep() {
  if (beside_.empty()) return {};
  if (const int error = rename_anew(beside_, path_); error != 0)
    return std::unexpected(cannot_write(path_, error));
  beside_.clear();
  sync_folder_of(path_);
  return {};
}

void remove_unfinished(const std::string& path) {
  const std::string begins = fs::path(path).filename().string() + unfinished;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begins) && name.size() == begins.size() + 6) ::unlink(entry.path().c_str());
  }
}

}  // namespace ashlar::server
