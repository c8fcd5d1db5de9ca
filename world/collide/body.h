#pragma once
#include <cstdint>

#include "world/math/contact.h"
#include "world/math/vec.h"

namespace ashlar {

/// Body::noclip.
inline constexpr std::uint8_t noclip_granted = 1;    ///< by an operator: flies through everything
inline constexpr std::uint8_t noclip_spectates = 2;  ///< likewise, of a player who only watches

/// Everything movement reads and writes of one body: a value, so that server, prediction and tests share it.
struct Body {
  DVec3 position_m;  ///< centre of the base
  DVec3 velocity_mps;
  DVec3 recovery_velocity_mps;   ///< recovery's own; zero in the first free tick
  DVec3 recovery_target_m;       ///< kept until reached; meaningful while recovering
  DVec3 last_free_m;             ///< last place known to be free
  double eye_offset_m = 0;       ///< smooths the eye over steps; added to eye height, decays to 0
  std::uint8_t grounded = 0;     ///< 0 or 1
  std::uint8_t stuck_ticks = 0;  ///< saturating; > 0 while recovery is at work
  std::uint8_t noclip = 0;       ///< 0, noclip_granted or noclip_spectates; the server's word only
};

/// What a move did, for events and counters.
struct MoveReport {
  bool landed = false;
  bool jumped = false;
  bool stepped = false;
  bool recovered = false;     ///< recovery moved the body this tick
  bool frozen = false;        ///< in unloaded space: nothing was done
  bool lost = false;          ///< in solid, and no free place is known: the caller puts it at a spawn
  double land_speed_mps = 0;  ///< downwards, where it met the ground; of a landing
  ContactList contacts;
};

}  // namespace ashlar
