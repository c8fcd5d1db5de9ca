#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "server/log/log.h"
#include "server/store/saver.h"

namespace ashlar::server {

class Host;

/// Whom an order of the console is from, and where its answers go: into the log, and to the admin who gave it
/// in play. A value; the loop's thread.
class Reply {
 public:
  /// Lines that one order tells an admin at most; the log has all.
  static constexpr std::uint32_t lines_max = 24;

  /// An operator's, at the server's own console. @param log  must outlive it
  explicit Reply(Log& log) : log_(&log) {}
  /// An admin's who plays. @param host  must outlive it; who has left by then is told nothing
  Reply(Log& log, Host& host, std::uint32_t connection);

  void info(std::string_view name, std::initializer_list<LogField> fields) {
    say(LogLevel::info, name, {fields.begin(), fields.size()});
  }
  void warning(std::string_view name, std::initializer_list<LogField> fields) {
    say(LogLevel::warning, name, {fields.begin(), fields.size()});
  }
  /// Who is said to have changed what the order changes: the admin, or operator_entity.
  EntityId by() const { return by_; }

 private:
  void say(LogLevel level, std::string_view name, std::span<const LogField> fields);

  Log* log_;
  Host* host_ = nullptr;
  std::uint32_t connection_ = 0, lines_ = 0;
  EntityId by_ = operator_entity;
};

}  // namespace ashlar::server
