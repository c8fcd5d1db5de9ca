#include "client_sim/brains/fighter.h"

#include <algorithm>
#include <cmath>

#include "client_sim/brains/weapon_choice.h"
#include "client_sim/explore/steps.h"
#include "world/collide/space.h"
#include "world/sim/pickups.h"

namespace ashlar::client_sim {
namespace {

constexpr double monster_m_max = 28;  // further away it is left alone
constexpr double stand_m = 14;        // nearer than this it stops to fight a monster
constexpr double item_m_max = 8, weapon_m_max = 20;
constexpr double item_s = 4;  // for fetching one, then it is left
constexpr double shun_s = 20;
constexpr double harmless_s = 5;  // of fire that did nothing
constexpr double too_near_m = 3, too_far_m = 9;
constexpr double aim_off_max = 500;  // 1/65536 turns, before it fires
constexpr double still_m = 0.4;      // in half a second, on the surface, is a wall
constexpr std::size_t shunned_max = 16;

bool hunted_kind(EntityKind kind) {
  return kind >= entity_kind(MonsterKind{0}) && kind < EntityKind{own_kind_first};
}
bool fetched_kind(EntityKind kind) {
  return kind >= item_entity_kind(0) && kind < item_entity_kind(static_cast<std::uint8_t>(item_kind_count));
}

/// The same way over the ground, for one who looks elsewhere.
void look_elsewhere(PlayerCommand& c, Turn16 yaw, Turn16 pitch) {
  const DVec2 ahead = heading(c.yaw), left{-ahead.y, ahead.x};
  const DVec2 way = ahead * c.forward + left * c.left;
  const DVec2 view = heading(yaw);
  c.forward = std::clamp(dot(way, view), -1.0, 1.0);
  c.left = std::clamp(dot(way, DVec2{-view.y, view.x}), -1.0, 1.0);
  c.yaw = yaw, c.pitch = pitch;
}

/// How far a place is off the view, in turns of 1/65536.
double turns_off(Turn16 a, Turn16 b) {
  return std::fabs(static_cast<double>(static_cast<std::int16_t>(a - b)));
}

}  // namespace

Fighter::Fighter(std::shared_ptr<ExploreParty> party, std::uint64_t seed)
    : party_(party ? std::move(party)
                   : std::make_shared<ExploreParty>([](const WelcomeMap&) { return nullptr; })),
      feet_(party_, seed),
      rng_(rng_for(seed, 0xf16)) {}

bool Fighter::shunned(EntityId id) const {
  return std::ranges::any_of(shunned_, [&](const Shunned& s) { return s.id == id && s.until_tick > tick_; });
}

bool Fighter::visible(DVec3 from, DVec3 to) const {
  const Expedition* const map = feet_.expedition();
  if (map == nullptr) return true;  // on the surface; it holds no picture of blocks
  const DVec3 way = to - from;
  const double far_m = length(way);
  return far_m < 0.01 || !space_ray(map->space(), from, way * (1 / far_m), far_m).hit();
}

bool Fighter::hostile(const Client& client, const ViewEntity& e) const {
  if (e.record.health == 0 || e.record.id == client.player()) return false;
  if (hunted_kind(e.record.kind)) return true;
  if (e.record.kind != EntityKind::player || !versus_) return false;
  if (team_ == 0 || !client.score()) return true;
  const auto row = std::ranges::find(client.score()->rows, e.record.id, &ScoreRow::id);
  return row == client.score()->rows.end() || row->team != team_;
}

/// Is it the one to fight? Who is seen comes before who is not, players before monsters of the same distance.
void Fighter::consider(const Client& client, const ViewEntity& e) {
  const bool player = e.record.kind == EntityKind::player;
  const auto kind = static_cast<std::size_t>(e.record.kind) - 16;
  double height_m = client.welcome().rules.player.height_m;
  if (!player)
    height_m = kind < client.kinds()->monsters.size() ? client.kinds()->monsters[kind].shape.height_m : 1.0;
  Foe foe;
  foe.id = e.record.id;
  foe.health = e.record.health;
  foe.middle_m = e.position_m + DVec3{0, 0, height_m * 0.6};
  const DVec3 eye = client.own()->body.position_m + DVec3{0, 0, client.welcome().rules.player_eye_m};
  foe.away_m = length(foe.middle_m - eye);
  if (!player && foe.away_m > monster_m_max) return;
  foe.seen = foe.away_m < client.welcome().rules.shot_range_m && visible(eye, foe.middle_m);
  if (!player && !foe.seen) return;
  if (foe.seen < foe_.seen) return;
  const double worth = foe.away_m * (player ? 0.7 : 1) * (foe.id == harmless_id_ ? 0.8 : 1);
  if (foe.seen == foe_.seen && worth >= foe_.away_m) return;
  if (e.tick > e.before_tick) {
    const double over_s = (e.tick - e.before_tick) * client.welcome().rules.tick_s();
    foe.velocity_mps = (e.position_m - e.before_m) * (1 / over_s);
  }
  foe_ = foe;
}

void Fighter::look(const Client& client) {
  const Rules& rules = client.welcome().rules;
  second_ = rules.tick_rate_hz;
  team_ = 0;
  if (client.score()) {
    const auto& rows = client.score()->rows;
    const auto own = std::ranges::find(rows, client.player(), &ScoreRow::id);
    if (own != rows.end()) team_ = own->team;
  }
  versus_ = plays_against(rules.mode) || team_ != 0;
  const DVec3 here = client.own()->body.position_m;
  const bool alive = client.own()->health > 0;
  if (alive && !alive_) home_m_ = here;
  alive_ = alive;
  client.view().entities(seen_);
  flags_.look(client, seen_, home_m_);
  foe_ = {};
  if (item_ != EntityId{0} && tick_ >= item_until_) {
    if (shunned_.size() == shunned_max) shunned_.erase(shunned_.begin());
    shunned_.push_back({item_, tick_ + static_cast<std::uint32_t>(shun_s * second_)});
  }
  const EntityId before = std::exchange(item_, EntityId{0});
  double nearest_m = 1e9;
  for (const ViewEntity& e : seen_) {
    if (hostile(client, e) && !shunned(e.record.id)) consider(client, e);
    if (!fetched_kind(e.record.kind) || shunned(e.record.id)) continue;
    const auto index = static_cast<std::uint8_t>(static_cast<unsigned>(e.record.kind) - 192);
    const ThingType& thing = item_type(index);
    const double away_m = length(e.position_m - here);
    if (thing.pickup == PickupKind::key || away_m >= nearest_m) continue;
    if (away_m > (thing.pickup == PickupKind::weapon ? weapon_m_max : item_m_max)) continue;
    if (!visible(here + DVec3{0, 0, rules.player_eye_m}, e.position_m + DVec3{0, 0, 0.3})) continue;
    nearest_m = away_m;
    item_ = e.record.id, item_m_ = e.position_m;
  }
  if (item_ != before) item_until_ = tick_ + static_cast<std::uint32_t>(item_s * second_);
}

/// Whom it fires at for long without harm, it cannot reach: through a gap too small, or behind a rail.
void Fighter::keep_at_it(const Client& client) {
  if (foe_.id != harmless_id_ || foe_.health < harmless_health_ || !foe_.seen) harmless_since_ = tick_;
  harmless_id_ = foe_.id, harmless_health_ = foe_.health;
  if (foe_.id == EntityId{0} || !foe_.seen) return;
  if (client.score() && client.score()->phase == MatchPhase::intermission) harmless_since_ = tick_;
  if (tick_ - harmless_since_ < static_cast<std::uint32_t>(harmless_s * second_)) return;
  if (shunned_.size() == shunned_max) shunned_.erase(shunned_.begin());
  shunned_.push_back({foe_.id, tick_ + second_ * 5});
  foe_ = {};
}

/// Where it wants to be, whoever it fights meanwhile.
std::optional<DVec3> Fighter::errand(const Client& client) const {
  if (const auto flag = flags_.place_m(client.player())) return flag;
  if (item_ != EntityId{0}) return item_m_;
  if (foe_.id != EntityId{0} && versus_) return foe_.middle_m;
  return std::nullopt;
}

PlayerCommand Fighter::walk(const Client& client) {
  feet_.seek(errand(client));
  if (!versus_ && client.welcome().rules.mode == GameMode::cooperative) feet_.leave_by_exit();
  if (const auto command = feet_.think(client)) return *command;
  return walk_straight(client);
}

PlayerCommand Fighter::walk_straight(const Client& client) {
  const DVec3 here = client.own()->body.position_m;
  PlayerCommand c;
  c.yaw = command_.yaw;
  c.forward = 1;
  std::optional<DVec2> to;
  if (const auto place = errand(client))
    to = xy(*place);
  else if (foe_.id != EntityId{0})
    to = xy(foe_.middle_m);
  else
    to = feet_.way_in(client);
  if (tick_ >= check_tick_) {
    // A wall, a block or a step too high: with a jump, some other way.
    const bool still = length(xy(here - check_m_)) < still_m;
    check_tick_ = tick_ + second_ / 2, check_m_ = here;
    if (still)
      dodge_until_ = tick_ + second_ / 3, dodge_ = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
    if (!to && (still || rng_.below(4) == 0)) c.yaw = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
  }
  if (to) c.yaw = turn_towards(*to - xy(here));
  if (tick_ < dodge_until_)
    c.yaw = c.yaw + Turn16{static_cast<std::uint16_t>(static_cast<unsigned>(dodge_) / 4)},
    c.buttons = button::jump;
  return c;
}

/// Not too near, not too far, and never where the last shot went.
void Fighter::step_aside(const Client& client, PlayerCommand& c, double away_m) {
  const Expedition* const map = feet_.expedition();
  if (tick_ >= aside_until_) {
    aside_until_ = tick_ + second_ / 3 + rng_.below(second_ / 2);
    aside_ = rng_.below(2) == 0 ? 1 : -1;
  }
  const DVec2 ahead = heading(c.yaw), left{-ahead.y, ahead.x};
  const DVec2 here = xy(client.own()->body.position_m);
  double forward = away_m > too_far_m ? 1 : away_m < too_near_m ? -1 : 0;
  double aside = aside_;
  // Only where the ground goes on.
  if (map != nullptr && !straight(*map, here, here + left * (aside * 0.8))) aside = 0;
  if (map != nullptr && !straight(*map, here, here + ahead * (forward * 0.8))) forward = 0;
  c.forward = forward;
  c.left = aside;
}

/// Is the fight worth stopping for? On an errand it fires as it goes.
bool Fighter::stands_to_fight(const Client& client) const {
  if (!alive_ || !foe_.seen || client.own()->body.grounded == 0) return false;
  if (item_ != EntityId{0} || flags_.place_m(client.player())) return false;
  if (client.carried()) {
    const std::uint8_t held = client.carried()->arsenal.held;
    const auto& weapons = client.kinds()->weapons;
    if (held < weapons.size() && weapons[held].form == WeaponForm::melee) return false;
  }
  return foe_.away_m < (versus_ ? 2 * stand_m : stand_m);
}

void Fighter::fight(const Client& client, PlayerCommand& c, bool stands) {
  const Rules& rules = client.welcome().rules;
  const DVec3 eye = client.own()->body.position_m + DVec3{0, 0, rules.player_eye_m};
  DVec3 aim = foe_.middle_m;
  bool touches = false;
  std::uint32_t throw_ticks = 0;  // 0: nothing is thrown
  if (client.carried()) {
    const Arsenal& has = client.carried()->arsenal;
    const std::uint8_t best = best_weapon(*client.kinds(), rules, has, foe_.away_m);
    if (best != weapon_none && best != has.held && has.wanted != best)
      c.buttons = static_cast<std::uint16_t>((c.buttons & ~button::weapon) | weapon_button(best));
    if (has.held < client.kinds()->weapons.size()) {
      const WeaponTraits& w = client.kinds()->weapons[has.held];
      touches = w.form == WeaponForm::melee;
      if (w.form == WeaponForm::thrown) throw_ticks = rules.ticks_within(w.charge_s, 1);
      if (launches(w.form) && w.projectile < client.kinds()->projectiles.size())
        aim = aim + foe_.velocity_mps *
                        (foe_.away_m / std::max(client.kinds()->projectiles[w.projectile].speed_mps, 1.0));
    }
  }
  if (touches) c.forward = 1, c.left = 0;  // with bare hands it runs at them
  const DVec3 way = aim - eye;
  const Turn16 yaw = turn_towards(xy(way)), pitch = turn_towards({length(xy(way)), way.z});
  const bool aimed =
      turns_off(command_.yaw, yaw) < aim_off_max && turns_off(command_.pitch, pitch) < 4 * aim_off_max;
  if (touches)
    c.yaw = yaw, c.pitch = pitch;
  else
    look_elsewhere(c, yaw, pitch);
  if (stands) step_aside(client, c, foe_.away_m);
  if (!aimed) return;
  // What is thrown leaves the hand as the trigger is let go.
  const bool lets_go = throw_ticks > 0 && held_ticks_ >= throw_ticks;
  held_ticks_ = lets_go ? 0 : held_ticks_ + 1;
  if (!lets_go) c.buttons |= button::attack;
}

PlayerCommand Fighter::think(const Client& client) {
  if (!client.own()) return {};
  if (client.command_tick() == tick_ && tick_ != 0) return command_;
  tick_ = client.command_tick();
  look(client);
  keep_at_it(client);
  const bool stands = stands_to_fight(client);
  if (stands) feet_.rest(client);
  PlayerCommand c = stands ? PlayerCommand{} : walk(client);
  // What the feet press or shoot at they have to look at.
  const bool hands_free = (c.buttons & (button::use | button::attack)) == 0;
  if (alive_ && foe_.seen && hands_free) fight(client, c, stands);
  feet_.did(c);
  command_ = c;
  return command_;
}

}  // namespace ashlar::client_sim
