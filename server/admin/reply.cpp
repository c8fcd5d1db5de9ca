#include "server/admin/reply.h"

#include <string>

#include "server/host/host.h"

namespace ashlar::server {

Reply::Reply(Log& log, Host& host, std::uint32_t connection)
    : log_(&log), host_(&host), connection_(connection) {
  if (const EntityId player = host.player_of(connection); player != EntityId{0}) by_ = player;
}

void Reply::say(LogLevel level, std::string_view name, std::span<const LogField> fields) {
  log_->event(level, name, fields);
  if (host_ == nullptr || lines_ > lines_max) return;
  // Whoever reads a line of chat needs no word for what it is.
  constexpr std::string_view begins = "event=";
  const std::string line = format_event(LogFormat::text, name, fields);
  const std::string_view text = std::string_view(line).substr(line.starts_with(begins) ? begins.size() : 0);
  host_->tell(connection_, lines_++ < lines_max ? text : "... the server's log has the rest");
}

}  // namespace ashlar::server
