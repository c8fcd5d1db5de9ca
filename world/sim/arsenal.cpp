#include "world/sim/arsenal.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"
#include "world/sim/kinds.h"
#include "world/sim/rules.h"

namespace ashlar {
namespace {

bool loaded(const WeaponTraits& weapon, const Arsenal& a) {
  return weapon.ammo == AmmoKind::none || a.ammo[static_cast<std::size_t>(weapon.ammo)] >= weapon.uses;
}

/// The best that is carried and has ammunition; what is in hand where nothing has.
std::uint8_t best_weapon(const KindSet& kinds, const Arsenal& a) {
  std::uint8_t best = weapon_none;
  const auto count = static_cast<std::uint8_t>(kinds.weapons.size());
  for (std::uint8_t i = 0; i < count; ++i)
    if (a.has(i) && loaded(kinds.weapons[i], a) &&
        (best == weapon_none || kinds.weapons[i].rank > kinds.weapons[best].rank))
      best = i;
  return best == weapon_none ? a.held : best;
}

/// Rounded up: two shots are never closer than the time says.
std::uint16_t ticks_over(const Rules& rules, double seconds) {
  constexpr double rounding = 1e-9;  // 0.4 s at 60 Hz are 24 ticks, not 25
  const double ticks = std::ceil(seconds * rules.tick_rate_hz - rounding);
  return static_cast<std::uint16_t>(std::clamp(ticks, 1.0, 65535.0));
}

void choose(const KindSet& kinds, const PlayerCommand& command, Arsenal& a) {
  const std::uint8_t wish = wished_weapon(command.buttons);
  if (wish == weapon_none || wish >= kinds.weapons.size() || !a.has(wish) || wish == a.wanted) return;
  a.wanted = wish;
  if (a.wanted == a.held) a.switch_ticks = 0;
}

bool empty(const WeaponTraits& weapon, const Arsenal& a) {
  return weapon.clip > 0 && a.spent[a.held] >= weapon.clip;
}

void lower(const KindSet& kinds, const Rules& rules, Arsenal& a) {
  if (a.switch_ticks == 0) a.switch_ticks = rules.ticks_within(kinds.weapons[a.held].lower_s, 1);
  if (--a.switch_ticks > 0) return;
  a.held = a.wanted;
  a.firing = 0;
  a.wait_ticks = rules.ticks_within(kinds.weapons[a.held].raise_s);
}

Trigger go_off(const WeaponTraits& weapon, bool free_ammo, Arsenal& a) {
  if (!free_ammo && weapon.ammo != AmmoKind::none) {
    std::uint16_t& left = a.ammo[static_cast<std::size_t>(weapon.ammo)];
    left = static_cast<std::uint16_t>(left - std::min(left, weapon.uses));
  }
  if (weapon.clip > 0 && a.spent[a.held] < weapon.clip) ++a.spent[a.held];
  Trigger trigger{.fires = true, .straight = weapon.steady != 0 && a.firing == 0};
  a.firing = 1;
  return trigger;
}

/// Held while the trigger is, thrown as it is let go, or as its fuse has burnt down.
Trigger hold(const Rules& rules, const WeaponTraits& weapon, bool free_ammo, bool pulls, Arsenal& a) {
  const std::uint16_t fuse = weapon.fuse_s > 0 ? rules.ticks_within(weapon.fuse_s, 2) : std::uint16_t{0};
  const bool burnt = fuse > 0 && a.charge_ticks + 1 >= fuse;
  if (pulls && !burnt) {
    if (a.charge_ticks < 0xffff) ++a.charge_ticks;
    return {};
  }
  Trigger trigger = go_off(weapon, free_ammo, a);
  if (weapon.charge_s > 0) {
    const double share = std::min(1.0, a.charge_ticks / (weapon.charge_s * rules.tick_rate_hz));
    trigger.strength = weapon.throw_least + (1 - weapon.throw_least) * share;
  }
  if (fuse > 0) trigger.fuse_ticks = static_cast<std::uint16_t>(std::max(1, fuse - a.charge_ticks));
  a.charge_ticks = 0;
  a.wait_ticks = ticks_over(rules, weapon.interval_s > 0 ? weapon.interval_s : rules.shot_interval_s);
  return trigger;
}

/// Is the weapon being loaded, from this tick on or from before?
bool reloads(const Rules& rules, const WeaponTraits& weapon, bool free_ammo, const PlayerCommand& command,
             Arsenal& a) {
  if (weapon.clip == 0) return false;
  if (a.reload_ticks > 0) {
    if (--a.reload_ticks > 0) return true;
    a.spent[a.held] = 0;
    return false;
  }
  const bool asks = (command.buttons & button::reload) != 0 && a.spent[a.held] > 0;
  if ((!asks && !empty(weapon, a)) || (!free_ammo && !loaded(weapon, a))) return false;
  a.reload_ticks = rules.ticks_within(weapon.reload_s, 1);
  return true;
}

}  // namespace

Arsenal fresh_arsenal(const KindSet& kinds) {
  Arsenal a;
  a.weapons = 0;
  for (std::size_t i = 0; i < ammo_kind_count; ++i) a.ammo[i] = kinds.ammo[i].start;
  const auto count = static_cast<std::uint8_t>(kinds.weapons.size());
  for (std::uint8_t i = 0; i < count; ++i)
    if (kinds.weapons[i].start != 0) a.weapons |= 1u << i;
  a.held = weapon::fist;
  a.held = a.wanted = best_weapon(kinds, a);
  return a;
}

bool arsenal_sane(const KindSet& kinds, const Arsenal& a) {
  return a.held < kinds.weapons.size() && a.wanted < kinds.weapons.size() && a.firing <= 1 &&
         a.backpack <= 1 && (a.charge_ticks == 0 || kinds.weapons[a.held].form == WeaponForm::thrown);
}

std::uint16_t ammo_room(const KindSet& kinds, const Arsenal& a, AmmoKind ammo) {
  const std::uint16_t most = kinds.ammo[static_cast<std::size_t>(ammo)].most;
  return static_cast<std::uint16_t>(a.backpack != 0 ? 2 * most : most);
}

Trigger wield(const KindSet& kinds, const Rules& rules, bool free_ammo, const PlayerCommand& command,
              bool alive, Arsenal& a) {
  ASHLAR_ASSERT_SLOW(arsenal_sane(kinds, a));
  if (a.wait_ticks > 0) --a.wait_ticks;
  for (std::uint16_t& left : a.power_ticks)
    if (left > 0 && left != power_endless) --left;
  const bool pulls = alive && (command.buttons & button::attack) != 0;
  if (!pulls) a.firing = 0;
  if (!alive) {
    a.windup_ticks = a.switch_ticks = a.reload_ticks = a.charge_ticks = 0;
    a.wanted = a.held;
    return {};
  }
  choose(kinds, command, a);
  const WeaponTraits& weapon = kinds.weapons[a.held];
  if (a.charge_ticks > 0) return hold(rules, weapon, free_ammo, pulls, a);
  if (a.windup_ticks > 0) {
    if (--a.windup_ticks > 0) return {};
    return go_off(weapon, free_ammo, a);
  }
  if (a.wait_ticks > 0) return {};
  if (a.wanted != a.held) {
    a.reload_ticks = 0;
    lower(kinds, rules, a);
    return {};
  }
  if (reloads(rules, weapon, free_ammo, command, a) || !pulls) return {};
  if (!free_ammo && !loaded(weapon, a)) {
    a.wanted = best_weapon(kinds, a);
    return {};
  }
  if (weapon.form == WeaponForm::thrown) {
    a.charge_ticks = 1;
    return {};
  }
  a.wait_ticks = ticks_over(rules, weapon.interval_s > 0 ? weapon.interval_s : rules.shot_interval_s);
  a.windup_ticks = rules.ticks_within(weapon.windup_s);
  if (a.windup_ticks > 0) return {};
  return go_off(weapon, free_ammo, a);
}

void add_to_hash(StripeHasher& hash, const Arsenal& a) {
  const auto four = [](std::uint16_t x, std::uint16_t y, std::uint16_t z, std::uint16_t w) {
    return static_cast<std::uint64_t>(x) | static_cast<std::uint64_t>(y) << 16 |
           static_cast<std::uint64_t>(z) << 32 | static_cast<std::uint64_t>(w) << 48;
  };
  hash.add(static_cast<std::uint64_t>(a.weapons) | static_cast<std::uint64_t>(a.held) << 32 |
           static_cast<std::uint64_t>(a.wanted) << 40 | static_cast<std::uint64_t>(a.firing) << 48 |
           static_cast<std::uint64_t>(a.backpack) << 56);
  hash.add(four(a.ammo[0], a.ammo[1], a.ammo[2], a.ammo[3]));
  const auto& p = a.power_ticks;
  hash.add(four(p[0], p[1], p[2], p[3]));
  hash.add(four(p[4], p[5], a.wait_ticks, a.windup_ticks));
  hash.add(four(a.switch_ticks, a.reload_ticks, a.charge_ticks, 0));
  static_assert(weapons_max % 8 == 0);
  for (std::size_t i = 0; i < weapons_max; i += 8) {
    std::uint64_t word = 0;
    for (std::size_t k = 0; k < 8; ++k) word |= static_cast<std::uint64_t>(a.spent[i + k]) << (8 * k);
    hash.add(word);
  }
}

}  // namespace ashlar
