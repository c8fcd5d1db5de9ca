#include "protocol/connection/ack_ranges.h"

#include <algorithm>

namespace ashlar {

void AckRanges::insert(std::uint64_t sequence) {
  std::size_t i = 0;
  while (i < count_ && ranges_[i].first > sequence + 1) ++i;
  // Row i, if there is one, contains the sequence, touches it or lies below it.
  if (i < count_ && sequence <= ranges_[i].last + 1) {
    if (sequence >= ranges_[i].first && sequence <= ranges_[i].last) return;
    if (sequence == ranges_[i].last + 1) {  // it cannot touch the row above, or the loop had stopped there
      ranges_[i].last = sequence;
      return;
    }
    ranges_[i].first = sequence;
    if (i + 1 < count_ && ranges_[i + 1].last + 1 == sequence) {
      ranges_[i].first = ranges_[i + 1].first;
      std::copy(ranges_.begin() + static_cast<std::ptrdiff_t>(i) + 2,
                ranges_.begin() + static_cast<std::ptrdiff_t>(count_),
                ranges_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      --count_;
    }
    return;
  }
  if (count_ == ranges_max) {
    ++forgotten_;
    if (i == count_) return;  // it would be the oldest itself
    --count_;
  }
  std::copy_backward(ranges_.begin() + static_cast<std::ptrdiff_t>(i),
                     ranges_.begin() + static_cast<std::ptrdiff_t>(count_),
                     ranges_.begin() + static_cast<std::ptrdiff_t>(count_) + 1);
  ranges_[i] = {sequence, sequence};
  ++count_;
}

void AckRanges::forget_until(std::uint64_t sequence) {
  while (count_ > 0 && ranges_[count_ - 1].last <= sequence) --count_;
  if (count_ > 0 && ranges_[count_ - 1].first <= sequence) ranges_[count_ - 1].first = sequence + 1;
}

}  // namespace ashlar
