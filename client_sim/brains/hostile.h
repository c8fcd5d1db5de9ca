#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "client_sim/brains/intruder.h"
#include "client_sim/client/client.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

/// What a hostile peer is up to, for a second or two each.
enum class Attack : std::uint8_t {
  none,     ///< plays along
  garbage,  ///< random bytes, short and long; some of a known version and type
  forged,   ///< sealed packets of its own connection and of others, by who has no key
  mutated,  ///< its own honest packets with bytes changed
  replay,   ///< its own packets of earlier, again and again
  flood,    ///< many times what anyone may send
  hellos,   ///< hello after hello, and none of them goes on
  half,     ///< handshakes that end where it would have to say who it is
  finish,   ///< handshakes that end in nonsense
  inside,   ///< a second session, and nonsense in it
};
inline constexpr std::size_t attack_count = 10;
/// Spelled as the enumerator.
std::string_view name(Attack attack);

/// Turns an honest client's outgoing datagrams into those of a hostile one. Sans-I/O and seeded, like Client.
class Attacker {
 public:
  /// @param datagrams_per_s  while it attacks; flood_times as many while it floods
  Attacker(std::uint64_t seed, std::uint32_t datagrams_per_s, const PeerAddress& server);
  static constexpr std::int64_t flood_times = 4;

  /// Adds to what `client` is about to send. Call once for each batch, every few milliseconds: what a longer
  /// pause missed is not made up for.
  /// @param in  what arrived: some attacks are talks
  void act(Micros now, const Client& client, const DatagramBatch& in, DatagramBatch& out);

  Attack attack() const { return attack_; }     ///< at this moment
  std::uint64_t sent() const { return sent_; }  ///< datagrams that no honest client would have sent

 private:
  void keep(const DatagramBatch& honest);
  void attack(Micros now, const Client& client, DatagramBatch& out);
  void garbage(DatagramBatch& out);
  void forged(const Client& client, DatagramBatch& out);
  void mutated(DatagramBatch& out);
  void add(DatagramBatch& out, std::span<const std::uint8_t> bytes);
  void intrude(Micros now, Intruder& intruder, DatagramBatch& out);
  std::span<const std::uint8_t> kept();

  Rng rng_;
  Micros period_;
  Micros next_{0};
  bool started_ = false;
  Attack attack_ = Attack::none;
  Micros next_attack_{0};
  std::array<std::vector<std::uint8_t>, 64> kept_;  // packets to play with
  std::size_t kept_count_ = 0;
  std::uint64_t sent_ = 0;
  PeerAddress server_;
  Intruder hellos_, half_, finish_, inside_;
  std::vector<std::uint8_t> scratch_;
};

/// A player gone bad: joins like an honest client, plays on, and attacks.
class HostilePeer {
 public:
  HostilePeer(ClientConfig config, std::uint64_t seed, std::uint32_t datagrams_per_s)
      : attacker_(seed, datagrams_per_s, config.server), client_(std::move(config)) {}

  /// As Client::advance(); what the client would send goes out changed and added to (Attacker::act()).
  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out);

  std::uint64_t attacks_sent() const { return attacker_.sent(); }  ///< see Attacker::sent()

 private:
  Attacker attacker_;
  Client client_;
  DatagramBatch mine_;
};

}  // namespace ashlar::client_sim
