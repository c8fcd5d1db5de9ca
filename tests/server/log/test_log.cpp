#include "server/log/log.h"

#include "tests/catch.h"
#include "tests/server/lines.h"

namespace ashlar::server {
using test::Lines;
namespace {

using namespace std::chrono_literals;

std::string format(LogFormat as, std::string_view name, std::initializer_list<LogField> fields) {
  return format_event(as, name, std::span(fields.begin(), fields.size()));
}

/// Reads one JSON string from its opening quote on; throws on anything that is not allowed inside.
std::string json_string(std::string_view text, std::size_t& at) {
  std::string out;
  if (text.at(at) != '"') throw std::runtime_error("no opening quote");
  for (++at; text.at(at) != '"'; ++at) {
    const char c = text.at(at);
    if (static_cast<unsigned char>(c) < 0x20) throw std::runtime_error("bare control character");
    if (c != '\\') {
      out += c;
      continue;
    }
    switch (text.at(++at)) {
      case '"': out += '"'; break;
      case '\\': out += '\\'; break;
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'u': {
        out += static_cast<char>(std::stoi(std::string(text.substr(at + 1, 4)), nullptr, 16));
        at += 4;
        break;
      }
      default: throw std::runtime_error("unknown escape");
    }
  }
  ++at;
  return out;
}

}  // namespace

TEST_CASE("an event is one line of keys and values, quoted only where needed", "[server][log]") {
  CHECK(format(LogFormat::text, "ready",
               {{"port", std::uint16_t{7777}},
                {"address", "*"},
                {"world", "my world"},
                {"live", true},
                {"offset", -5},
                {"tick_ms", 1.25},
                {"empty", ""}}) ==
        R"(event=ready port=7777 address=* world="my world" live=true offset=-5 tick_ms=1.25 empty="")");
}

TEST_CASE("JSON has quotes round texts and none round numbers", "[server][log]") {
  CHECK(format(LogFormat::json, "ready",
               {{"port", std::uint16_t{7777}}, {"name", "x y"}, {"live", false}, {"bad", 0.0 / 0.0}}) ==
        R"("event":"ready","port":7777,"name":"x y","live":false,"bad":null)");
}

TEST_CASE("whatever a peer is called, its line stays one line and its JSON whole", "[server][log]") {
  std::string all;
  for (int byte = 1; byte < 0x80; ++byte) all += static_cast<char>(byte);
  const std::string name = GENERATE_COPY(as<std::string>{}, "a\"b", "a\\", "\nevent=ready port=1", all,
                                         "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  CAPTURE(name);
  for (const LogFormat as : {LogFormat::text, LogFormat::json}) {
    const std::string line = format(as, "joined", {{"name", name}});
    CHECK(line.find('\n') == std::string::npos);
    std::size_t at = line.find(as == LogFormat::json ? "\"name\":" : "name=");
    REQUIRE(at != std::string::npos);
    at += as == LogFormat::json ? 7 : 5;
    CHECK(json_string(line, at) == name);
    CHECK(at == line.size());
  }
}

TEST_CASE("bytes that are not UTF-8 are replaced one by one", "[server][log]") {
  const std::string bad = GENERATE(as<std::string>{}, "\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80",
                                   "\xf4\x90\x80\x80", "\xe2\x82", "\x80");
  std::string expected = "event=x name=\"a";
  for (std::size_t i = 0; i < bad.size(); ++i) expected += "\xef\xbf\xbd";
  CHECK(format(LogFormat::text, "x", {{"name", "a" + bad + "b"}}) == expected + "b\"");
}

TEST_CASE("lines carry time and level, and the level decides what is written", "[server][log]") {
  auto lines = std::make_shared<Lines>();
  Log log(LogFormat::text, LogLevel::info, lines);
  log.event(LogLevel::debug, "unheard", {});
  log.info("heard", {{"a", 1}});
  log.set_level(LogLevel::error);
  log.warning("unheard", {});
  CHECK_FALSE(log.logs(LogLevel::warning));
  log.event(LogLevel::error, "failed", {});
  REQUIRE(lines->all.size() == 2);
  CHECK(lines->all[0].size() == std::string("2000-01-01T00:00:00.000Z info event=heard a=1").size());
  CHECK(lines->all[0].substr(23) == "Z info event=heard a=1");
  CHECK(lines->all[0][10] == 'T');
  CHECK_THAT(lines->all[1], ContainsSubstring(" error event=failed"));
}

TEST_CASE("a line of JSON is an object with time, level and event", "[server][log]") {
  auto lines = std::make_shared<Lines>();
  Log log(LogFormat::json, LogLevel::info, lines);
  log.info("ready", {{"port", 1}, {"text", "100% {}"}});
  REQUIRE(lines->all.size() == 1);
  const std::string& line = lines->all[0];
  CHECK(line.starts_with("{\"time\":\"2"));
  CHECK(line.ends_with(R"(Z","level":"info","event":"ready","port":1,"text":"100% {}"})"));
}

TEST_CASE("a rate cap lets the first ones through and counts the rest", "[server][log]") {
  RateCap cap(3, 1s);
  std::uint64_t suppressed = 99;
  int allowed = 0;
  for (int i = 0; i < 10; ++i) allowed += cap.allow(5s, suppressed) ? 1 : 0;
  CHECK(allowed == 3);
  CHECK(suppressed == 0);
  CHECK_FALSE(cap.allow(5s + 999ms, suppressed));
  REQUIRE(cap.allow(6s, suppressed));
  CHECK(suppressed == 8);
  REQUIRE(cap.allow(6s, suppressed));
  CHECK(suppressed == 0);
}

}  // namespace ashlar::server
