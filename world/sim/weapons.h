#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ashlar {

/// What weapons use up. Values travel: append only.
enum class AmmoKind : std::uint8_t { bullets, shells, rockets, cells, none };
inline constexpr std::size_t ammo_kind_count = 4;  ///< without `none`

/// How much of a kind of ammunition there is to carry.
struct AmmoTraits {
  std::uint16_t most = 0;   ///< with a backpack twice as much
  std::uint16_t clip = 0;   ///< what a backpack holds of it, and half of what comes with a weapon
  std::uint16_t start = 0;  ///< of a fresh player
  friend bool operator==(const AmmoTraits&, const AmmoTraits&) = default;
};

/// How a weapon reaches whom it is meant for. Values travel: append only.
enum class WeaponForm : std::uint8_t {
  melee,    ///< a short ray
  hitscan,  ///< rays from the eye, aside by chance
  missile,  ///< a projectile of a kind
  beam,     ///< rays that go on through all bodies up to what is solid
  thrown,   ///< a projectile that leaves the hand as the trigger is let go
};
inline constexpr std::size_t weapon_form_count = 5;
/// Has it a kind of projectile?
constexpr bool launches(WeaponForm form) { return form == WeaponForm::missile || form == WeaponForm::thrown; }

/// What a weapon of players is like. A hit takes damage_step × (1 to damage_sides) points; what a missile
/// does is told by its kind of projectile. By default Doom's, at 32 units a metre and 35 tics a second.
struct WeaponTraits {
  std::string name;
  WeaponForm form = WeaponForm::hitscan;
  AmmoKind ammo = AmmoKind::none;
  std::uint8_t projectile = 0;  ///< of what launches: index into KindSet::projectiles
  std::uint8_t slot = 1;        ///< the key that it is chosen with
  std::uint8_t rank = 1;        ///< out of ammunition, the highest that is carried comes up
  std::uint8_t start = 0;       ///< 0 or 1: a fresh player has it
  std::uint8_t count = 1;       ///< rays or projectiles at once
  std::uint8_t steady = 0;      ///< 0 or 1: the first shot of a held trigger goes straight
  std::uint16_t uses = 1;       ///< ammunition a shot
  std::uint16_t damage_step = 0;
  std::uint8_t damage_sides = 1;
  std::uint8_t strength_times = 1;  ///< damage of who has the power of strength
  double spread_deg = 0;            ///< largest angle aside; small ones are likelier (triangular)
  double rise_deg = 0;              ///< likewise up and down
  double range_m = 0;               ///< 0: the rule set's shot_range_m
  double windup_s = 0;              ///< from the press to the shot
  double interval_s = 0;       ///< from press to press of a held trigger; 0: the rule set's shot_interval_s
  double lower_s = 16.0 / 35;  ///< until it is out of the way for the next one
  double raise_s = 16.0 / 35;  ///< until it can fire
  std::uint8_t clip = 0;       ///< shots until it has to be loaded again; 0: never
  double reload_s = 0;         ///< that loading takes
  double charge_s = 0;         ///< thrown: until the throw is as strong as its projectile's speed
  double throw_least = 1;      ///< thrown: the share of that speed that it has at once
  double fuse_s =
      0;  ///< thrown: from the press to the burst, in the hand if need be; 0: the projectile's life
  friend bool operator==(const WeaponTraits&, const WeaponTraits&) = default;
};

inline constexpr std::size_t weapons_max = 24;  ///< of a world
inline constexpr std::size_t weapon_name_bytes_max = 32;
/// Index of no weapon.
inline constexpr std::uint8_t weapon_none = 255;

/// The one list of a weapon's numbers: calls visit(key, field, low, high) for each. Files, the wire and its
/// checks go through it, so that they agree.
/// @param w  WeaponTraits or const WeaponTraits
template <typename AnyWeapon, typename Visit>
constexpr void visit_weapon(AnyWeapon& w, Visit&& visit) {
  visit("slot", w.slot, 1, 10);
  visit("rank", w.rank, 0, 255);
  visit("start", w.start, 0, 1);
  visit("count", w.count, 1, 32);
  visit("steady", w.steady, 0, 1);
  visit("uses", w.uses, 0, 1000);
  visit("damage_step", w.damage_step, 0, 10000);
  visit("damage_sides", w.damage_sides, 1, 100);
  visit("strength_times", w.strength_times, 1, 100);
  visit("spread_deg", w.spread_deg, 0, 90);
  visit("rise_deg", w.rise_deg, 0, 90);
  visit("range_m", w.range_m, 0, 1024);
  visit("windup_s", w.windup_s, 0, 60);
  visit("interval_s", w.interval_s, 0, 60);
  visit("lower_s", w.lower_s, 0, 60);
  visit("raise_s", w.raise_s, 0, 60);
  visit("clip", w.clip, 0, 255);
  visit("reload_s", w.reload_s, 0, 60);
  visit("charge_s", w.charge_s, 0, 60);
  visit("throw_least", w.throw_least, 0, 1);
  visit("fuse_s", w.fuse_s, 0, 60);
}

/// Likewise of ammunition.
template <typename AnyAmmo, typename Visit>
constexpr void visit_ammo(AnyAmmo& a, Visit&& visit) {
  visit("most", a.most, 0, 30000);
  visit("clip", a.clip, 0, 30000);
  visit("start", a.start, 0, 30000);
}

/// Are all numbers within the list's bounds (false for NaN)?
bool weapon_sane(const WeaponTraits& weapon);
bool ammo_sane(const AmmoTraits& ammo);

/// Places of ours in the table; those of a file come behind.
namespace weapon {
inline constexpr std::uint8_t fist = 0, pistol = 1, shotgun = 2, chaingun = 3, rocket_launcher = 4,
                              plasma_rifle = 5, big_gun = 6, saw = 7, double_shotgun = 8;
}  // namespace weapon
inline constexpr std::size_t weapon_kind_count = 9;

/// Doom's. The projectiles are the places that missiles have in the table of kinds.
std::vector<WeaponTraits> default_weapons(std::uint8_t rocket, std::uint8_t plasma, std::uint8_t ball);
std::array<AmmoTraits, ammo_kind_count> default_ammo();

}  // namespace ashlar
