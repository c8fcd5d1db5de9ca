#include "world/sim/monster_hunt.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "world/sim/monster_move.h"
#include "world/sim/navigation.h"

namespace ashlar {
namespace {

constexpr double step_aside_s = 0.5;  // so long it walks off sideways
constexpr double patience_s = 0.2;    // held up so long; a door in its way gets its push meanwhile
constexpr double reach_gap_m = 0.25;  // a chaser stops this far from its target's skin
constexpr double goal_reached_m = 0.5;
constexpr double careful_s = 3;         // of six it keeps off the corners of openings
constexpr double straight_m = 3;        // so near to whom it sees it needs no way
constexpr double climbs_above_m = 0.3;  // what is higher than that, it wants up to
constexpr double stay_m = 0.6, climb_near_m = 1.5, stay_slack_m = 0.15;
// Ways cost more than steps do: so long, and such a share of what lies straight before it, it goes on before
// it asks for its way anew.
constexpr double course_s_max = 0.15, course_share = 0.25;
constexpr double on_course_share = 0.7;      // of its pace: a slower one has met something
constexpr std::uint32_t held_ask_every = 4;  // ticks
constexpr double falls_forth_m = 0.7, drop_share_min = 0.2;

/// @param to_m  where it heads for: its goal, or a place on the way there
MonsterWish chase(const Space& space, const Rules& rules, MonsterTable& monsters, std::size_t row, bool slow,
                  DVec3 to_m, bool on_way) {
  const MonsterTraits& kind = monsters.traits_at(row);
  const Body& body = monsters.body[row];
  const bool flees = monsters.mood[row] == MonsterMood::flee;
  const DVec3 to_goal = (to_m - body.position_m) * (flees ? -1.0 : 1.0);
  const double distance = length(xy(to_goal));
  MonsterWish wish;
  if (kind.flies != 0) {
    wish.climb = to_goal.z + 0.5 > 0.2 ? 1.0 : to_goal.z + 0.5 < -0.2 ? -1.0 : 0.0;
  }
  const double stop_at_m = kind.shape.radius_m + rules.player.radius_m + reach_gap_m;
  if (!flees && !on_way && (distance <= stop_at_m || distance < goal_reached_m)) {
    if (distance > 0) monsters.yaw[row] = turn_towards(xy(to_goal));
    return wish;
  }
  const std::uint16_t patience_ticks = rules.ticks_within(patience_s, 1);
  monsters.held_ticks[row] =
      static_cast<std::uint8_t>(slow ? std::min(monsters.held_ticks[row] + 1, 255) : 0);
  if (slow && monsters.turn_ticks[row] == 0 && monsters.held_ticks[row] >= patience_ticks) {
    monsters.held_ticks[row] = 0;
    // Against something: try left or right of the goal for half a second, then straight again.
    Rng& rng = monsters.rng[row];
    const std::uint32_t side = rng.next_u32();
    const auto turn = Turn16{static_cast<std::uint16_t>((side & 1u) != 0 ? 12288 : 65536 - 12288)};
    const Turn16 to = turn_towards(xy(to_goal));
    const auto edge = [&](Turn16 by) {
      return kind.flies == 0 &&
             look_ahead(space, kind, body.position_m, heading(to + by), look_ahead_m) == Ahead::edge;
    };
    const bool first = edge(turn);
    if (!first || !edge(Turn16{0} - turn)) {
      monsters.yaw[row] = first ? to - turn : to + turn;
      monsters.turn_ticks[row] = rules.ticks_within(step_aside_s);
    } else {
      monsters.yaw[row] = to;
    }
  } else if (monsters.turn_ticks[row] == 0) {
    monsters.yaw[row] = turn_towards(xy(to_goal));
  }
  wish.direction = heading(monsters.yaw[row]);
  return wish;
}

/// Near a place where it waits, or hangs on a ladder, it keeps there. nullopt: it is not near.
std::optional<MonsterWish> stay_at(MonsterTable& monsters, std::size_t row, DVec2 at_m, double near_m) {
  const DVec2 off = at_m - xy(monsters.body[row].position_m);
  const double size = length(off);
  if (size > near_m) return std::nullopt;
  monsters.held_ticks[row] = 0;
  MonsterWish wish;
  if (size > stay_slack_m) wish.direction = off * (1 / size), wish.speed_share = 0.5;
  return wish;
}

/// Who hangs on a corner by one way of walking gets past it by the other: they take turns.
bool careful(const Rules& rules, std::size_t row, TickId tick) {
  return ((number(tick) / rules.ticks_within(careful_s, 1) + row) & 1u) != 0;
}

/// Is it well on its way, so that it need not ask for it anew?
bool on_course(MonsterTable& monsters, std::size_t row) {
  if (monsters.course_ticks[row] == 0) return false;
  --monsters.course_ticks[row];
  const Body& body = monsters.body[row];
  if (body.grounded == 0 || monsters.turn_ticks[row] != 0) return false;
  const MonsterTraits& kind = monsters.traits_at(row);
  return dot(xy(body.velocity_mps), heading(monsters.yaw[row])) >= on_course_share * kind.speed_mps;
}

/// From now on it goes straight towards a place, for some ticks.
void set_course(const Rules& rules, MonsterTable& monsters, std::size_t row, DVec2 to_m) {
  const MonsterTraits& kind = monsters.traits_at(row);
  if (kind.flies != 0 || monsters.turn_ticks[row] != 0) return;
  const double ahead_m = length(to_m - xy(monsters.body[row].position_m));
  const double s = std::min(course_s_max, course_share * ahead_m / (kind.speed_mps + 1e-9));
  monsters.course_ticks[row] = static_cast<std::uint8_t>(s / rules.tick_s());
}

/// Who falls keeps its pace: of that, so much that it lands where its way goes on.
double drop_share(const Rules& rules, const MonsterTraits& kind, double drop_m) {
  if (rules.gravity_mps2 <= 0 || kind.speed_mps <= 0) return 1;
  const double falls_s = std::sqrt(2 * drop_m / rules.gravity_mps2);
  return std::clamp(falls_forth_m / (falls_s * kind.speed_mps), drop_share_min, 1.0);
}

/// In a heap, or against something: it pushes on in its heading, and asks for its way every few ticks.
bool pushes_on(const Rules& rules, MonsterTable& monsters, std::size_t row, bool slow, TickId tick) {
  std::uint8_t& held = monsters.held_ticks[row];
  if (!slow || held == 0 || monsters.turn_ticks[row] != 0 || (number(tick) + row) % held_ask_every == 0)
    return false;
  if (held + 1 >= rules.ticks_within(patience_s, 1)) return false;
  ++held;
  return true;
}

/// Does it go on in its heading, without a look at its way?
bool keeps_heading(const Rules& rules, MonsterTable& monsters, std::size_t row, bool slow, TickId tick) {
  if (on_course(monsters, row)) {
    monsters.held_ticks[row] = 0;
    return true;
  }
  return monsters.traits_at(row).flies == 0 && pushes_on(rules, monsters, row, slow, tick);
}

/// No way is known to it, and it would come down where there may be none back.
bool stops_at_edge(const Space& space, const PlayerTable& players, const MonsterTable& monsters,
                   std::size_t row, const Navigation& ways, const MonsterWish& wish) {
  if (dot(wish.direction, wish.direction) == 0 || !ways.over_blocks(players, monsters, row)) return false;
  return look_ahead(space, monsters.traits_at(row), monsters.body[row].position_m, wish.direction,
                    look_ahead_m) == Ahead::edge;
}

}  // namespace

MonsterWish monster_hunts(const Space& space, const Rules& rules, const PlayerTable& players,
                          MonsterTable& monsters, std::size_t row, bool slow, const Navigation* ways,
                          TickId tick) {
  const DVec3 goal = monsters.goal_m[row];
  const DVec3 to_goal = goal - monsters.body[row].position_m;
  const bool beside = monsters.sees[row] != 0 && dot(to_goal, to_goal) < straight_m * straight_m &&
                      std::fabs(to_goal.z) < rules.step_height_m_max;
  const bool chases = monsters.mood[row] == MonsterMood::chase;
  if (!beside && chases && keeps_heading(rules, monsters, row, slow, tick)) {
    MonsterWish wish;
    wish.direction = heading(monsters.yaw[row]);
    return wish;
  }
  const auto up = [&](MonsterWish wish, double to_z) {
    const bool walks = monsters.traits_at(row).flies == 0;
    if (walks && to_z > monsters.body[row].position_m.z + climbs_above_m) wish.climb = 1;
    return wish;
  };
  const bool hunts = ways != nullptr && chases;
  const bool straight = hunts && ways->goes_straight(space, players, monsters, row, beside);
  if (hunts && !straight) {
    const Route route = ways->route(space, players, monsters, row, careful(rules, row, tick));
    if (const auto& way = route.way) {
      if (way->waits || way->climbs)
        if (auto wish = stay_at(monsters, row, way->at_m, way->climbs ? climb_near_m : stay_m)) {
          wish->climb = way->climbs ? 1 : 0;
          return *wish;
        }
      MonsterWish wish =
          chase(space, rules, monsters, row, slow, {way->at_m.x, way->at_m.y, way->floor_m}, true);
      if (way->drop_m > 0)
        wish.speed_share *= drop_share(rules, monsters.traits_at(row), way->drop_m);
      else
        set_course(rules, monsters, row, way->at_m);
      return up(wish, way->floor_m);
    }
    if (route.pending) return {};
  }
  MonsterWish wish = chase(space, rules, monsters, row, slow, goal, false);
  if (hunts && !straight && stops_at_edge(space, players, monsters, row, *ways, wish)) wish.direction = {};
  if (chases) set_course(rules, monsters, row, xy(goal));
  return up(wish, goal.z);
}

}  // namespace ashlar
