#include "server/backups.h"

#include <ctime>
#include <utility>

#include "server/store/world_backup.h"

namespace ashlar::server {

Backups::Backups(std::string world_dir, std::chrono::milliseconds every, std::uint32_t keep, Log& log)
    : world_dir_(std::move(world_dir)), every_(every), keep_(keep), log_(log) {}

void Backups::watch(std::chrono::microseconds now) {
  if (world_dir_.empty() || every_.count() == 0) return;
  if (const auto done = work_.take()) {
    under_way_ = false;
    if (*done)
      log_.info("backup", {{"folder", **done}});
    else
      log_.event(LogLevel::error, "backup_failed", {{"error", done->error()}});
  }
  if (!next_) next_.emplace(now + every_, every_);
  if (!next_->due(now)) return;
  // A disk that takes longer than that has enough to do.
  if (std::exchange(under_way_, true)) return;
  work_.start([world = world_dir_, keep = keep_, unix_s = std::time(nullptr)] {
    return make_dated_backup(world, world + "/backups", unix_s, keep);
  });
}

}  // namespace ashlar::server
