#pragma once
#include <algorithm>

namespace ashlar {

/// All straight lines from one box to another, seen from one side: what they cover at each place along the
/// way, in one of the directions across. The boxes are apart along the way.
struct ShaftSide {
  double from_begin, from_end;  ///< of the first box along the way
  double to_begin, to_end;      ///< of the second: from_end <= to_begin
  double from_low, from_high;   ///< of the first box across
  double to_low, to_high;       ///< of the second

  /// The least and the greatest that any of the lines has at a place along the way. Both are monotone.
  double low(double at) const { return lower(from_low, to_low, at); }
  double high(double at) const { return -lower(-from_high, -to_high, at); }

 private:
  double lower(double from, double to, double at) const {
    // The lower edge of the hull runs along the lower box as far as it can.
    const double begin = from <= to ? from_end : from_begin, end = from <= to ? to_end : to_begin;
    const double share = end > begin ? std::clamp((at - begin) / (end - begin), 0.0, 1.0) : 1.0;
    return from + (to - from) * share;
  }
};

}  // namespace ashlar
