#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "protocol/snapshot/block_delta.h"
#include "protocol/snapshot/block_models.h"
#include "protocol/snapshot/heading.h"
#include "protocol/standard_layout.h"

// How one entity of a block is told, for the writer and the reader alike: WIRE.md says the same in words.

namespace ashlar {

inline constexpr unsigned place_bits = traits_of(StandardField::x).bits;
inline constexpr unsigned velocity_bits = traits_of(StandardField::velocity_x).bits;
inline constexpr unsigned byte_bits = 8;
static_assert(cell_steps == 1u << place_bits);
static_assert(traits_of(StandardField::x).step * position_steps_per_m == 1);
static_assert(traits_of(StandardField::velocity_x).step * velocity_steps_per_mps == 1);

/// How those of a block move when nothing is in their way, in steps of velocity and seconds: guesses that
/// only cost bits where they are wrong. The first two travel where they are not the usual ones.
struct BlockRules {
  std::int32_t pace = usual_pace_steps;
  std::int32_t pull = usual_pull_mps2;               ///< m/s2
  static constexpr std::int32_t jump = 112;          // 7 m/s
  static constexpr std::int32_t acceleration = 960;  // 60 m/s2
};

/// It keeps a coder in registers: so lambdas hold what they use, and not `this`, whose address would keep all
/// of it in memory.
template <class Coder, class Mark>
class EntityCoding {
 public:
  [[gnu::always_inline]] EntityCoding(Coder& coder, BlockModels& odds, const Foretelling& by,
                                      const BlockRules& rules, Mark& mark)
      : coder_(coder), odds_(odds), by_(by), rules_(rules), mark_(mark) {}

