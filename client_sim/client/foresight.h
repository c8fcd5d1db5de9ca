#pragma once
#include <optional>

#include "client_sim/client/histogram.h"
#include "protocol/messages.h"

namespace ashlar::client_sim {

class Client;

/// Who runs ahead of the server, as a Predictor does. Its client says with each command what is foreseen of
/// its tick, and a server that comes to the same, to the bit, tells the own player in three bytes (WIRE.md).
class Foresight {
 public:
  virtual ~Foresight() = default;
  /// Called once in each Client::advance() that it is given to, when what came was taken in and commands are
  /// numbered, and before they go.
  /// @return the own player at the end of Client::command_tick(), as the simulation holds it; none: nobody
  ///   knows. What is not foreseen of it, such as its health, is as the server last said
  virtual std::optional<OwnPlayer> foresee(Micros now, Client& client) = 0;
};

}  // namespace ashlar::client_sim
