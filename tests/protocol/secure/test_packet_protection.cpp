#include "protocol/secure/packet_protection.h"

#include "tests/catch.h"
#include "tests/protocol/secure/secure_cases.h"

namespace ashlar::secure {
namespace {

using namespace secure_test;

constexpr Micros start = std::chrono::seconds(100);

struct Opened {
  std::uint64_t sequence = 0;
  Bytes plaintext;
};

Bytes sealed_by(PacketProtection& sender, std::uint64_t sequence, const Bytes& plaintext) {
  Bytes packet(plaintext.size() + seal_overhead_bytes);
  REQUIRE(sender.seal(sequence, plaintext, packet) == packet.size());
  return packet;
}

std::expected<Opened, DropReason> opened_by(PacketProtection& receiver, const Bytes& packet) {
  const auto header = receiver.peek(packet);
  if (!header) return std::unexpected{header.error()};
  Opened out{header->sequence, Bytes(packet.size() - seal_overhead_bytes)};
  const auto size = receiver.open(packet, *header, out.plaintext);
  if (!size) return std::unexpected{size.error()};
  REQUIRE(*size == out.plaintext.size());
  return out;
}

/// Both ends of one session.
struct ProtectedPair {
  explicit ProtectedPair(const SessionKeys& keys)
      : client(keys, End::client, start), server(keys, End::server, start) {}
  PacketProtection client, server;
};

Bytes text_bytes(std::string_view text) { return Bytes(text.begin(), text.end()); }

}  // namespace

TEST_CASE("a sealed packet opens at the other end, whatever its size", "[protocol][packet_protection]") {
  Rng rng{1};
  for (const Cipher cipher : test_ciphers()) {
    ProtectedPair ends(some_keys(cipher));
    std::uint64_t sequence = 0;
    for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 300u, 1174u}) {
      CAPTURE(name(cipher), size);
      const Bytes plaintext = random_bytes(rng, size);
      ++sequence;
      const auto there = opened_by(ends.server, sealed_by(ends.client, sequence, plaintext));
      REQUIRE(there.has_value());
      CHECK(there->sequence == sequence);
      CHECK(there->plaintext == plaintext);
      const auto back = opened_by(ends.client, sealed_by(ends.server, sequence, plaintext));
      REQUIRE(back.has_value());
      CHECK(back->plaintext == plaintext);
    }
    CHECK(sealed_by(ends.client, 100, random_bytes(rng, sealed_plaintext_bytes_max)).size() ==
          datagram_bytes_max);
  }
}

TEST_CASE("packets are sealed and opened in place", "[protocol][packet_protection]") {
  Rng rng{2};
  for (const Cipher cipher : {Cipher::none, Cipher::chacha20_poly1305, Cipher::aes256_gcm}) {
    if (cipher == Cipher::aes256_gcm && !aes_available()) continue;
    ProtectedPair ends(some_keys(cipher));
    for (const std::size_t size : {0u, 1u, 100u, 128u, 700u, 1174u}) {
      CAPTURE(name(cipher), size);
      const Bytes plaintext = random_bytes(rng, size);
      Bytes packet(size + seal_overhead_bytes);
      std::ranges::copy(plaintext, packet.begin() + std::ptrdiff_t{sealed_header_bytes});
      REQUIRE(ends.client.seal(1 + size, std::span(packet).subspan(sealed_header_bytes, size), packet) ==
              packet.size());
      const auto header = ends.server.peek(packet);
      REQUIRE(header.has_value());
      const auto body = std::span(packet).subspan(sealed_header_bytes, size);
      REQUIRE(ends.server.open(packet, *header, body).has_value());
      CHECK(Bytes(body.begin(), body.end()) == plaintext);
    }
  }
}

TEST_CASE("any bit changed anywhere in a sealed packet keeps it shut and changes nothing",
          "[protocol][packet_protection]") {
  for (const Cipher cipher : test_ciphers()) {
    ProtectedPair ends(some_keys(cipher));
    const Bytes early = sealed_by(ends.client, 1, text_bytes("before"));
    const Bytes packet = sealed_by(ends.client, 2, text_bytes("nobody may change this"));
    for (std::size_t bit = 0; bit < 8 * packet.size(); ++bit)
      REQUIRE_FALSE(opened_by(ends.server, with_flipped_bit(packet, bit)).has_value());
    CHECK(ends.server.receive_epoch() == 0);
    CHECK(opened_by(ends.server, packet).has_value());
    CHECK(opened_by(ends.server, early).has_value());
  }
}

