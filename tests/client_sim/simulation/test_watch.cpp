// A recording is watched through the client library: what is shown is what was there.
#include "client_sim/simulation/watch.h"

#include <algorithm>
#include <map>

#include "client_sim/simulation/simulation.h"
#include "client_sim/simulation/watch_picture.h"
#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::simulation;

namespace {

/// Six seconds of four players in a plain, recorded once for all cases.
const std::vector<std::uint8_t>& short_match() {
  static const std::vector<std::uint8_t> bytes = [] {
    SimulationConfig config;
    config.seed = 5;
    config.clients = 4;
    config.monsters = 6;
    config.seconds = 6;
    config.faults.emplace();
    config.keep_recording = true;
    const Outcome outcome = simulate(config);
    REQUIRE_FALSE(outcome.broken.has_value());
    return outcome.recording;
  }();
  return bytes;
}

WatchedMatch opened() {
  auto match = WatchedMatch::open(short_match(), {}, {});
  if (!match) FAIL(match.error());
  return std::move(*match);
}

/// Where everybody is, by id.
std::map<EntityId, DVec3> places(const World& world) {
  std::map<EntityId, DVec3> out;
  for (std::size_t i = 0; i < world.players().rows(); ++i)
    if (world.players().id[i] != EntityId{0}) out[world.players().id[i]] = world.players().body[i].position_m;
  for (std::size_t i = 0; i < world.monsters().rows(); ++i)
    if (world.monsters().id[i] != EntityId{0})
      out[world.monsters().id[i]] = world.monsters().body[i].position_m;
  return out;
}

}  // namespace

TEST_CASE("who watches a recording sees everybody near where they are, and nobody inside a wall",
          "[simulation][watch]") {
  WatchedMatch match = opened();
  const Rules& rules = match.world().setup().rules;
  // Places are told in steps of 8 mm.
  const Cylinder inner{rules.player.radius_m - 0.02, rules.player.height_m - 0.04};
  std::size_t seen = 0, whole = 0, in_walls = 0;
  for (int tick = 0;; ++tick) {
    const auto more = match.step();
    REQUIRE(more.has_value());
    if (!*more) break;
    const auto now = places(match.world());
    if (match.followed() != EntityId{0} && tick > 120) {
      const DVec3 eye = now.at(match.followed());
      const bool ordered = std::ranges::is_sorted(
          match.others(), {}, [](const client_sim::ShownEntity& e) { return e.record.id; });
      CHECK(ordered);
      for (const client_sim::ShownEntity& e : match.others()) {
        REQUIRE(e.record.id != match.followed());
        const auto is = now.find(e.record.id);
        if (is == now.end() || e.extrapolated) continue;  // it has gone
        CHECK(length(e.position_m - is->second) < 0.02);
        if (e.record.kind == EntityKind::player)
          in_walls += space_overlaps(match.world().space(), inner, e.position_m + DVec3{0, 0, 0.02}) ? 1 : 0;
        ++seen;
      }
      for (const auto& [id, place] : now)
        whole += id != match.followed() && length(place - eye) < WatchedMatch::radius_m - 1 ? 1 : 0;
    }
  }
  CHECK(match.seconds() > 5);
  CHECK(seen > 500);
  CHECK(seen >= whole);
  CHECK(in_walls == 0);
}

TEST_CASE("a watched player is told in a line and drawn with who is near", "[simulation][watch]") {
  WatchedMatch match = opened();
  CHECK(line_of(match).find("nobody to watch") != std::string::npos);
  for (int tick = 0; tick < 250; ++tick) REQUIRE(match.step().value_or(false));
  REQUIRE(match.followed() != EntityId{0});
  CHECK(line_of(match).find("others within 64 m") != std::string::npos);
  CHECK(line_of(match, {3, 2}).find("heard 3 steps and 2 other sounds") != std::string::npos);
  CHECK(line_of(match, {3, 2, 4}).find("4 shots") != std::string::npos);
  const std::string picture = picture_of(match, {3, 2, 4});
  CHECK(picture.find("4 shots; heard 3 steps") != std::string::npos);
  CHECK(picture.starts_with("<svg "));
  CHECK(picture.ends_with("</svg>\n"));
  const auto times = [&](const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = picture.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  CHECK(times("<circle") >= 1);
  CHECK(times("<circle") <= match.others().size() + 1);
  CHECK(times("<rect") > 10);
  CHECK(times("fill='#4d4'") == 1);
  // Somebody else's shoulder, and one who is not there.
  const EntityId first = match.followed();
  for (std::size_t i = 0; i < match.world().players().rows(); ++i)
    if (const EntityId id = match.world().players().id[i]; id != EntityId{0} && id != first) match.follow(id);
  REQUIRE(match.step().value_or(false));
  CHECK(match.followed() != first);
  match.follow(make_entity_id(77, 1));
  REQUIRE(match.step().value_or(false));
  CHECK(match.followed() == EntityId{0});
  CHECK(match.others().empty());
}

TEST_CASE("what cannot be watched is said in a line", "[simulation][watch]") {
  std::vector<std::uint8_t> bytes = short_match();
  CHECK_FALSE(WatchedMatch::open(std::span(bytes).first(5), {}, {}).has_value());
  bytes[bytes.size() / 2] ^= 1;
  auto match = WatchedMatch::open(bytes, {}, {});
  REQUIRE(match.has_value());
  for (;;) {
    const auto more = match->step();
    if (!more) {
      CHECK(more.error().find("after tick") != std::string::npos);
      break;
    }
    REQUIRE(*more);
  }
}

TEST_CASE("behind the last whole tick of a recording that was cut off it is known to be torn",
          "[simulation][watch]") {
  const std::span<const std::uint8_t> bytes(short_match());
  const std::size_t cut = GENERATE(std::size_t{0}, std::size_t{7});
  auto match = WatchedMatch::open(bytes.first(bytes.size() - cut), {}, {});
  REQUIRE(match.has_value());
  for (auto more = match->step(); more.value(); more = match->step()) CHECK_FALSE(match->torn());
  CHECK(match->torn() == (cut > 0));
}
