#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "protocol/datagram.h"
#include "protocol/secure/client_handshake.h"

namespace ashlar::client_sim {

using secure::Micros;

/// What a client's handshakes have in common.
struct HandshakesSetup {
  secure::KeyPair identity;
  std::optional<secure::PublicKey> pinned;
  PeerAddress server;
  std::optional<PeerAddress> fallback;  ///< tried beside the server's address when that stays silent
  /// Further addresses of the same server, of which ip and scope count; tried in turn, over both routes.
  std::vector<PeerAddress> more_addresses;
  bool opens_links = false;  ///< each try over TCP is sent to a link number of its own
  Micros fallback_after{2'000'000};
  /// Silence at one address until the next one is tried. Twice as long in each round through all of them, as
  /// answers may take longer than that.
  Micros next_after{1'000'000};
  Micros link_retry{500'000};  ///< from a TCP link that broke to the next one
};

/// Why handshakes are over without a session.
enum class HandshakesEnd : std::uint8_t {
  none,  ///< they are not
  wrong_version,
  wrong_server,
  link_closed,  ///< the TCP connection broke, and nobody opens another one
};

/// A client's way to a session: a handshake over one of its two routes, and a second one over the other when
/// the first stays silent for a while. Each of the two goes from one address of the server to the next where
/// nobody answers, and begins with the one that was good the last time. Who proves to be the server first is
/// told who we are, and the other one nothing: so a server never sees one player twice.
///
/// They go on until somebody stops them. Sans-I/O, one thread. No allocation but for links that are left.
class Handshakes {
 public:
  /// What is said to a server that proved its key (ClientHandshake::server_key, binding).
  using Payload = std::function<std::span<const std::uint8_t>(const secure::ClientHandshake&)>;

  explicit Handshakes(HandshakesSetup setup);

  /// Begins anew, first over the route that this transport is of. Precondition of all else but running().
  void begin(Micros now, secure::Entropy& entropy, Transport first);
  void stop();
  /// Links of tries that were given up since the last call: whoever opened them closes them.
  std::vector<PeerAddress> take_left() { return std::exchange(left_, {}); }
  bool running() const { return under_way(0) || under_way(1); }
  /// The server was told who we are, so it may have made a session of it.
  bool finishing() const;

  /// A packet that may be the server's; of others nothing comes. @return true: it is a session's first,
  /// keys() are there, and the packet is the session's, too
  bool receive(Micros now, const PeerAddress& from, std::span<const std::uint8_t> packet);
  /// A TCP connection ended. @return true: it was one of ours
  bool closed(Micros now, const PeerAddress& link);
  /// Repeats what stays unanswered, answers a proven server, begins the second handshake.
  void advance(Micros now, secure::Entropy& entropy, const Payload& payload, DatagramBatch& out);

  /// All addresses of the server's own route refused, one after the other: none of them was merely silent.
  bool refused_by_all() const { return refused_[0] > setup_.more_addresses.size(); }
  HandshakesEnd end() const { return end_; }
  std::uint8_t server_version() const { return server_version_; }  ///< with wrong_version

  // Once receive() said so, until begin():
  const secure::SessionKeys& keys() const { return keys_; }
  const secure::PublicKey& server_key() const { return server_key_; }
  const PeerAddress& peer() const { return peer_; }

 private:
  struct Attempt {
    PeerAddress peer;
    secure::ClientHandshake handshake;
    Micros silent_since{0};
    bool saying_hello = true;
  };

  bool under_way(std::size_t route) const {
    return attempts_[route].has_value() || retry_at_[route] != Micros::max();
  }
  PeerAddress address(std::size_t route);
  Micros patience(std::size_t route) const;
  void go_on(std::size_t route, bool refused);
  void start(Micros now, secure::Entropy& entropy, std::size_t route);
  void advance(Micros now, std::size_t route, const Payload& payload, DatagramBatch& out);
  void give_up(std::size_t route);
  void try_next_addresses(Micros now, secure::Entropy& entropy);

  HandshakesSetup setup_;
  std::array<std::optional<Attempt>, 2> attempts_;  // by route: the server's address, the fallback
  std::array<std::size_t, 2> address_{};            // of a route: 0 is the first, n is more_addresses[n - 1]
  std::array<std::size_t, 2> tried_{};              // addresses that were left for the next one since begin()
  std::array<std::size_t, 2> refused_{};            // of these, the last ones without a silent one between
  std::array<Micros, 2> unheard_since_{};           // of a route, over all addresses
  std::array<Micros, 2> retry_at_{Micros::max(),
                                  Micros::max()};  // of a route whose link broke; max: it did not
  std::uint32_t links_ = 0;
  std::vector<PeerAddress> left_;
  HandshakesEnd end_ = HandshakesEnd::none;
  std::uint8_t server_version_ = 0;
  secure::SessionKeys keys_;
  secure::PublicKey server_key_;
  PeerAddress peer_;
};

}  // namespace ashlar::client_sim