TEST_CASE("every truncation of a sealed packet is refused with a reason", "[protocol][packet_protection]") {
  ProtectedPair ends(some_keys(Cipher::chacha20_poly1305));
  const Bytes packet = sealed_by(ends.client, 1, text_bytes("0123456789"));
  for (std::size_t size = 0; size < packet.size(); ++size) {
    const auto opened =
        opened_by(ends.server, Bytes(packet.begin(), packet.begin() + static_cast<long>(size)));
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error() == (size < seal_overhead_bytes ? DropReason::too_short : DropReason::corrupt));
  }
  Bytes other = packet;
  other[0] = 9;
  CHECK(opened_by(ends.server, other).error() == DropReason::wrong_version);
  other = packet, other[1] |= 0x20;
  CHECK(opened_by(ends.server, other).error() == DropReason::bad_header);
  other = packet, other[2] ^= 1;
  CHECK(opened_by(ends.server, other).error() == DropReason::unknown_connection);
  other = packet, other.resize(datagram_bytes_max + 1);
  CHECK(opened_by(ends.server, other).error() == DropReason::too_long);
}

TEST_CASE("a packet sent back to its sender does not open", "[protocol][packet_protection]") {
  for (const Cipher cipher : test_ciphers()) {
    ProtectedPair ends(some_keys(cipher));
    const Bytes packet = sealed_by(ends.client, 1, text_bytes("mine"));
    CHECK_FALSE(opened_by(ends.client, packet).has_value());
    ProtectedPair strangers(some_keys(cipher, 2));
    CHECK_FALSE(opened_by(strangers.server, packet).has_value());
  }
}

