#pragma once
#include <expected>
#include <string>

#include "server/store/world_lock.h"

// A backup that a world is restored from: nobody may write to it meanwhile, and nothing of it is changed.

namespace ashlar::server {

/// A backup's folder while it is read. One that was copied with what waits beside its database (-wal) is read
/// as it is; what reading makes beside it (-shm) is gone with this.
class BackupSource {
 public:
  /// Takes the folder, so that no server starts there. Reads no more of the database than who holds it.
  /// @return or one line: a server plays there, or another program writes to the database
  static std::expected<BackupSource, std::string> take(const std::string& dir);
  ~BackupSource();
  BackupSource(BackupSource&& other) noexcept;
  BackupSource& operator=(BackupSource&&) = delete;

  /// Does nothing wait beside its database? Then that alone says all (OpenMode::read_still).
  bool still() const { return still_; }

 private:
  BackupSource(WorldLock lock, std::string file) : lock_(std::move(lock)), file_(std::move(file)) {}

  WorldLock lock_;
  std::string file_;  // of the database
  bool still_ = true;
  bool clears_ = false;  // nothing lay beside it that reading makes
};

}  // namespace ashlar::server
