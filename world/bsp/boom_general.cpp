#include "world/bsp/line_specials.h"

// Boom's generalised line types: bit fields in the number itself, from 0x2f80 to 0x7fff.
// Source: Boom reference 1.3, "Detailed generalized linedef specification". The lowest three bits say how a
// line is set off, the next two how fast it goes; the rest depends on the family.

namespace ashlar::detail {
namespace {

constexpr double speed(unsigned field, double slowest_units_per_tic) {
  return slowest_units_per_tic * static_cast<double>(1u << field) * map_unit_m * doom_tic_hz;
}

/// Trigger bits: walk, switch, gun, push; odd ones repeat.
void set_boom_trigger(LineAction& a, unsigned bits) {
  constexpr LineTrigger kinds[4] = {LineTrigger::walk, LineTrigger::use, LineTrigger::shoot,
                                    LineTrigger::use};
  a.trigger = kinds[(bits & 7u) >> 1];
  a.repeats = (bits & 1u) != 0;
  a.sector_behind = (bits & 7u) >= 6;
}

void set_plane(LineAction& a, unsigned v, bool floor) {
  const unsigned target = (v & 0x380u) >> 7;
  const double sign = (v & 0x40u) != 0 ? 1 : -1;
  a.effect = floor ? LineEffect::floor : LineEffect::ceiling;
  a.crushes = (v & 0x1000u) != 0;
  a.monsters = (v & 0xc00u) == 0 && (v & 0x20u) != 0;
  a.speed_mps = speed((v & 0x18u) >> 3, 1);
  a.target = HeightTarget::by_amount;
  switch (target) {
    case 0: a.target = floor ? HeightTarget::highest_floor : HeightTarget::highest_ceiling; break;
    case 1: a.target = floor ? HeightTarget::lowest_floor : HeightTarget::lowest_ceiling; break;
    case 2:
      if (floor)
        a.target = sign > 0 ? HeightTarget::next_higher_floor : HeightTarget::next_lower_floor;
      else
        a.target = sign > 0 ? HeightTarget::next_higher_ceiling : HeightTarget::next_lower_ceiling;
      break;
    case 3: a.target = floor ? HeightTarget::lowest_ceiling : HeightTarget::highest_floor; break;
    case 4: a.target = floor ? HeightTarget::own_ceiling : HeightTarget::own_floor; break;
    case 5: a.target = HeightTarget::next_higher_floor; break;  // by texture: no textures are loaded
    case 6: a.offset_m = sign * 24 * map_unit_m; break;
    default: a.offset_m = sign * 32 * map_unit_m; break;
  }
}

void set_door(LineAction& a, unsigned v) {
  constexpr LineEffect kinds[4] = {LineEffect::door_raise, LineEffect::door_open,
                                   LineEffect::door_close_wait_open, LineEffect::door_close};
  constexpr double waits_s[4] = {1, 150 / doom_tic_hz, 300 / doom_tic_hz, 1050 / doom_tic_hz};
  a.effect = kinds[(v & 0x60u) >> 5];
  a.target = HeightTarget::lowest_ceiling;
  a.offset_m = -4 * map_unit_m;
  a.wait_s = waits_s[(v & 0x300u) >> 8];
  a.monsters = (v & 0x80u) != 0;
  a.speed_mps = speed((v & 0x18u) >> 3, 2);
}

void set_locked(LineAction& a, unsigned v) {
  a.effect = (v & 0x20u) != 0 ? LineEffect::door_open : LineEffect::door_raise;
  a.target = HeightTarget::lowest_ceiling;
  a.offset_m = -4 * map_unit_m;
  a.wait_s = 150 / doom_tic_hz;
  a.speed_mps = speed((v & 0x18u) >> 3, 2);
  // 0: any key; 1 to 6: red, blue, yellow card, then skulls; 7: all.
  constexpr std::uint8_t keys[8] = {key::all, key::red,  key::blue,   key::yellow,
                                    key::red, key::blue, key::yellow, key::all};
  const unsigned which = (v & 0x1c0u) >> 6;
  a.keys = keys[which];
  a.any_key = which == 0;
}

void set_lift(LineAction& a, unsigned v) {
  constexpr double waits_s[4] = {1, 3, 5, 10};
  constexpr HeightTarget targets[4] = {HeightTarget::lowest_floor, HeightTarget::next_lower_floor,
                                       HeightTarget::lowest_ceiling, HeightTarget::lowest_floor};
  const unsigned target = (v & 0x300u) >> 8;
  a.effect = target == 3 ? LineEffect::lift_perpetual : LineEffect::lift;
  a.target = targets[target];
  a.wait_s = waits_s[(v & 0xc0u) >> 6];
  a.monsters = (v & 0x20u) != 0;
  a.speed_mps = speed((v & 0x18u) >> 3, 2);
}

void set_stairs(LineAction& a, unsigned v) {
  constexpr double rises[4] = {4, 8, 16, 24};
  a.effect = LineEffect::stairs;
  a.step_m = rises[(v & 0xc0u) >> 6] * map_unit_m * ((v & 0x100u) != 0 ? 1 : -1);
  a.monsters = (v & 0x20u) != 0;
  a.speed_mps = speed((v & 0x18u) >> 3, 0.25);
}

void set_crusher(LineAction& a, unsigned v) {
  a.effect = LineEffect::crusher;
  a.target = HeightTarget::own_floor;
  a.offset_m = 8 * map_unit_m;
  a.crushes = true;
  a.monsters = (v & 0x20u) != 0;
  a.speed_mps = speed((v & 0x18u) >> 3, 1);
  a.slows = (v & 0x18u) <= 0x08u;  // slow and normal crushers slow down, fast ones do not
}

}  // namespace

std::optional<LineAction> boom_general_action(std::uint16_t special) {
  if (special < 0x2f80 || special >= 0x8000) return std::nullopt;
  LineAction a;
  set_boom_trigger(a, special);
  const unsigned n = special;
  if (n >= 0x6000) {
    set_plane(a, n - 0x6000, true);
  } else if (n >= 0x4000) {
    set_plane(a, n - 0x4000, false);
  } else if (n >= 0x3c00) {
    set_door(a, n - 0x3c00);
  } else if (n >= 0x3800) {
    set_locked(a, n - 0x3800);
  } else if (n >= 0x3400) {
    set_lift(a, n - 0x3400);
  } else if (n >= 0x3000) {
    set_stairs(a, n - 0x3000);
  } else {
    set_crusher(a, n - 0x2f80);
  }
  return a;
}

}  // namespace ashlar::detail
