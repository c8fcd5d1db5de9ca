#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/host/chunk_loader.h"
#include "server/host/defects.h"
#include "server/host/lingering.h"
#include "server/host/seldom_told.h"
#include "server/host/session_table.h"
#include "world/sim/ground_edits.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// Collects what enters the next tick: leaves and admin commands as they come, and when the tick is due the
/// joins, everybody's command and the ground. The Host's thread; no allocation once its lists have their
/// size.
class TickInputCollector {
 public:
  TickInputCollector(std::uint32_t sessions_max, const Defects& defects);

  /// Another world: what was collected is void.
  void begin_world() {
    joins_.clear(), watchers_.clear(), names_.clear(), leaves_.clear(), commands_.clear(), admin_.clear();
    calls_.clear(), away_.clear(), admin_due_.clear(), admin_later_.clear();
  }

  /// Enters the next tick.
  void leave(EntityId player) { leaves_.push_back(player); }
  /// Likewise, where the game is told of it.
  void note_away(const World& world, const AwayChange& change);
  /// In the order in which they came, as many as change admin_blocks_per_tick blocks, and one where so many
  /// are allowed: the others wait for the ticks after it, and with them all later ones that change blocks or
  /// what those hold. What changes neither (a gift, a way to somewhere) waits for nothing.
  void admin(const AdminCommand& command) { admin_.push_back(command); }
  static constexpr std::int64_t admin_blocks_per_tick = GroundEdits::batch_blocks_max;
  /// So many blocks may commands change in the next tick, where what logs them takes fewer than usual. Before
  /// collect().
  void allow_admin_blocks(std::int64_t blocks) { admin_blocks_ = blocks; }
  /// Has it room for one more call of calls_per_tick_max? What has none waits where it is.
  static constexpr std::size_t calls_per_tick_max = 1024;
  bool room_for_call() const { return calls_.size() < calls_per_tick_max; }
  void call(const GameCall& call) { calls_.push_back(call); }

  /// Fills the input of the tick after the world's present one: each player's command for it, turned by the
  /// session's delta_yaw; rows of sessions that are joining, as tokens; bodies that lingered long enough;
  /// what the loader gives and takes. Ground that is missing is appended to `ground_requests`.
  /// @param told  what was published last, for whom pictures show otherwise; null: nothing was
  void collect(const World& world, SessionTable& sessions, LingeringBodies& lingering, ChunkLoader& ground,
               std::vector<IVec2>& ground_requests, const BlockFrames* told = nullptr);
  /// What was collected, to be stepped once. Views that last until the next call of anything else.
  TickInput input();
  /// After the step: begins anew, and takes over what the world turned: where it turned a player by itself,
  /// its session's delta_yaw makes up for it, so that the player's own turning stays what it is.
  void stepped(const World& world, SessionTable& sessions);

  /// For the audit.
  std::size_t leaves_waiting() const { return leaves_.size(); }
  std::size_t admin_waiting() const { return admin_.size(); }
  /// Does any admin command wait that changes blocks or what they hold?
  bool ground_waits() const { return std::ranges::any_of(admin_, changes_ground); }

 private:
  void find_admin_due();

  std::vector<std::uint32_t> joins_, watchers_;
  std::vector<JoinName> names_;
  std::vector<AwayChange> away_;
  std::vector<EntityId> leaves_;
  std::vector<PlayerInput> commands_;
  SeldomTold seldom_told_;
  std::vector<ToldApart> told_apart_;
  static bool changes_ground(const AdminCommand& command) {
    return command.action == AdminAction::fill_box || command.action == AdminAction::blast ||
           command.action == AdminAction::fill_block;
  }

  std::vector<AdminCommand> admin_;
  std::vector<AdminCommand> admin_due_, admin_later_;  // of those: for the next tick, and for others
  std::int64_t admin_blocks_ = admin_blocks_per_tick;
  std::vector<GameCall> calls_;
  std::vector<ReadyChunk> chunks_ready_;
  std::vector<ChunkCoord> chunks_dropped_;
  [[no_unique_address]] Defects defects_;
};

}  // namespace ashlar::server
