#pragma once
#include <array>
#include <span>

#include "protocol/range_coder.h"
#include "protocol/snapshot/moving_record.h"
#include "world/sim/replication.h"

// The odds with which a block's decisions begin. They learn within the block and begin anew with the next
// one, as each is read alone; which ones a block begins with follows from how those of its base move. WIRE.md
// lists them.

namespace ashlar {

/// How somebody of the base moved there: `follows` is on a course off where it looks (heading.h).
enum class Gait : std::uint8_t { rests, walks, flies, follows };
inline constexpr std::size_t gait_count = 4;

/// A number that is most often 0 or 1 off.
template <class Other = Odds, class More = Odds>
struct FineOdds {
  Other other;
  More more;
  Odds negative;
  OddsTree rest;
};

/// In the order in which WIRE.md numbers them.
struct BlockModels {
  Odds whole, quiet;
  QuickOdds others;
  Odds gone, fresh, usual_pace;
  QuickOdds usual_pull;
  std::array<QuickOdds, gait_count> changed;  ///< by gait
  FineOdds<QuickOdds> turn;
  Odds veers;
  std::array<Odds, 2 * gait_count> speeds;  ///< another velocity than foretold, by gait and whether it turned
  Odds stops, course;
  QuickOdds at_pace;
  std::array<std::array<Odds, 8>, 2> heading;  ///< by whether it was on a course
  OddsTree speed;
  std::array<Odds, gait_count> climbs;  ///< another one up and down, by gait
  QuickOdds lands;
  Odds jumps;
  QuickTree jumped;
  FineOdds<QuickOdds, QuickOdds> jump;
  std::array<OddsTree, 2> climb;                    ///< by: flies
  std::array<FineOdds<Odds, QuickOdds>, 12> place;  ///< by gait and how far it turned
  QuickOdds eases;
  std::array<OddsTree, 2> moment;      ///< by whether it went from one course to another
  std::array<FineOdds<>, 3> changing;  ///< place behind a change at once, of the course, in the air
  std::array<QuickOdds, 2 * gait_count + 2> lifts;  ///< by gait and another velocity; who landed, who jumped
  std::array<OddsTree, 4> lift;                     ///< by: flies; who landed, who jumped
  std::array<QuickOdds, 2> nods;                    ///< by whether the yaw changed
  OddsTree nod;
  std::array<Odds, 2> lesser;  ///< by whether the velocity changed
  Odds health;
  QuickOdds state;
  std::array<QuickOdds, 2> flags;  ///< by whether it left or reached the ground
  QuickOdds kind;
  OddsTree hurt, mood;
  QuickTree flag;
  QuickOdds odd_mood, odd_flag;
  // Of who is told whole:
  QuickTree slot;
  OddsTree generation;
  QuickTree level;
  QuickOdds still, same_kind, usual_flags;
  Odds level_pitch;
  QuickOdds full_health, no_state;
  std::array<QuickOdds, 2> falls;  ///< who flies: a monster, a projectile
  QuickOdds steady;  ///< of a projectile that does not fall, only the place is otherwise than foretold
  FineOdds<Odds, QuickOdds> drift;  ///< by how much
  // Of added fields:
  Odds field_changed;
  std::array<Odds, own_fields_max> field_other;
  std::array<OddsTree, own_fields_max> field;
};

inline constexpr std::size_t block_model_count = sizeof(BlockModels) / sizeof(Odds);

/// How those of a base move on the whole.
enum class BlockMood : std::uint8_t { rests, follows, flies, walks, leaps };
inline constexpr std::size_t block_mood_count = 5;

/// Who is in the air falls; monsters may have wings, and projectiles most often keep their way.
constexpr bool always_falls(EntityKind kind) {
  return kind == EntityKind::player || kind == EntityKind::item;
}
constexpr bool is_projectile(EntityKind kind) {
  return kind >= projectile_entity_kind(0) && kind < EntityKind::item;
}

/// How one of a base moves.
struct EntityMotion {
  Gait gait{};
  std::uint8_t course = 8;
};
EntityMotion motion_of(const MovingRecord& entity, std::int32_t pace);
/// @param motions  of all in the base; none: rests
BlockMood mood_of(std::span<const EntityMotion> motions);

/// By mood.
extern const std::array<BlockModels, block_mood_count> block_models;

}  // namespace ashlar
