#pragma once
#include <optional>
#include <span>
#include <string>

#include "world/sim/world.h"

// Beside the seam on which games are written (game.h): who looks on and changes nothing. A Host asks one
// while it plays (Host::set_observer), and a replay while it repeats what was recorded.

namespace ashlar {

/// What an observer has to say of a player.
struct ObserverVerdict {
  EntityId player{};
  bool kick = false;  ///< else it is only to be looked at
  std::string reason;
};

/// Sees every command with what it claims, what the world made of it, and what each client was sent: for
/// those who look for cheats. It reads alone: a world that is watched does the same as one that is not.
/// Called by the simulation's thread, in the tick: it should neither block nor allocate much. Where none is
/// set a tick pays for one comparison.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  /// Before a step: a command of the next tick (PlayerCommand::seen is what its player claims to have looked
  /// at), of one who is in the world.
  virtual void commanded(const World& /*before*/, EntityId /*player*/, const PlayerCommand& /*command*/) {}
  /// After it: who came and who left in it, then the step, whose shots and hits are the world's to tell.
  virtual void joined(const World& /*after*/, EntityId /*player*/) {}
  virtual void left(const World& /*after*/, EntityId /*player*/) {}
  virtual void stepped(const World& /*after*/) {}
  /// A snapshot went to a player's client: the entities of which it says something. What a client holds
  /// already, and what did not change since, is not said again. Live alone: recordings hold no snapshots.
  virtual void sent(TickId /*tick*/, EntityId /*player*/, std::span<const EntityId> /*entities*/) {}
  /// What it came to since the last call; asked after each tick until there is nothing more.
  virtual std::optional<ObserverVerdict> take_verdict() { return std::nullopt; }
};

/// Shows an observer what is about to enter a world, and what it came to: before and after the step.
void observe_input(Observer& observer, const World& before, const TickInput& input);
void observe_step(Observer& observer, const World& after);

}  // namespace ashlar
