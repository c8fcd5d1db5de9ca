#pragma once
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "server/host/edited_columns.h"
#include "server/host/ground_column.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// What became of columns that were asked for. Counters only grow.
struct GroundCounters {
  std::uint64_t requested = 0;
  std::uint64_t forgotten = 0;   ///< came when nobody was near any more
  std::uint64_t unexpected = 0;  ///< came without being asked for, and were dropped
  std::uint64_t closed = 0;      ///< cannot be had: their places stay rock
  std::uint32_t in_flight = 0;   ///< asked for and not there yet: now
};

/// Decides which columns of ground are there: asks for the nearest missing ones around the players, and drops
/// those that nobody has been near. The home region stays, and so does edited ground that no store has said
/// to hold: what went comes back from there. What it asks for is made elsewhere and may come late, in any
/// order or when nobody wants it any more; until then the place is solid and who stands there is frozen. What
/// it decides enters the tick as input, so a recording replays it. The Host's thread. No allocation but for
/// more players, and more columns, than there ever were.
class ChunkLoader {
 public:
  static constexpr int want_radius = 4;  ///< columns around a player that are asked for: 128 m to each side
  static constexpr int keep_radius = 6;  ///< and those that are not dropped; the gap keeps walkers on an
                                         ///< edge from making and dropping the same ground
  /// Columns that are asked for and not there yet. At the bound the others wait, the nearest of them first.
  /// More would keep more workers busy; but what was asked for is made even if its player has turned round.
  static constexpr std::size_t in_flight_max = 8;
  /// Columns that may be dropped in a tick: twice as many as may come in one, so that even who flies on and
  /// on leaves no more ground behind than is around the players.
  static constexpr std::size_t drops_max = 2 * in_flight_max;

  ChunkLoader();

  /// Takes what was made: it enters the tick that is planned next, if somebody is still near. Each column
  /// that was asked for has to come once, or nobody will ask for it again. Moved from.
  void take(std::span<GroundColumn> columns);

  /// What a step changed.
  void note_edits(std::span<const AppliedEdit> edits, std::uint32_t tick) { edited_.note(edits, tick); }
  /// A store holds every change up to this tick of the world, for make_chunk to bring it back.
  void note_saved(std::uint32_t tick) { saved_tick_ = tick; }

  /// Another world: what was asked for is forgotten, and must not be handed in any more.
  void begin_world();

  /// Fills `ready` and `dropped` for the next tick, at most drops_max columns dropped a call and most of the
  /// time one, and appends the columns that are wanted now to `requests`.
  void plan(const World& world, std::vector<ReadyChunk>& ready, std::vector<ChunkCoord>& dropped,
            std::vector<IVec2>& requests);

  /// How the columns that the last plan() put into the input differ from generated ones, but for those of
  /// which it was said before in this world: what changed there since is in no need of it. At most
  /// entering_changes_max, or one column's.
  static constexpr std::size_t entering_changes_max = 16384;
  std::span<const AppliedEdit> entering_changes() const { return entering_changes_; }

  std::size_t extra_columns() const { return extra_.size(); }  ///< loaded outside the home region
  const GroundCounters& counters() const { return counters_; }

 private:
  struct Candidate {
    int distance = 0;
    IVec2 column;
  };
  void enter(const World& world, std::vector<ReadyChunk>& ready);
  void request(const World& world, std::vector<IVec2>& requests);
  bool look_around(const World& world, IVec2 at, std::size_t room);
  void note_candidate(const Candidate& candidate, std::size_t room);
  void drop_some(const World& world, std::vector<ChunkCoord>& dropped);
  void drop_one(const World& world, std::vector<ChunkCoord>& dropped);
  bool wanted_by_anyone(const World& world, IVec2 column, int radius) const;

  std::vector<IVec2> settled_;  // per player row: the column around which everything is there
  std::vector<EntityId> settled_for_;
  std::vector<IVec2> extra_;                                      // loaded columns outside the home region
  std::vector<IVec2> in_flight_;                                  // asked for, not there yet
  std::vector<IVec2> entering_;                                   // in the input that plan() last filled
  std::vector<GroundColumn> arrived_;                             // wait for the next plan()
  std::vector<AppliedEdit> entering_changes_;                     // in its columns
  std::set<std::pair<std::int32_t, std::int32_t>> told_columns_;  // whose changes were among these once
  std::vector<IVec2> closed_;                                     // nobody asks for these again
  std::array<Candidate, in_flight_max> candidates_;  // nearest first; of a player before one of the next
  std::size_t candidate_count_ = 0;
  EditedColumns edited_;
  std::uint32_t saved_tick_ = 0;
  std::size_t next_check_ = 0;
  // Another one each time: where two are as near, it is not always the same who waits.
  std::size_t first_row_ = 0;
  GroundCounters counters_;
};

}  // namespace ashlar::server
