// Reads the packets that protocol/WIRE.md shows, handshake and seals included, by the rules on that page
// alone: offsets written out by hand, hashes and ciphers of libsodium, none of our code.
#include <sodium.h>

#include <initializer_list>
#include <map>

#include "tests/protocol/wire_page.h"

using namespace ashlar;
using namespace ashlar::wire_page;

namespace {

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes out;
  for (const Bytes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

Bytes text_bytes(const std::string& text) { return {text.begin(), text.end()}; }

Bytes little(std::uint64_t value, std::size_t size) {
  Bytes out;
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  return out;
}

Bytes hash(const Bytes& said) {
  Bytes out(crypto_hash_sha256_BYTES);
  crypto_hash_sha256(out.data(), said.data(), said.size());
  return out;
}

Bytes hmac_of(const Bytes& key, const Bytes& said) {
  Bytes out(crypto_auth_hmacsha256_BYTES);
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key.data(), key.size());
  crypto_auth_hmacsha256_update(&state, said.data(), said.size());
  crypto_auth_hmacsha256_final(&state, out.data());
  return out;
}

/// One block of HKDF-Expand is all that anything takes.
Bytes expand_by_page(const Bytes& key, const std::string& label, const Bytes& context = {},
                     std::size_t size = 32) {
  Bytes out = hmac_of(key, joined({text_bytes("ashlar " + label), {0}, context, {1}}));
  out.resize(size);
  return out;
}

Bytes multiplied(const Bytes& secret, const Bytes& point) {
  Bytes out(crypto_scalarmult_BYTES);
  REQUIRE(crypto_scalarmult(out.data(), secret.data(), point.data()) == 0);
  return out;
}

Bytes public_of(const Bytes& secret) {
  Bytes base(32);
  base[0] = 9;
  return multiplied(secret, base);
}

Bytes opened(const Bytes& key, const Bytes& nonce, const Bytes& authenticated, const Bytes& sealed) {
  REQUIRE(sealed.size() >= 16);
  Bytes out(sealed.size() - 16);
  unsigned long long size = 0;
  REQUIRE(crypto_aead_chacha20poly1305_ietf_decrypt(out.data(), &size, nullptr, sealed.data(), sealed.size(),
                                                    authenticated.data(), authenticated.size(), nonce.data(),
                                                    key.data()) == 0);
  return out;
}

Bytes siphash_128(const Bytes& key, const Bytes& said) {
  Bytes out(16);
  crypto_shorthash_siphashx24(out.data(), said.data(), said.size(), key.data());
  return out;
}

Bytes siphash_64(const Bytes& key, const Bytes& said) {
  Bytes out(8);
  crypto_shorthash(out.data(), said.data(), said.size(), key.data());
  return out;
}

/// What both ends keep through a handshake.
struct NoiseByPage {
  Bytes h, ck, k;
  std::uint64_t n = 0;

  NoiseByPage() : h(text_bytes("Noise_XX_25519_ChaChaPoly_SHA256")), ck(h) { REQUIRE(h.size() == 32); }
  void mix_hash(const Bytes& x) { h = hash(joined({h, x})); }
  void mix_key(const Bytes& x) {
    const Bytes t = hmac_of(ck, x);
    ck = hmac_of(t, {1});
    k = hmac_of(t, joined({ck, {2}}));
    n = 0;
  }
  /// The other side's encrypt().
  Bytes decrypt(const Bytes& y) {
    Bytes out = opened(k, joined({Bytes(4), little(n, 8)}), h, y);
    ++n;
    mix_hash(y);
    return out;
  }
};

/// The page's session: read from its packets with the secrets that the page tells.
struct SessionByPage {
  Bytes server_secret, client_secret, client_ephemeral, slot_secret;
  Bytes address =
      joined({Bytes(10), {0xff, 0xff, 127, 0, 0, 1}, little(0, 4), little(4000, 2), {0}, little(0, 4)});
  Bytes server_static, client_static, payload, binding, handshake_id, ticket, session;

