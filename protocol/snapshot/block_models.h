#pragma once
#include <array>

#include "protocol/range_coder.h"
#include "world/sim/replication.h"

// The odds with which a block's decisions begin. They learn within the block and begin anew with the next
// one, as each is read alone. WIRE.md lists them.

namespace ashlar {

/// How somebody of the base moved there.
enum class Gait : std::uint8_t { rests, walks, flies };
inline constexpr std::size_t gait_count = 3;

/// A number that is most often 0 or 1 off.
struct FineOdds {
  Odds other, more;
  OddsTree rest;
};

/// In the order in which WIRE.md numbers them.
struct BlockModels {
  Odds whole, quiet, others, gone, fresh;
  std::array<Odds, gait_count> changed;  ///< by gait
  Odds falls;
  std::array<Odds, gait_count> speeds;  ///< another velocity than foretold, by gait
  Odds stops;
  OddsTree speed;
  std::array<Odds, 2> climbs;  ///< by: flies
  std::array<OddsTree, 2> climb;
  std::array<FineOdds, 3> place;           ///< x, y, and the lesser axis behind a change of velocity
  std::array<OddsTree, 5> spread;          ///< the greater one, by how much the velocity may make of it
  std::array<Odds, 2 * gait_count> lifts;  ///< by gait, and whether the velocity changed
  std::array<OddsTree, 2> lift;            ///< by whether the velocity changed
  std::array<Odds, gait_count> turns;
  Odds veers;
  std::array<Odds, 2> nods;  ///< by whether the yaw changed
  OddsTree turn, nod;
  std::array<Odds, 2> lesser;  ///< by whether the velocity changed
  Odds health, state;
  std::array<Odds, 2> flags;  ///< by whether it left or reached the ground
  Odds kind;
  OddsTree hurt, mood, flag;
  Odds odd_mood, odd_flag;
  // Of who is told whole:
  OddsTree slot, generation, level;
  Odds still, same_kind, usual_flags, level_pitch, full_health, no_state;
  // Of added fields:
  Odds field_changed;
  std::array<Odds, own_fields_max> field_other;
  std::array<OddsTree, own_fields_max> field;
};

inline constexpr std::size_t block_model_count = sizeof(BlockModels) / sizeof(Odds);

extern const BlockModels block_models;

}  // namespace ashlar
