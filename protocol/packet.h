#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <span>

#include "protocol/datagram.h"
#include "protocol/drop_reason.h"

namespace ashlar {

inline constexpr std::size_t packet_header_bytes = 24;
inline constexpr std::size_t payload_bytes_max = datagram_bytes_max - packet_header_bytes;

/// What stands before every message, outside FlatBuffers; WIRE.md draws it.
struct PacketHeader {
  std::uint32_t connection = 0;  ///< from the welcome; 0 before it
  std::uint64_t sequence = 0;    ///< the sender's, per direction, from 1; never repeats in a connection
  std::uint32_t ack = 0;         ///< low 32 bits of the highest sequence seen from the other side; 0: none
  std::uint32_t ack_bits = 0;    ///< bit i: sequence ack - 1 - i was seen
  friend bool operator==(const PacketHeader&, const PacketHeader&) = default;
};

/// A packet taken apart. The payload points into the bytes given.
struct Packet {
  PacketHeader header;
  std::span<const std::uint8_t> payload;
};

/// The header's bytes, with a check of 0: seal() fills it once the payload follows.
std::array<std::uint8_t, packet_header_bytes> encode(const PacketHeader& header);

/// Writes the check over a whole packet into its header. It tells damage from honest bytes where the network
/// does not (until every datagram is authenticated, which replaces it). It is no defence against malice.
/// About 0.1 us for a full packet (bench_protocol). Precondition: at least packet_header_bytes.
void seal(std::span<std::uint8_t> packet);

/// The packet without a payload by which a server says that it knows no such connection: its header carries
/// the connection and the sequence of the packet that it answers, sealed. Never larger than the question.
std::array<std::uint8_t, packet_header_bytes> unknown_connection_packet(const PacketHeader& question);

/// A hello's nonce travels in bytes 16 to 23 of the packet, too, and so it does in a refusal that answers it:
/// there peers of any two versions find it (WIRE.md).
void put_nonce(PacketHeader& header, std::uint64_t nonce);
/// 0: the packet is too short to carry one.
std::uint64_t nonce_of(std::span<const std::uint8_t> packet);

/// Header and payload, or why not: too_short, too_long, wrong_version, bad_header, corrupt.
/// A payload may be empty here; the message decoders refuse it.
std::expected<Packet, DropReason> decode_packet(std::span<const std::uint8_t> bytes);

}  // namespace ashlar
