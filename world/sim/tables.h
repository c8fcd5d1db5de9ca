#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "world/math/assert.h"
#include "world/math/random.h"
#include "world/sim/arsenal.h"
#include "world/sim/block_act.h"
#include "world/sim/command.h"
#include "world/sim/inventory.h"
#include "world/sim/kinds.h"
#include "world/sim/player_move.h"

namespace ashlar {

/// What a player is to the match. All but those who play are spectators: they fly about without a body, meet,
/// pick up and change nothing, and nobody is told of them.
enum class PlayerRole : std::uint8_t {
  plays,
  watches,  ///< because it wants to
  waits,    ///< for a place in the match
  out,      ///< it has no life left: plays again in the next match
};

/// All that a PlayerTable has of one player, in one piece: what who goes back to an earlier tick keeps of it.
struct PlayerRow {
  EntityId id{};
  std::uint32_t generation = 0;
  Body body;
  PlayerCommand command;
  Turn16 yaw{0}, pitch{0};
  MoveReport report;
  std::uint16_t health = 0, dead_ticks = 0;
  Digging digging;
  std::uint16_t armour = 0;
  std::uint8_t armour_half = 0;
  Inventory inventory;
  Arsenal arsenal;
  PlayerRole role{};
  std::uint16_t role_ticks = 0;
  std::uint8_t light = 15;
};

/// Rows of entities: row i of every array is the same entity, free rows have id 0. All rows exist from the
/// start (a tick allocates nothing), rows never move, and every machine visits them in the same order.
/// Owned by World, simulation thread only. Outside code holds ids, which outlive their entity harmlessly.
struct PlayerTable {
  std::vector<EntityId> id;
  std::vector<std::uint32_t> generation;  ///< of the row's present or last owner
  std::vector<Body> body;
  std::vector<PlayerCommand> command;  ///< of the present tick; not part of the hash, as it is what went in
  /// Where the player faces: as its last command said, or a spawn or teleporter since. Who feeds commands has
  /// to turn the next ones along, or the player looks back at once.
  std::vector<Turn16> yaw;
  std::vector<Turn16> pitch;          ///< two's complement, within +-16384
  std::vector<MoveReport> report;     ///< what the last move did; not part of the hash
  std::vector<std::uint16_t> health;  ///< points; 0: dead, its body counts for nobody and stays where it is
  std::vector<std::uint16_t> dead_ticks;  ///< since it died; saturating, 0 while alive
  std::vector<Digging> digging;           ///< the block that it digs, and how far it is
  std::vector<std::uint16_t> armour;      ///< points
  std::vector<std::uint8_t> armour_half;  ///< 0 or 1: takes half of each hit, not a third
  std::vector<Inventory> inventory;       ///< what it holds
  std::vector<Arsenal> arsenal;           ///< weapons, ammunition, powers
  std::vector<PlayerRole> role;
  std::vector<std::uint16_t> role_ticks;  ///< since it became a spectator; saturating, 0 while it plays
  std::vector<std::uint8_t> light;        ///< where it stands, from 0 to 15; looked at twice a second

