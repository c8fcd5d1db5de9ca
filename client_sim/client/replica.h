#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "client_sim/client/replica_ground.h"
#include "world/bsp/heights.h"
#include "world/collide/space.h"
#include "world/sim/block_acts.h"
#include "world/sim/crowd.h"
#include "world/sim/ground_edits.h"
#include "world/sim/mechanics.h"
#include "world/sim/player_motion.h"
#include "world/sim/shooting.h"
#include "world/sim/tables.h"
#include "world/sim/world.h"

namespace ashlar::client_sim {

class EditedGround;
class SectorForecast;
struct ReplicaState;

/// Are sectors in a state as foreseen from what the server told?
bool same_sectors(const ReplicaState& state, const SectorForecast& sectors);

/// Somebody else who may be in the own player's way, where it is thought to be at a tick.
struct Bystander {
  EntityId id{};
  Cylinder shape;
  DVec3 position_m;
};

/// What of a replica changes from tick to tick, but for blocks: half a kilobyte in one piece, and what
/// sectors have. Saving into one of the same replica allocates nothing, and where sectors are as they were
/// when that was last saved into they are not copied.
struct ReplicaState {
  std::uint32_t tick = 0;
  Turn16 delta_yaw{0};
  PlayerMechanics pressed;
  BlockActs::PlayerState acts;
  PlayerRow player;
  /// Of `heights` and `mechanics`: those of one replica with the same number are the same, bit for bit.
  /// 0: nothing was saved yet.
  std::uint64_t sectors = 0;
  std::vector<std::vector<SectorHeights>> heights;
  MechanicsState mechanics;
};

/// The sectors of a replica between the tick before its newest and that, as a picture shows them. Valid as
/// long as both are.
struct ShownSectors {
  const ReplicaState* before = nullptr;  ///< null: it is not held, and they are shown as of the newest tick
  double share = 1;                      ///< of the way from the one to the other

  /// Where a sector's floor and ceiling are shown that the newest tick has there.
  SectorHeights at(std::size_t map, std::uint32_t sector, const SectorHeights& newest) const {
    if (before == nullptr) return newest;
    const SectorHeights& from = before->heights[map][sector];
    SectorHeights out = newest;
    out.floor_m = from.floor_m + (newest.floor_m - from.floor_m) * share;
    out.ceiling_m = from.ceiling_m + (newest.ceiling_m - from.ceiling_m) * share;
    return out;
  }
};

/// The server's world as far as one player moves it and is moved by it: the same ground, maps, props and
/// moving sectors, stepped by the same code in the same order (step_players), with nobody else in it but
/// those whom it is told to bump into. So where nobody else has a part in it, a tick here comes out as the
/// server's to the last bit.
///
/// Who hurts the player, where a dead one appears, and what others do is the server's word alone.
/// One thread. A tick costs 1 to 3 us; nothing in it allocates but the changes of blocks.
class Replica {
 public:
  /// @param setup  the server's: seed, terrain, rules, maps and props
  /// @param columns  as ReplicaGround's: of ground that is sent
  /// @param motion  what its game adds to how players move; null: nothing
  explicit Replica(const WorldSetup& setup, std::optional<ColumnSpan> columns = {},
                   std::shared_ptr<const PlayerMotion> motion = nullptr);

  /// What it was made of: rules, maps, props, terrain.
  const WorldSetup& setup() const { return setup_; }
  ReplicaGround& ground() { return ground_; }
  /// The tick whose end it stands at.
  std::uint32_t tick() const { return tick_; }
  /// Of its only player. Valid until the next call that changes it.
  const Body& body() const { return player_.body[0]; }
  bool alive() const { return player_.health[0] != 0; }
  /// How far spawns and teleporters have turned the view.
  Turn16 delta_yaw() const { return delta_yaw_; }
  Space space() const { return {&ground_.volume(), placed_, props_}; }
  /// Never 0; as long as it stays nothing of space() changes.
  std::uint64_t walls_version() const {
    return (ground_.volume().hash() ^ sectors_ * 0x9e3779b97f4a7c15u) | 1;
  }
  HeightsView heights(std::size_t map) const { return heights_[map]; }
  bool sectors_move() const { return mechanics_.in_motion(); }
  const MapPlan& plan(std::size_t map) const { return *mechanics_.maps()[map].plan; }
  const MoveReport& report() const { return player_.report[0]; }  ///< of the last tick's move
  /// The last tick's shots: as foreseen, they meet the world and nobody in it. None behind restore().
  std::span<const ShotEvent> shots() const { return shooting_.events(); }
  /// What it launched in the last tick, likewise: where it flies to is the server's word.
  std::span<const LaunchEvent> launches() const { return shooting_.launches(); }
  /// Weapons, ammunition and powers of the player, and what its hands are at.
  const Arsenal& arsenal() const { return player_.arsenal[0]; }
  const KindSet& kinds() const { return nobody_.kind_set(); }
  /// What became of the last tick's acts, as foreseen. None behind restore().
  std::span<const BlockVerdict> verdicts() const { return acts_.verdicts(); }

