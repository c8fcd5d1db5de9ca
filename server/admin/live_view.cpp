#include "server/admin/live_view.h"

#include <algorithm>

namespace ashlar::server {

LiveView::~LiveView() { std::fflush(out_); }

void LiveView::erase() {
  // Up to the block's first line, then clear to the end of the screen.
  if (lines_ > 0) std::fprintf(out_, "\x1b[%zuA\r\x1b[J", lines_);
  lines_ = 0;
}

void LiveView::draw() {
  // Without wrapping: a line that took two rows would be erased by half.
  std::fprintf(out_, "\x1b[?7l%s\x1b[?7h", block_.c_str());
  lines_ = static_cast<std::size_t>(std::count(block_.begin(), block_.end(), '\n'));
  std::fflush(out_);
}

void LiveView::line(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  erase();
  std::fprintf(out_, "%.*s\n", static_cast<int>(text.size()), text.data());
  draw();
}

void LiveView::show(std::string_view block) {
  const std::scoped_lock lock(mutex_);
  erase();
  block_ = block;
  draw();
}

}  // namespace ashlar::server
