#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "world/math/shapes.h"
#include "world/sim/attack.h"
#include "world/sim/weapons.h"

namespace ashlar {

/// Kinds of monsters. Values travel on the wire and in recordings: append only.
enum class MonsterKind : std::uint8_t {
  rifleman,
  shotgunner,
  gunner,
  imp,
  brute,
  shade,
  wisp,
  floater,
  knight,
  baron,
  crawler,
  hive,
  skeleton,
  fatso,
  healer,
  mastermind,
  colossus,
  guard,
};
inline constexpr std::size_t monster_kind_count = 18;

/// How the part of a body that shots can hit is built (world/sim/shot.h).
enum class HitBuild : std::uint8_t { upright, round, legged };

inline constexpr std::size_t show_name_bytes_max = 32;

/// How a kind shows, as names that clients look up in what they have. Nothing here depends on them.
struct MonsterShow {
  std::string blood = "blood";  ///< what it bleeds; empty: nothing
  std::string sight_sound, pain_sound, death_sound, attack_sound, step_sound;  ///< empty: none
  friend bool operator==(const MonsterShow&, const MonsterShow&) = default;
};

/// Calls visit(key, name) for each name of a kind's show, in the order of the wire.
template <typename AnyShow, typename Visit>
constexpr void visit_show(AnyShow& s, Visit&& visit) {
  visit("blood", s.blood);
  visit("sight_sound", s.sight_sound);
  visit("pain_sound", s.pain_sound);
  visit("death_sound", s.death_sound);
  visit("attack_sound", s.attack_sound);
  visit("step_sound", s.step_sound);
}

/// MonsterTraits::drop_m of who jumps down wherever it goes, as far as ways are looked for there.
inline constexpr double monster_drop_any_m = 64;

/// What a kind is like. By default that of Doom's monsters at 32 units a metre and 35 tics a second (mobj
/// info and states of the published Doom source, info.c and p_enemy.c).
struct MonsterTraits {
  std::string name;
  Cylinder shape;
  double speed_mps = 0;
  double step_height_m_max = 0;        ///< long-legged kinds clear a block, the others Doom's 24 units
  double sight_m_max = 32;             ///< sees players up to here
  double sight_cone_deg = 180;         ///< asleep it sees what is before it; awake all around
  std::uint8_t flies = 0;              ///< 0 or 1: keeps its own height, neither steps nor falls
  std::uint8_t swims = 1;              ///< 0 or 1: keeps afloat in liquids, and gets out at a bank
  std::uint8_t climbs = 0;             ///< 0 or 1: goes up ladders
  std::uint8_t opens_doors = 1;        ///< 0 or 1: pushes doors open that stand in its way
  double drop_m = monster_drop_any_m;  ///< goes down no deeper edge by itself
  double jump_m = 0;                   ///< leaps so far up onto what stands in its way; 0: never
  double hearing_m = 12;               ///< hears hits and doors so near, steps and bursts by a share of it
  double dark_sight_share = 0.5;       ///< of sight_m_max, that is left of it where no light is
  /// 0 or 1: under Solver::correct, do its radius and height count against walls, or only the middle of its
  /// base? Against other movers they always do, and under Solver::sweep against walls as well.
  std::uint8_t body_meets_walls = 1;
  std::uint8_t splash_proof = 0;  ///< 0 or 1: bursts of projectiles do it nothing
  HitBuild build = HitBuild::upright;
  std::uint16_t health = 0;       ///< points, Doom's
  std::uint16_t pain_chance = 0;  ///< of 256, that a hit interrupts it
  double pain_s = 0.17;
  double mass = 100;                ///< of a push by hits: a player has 100
  double reaction_s = 8.0 / 35;     ///< from waking to its first attack, at least
  double decision_s = 0.7;          ///< mean time between two decisions to attack from afar
  double alarm_m = 12;              ///< its kin in sight and so near wake with it
  double flee_share = 0;            ///< below this share of its health it runs
  double shy_share = 1;             ///< of its distance to the target, which makes attacks from afar rarer
  std::uint16_t shyness_max = 200;  ///< of 256: however far the target is, it attacks now and then
  std::uint16_t drop = 0;           ///< number of the thing that it leaves when it dies; 0: nothing
  MonsterAttack melee, ranged;
  MonsterShow show;
};

/// Room for kinds of a file's own behind ours; an entity's kind is a byte.
inline constexpr std::size_t monster_kinds_max = 64;
inline constexpr std::size_t projectile_kinds_max = 64;

/// A number of maps' things that becomes a kind of a file's.
struct ThingKind {
  std::uint16_t number = 0;
  MonsterKind kind{};
};

inline constexpr std::size_t spawn_rules_max = 32;
inline constexpr double spawn_within_m_max = 96;

/// Where on the open ground monsters of a kind appear around players, and how many.
struct SpawnRule {
  MonsterKind kind{};
  std::string ground;            ///< the block that it stands on, by name; empty: any
  std::uint32_t line = 0;        ///< of the file, for who finds no such block
  std::uint16_t number = 4;      ///< alive within within_m of a player, at most
  std::uint8_t group = 1;        ///< as many at once, where there is room
  std::uint8_t light_least = 0;  ///< 15: under the sky, or as bright
  std::uint8_t light_most = 15;  ///< as in GroundSpawner
  double every_s = 4;            ///< from one try for a player to the next
  double away_m = 16;            ///< no nearer to any player
  double within_m = 48;          ///< no further from the one it is for
  double lowest_m = -4096;       ///< height of the ground
  double highest_m = 4096;
  friend bool operator==(const SpawnRule&, const SpawnRule&) = default;
};

/// All kinds of a world: what a file says (world/content/kinds_file.h), or ours. Immutable, shared.
struct KindSet {
  std::vector<MonsterTraits> monsters;  ///< by MonsterKind; the first monster_kind_count are ours
  std::vector<ProjectileTraits> projectiles;
  std::vector<WeaponTraits> weapons;  ///< of players; the first weapon_kind_count are ours
  std::array<AmmoTraits, ammo_kind_count> ammo{};
  std::vector<SpawnRule> spawns;  ///< of the open ground, beside what stands there at the start
  std::vector<ThingKind> things;  ///< beside those of find_thing_type(), and before them
  std::string source;             ///< the file's text, from which a recording makes it again; empty: ours
};
/// Doom's.
const KindSet& default_kinds();

/// Of default_kinds().
const MonsterTraits& traits(MonsterKind kind);

/// What a snapshot says an entity is: players are 0, monsters 16 + MonsterKind, projectiles 128 + their kind,
/// items that lie there 240: their block is the record's state, how many they are its health.
enum class EntityKind : std::uint8_t { player = 0, item = 240 };
constexpr EntityKind entity_kind(MonsterKind kind) {
  return static_cast<EntityKind>(16 + static_cast<unsigned>(kind));
}

constexpr EntityKind projectile_entity_kind(std::uint8_t kind) {
  return static_cast<EntityKind>(128 + static_cast<unsigned>(kind));
}

/// Slot (low 20 bits) and generation (high 12): a slot's next owner has another id. 0 is nobody.
enum class EntityId : std::uint32_t {};
inline constexpr std::uint32_t entity_slot_bits = 20;
constexpr std::uint32_t slot_of(EntityId id) {
  return static_cast<std::uint32_t>(id) & ((1u << entity_slot_bits) - 1);
}
constexpr std::uint32_t generation_of(EntityId id) {
  return static_cast<std::uint32_t>(id) >> entity_slot_bits;
}
constexpr EntityId make_entity_id(std::uint32_t slot, std::uint32_t generation) {
  return EntityId{(generation << entity_slot_bits) | slot};
}
/// Generations run 1 .. 4095 and skip 0, so no id is ever 0.
constexpr std::uint32_t next_generation(std::uint32_t generation) {
  return generation >= 4095 ? 1 : generation + 1;
}

}  // namespace ashlar