  SessionByPage() {
    REQUIRE(sodium_init() >= 0);
    const Bytes secrets = example("Secrets");
    REQUIRE(secrets.size() == 4 * 32);
    const Reader r{secrets};
    server_secret = r.part(0, 32);
    client_secret = r.part(32, 32);
    client_ephemeral = r.part(64, 32);
    slot_secret = r.part(96, 32);

    const Bytes hello_bytes = example("Hello");
    const Reader hello{hello_bytes};
    NoiseByPage noise;
    noise.mix_hash(hello.part(0, 76));
    noise.mix_hash(hello.part(24, 32));
    noise.mix_hash({});
    handshake_id = hash(joined({noise.h, address}));

    const Bytes accept_bytes = example("Accept");
    const Reader accept{accept_bytes};
    const Bytes server_ephemeral = accept.part(24, 32);
    noise.mix_hash(server_ephemeral);
    noise.mix_key(multiplied(client_ephemeral, server_ephemeral));
    server_static = noise.decrypt(accept.part(56, 48));
    noise.mix_key(multiplied(client_ephemeral, server_static));
    REQUIRE(noise.decrypt(accept.part(104, 17)) == Bytes{1});  // ChaCha20-Poly1305
    const NoiseByPage before_ticket = noise;
    ticket = noise.decrypt(accept.part(121, 166));

    // The ticket says what the server's end was.
    const Reader t{ticket};
    REQUIRE(t.u32(0) == 20);
    REQUIRE(t.part(4, 32) == handshake_id);
    const Bytes state = opened(expand_by_page(slot_secret, "ticket", handshake_id), Bytes(12),
                               joined({{19}, little(20, 4), address}), t.part(36, 114));
    REQUIRE(state == joined({before_ticket.ck,
                             before_ticket.k,
                             before_ticket.h,
                             {static_cast<std::uint8_t>(before_ticket.n), 1}}));

    const Bytes finish_bytes = example("Finish");
    const Reader finish{finish_bytes};
    noise.mix_hash(finish.part(0, 24));
    binding = noise.h;
    REQUIRE(finish.part(24, 150) == ticket);
    client_static = noise.decrypt(finish.part(174, 48));
    noise.mix_key(multiplied(client_secret, server_ephemeral));
    payload = noise.decrypt(finish.part(222, finish.bytes.size() - 222));
    session = hmac_of(noise.h, noise.ck);
  }
};

struct UnsealedByPage {
  std::uint32_t connection = 0;
  std::uint64_t sequence = 0;
  bool phase = false;
  Bytes plain;
};

/// @param label       the direction's
/// @param next_keys   so many changes of keys went before
/// @param high        half of the sequence, which does not travel
UnsealedByPage unsealed(const Bytes& session, const std::string& label, const Bytes& packet,
                        int next_keys = 0, std::uint32_t high = 0) {
  const Reader r{packet};
  UnsealedByPage out;
  REQUIRE(r.u8(0) == 19);
  REQUIRE((r.u8(1) & 0xef) == 5);
  out.connection = r.u32(2);
  Bytes secret = expand_by_page(session, label, r.part(2, 4));
  const Bytes header_key = expand_by_page(secret, "header", {}, 16);
  for (int i = 0; i < next_keys; ++i) secret = expand_by_page(secret, "next");

  const Bytes mask = siphash_64(header_key, r.part(packet.size() - 16, 16));
  Bytes header = r.part(0, 10);
  for (std::size_t i = 0; i < 4; ++i) header[6 + i] ^= mask[i];
  header[1] ^= static_cast<std::uint8_t>((mask[4] & 1) << 4);
  const Reader clear{header};
  out.phase = (clear.u8(1) & 0x10) != 0;
  out.sequence = std::uint64_t{high} << 32 | clear.u32(6);
  Bytes nonce = expand_by_page(secret, "iv", {}, 12);
  const Bytes number = little(out.sequence, 8);
  for (std::size_t i = 0; i < 8; ++i) nonce[4 + i] ^= number[i];
  out.plain = opened(expand_by_page(secret, "key"), nonce, header, r.part(10, packet.size() - 10));
  return out;
}

/// Walks over the LEB128 number at `at`.
std::uint64_t varint_at(const Reader& r, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const std::uint8_t byte = r.u8(at++);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}

/// Walks over the credits at `at`.
std::map<int, std::uint64_t> credits_at(const Reader& r, std::size_t& at) {
  std::map<int, std::uint64_t> limits;
  while (r.u8(at) == 3) {
    const int stream = r.u8(at + 1);
    at += 2;
    limits[stream] = varint_at(r, at);
  }
  return limits;
}

}  // namespace

