#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "server/background.h"
#include "server/every.h"
#include "server/log/log.h"
#include "server/store/world_backup.h"

namespace ashlar::server {

/// The backups that a server makes by itself, in the folder backups of its world, on a thread of their own.
/// None is made of a world that is as the last one of this run has it. They are due by the time of the newest
/// one that is there, so that a server that is started often makes as many. The loop's thread.
class Backups {
 public:
  /// @param world_dir  empty: none are made
  /// @param every      0: none are made; what one that was cut off left half-made goes all the same
  Backups(std::string world_dir, std::chrono::milliseconds every, std::uint32_t keep, Log& log);

  /// Begins one when it is time, and says what became of the last: a line each. Never waits.
  /// @param groups  that were saved of the world so far (SaverStatus)
  void watch(std::chrono::microseconds now, std::uint64_t groups);

 private:
  using Outcome = std::expected<DatedBackup, std::string>;  // no path: nothing had changed

  void end(std::chrono::microseconds now, const Outcome& outcome);
  std::chrono::microseconds first_wait() const;

  std::string world_dir_;
  std::chrono::microseconds every_;
  std::uint32_t keep_;
  Log& log_;
  std::optional<Every> next_;  // none before the first watch()
  bool under_way_ = false;
  std::uint64_t begun_at_ = 0;  // groups, when the one under way began
  std::string last_;            // of this run; empty: none yet
  std::uint64_t last_at_ = 0;   // groups, when that one began
  Background<Outcome> work_;
};

}  // namespace ashlar::server
