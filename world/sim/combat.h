#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "world/collide/space.h"
#include "world/math/hash.h"
#include "world/sim/bodies.h"
#include "world/sim/combat_event.h"
#include "world/sim/cue.h"
#include "world/sim/projectiles.h"
#include "world/sim/rules.h"
#include "world/sim/shooting.h"
#include "world/sim/tables.h"
#include "world/sim/target_grid.h"

namespace ashlar {

/// A monster that another one puts into the world.
struct Summons {
  MonsterKind kind{};
  DVec3 position_m;
  Turn16 yaw{0};
  EntityId target{};
};

/// Totals since the world began. Not part of its hash.
struct CombatCounters {
  std::uint64_t hits = 0;
  std::uint64_t player_deaths = 0;
  std::uint64_t monster_deaths = 0;
  std::uint64_t attacks = 0;      ///< of monsters, each time of a burst
  std::uint64_t launched = 0;     ///< projectiles
  std::uint64_t no_room = 0;      ///< projectiles for which the table had no row
  std::uint64_t events_lost = 0;  ///< beyond Combat::events_max in their tick
};

/// Says how hard a hit is, before armour: the game (game.h).
class DamageRule {
 public:
  virtual std::uint16_t points(EntityId who, EntityId by, std::uint16_t asked) = 0;

 protected:
  ~DamageRule() = default;
};

/// What fighting of one tick reads and writes.
struct CombatTick {
  Space space;
  const Rules& rules;
  PlayerTable& players;
  MonsterTable& monsters;
  DamageRule* rule = nullptr;  ///< null: players are safe from each other as the rule set says
};

/// Where something burst that a player launched, for who clears the blocks around it.
struct PlayerBurst {
  DVec3 centre_m;
  EntityId by{};
};

/// A monster that died, as it was: somebody else may have its row before what it leaves is put down.
struct FallenMonster {
  std::uint16_t drop = 0;  ///< MonsterTraits::drop
  DVec3 base_m;
};

/// A hit on its way to somebody.
struct Harm {
  EntityId by{};
  std::uint16_t points = 0;
  HurtBy how{};
  DVec3 push{};  ///< unit, or zero: the way that it is thrown
};

/// Who hurts whom: shots of players, attacks of monsters, projectiles and their bursts, and what comes of it:
/// armour, pain, grudges, death. Part of the world's state and hash. Nothing allocates after construction.
class Combat {
 public:
  static constexpr std::size_t events_max = 4096;
  static constexpr std::size_t summons_max = 16;
  static constexpr std::size_t cues_max = 512;
  static constexpr std::size_t queued_max = 64;
  static constexpr std::size_t player_bursts_max = 16;
  static constexpr std::size_t fallen_max = 256;

  Combat() = default;
  Combat(std::uint64_t seed, std::size_t players_max, std::size_t monsters_max, std::size_t projectiles_max);

  /// The last tick's events are over.
  void begin_tick();

  /// Takes health from somebody, as the rules and its armour have it; nothing happens to who is not there.
  /// A push is as Doom's: an eighth of a unit a tic for each point and 100 of mass.
  void hurt(CombatTick& tick, EntityId who, const Harm& harm);

  /// A crusher has somebody between its planes: Rules::crush_damage, as hurt() has it. Armour is used up and
  /// the hit is told of, but the health is the crusher's to take.
  /// @return how much of it; 0 of who is not there
  std::uint16_t crush(CombatTick& tick, EntityId who);
  /// It was the end of somebody, who is still in the row.
  void note_crushed(CombatTick& tick, EntityId who);

  /// Players' shots hit whom they met, as hard as their weapons say.
  void shots(CombatTick& tick, std::span<const ShotEvent> shots);

  /// Fires the attacks that monsters came to in this tick (MonsterWish::fires, in the order of rows),
  /// launches what players did, flies projectiles on and lets chargers touch whom they meet. Cost: about 20
  /// ns a body where anybody fights, a ray or a sweep for each attack and projectile.
  void fight(CombatTick& tick, std::span<const std::uint32_t> fires,
             std::span<const LaunchEvent> launches = {});

