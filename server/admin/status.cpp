#include "server/admin/status.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "server/host/overload.h"

namespace ashlar::server {
namespace {

Spread spread_of(const Histogram& histogram) {
  // To a microsecond: more digits would only be noise in a log.
  const auto ms = [](std::uint64_t ns) { return static_cast<double>((ns + 500) / 1000) / 1000.0; };
  return {ms(histogram.quantile(0.5)), ms(histogram.quantile(0.99)), ms(histogram.max())};
}

double rounded(double value) { return std::floor(value + 0.5); }

template <class... Values>
std::string print(const char* format, Values... values) {
  char line[256];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

/// "812 B/s", "64.2 kB/s", "1.31 MB/s"
std::string rate_text(double bytes_per_s) {
  if (bytes_per_s < 1000) return print("%.0f B/s", bytes_per_s);
  if (bytes_per_s < 1e6) return print("%.1f kB/s", bytes_per_s / 1e3);
  return print("%.2f MB/s", bytes_per_s / 1e6);
}

std::string spread_line(const char* what, const Spread& spread) {
  return print("  %-14s %9.3f %9.3f %9.3f\n", what, spread.p50_ms, spread.p99_ms, spread.max_ms);
}

/// Of values by how often each came.
std::uint32_t median_of(std::span<const std::uint32_t> counts) {
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::uint64_t sum = 0;
  for (std::uint32_t value = 0; value < counts.size(); ++value)
    if (2 * (sum += counts[value]) >= all) return value;
  return 0;
}

}  // namespace

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::poll: return "poll";
    case Phase::receive: return "receive";
    case Phase::step: return "step";
    case Phase::publish: return "publish";
    case Phase::housekeeping: return "housekeeping";
    case Phase::send: return "send";
  }
  return "";
}

namespace {
constexpr std::chrono::milliseconds rate_interval_min{250};
}  // namespace

std::uint64_t StatusMeter::observe(const HostStatus& status, std::uint64_t turn_ns) {
  busy_ns_ += turn_ns;
  // Another world counts from its beginning.
  const std::uint32_t ticks = status.tick - (status.tick < tick_seen_ ? 0 : tick_seen_);
  if (ticks == 0) return 0;
  tick_seen_ = status.tick;
  snapshot_wait_ticks_ = std::max(snapshot_wait_ticks_, status.snapshot_wait_ticks);
  waits_[std::min<std::size_t>(status.snapshot_wait_ticks, waits_.size() - 1)] += ticks;
  std::uint64_t total_ns = 0;
  for (std::size_t i = 0; i < phase_count; ++i) {
    total_ns += status.phase_ns_last[i];
    for (std::uint32_t count = 0; count < ticks; ++count) phases_[i].add(status.phase_ns_last[i]);
  }
  for (std::uint32_t count = 0; count < ticks; ++count) total_.add(total_ns);
  return total_ns;
}

