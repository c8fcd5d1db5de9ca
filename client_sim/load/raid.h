#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/datagram.h"
#include "protocol/secure/packet_protection.h"

namespace ashlar::client_sim {

using secure::Micros;

/// What a raid does to a server, over sockets of its own. Unlike a hostile peer (hostile.h) it plays no
/// player, or one who lies.
enum class RaidKind : std::uint8_t {
  tiny_frames,      ///< TCP: frames of one byte, as many as the line takes, from connections that come anew
  idle,             ///< TCP: connections that say nothing, opened again when they are closed
  churn,            ///< UDP: join, leave, join
  garbage,          ///< UDP: datagrams of a hello's size and of another version
  hellos,           ///< UDP: hellos that do not go on
  half_handshakes,  ///< UDP: handshakes up to the server's proof, which costs it most, and no further
  inside,           ///< UDP: whole handshakes, and nonsense in the sessions
  spoofed,          ///< UDP: sealed packets in each victim's name, of its connection, by who has no key
  deaf,             ///< UDP: players who acknowledge nothing that they are sent (false_player.h)
  liars,            ///< UDP: players who acknowledge at random
};
inline constexpr std::size_t raid_kind_count = 10;

/// Spelled as on the command line: "tiny-frames", "idle", ...
std::string_view name(RaidKind kind);
std::optional<RaidKind> raid_kind(std::string_view name);

/// What raid, how hard and on whom.
struct RaidOptions {
  PeerAddress server;  ///< IPv4 alone
  RaidKind kind = RaidKind::garbage;
  std::uint32_t peers = 1;    ///< sockets at once
  std::uint32_t per_s = 200;  ///< of each: datagrams, joins, handshakes, or KB of frames; of idle ones:
                              ///< connections; of players who lie: unused, they say what players say
  std::uint32_t addresses =
      1;  ///< it comes from so many, where the server is on the loopback (127.0.0.2, ...)
  std::uint64_t seed = 1;
};

/// In whose name a spoofed packet is sent: a client on this machine, as who reads along knows it.
struct RaidVictim {
  std::uint16_t port = 0;        ///< of its UDP socket
  std::uint32_t connection = 0;  ///< that its packets name
};

/// A raid under way. Sockets and a clock of the caller's; one thread. What the system refuses (sockets, full
/// buffers, no right to send in another's name) is left out and told by sent().
class Raid {
 public:
  /// Opens no socket yet: turn() does. @return or one line: not an IPv4 address, or too few files may be open
  static std::expected<Raid, std::string> open(const RaidOptions& options);
  Raid(Raid&&) noexcept;
  Raid& operator=(Raid&&) noexcept;
  ~Raid();

  /// Does what is due. Call every few milliseconds; what a longer pause missed is not made up for.
  void turn(Micros now);
  /// In whose name packets are sent.
  void set_victims(std::span<const RaidVictim> victims);

  std::uint64_t sent() const;  ///< datagrams, frames' bytes over 3, connections, or inputs

 private:
  struct Impl;
  explicit Raid(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar::client_sim