TEST_CASE("what travels of a sequence looks like noise, and it is found again near the highest seen",
          "[protocol][packet_protection]") {
  ProtectedPair ends(some_keys(Cipher::chacha20_poly1305));
  std::size_t in_clear = 0, phase_bits = 0;
  for (std::uint64_t sequence = 1; sequence <= 1000; ++sequence) {
    const Bytes packet = sealed_by(ends.client, sequence, {});
    const auto low = static_cast<std::uint32_t>(packet[6] | packet[7] << 8 | packet[8] << 16) |
                     static_cast<std::uint32_t>(packet[9]) << 24;
    in_clear += low == sequence ? 1 : 0;
    phase_bits += (packet[1] & key_phase_bit) != 0 ? 1 : 0;
    const auto opened = opened_by(ends.server, packet);
    REQUIRE(opened.has_value());
    REQUIRE(opened->sequence == sequence);
  }
  CHECK(in_clear == 0);
  CHECK(phase_bits > 400);
  CHECK(phase_bits < 600);
  // Across the edge of 32 bits, in leaps that a receiver survives, and out of order.
  std::uint64_t sequence = 1000;
  for (const std::uint64_t leap : {0x7fff0000u, 0x7fff0000u, 0x7fff0000u, 0x7fff0000u}) {
    sequence += leap;
    CHECK(opened_by(ends.server, sealed_by(ends.client, sequence, {}))->sequence == sequence);
  }
  const std::uint64_t edge = (sequence | 0xffff'ffffu) - 2;
  std::vector<Bytes> packets;
  for (std::uint64_t i = 0; i < 6; ++i) packets.push_back(sealed_by(ends.client, edge + i, {}));
  for (const std::size_t i : {5u, 0u, 3u, 2u, 4u, 1u})
    CHECK(opened_by(ends.server, packets[i])->sequence == edge + i);
}

TEST_CASE("keys change in each direction on its own, and late packets still open",
          "[protocol][packet_protection]") {
  for (const Cipher cipher : test_ciphers()) {
    ProtectedPair ends(some_keys(cipher));
    std::uint64_t sequence = 0;
    for (std::uint32_t epoch = 1; epoch <= 5; ++epoch) {
      CAPTURE(name(cipher), epoch);
      const Bytes late = sealed_by(ends.client, ++sequence, text_bytes("late"));
      REQUIRE(opened_by(ends.server, sealed_by(ends.client, ++sequence, {})).has_value());
      REQUIRE(ends.client.rekey());
      CHECK_FALSE(ends.client.rekey());  // nobody confirmed it
      const Bytes first = sealed_by(ends.client, ++sequence, text_bytes("first"));
      const Bytes second = sealed_by(ends.client, ++sequence, text_bytes("second"));
      CHECK(opened_by(ends.server, second).has_value());
      CHECK(ends.server.receive_epoch() == epoch);
      CHECK(ends.server.send_epoch() == 0);
      CHECK(opened_by(ends.server, late).has_value());
      CHECK(opened_by(ends.server, first).has_value());
      CHECK(ends.server.receive_epoch() == epoch);
      ends.client.confirmed(sequence - 2);  // sealed with the old key
      CHECK_FALSE(ends.client.rekey());
      ends.client.confirmed(sequence - 1);
    }
  }
}

TEST_CASE("the previous key goes after its time", "[protocol][packet_protection]") {
  ProtectedPair ends(some_keys(Cipher::chacha20_poly1305));
  const Bytes late = sealed_by(ends.client, 1, {});
  const Bytes later = sealed_by(ends.client, 2, {});
  REQUIRE(ends.client.rekey());
  REQUIRE(opened_by(ends.server, sealed_by(ends.client, 3, {})).has_value());
  ends.server.advance(start + previous_key_kept - Micros(1));
  CHECK(opened_by(ends.server, late).has_value());
  ends.server.advance(start + previous_key_kept);
  CHECK(opened_by(ends.server, later).error() == DropReason::too_old);
}

TEST_CASE("a turned phase bit alone makes nobody change keys", "[protocol][packet_protection]") {
  ProtectedPair ends(some_keys(Cipher::chacha20_poly1305));
  for (std::uint64_t sequence = 1; sequence < 50; ++sequence) {
    Bytes packet = sealed_by(ends.client, sequence, text_bytes("x"));
    packet[1] ^= key_phase_bit;
    CHECK(opened_by(ends.server, packet).error() == DropReason::corrupt);
  }
  CHECK(ends.server.receive_epoch() == 0);
  CHECK(ends.server.forgeries() == 49);
  CHECK_FALSE(ends.server.worn_out());
  CHECK(opened_by(ends.server, sealed_by(ends.client, 50, {})).has_value());
  CHECK(ends.server.forgeries() == 49);
  REQUIRE(ends.client.rekey());
  CHECK(opened_by(ends.server, sealed_by(ends.client, 51, {})).has_value());
  CHECK(ends.server.forgeries() == 0);  // another key, tried by nobody yet
}

TEST_CASE("new keys are due by age", "[protocol][packet_protection]") {
  ProtectedPair ends(some_keys(Cipher::chacha20_poly1305));
  ends.client.advance(start + key_age_max - Micros(1));
  CHECK_FALSE(ends.client.rekey_due());
  ends.client.advance(start + key_age_max);
  CHECK(ends.client.rekey_due());
  REQUIRE(ends.client.rekey());
  CHECK_FALSE(ends.client.rekey_due());
  ends.client.advance(start + 2 * key_age_max);
  CHECK_FALSE(ends.client.rekey_due());  // not confirmed
  sealed_by(ends.client, 1, {});
  ends.client.confirmed(1);
  CHECK(ends.client.rekey_due());
}

TEST_CASE("a key seals so many packets and not one more", "[protocol][packet_protection]") {
  ProtectedPair ends(some_keys(Cipher::none));  // the counting is the same and the time bearable
  Bytes packet(seal_overhead_bytes);
  std::uint64_t sequence = 0;
  while (sequence < rekey_packets - 1) ends.client.seal(++sequence, {}, packet);
  CHECK_FALSE(ends.client.rekey_due());
  ends.client.seal(++sequence, {}, packet);
  CHECK(ends.client.rekey_due());
  while (sequence < key_packets_max) REQUIRE(ends.client.seal(++sequence, {}, packet) != 0);
  CHECK(ends.client.seal(++sequence, {}, packet) == 0);
  REQUIRE(ends.client.rekey());
  CHECK(ends.client.seal(++sequence, {}, packet) == packet.size());
}

TEST_CASE("a moved protection goes on where it was", "[protocol][packet_protection]") {
  for (const Cipher cipher : test_ciphers()) {
    ProtectedPair ends(some_keys(cipher));
    REQUIRE(opened_by(ends.server, sealed_by(ends.client, 1, {})).has_value());
    REQUIRE(ends.client.rekey());
    PacketProtection client(std::move(ends.client));
    PacketProtection server(std::move(ends.server));
    CHECK(opened_by(server, sealed_by(client, 2, text_bytes("moved"))).has_value());
    CHECK(server.receive_epoch() == 1);
  }
}

}  // namespace ashlar::secure
