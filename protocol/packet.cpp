#include "protocol/packet.h"

#include "protocol/version.h"

namespace ashlar {
namespace {

template <class T>
T read_little(std::span<const std::uint8_t> bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(static_cast<T>(bytes[offset + i]) << (8 * i));
  return value;
}

template <class T>
void write_little(std::span<std::uint8_t> bytes, std::size_t offset, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

}  // namespace

std::array<std::uint8_t, packet_header_bytes> encode(const PacketHeader& header) {
  std::array<std::uint8_t, packet_header_bytes> bytes{};
  bytes[0] = protocol_version;
  write_little(bytes, 4, header.connection);
  write_little(bytes, 8, header.sequence);
  write_little(bytes, 16, header.ack);
  write_little(bytes, 20, header.ack_bits);
  return bytes;
}

std::expected<Packet, DropReason> decode_packet(std::span<const std::uint8_t> bytes) {
  // The version is told first, so that a peer of another one gets an answer whatever the rest looks like.
  if (bytes.empty()) return std::unexpected{DropReason::too_short};
  if (bytes[0] != protocol_version) return std::unexpected{DropReason::wrong_version};
  if (bytes.size() < packet_header_bytes) return std::unexpected{DropReason::too_short};
  if (bytes.size() > datagram_bytes_max) return std::unexpected{DropReason::too_long};
  if (bytes[1] != 0 || bytes[2] != 0 || bytes[3] != 0) return std::unexpected{DropReason::bad_header};
  Packet packet;
  packet.header.connection = read_little<std::uint32_t>(bytes, 4);
  packet.header.sequence = read_little<std::uint64_t>(bytes, 8);
  packet.header.ack = read_little<std::uint32_t>(bytes, 16);
  packet.header.ack_bits = read_little<std::uint32_t>(bytes, 20);
  if (packet.header.sequence == 0) return std::unexpected{DropReason::bad_header};
  packet.payload = bytes.subspan(packet_header_bytes);
  return packet;
}

}  // namespace ashlar
