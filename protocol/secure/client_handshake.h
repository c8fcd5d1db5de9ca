#pragma once
#include <optional>

#include "protocol/secure/door_secrets.h"
#include "protocol/secure/handshake_state.h"
#include "protocol/secure/server_door.h"

namespace ashlar::secure {

/// What a client goes into a handshake with.
struct ClientHandshakeSetup {
  std::uint8_t version = 0;
  KeyPair identity;                 ///< the player's: whoever has the secret is that player
  std::optional<PublicKey> pinned;  ///< the only server key that will do; none: any, and the caller judges it
  std::uint8_t ciphers = ciphers_here();
  Micros give_up_after = std::chrono::seconds(10);
};

/// How far a client's handshake is.
enum class ClientStep : std::uint8_t {
  saying_hello,   ///< until the server proved who it is
  server_known,   ///< the caller looks at server_key() and calls finish(), within five seconds
  finishing,      ///< until a first sealed packet opens
  done,           ///< keys() are there
  timed_out,      ///< nothing, or nothing genuine, was heard
  wrong_version,  ///< the server speaks server_version()
  wrong_server,   ///< who answered proved another key than the pinned one: a machine in the middle, or a new
                  ///< key
};
constexpr bool ended(ClientStep step) { return step >= ClientStep::done; }

/// The client's side of one handshake: fed with packets, drained of packets. It repeats what stays
/// unanswered, 0.3 s after it was said, then every 0.6 s: where one packet in three is lost it still gets
/// through.
///
/// Whatever does not belong here (garbage, forgeries, doubles, answers to older packets) is ignored, so
/// nobody who cannot keep the server's own answers away ends it. Refusals and wrong keys could be forged by
/// who reads along: they end it only when nothing better comes within a second.
///
/// A ticket is lost five seconds after it came, said or not: the handshake begins again with fresh keys and
/// comes by server_known again. The player's identity is seen by the holder of server_key() alone. One
/// thread. No allocation.
class ClientHandshake {
 public:
  ClientHandshake(ClientHandshakeSetup setup, Entropy& entropy, Micros now);

  /// Any packet from the server's address. A sealed packet that makes it `done` is the session's first: it
  /// goes to the session, too.
  void receive(ByteSpan packet, Micros now);

  /// What to send now, until it says nothing. In this object's memory until the next call.
  ByteSpan packet_due(Micros now);

  /// Sends the identity and what the application says with it, to a server that the caller trusts.
  /// Precondition: at most finish_payload_bytes_max bytes (asserted).
  /// @return false: nothing was said, as the step is not server_known, or no more: five seconds after it came
  ///         the server's answer is too old, and the handshake has begun again or is over (see step())
  bool finish(ByteSpan payload, Micros now);

  /// Where it stands now.
  ClientStep step() const { return step_; }
  /// Somebody at the server's address heard its hello, whoever that is: to wait there is of use.
  bool answered() const { return cookies_taken_ > 0 || end_as_ != ClientStep::timed_out; }
  /// Proven. Precondition: server_known, finishing or done; with wrong_server the one that was proven
  /// instead.
  const PublicKey& server_key() const { return server_key_; }
  /// What a resume proof is made over. Precondition: server_known, finishing or done.
  const Bytes32& binding() const { return binding_; }
  std::uint8_t server_version() const { return server_version_; }
  /// Precondition: done.
  const SessionKeys& keys() const;

 private:
  void begin(Micros now);
  void advance(Micros now);
  void say(std::size_t bytes, Micros now);
  void end_soon(ClientStep why, Micros now);
  void take_other_version(ByteSpan packet, Micros now);
  void take_retry(ByteSpan packet, Micros now);
  void take_accept(ByteSpan packet, Micros now);
  void take_sealed(ByteSpan packet);

  ClientHandshakeSetup setup_;
  Secret seed_;
  std::uint32_t attempt_ = 0;
  KeyPair ephemeral_;
  std::uint64_t nonce_ = 0;
  std::uint32_t cookies_taken_ = 0;

  ClientStep step_ = ClientStep::saying_hello;
  ClientStep end_as_ = ClientStep::timed_out;
  Micros give_up_at_, ends_at_, begun_again_at_{0}, due_{0}, wait_{0};

  std::optional<HandshakeState> state_;  // from server_known on
  std::array<std::uint8_t, ticket_bytes> ticket_{};
  Cipher cipher_ = Cipher::none;
  PublicKey server_key_, server_ephemeral_;
  Bytes32 binding_{};
  std::uint8_t server_version_ = 0;
  SessionSecret session_;
  SessionKeys keys_;

  std::array<std::uint8_t, datagram_bytes_max> said_{};
  std::size_t said_bytes_ = 0;
};

}  // namespace ashlar::secure
