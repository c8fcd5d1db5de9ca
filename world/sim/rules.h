#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "world/math/shapes.h"

namespace ashlar {

/// Ticks of a world's life at most: sums with a run's own never wrap.
inline constexpr std::uint64_t life_ticks_max = std::uint64_t{1} << 62;

/// How a kind of mover is kept out of solids.
enum class Solver : std::uint8_t { sweep = 0, correct = 1 };

/// Do locked doors of maps ask for their key?
enum class KeyRule : std::uint8_t { ignored = 0, needed = 1 };

/// Has every player as many blocks of each kind as it wants? `yes` is creative play: digging leaves nothing
/// behind and placing takes nothing. `no` is survival: what is dug drops items, placing takes them.
enum class FreeBlocks : std::uint8_t { no = 0, yes = 1 };

/// Does nobody run out of ammunition? By maps: where the world's maps hold none.
enum class FreeAmmo : std::uint8_t { no = 0, yes = 1, by_maps = 2 };

/// What is played (world/sim/modes.h).
enum class GameMode : std::uint8_t { sandbox = 0, cooperative = 1, deathmatch = 2, teams = 3, building = 4 };

/// Do players of a mode play against each other?
constexpr bool plays_against(GameMode mode) {
  return mode == GameMode::deathmatch || mode == GameMode::teams;
}

/// A rule that holds or does not.
enum class Switch : std::uint8_t { off = 0, on = 1 };

/// The rule set of a world: travels to the client in the welcome, so that prediction runs the same code.
/// Not part of the world's hash: two worlds are compared only under the same rules, which recordings hold and
/// the welcome brings. Typical values are Doom's and Quake's at 32 units a metre.
struct Rules {
  std::uint16_t tick_rate_hz = 60;  ///< 10 to 128
  Cylinder player{0.3, 1.75};       ///< Doom's player is 56 units high, many openings are exactly that
  double player_eye_m = 1.6;
  double step_height_m_max = 0.75;  ///< 24 units; equal is allowed
  double gravity_mps2 = 20.0;
  double jump_speed_mps = 7.0;  ///< rises 1.22 m: clears one block
  double walk_speed_mps_max = 6.0;
  double ground_acceleration_mps2 = 60.0;  ///< full speed within 0.1 s
  double air_acceleration_mps2 = 12.0;     ///< steering in the air, never above walking speed
  double ground_friction_per_s = 8.0;      ///< share of speed lost per second without input
  double fall_speed_mps_max = 60.0;
  double shot_interval_s = 0.4;  ///< between two shots of one player, rounded up to whole ticks
  double shot_range_m = 64.0;    ///< Doom's 2048 units
  Solver player_solver = Solver::sweep;
  Solver monster_solver = Solver::sweep;
  KeyRule keys = KeyRule::needed;
  std::uint16_t player_health = 100;  ///< points of a fresh player, from 1
  std::uint16_t crush_damage = 10;    ///< points each time a crusher hurts, every 4/35 s
  double respawn_s =
      4;  ///< a dead player is back after so long, with the use button down from a second on, keys kept

  double block_reach_m = 5;  ///< from the eye to the nearest point of a block that is dug or built on
  double block_interval_s =
      0.2;  ///< from one block that a player changed to its next act, rounded up to ticks
  FreeBlocks free_blocks = FreeBlocks::yes;
  std::uint16_t map_margin_m = 6;  ///< around a map's box players change no block; 6 is the level apron

  Switch monsters_fight = Switch::on;
  Switch infighting = Switch::on;       ///< monsters hurt each other, and turn on who did
  Switch friendly_fire = Switch::off;   ///< players hurt each other
  std::uint16_t monster_respawn_s = 0;  ///< from a monster's death to its return; 0: it stays dead
  /// Of Doom: 1 and 2 easy, 3 medium, 4 and 5 hard, as things of maps are marked; 1 also halves what monsters
  /// take. 0: all things, whatever is marked.
  std::uint16_t skill = 0;
  FreeAmmo free_ammo = FreeAmmo::by_maps;
  Switch items = Switch::on;          ///< of maps, and what monsters leave
  std::uint16_t item_respawn_s = 30;  ///< from an item's taking to its return; 0: it stays away

  GameMode mode = GameMode::sandbox;
  std::uint16_t frag_limit = 0;    ///< score that ends a match; 0: none does
  std::uint16_t time_limit_s = 0;  ///< of a match; 0: it has no end by time
  std::uint16_t warmup_s = 0;      ///< before each match, when nothing counts
  std::uint16_t intermission_s = 10;

