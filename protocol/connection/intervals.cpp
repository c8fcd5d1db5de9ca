#include "protocol/connection/intervals.h"

#include <algorithm>

namespace ashlar {

std::size_t IntervalSet::first_ending_from(std::uint64_t offset) const {
  const auto found = std::lower_bound(list_.begin(), list_.end(), offset,
                                      [](const Interval& held, std::uint64_t at) { return held.end < at; });
  return static_cast<std::size_t>(found - list_.begin());
}

void IntervalSet::insert(Interval added) {
  if (added.begin >= added.end) return;
  const std::size_t first = first_ending_from(added.begin);
  std::size_t last = first;  // one behind those that touch it
  while (last < list_.size() && list_[last].begin <= added.end) {
    added.begin = std::min(added.begin, list_[last].begin);
    added.end = std::max(added.end, list_[last].end);
    ++last;
  }
  const auto at = list_.begin() + static_cast<std::ptrdiff_t>(first);
  if (last == first) {
    list_.insert(at, added);
    return;
  }
  *at = added;
  list_.erase(at + 1, list_.begin() + static_cast<std::ptrdiff_t>(last));
}

void IntervalSet::erase(Interval removed) {
  if (removed.begin >= removed.end) return;
  std::size_t i = first_ending_from(removed.begin);
  while (i < list_.size() && list_[i].begin < removed.end) {
    const Interval held = list_[i];
    const Interval left{held.begin, std::min(held.end, removed.begin)};
    const Interval right{std::max(held.begin, removed.end), held.end};
    const bool keeps_left = held.begin<removed.begin, keeps_right = held.end> removed.end;
    const auto at = list_.begin() + static_cast<std::ptrdiff_t>(i);
    if (keeps_left && keeps_right) {
      *at = left;
      list_.insert(at + 1, right);
      return;
    }
    if (keeps_left) *at = left, ++i;
    if (keeps_right) *at = right, ++i;
    if (!keeps_left && !keeps_right) list_.erase(at);
  }
}

std::size_t IntervalSet::count_with(Interval added) const {
  if (added.begin >= added.end) return list_.size();
  const std::size_t first = first_ending_from(added.begin);
  std::size_t last = first;
  while (last < list_.size() && list_[last].begin <= added.end) ++last;
  return list_.size() - (last - first) + 1;
}

bool IntervalSet::covers(Interval asked) const {
  if (asked.begin >= asked.end) return true;
  const std::size_t i = first_ending_from(asked.end);
  return i < list_.size() && list_[i].begin <= asked.begin;
}

std::uint64_t IntervalSet::bytes() const {
  std::uint64_t sum = 0;
  for (const Interval& held : list_) sum += held.size();
  return sum;
}

}  // namespace ashlar
