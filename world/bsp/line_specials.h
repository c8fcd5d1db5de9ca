#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "world/bsp/sector_map.h"

// What a map's line specials mean, as data: Doom's own numbers (1 to 141), those that Boom added, Boom's
// generalised ones, and the actions of UDMF's namespace "zdoom" that do the same.
// Speeds are given per second: a Doom unit is 1/32 m, a tic 1/35 s.

namespace ashlar {

/// How a line is set off.
enum class LineTrigger : std::uint8_t { none, use, walk, shoot };

/// What a line does.
enum class LineEffect : std::uint8_t {
  inert,                 ///< known, but only for eyes and ears: lights, scrolling walls, translucency
  door_raise,            ///< opens, waits, closes
  door_open,             ///< opens and stays
  door_close,            ///< closes and stays
  door_close_wait_open,  ///< closes, waits, opens
  lift,                  ///< down to the target, waits, back up
  lift_up,               ///< up by the target, waits, back down
  lift_perpetual,        ///< up and down between the floors beside it until stopped
  lift_stop,             ///< holds perpetual lifts where they are
  floor,                 ///< moves the floor to its target once
  ceiling,               ///< moves the ceiling to its target once
  floor_and_ceiling,     ///< lowers the floor to the lowest beside it and raises the ceiling to the highest
  crusher,               ///< ceiling down and up until stopped, hurting whom it meets
  crusher_stop,          ///< holds crushers where they are
  stairs,                ///< builds a staircase from the tagged sector on
  donut,                 ///< lowers a pillar and raises the ring around it
  teleport,              ///< to the tagged sector's teleport landing
  teleport_line,         ///< to the middle of the other line with the same tag
  exit,                  ///< leaves the map
  carry,  ///< the tagged sectors' floors are conveyors, always, by the line's direction and length
};

/// Where a floor or ceiling goes. "Beside" means in sectors that share a line with it.
enum class HeightTarget : std::uint8_t {
  lowest_floor,         ///< lowest floor beside it or its own
  highest_floor,        ///< highest floor beside it
  next_higher_floor,    ///< lowest floor beside it that is above its own; its own when there is none
  next_lower_floor,     ///< highest floor beside it that is below its own; its own when there is none
  lowest_ceiling,       ///< lowest ceiling beside it
  highest_ceiling,      ///< highest ceiling beside it
  next_higher_ceiling,  ///< lowest ceiling beside it that is above its own; its own when there is none
  next_lower_ceiling,   ///< highest ceiling beside it that is below its own; its own when there is none
  own_floor,            ///< the sector's floor
  own_ceiling,          ///< the sector's ceiling
  by_amount,            ///< from where it is, by offset_m
};

/// How lines of UDMF's namespace "zdoom" are set off: bits of MapLine::flags, above Doom's own.
namespace line_activation {
inline constexpr std::uint32_t player_use = 1u << 16;
inline constexpr std::uint32_t player_cross = 1u << 17;
inline constexpr std::uint32_t player_push = 1u << 18;
inline constexpr std::uint32_t monster_use = 1u << 19;
inline constexpr std::uint32_t monster_cross = 1u << 20;
inline constexpr std::uint32_t monster_push = 1u << 21;
inline constexpr std::uint32_t impact = 1u << 22;
inline constexpr std::uint32_t repeats = 1u << 23;
}  // namespace line_activation

/// Colours of keys; a card and a skull of one colour open the same locks.
namespace key {
inline constexpr std::uint8_t blue = 1;
inline constexpr std::uint8_t yellow = 2;
inline constexpr std::uint8_t red = 4;
inline constexpr std::uint8_t all = 7;
}  // namespace key

/// A line's special, resolved. Lengths in metres, times in seconds.
struct LineAction {
  LineTrigger trigger = LineTrigger::none;
  LineEffect effect = LineEffect::inert;
  HeightTarget target = HeightTarget::by_amount;
  bool repeats = false;
  bool sector_behind = false;  ///< acts on the sector behind the line instead of tagged ones
  bool players = true;
  bool monsters = false;
  bool crushes = false;   ///< hurts whom it meets; a crusher that does not slow down is a fast one
  bool slows = false;     ///< goes at an eighth of its speed once it met somebody, until it turns
  bool any_key = false;   ///< one of `keys` is enough; otherwise all of them are needed
  std::uint8_t keys = 0;  ///< key bits that a player needs; 0: no lock
  std::uint16_t tag = 0;  ///< 0: no sector (sector_behind apart)
  double offset_m = 0;    ///< added to the target
  double speed_mps = 0;
  double wait_s = 0;
  double step_m = 0;  ///< of stairs: each step's rise, negative for stairs down
};

/// What a line's special means. nullopt: no special, or an unknown one (see unknown_specials).
std::optional<LineAction> line_action(const SectorMap& map, const MapLine& line);

/// Is the number one that line_action knows, in the map's own numbering?
bool special_known(SpecialNumbers numbers, std::uint16_t special);

/// Numbers that do nothing here, each with its count of lines, ascending: for one line in the log.
std::vector<std::pair<std::uint16_t, std::uint32_t>> unknown_specials(const SectorMap& map);

/// Key bit of a thing's editor number (cards and skulls), 0 for any other thing.
std::uint8_t key_of_thing(std::uint16_t type);

/// Editor number of the landing that teleporters lead to.
inline constexpr std::uint16_t teleport_landing_thing = 14;

namespace detail {
/// What a line of UDMF's namespace "zdoom" does, by its action number, arguments and flags; amounts out
/// of range are clamped, such a tag is 0. nullopt: no number, or one that zdoom_actions.cpp does not cover.
std::optional<LineAction> zdoom_action(const MapLine& line);
/// What one of Boom's generalised numbers does; its tag is left 0, for the caller to fill in. nullopt: not in
/// 0x2f80 to 0x7fff, where every number means something.
std::optional<LineAction> boom_general_action(std::uint16_t special);
}  // namespace detail

}  // namespace ashlar