StatusReport StatusMeter::report(std::chrono::microseconds now, const HostStatus& status,
                                 const TransportCounters& transports) {
  StatusReport report;
  report.up = now - start_;
  // One tick in the first moment of a start is no thousands a second.
  if (now - last_ >= rate_interval_min)
    report.interval_s = std::chrono::duration<double>(now - last_).count();
  report.tick = status.tick;
  report.ticks = total_.count();
  report.clients = status.clients;
  report.monsters = status.monsters;
  report.match = status.match, report.match_phase = status.match_phase;
  report.match_left_s = status.match_left_s, report.best_score = status.best_score;
  const auto rate = [&](std::uint64_t TransportCounters::* counter) {
    const auto more = static_cast<double>(transports.*counter - transports_seen_.*counter);
    return report.interval_s > 0 ? more / report.interval_s : 0.0;
  };
  report.bytes_in_per_s = rate(&TransportCounters::bytes_in);
  report.bytes_out_per_s = rate(&TransportCounters::bytes_out);
  report.datagrams_in_per_s = rate(&TransportCounters::datagrams_in);
  report.datagrams_out_per_s = rate(&TransportCounters::datagrams_out);
  report.rejected = std::accumulate(status.drops.begin(), status.drops.end(), std::uint64_t{0});
  report.rejected +=
      transports.udp_dropped_long + transports.tcp_closed_bad_frame + transports.tcp_closed_tiny_frame;
  report.dropped_kernel = transports.udp_dropped_kernel;
  report.dropped_sending = transports.udp_send_full + transports.tcp_send_full;
  report.ticks_late = status.ticks_late;
  report.ticks_skipped = status.ticks_skipped;
  report.overload_rung = status.overload_rung;
  report.overload_climbs = status.overload_climbs;
  report.overload_starved = status.overload_starved;
  report.snapshots_spared = status.snapshots_spared;
  report.stuck = status.stuck;
  report.recovered = status.recovered;
  report.lingering = status.lingering;
  report.notices_lost = status.notices_lost;
  report.blocks_changed = status.blocks_changed;
  report.chat_given_up = status.chat_given_up;
  report.greeted_displaced = status.greeted_displaced;
  report.content = status.content;
  report.away = status.away;
  report.handshakes = status.door.finishes;
  report.refused = std::accumulate(status.refusals.begin(), status.refusals.end(), std::uint64_t{0});
  report.snapshots_congested = status.snapshots_congested;
  report.snapshots_anew = status.snapshots_anew;
  report.resumed = status.resumed;
  report.resume_refused = status.resume_refused;
  report.moved = status.moved;
  report.gate = status.gate;
  report.ground = status.ground;
  report.tcp = transports;
  report.snapshots_made = status.snapshots_made;
  report.snapshots_cut = status.snapshots_cut;
  report.snapshots_overdue = status.snapshots_overdue;
  report.snapshot_wait_ticks = std::exchange(snapshot_wait_ticks_, 0);
  report.snapshot_wait_ticks_p50 = median_of(waits_);
  waits_.fill(0);
  const std::uint64_t busy_ns = std::exchange(busy_ns_, 0);
  if (report.interval_s > 0) report.busy = static_cast<double>(busy_ns) / 1e9 / report.interval_s;
  report.total = spread_of(total_);
  for (std::size_t i = 0; i < phase_count; ++i) report.phases[i] = spread_of(phases_[i]);

  last_ = now;
  transports_seen_ = transports;
  total_.clear();
  for (Histogram& phase : phases_) phase.clear();
  return report;
}

