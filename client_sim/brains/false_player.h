#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "client_sim/brains/light_walker.h"
#include "protocol/connection/frames.h"
#include "protocol/connection/receive_stream.h"
#include "protocol/datagram.h"
#include "protocol/message_writer.h"
#include "protocol/packed_input.h"
#include "protocol/secure/client_handshake.h"
#include "protocol/secure/packet_protection.h"
#include "protocol/secure/seeded_entropy.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

using secure::Micros;

/// What a false player says about the packets that it got.
enum class FalseAcks : std::uint8_t {
  none,    ///< nothing: all that it is sent stays on its way
  random,  ///< ranges by chance: of what it got, of what was lost, now and then of what is still to come
};

/// Joins and runs about like anybody, with keys of its own, and lies about what it received: what a server
/// takes it to hold it does not hold, or the other way round. A session that the server ends begins anew.
/// Over UDP. Sans-I/O and seeded, like Client.
class FalsePlayer {
 public:
  FalsePlayer(std::uint64_t seed, const PeerAddress& server, FalseAcks acks);

  /// Hears what arrived and says what is due. Call every few milliseconds.
  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out);

  FalseAcks acks() const { return acks_; }  ///< how it lies
  /// Number of its present session; 0: there is none.
  std::uint32_t session() const { return protection_ ? protection_->connection() : 0; }
  bool plays() const { return tick_ != 0; }  ///< it is told of the world
  /// Bytes that came in the present session, and since when it is.
  std::uint64_t session_bytes_in() const { return bytes_in_; }
  Micros session_since() const { return since_; }
  std::uint64_t sessions() const { return sessions_; }  ///< that it was let into
  std::uint64_t inputs() const { return inputs_; }      ///< that it said

 private:
  void shake_hands(Micros now, const DatagramBatch& in, DatagramBatch& out);
  void begin_session(Micros now);
  void end_session(Micros now);
  void receive(Micros now, std::span<const std::uint8_t> packet);
  bool hear(Micros now, const Frame& frame);
  void hear_control();
  void hear_unreliable(Micros now, std::span<const std::uint8_t> message);
  void say(Micros now, DatagramBatch& out);
  void say_acks(FrameWriter& frames);
  void say_join(FrameWriter& frames);
  std::span<const std::uint8_t> input(Micros now);

  Rng rng_;
  secure::SeededEntropy entropy_;
  secure::KeyPair identity_;
  PeerAddress server_;
  FalseAcks acks_;
  bool packed_;
  LightWalker feet_;
  std::optional<secure::ClientHandshake> handshake_;
  Micros begun_{0}, next_try_{0};

  std::optional<secure::PacketProtection> protection_;  // of the present session
  std::optional<ReceiveStream> control_;
  Micros since_{0}, heard_at_{0}, next_say_{0};
  std::uint64_t sequence_ = 0;  // of its newest packet
  std::uint64_t highest_ = 0;   // of what came
  std::uint64_t bytes_in_ = 0;
  std::uint32_t tick_ = 0;  // newest that it was told of; 0: none
  Micros tick_at_{0};
  std::uint8_t world_ = 0;
  std::vector<std::uint8_t> joins_;  // what it has said on the control stream, which it says again
  bool joined_ = true;               // there is nothing to say on it

  std::uint64_t sessions_ = 0, inputs_ = 0;
  MessageWriter writer_;
  std::array<std::uint8_t, packed_input_bytes_max> packed_input_{};
  std::vector<std::uint8_t> message_;
};

}  // namespace ashlar::client_sim
