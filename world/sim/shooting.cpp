#include "world/sim/shooting.h"

#include <algorithm>
#include <optional>

#include "world/math/assert.h"
#include "world/sim/shown_walls.h"

namespace ashlar {

namespace {

/// Rays of one tick that there is room for beside one for each player: some fifty double shotguns.
constexpr std::size_t rays_more = 1024;
constexpr std::uint64_t spread_draws = 6;  // purpose of rng_for

/// Of one shot: its tick and its view are known on both sides, and no two shots of a player have both.
Rng spread_of(TickId tick, Turn16 yaw, Turn16 pitch) {
  return rng_for(number(tick), spread_draws,
                 static_cast<std::uint64_t>(yaw) << 16 | static_cast<std::uint64_t>(pitch));
}

Turn16 turned(Turn16 from, double deg) {
  const auto by = static_cast<std::int32_t>(deg * (65536 / 360.0));
  return from + Turn16{static_cast<std::uint16_t>(by)};
}

/// A way beside the view's, as the weapon scatters.
DVec3 aside(const WeaponTraits& weapon, Turn16 yaw, Turn16 pitch, Rng& chance) {
  const auto triangular = [&chance] {
    const double a = chance.unit();
    return a - chance.unit();
  };
  const double left_deg = triangular() * weapon.spread_deg;
  const double up_deg = triangular() * weapon.rise_deg;
  const auto level = static_cast<std::int16_t>(static_cast<std::uint16_t>(pitch));
  const double up = std::clamp(level + up_deg * (65536 / 360.0), -16384.0, 16384.0);
  return view_direction(turned(yaw, left_deg),
                        Turn16{static_cast<std::uint16_t>(static_cast<std::int32_t>(up))});
}

}  // namespace

Shooting::Shooting(std::size_t players_max, std::size_t monsters_max, std::size_t maps, bool free_ammo)
    : free_ammo_(free_ammo) {
  maps_.reserve(maps);
  targets_.reserve(players_max + monsters_max);
  told_.reserve(players_max + monsters_max);
  events_.reserve(players_max + rays_more);
  launches_.reserve(players_max + rays_more);
}

void Shooting::list_targets(const ShotsTick& tick, EntityId shooter, const PictureAt& picture) {
  // Who is told of everybody alike shares a list with all who saw the same.
  const bool apart =
      shooter != EntityId{0} &&
      std::ranges::find(tick.told_apart, shooter, &ToldApart::shooter) != tick.told_apart.end();
  const Listed wanted{picture, apart ? shooter : EntityId{0}};
  if (listed_ == wanted && !pierced_) return;
  targets_.clear(), told_.clear();
  listed_ = wanted;
  pierced_ = false;
  const bool forgotten = tick.history.at(picture.seen) == nullptr;
  const auto now = static_cast<double>(number(tick.now)), then = static_cast<double>(number(picture.seen));
  const auto add = [&](std::size_t row, EntityId id, DVec3 now_m, const Cylinder& body,
                       const HitShape& shape) {
    PictureAt seen = picture;
    for (const ToldApart& told : apart ? tick.told_apart : std::span<const ToldApart>{})
      if (told.shooter == shooter && told.target == id)
        seen.told_before = told.told_before, seen.told_after = told.told_after;
    const bool as_it_is = forgotten || seen == PictureAt{tick.now, 0, 0};
    const auto told = as_it_is ? std::optional(ToldStates{now_m, now, now_m, now})
                               : tick.history.told_states(row, id, seen);
    if (!told) return;
    told_.push_back(*told);
    targets_.push_back({id, body, shown_between(*told, then, tick.rules), shape});
  };
  const PlayerTable& players = tick.players;
  const HitShape player_shape = hit_shape(tick.rules.player, HitBuild::upright);
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.alive(i) && players.body[i].noclip == 0)
      add(i, players.id[i], players.body[i].position_m, tick.rules.player, player_shape);
  for (std::size_t i = 0; i < tick.monsters.rows(); ++i) {
    if (tick.monsters.id[i] == EntityId{0}) continue;
    const MonsterTraits& kind = tick.monsters.traits_at(i);
    add(players.rows() + i, tick.monsters.id[i], tick.monsters.body[i].position_m, kind.shape,
        hit_shape(kind.shape, kind.build));
  }
}

/// Pictures show nobody inside a wall: whom a ray may meet and who was shown between two states is where it
/// was shown.
void Shooting::put_before_walls(const ShotsTick& tick, const Space& space, TickId seen, DVec3 eye,
                                DVec3 way) {
  constexpr double near_m = 3;  // a body, and what walls move it by
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (told_[i].ticks() <= 0) continue;
    const DVec3 to_target = targets_[i].base - eye;
    const DVec3 off = to_target - way * dot(to_target, way);
    if (dot(off, off) > near_m * near_m) continue;
    targets_[i].base =
        shown_free(space, targets_[i].body, told_[i], static_cast<double>(number(seen)), tick.rules);
  }
}

