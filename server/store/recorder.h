#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "protocol/recording.h"
#include "server/host/host.h"
#include "server/store/recording_file.h"

namespace ashlar::server {

/// Writes every tick to a file as it happens. The tick only encodes into memory; a thread of its own writes a
/// block a second and syncs it, so a crash loses at most the last second.
///
/// Limits: at most recorder_backlog_bytes_max wait for a slow disk; beyond that, when a write or sync fails,
/// or when the file would be longer than it may, the recording ends at the last whole block and failure()
/// says why. It never slows the tick.
class Recorder final : public TickSink {
 public:
  struct Options {
    std::uint64_t bytes_max = 0;  ///< of the file; 0: as many as there are
    /// Called on the recorder's thread now and then (housekeeping_every_blocks), also before the first block.
    std::function<void()> housekeeping;
  };
  static constexpr unsigned housekeeping_every_blocks = 600;  // ten minutes

  /// @param file  fresh and empty; kept
  Recorder(RecordingFile file, const RecordingHeader& header, Options options);
  Recorder(RecordingFile file, const RecordingHeader& header)
      : Recorder(std::move(file), header, Options()) {}
  ~Recorder() override;  ///< finishes

  void on_tick(const TickRecord& record) override;
  /// Writes what is left; what comes later is not recorded. Then failure() is the last word.
  void finish();
  /// Empty while all is well; then one line. Any thread.
  std::string failure() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

inline constexpr std::size_t recorder_backlog_bytes_max = 64u << 20;

}  // namespace ashlar::server
