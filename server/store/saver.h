#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "server/store/world_store.h"

namespace ashlar {
class VoxelVolume;
class World;
}  // namespace ashlar

namespace ashlar::server {

/// What operators see of saving.
struct SaverStatus {
  std::uint64_t saved_tick = 0;     ///< everything up to it is on the disk; counted over all runs
  std::uint32_t dirty_chunks = 0;   ///< changed and not on the disk
  std::uint32_t dirty_waiting = 0;  ///< of those: beyond what may wait as copies
  std::uint64_t groups = 0;
  std::uint32_t last_group_chunks = 0;
  double last_group_ms = 0;          ///< from its hand-over until it was on the disk
  std::uint64_t edits_unlogged = 0;  ///< too many at once for the log, or it is damaged
  std::string log_failure;           ///< one line where the log is in trouble: all else is saved
  bool log_off = false;              ///< it is damaged; else it is tried again with each group
  double last_age_ms = 0;            ///< from its first change until it was on the disk
  bool all_saved = false;            ///< all that was noted is on the disk, whatever it is of
  double writing_ms = 0;             ///< since the group that is written now was handed over; 0: none is
  std::string failure;               ///< one line while the last group cannot be written; empty: all is well
};

/// What a tick asks of saving.
struct Durable {
  std::uint32_t tick = 0;  ///< everything up to it is on the disk; counted from this run's start
  bool room = true;        ///< further changes may wait: of nothing three quarters of what may do so
  std::int64_t operator_blocks = 0;  ///< so many more of what operators change are logged with this group
};

/// What a tick changed.
struct TickChanges {
  std::span<const ChunkCoord> chunks;  ///< each once
  std::span<const StoredPlayer> players = {};
  const ItemTable* items = nullptr;  ///< that lie in the world, where they are others than before; else null
  std::span<const DataEdit> contents = {};   ///< what blocks hold by now
  std::span<const EditAuthor> authors = {};  ///< of the edits
  std::span<const LoggedEdit> edits = {};    ///< for the log
  const KeptState* state = nullptr;          ///< what else the world is at; null: not asked for
};

/// Who changed blocks in a world, as EntityId of this. No player has it.
inline constexpr EntityId operator_entity{0xFFFF'FFFF};

/// What a world does not know of its edits.
struct LogAs {
  std::int64_t unix_s = 0;  ///< the time of day
  /// Fills in who a player is; leaves alone who is none.
  std::function<void(EntityId, EditAuthor&)> author_of;
};

/// How a Saver works.
struct SaverOptions {
  /// Groups are no closer together, unless a quarter of what one may hold has come.
  std::chrono::microseconds every{500'000};
  std::chrono::microseconds state_every{
      2'000'000};                            ///< doors and monsters that move make a group by themselves
  std::chrono::milliseconds retry{1000};     ///< after one that could not be written
  std::chrono::milliseconds patience{1000};  ///< of the end: see WorldSaver::finish()
  std::uint32_t chunks_max = 4096;           ///< of a group; as many may wait behind it
  std::uint32_t contents_max = 16'384;       ///< blocks whose contents changed, likewise
  std::uint32_t players_max = 8192;          ///< players who changed, likewise
  EditLogLimits log = {};
  /// Of a group that are logged; of further ones the log has nothing. Operators, who change most at once,
  /// fill a quarter of it: what they do beyond that waits for the next group, which goes as soon as the
  /// writer is free.
  std::uint32_t edits_max = 65'536;
  /// Else groups are written by WorldSaver::work(), where time is simulated.
  bool own_thread = true;
};

/// Brings a world's changes to its store, beside the tick: the tick copies the chunks that it changed, a
/// thread of its own codes and writes them, a group at a time, all of it or nothing.
///
/// A group is the world as of one tick: whatever happened up to it is in this group or one before. While a
/// group cannot be written (a full disk) it is tried again, up to chunks_max changed chunks wait behind it.
/// From three quarters of them on, or of what else may wait (contents of blocks, players, edits for the log),
/// durable() asks for no more changes; of what comes nevertheless (an
/// operator's, what falls) only the coordinates are kept beyond the bound. They are copied once the disk
/// takes groups again, into one larger than chunks_max, which their ground must be loaded for, as edited
/// ground is: what is of one act (chunks, inventories, drops) is never in two groups.
class WorldSaver {
 public:
  /// @param first_tick  of the world's first step in this run, counted over all runs
  WorldSaver(std::shared_ptr<WorldStore> store, std::uint64_t first_tick, const SaverOptions& options = {});
  ~WorldSaver();  ///< what was not handed over is lost: finish() comes before. Waits as that does
  WorldSaver(const WorldSaver&) = delete;
  WorldSaver& operator=(const WorldSaver&) = delete;

  /// Notes what a step changed; call after each. Some microseconds a chunk; waits for nothing, allocates
  /// nothing once rows have their size (dirty_chunks.h) and nothing is beyond the bound.
  /// @param players  whose inventory it changed: written together with the chunks of the same acts
  /// @param log_as  for the log of edits
  void note(std::chrono::microseconds now, const World& world, std::span<const StoredPlayer> players,
            const LogAs& log_as);
  /// The same in parts. @param tick  counted from this run's start
  void note(std::chrono::microseconds now, std::uint32_t tick, const VoxelVolume& volume,
            const TickChanges& changes);

  /// Writes all that is left and the tick, for at most `grace` and the options' patience for a last try. Then
  /// status() is the last word: all_saved tells whether it was. note() does nothing any more. A disk
  /// that does not answer by then keeps the writer's thread, for which nobody waits.
  /// @param meanwhile  is called once where it takes longer than that patience
  void finish(std::chrono::milliseconds grace, const VoxelVolume& volume,
              const std::function<void()>& meanwhile = nullptr);

  /// What was noted so far is written as soon as the writer is free, however long ago the last group was.
  /// @return the tick that durable() tells once all of it is on the disk
  std::uint32_t hurry();

  /// Without a thread of its own: is a group waiting to be written?
  bool has_work() const;
  /// Likewise: writes that group, or tries it once more. @return whether it is on the disk
  bool work();

  /// The thread of note(), like finish().
  SaverStatus status() const;
  /// Likewise; three numbers, for every turn of the loop.
  Durable durable() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // the writer's, too, which may outlive this
};

}  // namespace ashlar::server