/// The space with sectors as high as they were.
Space Shooting::space_then(const Space& space, const History::Frame* then) {
  if (then == nullptr || space.maps.empty()) return space;
  maps_.clear();
  for (std::size_t i = 0; i < space.maps.size(); ++i) maps_.push_back({space.maps[i].map, then->heights(i)});
  return {space.voxels, maps_, space.props};
}

/// A beam: whoever stands on its way is hit, the nearest first, up to what is solid.
void Shooting::pierce(const Space& space, ShotEvent event) {
  while (event.hit.target != EntityId{0} && events_.size() + 1 < events_.capacity()) {
    event.goes_on = true;
    events_.push_back(event);
    std::erase_if(targets_, [&](const ShotTarget& t) { return t.id == event.hit.target; });
    pierced_ = true;
    event.goes_on = false;
    event.hit = resolve_shot(space, targets_, event.shooter, event.origin, event.direction, event.range_m);
  }
  events_.push_back(event);
}

void Shooting::fire(const ShotsTick& tick, std::size_t row, const Trigger& trigger) {
  ++shots_;
  const PlayerTable& players = tick.players;
  const Rules& rules = tick.rules;
  const TickId now = tick.now;
  const Arsenal& arsenal = players.arsenal[row];
  const WeaponTraits& weapon = tick.monsters.kind_set().weapons[arsenal.held];
  const DVec3 eye = players.body[row].position_m + DVec3{0, 0, rules.player_eye_m};
  Rng chance = spread_of(now, players.yaw[row], players.pitch[row]);
  // What it saw; the present state, where that is what it saw, or where it does not say.
  const PlayerCommand& command = players.command[row];
  const TickId claimed = command.seen;
  const TickId seen = claimed == TickId{0} ? now : seen_within(claimed, now, tick.history.ticks_max());
  const PictureAt picture =
      seen == claimed ? PictureAt{seen, command.told_before, command.told_after} : PictureAt{seen, 0, 0};
  const History::Frame* then = seen == now ? nullptr : tick.history.at(seen);
  for (std::uint8_t ray = 0; ray < weapon.count; ++ray) {
    const DVec3 way = trigger.straight ? view_direction(players.yaw[row], players.pitch[row])
                                       : aside(weapon, players.yaw[row], players.pitch[row], chance);
    if (ashlar::launches(weapon.form)) {
      if (launches_.size() == launches_.capacity()) {
        ++rays_lost_;
        continue;
      }
      launches_.push_back(
          {players.id[row], eye, way, arsenal.held, weapon.projectile, trigger.strength, trigger.fuse_ticks});
      continue;
    }
    if (events_.size() == events_.capacity()) {
      ++rays_lost_;
      continue;
    }
    const Space space = space_then(tick.space, then);
    list_targets(tick, seen == claimed ? players.id[row] : EntityId{0}, picture);
    put_before_walls(tick, space, seen, eye, way);
    ShotEvent event;
    event.seen = seen;
    event.shooter = players.id[row];
    event.origin = eye;
    event.direction = way;
    event.range_m = weapon.range_m > 0 ? weapon.range_m : rules.shot_range_m;
    event.weapon = arsenal.held, event.ray = ray;
    event.times = arsenal.powered(Power::strength) ? weapon.strength_times : std::uint8_t{1};
    // Where it saw the newest state, what this very tick has changed was not yet in it, either.
    const BlockHistory::Past past(tick.history.blocks(), tick.blocks,
                                  claimed == TickId{0} ? TickId{~0u} : seen, event.shooter, eye, way,
                                  event.range_m);
    event.hit = resolve_shot(space, targets_, event.shooter, eye, way, event.range_m);
    ASHLAR_ASSERT(event.hit.target != event.shooter);
    if (weapon.form == WeaponForm::beam)
      pierce(space, event);
    else
      events_.push_back(event);
  }
}

void Shooting::shoot(const ShotsTick& tick) {
  rest();
  PlayerTable& players = tick.players;
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0}) continue;
    const Trigger trigger = wield(tick.monsters.kind_set(), tick.rules, free_ammo_, players.command[i],
                                  players.alive(i), players.arsenal[i]);
    if (trigger.fires) fire(tick, i, trigger);
  }
}

void Shooting::add_to_hash(StripeHasher& hash) const { hash.add(shots_); }

}  // namespace ashlar
