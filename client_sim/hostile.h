#pragma once
#include <cstdint>
#include <vector>

#include "client_sim/client.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

/// What hostile peers send; a peer does all of them in turn.
enum class Attack : std::uint8_t {
  garbage,     ///< random bytes of random sizes
  mutated,     ///< our own honest packets with bytes changed, and the check made right again
  replay,      ///< honest packets of earlier, again and again
  flood,       ///< many inputs at once
  impossible,  ///< sound messages with impossible claims: ticks, acknowledgements, connections of others
  hellos,      ///< hello after hello under new names, and none of them goes on
};
inline constexpr std::size_t attack_count = 6;

/// A player gone bad: joins like an honest client, plays on, and sends attacks beside it. Sans-I/O and
/// seeded, like Client. Datagrams per second stay at the rate given, however long the pauses between calls.
class HostilePeer {
 public:
  HostilePeer(ClientConfig config, std::uint64_t seed, std::uint32_t datagrams_per_s);

  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out);

  const Client& honest_side() const { return client_; }
  std::uint64_t attacks_sent() const { return attacks_sent_; }

 private:
  void attack(DatagramBatch& out);
  void remember(const DatagramBatch& batch);
  void send(DatagramBatch& out, std::span<const std::uint8_t> bytes);
  std::span<const std::uint8_t> remembered();
  std::span<const std::uint8_t> impossible();

  ClientConfig config_;
  Client client_;
  Rng rng_;
  Micros period_;
  Micros next_{0};
  bool started_ = false;
  DatagramBatch honest_;
  MessageWriter writer_;
  std::vector<std::vector<std::uint8_t>> memory_;  // packets to play with; at most memory_max
  std::vector<std::uint8_t> scratch_;
  std::uint64_t attacks_sent_ = 0;
};

}  // namespace ashlar::client_sim