void log_status(Log& log, const StatusReport& r) {
  std::vector<LogField> fields{
      {"up_s", rounded(std::chrono::duration<double>(r.up).count())},
      {"tick", r.tick},
      {"clients", r.clients},
      {"monsters", r.monsters},
      {"ticks_per_s",
       r.interval_s > 0 ? rounded(10 * static_cast<double>(r.ticks) / r.interval_s) / 10 : 0.0},
      {"busy_percent", rounded(1000 * r.busy) / 10}};
  // Names live as long as the fields that view them.
  std::vector<std::string> keys;
  keys.reserve(3 * (phase_count + 1));
  const auto add = [&](std::string_view what, const Spread& spread) {
    for (const auto& [end, value] : {std::pair{"_ms_p50", spread.p50_ms}, std::pair{"_ms_p99", spread.p99_ms},
                                     std::pair{"_ms_max", spread.max_ms}}) {
      keys.push_back(std::string(what) + end);
      fields.emplace_back(keys.back(), value);
    }
  };
  add("tick", r.total);
  for (std::size_t i = 0; i < phase_count; ++i) add(name(static_cast<Phase>(i)), r.phases[i]);
  const LogField rest[] = {{"in_bytes_per_s", rounded(r.bytes_in_per_s)},
                           {"out_bytes_per_s", rounded(r.bytes_out_per_s)},
                           {"in_datagrams_per_s", rounded(r.datagrams_in_per_s)},
                           {"out_datagrams_per_s", rounded(r.datagrams_out_per_s)},
                           {"rejected", r.rejected},
                           {"dropped_kernel", r.dropped_kernel},
                           {"dropped_sending", r.dropped_sending},
                           {"ticks_late", r.ticks_late},
                           {"ticks_skipped", r.ticks_skipped},
                           {"overload", name(static_cast<OverloadRung>(r.overload_rung))},
                           {"overload_climbs", r.overload_climbs},
                           {"overload_starved", r.overload_starved},
                           {"snapshots_spared", r.snapshots_spared},
                           {"snapshots_made", r.snapshots_made},
                           {"snapshots_cut", r.snapshots_cut},
                           {"snapshots_overdue", r.snapshots_overdue},
                           {"snapshot_wait_ticks", r.snapshot_wait_ticks},
                           {"snapshot_wait_ticks_p50", r.snapshot_wait_ticks_p50},
                           {"client_kib_max", static_cast<std::uint64_t>(r.memory.most / 1024)},
                           {"clients_kib", static_cast<std::uint64_t>(r.memory.sum / 1024)},
                           {"streams_kib", static_cast<std::uint64_t>(r.memory.streams / 1024)},
                           {"recovered", r.recovered},
                           {"stuck", r.stuck},
                           {"snapshots_congested", r.snapshots_congested},
                           {"snapshots_anew", r.snapshots_anew},
                           {"lingering", r.lingering},
                           {"away", r.away},
                           {"resumed", r.resumed},
                           {"resume_refused", r.resume_refused},
                           {"moved", r.moved},
                           {"ground_requested", r.ground.requested},
                           {"ground_in_flight", r.ground.in_flight},
                           {"ground_forgotten", r.ground.forgotten},
                           {"ground_closed", r.ground.closed},
                           {"content_requests", r.content.requests},
                           {"content_refused", r.content.refused},
                           {"content_finished", r.content.finished},
                           {"content_bytes", r.content.bytes},
                           {"handshakes", r.handshakes},
                           {"refused", r.refused},
                           {"answers_limited", r.gate.answers_limited},
                           {"handshakes_limited", r.gate.handshakes_limited},
                           {"greeted_displaced", r.greeted_displaced},
                           {"rejoins_refused", r.gate.rejoins_refused},
                           {"pongs", r.gate.pongs},
                           {"pings_limited", r.gate.pings_limited},
                           {"unknown_told", r.gate.unknown_told},
                           {"unknown_limited", r.gate.unknown_limited},
                           {"notices_lost", r.notices_lost},
                           {"chat_given_up", r.chat_given_up},
                           {"tcp_accept_errors", r.tcp.tcp_accept_errors},
                           {"tcp_displaced", r.tcp.tcp_closed_displaced},
                           {"tcp_bad_frames", r.tcp.tcp_closed_bad_frame + r.tcp.tcp_closed_tiny_frame},
                           {"tcp_unanswered", r.tcp.tcp_closed_unanswered},
                           {"tcp_idle", r.tcp.tcp_closed_idle},
                           {"tcp_slow", r.tcp.tcp_closed_slow}};
  fields.insert(fields.end(), std::begin(rest), std::end(rest));
  if (r.match_phase != MatchPhase::open) {
    const LogField match[] = {{"match", r.match},
                              {"phase", name(r.match_phase)},
                              {"phase_left_s", r.match_left_s},
                              {"best_score", r.best_score}};
    fields.insert(fields.end(), std::begin(match), std::end(match));
  }
  if (r.saving) {
    const LogField saving[] = {{"saved_tick", r.saving->saved_tick},
                               {"dirty_chunks", r.saving->dirty_chunks},
                               {"saved_chunks", r.saving->last_group_chunks},
                               {"saved_ms", std::round(10 * r.saving->last_group_ms) / 10},
                               {"saved_age_ms", std::round(10 * r.saving->last_age_ms) / 10},
                               {"blocks_changed", r.blocks_changed}};
    fields.insert(fields.end(), std::begin(saving), std::end(saving));
  }
  log.event(LogLevel::info, "status", fields);
}

