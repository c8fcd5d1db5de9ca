#include "server/backups.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace ashlar::server {
namespace {

constexpr std::chrono::seconds settle{10};  // after a start, which has enough to do
constexpr std::chrono::minutes retry{5};    // after one that failed, where that is sooner than the next

}  // namespace

Backups::Backups(std::string world_dir, std::chrono::milliseconds every, std::uint32_t keep, Log& log)
    : world_dir_(std::move(world_dir)), every_(every), keep_(keep), log_(log) {
  if (world_dir_.empty()) return;
  for (const std::string& half : remove_half_backups(world_dir_ + "/backups"))
    log_.info("backup_removed", {{"folder", half}, {"reason", "it was cut off half-made"}});
}

std::chrono::microseconds Backups::first_wait() const {
  const std::chrono::microseconds least = std::min<std::chrono::microseconds>(every_, settle);
  const std::time_t now_s = std::time(nullptr);
  const auto newest = newest_backup_s(world_dir_ + "/backups", now_s);
  if (!newest) return least;
  return std::max(least, every_ - std::chrono::seconds(now_s - *newest));
}

void Backups::end(std::chrono::microseconds now, const Outcome& outcome) {
  under_way_ = false;
  if (!outcome) {
    next_.emplace(now + std::min<std::chrono::microseconds>(every_, retry), every_);
    return log_.event(LogLevel::error, "backup_failed", {{"error", outcome.error()}});
  }
  if (outcome->path.empty()) return;
  last_ = outcome->path;
  last_at_ = begun_at_;
  if (outcome->faults == 0) return log_.info("backup", {{"folder", last_}});
  log_.event(LogLevel::error, "backup_damaged",
             {{"folder", last_},
              {"faults", outcome->faults},
              {"remedy", "the world has them, too: see ashlar-server world check " + world_dir_}});
}

void Backups::watch(std::chrono::microseconds now, std::uint64_t groups) {
  if (world_dir_.empty() || every_.count() == 0) return;
  if (const auto done = work_.take()) end(now, *done);
  if (!next_) next_.emplace(now + first_wait(), every_);
  if (!next_->due(now)) return;
  // A disk that takes longer than that has enough to do.
  if (std::exchange(under_way_, true)) return;
  begun_at_ = groups;
  const std::string same = groups == last_at_ ? last_ : std::string();  // as far as its database goes
  work_.start([world = world_dir_, keep = keep_, unix_s = std::time(nullptr), same]() -> Outcome {
    if (!same.empty() && same_settings(world, same)) return DatedBackup();
    return make_dated_backup(world, world + "/backups", unix_s, keep);
  });
}

}  // namespace ashlar::server
