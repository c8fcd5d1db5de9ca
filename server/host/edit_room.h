#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/message_writer.h"
#include "server/host/change_log.h"
#include "server/host/reveal_room.h"
#include "server/host/session_table.h"
#include "world/sim/block_act.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Digging and building over the wire: takes acts from the edits streams and hands them to the tick of their
/// command, tells every verdict to who acted, and every changed block to all who are near.
///
/// Near are the columns of chunks within interest and one more, around the column where the player was when
/// it last left the one before by more than a chunk. Whoever comes near to a column is told all its changes,
/// the nearest columns first; who is near gets those of each tick, a chunk's coded once for everybody. What a
/// full stream does not take makes its column one to be told of anew, so nothing is lost and nothing piles
/// up. The Host's thread.
class EditRoom {
 public:
  /// Both must outlive this.
  /// @param ores_seen_m  of RevealRoom
  EditRoom(SessionTable& sessions, HostStatus& status, double interest_radius_m, double ores_seen_m);

  /// Before a step: takes what sessions say, as much as each has tokens for (the rest waits, in the end with
  /// its client), and picks what enters the next tick.
  void collect(Micros now, const World& world);
  /// What collect() picked, at most BlockActs::acts_per_tick_max a player.
  std::span<const BlockAct> due() const { return due_; }
  /// Blocks of ground that came that are not as they were generated: told with the next tick's changes.
  void learn(std::span<const AppliedEdit> changes) {
    learnt_.insert(learnt_.end(), changes.begin(), changes.end());
  }
  /// What a store says, before a tick: all up to `tick` of this world is saved, and whether more changes may
  /// wait than do. While they may not, acts that would change something are refused (not_saved).
  void note_saving(std::uint32_t tick, bool room) {
    saved_tick_ = tick;
    room_to_save_ = room;
  }
  /// Another world: nothing changed in it yet, and nobody was told of it.
  void begin_world();
  /// After the step: tells changes and verdicts, and what is saved.
  void publish(const World& world);

  /// All that ever changed, by column.
  const ChangeLog& log() const { return log_; }

 private:
  void listen(Micros now, Session& session);
  void pick(Session& session, const World& world);
  void follow(const World& world, Session& session);
  void tell_fresh(std::uint32_t tick);
  void keep_answers(const World& world);
  void tell_answers(Session& session, std::uint32_t tick);
  void tell_columns(Session& session, std::uint32_t tick);
  void tell_saved(Session& session, std::uint32_t tick);
  bool tell_column(Session& session, IVec2 column, std::uint32_t tick, std::size_t& bytes_left);
  void begin_again(EditDesk& desk) const;
  EditDesk::Told* told_of(EditDesk& desk, IVec2 column) const;

  SessionTable* sessions_;
  HostStatus* status_;
  std::int32_t reach_;
  std::vector<IVec2> nearest_first_;  // offsets of the square's columns
  ChangeLog log_;
  RevealRoom reveal_;
  std::vector<AppliedEdit> learnt_;  // what learn() was told since the last publish()
  MessageWriter writer_;
  std::vector<std::uint8_t> message_;
  std::vector<BlockAct> due_;
  std::vector<std::uint32_t> row_of_slot_;  // session row + 1 of each player's slot
  ActAnswers answers_;
  std::uint32_t saved_tick_ = 0;
  bool room_to_save_ = true;
};

}  // namespace ashlar::server
