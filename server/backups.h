#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "server/background.h"
#include "server/every.h"
#include "server/log/log.h"

namespace ashlar::server {

/// The backups that a server makes by itself, in the folder backups of its world, on a thread of their own.
/// The loop's thread.
class Backups {
 public:
  /// @param world_dir  empty: none are made
  /// @param every      0: none are made
  Backups(std::string world_dir, std::chrono::milliseconds every, std::uint32_t keep, Log& log);

  /// Begins one when it is time, and says what became of the last: a line each. Never waits.
  void watch(std::chrono::microseconds now);

 private:
  using Outcome = std::expected<std::string, std::string>;

  std::string world_dir_;
  std::chrono::microseconds every_;
  std::uint32_t keep_;
  Log& log_;
  std::optional<Every> next_;  // none before the first watch()
  bool under_way_ = false;
  Background<Outcome> work_;
};

}  // namespace ashlar::server
