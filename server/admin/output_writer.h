#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "server/log/log.h"

namespace ashlar::server {

/// Writes lines, and a block that is drawn in place below them, to a descriptor that may stand still for
/// ever: a terminal that was stopped, a pipe that nobody reads. A thread of its own writes; whoever hands
/// something over never waits for it. Any thread may. Lines that cannot be written, or not wholly, are
/// counted as lost, and the first time it is said on standard error; one that is written after such a line
/// begins anew.
class OutputWriter final : public LineSink {
 public:
  /// Lines that wait at most; then the oldest are lost, and counted.
  static constexpr std::size_t lines_max = 8192;
  /// At the end: so long without a byte written and what is left is given up, as all is after drain_max.
  static constexpr std::chrono::milliseconds idle_max{1000};
  static constexpr std::chrono::milliseconds drain_max{5000};

  /// @param descriptor  not owned; its flags stay as they are, as a terminal is shared with the shell
  explicit OutputWriter(int descriptor);
  /// Writes what waits, within the limits above.
  ~OutputWriter() override;
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;

  void line(std::string_view text) override;
  /// Replaces the block at the foot of a terminal; of several that wait the newest counts.
  void show(std::string_view block);
  std::uint64_t lines_lost() const override;

 private:
  struct Shared;
  std::shared_ptr<Shared>
      shared_;  // the thread's too: it may outlive the writer where a write does not return
};

}  // namespace ashlar::server
