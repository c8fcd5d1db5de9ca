#include "protocol/secure/open_packets.h"

#include <sodium.h>

#include "protocol/little_endian.h"
#include "protocol/secure/key_derivation.h"
#include "world/math/assert.h"

namespace ashlar::secure {
namespace {

bool all_zero(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t b) { return b == 0; });
}

}  // namespace

std::expected<PacketType, DropReason> packet_type(ByteSpan packet, std::uint8_t version) {
  if (packet.empty()) return std::unexpected{DropReason::too_short};
  if (packet[0] != version) return std::unexpected{DropReason::wrong_version};
  if (packet.size() < reset_bytes) return std::unexpected{DropReason::too_short};
  if (packet.size() > datagram_bytes_max) return std::unexpected{DropReason::too_long};
  const auto type = static_cast<std::uint8_t>(packet[1] & 0x0f);
  if (type < 1 || type > 9) return std::unexpected{DropReason::bad_header};
  return static_cast<PacketType>(type);
}

void write_open_prefix(std::span<std::uint8_t> out, std::uint8_t version, PacketType type,
                       std::uint64_t nonce) {
  ASHLAR_ASSERT(out.size() >= open_prefix_bytes);
  std::ranges::fill(out.first(open_prefix_bytes), std::uint8_t{0});
  out[0] = version;
  out[1] = static_cast<std::uint8_t>(type);
  put_little(&out[open_nonce_at], nonce);
}

bool open_prefix_ok(ByteSpan packet, PacketType type, std::size_t zeros_from) {
  return packet.size() >= open_prefix_bytes && packet[1] == static_cast<std::uint8_t>(type) &&
         all_zero(packet.subspan(zeros_from, open_nonce_at - zeros_from));
}

std::uint64_t open_nonce(ByteSpan packet) {
  ASHLAR_ASSERT(packet.size() >= open_prefix_bytes);
  return get_little<std::uint64_t>(&packet[open_nonce_at]);
}

std::size_t write_refuse_version(ByteSpan question, std::uint8_t version, std::span<std::uint8_t> out) {
  if (question.size() != datagram_bytes_max || question[0] == version) return 0;
  write_open_prefix(out, version, PacketType::refuse_version, open_nonce(question));
  return open_prefix_bytes;
}

std::size_t write_ping(std::uint8_t version, std::uint64_t nonce, std::size_t size,
                       std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(size >= open_prefix_bytes);
  ASHLAR_ASSERT(size <= ping_bytes_max);
  std::ranges::fill(out.first(size), std::uint8_t{0});
  write_open_prefix(out, version, PacketType::ping, nonce);
  return size;
}

std::size_t write_pong(ByteSpan ping, std::uint8_t version, ByteSpan info, std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(info.size() <= pong_info_bytes_max);
  if (packet_type(ping, version) != PacketType::ping || !open_prefix_ok(ping, PacketType::ping)) return 0;
  if (!all_zero(ping.subspan(open_prefix_bytes))) return 0;
  if (open_prefix_bytes + info.size() > answer_bytes_max(ping.size())) return 0;
  write_open_prefix(out, version, PacketType::pong, open_nonce(ping));
  std::ranges::copy(info, out.begin() + open_prefix_bytes);
  return open_prefix_bytes + info.size();
}

std::expected<ByteSpan, DropReason> read_pong(ByteSpan packet, std::uint8_t version, std::uint64_t nonce) {
  const auto type = packet_type(packet, version);
  if (!type) return std::unexpected{type.error()};
  if (*type != PacketType::pong || !open_prefix_ok(packet, PacketType::pong) || open_nonce(packet) != nonce ||
      packet.size() > open_prefix_bytes + pong_info_bytes_max)
    return std::unexpected{DropReason::malformed};
  return packet.subspan(open_prefix_bytes);
}

Secret reset_key(const Secret& server_secret) { return expand(server_secret, "reset"); }

ResetToken reset_token(const Secret& key, std::uint32_t connection) {
  std::array<std::uint8_t, 4> number;
  put_little(number.data(), connection);
  // Strangers make a server compute it with any packet: 0.1 us, where a hash would take two.
  static_assert(crypto_shorthash_siphashx24_KEYBYTES <= sizeof(Bytes32));
  ResetToken out;
  crypto_shorthash_siphashx24(out.data(), number.data(), number.size(), key.bytes().data());
  return out;
}

std::size_t write_reset(ByteSpan question, std::uint8_t version, const Secret& key,
                        std::span<std::uint8_t> out) {
  if (packet_type(question, version) != PacketType::sealed) return 0;
  if (reset_bytes > answer_bytes_max(question.size())) return 0;
  ASHLAR_ASSERT(out.size() >= reset_bytes);
  out[0] = version;
  out[1] = static_cast<std::uint8_t>(PacketType::reset);
  std::ranges::copy(question.subspan(2, 4), out.begin() + 2);
  std::ranges::copy(reset_token(key, get_little<std::uint32_t>(&question[2])), out.begin() + 6);
  return reset_bytes;
}

bool is_reset(ByteSpan packet, std::uint8_t version, std::uint32_t connection, const ResetToken& token) {
  return packet.size() == reset_bytes && packet[0] == version &&
         packet[1] == static_cast<std::uint8_t>(PacketType::reset) &&
         get_little<std::uint32_t>(&packet[2]) == connection && equal(packet.subspan(6, 16), token);
}

}  // namespace ashlar::secure