  /// Somebody who was in the base. False: no entity is so.
  /// @param e  written; or set by what is read
  /// @param motion  of the base
  [[gnu::always_inline]] bool change(MovingRecord& e, const MovingRecord& base, EntityMotion motion) {
    const auto g = static_cast<std::size_t>(motion.gait);
    const bool flies = motion.gait == Gait::flies;
    bool follows = motion.course != no_course;
    Velocity told = base.velocity;
    const bool falling = flies && falls(e.velocity[2], told[2], base.record.kind);
    if (falling) told[2] = by_.fallen(told[2], rules_.pull);
    Place at = foretold(base, told, 0, false);
    if (!coder_.bit(odds_.changed[g], writing && !is(e, base, told, at))) {
      mark_.frame();
      if constexpr (!writing) {
        e = base;
        set(e, at);
        e.velocity = told;
      }
      return true;
    }
    mark_.frame();
    if (flies && !falling && is_projectile(base.record.kind) &&
        coder_.bit(odds_.steady, writing && is(e, base, told, place_of(e.record))))
      return drift(e, base, told, at);
    const auto turn =
        static_cast<std::int8_t>(fine(odds_.turn, static_cast<std::int8_t>(e.record.yaw - base.record.yaw)));
    const auto yaw = static_cast<std::uint8_t>(base.record.yaw + turn);
    mark_.field(BlockField::yaw);
    const bool moves = base.velocity[0] != 0 || base.velocity[1] != 0;
    if (follows)
      set_level(told, on_course(rules_.pace, yaw, motion.course));
    else if (moves && turn != 0)
      veer(told, turn, e.velocity);
    const bool other = coder_.bit(odds_.speeds[2 * g + (turn != 0 ? 1 : 0)],
                                  writing && (e.velocity[0] != told[0] || e.velocity[1] != told[1]));
    Change change{other, follows, flies, Leap::none};
    if (other) {
      follows = false;
      bool on = false;
      if (!velocity(e.velocity, told, moves, motion.course, yaw, on)) return false;
      change.course = change.course && on;
    }
    if (!climb(e.velocity[2], told[2], base.velocity[2], g, change.leap)) return false;
    mark_.field(BlockField::velocity);
    at = foretold(base, told, turn, follows);
    if (change.leap == Leap::lands && ground_ >= 0) at.z = ground_;
    if (change.leap == Leap::jumps)
      at.z = std::clamp(base.record.z + risen(BlockRules::jump, told[2], rules_.pull), 0, cell_steps - 1);
    if (!place(e.record, at, base, told, turn, g, change)) return false;
    mark_.field(BlockField::place);
    if (told[2] == 0 && motion.gait != Gait::rests) ground_ = at.z;
    if constexpr (!writing) {
      e.record = base.record;
      e.record.yaw = yaw;
      set(e, at);
      e.velocity = told;
    }
    if (coder_.bit(odds_.nods[turn != 0 ? 1 : 0], e.record.pitch != base.record.pitch))
      e.record.pitch = static_cast<std::int8_t>(
          base.record.pitch + code_number(coder_, odds_.nod, e.record.pitch - base.record.pitch));
    mark_.field(BlockField::pitch);
    const bool any = coder_.bit(odds_.lesser[other ? 1 : 0], writing && lesser(e.record, base.record));
    mark_.field(BlockField::state);
    if (any) looks_apart(e.record, base.record, (base.velocity[2] == 0) != (told[2] == 0));
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
    const bool still = coder_.bit(odds_.still, writing && e.velocity == told);
    if (!still) {
      bool on = false;
      if (!velocity(e.velocity, told, false, no_course, r.yaw, on)) return false;
      const std::int32_t up = code_number(coder_, odds_.climb[0], e.velocity[2]);
      if (up < -32768 || up > 32767) return false;
      told[2] = static_cast<std::int16_t>(up);
    }
    if constexpr (!writing) e.velocity = told;
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
  static constexpr bool writing = Coder::writing;
  /// What is seldom told. It works on a copy: a coder that others are given lies in memory for good, and not
  /// in registers. One whose bits are counted lies there anyway.
  [[gnu::always_inline]] void looks_apart(EntityRecord& now, const EntityRecord& base, bool left_ground) {
    if constexpr (Mark::counts) {
      looks(now, base, left_ground);
    } else {
      Coder copy = coder_;
      EntityCoding(copy, odds_, by_, rules_, mark_).looks(now, base, left_ground);
      coder_ = copy;
    }
  }

  struct Place {
    std::int32_t x, y, z;
  };
  /// Who reached or left the ground as those do that fall or jump.
  enum class Leap : std::uint8_t { none, lands, jumps };
  /// What is known of how a velocity changed.
  struct Change {
    bool other, course, flies;  ///< other over the ground; on a course before and after; flew
    Leap leap;
  };

  static void set_level(Velocity& v, const LevelVelocity& to) { v[0] = to[0], v[1] = to[1]; }

  /// As if it had changed evenly; who follows its course went along an arc.
  [[gnu::always_inline]] Place foretold(const MovingRecord& base, const Velocity& now, std::int8_t turn,
                                        bool follows) const {
    const Velocity& v = base.velocity;
    std::int32_t x = 0, y = 0;
    if (v[0] == now[0] && v[1] == now[1]) {
      if (v[0] != 0) x = by_.steady_way(v[0]);
      if (v[1] != 0) y = by_.steady_way(v[1]);
    } else if (follows) {
      const Velocity midway = rotated(v, static_cast<std::int8_t>(turn / 2));
      x = by_.way(v[0], midway[0], now[0]), y = by_.way(v[1], midway[1], now[1]);
    } else {
      x = by_.way(v[0], now[0]), y = by_.way(v[1], now[1]);
    }
    const std::int32_t z = v[2] != now[2] ? by_.mean_way(v[2], now[2]) : v[2] == 0 ? 0 : by_.steady_way(v[2]);
    return {within(base.record.x + x), within(base.record.y + y), within(base.record.z + z)};
  }
  static std::int32_t within(std::int32_t at) { return std::clamp<std::int32_t>(at, 0, cell_steps - 1); }

  static bool in_cell(const Place& at) {
    const auto ok = [](std::int32_t v) { return v >= 0 && v < cell_steps; };
    return ok(at.x) && ok(at.y) && ok(at.z);
  }
  static Place place_of(const EntityRecord& e) { return {e.x, e.y, e.z}; }

  static bool is(const MovingRecord& e, const MovingRecord& base, const Velocity& told, const Place& at) {
    const EntityRecord &a = e.record, &b = base.record;
    return a.x == at.x && a.y == at.y && a.z == at.z && MovingRecord::same_velocity(e.velocity, told) &&
           a.yaw == b.yaw && a.pitch == b.pitch && !lesser(a, b);
  }
  static bool lesser(const EntityRecord& a, const EntityRecord& b) {
    return a.health != b.health || a.state != b.state || a.flags != b.flags || a.kind != b.kind;
  }
  static void set(MovingRecord& e, const Place& at) {
    e.record.x = static_cast<std::uint16_t>(at.x), e.record.y = static_cast<std::uint16_t>(at.y);
    e.record.z = static_cast<std::uint16_t>(at.z);
  }

  [[gnu::always_inline]] std::uint8_t byte(std::uint8_t value) {
    return static_cast<std::uint8_t>(coder_.raw(byte_bits, value));
  }
  std::uint8_t unless(auto& odds, std::uint8_t usual, std::uint8_t value) {
    return coder_.bit(odds, value == usual) ? usual : byte(value);
  }
  /// A number from 0 on: how many bits, then those below the highest; 15 stands for as many as there may be.
  std::uint32_t sized(auto& odds, std::uint32_t value, unsigned bits) {
    const unsigned width =
        code_tree(coder_, odds, std::min(static_cast<unsigned>(std::bit_width(value)), 15u));
    if (width == 15) return coder_.raw(bits, value);
    if (width < 2) return width;
    const std::uint32_t top = 1u << (width - 1);
    return top | coder_.raw(width - 1, value & (top - 1));
  }

  [[gnu::always_inline]] std::int32_t fine(auto& odds, std::int32_t value) {
    if (!coder_.bit(odds.other, value != 0)) return 0;
    const std::int32_t size = std::abs(value);
    if (!coder_.bit(odds.more, size > 1)) return coder_.bit(odds.negative, value < 0) ? -1 : 1;
    const std::int32_t beyond = code_number(coder_, odds.rest, value < 0 ? value + 1 : value - 1);
    return beyond < 0 ? beyond - 1 : beyond + 1;
  }

  /// Does who flies fall? Of monsters and projectiles it is told whether that foretells better than that they
  /// go on.
  [[gnu::always_inline]] bool falls(std::int16_t now, std::int16_t before, EntityKind kind) {
    if (always_falls(kind)) return true;
    const bool better = writing && std::abs(now - by_.fallen(before, rules_.pull)) < std::abs(now - before);
    return coder_.bit(odds_.falls[is_projectile(kind) ? 1 : 0], better);
  }

  /// A projectile that keeps its way.
  [[gnu::always_inline]] bool drift(MovingRecord& e, const MovingRecord& base, const Velocity& told,
                                    Place at) {
    const Place now = place_of(e.record);
    at.x += fine(odds_.drift, now.x - at.x);
    at.y += fine(odds_.drift, now.y - at.y);
    at.z += fine(odds_.drift, now.z - at.z);
    mark_.field(BlockField::place);
    if constexpr (!writing) {
      e = base;
      set(e, at);
      e.velocity = told;
    }
    mark_.entity(base.record.kind, false);
    return in_cell(at);
  }

  /// Who turns while it walks walks on where it looks.
  [[gnu::always_inline]] void veer(Velocity& told, std::int8_t turn, const Velocity& now) {
    const Velocity turned = rotated(told, turn);
    const auto off = [&](const Velocity& v) { return std::abs(now[0] - v[0]) + std::abs(now[1] - v[1]); };
    if (coder_.bit(odds_.veers, writing && off(turned) < off(told))) told = turned;
  }

  /// Another velocity over the ground: none, a course, another direction at the pace, or any.
  /// @param before  the course until now; @param on  is it one now?
  [[gnu::always_inline]] bool velocity(const Velocity& now, Velocity& told, bool moves, std::uint8_t before,
                                       std::uint8_t yaw, bool& on) {
    if (moves && coder_.bit(odds_.stops, writing && now[0] == 0 && now[1] == 0)) {
      set_level(told, {0, 0});
      return true;
    }
    const std::uint8_t course = writing ? course_of(now, yaw, rules_.pace) : no_course;
    on = coder_.bit(odds_.course, course != no_course);
    if (on) {
      const unsigned from = before == no_course ? 0 : before;
      std::array<Odds, 8>& odds = odds_.heading[before != no_course ? 1 : 0];
      const unsigned off = (course - from) & 7u;
      unsigned at = 1;
      for (int i = 2; i >= 0; --i) at = at << 1 | (coder_.bit(odds[at], (off >> i & 1) != 0) ? 1u : 0u);
      set_level(told, on_course(rules_.pace, yaw, from + at));
      return true;
    }
    const std::uint8_t angle = writing ? angle_of(now[0], now[1]) : std::uint8_t{0};
    const LevelVelocity paced = at_angle(rules_.pace, angle);
    if (coder_.bit(odds_.at_pace, writing && paced[0] == now[0] && paced[1] == now[1])) {
      set_level(told, at_angle(rules_.pace, byte(angle)));
      return true;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int32_t v = told[i] + code_number(coder_, odds_.speed, now[i] - told[i]);
      if (v < -32768 || v > 32767) return false;
      told[i] = static_cast<std::int16_t>(v);
    }
    return true;
  }

  /// Another velocity up or down than foretold.
  /// @param before  in the base
  [[gnu::always_inline]] bool climb(std::int16_t now, std::int16_t& told, std::int16_t before, std::size_t g,
                                    Leap& leap) {
    if (!coder_.bit(odds_.climbs[g], writing && now != told)) return true;
    const bool flies = g == static_cast<std::size_t>(Gait::flies);
    if (flies && coder_.bit(odds_.lands, writing && now == 0)) {
      told = 0, leap = Leap::lands;
      return true;
    }
    if (before == 0 && rules_.pull > 0) {
      const std::int32_t ticks = writing ? by_.ticks_to_fall(BlockRules::jump - now, rules_.pull) : 0;
      const auto jumped = [&by = by_, pull = rules_.pull](std::int32_t t) {
        return by.fallen(BlockRules::jump, pull, t);
      };
      const bool did =
          writing && ticks >= 1 && ticks <= Foretelling::moments_max && std::abs(now - jumped(ticks)) <= 1;
      if (coder_.bit(odds_.jumps, did)) {
        const unsigned since = code_tree(coder_, odds_.jumped, static_cast<unsigned>(ticks) & 15u);
        const std::int32_t up = jumped(static_cast<std::int32_t>(since));
        leap = Leap::jumps;
        return fits(told, up + fine(odds_.jump, now - up));
      }
    }
    return fits(told, told + code_number(coder_, odds_.climb[flies ? 1 : 0], now - told));
  }
  static bool fits(std::int16_t& to, std::int32_t v) {
    to = static_cast<std::int16_t>(v);
    return v >= -32768 && v <= 32767;
  }

  /// Which odds the place of somebody has who turned so far while it went on like this.
  static std::size_t blur(std::int32_t speed, std::int32_t turn) {
    const auto off = static_cast<std::uint32_t>(std::abs(speed * turn)) >> 8;
    return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(off)), 3);
  }

