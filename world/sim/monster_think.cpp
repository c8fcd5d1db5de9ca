#include "world/sim/monster_think.h"

#include <cmath>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double look_every_s = 1.0 / 6;
constexpr double aside_s = 0.5;  // so long it walks off sideways, and so much grace it has to get going
constexpr double forget_s = 5;
constexpr double wander_speed_share = 0.4;
constexpr double reach_gap_m = 0.25;  // a chaser stops this far from its target's skin
constexpr double goal_reached_m = 0.5;
static_assert(forget_s > look_every_s);  // it looks again before it forgets
constexpr double held_bonus = 0.5;       // on the square of the distance to whom it chases already

double eye_height_m(const Cylinder& shape) { return shape.height_m * 0.85; }

/// Nearest player in sight, the lowest row where two are equally near: distance first, then one ray to each
/// until one is clear. Rays are few because most candidates are out of range.
int find_target(const Space& space, const Rules& rules, const PlayerTable& players, const PlayerGrid& near,
                const DVec3 eye, double range_m, EntityId held) {
  int best = -1;
  double best_d2 = range_m * range_m;
  const double held_range_m = range_m * std::sqrt(1 / held_bonus);
  near.visit_near(xy(eye), held_range_m, [&](std::uint32_t row, DVec3 position_m) {
    const DVec3 d = position_m - eye;
    double d2 = dot(d, d);
    // Who is chased already is kept until another is clearly nearer, or two players would be swapped for
    // ever.
    if (players.id[row] == held) d2 *= held_bonus;
    const auto candidate = static_cast<int>(row);
    if (d2 > best_d2 || (d2 == best_d2 && (best < 0 || candidate > best))) return;
    if (!space_sees(space, eye, position_m + DVec3{0, 0, rules.player_eye_m})) return;
    best = candidate;
    best_d2 = d2;
  });
  return best;
}

void pick_heading(const Rules& rules, MonsterTable& m, std::size_t row) {
  Rng& rng = m.rng[row];
  m.yaw[row] = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
  const double for_s = rng.between(1.0, 4.0);
  m.turn_ticks[row] = rules.ticks_within(for_s);
}

std::uint16_t look_every_ticks(const Rules& rules) { return rules.ticks_within(look_every_s, 1); }

/// Takes up whom it sees, and gives up whom it has not seen for long.
void look(const Space& space, const Rules& rules, const PlayerTable& players, const PlayerGrid& near,
          MonsterTable& monsters, std::size_t row) {
  const MonsterTraits& kind = traits(monsters.kind[row]);
  const DVec3 eye = monsters.body[row].position_m + DVec3{0, 0, eye_height_m(kind.shape)};
  const std::uint16_t every = look_every_ticks(rules);
  const int seen = find_target(space, rules, players, near, eye, kind.sight_m_max, monsters.target[row]);
  if (seen >= 0) {
    ASHLAR_ASSERT(players.alive(static_cast<std::size_t>(seen)));
    monsters.mood[row] = MonsterMood::chase;
    monsters.target[row] = players.id[static_cast<std::size_t>(seen)];
    monsters.goal_m[row] = players.body[static_cast<std::size_t>(seen)].position_m;
    monsters.forget_ticks[row] = rules.ticks_within(forget_s);
  } else if (monsters.mood[row] == MonsterMood::chase) {
    const auto left = monsters.forget_ticks[row];
    monsters.forget_ticks[row] = static_cast<std::uint16_t>(left > every ? left - every : 0);
    if (monsters.forget_ticks[row] == 0) {
      monsters.mood[row] = MonsterMood::wander;
      monsters.target[row] = EntityId{0};
      pick_heading(rules, monsters, row);
    }
  }
}

}  // namespace

void monster_hears(const Rules& rules, MonsterTable& monsters, std::size_t row, EntityId who, DVec3 from_m) {
  if (monsters.deaf[row] != 0 || monsters.mood[row] == MonsterMood::chase) return;
  ASHLAR_ASSERT(who != EntityId{0});
  monsters.mood[row] = MonsterMood::chase;
  monsters.target[row] = who;
  monsters.goal_m[row] = from_m;
  monsters.forget_ticks[row] = rules.ticks_within(forget_s);
}

MonsterWish monster_think(const Space& space, const Rules& rules, const PlayerTable& players,
                          const PlayerGrid& near, MonsterTable& monsters, std::size_t row, TickId tick) {
  ASHLAR_ASSERT(row < monsters.rows() && monsters.id[row] != EntityId{0});
  const MonsterTraits& kind = traits(monsters.kind[row]);
  const Body& body = monsters.body[row];

  if ((number(tick) + row) % look_every_ticks(rules) == 0) look(space, rules, players, near, monsters, row);

  // Held up: it moved by less than a fifth of its pace while it wanted to go. Walk off sideways for a while.
  const double held_up_mps = 0.2 * wander_speed_share * kind.speed_mps;
  const DVec2 v = xy(body.velocity_mps);
  const bool slow = dot(v, v) < held_up_mps * held_up_mps;

  if (monsters.turn_ticks[row] > 0) --monsters.turn_ticks[row];

  if (monsters.mood[row] == MonsterMood::chase) {
    const DVec3 to_goal = monsters.goal_m[row] - body.position_m;
    const double distance = length(xy(to_goal));
    MonsterWish wish;
    if (kind.flies != 0) {
      wish.climb = to_goal.z + 0.5 > 0.2 ? 1.0 : to_goal.z + 0.5 < -0.2 ? -1.0 : 0.0;
    }
    const double stop_at_m = kind.shape.radius_m + rules.player.radius_m + reach_gap_m;
    if (distance <= stop_at_m || distance < goal_reached_m) {
      if (distance > 0) monsters.yaw[row] = turn_towards(xy(to_goal));
      return wish;
    }
    if (slow && monsters.turn_ticks[row] == 0) {
      // Against something: try left or right of the goal for half a second, then straight again.
      Rng& rng = monsters.rng[row];
      const std::uint32_t side = rng.next_u32();
      const auto turn = Turn16{static_cast<std::uint16_t>((side & 1u) != 0 ? 12288 : 65536 - 12288)};
      monsters.yaw[row] = turn_towards(xy(to_goal)) + turn;
      monsters.turn_ticks[row] = rules.ticks_within(aside_s);
    } else if (monsters.turn_ticks[row] == 0) {
      monsters.yaw[row] = turn_towards(xy(to_goal));
    }
    wish.direction = heading(monsters.yaw[row]);
    return wish;
  }

  // Half a second of grace after a turn, to get going.
  const std::uint16_t grace_ticks = rules.ticks_within(aside_s, 2);
  if (monsters.turn_ticks[row] == 0 || (slow && monsters.turn_ticks[row] % grace_ticks == grace_ticks / 2)) {
    pick_heading(rules, monsters, row);
  }
  MonsterWish wish;
  wish.direction = heading(monsters.yaw[row]);
  wish.speed_share = wander_speed_share;
  return wish;
}

}  // namespace ashlar
