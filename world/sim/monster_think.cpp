#include "world/sim/monster_think.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "world/bsp/sector_map.h"
#include "world/math/assert.h"
#include "world/sim/bodies.h"
#include "world/sim/monster_hunt.h"
#include "world/sim/monster_move.h"
#include "world/sim/navigation.h"

namespace ashlar {
namespace {

constexpr double look_every_s = 1.0 / 6;
constexpr double grace_s = 0.5;  // after a turn, to get going
constexpr double forget_s = 5;
constexpr double wander_speed_share = 0.4;
// Who wanders goes down a block and no more, whatever it would leap down after somebody; it looks so often.
constexpr double wander_drop_m = 1, edge_look_s = 0.07;
static_assert(forget_s > look_every_s);     // it looks again before it forgets
constexpr double held_bonus = 0.5;          // on the square of the distance to whom it chases already
constexpr double runs_share = 0.5;          // of walking speed: slower steps are not heard
constexpr double steps_share = 0.25;        // of its hearing_m, within which it hears steps
constexpr double invisible_share = 0.25;    // of its sight, within which it sees who is invisible
constexpr double felt_m = 64 * map_unit_m;  // so near it notices who is behind it: MELEERANGE in A_Look
constexpr double charge_end_share = 0.5;    // a charger that is slower has met something

double eye_height_m(const Cylinder& shape) { return shape.height_m * 0.85; }

/// What is before it as it stands; asleep it sees no more.
struct Cone {
  DVec2 ahead;
  double cosine = -1;  ///< -1: all around
  double steps_m = 0;  ///< so near it notices who runs, wherever
  bool holds(DVec2 to, double pace2, double runs_mps) const {
    const double away2 = dot(to, to);
    if (cosine <= -1 || away2 < felt_m * felt_m) return true;
    if (away2 < steps_m * steps_m && pace2 > runs_mps * runs_mps) return true;
    return dot(to, ahead) >= cosine * length(to);
  }
};

Cone cone_of(const MonsterTable& m, std::size_t row, const MonsterTraits& kind) {
  if (m.mood[row] != MonsterMood::asleep) return {};
  const auto half = static_cast<std::int32_t>(kind.sight_cone_deg / 2 * (65536 / 360.0));
  const double cosine = half >= 32768 ? -1 : sin_cos(Turn16{static_cast<std::uint16_t>(half)}).cos;
  return {heading(m.yaw[row]), cosine, m.deaf[row] != 0 ? 0 : steps_share * kind.hearing_m};
}

/// Of its sight, what light and powers leave of it towards a player.
double sight_share(const PlayerTable& players, std::size_t row, const MonsterTraits& kind) {
  constexpr double brightest = 15;
  const double lit = kind.dark_sight_share + (1 - kind.dark_sight_share) * (players.light[row] / brightest);
  return players.arsenal[row].powered(Power::invisibility) ? lit * invisible_share : lit;
}

struct Candidate {
  double d2 = 0;
  int row = -1;
  DVec3 position_m = {};
  bool operator<(const Candidate& other) const { return d2 != other.d2 ? d2 < other.d2 : row < other.row; }
};
constexpr std::size_t candidates_max = 64;

/// Nearest player in sight, the lowest row where two are equally near: the nearest first, one ray to each
/// until one is clear. Beyond candidates_max in range the rest gets a ray wherever it is nearer than whoever
/// was seen.
int find_target(const Space& space, const Rules& rules, const PlayerTable& players, const PlayerGrid& near,
                const DVec3 eye, const MonsterTraits& kind, EntityId held, const Cone& cone) {
  std::array<Candidate, candidates_max> found;
  std::size_t count = 0;
  const double range_m = kind.sight_m_max, runs_mps = runs_share * rules.walk_speed_mps_max;
  Candidate best{range_m * range_m};
  const auto sees = [&](const Candidate& one) {
    return space_sees(space, eye, one.position_m + DVec3{0, 0, rules.player_eye_m});
  };
  // Farther away than best, by what light and powers leave of its sight, is no candidate.
  const auto candidate = [&](std::uint32_t row, DVec3 position_m, double times) -> std::optional<Candidate> {
    const DVec3 d = position_m - eye;
    Candidate one{times * dot(d, d), static_cast<int>(row), position_m};
    if (one.d2 > best.d2) return std::nullopt;
    if (dot(xy(d), xy(d)) > felt_m * felt_m) {
      const double share = sight_share(players, row, kind);
      one.d2 = share > 0 ? one.d2 / (share * share) : range_m * range_m;
    }
    const DVec2 v = xy(players.body[row].velocity_mps);
    if (!(one < best) || !cone.holds(xy(d), dot(v, v), runs_mps)) return std::nullopt;
    return one;
  };
  // Who is chased already is kept until another is clearly nearer, or two players would be swapped for ever.
  // Looked for first, he leaves few of the others to look for.
  if (players.has(held)) {
    const std::uint32_t row = slot_of(held);
    const Body& body = players.body[row];
    if (players.alive(row) && body.noclip == 0)
      if (const auto one = candidate(row, body.position_m, held_bonus); one && sees(*one)) best = *one;
  }
  near.visit_near(xy(eye), std::sqrt(best.d2), [&](std::uint32_t row, DVec3 position_m) {
    const auto one = candidate(row, position_m, 1);
    if (!one || players.id[row] == held) return;
    if (count < found.size())
      found[count++] = *one;
    else if (sees(*one))
      best = *one;
  });
  const auto farther = [](const Candidate& a, const Candidate& b) { return b < a; };
  const auto first = found.begin();
  std::make_heap(first, first + static_cast<std::ptrdiff_t>(count), farther);
  for (; count > 0; --count) {
    const Candidate one = *first;
    if (!(one < best)) break;
    if (sees(one)) return one.row;
    std::pop_heap(first, first + static_cast<std::ptrdiff_t>(count), farther);
  }
  return best.row;
}

bool anybody_within(const PlayerGrid& near, DVec2 at, double radius_m) {
  bool found = false;
  near.visit_near(at, radius_m, [&](std::uint32_t, DVec3 position_m) {
    const DVec2 d = xy(position_m) - at;
    found = found || dot(d, d) <= radius_m * radius_m;
  });
  return found;
}

void pick_heading(const Rules& rules, MonsterTable& m, std::size_t row) {
  Rng& rng = m.rng[row];
  m.yaw[row] = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
  const double for_s = rng.between(1.0, 4.0);
  m.turn_ticks[row] = rules.ticks_within(for_s);
}

void count_down(std::uint16_t& ticks, std::uint16_t by = 1) {
  ticks = static_cast<std::uint16_t>(ticks > by ? ticks - by : 0);
}

/// It has another monster to settle with, and stays after that one while its grudge lasts or it sees it.
/// @return false: that is over
bool look_at_rival(const Space& space, const Rules& rules, const PlayerTable& players, MonsterTable& monsters,
                   std::size_t row, DVec3 eye) {
  const EntityId target = monsters.target[row];
  if (target == EntityId{0} || slot_of(target) < players.rows()) return false;
  const auto rival = body_of(rules, players, monsters, target);
  if (!rival) return false;
  const bool seen = space_sees(space, eye, rival->middle());
  monsters.sees[row] = seen ? 1 : 0;
  if (seen) monsters.goal_m[row] = rival->base;
  return seen || monsters.grudge_ticks[row] > 0;
}

void give_up(const Rules& rules, MonsterTable& monsters, std::size_t row) {
  monsters.mood[row] = MonsterMood::wander;
  monsters.target[row] = EntityId{0};
  monsters.sees[row] = 0;
  pick_heading(rules, monsters, row);
}

/// Takes up whom it sees, and gives up whom it has not seen for long. @return true: it woke
bool look(const Space& space, const Rules& rules, const PlayerTable& players, const PlayerGrid& near,
          MonsterTable& monsters, std::size_t row, const Navigation* ways) {
  const MonsterTraits& kind = monsters.traits_at(row);
  const DVec3 eye = monsters.body[row].position_m + DVec3{0, 0, eye_height_m(kind.shape)};
  const bool hunts = monsters.mood[row] == MonsterMood::chase || monsters.mood[row] == MonsterMood::flee;
  monsters.dozes[row] = !hunts && !anybody_within(near, xy(eye), doze_m) ? 1 : 0;
  if (monsters.dozes[row] != 0) return false;
  const std::uint16_t every = monster_look_ticks(rules);
  count_down(monsters.grudge_ticks[row], every);
  if (look_at_rival(space, rules, players, monsters, row, eye)) return false;
  const int seen =
      find_target(space, rules, players, near, eye, kind, monsters.target[row], cone_of(monsters, row, kind));
  monsters.sees[row] = seen >= 0 ? 1 : 0;
  if (seen >= 0) {
    const auto player = static_cast<std::size_t>(seen);
    ASHLAR_ASSERT(players.alive(player));
    monster_takes_up(rules, monsters, row, players.id[player], players.body[player].position_m);
    return !hunts;
  }
  if (!hunts) return false;
  const Route route = ways != nullptr && players.has(monsters.target[row]) &&
                              players.takes_part(slot_of(monsters.target[row]))
                          ? ways->route(space, players, monsters, row)
                          : Route{};
  if (route.way || route.pending)
    monsters.forget_ticks[row] = rules.ticks_within(forget_s);
  else
    count_down(monsters.forget_ticks[row], every);
  if (monsters.forget_ticks[row] == 0 || slot_of(monsters.target[row]) >= players.rows())
    give_up(rules, monsters, row);
  return false;
}

/// P_CheckMissileRange: the further the target, the rarer the attack.
bool dares(const MonsterTraits& kind, Rng& rng, double distance_m) {
  double units = distance_m / map_unit_m - 64;
  if (kind.melee.form == AttackForm::none) units -= 128;
  const double shyness = std::clamp(units * kind.shy_share, 0.0, static_cast<double>(kind.shyness_max));
  return rng.unit() * 256 >= shyness;
}

void begin_attack(const Rules& rules, MonsterTable& m, std::size_t row, bool ranged) {
  const MonsterTraits& kind = m.traits_at(row);
  const MonsterAttack& how = ranged ? kind.ranged : kind.melee;
  m.action[row] = MonsterAction::windup;
  m.action_ticks[row] = rules.ticks_within(how.windup_s, 1);
  m.burst_left[row] = how.burst;
  m.ranged[row] = ranged ? 1 : 0;
}

/// Comes to an attack if it may: near enough to touch, or its turn to consider one from afar.
bool decides_to_attack(const Rules& rules, MonsterTable& m, std::size_t row, const BodyView& at) {
  const MonsterTraits& kind = m.traits_at(row);
  count_down(m.check_ticks[row]);
  if (m.sees[row] == 0) return false;
  const DVec3 to = at.base - m.body[row].position_m;
  const double distance = length(xy(to));
  const bool beside = to.z < kind.shape.height_m && -to.z < at.shape.height_m;
  if (kind.melee.form != AttackForm::none && beside && distance <= kind.melee.range_m + at.shape.radius_m) {
    begin_attack(rules, m, row, false);
    return true;
  }
  if (kind.ranged.form == AttackForm::none || m.check_ticks[row] > 0) return false;
  const double wait_s = m.rng[row].between(0, 2 * kind.decision_s);
  m.check_ticks[row] = rules.ticks_within(wait_s, 1);
  if (distance > kind.ranged.range_m || !dares(kind, m.rng[row], distance)) return false;
  begin_attack(rules, m, row, true);
  return true;
}

/// Goes on with what its body is about. It stands meanwhile, but for a charge.
MonsterWish go_on(const Rules& rules, const PlayerTable& players, MonsterTable& m, std::size_t row) {
  MonsterWish wish;
  const MonsterTraits& kind = m.traits_at(row);
  const MonsterAttack& how = m.ranged[row] != 0 ? kind.ranged : kind.melee;
  count_down(m.action_ticks[row]);
  const bool over = m.action_ticks[row] == 0;
  switch (m.action[row]) {
    case MonsterAction::none: break;
    case MonsterAction::pain:
    case MonsterAction::recover:
      if (over) m.action[row] = MonsterAction::none;
      break;
    case MonsterAction::charging: {
      const DVec3 v = m.body[row].velocity_mps;
      const double pace = length(xy(v));
      const double slowest = charge_end_share * how.speed_mps;
      const bool landed = kind.flies == 0 && m.body[row].grounded != 0;
      if (over || landed || (kind.flies != 0 && dot(v, v) < slowest * slowest)) {
        m.action[row] = MonsterAction::none;
        break;
      }
      if (pace > 0 && kind.speed_mps > 0) {
        wish.direction = xy(v) * (1 / pace);
        wish.speed_share = pace / kind.speed_mps;
        wish.climb = std::clamp(2 * v.z / pace, -1.0, 1.0);  // flyers climb at half of their pace
      }
      break;
    }
    case MonsterAction::windup: {
      const auto at = body_of(rules, players, m, m.target[row]);
      if (!at) {
        m.action[row] = MonsterAction::none;
        break;
      }
      const DVec2 to = xy(at->base - m.body[row].position_m);
      if (dot(to, to) > 0) m.yaw[row] = turn_towards(to);
      if (!over) break;
      wish.fires = true;
      if (m.burst_left[row] > 0) --m.burst_left[row];
      const bool again = m.burst_left[row] > 0 || (how.refires != 0 && m.sees[row] != 0);
      m.action[row] = again ? MonsterAction::windup : MonsterAction::recover;
      m.action_ticks[row] = rules.ticks_within(again ? how.burst_s : how.recover_s, 1);
      break;
    }
  }
  return wish;
}

/// On in its heading, or another one when it comes to an edge or has met something.
MonsterWish wander(const Space& space, const Rules& rules, MonsterTable& monsters, std::size_t row, bool slow,
                   TickId tick) {
  const MonsterTraits& kind = monsters.traits_at(row);
  const std::uint16_t grace_ticks = rules.ticks_within(grace_s, 2);
  if (monsters.turn_ticks[row] == 0 || (slow && monsters.turn_ticks[row] % grace_ticks == grace_ticks / 2))
    pick_heading(rules, monsters, row);
  MonsterWish wish;
  wish.direction = heading(monsters.yaw[row]);
  wish.speed_share = wander_speed_share;
  const std::uint16_t look_ticks = rules.ticks_within(edge_look_s, 1);
  if (kind.flies != 0 || (number(tick) + row) % look_ticks != 0) return wish;
  const double drop_m = std::min(kind.drop_m, std::max(wander_drop_m, kind.step_height_m_max));
  const auto edge = [&] { return comes_over_edge(space, kind, drop_m, wish.direction, monsters.body[row]); };
  if (!edge()) return wish;
  // Back, and a little aside. Where there is an edge, too, it stands and looks again.
  constexpr std::uint32_t aside = 8192;
  const auto turn = static_cast<std::uint16_t>(32768 - aside + monsters.rng[row].next_u32() % (2 * aside));
  monsters.yaw[row] = monsters.yaw[row] + Turn16{turn};
  wish.direction = heading(monsters.yaw[row]);
  if (edge()) wish.direction = {};
  return wish;
}

}  // namespace

std::uint16_t monster_look_ticks(const Rules& rules) { return rules.ticks_within(look_every_s, 1); }

void monster_takes_up(const Rules& rules, MonsterTable& monsters, std::size_t row, EntityId who, DVec3 at_m) {
  ASHLAR_ASSERT(who != EntityId{0});
  const MonsterTraits& kind = monsters.traits_at(row);
  const bool hunted = monsters.mood[row] == MonsterMood::chase || monsters.mood[row] == MonsterMood::flee;
  if (!hunted) monsters.check_ticks[row] = rules.ticks_within(kind.reaction_s);
  const bool hurt = monsters.health[row] < kind.flee_share * kind.health;
  monsters.mood[row] = hurt ? MonsterMood::flee : MonsterMood::chase;
  monsters.target[row] = who;
  monsters.goal_m[row] = at_m;
  monsters.forget_ticks[row] = rules.ticks_within(forget_s);
  monsters.dozes[row] = 0;
}

void monster_hears(const Rules& rules, MonsterTable& monsters, std::size_t row, EntityId who, DVec3 from_m) {
  const bool hunts = monsters.mood[row] == MonsterMood::chase || monsters.mood[row] == MonsterMood::flee;
  if (monsters.deaf[row] != 0 || hunts) return;
  monster_takes_up(rules, monsters, row, who, from_m);
}

void monsters_alarm(const Space& space, const Rules& rules, MonsterTable& monsters, std::size_t row) {
  const MonsterTraits& kind = monsters.traits_at(row);
  const DVec3 eye = monsters.body[row].position_m + DVec3{0, 0, eye_height_m(kind.shape)};
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0} || i == row || monsters.kind[i] != monsters.kind[row]) continue;
    if (monsters.mood[i] != MonsterMood::asleep && monsters.mood[i] != MonsterMood::wander) continue;
    const DVec3 other = monsters.body[i].position_m + DVec3{0, 0, eye_height_m(kind.shape)};
    const DVec3 d = other - eye;
    if (dot(d, d) > kind.alarm_m * kind.alarm_m || !space_sees(space, eye, other)) continue;
    monster_hears(rules, monsters, i, monsters.target[row], monsters.goal_m[row]);
  }
}

