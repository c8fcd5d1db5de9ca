#pragma once
#include <string>
#include <string_view>

namespace ashlar::server {

/// A block of text that stays at the foot of a terminal while lines pass above it: what to send to one that
/// understands ANSI escapes. Without a block lines are lines. A value; writes nothing itself.
class LiveView {
 public:
  /// Prints a line above the block.
  std::string line(std::string_view text);
  /// Replaces the block. Lines end in a newline each.
  std::string show(std::string_view block);

 private:
  std::string erased();
  std::string drawn();

  std::string block_;
  std::size_t lines_ = 0;  // of the block that is on the screen
};

}  // namespace ashlar::server
