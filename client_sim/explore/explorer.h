#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client_sim/explore/leap.h"
#include "client_sim/explore/route.h"
#include "client_sim/explore/steps.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

/// What one explorer has done so far. Counters only grow.
struct ExplorerCounters {
  std::uint32_t routes = 0;    ///< ways planned
  std::uint32_t idle = 0;      ///< times there was nothing left to do
  std::uint32_t given_up = 0;  ///< goals that were not reached in time
  std::uint32_t blocked = 0;   ///< doors and lifts that did not move
  std::uint32_t held = 0;      ///< times it did not get ahead on open ground
  std::uint32_t hasty = 0;     ///< ways that came to nothing at their first step
  std::uint32_t lines = 0;     ///< used, shot or walked over on purpose
  std::uint32_t leaps = 0;     ///< over gaps
  std::uint32_t made_way = 0;  ///< times it stood back for another explorer
};

/// One player who sets out to enter every sector of a map: plans a way to the nearest goal (a sector nobody
/// entered, a line nobody set off, a key), walks it, waits before doors and on lifts, presses what moves
/// them, jumps onto ledges, and plans again when something else came of it. Speaks in commands alone.
///
/// Explorers of one expedition share what they know and never go for the same goal. Seeded: same calls, same
/// commands. Cost: a few microseconds a call, and a search (route.h) every second or so.
class Explorer {
 public:
  /// @param number  its own within the expedition
  Explorer(std::shared_ptr<Expedition> expedition, std::shared_ptr<Router> router, std::uint32_t number,
           std::uint64_t seed);

  /// The command for now: once a tick, after Expedition::observe().
  PlayerCommand think(const Body& body);

  /// In place of think(), while its feet do something else: what it is after waits.
  void rest(const Body& body);
  /// Keys that it holds from before it was made.
  void know_keys(std::uint8_t keys) { keys_ = keys; }
  /// Goes there before anything else, as long as there is a way; nullopt: explores.
  void seek(std::optional<DVec3> place_m) { seek_m_ = place_m; }
  /// Goes through an exit as soon as it knows a way to one, from now on. Explorers do not by themselves.
  void leave_by_exit() { leaves_ = true; }

  std::uint8_t keys() const { return keys_; }  ///< that it must have taken, going by where it was; a bit each
  const ExploreGoal& goal() const { return route_.goal; }  ///< what it is after now; Kind::none: nothing
  const Route& route() const { return route_; }            ///< the way it is on; valid until think()
  std::size_t progress() const { return at_; }             ///< index into route().cells: how far it has come
  const ExplorerCounters& counters() const { return counters_; }  ///< since it was made

 private:
  // explorer.cpp: what it is after
  void look(const Body& body);
  void note_teleport(const Body& body);
  void plan(const Body& body);
  void turn_to_place(const Body& body);
  bool way_out(RouteWish wish);
  bool errand(const Body& body, std::uint32_t from, std::uint32_t to);
  void lose_way();
  void give_up();
  void drop_route();
  void shun(std::uint32_t cell, std::uint16_t cost);
  // follow.cpp: the way there
  PlayerCommand follow(const Body& body);
  std::size_t place_on_way(const Body& body) const;
  PlayerCommand begin_leap(const Body& body, std::size_t at);
  PlayerCommand leap(const Body& body);
  PlayerCommand walk(const Body& body, std::size_t last, bool jump);
  bool held_up(const Body& body);
  PlayerCommand hold(const Body& body, std::size_t blocked);
  void block(std::uint32_t from, std::uint32_t to);
  PlayerCommand arrive(const Body& body);
  PlayerCommand stand_by(const Body& body);
  std::size_t lookahead(const Body& body, std::size_t last) const;
  bool is_lift(std::uint32_t sector) const;
  bool pinched(std::uint32_t cell, std::uint32_t lift) const;
  bool moves_with(std::uint32_t cell, std::uint32_t sector) const;
  bool gets_ahead(const Body& body);
  void begin_check(const Body& body);

  std::shared_ptr<Expedition> e_;
  std::shared_ptr<Router> router_;
  std::uint32_t number_;
  Rng rng_;
  Route route_;
  bool on_errand_ = false;
  std::optional<DVec3> seek_m_;
  double seek_at_s_ = 0;  // soonest that it looks for a way there
  bool leaves_ = false;
  double way_out_at_s_ = 0;  // likewise to an exit
  ExploreGoal favourite_;    // what the errand is for
  std::size_t at_ = 0;
  std::uint8_t keys_ = 0, keys_later_ = 0;
  double keys_later_until_s_ = 0;
  std::uint16_t buttons_ = 0;  // of the last command
  DVec3 before_m_{};
  bool seen_ = false;  // before_m_ means something
  double plan_at_s_ = 0, planned_s_ = -1, goal_until_s_ = 0, arrived_s_ = -1;
  double held_since_s_ = -1;
  double idle_s_ = 0.25;
  std::uint32_t errands_ = 0;  // for the favourite
  double check_s_ = 0;
  DVec3 check_m_{};
  std::uint32_t still_ = 0;  // checks in a row without getting ahead
  double dodge_until_s_ = -1;
  Turn16 dodge_{0};
  std::optional<LeapRun> leap_;  // on the way to its run-up, or in it
  Trail trail_;
  double way_until_s_ = -1;  // goes back along the trail to let another one pass
  std::vector<std::uint16_t> avoid_;
  std::vector<std::uint32_t> avoided_;
  double forget_s_ = 0;
  ExplorerCounters counters_;
};

}  // namespace ashlar::client_sim
