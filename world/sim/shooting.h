#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "world/math/hash.h"
#include "world/sim/history.h"
#include "world/sim/rules.h"
#include "world/sim/shot.h"
#include "world/sim/tables.h"

namespace ashlar {

/// A shot of the last tick and what it ended at: for effects, for damage, for lines that are shot at.
struct ShotEvent {
  EntityId shooter{};
  DVec3 origin;     ///< the shooter's eye
  DVec3 direction;  ///< unit
  double range_m = 0;
  TickId seen{
      0};  ///< the tick at whose end bodies and sectors were taken to be; the newest where it saw that
  ShotHit hit;
  std::uint8_t weapon = weapon::pistol;  ///< index into KindSet::weapons
  std::uint8_t ray = 0;                  ///< of this shot, from 0
  std::uint8_t times = 1;                ///< what its hit takes, by the shooter's strength
  bool goes_on = false;                  ///< a beam's, through whom it hit: the next event is the same ray's

  /// How far the shot went: to what it hit, else its whole range.
  double reach_m() const { return hit.hit() ? hit.t_m : range_m; }
  DVec3 end() const { return origin + direction * reach_m(); }
};

/// Something that a player launched in the last tick.
struct LaunchEvent {
  EntityId shooter{};
  DVec3 origin;     ///< the shooter's eye
  DVec3 direction;  ///< unit
  std::uint8_t weapon = 0;
  std::uint8_t projectile = 0;   ///< its kind
  double strength = 1;           ///< of its kind's speed
  std::uint16_t life_ticks = 0;  ///< until it bursts; 0: as its kind has it
};

/// What a tick's shots are judged by.
struct ShotsTick {
  const Space& space;
  VoxelVolume& blocks;  ///< those of `space`: other ones while a shot is judged, the same ones afterwards
  const Rules& rules;
  PlayerTable& players;
  const MonsterTable& monsters;
  const History& history;
  TickId now;  ///< the tick that the present state is the end of
  std::span<const ToldApart> told_apart = {};
};

/// Players fight with what they hold: button::attack, held down, fires at the weapon's rate (arsenal.h).
/// Each ray goes from the eye, straight or aside by a chance that follows from tick and view, so that its
/// player foresees it, and is resolved against voxel, map, prop and mover alike: bodies,
/// sectors and blocks as they were at the tick that the command says its player saw (PlayerCommand::seen), at
/// most rewind_s_max ago, bodies between the two states that the picture was made of (told_apart has those of
/// whom it was made otherwise), but for the blocks that
/// the player changed since, which it foresaw. Those in no-clip shoot and are not hit, the dead do neither.
/// Nothing allocates after construction. Part of the world's state and hash.
class Shooting {
 public:
  Shooting() = default;
  /// @param free_ammo  nobody runs out of ammunition
  Shooting(std::size_t players_max, std::size_t monsters_max, std::size_t maps = 0, bool free_ammo = false);

  /// A tick without shots: the last one's events are over.
  void rest() { events_.clear(), launches_.clear(), listed_.reset(); }

  /// Advances all arsenals and resolves the tick's shots, in the order of rows. Cost: a ray and 5
  /// ns a mover for each ray, and 5 ns a mover more for each other tick that shooters saw, and for each
  /// shooter of whom something is told apart.
  void shoot(const ShotsTick& tick);

  std::span<const ShotEvent> events() const { return events_; }  ///< of the last shoot(), a ray each
  std::span<const LaunchEvent> launches() const { return launches_; }
  std::uint64_t shots() const { return shots_; }          ///< since the start, whatever was launched included
  std::uint64_t rays_lost() const { return rays_lost_; }  ///< beyond what a tick has room for
  void add_to_hash(StripeHasher& hash) const;

 private:
  struct Listed {
    PictureAt picture;
    EntityId shooter{};  // whose picture it is alone; 0: of all who saw that
    friend bool operator==(const Listed&, const Listed&) = default;
  };
  void list_targets(const ShotsTick& tick, EntityId shooter, const PictureAt& picture);
  void put_before_walls(const ShotsTick& tick, const Space& space, TickId seen, DVec3 eye, DVec3 way);
  Space space_then(const Space& space, const History::Frame* then);
  void fire(const ShotsTick& tick, std::size_t row, const Trigger& trigger);
  void pierce(const Space& space, ShotEvent event);

  bool free_ammo_ = false;
  bool pierced_ = false;             // targets_ lacks whom a beam has met
  std::optional<Listed> listed_;     // what targets_ are as of; none: they are not
  std::vector<ShotTarget> targets_;  // scratch: as of one tick
  std::vector<ToldStates> told_;     // by targets_: between which they are
  std::vector<MapInSpace> maps_;     // scratch: likewise
  std::vector<ShotEvent> events_;
  std::vector<LaunchEvent> launches_;
  std::uint64_t shots_ = 0, rays_lost_ = 0;
};

}  // namespace ashlar
