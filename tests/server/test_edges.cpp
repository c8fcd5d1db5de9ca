#include "server/edges.h"

#include "tests/catch.h"

namespace ashlar::server {
namespace {

using namespace std::chrono_literals;

class EdgeLines final : public LineSink {
 public:
  void line(std::string_view text) override { all.emplace_back(text.substr(text.find("event="))); }
  std::size_t count(const std::string& part) const {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const std::string& line) {
      return line.find(part) != std::string::npos;
    }));
  }
  std::vector<std::string> all;
};

struct Fixture {
  std::shared_ptr<EdgeLines> lines = std::make_shared<EdgeLines>();
  Log log{LogFormat::text, LogLevel::debug, lines};
  Edges edges{log, 0us, 60};
  HostStatus status;
  TransportCounters transports;

  void observe(std::chrono::microseconds now, const std::vector<HostEvent>& events = {}) {
    edges.observe(now, status, transports, events);
  }
};

HostEvent event_of(HostEventKind kind, std::string name, std::string detail) {
  HostEvent event;
  event.kind = kind;
  event.peer.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  event.peer.port = 5;
  event.connection = 9;
  event.name = std::move(name);
  event.detail = std::move(detail);
  return event;
}

}  // namespace

TEST_CASE("who comes, goes, is refused or talks is one line each", "[server][edges]") {
  Fixture f;
  f.observe(1s, {event_of(HostEventKind::joined, "Ada", ""), event_of(HostEventKind::left, "Ada L", "quit"),
                 event_of(HostEventKind::refused, "x", "full"),
                 event_of(HostEventKind::chat, "Ada", "hi \"all\"")});
  REQUIRE(f.lines->all.size() == 4);
  CHECK(f.lines->all[0] == "event=joined player=Ada address=10.0.0.1:5 transport=udp connection=9");
  CHECK(f.lines->all[1] ==
        "event=left player=\"Ada L\" address=10.0.0.1:5 transport=udp connection=9 reason=quit");
  CHECK_THAT(f.lines->all[2], ContainsSubstring("event=refused player=x"));
  CHECK_THAT(f.lines->all[3], ContainsSubstring("text=\"hi \\\"all\\\"\""));
}

TEST_CASE("each phase of a match is a line, and its end tells who was best", "[server][edges]") {
  Fixture f;
  f.observe(1s);
  CHECK(f.lines->all.empty());
  f.status.match_phase = MatchPhase::warmup;
  f.observe(2s), f.observe(3s);
  f.status.match = 2, f.status.match_phase = MatchPhase::playing;
  f.observe(4s);
  f.status.match_phase = MatchPhase::intermission;
  f.status.best_player = "Ada L", f.status.best_score = 7;
  f.observe(5s);
  f.status.match = 3, f.status.match_phase = MatchPhase::playing;
  f.observe(6s);
  f.status.match_phase = MatchPhase::intermission, f.status.team_score = {0, 12};
  f.observe(7s);
  REQUIRE(f.lines->all.size() == 5);
  CHECK(f.lines->all[0] == "event=match number=1 phase=warmup");
  CHECK(f.lines->all[1] == "event=match number=2 phase=playing");
  CHECK(f.lines->all[2] == "event=match number=2 phase=intermission best=\"Ada L\" best_score=7");
  CHECK(f.lines->all[3] == "event=match number=3 phase=playing");
  CHECK_THAT(f.lines->all[4], ContainsSubstring("teams=\"0 12\""));
}

TEST_CASE("the match of another world is a line, though it is called as the one before was",
          "[server][edges]") {
  Fixture f;
  f.status.tick = 900, f.status.match_phase = MatchPhase::playing;
  f.observe(1s);
  REQUIRE(f.lines->all.size() == 1);
  // Until the new world's first tick the status is the old one's.
  f.status.tick = 0, f.status.match_phase = MatchPhase::intermission;
  f.edges.begin_world(0);
  f.observe(2s);
  CHECK(f.lines->all.size() == 1);
  f.status.tick = 1, f.status.match_phase = MatchPhase::playing;
  f.observe(3s), f.observe(4s);
  REQUIRE(f.lines->all.size() == 2);
  CHECK(f.lines->all[1] == "event=match number=1 phase=playing");
  // A world without a match has nothing to tell, as at the start.
  f.status.tick = 0;
  f.edges.begin_world(0);
  f.status.tick = 1, f.status.match_phase = MatchPhase::open;
  f.observe(5s);
  CHECK(f.lines->all.size() == 2);
}

TEST_CASE("that players who held something are forgotten is said once", "[server][edges]") {
  Fixture f;
  f.observe(1s);
  CHECK(f.lines->all.empty());
  f.status.players_forgotten = 1;
  f.observe(2s);
  f.status.players_forgotten = 2;
  f.observe(60s);
  CHECK(f.lines->count("event=players_forgotten") == 1);
}

