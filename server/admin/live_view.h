#pragma once
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "server/log.h"

namespace ashlar::server {

/// A block of text that stays at the foot of a terminal while log lines pass above it. It is the log's sink,
/// so that the two never write over each other.
class LiveView final : public LineSink {
 public:
  /// @param out  a terminal that understands ANSI escapes; not owned
  explicit LiveView(std::FILE* out) : out_(out) {}
  ~LiveView() override;  ///< leaves the last block standing

  /// Prints a line above the block.
  void line(std::string_view text) override;
  /// Replaces the block. Lines end in a newline each.
  void show(std::string_view block);

 private:
  void erase();
  void draw();

  std::mutex mutex_;
  std::FILE* out_;  // guarded by mutex_, as the rest
  std::string block_;
  std::size_t lines_ = 0;  // of the block that is on the screen
};

}  // namespace ashlar::server
