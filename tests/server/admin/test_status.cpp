#include "server/admin/live_view.h"
#include "server/admin/status.h"
#include "tests/catch.h"
#include "tests/server/lines.h"
#include "world/math/random.h"

namespace ashlar::server {
using test::Lines;
namespace {

using namespace std::chrono_literals;

}  // namespace

TEST_CASE("quantiles are within a sixteenth of the exact ones", "[server][status]") {
  Rng rng{7};
  std::vector<std::uint64_t> values;
  Histogram histogram;
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t size = rng.next_u64() % 40;
    const std::uint64_t value = rng.next_u64() & ((std::uint64_t{1} << size) - 1);
    values.push_back(value);
    histogram.add(value);
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 1.0}) {
    const std::uint64_t exact = values[static_cast<std::size_t>(q * 9999 + 0.5)];
    CAPTURE(q, exact, histogram.quantile(q));
    CHECK(histogram.quantile(q) >= exact);
    CHECK(static_cast<double>(histogram.quantile(q)) <= static_cast<double>(exact) * 17.0 / 16.0);
  }
  CHECK(histogram.max() == values.back());
  CHECK(histogram.count() == 10000);
  histogram.add(UINT64_MAX);
  CHECK(histogram.quantile(1.0) == UINT64_MAX);
  histogram.clear();
  CHECK(histogram.quantile(0.5) == 0);
}

