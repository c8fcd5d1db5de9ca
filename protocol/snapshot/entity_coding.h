#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "protocol/snapshot/block_delta.h"
#include "protocol/snapshot/block_models.h"
#include "protocol/standard_layout.h"

// How one entity of a block is told, for the writer and the reader alike: WIRE.md says the same in words.

namespace ashlar {

inline constexpr unsigned place_bits = traits_of(StandardField::x).bits;
inline constexpr unsigned velocity_bits = traits_of(StandardField::velocity_x).bits;
inline constexpr unsigned byte_bits = 8;
static_assert(cell_steps == 1u << place_bits);
static_assert(traits_of(StandardField::x).step * position_steps_per_m == 1);
static_assert(traits_of(StandardField::velocity_x).step * velocity_steps_per_mps == 1);

using Velocity = std::array<std::int16_t, 3>;

constexpr Gait gait_of(const MovingRecord& e) {
  if (e.velocity == Velocity{}) return Gait::rests;
  const bool up = e.velocity[2] != 0 && (e.record.flags & entity_flag::grounded) == 0;
  return up ? Gait::flies : Gait::walks;
}

/// Sines of 0 to 64/256 turn, in 1/16384.
inline constexpr std::array<std::int16_t, 65> sines{
    0,     402,   804,   1205,  1606,  2006,  2404,  2801,  3196,  3590,  3981,  4370,  4756,
    5139,  5520,  5897,  6270,  6639,  7005,  7366,  7723,  8076,  8423,  8765,  9102,  9434,
    9760,  10080, 10394, 10702, 11003, 11297, 11585, 11866, 12140, 12406, 12665, 12916, 13160,
    13395, 13623, 13842, 14053, 14256, 14449, 14635, 14811, 14978, 15137, 15286, 15426, 15557,
    15679, 15791, 15893, 15986, 16069, 16143, 16207, 16261, 16305, 16340, 16364, 16379, 16384};
constexpr std::int32_t sine(std::uint8_t turn) {
  const unsigned half = turn & 127u;
  const std::int32_t size = sines[half <= 64 ? half : 128 - half];
  return turn < 128 ? size : -size;
}

/// Turned about the vertical by so many 1/256 turns.
constexpr Velocity rotated(const Velocity& v, std::int8_t turn) {
  const auto angle = static_cast<std::uint8_t>(turn);
  const std::int32_t s = sine(angle), c = sine(static_cast<std::uint8_t>(angle + 64));
  const auto fit = [](std::int32_t steps) {
    return static_cast<std::int16_t>(std::clamp((steps + 8192) >> 14, -32768, 32767));
  };
  return {fit(v[0] * c - v[1] * s), fit(v[0] * s + v[1] * c), v[2]};
}

/// Which odds a residue has that velocities of so many steps of position may make.
constexpr std::size_t spread_class(std::int32_t steps) {
  const auto width = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(steps)));
  return static_cast<std::size_t>(width > 8 ? 4 : (width - 1) / 2);
}

template <class Coder, class Mark>
class EntityCoding {
 public:
  EntityCoding(Coder& coder, BlockModels& odds, const Foretelling& by, Mark& mark)
      : coder_(coder), odds_(odds), by_(by), mark_(mark) {}

