#include "world/sim/observer.h"

namespace ashlar {

void observe_input(Observer& observer, const World& before, const TickInput& input) {
  for (const PlayerInput& in : input.commands)
    if (before.player_row(in.player) >= 0) observer.commanded(before, in.player, in.command);
}

void observe_step(Observer& observer, const World& after) {
  for (const Joined& joined : after.joined())
    if (joined.id != EntityId{0}) observer.joined(after, joined.id);
  for (const Departed& gone : after.departed()) observer.left(after, gone.id);
  observer.stepped(after);
}

}  // namespace ashlar