MonsterWish monster_think(const Space& space, const Rules& rules, const PlayerTable& players,
                          const PlayerGrid& near, MonsterTable& monsters, std::size_t row, TickId tick,
                          const Navigation* ways) {
  ASHLAR_ASSERT(row < monsters.rows() && monsters.id[row] != EntityId{0});
  bool woke = false;
  if ((number(tick) + row) % monster_look_ticks(rules) == 0)
    woke = look(space, rules, players, near, monsters, row, ways);
  MonsterWish wish;
  if (monsters.dozes[row] != 0 || monsters.mood[row] == MonsterMood::asleep) {
    if (monsters.action[row] != MonsterAction::none) return go_on(rules, players, monsters, row);
    return wish;
  }
  const MonsterTraits& kind = monsters.traits_at(row);
  if (monsters.action[row] != MonsterAction::none) {
    wish = go_on(rules, players, monsters, row);
    wish.alarms = woke;
    return wish;
  }
  // Held up: it moved by less than a fifth of its pace while it wanted to go. Walk off sideways for a while.
  const double held_up_mps = 0.2 * wander_speed_share * kind.speed_mps;
  const DVec2 v = xy(monsters.body[row].velocity_mps);
  const bool slow = dot(v, v) < held_up_mps * held_up_mps;
  count_down(monsters.turn_ticks[row]);

  if (monsters.mood[row] == MonsterMood::chase || monsters.mood[row] == MonsterMood::flee) {
    const auto at = body_of(rules, players, monsters, monsters.target[row]);
    const bool attacks = at && rules.monsters_fight == Switch::on &&
                         monsters.mood[row] == MonsterMood::chase &&
                         decides_to_attack(rules, monsters, row, *at);
    if (!attacks) wish = monster_hunts(space, rules, players, monsters, row, slow, ways, tick);
    wish.alarms = woke;
    return wish;
  }

  return wander(space, rules, monsters, row, slow, tick);
}

}  // namespace ashlar
