#include "server/admin/live_view.h"

#include <algorithm>

namespace ashlar::server {

std::string LiveView::erased() {
  // Up to the block's first line, then clear to the end of the screen.
  std::string out = lines_ > 0 ? "\x1b[" + std::to_string(lines_) + "A\r\x1b[J" : "";
  lines_ = 0;
  return out;
}

std::string LiveView::drawn() {
  if (block_.empty()) return "";
  lines_ = static_cast<std::size_t>(std::count(block_.begin(), block_.end(), '\n'));
  // Without wrapping: a line that took two rows would be erased by half.
  return "\x1b[?7l" + block_ + "\x1b[?7h";
}

std::string LiveView::line(std::string_view text) {
  std::string out = erased();
  out.append(text).push_back('\n');
  return out + drawn();
}

std::string LiveView::show(std::string_view block) {
  const std::string out = erased();
  block_ = block;
  return out + drawn();
}

}  // namespace ashlar::server
