#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "world/math/shapes.h"

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

/// What a kind is like. Sizes and speeds are those of Doom's monsters at 32 units a metre and 35 tics a
/// second (mobj info of the published Doom source: radius, height, speed over the tics of a chase state,
/// spawn health).
struct MonsterTraits {
  std::string_view name;
  Cylinder shape;
  double speed_mps;
  double step_height_m_max;  ///< long-legged kinds clear a block, the others Doom's 24 units
  double sight_m_max;        ///< sees players up to here, all around once awake
  std::uint8_t flies;        ///< 0 or 1: keeps its own height, neither steps nor falls
  /// 0 or 1: under Solver::correct, do its radius and height count against walls, or only the middle of its
  /// base? Against other movers they always do, and under Solver::sweep against walls as well.
  std::uint8_t body_meets_walls;
  HitBuild build;
  std::uint16_t health;  ///< points, Doom's
};

/// Indexed by MonsterKind.
const MonsterTraits& traits(MonsterKind kind);

/// What a snapshot says an entity is: players are 0, monsters 16 + MonsterKind.
enum class EntityKind : std::uint8_t { player = 0 };
constexpr EntityKind entity_kind(MonsterKind kind) {
  return static_cast<EntityKind>(16 + static_cast<unsigned>(kind));
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
