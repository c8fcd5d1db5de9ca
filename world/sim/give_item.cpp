// What an item does to who takes it. Source: p_inter.c of the published Doom source.

#include <algorithm>

#include "world/math/assert.h"
#include "world/sim/pickups.h"

namespace ashlar {
namespace {

constexpr int bonus_times = 2;  // health and armour beyond the usual limit: Doom's 200 of 100
constexpr std::uint16_t armour_max = 200;

/// Seconds of a power; 0: until its player dies.
double power_s(Power power) {
  switch (power) {
    case Power::invulnerability: return 30;
    case Power::invisibility:
    case Power::suit: return 60;
    case Power::light: return 120;
    case Power::strength:
    case Power::map: return 0;
  }
  return 0;
}

bool heal(std::uint16_t& health, int points, int most) {
  if (health >= most) return false;
  health = static_cast<std::uint16_t>(std::min(most, health + points));
  return true;
}

/// P_GiveAmmo: twice as much at the easiest and the hardest skill; what comes to an empty hand is taken up.
bool give_ammo(const KindSet& kinds, const Rules& rules, AmmoKind ammo, int count, Arsenal& a) {
  std::uint16_t& has = a.ammo[static_cast<std::size_t>(ammo)];
  const std::uint16_t room = ammo_room(kinds, a, ammo);
  if (has >= room) return false;
  if (rules.skill == 1 || rules.skill == 5) count *= 2;
  const bool empty = has == 0;
  has = static_cast<std::uint16_t>(std::min<int>(room, has + count));
  if (!empty || kinds.weapons[a.wanted].ammo != AmmoKind::none) return true;
  for (std::size_t i = 0; i < kinds.weapons.size(); ++i) {
    const auto weapon = static_cast<std::uint8_t>(i);
    if (a.has(weapon) && kinds.weapons[i].ammo == ammo && kinds.weapons[i].uses <= has &&
        kinds.weapons[i].rank > kinds.weapons[a.wanted].rank)
      a.wanted = weapon;
  }
  return true;
}

bool give_power(const Rules& rules, Power power, PlayerTable& p, std::size_t row) {
  std::uint16_t& left = p.arsenal[row].power_ticks[static_cast<std::size_t>(power)];
  const double seconds = power_s(power);
  const std::uint16_t whole = seconds > 0
                                  ? std::min<std::uint16_t>(rules.ticks_within(seconds, 1), power_endless - 1)
                                  : power_endless;
  if (power == Power::strength) {
    const bool healed = heal(p.health[row], rules.player_health, rules.player_health);
    if (left == power_endless) return healed;
    p.arsenal[row].wanted = weapon::fist;
  }
  if (left >= whole) return false;
  left = whole;
  return true;
}

bool give_armour(PlayerTable& p, std::size_t row, std::uint16_t points) {
  if (p.armour[row] >= points) return false;
  p.armour[row] = points;
  p.armour_half[row] = points > 100 ? 1 : 0;
  return true;
}

}  // namespace

bool give_weapon(const KindSet& kinds, const Rules& rules, std::uint8_t weapon, bool dropped, Arsenal& a) {
  if (weapon >= kinds.weapons.size()) return false;
  const AmmoKind ammo = kinds.weapons[weapon].ammo;
  bool used = false;
  if (ammo != AmmoKind::none) {
    const int clip = kinds.ammo[static_cast<std::size_t>(ammo)].clip;
    used = give_ammo(kinds, rules, ammo, dropped ? clip : 2 * clip, a);
  }
  if (a.has(weapon)) return used;
  a.weapons |= 1u << weapon;
  a.wanted = weapon;
  return true;
}

std::uint8_t item_of_thing(std::uint16_t number) {
  const auto end = item_things.begin() + item_kind_count;
  const auto at = std::find(item_things.begin(), end, number);
  return number == 0 || at == end ? item_none : static_cast<std::uint8_t>(at - item_things.begin());
}

const ThingType& item_type(std::uint8_t item) {
  ASHLAR_ASSERT(item < item_kind_count);
  static const std::array<const ThingType*, item_kind_count> types = [] {
    std::array<const ThingType*, item_kind_count> all{};
    for (std::size_t i = 0; i < item_kind_count; ++i) {
      all[i] = find_thing_type(item_things[i]);
      ASHLAR_ASSERT(all[i] != nullptr && all[i]->role == ThingRole::pickup);
    }
    return all;
  }();
  return *types[item];
}

bool give_item(const KindSet& kinds, const Rules& rules, std::uint8_t item, bool dropped, PlayerTable& p,
               std::size_t row) {
  const ThingType& type = item_type(item);
  Arsenal& a = p.arsenal[row];
  const int full = rules.player_health;
  const auto ammo = [&](AmmoKind kind) {
    return give_ammo(kinds, rules, kind, dropped ? type.value / 2 : type.value, a);
  };
  switch (type.pickup) {
    case PickupKind::health: return heal(p.health[row], type.value, full);
    case PickupKind::health_bonus: {
      const bool healed = heal(p.health[row], type.value, bonus_times * full);
      if (type.value == 200) return give_armour(p, row, armour_max) || healed;  // the megasphere
      return healed;
    }
    case PickupKind::armour: return give_armour(p, row, static_cast<std::uint16_t>(type.value));
    case PickupKind::armour_bonus:
      if (p.armour[row] >= armour_max) return false;
      ++p.armour[row];
      return true;
    case PickupKind::bullets: return ammo(AmmoKind::bullets);
    case PickupKind::shells: return ammo(AmmoKind::shells);
    case PickupKind::rockets: return ammo(AmmoKind::rockets);
    case PickupKind::cells: return ammo(AmmoKind::cells);
    case PickupKind::weapon:
      return give_weapon(kinds, rules, static_cast<std::uint8_t>(type.value - 1), dropped, a);
    case PickupKind::backpack: {
      bool used = a.backpack == 0;
      a.backpack = 1;
      for (std::size_t i = 0; i < ammo_kind_count; ++i)
        used = give_ammo(kinds, rules, static_cast<AmmoKind>(i), kinds.ammo[i].clip, a) || used;
      return used;
    }
    case PickupKind::power: return give_power(rules, static_cast<Power>(type.value - 1), p, row);
    case PickupKind::none:
    case PickupKind::key: return false;
  }
  return false;
}

}  // namespace ashlar
