#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <utility>

namespace ashlar::client_sim {

/// A file that is opened before a long run and written after it, so that nobody waits for a result which
/// cannot be kept. A pipe that nobody reads is refused at once rather than waited for. Movable, closes by
/// itself.
class OutFile {
 public:
  /// Creates it; what is there already stays until something is written. An empty path: none. @return or one
  /// line that names the file and why
  static std::expected<OutFile, std::string> open(const std::string& path);
  OutFile(OutFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        path_(std::move(other.path_)),
        emptied_(other.emptied_) {}
  OutFile& operator=(OutFile&&) = delete;
  ~OutFile();

  bool is_open() const { return descriptor_ >= 0; }  ///< false: made of an empty path, or moved from
  /// All of it. @return or one line that names the file and why
  std::expected<void, std::string> write(std::span<const std::uint8_t> bytes);

 private:
  OutFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_;
  std::string path_;
  bool emptied_ = false;
};

}  // namespace ashlar::client_sim