  /// Something that the next fight() launches, beside what players do. @return false: queued_max wait
  bool queue(const LaunchEvent& launch);

  /// What flies and what waits to be launched is gone: those whom it would have met have begun anew.
  void forget_flying();

  std::span<const CombatEvent> events() const { return events_; }  ///< of the tick, in their order
  std::span<const Summons> summons() const { return summons_; }    ///< to be put into the world
  /// What burst of players' in this tick, with splash damage; beyond player_bursts_max the rest is left out.
  std::span<const PlayerBurst> player_bursts() const { return player_bursts_; }
  /// Monsters that died in the tick and leave something, in their order; beyond fallen_max none is noted.
  std::span<const FallenMonster> fallen() const { return fallen_; }
  /// What only shows of the tick; beyond cues_max the rest is left out. Not part of the hash.
  std::span<const WorldCue> cues() const { return cues_; }
  const ProjectileTable& projectiles() const { return projectiles_; }  ///< in flight
  ProjectileTable& projectiles() { return projectiles_; }              ///< for those of an earlier run
  const CombatCounters& counters() const { return counters_; }         ///< since the start
  void add_to_hash(StripeHasher& hash) const;  ///< draws and projectiles; bodies are the tables'

 private:
  /// What a monster leaves that has just died and is still in its row.
  void note_fallen(const MonsterTable& monsters, std::size_t row);
  /// Points of a hit: step × (1 to sides). A hit takes 65535 at most, more than which nobody has.
  std::uint16_t draw(std::uint16_t step, std::uint8_t sides) {
    return static_cast<std::uint16_t>(std::min(step * (1 + rng_.below(sides)), 65535u));
  }
  void note(const CombatEvent& event, DVec3 at);
  void show(const WorldCue& cue) {
    if (cues_.size() < cues_max) cues_.push_back(cue);
  }
  static std::uint16_t judged(const CombatTick& tick, EntityId who, const Harm& harm);
  /// Of a player: what hits it, before its armour.
  static std::uint16_t points_on(const CombatTick& tick, std::size_t row, const Harm& harm);
  void hurt_player(CombatTick& tick, std::size_t row, const Harm& harm);
  void hurt_monster(CombatTick& tick, std::size_t row, const Harm& harm);
  void turn_on(CombatTick& tick, std::size_t row, EntityId who);
  void attack(CombatTick& tick, std::size_t row);
  void claw(CombatTick& tick, std::size_t row, const MonsterAttack& attack, const BodyView& at);
  void shoot(CombatTick& tick, std::size_t row, const MonsterAttack& attack, const BodyView& at);
  void flame(CombatTick& tick, std::size_t row, const MonsterAttack& attack, const BodyView& at);
  void launch(CombatTick& tick, std::uint8_t kind, EntityId owner, DVec3 centre, DVec3 direction,
              EntityId target, double strength = 1, std::uint16_t life_ticks = 0);
  void launch(CombatTick& tick, const LaunchEvent& what) {
    launch(tick, what.projectile, what.shooter, what.origin, what.direction, EntityId{0}, what.strength,
           what.life_ticks);
  }
  void fly(CombatTick& tick, std::size_t row);
  /// The first body on a projectile's way; how far along, in metres, is `reach_m`, which is cut to it.
  EntityId met(CombatTick& tick, std::size_t row, DVec3 centre, DVec3 way, double& reach_m) const;
  void burst(CombatTick& tick, std::uint8_t which, EntityId owner, DVec3 centre, DVec3 way);
  void spray(CombatTick& tick, const ProjectileTraits& kind, EntityId owner, DVec3 way);
  void touch(CombatTick& tick, std::size_t row);

  Rng rng_;
  ProjectileTable projectiles_;
  TargetGrid grid_;                  // scratch: of this tick
  std::vector<ShotTarget> targets_;  // scratch: of one shot or burst
  std::vector<CombatEvent> events_;
  std::vector<Summons> summons_;
  std::vector<LaunchEvent> queued_;
  std::vector<WorldCue> cues_;
  std::vector<PlayerBurst> player_bursts_;
  std::vector<FallenMonster> fallen_;
  CombatCounters counters_;
};

}  // namespace ashlar
