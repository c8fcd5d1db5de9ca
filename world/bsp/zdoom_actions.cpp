#include "world/bsp/line_specials.h"

// UDMF's namespace "zdoom": a line carries an action number with five arguments, and flags say how it is set
// off. Numbers and arguments as the format's published action list has them; speeds are eighths of a unit a
// tic, delays tics. Covered are the actions that do what Doom's own specials and Boom's do, and their kin.
//
// Not covered: a plane that goes down and up at two speeds (it has the first), a crusher that stays up after
// one stroke (it goes on), stairs that follow the sectors' specials instead of their flats (they follow the
// flats), a line that is set off in two ways (use comes before walking, walking before shots).

namespace ashlar::detail {
namespace {

double speed_of(std::int32_t arg) {
  const std::int32_t eighths = arg < 1 ? 1 : arg > 1024 ? 1024 : arg;
  return eighths / 8.0 * map_unit_m * doom_tic_hz;
}
double wait_of(std::int32_t arg) {
  const std::int32_t count = arg < 0 ? 0 : arg > 100000 ? 100000 : arg;
  return count / doom_tic_hz;
}
double units_of(std::int32_t arg) {
  const std::int32_t units = arg < -65536 ? -65536 : arg > 65536 ? 65536 : arg;
  return units * map_unit_m;
}

/// A tag out of an argument; one that no sector can have is nobody's, as 0 is.
std::uint16_t tag_of(std::int32_t arg) {
  return arg >= 0 && arg <= 0xffff ? static_cast<std::uint16_t>(arg) : std::uint16_t{0};
}

/// A few actions count their delay in eighths of a second.
double octics_of(std::int32_t arg) {
  const std::int32_t count = arg < 0 ? 0 : arg > 100000 ? 100000 : arg;
  return count / 8.0;
}

/// Locks of the zdoom namespace's Doom keys: 1 to 3 cards, 4 to 6 skulls, 129 to 131 either, 100 any,
/// 101 and 229 all.
void set_lock(LineAction& a, std::int32_t lock) {
  switch (lock) {
    case 0: break;
    case 1:
    case 4:
    case 129:
    case 132: a.keys = key::red; break;
    case 2:
    case 5:
    case 130:
    case 133: a.keys = key::blue; break;
    case 3:
    case 6:
    case 131:
    case 134: a.keys = key::yellow; break;
    case 100: a.keys = key::all, a.any_key = true; break;
    default: a.keys = key::all; break;
  }
}

void set_zdoom_trigger(LineAction& a, std::uint32_t flags) {
  using namespace line_activation;
  a.repeats = (flags & repeats) != 0;
  a.players = (flags & (player_use | player_cross | player_push | impact)) != 0;
  a.monsters = (flags & (monster_use | monster_cross | monster_push)) != 0;
  if ((flags & (player_use | monster_use | player_push | monster_push)) != 0)
    a.trigger = LineTrigger::use;
  else if ((flags & (player_cross | monster_cross)) != 0)
    a.trigger = LineTrigger::walk;
  else if ((flags & impact) != 0)
    a.trigger = LineTrigger::shoot;
}

void set_target(LineAction& a, HeightTarget target, double offset_m = 0) {
  a.target = target;
  a.offset_m = offset_m;
}

/// Generic_Floor and Generic_Ceiling: the third argument is an amount, the fourth the target, and bits of the
/// fifth say up (8) and crushing (16).
void set_generic_plane(LineAction& a, const std::array<std::int32_t, 5>& arg, bool floor) {
  using T = HeightTarget;
  const bool up = (arg[4] & 8) != 0;
  a.effect = floor ? LineEffect::floor : LineEffect::ceiling;
  a.crushes = (arg[4] & 16) != 0;
  switch (arg[3]) {
    case 1: set_target(a, floor ? T::highest_floor : T::highest_ceiling); break;
    case 2: set_target(a, floor ? T::lowest_floor : T::lowest_ceiling); break;
    case 3:
      if (floor)
        set_target(a, up ? T::next_higher_floor : T::next_lower_floor);
      else
        set_target(a, up ? T::next_higher_ceiling : T::next_lower_ceiling);
      break;
    case 4: set_target(a, floor ? T::lowest_ceiling : T::highest_floor); break;
    case 5: set_target(a, floor ? T::own_ceiling : T::own_floor); break;
    case 6: set_target(a, T::next_higher_floor); break;  // by texture: no textures are loaded
    default: set_target(a, T::by_amount, (up ? 1 : -1) * units_of(arg[2])); break;
  }
}

/// Generic_Lift: the third argument counts eighths of a second, the fourth is the target.
void set_generic_lift(LineAction& a, const std::array<std::int32_t, 5>& arg) {
  using T = HeightTarget;
  a.effect = LineEffect::lift;
  a.wait_s = octics_of(arg[2]);
  switch (arg[3]) {
    case 1: set_target(a, T::lowest_floor); break;
    case 2: set_target(a, T::next_lower_floor); break;
    case 3: set_target(a, T::lowest_ceiling); break;
    case 4: a.effect = LineEffect::lift_perpetual, set_target(a, T::lowest_floor); break;
    default: a.effect = LineEffect::lift_up, set_target(a, T::by_amount, 8 * units_of(arg[4])); break;
  }
}

/// Does the action move sectors? With tag 0 it is the one behind the line.
bool moves_sectors(LineEffect effect) {
  switch (effect) {
    case LineEffect::inert:
    case LineEffect::teleport:
    case LineEffect::teleport_line:
    case LineEffect::exit:
    case LineEffect::carry: return false;
    default: return true;
  }
}

}  // namespace

std::optional<LineAction> zdoom_action(const MapLine& line) {
  using E = LineEffect;
  using T = HeightTarget;
  const auto& arg = line.args;
  LineAction a;
  set_zdoom_trigger(a, line.flags);
  a.tag = tag_of(arg[0]);
  a.speed_mps = speed_of(arg[1]);
  const auto door = [&](E effect, double wait_s, std::int32_t lock = 0) {
    a.effect = effect;
    set_target(a, T::lowest_ceiling, -4 * map_unit_m);
    a.wait_s = wait_s;
    set_lock(a, lock);
  };
  const auto lift = [&](E effect, T target, double offset_m = 0) {
    a.effect = effect;
    set_target(a, target, offset_m);
    a.wait_s = wait_of(arg[2]);
  };
  const auto plane = [&](E effect, T target, double offset_m = 0) {
    a.effect = effect;
    set_target(a, target, offset_m);
  };
  const auto crusher = [&](E effect, std::int32_t above_floor, bool slows) {
    a.effect = effect;
    set_target(a, T::own_floor, units_of(above_floor));
    a.crushes = true;
    a.slows = slows;
  };
  constexpr double lip = 8 * map_unit_m;  // above the floor beside it that a lift of Hexen's kind stops at
  constexpr std::int32_t slow = 8;        // a crusher at this speed or below slows down as Doom's do
  switch (line.special) {
    case 10: door(E::door_close, 0); break;
    case 11: door(E::door_open, 0); break;
    case 12: door(E::door_raise, wait_of(arg[2])); break;
    case 13: door(arg[2] == 0 ? E::door_open : E::door_raise, wait_of(arg[2]), arg[3]); break;
    case 20: plane(E::floor, T::by_amount, -units_of(arg[2])); break;
    case 21: plane(E::floor, T::lowest_floor); break;
    case 22: plane(E::floor, T::next_lower_floor); break;
    case 23:
    case 239: plane(E::floor, T::by_amount, units_of(arg[2])); break;
    case 24: plane(E::floor, T::highest_floor); break;
    case 25:
    case 228: plane(E::floor, T::next_higher_floor); break;
    case 26:
    case 31: plane(E::stairs, T::by_amount), a.step_m = -units_of(arg[2]); break;
    case 27:
    case 32:
    case 217: plane(E::stairs, T::by_amount), a.step_m = units_of(arg[2]); break;
    case 28: plane(E::floor, T::own_ceiling, -8 * map_unit_m), a.crushes = true; break;
    case 35: plane(E::floor, T::by_amount, 8 * units_of(arg[2])); break;
    case 36: plane(E::floor, T::by_amount, -8 * units_of(arg[2])); break;
    case 40: plane(E::ceiling, T::by_amount, -units_of(arg[2])); break;
    case 41: plane(E::ceiling, T::by_amount, units_of(arg[2])); break;
    case 42:
    case 45: crusher(E::crusher, 8, arg[1] <= slow); break;
    case 43: crusher(E::ceiling, 8, arg[1] <= slow); break;
    case 44: a.effect = E::crusher_stop; break;
    case 60: lift(E::lift_perpetual, T::lowest_floor, lip); break;
    case 61: a.effect = E::lift_stop; break;
    case 62: lift(E::lift, T::lowest_floor, lip); break;
    case 63: lift(E::lift, T::by_amount, -8 * units_of(arg[3])); break;
    case 64: lift(E::lift_up, T::highest_floor); break;
    case 65: lift(E::lift_up, T::by_amount, 8 * units_of(arg[3])); break;
    case 70:
    case 154: a.effect = E::teleport, a.tag = tag_of(arg[1]); break;
    case 71: a.effect = E::teleport, a.tag = tag_of(arg[2]); break;
    case 97: crusher(E::ceiling, arg[3], arg[1] <= slow); break;
    case 99: plane(E::floor, T::lowest_ceiling, -8 * map_unit_m), a.crushes = true; break;
    case 104:
    case 168:
      crusher(E::crusher, arg[1], arg[2] <= slow);
      a.speed_mps = speed_of(arg[2]);
      break;
    case 169:
    case 205: crusher(E::crusher, 0, arg[1] <= slow); break;
    case 172: lift(E::lift_up, T::next_higher_floor); break;
    case 192: plane(E::ceiling, T::highest_floor); break;
    case 195:
    case 196:
    case 197:
    case 255: crusher(E::crusher, 0, arg[1] <= slow); break;
    case 198: plane(E::ceiling, T::by_amount, 8 * units_of(arg[2])); break;
    case 199: plane(E::ceiling, T::by_amount, -8 * units_of(arg[2])); break;
    case 200: set_generic_plane(a, arg, true); break;
    case 201: set_generic_plane(a, arg, false); break;
    case 202:
      // Generic_Door: the low bits are the kind, the delay counts eighths of a second.
      switch (arg[2] & 3) {
        case 0: door(E::door_raise, octics_of(arg[3]), arg[4]); break;
        case 1: door(E::door_open, 0, arg[4]); break;
        case 2: door(E::door_close_wait_open, octics_of(arg[3]), arg[4]); break;
        default: door(E::door_close, 0, arg[4]); break;
      }
      break;
    case 203: set_generic_lift(a, arg); break;
    case 204:
      plane(E::stairs, T::by_amount);
      a.step_m = ((arg[3] & 1) != 0 ? 1 : -1) * units_of(arg[2]);
      break;
    case 206: lift(E::lift, T::lowest_floor, units_of(arg[3])); break;
    case 207: lift(E::lift_perpetual, T::lowest_floor, units_of(arg[3])); break;
    case 215: a.effect = E::teleport_line, a.tag = tag_of(arg[1]); break;
    case 223:
      // Scroll_Floor: bit 2 takes the line's direction and length, which is what is covered of it.
      a.trigger = LineTrigger::none;
      if (arg[2] == 0) break;
      if (arg[1] != 4) return std::nullopt;
      a.effect = E::carry;
      break;
    case 230: plane(E::floor, T::by_amount, 8 * units_of(arg[2])); break;
    case 238: plane(E::floor, T::lowest_ceiling), a.crushes = arg[3] != 0; break;
    case 240: plane(E::floor, T::next_higher_floor); break;  // by texture: no textures are loaded
    case 241: plane(E::floor, T::lowest_floor); break;
    case 242: plane(E::floor, T::highest_floor, units_of(arg[2]) - units_of(128)); break;
    case 243:
    case 244: a.effect = E::exit, a.tag = 0; break;
    case 249: door(E::door_close_wait_open, octics_of(arg[2])); break;
    case 250: a.effect = E::donut; break;
    case 251: a.effect = E::floor_and_ceiling; break;
    case 252: plane(E::ceiling, T::next_higher_ceiling); break;
    case 253: plane(E::ceiling, T::lowest_ceiling); break;
    case 254: plane(E::ceiling, T::own_floor); break;
    case 100:
    case 101:
    case 102:
    case 103:
    case 110:
    case 111:
    case 112:
    case 113:
    case 114:
    case 115:
    case 116:
    case 117:
    case 208:
    case 210:
    case 211:
    case 221:
    case 222:
    case 224:
    case 225:
    case 232:
    case 233:
    case 234:
    case 235:
    case 236: a.trigger = LineTrigger::none; break;  // scrolling, lights, translucency, flats
    default: return std::nullopt;
  }
  a.sector_behind = arg[0] == 0 && moves_sectors(a.effect);
  return a;
}

}  // namespace ashlar::detail
