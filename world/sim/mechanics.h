#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "world/math/hash.h"
#include "world/sim/hearing.h"
#include "world/sim/map_plan.h"
#include "world/sim/sector_movers.h"
#include "world/sim/shooting.h"
#include "world/sim/tables.h"

namespace ashlar {

/// The moving parts of one map: what they are made of, and their state beside the sectors' heights.
struct MapMechanics {
  std::shared_ptr<const MapPlan> plan;
  SectorMovers movers;
  std::vector<std::uint8_t> spent;  ///< by line, 0 or 1: a line that works once has worked
  BodiesBySector touching;          ///< scratch
  NoiseFlood noise;                 ///< scratch
};

/// Totals since the world began. Not part of its hash.
struct MechanicsCounters {
  std::uint64_t lines = 0;  ///< lines set off
  std::uint64_t teleports = 0;
  std::uint64_t exits = 0;
  std::uint64_t crushed = 0;     ///< times a crusher hurt somebody
  std::uint64_t locked = 0;      ///< tries without the key
  std::uint64_t no_landing = 0;  ///< teleports refused: the landing and its surroundings were taken
  std::uint64_t player_deaths = 0;
  std::uint64_t monster_deaths = 0;
  std::uint64_t noises = 0;   ///< that monsters could hear
  std::uint64_t drowned = 0;  ///< beyond Mechanics::noises_max in their tick: nobody heard them
};

/// What of the maps' mechanics changes from tick to tick, beside the heights: for who goes back to an earlier
/// tick, as a client does that predicts. A value; saving into one of the same maps allocates nothing.
struct MechanicsState {
  struct Map {
    SectorMovers movers;
    std::vector<std::uint8_t> spent;  ///< as in MapMechanics
  };
  std::vector<Map> maps;
};
/// The same of a player.
struct PlayerMechanics {
  std::uint8_t keys = 0;
  std::uint16_t held_buttons = 0;  ///< the last tick's
};

/// How much a crusher takes from somebody.
class CrushRule {
 public:
  /// Health that somebody loses who is crushed once, once armour and the game have had their say; it is not
  /// taken yet.
  virtual std::uint16_t crushes(EntityId who) = 0;
  /// That was the end of somebody, who is still in the row.
  virtual void crushed(EntityId who) = 0;

 protected:
  ~CrushRule() = default;
};

/// What the mechanics of one tick read and write.
struct MechanicsTick {
  Space space;
  std::span<std::vector<SectorHeights>> heights;  ///< by map; what `space` sees
  const Rules& rules;
  PlayerTable& players;
  MonsterTable& monsters;
  TickId tick{};
  bool awake = true;  ///< false: nobody moves by himself this tick, so act() and walk() are left out
  /// By monster row, 0 or 1: it was not moved since move(), so it walked over nothing; empty: all may have
  /// been.
  std::span<const std::uint8_t> stays = {};
  CrushRule* crush = nullptr;  ///< null: Rules::crush_damage from everybody
};

/// The moving parts of all maps of a world, and who sets them off. Part of the world's state and hash.
/// One tick: move() before bodies move, act() and shot() and then the bodies' own moves, walk()
/// after them.
/// Nothing allocates after construction.
class Mechanics {
 public:
  Mechanics() = default;
  Mechanics(std::span<const std::shared_ptr<const PlacedMap>> maps,
            std::span<const std::vector<SectorHeights>> heights, std::size_t players_max,
            std::size_t monsters_max);

  /// A player's row has a new owner: no keys, no button held.
  void player_joined(std::size_t row);

  /// A new match: floors and ceilings stand and move as at the world's start, lines that work once work
  /// again, nobody has a key. Bodies stay where they are.
  /// @param heights  by map, of the maps it was made of
  void restart(std::span<std::vector<SectorHeights>> heights);

  /// Advances every floor and ceiling in motion and the bodies on them, hurts whom they crush, and starts the
  /// tick's list of events. Monsters that die of it leave their table.
  void move(MechanicsTick& tick);

