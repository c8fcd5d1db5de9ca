#pragma once
#include <expected>
#include <memory>
#include <string>

#include "protocol/recording.h"
#include "server/host.h"

namespace ashlar::server {

/// Writes every tick to a file as it happens. The tick only encodes into memory; a thread of its own writes a
/// block a second and syncs it, so a crash loses at most the last second.
///
/// Limits: at most recorder_backlog_bytes_max wait for a slow disk; beyond that, or when a write fails, the
/// recording ends at the last whole block and failure() says why. It never slows the tick.
class Recorder final : public TickSink {
 public:
  /// Creates the file; an existing one is refused, so that no match is overwritten by a restart.
  static std::expected<std::unique_ptr<Recorder>, std::string> create(const std::string& path,
                                                                      const RecordingHeader& header);
  ~Recorder() override;  ///< finishes

  void on_tick(const TickRecord& record) override;
  /// Writes what is left; what comes later is not recorded. Then failure() is the last word.
  void finish();
  /// Empty while all is well; then one line. Any thread.
  std::string failure() const;

 private:
  struct Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

inline constexpr std::size_t recorder_backlog_bytes_max = 64u << 20;

}  // namespace ashlar::server