  /// Somebody who was in the base. False: no entity is so.
  /// @param e  written; or set by what is read
  [[gnu::always_inline]] bool change(MovingRecord& e, const MovingRecord& base) {
    const Gait gait = gait_of(base);
    const auto g = static_cast<std::size_t>(gait);
    Velocity told = base.velocity;
    if (gait == Gait::flies) {
      const std::int16_t fallen = by_.fallen(told[2]);
      const bool falls =
          Coder::writing && std::abs(e.velocity[2] - fallen) <= std::abs(e.velocity[2] - told[2]);
      if (coder_.bit(odds_.falls, falls)) told[2] = fallen;
    }
    Place at = foretold(base, told);
    if (!coder_.bit(odds_.changed[g], Coder::writing && !is(e, base, told, at))) {
      mark_.frame();
      if constexpr (!Coder::writing) {
        e = base;
        set(e, at);
        e.velocity = told;
      }
      return true;
    }
    mark_.frame();
    const std::int8_t turn = turned(e.record.yaw, base.record.yaw, gait);
    mark_.field(BlockField::yaw);
    if (turn != 0 && gait != Gait::rests) veer(told, turn, e.velocity);
    const bool other = coder_.bit(odds_.speeds[g], Coder::writing && e.velocity != told);
    if (other && !velocity(e.velocity, told, gait)) return false;
    mark_.field(BlockField::velocity);
    at = foretold(base, told);
    if (!place(e.record, at, base.velocity, told, 2 * g + (other ? 1 : 0))) return false;
    mark_.field(BlockField::place);
    if constexpr (!Coder::writing) {
      e.record = base.record;
      e.record.yaw = static_cast<std::uint8_t>(base.record.yaw + turn);
      set(e, at);
      e.velocity = told;
    }
    if (coder_.bit(odds_.nods[turn != 0 ? 1 : 0], e.record.pitch != base.record.pitch))
      e.record.pitch = static_cast<std::int8_t>(
          base.record.pitch + code_number(coder_, odds_.nod, e.record.pitch - base.record.pitch));
    mark_.field(BlockField::pitch);
    const bool any = coder_.bit(odds_.lesser[other ? 1 : 0], Coder::writing && lesser(e.record, base.record));
    mark_.field(BlockField::state);
    if (any) looks(e.record, base.record, (base.velocity[2] == 0) != (told[2] == 0));
    mark_.entity(base.record.kind, false);
    return e.record.pitch >= -64 && e.record.pitch <= 64;
  }

  /// Somebody who was not. @param level  the z of the one told before, for the next one
  bool whole(MovingRecord& e, std::int32_t& level) {
    EntityRecord& r = e.record;
    std::uint32_t id = static_cast<std::uint32_t>(r.id);
    const std::uint32_t slot = sized(odds_.slot, id & ((1u << entity_slot_bits) - 1), entity_slot_bits);
    id = sized(odds_.generation, id >> entity_slot_bits, 32 - entity_slot_bits) << entity_slot_bits | slot;
    r.id = EntityId{id};
    mark_.field(BlockField::id);
    r.x = static_cast<std::uint16_t>(coder_.raw(place_bits, r.x));
    r.y = static_cast<std::uint16_t>(coder_.raw(place_bits, r.y));
    level += code_number(coder_, odds_.level, r.z - level);
    if (level < 0 || level >= cell_steps) return false;
    r.z = static_cast<std::uint16_t>(level);
    mark_.field(BlockField::place);
    const auto kind = static_cast<std::uint8_t>(r.kind);
    if (!coder_.bit(odds_.same_kind, kind == kind_before_)) kind_before_ = byte(kind);
    r.kind = static_cast<EntityKind>(kind_before_);
    mark_.field(BlockField::kind);
    r.yaw = byte(r.yaw);
    mark_.field(BlockField::yaw);
    r.flags = unless(odds_.usual_flags, entity_flag::grounded, r.flags);
    mark_.field(BlockField::flags);
    r.pitch = static_cast<std::int8_t>(unless(odds_.level_pitch, 0, static_cast<std::uint8_t>(r.pitch)));
    mark_.field(BlockField::pitch);
    r.health = unless(odds_.full_health, 255, r.health);
    mark_.field(BlockField::health);
    r.state = unless(odds_.no_state, 0, r.state);
    mark_.field(BlockField::state);
    Velocity told{};
    const bool still = coder_.bit(odds_.still, Coder::writing && e.velocity == told);
    if (!still && !velocity(e.velocity, told, Gait::rests)) return false;
    if constexpr (!Coder::writing) e.velocity = told;
    mark_.field(BlockField::velocity);
    mark_.entity(r.kind, true);
    return r.id != EntityId{0} && r.pitch >= -64 && r.pitch <= 64;
  }

