#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "client_sim/client/client.h"
#include "protocol/message_writer.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

/// What a hostile peer is up to, for a second or two each.
enum class Attack : std::uint8_t {
  none,     ///< plays along
  garbage,  ///< random bytes, short and long; some with a true header, some with a true check
  mutated,  ///< its own honest packets with bytes changed, and the check made right again
  replay,   ///< its own packets of earlier, again and again
  flood,    ///< many times what anyone may send
  claims,   ///< sound messages that say impossible things: ticks, acknowledgements, connections of others
  hellos,   ///< hello after hello under new names, and none of them goes on
  silence,  ///< plays, but acknowledges nothing
};
inline constexpr std::size_t attack_count = 8;

/// Turns an honest client's outgoing datagrams into those of a hostile one. Sans-I/O and seeded, like Client.
class Attacker {
 public:
  /// @param datagrams_per_s  while it attacks; flood_times as many while it floods
  Attacker(std::uint64_t seed, std::uint32_t datagrams_per_s);
  static constexpr std::int64_t flood_times = 4;

  /// Changes and adds to what `client` is about to send to `server`. Call once for each batch, every few
  /// milliseconds: what a longer pause missed is not made up for.
  void act(Micros now, const Client& client, const PeerAddress& server, DatagramBatch& out);

  std::uint64_t sent() const { return sent_; }  ///< datagrams that no honest client would have sent

 private:
  void keep(const DatagramBatch& honest);
  void mute(const DatagramBatch& honest, DatagramBatch& out);
  void attack(const Client& client);
  void garbage(const Client& client);
  void mutated();
  void claim(const Client& client);
  void add(std::span<const std::uint8_t> bytes);
  std::span<const std::uint8_t> kept();
  std::uint32_t odd_number();

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
  MessageWriter writer_;
  std::vector<std::uint8_t> scratch_;
  DatagramBatch muted_;
  DatagramBatch* out_ = nullptr;  // during act()
};

/// A player gone bad: joins like an honest client, plays on, and attacks.
class HostilePeer {
 public:
  HostilePeer(ClientConfig config, std::uint64_t seed, std::uint32_t datagrams_per_s)
      : server_(config.server), client_(std::move(config)), attacker_(seed, datagrams_per_s) {}

  /// As Client::advance(); what the client would send goes out changed and added to (Attacker::act()).
  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out);

  const Client& honest_side() const { return client_; }            ///< how it fares as a client
  std::uint64_t attacks_sent() const { return attacker_.sent(); }  ///< see Attacker::sent()

 private:
  PeerAddress server_;
  Client client_;
  Attacker attacker_;
  DatagramBatch mine_;
};

}  // namespace ashlar::client_sim
