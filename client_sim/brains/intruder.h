#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/connection/frames.h"
#include "protocol/datagram.h"
#include "protocol/message_writer.h"
#include "protocol/secure/client_handshake.h"
#include "protocol/secure/packet_protection.h"
#include "protocol/secure/seeded_entropy.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

using secure::Micros;

/// How far an intruder goes into a server.
enum class IntruderAim : std::uint8_t {
  knock,   ///< hellos, and nothing else: each costs the server a hash
  half,    ///< up to the server's proof, three multiplications on the curve, and no further
  finish,  ///< proves an identity, and says nonsense with it
  inside,  ///< a session like any other, and nonsense in it
};

/// Speaks the secure connection as far as its aim, then something else. Sans-I/O and seeded, like Client; it
/// acknowledges nothing it hears.
class Intruder {
 public:
  Intruder(std::uint64_t seed, const PeerAddress& server, IntruderAim aim);

  /// Hears and repeats what a handshake needs. Call every few milliseconds.
  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out);
  /// One deed: a new handshake when the last one is over, or a packet inside.
  /// @return false: nothing was said, a handshake is under way
  bool act(Micros now, DatagramBatch& out);

  std::uint64_t sessions() const { return sessions_; }  ///< that it was let into
  bool inside() const { return protection_.has_value(); }

 private:
  void begin(Micros now, DatagramBatch& out);
  std::span<const std::uint8_t> payload();
  void say(DatagramBatch& out, bool last);
  void say_frames(FrameWriter& frames);
  void say_last(FrameWriter& frames);
  void say_message(FrameWriter& frames, StreamId stream, std::span<const std::uint8_t> message);
  std::span<const std::uint8_t> some_message();
  std::span<const std::uint8_t> odd_input();
  std::span<const std::uint8_t> random_bytes(std::size_t size);
  std::uint32_t odd_number();

  Rng rng_;
  secure::SeededEntropy entropy_;
  PeerAddress server_;
  IntruderAim aim_;
  std::optional<secure::ClientHandshake> handshake_;
  Micros begun_{0}, ends_at_{0};
  std::optional<secure::PacketProtection> protection_;
  std::uint64_t sequence_ = 0;
  std::array<std::uint64_t, stream_count> offsets_{};
  std::uint64_t sessions_ = 0;
  MessageWriter writer_;
  std::vector<std::uint8_t> scratch_;
};

}  // namespace ashlar::client_sim