  /// Somebody of a block that is told as it lies in memory.
  bool plain(MovingRecord& e) {
    EntityRecord& r = e.record;
    r.id = EntityId{coder_.raw(32, static_cast<std::uint32_t>(r.id))};
    mark_.field(BlockField::id);
    for (std::uint16_t EntityRecord::* const axis : {&EntityRecord::x, &EntityRecord::y, &EntityRecord::z})
      r.*axis = static_cast<std::uint16_t>(coder_.raw(place_bits, r.*axis));
    mark_.field(BlockField::place);
    for (std::int16_t& v : e.velocity)
      v = static_cast<std::int16_t>(coder_.raw(velocity_bits, static_cast<std::uint16_t>(v)));
    mark_.field(BlockField::velocity);
    r.yaw = byte(r.yaw);
    mark_.field(BlockField::yaw);
    r.pitch = static_cast<std::int8_t>(byte(static_cast<std::uint8_t>(r.pitch)));
    mark_.field(BlockField::pitch);
    r.health = byte(r.health);
    mark_.field(BlockField::health);
    r.state = byte(r.state);
    mark_.field(BlockField::state);
    r.flags = byte(r.flags);
    mark_.field(BlockField::flags);
    r.kind = static_cast<EntityKind>(byte(static_cast<std::uint8_t>(r.kind)));
    mark_.field(BlockField::kind);
    mark_.entity(r.kind, true);
    return r.id != EntityId{0} && r.pitch >= -64 && r.pitch <= 64;
  }

 private:
  struct Place {
    std::int32_t x, y, z;
  };

  /// As if it had changed from one velocity to the other half-way.
  [[gnu::always_inline]] Place foretold(const MovingRecord& base, const Velocity& now) const {
    const auto between = [&](std::size_t axis) {
      return static_cast<std::int16_t>((base.velocity[axis] + now[axis]) >> 1);
    };
    return {by_.place(base.record.x, between(0)), by_.place(base.record.y, between(1)),
            by_.place(base.record.z, between(2))};
  }

  static bool is(const MovingRecord& e, const MovingRecord& base, const Velocity& told, const Place& at) {
    const EntityRecord &a = e.record, &b = base.record;
    return a.x == at.x && a.y == at.y && a.z == at.z && e.velocity == told && a.yaw == b.yaw &&
           a.pitch == b.pitch && !lesser(a, b);
  }
  static bool lesser(const EntityRecord& a, const EntityRecord& b) {
    return a.health != b.health || a.state != b.state || a.flags != b.flags || a.kind != b.kind;
  }
  static void set(MovingRecord& e, const Place& at) {
    e.record.x = static_cast<std::uint16_t>(at.x), e.record.y = static_cast<std::uint16_t>(at.y);
    e.record.z = static_cast<std::uint16_t>(at.z);
  }

  std::uint8_t byte(std::uint8_t value) { return static_cast<std::uint8_t>(coder_.raw(byte_bits, value)); }
  std::uint8_t unless(Odds& odds, std::uint8_t usual, std::uint8_t value) {
    return coder_.bit(odds, value == usual) ? usual : byte(value);
  }
  /// A number from 0 on: how many bits, then those below the highest; 15 stands for as many as there may be.
  std::uint32_t sized(OddsTree& odds, std::uint32_t value, unsigned bits) {
    const unsigned width =
        code_tree(coder_, odds, std::min(static_cast<unsigned>(std::bit_width(value)), 15u));
    if (width == 15) return coder_.raw(bits, value);
    if (width < 2) return width;
    const std::uint32_t top = 1u << (width - 1);
    return top | coder_.raw(width - 1, value & (top - 1));
  }

  std::int32_t fine(FineOdds& odds, std::int32_t value) {
    if (!coder_.bit(odds.other, value != 0)) return 0;
    const std::int32_t size = std::abs(value);
    if (!coder_.bit(odds.more, size > 1)) return coder_.raw(1, value < 0 ? 1 : 0) != 0 ? -1 : 1;
    const std::int32_t beyond = code_number(coder_, odds.rest, value < 0 ? value + 1 : value - 1);
    return beyond < 0 ? beyond - 1 : beyond + 1;
  }

  std::int8_t turned(std::uint8_t now, std::uint8_t before, Gait gait) {
    if (!coder_.bit(odds_.turns[static_cast<std::size_t>(gait)], now != before)) return 0;
    const auto turn = static_cast<std::int8_t>(static_cast<std::uint8_t>(now - before));
    return static_cast<std::int8_t>(code_number(coder_, odds_.turn, turn));
  }

