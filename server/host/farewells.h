#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "protocol/connection/connection.h"

namespace ashlar::server {

/// Connections whose sessions are over: they say why a few times more, as a packet may be lost, and take in
/// what was still on its way. Nobody's place is held by them. The Host's thread. Allocates nothing.
class Farewells {
 public:
  /// @param places  where one more comes the oldest is forgotten: who still talks to it is told by a reset
  explicit Farewells(std::size_t places) : places_(places) { leaving_.reserve(places); }

  /// For at most `kept` from now on.
  void add(Micros now, std::unique_ptr<Connection> connection);
  /// A packet that may be for one of them. @return false: it is not
  bool receive(Micros now, const PeerAddress& from, std::uint32_t number,
               std::span<const std::uint8_t> packet);
  /// What is due is said; those that are over are gone.
  void poll(Micros now, DatagramBatch& out);

  /// Is a connection of this number saying why it ended?
  bool holds(std::uint32_t number) const;
  /// How many there are.
  std::size_t count() const { return leaving_.size(); }
  /// Some still have something to say.
  bool talking() const;

  static constexpr Micros kept{3'000'000};

 private:
  struct Leaving {
    std::unique_ptr<Connection> connection;
    Micros until{0};
  };
  std::size_t places_;
  std::vector<Leaving> leaving_;  // oldest first
  PacketScratch scratch_;
};

}  // namespace ashlar::server