  std::size_t rows() const { return id.size(); }
  /// Is somebody in a row of its own by this id? False for ids of those who left.
  bool has(EntityId who) const {
    const std::size_t row = slot_of(who);
    return who != EntityId{0} && row < rows() && id[row] == who;
  }
  bool alive(std::size_t row) const { return id[row] != EntityId{0} && health[row] != 0; }
  bool spectates(std::size_t row) const { return body[row].noclip == noclip_spectates; }
  /// Is it in the world with a body that others meet?
  bool takes_part(std::size_t row) const { return alive(row) && !spectates(row); }
  /// Takes a row's command of the tick, and faces as it says. Spectators have hands for nothing.
  void take(std::size_t row, const PlayerCommand& given) {
    command[row] = given;
    if (spectates(row)) command[row].buttons &= button::jump | button::down;
    yaw[row] = given.yaw;
    pitch[row] = given.pitch;
  }
  /// The command as it moves its player: along where that faces by now.
  PlayerCommand turned_command(std::size_t row) const {
    PlayerCommand out = command[row];
    out.yaw = yaw[row];
    out.pitch = pitch[row];
    return out;
  }
  /// All rows, free. Call once.
  void resize(std::size_t rows);
  /// What is in a row; and puts it back. No allocation.
  void save(std::size_t row, PlayerRow& out) const;
  void restore(std::size_t row, const PlayerRow& from);
};

/// What a monster is about: walking here and there, after its target, waiting for somebody to see or hear, or
/// away from its target. Values travel: append only.
enum class MonsterMood : std::uint8_t { wander, chase, asleep, flee };

/// What its body does at the time, beside walking.
enum class MonsterAction : std::uint8_t { none, windup, recover, pain, charging };

/// Monsters, in rows as players are; row i has the slot players_max + i in its id.
struct MonsterTable {
  std::vector<EntityId> id;
  std::vector<std::uint32_t> generation;
  std::vector<MonsterKind> kind;
  std::vector<Body> body;
  std::vector<Turn16> yaw;
  std::vector<MonsterMood> mood;
  std::vector<EntityId> target;             ///< whom it chases; 0: nobody
  std::vector<DVec3> goal_m;                ///< where it last saw its target
  std::vector<std::uint16_t> turn_ticks;    ///< until it picks another heading
  std::vector<std::uint16_t> forget_ticks;  ///< until a target out of sight is given up
  std::vector<Rng> rng;                     ///< its own, so that no monster's draw moves another's
  std::vector<std::uint16_t> health;        ///< points; at 0 the row becomes free
  std::vector<std::uint8_t> deaf;           ///< 0 or 1: wakes by what it sees alone
  std::vector<MonsterAction> action;
  std::vector<std::uint16_t> action_ticks;  ///< left of its action
  std::vector<std::uint8_t> burst_left;     ///< times that its attack goes on
  std::vector<std::uint8_t> ranged;         ///< 0 or 1: its attack is the one from afar
  std::vector<std::uint16_t> check_ticks;   ///< until it considers attacking from afar
  std::vector<std::uint16_t> grudge_ticks;  ///< so long it stays after whom it has, whoever else it sees
  std::vector<std::uint8_t> sees;           ///< 0 or 1: saw its target when it last looked
  std::vector<std::uint8_t> held_ticks;     ///< since something held it up on its hunt; saturating
  std::vector<std::uint8_t> course_ticks;   ///< so long it goes on as it does before it asks for its way
  std::vector<std::uint8_t> dozes;          ///< 0 or 1: nobody is near, so it stands where it is
  std::vector<DVec3> home_m;                ///< where it appeared
  std::vector<Turn16> home_yaw;
  std::vector<std::uint32_t> respawn_ticks;  ///< of a free row: until its monster is back; 0: it is not
  std::vector<std::uint8_t> of_game;         ///< 0 or 1: a game put it there

  /// What kinds are like.
  const KindSet& kind_set() const { return *kind_set_; }
  /// @param kinds  null: default_kinds()
  void use_kinds(std::shared_ptr<const KindSet> kinds) {
    kinds_ = std::move(kinds);
    kind_set_ = kinds_ ? kinds_.get() : &default_kinds();
  }
  const ProjectileTraits& projectile_traits(std::uint8_t of) const { return kind_set().projectiles[of]; }
  const MonsterTraits& traits_of(MonsterKind of) const {
    const KindSet& set = kind_set();
    ASHLAR_ASSERT_SLOW(static_cast<std::size_t>(of) < set.monsters.size());
    return set.monsters[static_cast<std::size_t>(of)];
  }
  const MonsterTraits& traits_at(std::size_t row) const { return traits_of(kind[row]); }

  std::size_t rows() const { return id.size(); }
  /// All rows, free. Call once.
  void resize(std::size_t rows);

 private:
  std::shared_ptr<const KindSet> kinds_;
  const KindSet* kind_set_ = &default_kinds();  // every row asks for it, every tick
};

}  // namespace ashlar
