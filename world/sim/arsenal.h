#pragma once
#include <array>
#include <cstdint>

#include "world/math/hash.h"
#include "world/sim/command.h"
#include "world/sim/weapons.h"

namespace ashlar {

struct KindSet;
struct Rules;

/// What a player has for a time. Values travel: append only.
enum class Power : std::uint8_t { invulnerability, strength, invisibility, suit, map, light };
inline constexpr std::size_t power_count = 6;
/// Of a power without an end: it lasts until its player dies.
inline constexpr std::uint16_t power_endless = 0xffff;

/// What one player carries to fight, and what the hands are at. Like its body, it follows from commands and
/// from what the world gives, so a client foresees it. A value.
struct Arsenal {
  std::uint32_t weapons = 1u << weapon::fist | 1u << weapon::pistol;  ///< a bit for each, by index
  std::array<std::uint16_t, ammo_kind_count> ammo{50, 0, 0, 0};
  std::array<std::uint16_t, power_count> power_ticks{};  ///< left; 0: it has not that power
  std::uint16_t wait_ticks = 0;                          ///< until the trigger works again
  std::uint16_t windup_ticks = 0;                        ///< until what was begun fires; 0: nothing was
  std::uint16_t switch_ticks = 0;  ///< until `held` is out of the way; 0: it is not lowered
  std::uint16_t reload_ticks = 0;  ///< until `held` is loaded; 0: it is not being loaded
  std::uint16_t charge_ticks = 0;  ///< for which what is about to be thrown is held; 0: nothing is
  std::array<std::uint8_t, weapons_max> spent{};  ///< shots of each since it was loaded
  std::uint8_t held = weapon::pistol;
  std::uint8_t wanted = weapon::pistol;  ///< what it changes to; `held`: nothing
  std::uint8_t firing = 0;               ///< 0 or 1: the trigger is held since the last shot
  std::uint8_t backpack = 0;             ///< 0 or 1: room for twice the ammunition
  friend bool operator==(const Arsenal&, const Arsenal&) = default;

  bool has(std::uint8_t index) const {
    return index < weapons_max && (weapons >> index & 1u) != 0;
  }  ///< is it carried?
  bool powered(Power power) const {
    return power_ticks[static_cast<std::size_t>(power)] != 0;
  }  ///< has it now?
};

/// Of a player who has just come, or come back.
Arsenal fresh_arsenal(const KindSet& kinds);

/// Is it one of a world with these kinds, whoever says so?
bool arsenal_sane(const KindSet& kinds, const Arsenal& arsenal);

/// How much of a kind of ammunition somebody may carry.
std::uint16_t ammo_room(const KindSet& kinds, const Arsenal& arsenal, AmmoKind ammo);

/// What a tick's command does with the hands.
struct Trigger {
  bool fires = false;            ///< `held` goes off
  bool straight = false;         ///< without its spread
  double strength = 1;           ///< of a throw, as a share of its projectile's speed
  std::uint16_t fuse_ticks = 0;  ///< left of what is thrown, at least 1; 0: as its projectile has it
};

/// Advances an arsenal by one tick: choosing, lowering, raising, winding up, loading, holding what is thrown,
/// firing; ammunition is used up as it fires, and powers run out. What a clip has fired is loaded again by
/// the button, and by itself once nothing is left. Out of ammunition the best that is carried comes up. The
/// same on a server and on a client that foresees. Cost: some nanoseconds.
/// @param free_ammo  nobody runs out
/// @param alive  the dead let go of the trigger
Trigger wield(const KindSet& kinds, const Rules& rules, bool free_ammo, const PlayerCommand& command,
              bool alive, Arsenal& arsenal);

void add_to_hash(StripeHasher& hash, const Arsenal& arsenal);  ///< all of it

}  // namespace ashlar
