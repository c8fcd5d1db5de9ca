#pragma once
#include <expected>
#include <string>

namespace ashlar::server {

/// A world's folder in this process's hands alone, until it ends, however it ends. Movable, closes by itself.
class WorldLock {
 public:
  /// Makes the folder where it is absent. Without a folder (empty), or on a file system that knows no locks,
  /// there is nothing to hold. @return or one line that names the folder, the reason and the remedy
  static std::expected<WorldLock, std::string> take(const std::string& world_dir);
  ~WorldLock();
  WorldLock(WorldLock&& other) noexcept;
  WorldLock& operator=(WorldLock&&) = delete;

 private:
  explicit WorldLock(int folder) : folder_(folder) {}
  int folder_;  // -1: nothing is held
};

}  // namespace ashlar::server