  Switch keep_inventory = Switch::off;  ///< the dead keep what they hold; off: it lies where they died
  std::uint16_t item_life_s = 600;      ///< that items lie in the world; 0: for ever
  double burst_dig_m = 0;  ///< around a player's burst what can be dug and is not protected goes; 0: nothing

  std::uint16_t day_s = 0;         ///< from one morning to the next (day.h); 0: it is always day
  std::uint16_t match_places = 0;  ///< players in a match at once, the others watch; 0: all play
  std::uint16_t lives = 0;         ///< deaths in a match after which a player watches; 0: no end of them

  double fall_free_m = 0;         ///< that a player falls unhurt; 0: no fall hurts, as in Doom
  std::uint16_t fall_damage = 5;  ///< points for each metre beyond

  double tick_s() const { return 1.0 / static_cast<double>(tick_rate_hz); }
  /// Whole ticks that pass within a time, at least `least`: what is timed in seconds is right at every rate.
  std::uint16_t ticks_within(double seconds, std::uint16_t least = 0) const {
    constexpr double rounding = 1e-9;  // 1/6 s at 60 Hz are 10 ticks, not 9
    const double ticks = seconds * static_cast<double>(tick_rate_hz) + rounding;
    return std::max(least, static_cast<std::uint16_t>(std::min(ticks, 65535.0)));
  }
  /// Do locked doors ask for a key? Who plays against others has all of them, as in Doom (P_SpawnPlayer).
  bool keys_needed() const { return keys == KeyRule::needed && !plays_against(mode); }
  /// Points that a landing at a speed costs, by the height from which one falls to reach it; rounded.
  std::uint16_t fall_points(double land_speed_mps) const {
    if (fall_free_m <= 0 || gravity_mps2 <= 0) return 0;
    const double beyond_m = land_speed_mps * land_speed_mps / (2 * gravity_mps2) - fall_free_m;
    return static_cast<std::uint16_t>(std::clamp(beyond_m * fall_damage + 0.5, 0.0, 65535.0));
  }
  /// How high a jump rises; without gravity there is no end to it.
  double jump_rise_m() const {
    return gravity_mps2 > 0 ? jump_speed_mps * jump_speed_mps / (2 * gravity_mps2)
                            : std::numeric_limits<double>::infinity();
  }
};

/// What is known of a rule beside its value.
struct RuleInfo {
  std::string_view key;   ///< what operators call it
  double low, high;       ///< sane from low to high, both included; an enumeration's first and last value
  std::string_view help;  ///< for operators; empty: not theirs to set
};

/// The one list of all rules: calls visit(RuleInfo, field) for each, in the order of the wire's table
/// (protocol/ schema/server_message.fbs), so that checks, settings, wire and recording agree. A new rule goes
/// to its end and to the end of that table. A field is a double, a std::uint16_t or an enumeration of one
/// byte.
/// @param rules  Rules or const Rules
template <typename AnyRules, typename Visit>
constexpr void visit_rules(AnyRules& r, Visit&& visit) {
  using I = RuleInfo;
  visit(I{"tick_rate", 10, 128, "Ticks per second."}, r.tick_rate_hz);
  visit(I{"player_solver", 0, 1, "How players are kept out of walls: exact and fast, or simple and robust."},
        r.player_solver);
  visit(I{"monster_solver", 0, 1, "Likewise monsters."}, r.monster_solver);
  visit(I{"player_radius_m", 0.05, 0.49, ""}, r.player.radius_m);
  visit(I{"player_height_m", 0.1, 4, ""}, r.player.height_m);
  visit(I{"player_eye_m", 0, 4, ""}, r.player_eye_m);
  visit(I{"step_height_m", 0, 1.5, "Metres that players walk up without a jump; 0.75 is Doom's 24 units."},
        r.step_height_m_max);
  visit(I{"gravity_mps2", 0, 200, "Metres per second squared."}, r.gravity_mps2);
  visit(I{"jump_speed_mps", 0, 50, "Metres per second; 7 clears one block under the default gravity."},
        r.jump_speed_mps);
  visit(I{"walk_speed_mps", 0, 60, "Metres per second."}, r.walk_speed_mps_max);
  visit(I{"ground_acceleration_mps2", 0, 1000, ""}, r.ground_acceleration_mps2);
  visit(I{"air_acceleration_mps2", 0, 1000, ""}, r.air_acceleration_mps2);
  visit(I{"ground_friction_per_s", 0, 100, ""}, r.ground_friction_per_s);
  visit(I{"fall_speed_mps", 0.1, 200, ""}, r.fall_speed_mps_max);
  visit(I{"shot_interval_s", 0, 60, "Seconds between two shots of a player who holds the trigger."},
        r.shot_interval_s);
  visit(I{"shot_range_m", 1, 1024, "Metres that a shot reaches."}, r.shot_range_m);
  visit(I{"keys", 0, 1, "Whether locked doors of maps ask for their key, which lies in the map."}, r.keys);
  visit(I{"player_health", 1, 10000, "Points of a fresh player."}, r.player_health);
  visit(I{"crush_damage", 0, 10000, "Points that a crusher takes, about nine times a second."},
        r.crush_damage);
  visit(I{"respawn_s", 0, 60, "Seconds until a dead player is back; with the use button down after one."},
        r.respawn_s);
  visit(I{"block_reach_m", 0, 64, "Metres that players reach to dig and to build."}, r.block_reach_m);
  visit(I{"block_interval_s", 0, 60, "Seconds from one block that a player dug or placed to the next."},
        r.block_interval_s);
  visit(
      I{"free_blocks", 0, 1,
        "Whether players have as many blocks to build with as they want; no: what they dig drops items, and "
        "placing takes them."},
      r.free_blocks);
  visit(I{"map_margin_m", 0, 1024, "Metres around each map in which players cannot dig or build."},
        r.map_margin_m);
  visit(I{"monsters_fight", 0, 1, "Whether monsters attack."}, r.monsters_fight);
  visit(I{"infighting", 0, 1, "Whether monsters hurt each other."}, r.infighting);
  visit(I{"friendly_fire", 0, 1, "Whether players hurt each other."}, r.friendly_fire);
  visit(I{"monster_respawn_s", 0, 3600, "Seconds until a dead monster is back; 0: never."},
        r.monster_respawn_s);
  visit(I{"skill", 0, 5, "Which things of maps there are: 1 easiest, 5 hardest, 0 all."}, r.skill);
  visit(I{"free_ammo", 0, 2, "Whether weapons use up no ammunition; by_maps: where the maps hold none."},
        r.free_ammo);
  visit(I{"items", 0, 1, "Whether the maps' weapons, ammunition, health, armour and powers lie about."},
        r.items);
  visit(I{"item_respawn_s", 0, 3600, "Seconds until what was picked up is back; 0: never."},
        r.item_respawn_s);
  visit(I{"mode", 0, 4,
          "What is played: no match, together against monsters, each against each, two teams, or who builds "
          "most."},
        r.mode);
  visit(I{"frag_limit", 0, 30000, "Score of a player or team that ends a match; 0: none does."},
        r.frag_limit);
  visit(I{"time_limit_s", 0, 36000, "Seconds that a match lasts; 0: it has no end by time."}, r.time_limit_s);
  visit(I{"warmup_s", 0, 3600, "Seconds before each match in which nothing counts."}, r.warmup_s);
  visit(I{"intermission_s", 1, 3600, "Seconds for which the score of a match stands."}, r.intermission_s);
  visit(I{"keep_inventory", 0, 1, "Whether the dead keep what they hold; off: it lies where they died."},
        r.keep_inventory);
  visit(I{"item_life_s", 0, 36000, "Seconds that items lie in the world; 0: for ever."}, r.item_life_s);
  visit(
      I{"burst_dig_m", 0, 4, "Metres around the bursts of players' weapons in which blocks go; 0: none do."},
      r.burst_dig_m);
  visit(I{"day_s", 0, 36000, "Seconds from one morning to the next; 0: it is always day."}, r.day_s);
  visit(I{"match_places", 0, 10000,
          "Players in a match at once; the others watch until one goes; 0: all play."},
        r.match_places);
  visit(I{"lives", 0, 1000,
          "Deaths in a match after which a player watches until the next; 0: no end of them."},
        r.lives);
  visit(I{"fall_free_m", 0, 4096,
          "Metres that a player falls unhurt, into water any height; 0: no fall hurts."},
        r.fall_free_m);
  visit(I{"fall_damage", 0, 1000, "Points that each metre costs that a player falls beyond those."},
        r.fall_damage);
}

/// How many there are.
constexpr std::size_t rule_count() {
  std::size_t count = 0;
  Rules rules;
  visit_rules(rules, [&count](const RuleInfo&, const auto&) { ++count; });
  return count;
}

/// Are all values finite and within what movement was made for? The test that foreign rule sets pass.
bool rules_sane(const Rules& rules);

inline constexpr double world_extent_m = 1 << 20;  ///< |x|, |y| of positions stay below
inline constexpr double world_height_m = 1 << 12;  ///< |z| stays below

/// Is the position inside the world's bounds (false for NaN)?
inline bool in_bounds(DVec3 p) {
  return p.x > -world_extent_m && p.x < world_extent_m && p.y > -world_extent_m && p.y < world_extent_m &&
         p.z > -world_height_m && p.z < world_height_m;
}

}  // namespace ashlar
