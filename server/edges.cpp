#include "server/edges.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "protocol/drop_reason.h"
#include "protocol/secure/key_text.h"
#include "server/host/overload.h"
#include "server/net/address.h"

namespace ashlar::server {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

constexpr microseconds losses_every = seconds(10);

constexpr const char* overload_remedy = "fewer clients or monsters, a lower --tick-rate, or a faster machine";

double ms(std::uint64_t ns) { return static_cast<double>(ns / 1000) / 1000.0; }

}  // namespace

Edges::Edges(Log& log, microseconds start, std::uint16_t tick_rate_hz)
    : log_(log),
      tick_ns_max_(1'000'000'000u / tick_rate_hz),
      people_(200, seconds(1)),
      orders_(200, seconds(1)),
      flags_(200, seconds(1)),
      talk_(200, seconds(1)),
      refusals_(20, seconds(10)),
      closes_(20, seconds(10)),
      late_(5, seconds(10)),
      skips_(1, seconds(10)),
      matches_(20, seconds(10)),
      next_losses_(start + losses_every) {}

void Edges::observe(microseconds now, const HostStatus& status, const TransportCounters& transports,
                    std::span<const HostEvent> events, std::span<const TcpClosed> closes) {
  for (const HostEvent& event : events) log_event(now, event);
  for (const TcpClosed& closed : closes) log_close(now, closed);
  if (status.tick != tick_seen_) {
    tick_seen_ = status.tick;
    match_waits_ = false;
    const auto& phases = status.phase_ns_last;
    log_late_tick(now, status, std::accumulate(phases.begin(), phases.end(), std::uint64_t{0}));
  }
  if (!match_waits_) log_match(now, status);
  log_overload(status);
  log_skipped_ticks(now, status);
  log_forgotten(status);
  if (now < next_losses_) return;
  next_losses_ = now + losses_every;
  log_losses(status, transports);
}

void Edges::begin_world(std::uint32_t tick) {
  tick_seen_ = tick;
  match_seen_ = 1, phase_seen_ = MatchPhase::open;
  match_waits_ = true;
}

void Edges::log_close(microseconds now, const TcpClosed& closed) {
  std::uint64_t suppressed = 0;
  if (!closes_.allow(now, suppressed)) return;
  const std::string address = to_text(closed.peer);  // a field only looks at its text
  std::vector<LogField> fields{{"address", address}, {"reason", name(closed.why)}};
  if (suppressed > 0) fields.emplace_back("suppressed", suppressed);
  log_.event(LogLevel::info, "connection_closed", fields);
}

/// What is looked up afterwards has a cap of its own: nobody hides it by coming and going, or by talking.
RateCap& Edges::cap_of(HostEventKind kind) {
  switch (kind) {
    case HostEventKind::refused: return refusals_;
    case HostEventKind::chat: return talk_;
    case HostEventKind::order: return orders_;
    case HostEventKind::flagged: return flags_;
    case HostEventKind::joined:
    case HostEventKind::left:
    case HostEventKind::away:
    case HostEventKind::returned: break;
  }
  return people_;
}

void Edges::log_event(microseconds now, const HostEvent& event) {
  std::uint64_t suppressed = 0;
  if (!cap_of(event.kind).allow(now, suppressed)) return;
  std::vector<LogField> fields{{"player", event.name}};
  const std::string address = to_text(event.peer);
  const std::string key = event.key ? secure::public_key_text(*event.key) : "";
  fields.emplace_back("address", address);
  fields.emplace_back("transport", event.peer.transport == Transport::tcp ? "tcp" : "udp");
  if (event.connection != 0) fields.emplace_back("connection", event.connection);
  const char* name = "joined";
  switch (event.kind) {
    case HostEventKind::joined:
      if (event.key) fields.emplace_back("key", key);
      break;
    case HostEventKind::left:
      name = "left";
      fields.emplace_back("reason", event.detail);
      break;
    case HostEventKind::flagged: name = "flagged"; break;
    case HostEventKind::away: name = "away"; break;
    case HostEventKind::returned: name = "returned"; break;
    case HostEventKind::refused:
      name = "refused";
      fields.emplace_back("reason", event.detail);
      break;
    case HostEventKind::order:
    case HostEventKind::chat:
      name = event.kind == HostEventKind::order ? "order" : "chat";
      fields.emplace_back("text", event.detail);
      break;
  }
  if (suppressed > 0) fields.emplace_back("suppressed", suppressed);
  log_.event(LogLevel::info, name, fields);
}

void Edges::log_late_tick(microseconds now, const HostStatus& status, std::uint64_t tick_ns) {
  std::uint64_t suppressed = 0;
  if (tick_ns > tick_ns_max_ && late_.allow(now, suppressed))
    log_.warning("late_tick",
                 {{"tick", status.tick},
                  {"duration_ms", ms(tick_ns)},
                  {"allowed_ms", ms(tick_ns_max_)},
                  {"step_ms", ms(status.phase_ns_last[static_cast<std::size_t>(Phase::step)])},
                  {"publish_ms", ms(status.phase_ns_last[static_cast<std::size_t>(Phase::publish)])},
                  {"send_ms", ms(status.phase_ns_last[static_cast<std::size_t>(Phase::send)])},
                  {"clients", status.clients},
                  {"suppressed", suppressed}});
}

/// Each phase as it begins; behind a match who was best, and the teams' points where there are any.
void Edges::log_match(microseconds now, const HostStatus& status) {
  if (status.match == match_seen_ && status.match_phase == phase_seen_) return;
  match_seen_ = status.match, phase_seen_ = status.match_phase;
  std::uint64_t suppressed = 0;
  if (!matches_.allow(now, suppressed)) return;
  const std::string phase(name(status.match_phase));
  std::vector<LogField> fields{{"number", status.match}, {"phase", phase}};
  std::string teams;
  if (status.match_phase == MatchPhase::intermission) {
    fields.emplace_back("best", status.best_player);
    fields.emplace_back("best_score", status.best_score);
    std::size_t count = teams_max;
    while (count > 0 && status.team_score[count - 1] == 0) --count;
    for (std::size_t team = 0; team < std::max<std::size_t>(count, 2) && count > 0; ++team)
      teams += (team > 0 ? " " : "") + std::to_string(status.team_score[team]);
    if (count > 0) fields.emplace_back("teams", teams);
  }
  if (suppressed > 0) fields.emplace_back("suppressed", suppressed);
  log_.event(LogLevel::info, "match", fields);
}

/// The ladder itself sees to it that there are few of these.
void Edges::log_overload(const HostStatus& status) {
  if (status.overload_rung == rung_seen_) return;
  const auto rung = static_cast<OverloadRung>(status.overload_rung);
  const auto before = static_cast<OverloadRung>(std::exchange(rung_seen_, status.overload_rung));
  const bool worse = rung > before;
  std::vector<LogField> fields{{"leaves_out", name(rung)},
                               {"before", name(before)},
                               {"tick", status.tick},
                               {"ticks_late", status.ticks_late},
                               {"clients", status.clients}};
  if (worse) fields.emplace_back("remedy", overload_remedy);
  log_.event(worse ? LogLevel::warning : LogLevel::info, worse ? "overload" : "overload_eased", fields);
}

void Edges::log_skipped_ticks(microseconds now, const HostStatus& status) {
  std::uint64_t suppressed = 0;
  if (status.ticks_skipped == skipped_seen_ || !skips_.allow(now, suppressed)) return;
  log_.warning("ticks_skipped", {{"count", status.ticks_skipped - skipped_seen_},
                                 {"total", status.ticks_skipped},
                                 {"tick", status.tick},
                                 {"remedy", overload_remedy}});
  skipped_seen_ = status.ticks_skipped;
}

/// Once: where it began it goes on with everybody who leaves.
void Edges::log_forgotten(const HostStatus& status) {
  if (status.players_forgotten == 0 || std::exchange(forgotten_told_, true)) return;
  log_.warning("players_forgotten",
               {{"tick", status.tick},
                {"effect",
                 "more players are away than are kept: who held little and was away for longest comes back "
                 "with nothing"},
                {"remedy", "--access token, where strangers fill the server with ever new keys"}});
}

void Edges::log_losses(const HostStatus& status, const TransportCounters& transports) {
  const TransportCounters& seen = transports_seen_;
  if (const std::uint64_t lost = transports.udp_dropped_kernel - seen.udp_dropped_kernel; lost > 0)
    log_.warning("receive_buffer_full", {{"datagrams_lost", lost},
                                         {"total", transports.udp_dropped_kernel},
                                         {"remedy", "raise net.core.rmem_max (sysctl), then restart"}});
  const std::uint64_t unsent = transports.udp_send_full - seen.udp_send_full;
  const std::uint64_t unqueued = transports.tcp_send_full - seen.tcp_send_full;
  if (unsent + unqueued > 0)
    log_.warning("send_buffer_full", {{"udp_datagrams_lost", unsent}, {"tcp_packets_lost", unqueued}});
  if (seen.udp_bursts_refused == 0 && transports.udp_bursts_refused > 0)
    log_.event(
        LogLevel::info, "udp_segments_refused",
        {{"effect", "datagrams go out one by one where the network device cannot cut a burst into them"}});
  if (const std::uint64_t failed = transports.tcp_accept_errors - seen.tcp_accept_errors; failed > 0)
    log_.warning("accept_failed",
                 {{"count", failed}, {"remedy", "raise the limit of open files (ulimit -n), then restart"}});
  if (const std::uint64_t gone = transports.tcp_closed_displaced - seen.tcp_closed_displaced; gone > 0)
    log_.warning("strangers_displaced",
                 {{"connections", gone},
                  {"total", transports.tcp_closed_displaced},
                  {"remedy",
                   "none where the addresses are an attacker's; a larger max_clients has more places "
                   "for those on their way in"}});
  transports_seen_ = transports;
  if (!log_.logs(LogLevel::debug)) return;
  for (std::size_t reason = 0; reason < drops_seen_.size(); ++reason)
    if (status.drops[reason] != drops_seen_[reason])
      log_.event(LogLevel::debug, "rejected",
                 {{"reason", name(static_cast<DropReason>(reason))},
                  {"count", status.drops[reason] - drops_seen_[reason]},
                  {"total", status.drops[reason]}});
  drops_seen_ = status.drops;
}

}  // namespace ashlar::server
