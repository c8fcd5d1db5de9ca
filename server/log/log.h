#pragma once
#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "server/config/config.h"

// One event per line: `event=ready port=7777`, or the same as a JSON object. Keys name their units. The log
// is for edges (start, join, leave, a late tick, stop); what happens every tick is counted and shown as
// status.

namespace ashlar::server {

/// A key and its value; views must live as long as the call.
struct LogField {
  std::string_view key;
  std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool> value;

  /// Texts are not copied. @param v  of char*: not null
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
  LogField(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
  LogField(std::string_view k, bool v) : key(k), value(v) {}
  LogField(std::string_view k, double v) : key(k), value(v) {}
  /// Any width, by its value.
  template <std::unsigned_integral T>
  LogField(std::string_view k, T v) : key(k), value(static_cast<std::uint64_t>(v)) {}
  template <std::signed_integral T>
  LogField(std::string_view k, T v) : key(k), value(static_cast<std::int64_t>(v)) {}
};

/// Takes finished lines, without their newline.
class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual void line(std::string_view text) = 0;
  /// That it had no room for.
  virtual std::uint64_t lines_lost() const { return 0; }
};

/// Writes events, at once and on the calling thread, to a sink: the server's is an OutputWriter, so that a
/// terminal or a pipe that stands still holds up nothing. event() may be called from any thread.
class Log {
 public:
  Log(LogFormat format, LogLevel least, std::shared_ptr<LineSink> sink);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// One line, when logs(level). @param name  of the event: a literal like "late_tick"
  void event(LogLevel level, std::string_view name, std::span<const LogField> fields);
  void event(LogLevel level, std::string_view name, std::initializer_list<LogField> fields) {
    event(level, name, std::span(fields.begin(), fields.size()));
  }
  void info(std::string_view name, std::initializer_list<LogField> fields) {
    event(LogLevel::info, name, fields);
  }
  void warning(std::string_view name, std::initializer_list<LogField> fields) {
    event(LogLevel::warning, name, fields);
  }

  void set_level(LogLevel least);   ///< from now on; any thread
  bool logs(LogLevel level) const;  ///< is the level at or above the least?
  /// Lines that the sink had no room for so far.
  std::uint64_t lines_lost() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The part of a line behind time and level. Text values are quoted where a reader could misread them; what
/// is not UTF-8 comes out as U+FFFD, control characters escaped, so a line stays a line whatever a peer is
/// called.
std::string format_event(LogFormat format, std::string_view name, std::span<const LogField> fields);

/// How often something may be logged: at most `count_max` times in each `per`, the rest counted.
class RateCap {
 public:
  RateCap(std::uint32_t count_max, std::chrono::microseconds per) : count_max_(count_max), per_(per) {}

  /// May it be logged now? When it may, `suppressed` tells how many were not since the last that was.
  bool allow(std::chrono::microseconds now, std::uint64_t& suppressed);

 private:
  std::uint32_t count_max_;
  std::chrono::microseconds per_;
  std::chrono::microseconds begun_{0};
  std::uint32_t count_ = 0;
  std::uint64_t suppressed_ = 0;
};

}  // namespace ashlar::server