  /// How fast the floor goes that a body stands on; the body's own move is relative to it.
  DVec2 floor_velocity(std::span<const std::vector<SectorHeights>> heights, const Body& body) const;

  /// Players use lines (button::use pressed anew).
  void act(MechanicsTick& tick);
  static constexpr std::size_t noises_max = 16;  ///< heard in one tick; more are drowned and counted
  static constexpr double noise_reach_m = 48;

  /// A player's shot sets off the lines it met on its way to what it hit, and monsters hear it: in a map
  /// through openings (NoiseFlood), on the surface within noise_reach_m.
  void shot(MechanicsTick& tick, const ShotEvent& event);
  /// A player launched something: monsters hear it.
  void launched(MechanicsTick& tick, const LaunchEvent& event);

  /// Something quieter than a shot, that a player did: monsters who look for nobody hear it that are within
  /// `share` of their hearing_m, in maps through openings. Cost: 2 ns a monster, and a flood of the map where
  /// any is near enough.
  void noise(MechanicsTick& tick, EntityId who, DVec3 from_m, double share);

  /// What a line of a map sets in motion is heard where it is, as noise(): on each side of the sectors that
  /// move, a shut door's two, and before the line itself. @param event  switched, by a player
  void line_noise(MechanicsTick& tick, const MoverEvent& event);

  /// Something else put a body there: it did not walk, and crossed no line.
  void note_put(EntityId who, DVec3 place);

  /// After all bodies moved: lines they walked over, keys they stand on, doors that monsters open.
  void walk(MechanicsTick& tick);

  /// Does move() have anything to move?
  bool in_motion() const;
  std::span<const MapMechanics> maps() const { return maps_; }
  std::span<const MoverEvent> events() const { return events_.list(); }
  const MechanicsCounters& counters() const { return counters_; }
  /// Key bits that a player holds.
  std::uint8_t keys(std::size_t player_row) const { return keys_[player_row]; }
  void add_to_hash(StripeHasher& hash) const;

  /// Between ticks: what was saved is as it was after it is restored. Of the maps, which change only in a
  /// tick that begins in_motion() or sets off a line (MechanicsCounters::lines); precondition: of these maps.
  void save_sectors(MechanicsState& out) const;
  void restore_sectors(const MechanicsState& state);
  /// Likewise of a player.
  PlayerMechanics player(std::size_t row) const { return {keys_[row], held_buttons_[row]}; }
  void restore_player(std::size_t row, const PlayerMechanics& state);

 private:
  struct Actor;
  std::span<const MoverBody> bodies(MechanicsTick& tick);
  void hurt_crushed(MechanicsTick& tick);
  bool may_sound();
  void make_noise(MechanicsTick& tick, std::size_t row);
  bool set_off(MechanicsTick& tick, std::size_t map, std::uint32_t line, bool from_front, const Actor& who);
  bool teleport(MechanicsTick& tick, std::size_t map, std::uint32_t line, const Actor& who);
  void leave(MechanicsTick& tick, std::size_t map, std::uint32_t line, const Actor& who);
  void send(const Actor& who, DVec3 place, Turn16 yaw);
  void walk_body(MechanicsTick& tick, DVec3 from, const Actor& who);
  void take_keys(MechanicsTick& tick, std::size_t row);
  void monster_pushes(MechanicsTick& tick, std::size_t row);

  std::vector<MapMechanics> maps_;
  std::vector<std::uint8_t> keys_;           // by player row
  std::vector<std::uint16_t> held_buttons_;  // by player row: the last tick's
  std::vector<MoverBody> bodies_;            // scratch: of this tick, once somebody asked for them
  bool listed_ = false;                      // scratch: has somebody?
  std::vector<DVec3> before_;                // scratch: where players, then monsters, stood before they moved
  MoverEvents events_;
  MechanicsCounters counters_;
  std::size_t noises_now_ = 0;  // scratch: of this tick
};

}  // namespace ashlar