TEST_CASE("the page's hello and retry are as the page draws them", "[protocol][wire]") {
  const SessionByPage session;
  const Bytes hello_bytes = example("Hello");
  const Reader hello{hello_bytes};
  REQUIRE(hello_bytes.size() == 76);
  CHECK(hello.u8(0) == 19);
  CHECK(hello.u8(1) == 1);
  CHECK(hello.u8(2) == 3);  // both ciphers
  CHECK(hello.zeros(3, 16));
  CHECK(hello.part(24, 32) == public_of(session.client_ephemeral));
  CHECK(hello.u32(56) == 20);
  const Bytes cookie_key = expand_by_page(session.slot_secret, "cookie", {}, 16);
  CHECK(hello.part(60, 16) ==
        siphash_128(cookie_key, joined({little(20, 4), session.address, hello.part(0, 56)})));

  const Bytes retry_bytes = example("Retry");
  const Reader retry{retry_bytes};
  REQUIRE(retry_bytes.size() == 44);
  CHECK(retry.u8(0) == 19);
  CHECK(retry.u8(1) == 2);
  CHECK(retry.zeros(2, 16));
  CHECK(retry.u64(16) == hello.u64(16));
  CHECK(retry.part(24, 20) == hello.part(56, 20));
}

TEST_CASE("the page's accept and finish are as the page draws them", "[protocol][wire]") {
  const SessionByPage session;
  const Bytes hello_bytes = example("Hello"), accept_bytes = example("Accept"),
              finish_bytes = example("Finish");
  const Reader hello{hello_bytes}, accept{accept_bytes}, finish{finish_bytes};
  REQUIRE(accept_bytes.size() == 287);
  CHECK(accept.u8(0) == 19);
  CHECK(accept.u8(1) == 3);
  CHECK(accept.zeros(2, 16));
  CHECK(accept.u64(16) == hello.u64(16));
  CHECK(accept.part(24, 32) ==
        public_of(expand_by_page(session.slot_secret, "ephemeral", session.handshake_id)));
  CHECK(session.server_static == public_of(session.server_secret));

  CHECK(finish.u8(0) == 19);
  CHECK(finish.u8(1) == 4);
  CHECK(finish.zeros(2, 16));
  CHECK(finish.u64(16) == hello.u64(16));
  CHECK(session.client_static == public_of(session.client_secret));
  CHECK(session.payload == example("Hello message"));
  CHECK(finish_bytes.size() == 238 + session.payload.size());
}

TEST_CASE("the page's sealed welcome holds the welcome on the control stream", "[protocol][wire]") {
  const SessionByPage session;
  const UnsealedByPage packet = unsealed(session.session, "server to client", example("Sealed welcome"));
  CHECK(packet.connection == 0x11223344);
  CHECK(packet.sequence == 1);
  CHECK_FALSE(packet.phase);
  const Reader r{packet.plain};
  const Bytes welcome = example("Welcome");
  std::size_t at = 0;
  // The windows of a server.
  CHECK(credits_at(r, at) ==
        std::map<int, std::uint64_t>{
            {0, 32 * 1024}, {1, 16 * 1024}, {2, 4 * 1024}, {3, 32 * 1024}, {4, 32 * 1024}});
  CHECK(r.u8(at++) == 16);       // a frame of stream 0, control
  CHECK(varint_at(r, at) == 0);  // from its beginning
  CHECK(varint_at(r, at) == welcome.size() + 4);
  CHECK(r.u32(at) == welcome.size());  // the message's length, in the stream
  CHECK(r.part(at + 4, welcome.size()) == welcome);
  CHECK(at + 4 + welcome.size() == packet.plain.size());
}

TEST_CASE("the page's sealed input acknowledges and holds the input", "[protocol][wire]") {
  const SessionByPage session;
  const UnsealedByPage packet = unsealed(session.session, "client to server", example("Sealed input"));
  CHECK(packet.connection == 0x11223344);
  CHECK(packet.sequence == 1);
  const Reader r{packet.plain};
  std::size_t at = 0;
  CHECK(r.u8(at++) == 2);           // an acknowledgement
  CHECK(varint_at(r, at) == 1);     // of packet 1
  CHECK(varint_at(r, at) == 1000);  // which came 1 ms ago
  CHECK(r.u8(at++) == 0);           // and of no more ranges:
  CHECK(varint_at(r, at) == 0);     // 1 to 1
  // The windows of a client.
  CHECK(credits_at(r, at) ==
        std::map<int, std::uint64_t>{
            {0, 128 * 1024}, {1, 64 * 1024}, {2, 16 * 1024}, {3, 128 * 1024}, {4, 1280 * 1024}});
  while (r.u8(at) == 0) ++at;  // padding
  CHECK(r.u8(at++) == 8);      // unreliable
  CHECK((10 + at) % 8 == 0);
  CHECK(r.part(at, packet.plain.size() - at) == example("Input"));
}