TEST_CASE("what an overloaded server leaves out is told when that changes", "[server][edges][overload]") {
  Fixture f;
  f.observe(1s);
  CHECK(f.lines->count("overload") == 0);
  f.status.overload_rung = 2;
  f.observe(2s);
  f.observe(3s);
  CHECK(f.lines->count("event=overload leaves_out=half_rate before=none") == 1);
  CHECK(f.lines->count("remedy=") == 1);
  f.status.overload_rung = 1;
  f.observe(4s);
  CHECK(f.lines->count("event=overload_eased leaves_out=far_cells before=half_rate") == 1);
  CHECK(f.lines->count("remedy=") == 1);
}

TEST_CASE("why a TCP connection was closed is told with its address, in bounded number", "[server][edges]") {
  Fixture f;
  const TcpClosed closed{event_of(HostEventKind::left, "", "").peer, TcpClose::tiny_frame};
  const std::vector<TcpClosed> many(50, closed);
  f.edges.observe(1s, f.status, f.transports, {}, many);
  CHECK(f.lines->all.size() == 20);
  CHECK(f.lines->all[0] == "event=connection_closed address=10.0.0.1:5 reason=tiny_frame");
  f.edges.observe(12s, f.status, f.transports, {}, std::span(many).first(1));
  CHECK(f.lines->count("reason=tiny_frame suppressed=30") == 1);
}

TEST_CASE("a flood of refusals is capped and told in number", "[server][edges]") {
  Fixture f;
  const std::vector<HostEvent> flood(1000, event_of(HostEventKind::refused, "x", "full"));
  f.observe(1s, flood);
  CHECK(f.lines->all.size() == 20);
  f.observe(11s, flood);
  CHECK(f.lines->count("suppressed=980") == 1);
}

TEST_CASE("orders and who was flagged are told in a flood of those who come back", "[server][edges]") {
  Fixture f;
  std::vector<HostEvent> flood(500, event_of(HostEventKind::returned, "flood", ""));
  flood.push_back(event_of(HostEventKind::order, "Ada", "kick flood"));
  flood.resize(flood.size() + 500, event_of(HostEventKind::flagged, "x", ""));
  flood.push_back(event_of(HostEventKind::order, "Ada", "save"));
  f.observe(1s, flood);
  CHECK(f.lines->count("event=returned") == 200);
  CHECK(f.lines->count("event=flagged") == 200);
  CHECK(f.lines->count("event=order") == 2);
  CHECK(f.lines->count("suppressed") == 0);
}

TEST_CASE("a late tick is told with its duration, once a tick and not too often", "[server][edges]") {
  Fixture f;
  f.status.tick = 1;
  f.status.phase_ns_last = {100'000, 0, 16'000'000, 300'000, 0, 200'000};
  f.observe(1s);
  CHECK(f.lines->all.empty());  // within 16.67 ms
  f.status.tick = 2;
  f.status.phase_ns_last = {100'000, 0, 16'000'000, 300'000, 0, 300'000};
  f.observe(1s);
  f.observe(1s);
  REQUIRE(f.lines->all.size() == 1);
  CHECK_THAT(f.lines->all[0],
             ContainsSubstring("event=late_tick tick=2 duration_ms=16.7 allowed_ms=16.666 "));
  for (f.status.tick = 3; f.status.tick < 100; ++f.status.tick) f.observe(2s);
  CHECK(f.lines->count("event=late_tick") == 5);
}

TEST_CASE("skipped ticks are summed up until they may be told again", "[server][edges]") {
  Fixture f;
  for (int turn = 1; turn <= 30; ++turn) {
    f.status.ticks_skipped += 2;
    f.observe(1s * turn);
  }
  REQUIRE(f.lines->count("event=ticks_skipped") == 4);
  std::uint64_t told = 0;
  for (const std::string& line : f.lines->all)
    if (line.starts_with("event=ticks_skipped count=")) told += std::stoull(line.substr(26));
  CHECK(told == 60);
}

TEST_CASE("what was lost is told every ten seconds with its remedy, and only when it grew",
          "[server][edges]") {
  Fixture f;
  f.transports.udp_dropped_kernel = 5;
  f.status.drops[4] = 3;
  f.observe(9s);
  CHECK(f.lines->all.empty());
  f.observe(10s);
  CHECK(f.lines->count("event=receive_buffer_full datagrams_lost=5 total=5") == 1);
  CHECK(f.lines->count("net.core.rmem_max") == 1);
  CHECK(f.lines->count("event=rejected reason=malformed count=3 total=3") == 1);
  f.observe(20s);
  CHECK(f.lines->all.size() == 2);
  f.transports.udp_dropped_kernel = 6;
  f.transports.tcp_accept_errors = 1;
  f.transports.tcp_send_full = 1;
  f.transports.tcp_closed_displaced = 1;
  f.transports.udp_bursts_refused = 3;
  f.observe(30s);
  CHECK(f.lines->count("event=receive_buffer_full datagrams_lost=1 total=6") == 1);
  CHECK(f.lines->count("event=accept_failed count=1") == 1);
  CHECK(f.lines->count("event=send_buffer_full") == 1);
  CHECK(f.lines->count("event=strangers_displaced") == 1);
  CHECK(f.lines->count("event=udp_segments_refused") == 1);
  f.transports.udp_bursts_refused = 4;  // it is so here: told once
  f.observe(40s);
  CHECK(f.lines->count("event=udp_segments_refused") == 1);
}

}  // namespace ashlar::server