  [[gnu::always_inline]] bool place(const EntityRecord& now, Place& at, const MovingRecord& base,
                                    const Velocity& after, std::int8_t turn, std::size_t g,
                                    const Change& change) {
    if (!change.other || (base.velocity[0] == after[0] && base.velocity[1] == after[1])) {
      constexpr std::array<std::size_t, gait_count> first{8, 8, 4, 0};
      const bool arc = g == static_cast<std::size_t>(Gait::follows);
      const bool still = g == static_cast<std::size_t>(Gait::rests);
      const std::int32_t x = arc ? after[1] : 512, y = arc ? after[0] : 512;
      at.x += fine(odds_.place[first[g] + (still ? 0 : blur(x, turn))], now.x - at.x);
      at.y += fine(odds_.place[first[g] + (still ? 0 : blur(y, turn))], now.y - at.y);
    } else {
      const bool eases =
          change.flies && change.leap == Leap::none &&
          coder_.bit(odds_.eases, writing && std::abs(now.x - at.x) <= 4 && std::abs(now.y - at.y) <= 4);
      if (!eases && !changed_place(now, at, base, after, change.course)) return false;
      auto& odds = odds_.changing[eases ? 2 : change.course ? 1 : 0];
      at.x += fine(odds, now.x - at.x);
      at.y += fine(odds, now.y - at.y);
    }
    const auto leap = static_cast<std::size_t>(change.leap);
    const bool leaps = change.leap != Leap::none;
    if (coder_.bit(odds_.lifts[leaps ? 2 * gait_count + leap - 1 : 2 * g + (change.other ? 1 : 0)],
                   now.z != at.z))
      at.z += code_number(coder_, odds_.lift[leaps ? 1 + leap : change.flies ? 1 : 0], now.z - at.z);
    return in_cell(at);
  }