TEST_CASE("the page's sealed close says why", "[protocol][wire]") {
  const SessionByPage session;
  const UnsealedByPage packet = unsealed(session.session, "server to client", example("Sealed close"));
  CHECK(packet.sequence == 2);
  CHECK(packet.plain == joined({{7, 70, 4}, text_bytes("idle")}));  // 70: kicked
}

TEST_CASE("the page's sealed frames are of the next keys and read as the page draws them",
          "[protocol][wire]") {
  const SessionByPage session;
  const UnsealedByPage packet = unsealed(session.session, "client to server", example("Sealed frames"), 1, 1);
  CHECK(packet.phase);
  CHECK(packet.sequence == (std::uint64_t{1} << 32) + 7);
  const Reader r{packet.plain};
  std::size_t at = 0;
  CHECK(r.u8(at++) == 1);  // ping
  CHECK(r.u8(at++) == 2);  // ack
  CHECK(varint_at(r, at) == 300);
  CHECK(varint_at(r, at) == 5);
  CHECK(r.u8(at++) == 1);
  CHECK(varint_at(r, at) == 9);
  CHECK(varint_at(r, at) == 2);
  CHECK(varint_at(r, at) == 1);
  CHECK(r.u8(at++) == 3);  // credit
  CHECK(r.u8(at++) == 4);  // of bulk
  CHECK(varint_at(r, at) == 300'000);
  CHECK(r.u8(at++) == 4);  // stream_reset
  CHECK(r.u8(at++) == 3);  // of edits
  CHECK(varint_at(r, at) == 77);
  CHECK(r.u8(at++) == 5);  // path_challenge
  CHECK(r.u64(at) == 0x0123456789abcdef);
  CHECK(r.u8(at += 8) == 6);  // path_response
  CHECK(r.u64(++at) == 0xfedcba9876543210);
  CHECK(r.u8(at += 8) == 16 + 2);  // chat
  CHECK(varint_at(r, ++at) == 300);
  CHECK(varint_at(r, at) == 4);
  CHECK(r.part(at, 4) == text_bytes("chat"));
  CHECK(at + 4 == packet.plain.size());
}

TEST_CASE("what the page says outside of a session is as the page draws it", "[protocol][wire]") {
  const SessionByPage session;
  const Bytes reset_key = expand_by_page(session.server_secret, "reset", {}, 16);
  CHECK(example("Reset") ==
        joined({{19, 6}, little(0x11223344, 4), siphash_128(reset_key, little(0x11223344, 4))}));
  const Bytes nonce = little(0x8877665544332211, 8);
  CHECK(example("Ping") == joined({{19, 7}, Bytes(14), nonce, Bytes(48)}));
  CHECK(example("Pong") == joined({{19, 8}, Bytes(14), nonce, little(600, 4), little(3, 4), little(32, 4)}));
  const Bytes hello = example("Hello");
  CHECK(example("Refused version") == joined({{19, 9}, Bytes(14), Reader{hello}.part(16, 8)}));
}

TEST_CASE("the page's connect token is as the page draws it", "[protocol][wire]") {
  const SessionByPage session;
  const Bytes token = example("Connect token");
  const Reader r{token};
  CHECK(r.u8(0) == 1);
  CHECK(r.part(9, 32) == session.client_static);
  CHECK(r.u64(41) == 1'700'000'000);
  CHECK(r.u64(49) == 1'700'003'600);
  CHECK(r.u8(57) == 7);
  CHECK(r.part(58, 7) == text_bytes("id-4711"));
  CHECK(r.u8(65) == 3);
  CHECK(r.part(66, 3) == text_bytes("Ada"));
  CHECK(r.u8(69) == 1);
  CHECK(r.part(70, 32) == session.server_static);
  REQUIRE(token.size() == 102 + 64);

  Bytes seed, issuer(32), secret(64);
  for (std::uint8_t i = 0; i < 32; ++i) seed.push_back(static_cast<std::uint8_t>(0xa0 + i));
  crypto_sign_seed_keypair(issuer.data(), secret.data(), seed.data());
  CHECK(r.part(1, 8) == Reader{hash(issuer)}.part(0, 8));
  const Bytes signed_bytes = joined({text_bytes("ashlar connect token"), {0}, r.part(0, 102)});
  CHECK(crypto_sign_verify_detached(&token[102], signed_bytes.data(), signed_bytes.size(), issuer.data()) ==
        0);
}
