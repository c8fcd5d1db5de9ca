#pragma once
#include <expected>

#include "protocol/datagram.h"
#include "protocol/drop_reason.h"
#include "protocol/secure/secret.h"

// Packets outside of a session, drawn in WIRE.md. All but sealed and reset begin with 24 bytes:
// version, type, zeros, and at 16 the nonce, which is there in every version.

namespace ashlar::secure {

/// The low four bits of a packet's second byte.
enum class PacketType : std::uint8_t {
  hello = 1,
  retry = 2,
  accept = 3,
  finish = 4,
  sealed = 5,
  reset = 6,
  ping = 7,
  pong = 8,
  refuse_version = 9,
};

inline constexpr std::size_t open_prefix_bytes = 24;
inline constexpr std::size_t open_nonce_at = 16;
inline constexpr std::size_t reset_bytes = 22;
/// A ping is padded to what its answer may weigh twice over; more than this brings no longer answer.
inline constexpr std::size_t pong_info_bytes_max = 64;
inline constexpr std::size_t ping_bytes_max = 2 * (open_prefix_bytes + pong_info_bytes_max);

/// An answer to whom nobody has proven to be: never more than half of what it answers, so that a forged
/// sender's victim gets less than the forger spent.
constexpr std::size_t answer_bytes_max(std::size_t question_bytes) { return question_bytes / 2; }

/// Type of a packet of our version, or why it has none: too_short, too_long, wrong_version, bad_header. Bits
/// above the type are left to who reads the packet.
std::expected<PacketType, DropReason> packet_type(ByteSpan packet, std::uint8_t version);

/// Version, type, nonce; the rest of the 24 bytes zero. Precondition: room for open_prefix_bytes.
void write_open_prefix(std::span<std::uint8_t> out, std::uint8_t version, PacketType type,
                       std::uint64_t nonce);
/// The prefix is whole, and zero where it must be (from `zeros_from` on).
bool open_prefix_ok(ByteSpan packet, PacketType type, std::size_t zeros_from = 2);
/// Of a packet of any version. Precondition: open_prefix_bytes.
std::uint64_t open_nonce(ByteSpan packet);

/// The answer to a hello of another version, which has datagram_bytes_max bytes in every version: ours, in
/// clear, with its nonce. A peer of version 2 takes it for a refusal by its first byte and finds the nonce
/// where it looks for one.
/// @return open_prefix_bytes; 0 when the question has another size (a refusal gets no answer) or is of our
/// version
std::size_t write_refuse_version(ByteSpan question, std::uint8_t version, std::span<std::uint8_t> out);

/// A question that needs no session. Precondition: open_prefix_bytes to ping_bytes_max.
std::size_t write_ping(std::uint8_t version, std::uint64_t nonce, std::size_t size,
                       std::span<std::uint8_t> out);
/// Its answer: what the server says of itself, at most pong_info_bytes_max.
/// @return its size; 0 when that is no ping, or the answer would be more than half of it.
std::size_t write_pong(ByteSpan ping, std::uint8_t version, ByteSpan info, std::span<std::uint8_t> out);
/// What a pong says, or why it is none: as packet_type(), malformed.
std::expected<ByteSpan, DropReason> read_pong(ByteSpan packet, std::uint8_t version, std::uint64_t nonce);

/// Ends a session from outside: of who holds the server's secret key, also after it lost the session.
using ResetToken = Bytes16;
/// What tokens are derived with; the same as long as the server's key is.
Secret reset_key(const Secret& server_secret);
/// The server tells it to the client in the session's first sealed data. Connections' numbers are random, so
/// that one is hardly ever another player's later; who knew it then could end that session.
ResetToken reset_token(const Secret& reset_key, std::uint32_t connection);
/// The answer to a sealed packet of an unknown connection.
/// @return reset_bytes; 0 when that is no sealed packet, or is less than twice as long: so an answer never
/// begets
///         an answer.
std::size_t write_reset(ByteSpan question, std::uint8_t version, const Secret& reset_key,
                        std::span<std::uint8_t> out);
/// The packet ends this session. Compared in constant time.
bool is_reset(ByteSpan packet, std::uint8_t version, std::uint32_t connection, const ResetToken& token);

}  // namespace ashlar::secure
