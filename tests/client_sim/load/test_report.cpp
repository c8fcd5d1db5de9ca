#include "client_sim/load/report.h"

#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

ClientOutcome played(std::uint64_t snapshots) {
  ClientOutcome o;
  o.state = ClientState::left;
  o.joined = true;
  o.playing_for = Micros{10'000'000};
  o.stats.snapshots = o.stats.snapshots_complete = snapshots;
  o.stats.bytes_in = 1000;
  o.stats.rtt.add(Micros{20'000});
  return o;
}

}  // namespace

TEST_CASE("a run in which everyone plays passes", "[client_sim][load]") {
  const LoadReport r = sum_up({played(600), played(500)}, Micros{10'000'000});
  CHECK(r.passed());
  CHECK(r.clients == 2);
  CHECK(r.joined == 2);
  CHECK(r.snapshots_per_s() == Approx(55));
  CHECK(r.snapshots_per_s_min == Approx(50));
  CHECK(r.bytes_in == 2000);
  CHECK(r.rtt.count() == 2);
}

TEST_CASE("refused, lost, starved and never admitted clients each fail a run", "[client_sim][load]") {
  ClientOutcome refused;
  refused.state = ClientState::refused;
  refused.reason = "full";
  ClientOutcome lost = played(600);
  lost.state = ClientState::lost;
  lost.reason = "the server fell silent";
  ClientOutcome starved = played(600);
  starved.stats.starved = 2;
  ClientOutcome waiting;
  waiting.state = ClientState::left;

  const LoadReport r = sum_up({played(600), refused, lost, starved, waiting}, Micros{10'000'000});
  CHECK(r.refused == 1);
  CHECK(r.dropped == 2);
  CHECK(r.starved == 1);
  CHECK_FALSE(r.passed());
  CHECK_THAT(to_text(r), ContainsSubstring("FAILED: 1 refused, 2 dropped, 1 starved"));
  REQUIRE(r.reasons.size() == 3);
  CHECK_FALSE(sum_up({played(600), refused}, Micros{1}).passed());
  CHECK_FALSE(sum_up({played(600), lost}, Micros{1}).passed());
  CHECK_FALSE(sum_up({played(600), starved}, Micros{1}).passed());
  CHECK_FALSE(sum_up({played(600), waiting}, Micros{1}).passed());
}

TEST_CASE("a run in which somebody is told a wrong place fails", "[client_sim][load]") {
  LoadReport r = sum_up({played(600), played(600)}, Micros{10'000'000});
  r.light = 1;
  r.places_compared = 900;
  CHECK(r.passed());
  CHECK_THAT(to_text(r), ContainsSubstring("told 900 places of each other, 0 wrong"));
  r.places_wrong = 3;
  CHECK_FALSE(r.passed());
  CHECK_THAT(to_text(r), ContainsSubstring("FAILED: 3 wrong places"));
}

TEST_CASE("doubles and late packets are no errors, damage is", "[client_sim][load]") {
  ClientOutcome o = played(600);
  o.stats.drops[static_cast<std::size_t>(DropReason::duplicate)] = 5;
  o.stats.drops[static_cast<std::size_t>(DropReason::too_old)] = 6;
  o.stats.drops[static_cast<std::size_t>(DropReason::malformed)] = 7;
  const LoadReport r = sum_up({o}, Micros{10'000'000});
  CHECK(r.decode_errors() == 7);
  CHECK_THAT(to_text(r), ContainsSubstring("malformed=7"));
}

TEST_CASE("the report tells how far explorers came in each map", "[client_sim][load]") {
  LoadReport report = sum_up({played(600)}, Micros{10'000'000});
  CHECK(to_text(report).find("explored") == std::string::npos);
  report.explored = {{"MAP01", 120, 198}, {"E1M1", 3, 116}};
  CHECK_THAT(to_text(report), ContainsSubstring("MAP01: 120 of 198 sectors"));
  CHECK_THAT(to_json(report, LoadOptions{}),
             ContainsSubstring("\"explored\": [{\"map\": \"MAP01\", \"entered\": 120, \"sectors\": 198}, "
                               "{\"map\": \"E1M1\", \"entered\": 3, \"sectors\": 116}]"));
}

TEST_CASE("the report is valid JSON with stable keys, whatever a reason says", "[client_sim][load]") {
  ClientOutcome refused;
  refused.state = ClientState::refused;
  refused.reason = "a \"quoted\" \\ line\nbreak";
  const std::string json = to_json(sum_up({played(600), refused}, Micros{10'000'000}), LoadOptions{});
  for (const char* key : {"passed", "joined", "refused", "dropped", "starved", "rtt_ms", "p99",
                          "decode_errors", "snapshots_per_s_client", "bytes_in_per_s", "drops", "too_short"})
    CHECK_THAT(json, ContainsSubstring("\"" + std::string(key) + "\": "));
  CHECK_THAT(json, ContainsSubstring("a \\\"quoted\\\" \\\\ line\\u000abreak"));
  CHECK_THAT(json, ContainsSubstring("\"passed\": false"));
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (in_text && json[i] == '\\')
      ++i;
    else if (json[i] == '"')
      in_text = !in_text;
    else if (!in_text && (json[i] == '{' || json[i] == '['))
      ++depth;
    else if (!in_text && (json[i] == '}' || json[i] == ']'))
      --depth;
  }
  CHECK(depth == 0);
  CHECK_FALSE(in_text);
}

TEST_CASE("a run that leaves clients out fails, unless it was stopped", "[client_sim][load]") {
  LoadReport r = sum_up({played(600), played(600)}, Micros{10'000'000});
  r.wanted = 2;
  CHECK(r.passed());
  r.wanted = 150;
  CHECK_FALSE(r.passed());
  CHECK_THAT(to_text(r), ContainsSubstring("FAILED: 148 never started"));
  CHECK_THAT(to_json(r, LoadOptions{}), ContainsSubstring("\"wanted\": 150, \"interrupted\": false"));
  r.interrupted = true;
  CHECK(r.passed());
}

TEST_CASE("a run whose hostile peers sent nothing fails and says so", "[client_sim][load]") {
  LoadReport r = sum_up({played(600)}, Micros{10'000'000});
  CHECK(to_text(r).find("attacks") == std::string::npos);
  r.hostile = 4;
  CHECK_FALSE(r.passed());
  CHECK_THAT(to_text(r), ContainsSubstring("attacks        0 sent"));
  CHECK_THAT(to_text(r), ContainsSubstring("FAILED: no attack was sent"));
  r.attacks_sent = 1;
  CHECK(r.passed());
}

TEST_CASE("what a cheat measured with its own clock is in no figure of all", "[client_sim][load]") {
  ClientOutcome fast = played(600);
  fast.own_clock = true;
  fast.stats.rtt.add(Micros{900'000});
  fast.stats.longest_gap = Micros{1'400'000};
  fast.stats.starved = 1;
  const LoadReport r = sum_up({played(600), fast}, Micros{10'000'000});
  CHECK(r.passed());
  CHECK(r.rtt.count() == 1);
  CHECK(r.longest_gap == Micros{0});
  CHECK(r.snapshots == 1200);
}

TEST_CASE("a score that is full tells of that many players or more", "[client_sim][load]") {
  LoadReport r = sum_up({played(600)}, Micros{10'000'000});
  r.score = {3, MatchPhase::playing, 63, "Ada", 5};
  CHECK_THAT(to_text(r), ContainsSubstring(" 63 players"));
  r.score.players = score_rows_max;
  CHECK_THAT(to_text(r), ContainsSubstring(" 64 or more players"));
}
