#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "client_sim/client.h"
#include "protocol/datagram.h"
#include "protocol/message_writer.h"
#include "world/math/random.h"

namespace ashlar::simulation {

/// What a hostile peer is up to, for a second or two each.
enum class Attack : std::uint8_t {
  none,     ///< plays along
  garbage,  ///< random bytes, short and long, with and without a true header
  replay,   ///< its own datagrams again, seconds later
  flood,    ///< many times what anyone may send
  claims,   ///< well-formed messages that say impossible things
  silence,  ///< plays, but acknowledges nothing
};
inline constexpr std::size_t attack_count = 6;

/// Turns an honest client's outgoing datagrams into those of a hostile one. Seeded; one for each hostile
/// seat.
class Attacker {
 public:
  explicit Attacker(std::uint64_t seed) : rng_(rng_for(seed, 0xbad)) {}

  /// Changes and adds to what `client` is about to send. Call once for each batch.
  void act(client_sim::Micros now, const client_sim::Client& client, const PeerAddress& server,
           DatagramBatch& out);

  std::uint64_t sent() const { return sent_; }  ///< datagrams that no honest client would have sent

 private:
  void add(const PeerAddress& server, std::span<const std::uint8_t> bytes);
  void send_garbage(const client_sim::Client& client, const PeerAddress& server);
  void send_claim(const client_sim::Client& client, const PeerAddress& server);
  std::uint32_t odd_number();

  Rng rng_;
  Attack attack_ = Attack::none;
  client_sim::Micros next_attack_{0};
  std::array<std::vector<std::uint8_t>, 64> kept_;
  std::size_t kept_count_ = 0;
  std::uint64_t sent_ = 0;
  MessageWriter writer_;
  DatagramBatch made_;
};

}  // namespace ashlar::simulation
