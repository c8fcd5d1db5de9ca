#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/bytes.h"

// Lists of records, field by field: what stands together is alike, so it compresses well. For layouts of
// content alone.

namespace ashlar {

/// A field of whole numbers, each as its difference from the one before (from 0 at first).
template <class Row, class Get>
void write_column(ByteWriter& w, const std::vector<Row>& rows, Get get) {
  std::int64_t before = 0;
  for (const Row& row : rows) {
    const auto v = static_cast<std::int64_t>(get(row));
    w.svarint(v - before);
    before = v;
  }
}

/// Sets the field in rows that are there already. @param low, high  what the numbers may be; 0 is in between,
/// and both are below 2^62. @return false: one is not, or the bytes ran out
template <class Row, class Set>
bool read_column(ByteReader& r, std::vector<Row>& rows, std::int64_t low, std::int64_t high, Set set) {
  std::int64_t v = 0;
  for (Row& row : rows) {
    const std::int64_t step = r.svarint();
    if (!r.ok() || step > high - low || step < low - high) return false;
    v += step;
    if (v < low || v > high) return false;
    set(row, v);
  }
  return true;
}

/// How many rows follow, each of which takes `row_bytes` at least, so that nobody makes room for what is not
/// there. @return false: more than `most`, or than the bytes that are left can hold
inline bool read_count(ByteReader& r, std::size_t row_bytes, std::size_t most, std::size_t& count) {
  const std::uint64_t told = r.varint();
  if (!r.ok() || told > most || told > r.left() / row_bytes) return false;
  count = static_cast<std::size_t>(told);
  return true;
}

namespace detail {
inline constexpr double whole_number_max = 1 << 24;
/// -0 is none: its bits would be lost.
inline bool is_whole(double v) {
  return std::fabs(v) <= whole_number_max && v == std::floor(v) && !(v == 0 && std::signbit(v));
}
}  // namespace detail

/// A field of doubles to the last bit. A byte 0: all are whole, and written as differences. 1: all of their
/// first bytes, then all of their second, and so on to the eighth.
inline void write_numbers(ByteWriter& w, std::span<const double> numbers) {
  bool whole = true;
  for (const double v : numbers) whole = whole && detail::is_whole(v);
  w.u8(whole ? 0 : 1);
  if (whole) {
    std::int64_t before = 0;
    for (const double d : numbers) {
      const auto v = static_cast<std::int64_t>(d);
      w.svarint(v - before);
      before = v;
    }
    return;
  }
  for (int shift = 0; shift < 64; shift += 8)
    for (const double d : numbers) w.u8(static_cast<std::uint8_t>(std::bit_cast<std::uint64_t>(d) >> shift));
}

/// Fills the span. Any doubles may come, NaN among them: their ranges are the caller's to check.
/// @return false: the bytes ran out, or mean nothing
inline bool read_numbers(ByteReader& r, std::span<double> numbers) {
  const std::uint8_t form = r.u8();
  if (!r.ok() || form > 1) return false;
  if (form == 0) {
    constexpr auto most = static_cast<std::int64_t>(detail::whole_number_max);
    std::int64_t v = 0;
    for (double& d : numbers) {
      const std::int64_t step = r.svarint();
      if (!r.ok() || step > 2 * most || step < -2 * most) return false;
      v += step;
      if (v > most || v < -most) return false;
      d = static_cast<double>(v);
    }
    return true;
  }
  if (r.left() / 8 < numbers.size()) return false;
  std::vector<std::uint64_t> bits(numbers.size(), 0);
  for (int shift = 0; shift < 64; shift += 8)
    for (std::uint64_t& b : bits) b |= static_cast<std::uint64_t>(r.u8()) << shift;
  for (std::size_t i = 0; i < bits.size(); ++i) numbers[i] = std::bit_cast<double>(bits[i]);
  return r.ok();
}

/// The same for a field of records.
template <class Row, class Get>
void write_numbers(ByteWriter& w, const std::vector<Row>& rows, Get get) {
  std::vector<double> numbers;
  numbers.reserve(rows.size());
  for (const Row& row : rows) numbers.push_back(get(row));
  write_numbers(w, numbers);
}
template <class Row, class Set>
bool read_numbers(ByteReader& r, std::vector<Row>& rows, Set set) {
  std::vector<double> numbers(rows.size());
  if (!read_numbers(r, numbers)) return false;
  for (std::size_t i = 0; i < rows.size(); ++i) set(rows[i], numbers[i]);
  return true;
}

}  // namespace ashlar