  /// Where somebody is who changed its velocity at one moment; from one course to another at the pace at
  /// which players accelerate.
  [[gnu::always_inline]] bool changed_place(const EntityRecord& now, Place& at, const MovingRecord& base,
                                            const Velocity& after, bool course) {
    const std::int32_t x0 = base.velocity[0], y0 = base.velocity[1];
    const std::int32_t dx = after[0] - x0, dy = after[1] - y0;
    const std::int32_t takes = course ? by_.takes(length_of(dx, dy), BlockRules::acceleration) : 0;
    const auto way = [&by = by_, takes](std::int32_t before, std::int32_t change, std::int32_t moment) {
      return by.way_changed(before, change, by.held(moment, takes));
    };
    std::int32_t moment = 0;
    if constexpr (writing) {
      const bool swap = std::abs(dy) > std::abs(dx);
      const std::int32_t made = swap ? now.y - base.record.y : now.x - base.record.x;
      std::int32_t least = 1 << 30;
      for (std::int32_t i = 0; i <= by_.moments(); ++i) {
        const std::int32_t off = std::abs(made - (swap ? way(y0, dy, i) : way(x0, dx, i)));
        if (off > least) break;  // it goes one way, so that it only becomes worse
        if (off < least) least = off, moment = i;
      }
    }
    moment = static_cast<std::int32_t>(
        code_tree(coder_, odds_.moment[course ? 1 : 0], static_cast<unsigned>(moment)));
    if (moment > by_.moments()) return false;
    at.x = within(base.record.x + way(x0, dx, moment));
    at.y = within(base.record.y + way(y0, dy, moment));
    return true;
  }

  [[gnu::noinline]] void looks(EntityRecord& now, const EntityRecord& base, bool left_ground) {
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

  std::uint8_t small_or_byte(auto& odd, auto& small, std::uint8_t value) {
    if (coder_.bit(odd, value > 15)) return byte(value);
    return static_cast<std::uint8_t>(code_tree(coder_, small, value & 15u));
  }

  Coder& coder_;
  BlockModels& odds_;
  const Foretelling& by_;
  const BlockRules& rules_;
  Mark& mark_;
  std::uint8_t kind_before_ = 0;
  std::int32_t ground_ = -1;  // where the last one stands that moved there; -1: nobody
};

}  // namespace ashlar