std::string status_text(const StatusTitle& title, const StatusReport& r) {
  const long long up_s = std::chrono::duration_cast<std::chrono::seconds>(r.up).count();
  using ull = unsigned long long;
  std::string out;
  out += print("ashlar-server on port %u, up %lld:%02lld:%02lld\n", static_cast<unsigned>(title.port),
               up_s / 3600, up_s / 60 % 60, up_s % 60);
  out +=
      print("clients %u of %u   monsters %u   tick %u   %.1f of %u ticks/s\n", r.clients, title.clients_max,
            r.monsters, r.tick, r.interval_s > 0 ? static_cast<double>(r.ticks) / r.interval_s : 0.0,
            static_cast<unsigned>(title.tick_rate_hz));
  if (r.match_phase != MatchPhase::open)
    out += print("match %u, %s, %u s left, best score %d\n", r.match,
                 std::string(name(r.match_phase)).c_str(), r.match_left_s, r.best_score);
  out += print(
      "busy %.1f %%   snapshots without room for all %llu of %llu, overdue %llu, longest wait %u ticks\n",
      100 * r.busy, static_cast<ull>(r.snapshots_cut), static_cast<ull>(r.snapshots_made),
      static_cast<ull>(r.snapshots_overdue), r.snapshot_wait_ticks);
  if (r.overload_climbs > 0)
    out += print("overload: leaves out %s now, climbed %llu times, snapshots spared %llu\n",
                 std::string(name(static_cast<OverloadRung>(r.overload_rung))).c_str(),
                 static_cast<ull>(r.overload_climbs), static_cast<ull>(r.snapshots_spared));
  out += print("in  %12s %8.0f datagrams/s\n", rate_text(r.bytes_in_per_s).c_str(), r.datagrams_in_per_s);
  out += print("out %12s %8.0f datagrams/s\n", rate_text(r.bytes_out_per_s).c_str(), r.datagrams_out_per_s);
  out += print("ms of %-11.1f%9s %9s %9s\n", 1000.0 / title.tick_rate_hz, "p50", "p99", "max");
  out += spread_line("tick", r.total);
  for (std::size_t i = 0; i < phase_count; ++i)
    out += spread_line(("  " + std::string(name(static_cast<Phase>(i)))).c_str(), r.phases[i]);
  out +=
      print("late ticks %llu, skipped %llu   rejected %llu, lost in the kernel %llu, for want of room %llu\n",
            static_cast<ull>(r.ticks_late), static_cast<ull>(r.ticks_skipped), static_cast<ull>(r.rejected),
            static_cast<ull>(r.dropped_kernel), static_cast<ull>(r.dropped_sending));
  out += print(
      "at the gate: refused %llu, handshakes put off %llu, rejoins refused %llu, strangers closed %llu\n",
      static_cast<ull>(r.refused), static_cast<ull>(r.gate.handshakes_limited),
      static_cast<ull>(r.gate.rejoins_refused), static_cast<ull>(r.tcp.tcp_closed_displaced));
  out += print("kept of a client %llu KiB at most, of all %llu KiB, and %llu KiB of streams\n",
               static_cast<ull>(r.memory.most / 1024), static_cast<ull>(r.memory.sum / 1024),
               static_cast<ull>(r.memory.streams / 1024));
  out += print("recovered from walls %llu, stuck %llu\n", static_cast<ull>(r.recovered),
               static_cast<ull>(r.stuck));
  if (r.saving)
    out +=
        print("saved up to tick %llu, changed and not saved %u chunks, last group %u chunks in %.1f ms%s\n",
              static_cast<ull>(r.saving->saved_tick), r.saving->dirty_chunks, r.saving->last_group_chunks,
              r.saving->last_group_ms, r.saving->failure.empty() ? "" : ": CANNOT SAVE");
  return out;
}

}  // namespace ashlar::server
