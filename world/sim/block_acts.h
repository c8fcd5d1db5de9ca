#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "world/math/hash.h"
#include "world/sim/block_act.h"
#include "world/sim/body_grid.h"
#include "world/sim/dropped_items.h"
#include "world/sim/ground_edits.h"
#include "world/sim/rules.h"
#include "world/sim/tables.h"

namespace ashlar {

/// What judging the acts of one tick reads and writes.
struct BlockActsTick {
  Space space;  ///< over `volume`
  VoxelVolume& volume;
  GroundEdits& edits;
  const Rules& rules;
  PlayerTable& players;
  const MonsterTable& monsters;
  /// Null: nothing drops and no chest opens, as where somebody else has the word on that.
  DroppedItems* items = nullptr;
  EditRule* rule = nullptr;  ///< null: everybody may, as where somebody else has the word on that
};

/// Totals since the world began. Not part of its hash.
struct BlockActsCounters {
  std::uint64_t dug = 0;
  std::uint64_t placed = 0;
  std::uint64_t refused = 0;  ///< acts with any other end, digging that was left off included
  std::uint64_t unheard = 0;  ///< beyond acts_per_tick_max of their player: no verdict
};

/// Players dig and place: judges their acts, carries on what they dig, and says what became of each. The
/// hardness of the block a player digs and how far it got is in the player table (`digging`).
/// Nothing allocates after construction but what GroundEdits::set() does. Part of the world's state and hash.
class BlockActs {
 public:
  BlockActs() = default;
  BlockActs(std::size_t players_max, std::size_t monsters_max);

  /// Of one player in one tick; further ones are not heard.
  static constexpr std::uint8_t acts_per_tick_max = 4;
  /// So far beside the block the view may pass while it is dug.
  static constexpr double look_slack_m = 0.5;

  /// A player's row has a new owner.
  void player_joined(std::size_t row);

  /// A tick without acts: the last one's verdicts are over.
  void rest() { verdicts_.clear(); }

  /// Judges the tick's acts in their order, then carries on everybody's digging in the order of rows. Acts of
  /// ids that are not in the world are ignored. Cost: some comparisons and 1 to 6 rays for each act, a ray
  /// for each player who digs.
  void judge(BlockActsTick& tick, std::span<const BlockAct> acts);

  /// The chest that a player looks into.
  struct Opened {
    IVec3 block{};
    BlockId id{};  ///< what it was: once another block stands there it is over
    bool active = false;
  };
  /// What is kept of a player from tick to tick, beside PlayerTable::digging: for who goes back to an earlier
  /// one.
  struct PlayerState {
    std::uint16_t wait_ticks = 0;   ///< until the next act may change something
    std::uint32_t last_number = 0;  ///< of its acts
    Opened opened;
  };
  PlayerState player(std::size_t row) const { return {wait_ticks_[row], last_number_[row], opened_[row]}; }
  void restore_player(std::size_t row, const PlayerState& state);

  /// The chest that the player of a row looks into.
  std::optional<IVec3> opened(std::size_t row) const;

  std::span<const BlockVerdict> verdicts() const { return verdicts_; }  ///< of the last tick
  const BlockActsCounters& counters() const { return counters_; }
  /// Adds nothing of players who neither dig nor ever acted: worlds without acts hash as if there were none.
  void add_to_hash(StripeHasher& hash, const PlayerTable& players) const;

 private:
  /// Until the next change, at least one tick: a player changes one block a tick at most.
  static std::uint16_t wait_after_change(const Rules& rules);

  struct Judged {
    ActVerdict verdict{};
    IVec3 block{};
  };
  Judged judge_one(BlockActsTick& tick, std::size_t row, const BlockAct& act);
  ActVerdict judge_dig(BlockActsTick& tick, std::size_t row, const BlockAct& act);
  ActVerdict judge_place(BlockActsTick& tick, std::size_t row, const BlockAct& act, IVec3 target);
  ActVerdict dig_on(BlockActsTick& tick, std::size_t row);
  ActVerdict finish_dig(BlockActsTick& tick, std::size_t row, IVec3 block);
  ActVerdict judge_drop(BlockActsTick& tick, std::size_t row, const BlockAct& act);
  // block_data_acts.cpp: chests and signs
  ActVerdict judge_data(BlockActsTick& tick, std::size_t row, const BlockAct& act);
  ActVerdict judge_open(BlockActsTick& tick, std::size_t row, const BlockAct& act);
  ActVerdict judge_move(BlockActsTick& tick, std::size_t row, const BlockAct& act);
  ActVerdict judge_write(BlockActsTick& tick, std::size_t row, const BlockAct& act);
  ActVerdict reaches(const BlockActsTick& tick, std::size_t row, IVec3 block) const;
  ActVerdict sees(const BlockActsTick& tick, std::size_t row, const BlockAct& act) const;
  void close_chests(const BlockActsTick& tick);
  bool body_in(const BlockActsTick& tick, IVec3 block);
  bool allowed(const BlockActsTick& tick, std::size_t row, IVec3 block, BlockId to) const;
  void end_digging(PlayerTable& players, std::size_t row, ActVerdict verdict);
  void answer(EntityId player, std::uint32_t number, ActVerdict verdict, IVec3 block);

  std::vector<std::uint16_t> wait_ticks_;   // by player row, until the next act may change something
  std::vector<std::uint32_t> last_number_;  // by player row
  std::vector<Opened> opened_;              // by player row
  std::vector<std::uint8_t> heard_;         // scratch, by player row: acts of this tick
  std::vector<BlockVerdict> verdicts_;
  BodyGrid bodies_;            // scratch
  bool bodies_known_ = false;  // bodies_ are those of this tick
  BlockActsCounters counters_;
};

}  // namespace ashlar
