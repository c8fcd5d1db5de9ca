#include <string>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/math/random.h"
#include "world/sim/mover_start.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

struct Outcome {
  std::uint64_t player_ticks = 0, in_solid = 0, recovered = 0, lines = 0, moved = 0;
};

/// Players run about a map with the use button going, beside, on and under its moving sectors, while lines
/// all over the map are set off at random: whatever can move moves, on real geometry, with people on it.
Outcome rampage(const SectorMap& source, std::uint64_t seed, double seconds) {
  Rng rng = rng_for(seed, 77);
  const auto rate = static_cast<std::uint16_t>(10 + rng.below(119));
  MovingWorld w(source, rate, 24, 1);
  const MapPlan& plan = *w.mechanics.maps()[0].plan;
  // Half of the players start on or beside what moves.
  std::vector<std::uint32_t> lines;
  for (std::uint32_t l = 0; l < source.lines.size(); ++l)
    if (plan.action(l) != nullptr) lines.push_back(l);
  std::size_t players = 0;
  for (int tries = 0; tries < 400 && players < 24; ++tries) {
    DVec3 at;
    const bool near_line = !lines.empty() && rng.below(2) == 0;
    if (near_line) {
      const std::uint32_t l = lines[rng.below(static_cast<std::uint32_t>(lines.size()))];
      const double share = rng.unit();
      const DVec2 p = plan.start_m(l) + (plan.end_m(l) - plan.start_m(l)) * share;
      const double dx = rng.between(-2, 2);
      at = {p.x + dx, p.y + rng.between(-2, 2), 0};
    } else {
      const auto things = w.map->things();
      if (things.empty()) continue;
      at = things[rng.below(static_cast<std::uint32_t>(things.size()))].position_m;
    }
    const auto room = map_floor_ceiling(*w.map, w.heights[0], xy(at), w.rules.player.radius_m);
    if (!room) continue;
    at.z = room->floor_m;
    if (space_overlaps(w.space(), w.rules.player, at)) continue;
    w.add_player(at, Turn16{static_cast<std::uint16_t>(rng.next_u32())});
    ++players;
  }
  Outcome out;
  const auto ticks = static_cast<int>(seconds * rate);
  const auto count_in_solid = [&] {
    for (std::size_t i = 0; i < players; ++i)
      out.in_solid += space_overlaps(w.space(), w.rules.player, w.players.body[i].position_m) ? 1 : 0;
  };
  w.after_move = count_in_solid;
  for (int t = 0; t < ticks; ++t) {
    if (!lines.empty() && rng.below(rate) < 6) {
      const std::uint32_t l = lines[rng.below(static_cast<std::uint32_t>(lines.size()))];
      auto& movers = const_cast<SectorMovers&>(w.movers());
      start_effect({plan, movers, w.heights[0]}, *plan.action(l), l, true);
    }
    for (std::size_t i = 0; i < players; ++i) {
      PlayerCommand& c = w.players.command[i];
      if (rng.below(rate) < 2) c.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
      c.forward = rng.below(8) == 0 ? 0 : 1;
      const std::uint32_t press = rng.below(rate);
      c.buttons = press < 2 ? button::use : press < 4 ? button::jump : press < 5 ? button::attack : 0;
    }
    w.step();
    count_in_solid();
    for (std::size_t i = 0; i < players; ++i) out.recovered += w.players.report[i].recovered ? 1 : 0;
    out.moved += w.movers().movers().empty() ? 0 : 1;
  }
  out.player_ticks = static_cast<std::uint64_t>(ticks) * players;
  out.lines = w.mechanics.counters().lines;
  return out;
}

}  // namespace

TEST_CASE("nobody ends in solid where everything moves on real maps", "[world][mover_bodies]") {
  Outcome all;
  const auto play = [&](const SectorMap& map, const std::string&, std::uint64_t number) {
    const Outcome o = rampage(map, number + 1, 5);
    CHECK(o.in_solid == 0);
    CHECK(o.recovered == 0);
    all.player_ticks += o.player_ticks, all.lines += o.lines, all.moved += o.moved;
  };
  if (each_freedoom_map(play, 8) == 0) return;
  CHECK(all.player_ticks > 10000);
  CHECK(all.lines > 10);
  CHECK(all.moved > 500);
}