  /// Who turns while it walks walks on where it looks.
  void veer(Velocity& told, std::int8_t turn, const Velocity& now) {
    const Velocity turned = rotated(told, turn);
    const auto off = [&](const Velocity& v) { return std::abs(now[0] - v[0]) + std::abs(now[1] - v[1]); };
    if (coder_.bit(odds_.veers, Coder::writing && off(turned) < off(told))) told = turned;
  }

  bool velocity(const Velocity& now, Velocity& told, Gait gait) {
    const bool moved = gait != Gait::rests;
    if (moved && coder_.bit(odds_.stops, Coder::writing && now == Velocity{})) {
      told = {};
      return true;
    }
    std::array<std::int32_t, 3> v{told[0], told[1], told[2]};
    v[0] += code_number(coder_, odds_.speed, now[0] - told[0]);
    v[1] += code_number(coder_, odds_.speed, now[1] - told[1]);
    const std::size_t flies = gait == Gait::flies ? 1 : 0;
    if (coder_.bit(odds_.climbs[flies], now[2] != told[2]))
      v[2] += code_number(coder_, odds_.climb[flies], now[2] - told[2]);
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (v[i] < -32768 || v[i] > 32767) return false;
      told[i] = static_cast<std::int16_t>(v[i]);
    }
    return true;
  }

  [[gnu::always_inline]] bool place(const EntityRecord& now, Place& at, const Velocity& before,
                                    const Velocity& after, std::size_t lift) {
    const std::int32_t dx = after[0] - before[0], dy = after[1] - before[1];
    const bool swap = std::abs(dy) > std::abs(dx);
    const std::int32_t greater = swap ? dy : dx, less = swap ? dx : dy;
    const std::int32_t spread = by_.steps(static_cast<std::uint32_t>(std::abs(greater)) >> 1);
    if (spread == 0) {
      at.x += fine(odds_.place[0], now.x - at.x);
      at.y += fine(odds_.place[1], now.y - at.y);
    } else {
      // Both axes changed their velocity at the same time: what that time made of one it made of the other.
      const std::int32_t x = now.x - at.x, y = now.y - at.y;
      const std::int32_t first = code_number(coder_, odds_.spread[spread_class(spread)], swap ? y : x);
      if (first < -cell_steps || first > cell_steps) return false;
      const std::int32_t like = first * less / greater;
      const std::int32_t second = like + fine(odds_.place[2], (swap ? x : y) - like);
      at.x += swap ? second : first;
      at.y += swap ? first : second;
    }
    if (coder_.bit(odds_.lifts[lift], now.z != at.z))
      at.z += code_number(coder_, odds_.lift[lift & 1], now.z - at.z);
    const auto ok = [](std::int32_t v) { return v >= 0 && v < cell_steps; };
    return ok(at.x) && ok(at.y) && ok(at.z);
  }

  void looks(EntityRecord& now, const EntityRecord& base, bool left_ground) {
    if (coder_.bit(odds_.health, now.health != base.health))
      now.health =
          static_cast<std::uint8_t>(base.health + code_number(coder_, odds_.hurt, now.health - base.health));
    mark_.field(BlockField::health);
    if (coder_.bit(odds_.state, now.state != base.state))
      now.state = small_or_byte(odds_.odd_mood, odds_.mood, now.state);
    mark_.field(BlockField::state);
    if (coder_.bit(odds_.flags[left_ground ? 1 : 0], now.flags != base.flags)) {
      const auto differs = static_cast<std::uint8_t>(now.flags ^ base.flags);
      now.flags = static_cast<std::uint8_t>(base.flags ^ small_or_byte(odds_.odd_flag, odds_.flag, differs));
    }
    mark_.field(BlockField::flags);
    if (coder_.bit(odds_.kind, now.kind != base.kind))
      now.kind = static_cast<EntityKind>(byte(static_cast<std::uint8_t>(now.kind)));
    mark_.field(BlockField::kind);
  }

  std::uint8_t small_or_byte(Odds& odd, OddsTree& small, std::uint8_t value) {
    if (coder_.bit(odd, value > 15)) return byte(value);
    return static_cast<std::uint8_t>(code_tree(coder_, small, value & 15u));
  }

  Coder& coder_;
  BlockModels& odds_;
  const Foretelling& by_;
  Mark& mark_;
  std::uint8_t kind_before_ = 0;
};

}  // namespace ashlar