TEST_CASE("a report tells rates of its interval and begins anew", "[server][status]") {
  StatusMeter meter(10s);
  HostStatus status;
  TransportCounters transports;
  CHECK(meter.observe(status) == 0);
  for (std::uint32_t tick = 1; tick <= 100; ++tick) {
    status.tick = tick;
    status.phase_ns_last = {400, 600, tick == 50 ? std::uint64_t{9'000'000} : 500'000, 2000, 1000, 2000};
    status.snapshot_wait_ticks = tick == 60 ? 9 : 4;
    const std::uint64_t total = meter.observe(status, 1'000'000);
    CHECK(total == 6000 + status.phase_ns_last[2]);
    CHECK(meter.observe(status) == 0);  // the same tick counts once
  }
  status.drops[1] = 3;
  status.drops[15] = 4;
  status.snapshots_made = 70;
  status.snapshots_cut = 11;
  status.snapshots_overdue = 5;
  transports.bytes_out = 5000;
  transports.udp_send_full = 1;
  transports.tcp_send_full = 2;
  const StatusReport first = meter.report(12s, status, transports);
  CHECK(first.up == 2s);
  CHECK(first.ticks == 100);
  CHECK(first.bytes_out_per_s == Approx(2500));
  CHECK(first.rejected == 7);
  CHECK(first.dropped_sending == 3);
  CHECK(first.total.p50_ms == Approx(0.506).epsilon(0.07));
  CHECK(first.total.max_ms == Approx(9.006));
  CHECK(first.phases[2].max_ms == Approx(9.0));
  CHECK(first.phases[3].p99_ms == Approx(0.002).margin(0.0006));
  CHECK(first.busy == Approx(0.05));
  CHECK(first.snapshots_made == 70);
  CHECK(first.snapshots_cut == 11);
  CHECK(first.snapshots_overdue == 5);
  CHECK(first.snapshot_wait_ticks == 9);
  CHECK(first.snapshot_wait_ticks_p50 == 4);

  const StatusReport second = meter.report(13s, status, transports);
  CHECK(second.ticks == 0);
  CHECK(second.bytes_out_per_s == 0);
  CHECK(second.total.max_ms == 0);
  CHECK(second.rejected == 7);
  CHECK(second.busy == 0);
  CHECK(second.snapshot_wait_ticks == 0);
}

TEST_CASE("a report of the first moment tells no rates", "[server][status]") {
  StatusMeter meter(10s);
  HostStatus status;
  TransportCounters transports;
  status.tick = 1;
  transports.bytes_out = 5000;
  (void)meter.observe(status, 1'000'000);
  const StatusReport first = meter.report(10s + 112us, status, transports);
  CHECK(first.ticks == 1);
  CHECK(first.interval_s == 0);
  CHECK(first.bytes_out_per_s == 0);
  CHECK(first.busy == 0);
}

TEST_CASE("another world's ticks count from its beginning", "[server][status]") {
  StatusMeter meter(10s);
  HostStatus status;
  status.tick = 50'000;
  (void)meter.observe(status);
  (void)meter.report(11s, status, {});
  status.tick = 0;  // the next world
  CHECK(meter.observe(status) == 0);
  status.tick = 2;
  (void)meter.observe(status);
  CHECK(meter.report(12s, status, {}).ticks == 2);
}

TEST_CASE("ticks made up for in one go all count", "[server][status]") {
  StatusMeter meter(0s);
  HostStatus status;
  status.tick = 4;
  status.phase_ns_last = {0, 0, 1000, 0, 0, 0};
  CHECK(meter.observe(status) == 1000);
  CHECK(meter.report(1s, status, {}).ticks == 4);
}

TEST_CASE("the status is one event with units in its keys", "[server][status]") {
  auto lines = std::make_shared<Lines>();
  Log log(LogFormat::text, LogLevel::info, lines);
  StatusReport report;
  report.up = 61s;
  report.interval_s = 2;
  report.ticks = 121;
  report.clients = 32;
  report.total = {0.25, 0.5, 1.125};
  log_status(log, report);
  REQUIRE(lines->all.size() == 1);
  CHECK_THAT(lines->all[0], ContainsSubstring("event=status up_s=61 "));
  CHECK_THAT(lines->all[0], ContainsSubstring(" clients=32 "));
  CHECK_THAT(lines->all[0],
             ContainsSubstring(
                 " ticks_per_s=60.5 busy_percent=0 tick_ms_p50=0.25 tick_ms_p99=0.5 tick_ms_max=1.125 "));
  for (const char* key :
       {" poll_ms_p50=", " receive_ms_p99=", " housekeeping_ms_max=", " send_ms_p99=", " snapshots_made=",
        " snapshots_cut=", " snapshots_overdue=", " snapshot_wait_ticks=", " snapshot_wait_ticks_p50=",
        " client_kib_max=", " clients_kib=", " streams_kib="})
    CHECK_THAT(lines->all[0], ContainsSubstring(key));
  CHECK_THAT(lines->all[0], !ContainsSubstring("phase="));
  report.match = 3, report.match_phase = MatchPhase::intermission, report.best_score = 7;
  log_status(log, report);
  REQUIRE(lines->all.size() == 2);
  CHECK_THAT(lines->all[1],
             ContainsSubstring(" match=3 phase=intermission ") && ContainsSubstring(" best_score=7"));
}

TEST_CASE("the live block is replaced in place and lines pass above it", "[server][live_view]") {
  LiveView view;
  std::string written;
  for (const std::string& part :
       {view.line("before"), view.show("one\ntwo\n"), view.line("between"), view.show("three\n")})
    written += part;
  CHECK(written ==
        "before\n"
        "\x1b[?7lone\ntwo\n\x1b[?7h"
        "\x1b[2A\r\x1b[Jbetween\n\x1b[?7lone\ntwo\n\x1b[?7h"
        "\x1b[2A\r\x1b[J\x1b[?7lthree\n\x1b[?7h");
}

TEST_CASE("the live block fits a terminal of 100 columns", "[server][status]") {
  StatusReport report;
  report.up = 100h;
  report.interval_s = 1;
  report.tick = 4'000'000'000u;
  report.clients = report.monsters = 4096;
  report.bytes_in_per_s = report.bytes_out_per_s = 123456789;
  report.rejected = report.ticks_late = 1234567;
  report.total = {1234.5, 12345.6, 99999.9};
  const std::string text = status_text({7777, 4096, 60}, report);
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  CHECK(longest <= 100);
  CHECK_THAT(text, ContainsSubstring("100:00:00"));
  CHECK_THAT(text, ContainsSubstring("123.46 MB/s"));
  for (const char* phase : {"poll", "receive", "step", "publish", "housekeeping", "send", "longest wait"})
    CHECK_THAT(text, ContainsSubstring(phase));
}

}  // namespace ashlar::server