  /// The next tick.
  /// @param command  as it travels: its yaw without delta_yaw()
  /// @param acts  what the player does to blocks with it
  /// @param bystanders  bodies near the player, which push it as the server's crowd does; at most
  ///   bystanders_max of them count
  void step(const PlayerCommand& command, std::span<const BlockAct> acts,
            std::span<const Bystander> bystanders = {});
  static constexpr std::size_t bystanders_max = 16;

  /// All that a step changes, to go back to. Keeps the room that `out` has.
  void save(ReplicaState& out) const;
  /// Back to an earlier state, blocks that own acts have changed since included.
  void restore(const ReplicaState& state);

  /// The player is as the server says, at a tick; nothing else of it changes.
  void put_player(std::uint32_t tick, const Body& body, bool alive, Turn16 delta_yaw);
  /// What the player holds, as the server last said. What acts on their way take of it is not known there.
  void put_inventory(const Inventory& inventory);
  /// The player carried this some ticks ago, and its commands since were those, the last one tick()'s.
  /// @return false: it carries what comes of that already
  bool put_arsenal(const Arsenal& told, std::span<const PlayerCommand> since);
  /// Sectors are as foreseen from what the server told. @return false: they are already
  bool put_sectors(const SectorForecast& sectors);
  /// The server told of a block. @return was it another one until now?
  bool put_block(IVec3 block, BlockId id);
  /// Own changes of blocks up to a tick that the server never told of are taken back. @return were there any?
  bool take_back_until(std::uint32_t tick, const EditedGround& told);
  /// What an own act changed is taken back: the server refused it. @return did it change anything?
  bool take_back(std::uint32_t act, const EditedGround& told);
  bool changed_blocks() const { return !own_edits_.empty(); }
  /// Is there an own change of blocks up to a tick that the server did not make, as far as it told of that?
  bool changed_otherwise(std::uint32_t tick, const EditedGround& told) const;
  /// Are sectors in a saved state of this replica as foreseen from what the server told? Looked up at most
  /// once for what both are.
  bool alike(const ReplicaState& state, const SectorForecast& sectors);

 private:
  struct Rest;
  struct OwnEdit {
    std::uint32_t tick = 0;
    std::uint32_t act = 0;  // its number
    AppliedEdit edit;
  };
  bool undo(AppliedEdit edit, const EditedGround& told);

  WorldSetup setup_;
  std::shared_ptr<const PlayerMotion> motion_;
  ReplicaGround ground_;
  std::vector<std::vector<SectorHeights>> heights_;  // one list a map
  std::vector<MapInSpace> placed_;
  std::vector<const Prop*> props_;
  Mechanics mechanics_;
  Shooting shooting_;
  GroundEdits edits_;
  BlockActs acts_;
  PlayerTable player_;
  MonsterTable nobody_;
  History no_history_;  // a shot here meets sectors as they will be
  std::uint32_t tick_ = 0;
  Turn16 delta_yaw_{0};
  std::uint64_t sectors_ = 1, sectors_newest_ = 1;  // as ReplicaState::sectors; each change takes a new one
  // Sectors of this number were found to be as a forecast has them after so many changes.
  std::uint64_t alike_ = 0, alike_changes_ = 0;
  std::vector<OwnEdit> own_edits_;  // that the server has not told of, by tick
  std::vector<BlockAct> judged_;    // scratch
  Crowd crowd_;                     // scratch
  ReplicaState scratch_;
};

}  // namespace ashlar::client_sim
