#include <fstream>
#include <map>
#include <sstream>

#include "protocol/secure/base64url.h"
#include "protocol/secure/connect_token.h"
#include "protocol/secure/key_derivation.h"
#include "protocol/secure/key_text.h"
#include "protocol/secure/resumption.h"
#include "tests/protocol/bytes.h"
#include "tests/protocol/secure/handshake_cases.h"

// What known_answers.py, which shares nothing with our code, says that all of this comes to.

namespace ashlar::secure {
namespace {

using namespace secure_test;

const Bytes& known(const std::string& what) {
  static const std::map<std::string, Bytes> all = [] {
    std::map<std::string, Bytes> out;
    std::ifstream file(ASHLAR_KNOWN_ANSWERS);
    for (std::string line; std::getline(file, line);) {
      std::istringstream in(line);
      std::string key, hex;
      in >> key >> hex;
      if (key != "#") out[key] = ashlar::test::from_hex(hex);
    }
    return out;
  }();
  CAPTURE(what);
  REQUIRE(all.contains(what));
  return all.at(what);
}

template <class T>
Bytes bytes_from(const T& range) {
  return Bytes(std::begin(range), std::end(range));
}

Secret ramp(std::uint8_t first) {
  Bytes32 out;
  for (std::size_t i = 0; i < 32; ++i) out[i] = static_cast<std::uint8_t>(first + i);
  return Secret(out);
}

/// 1, 2, 3 ...
class RampEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override {
    for (auto& b : out) b = ++last_;
  }

 private:
  std::uint8_t last_ = 0;
};

}  // namespace

TEST_CASE("keys are derived as the papers say", "[protocol][known_answers]") {
  CHECK(bytes_from(sha256({bytes_of("a"), bytes_of("bc")})) == known("sha256_abc"));
  Bytes out(50);
  expand(ramp(0).bytes(), "label", bytes_of("context"), out);
  CHECK(out == known("expand"));
}

TEST_CASE("packets are sealed as the papers say, mask and key changes included",
          "[protocol][known_answers]") {
  for (const Cipher cipher : test_ciphers()) {
    SessionKeys keys;
    keys.version = 3;
    keys.cipher = cipher;
    keys.connection = 0x01020304;
    keys.client_to_server = ramp(0x40);
    PacketProtection client(keys, End::client, noon);
    const std::string sealed = "sealed_" + std::string(name(cipher)) + "_";
    Bytes packet(seal_overhead_bytes);
    REQUIRE(client.seal(1, {}, packet) == packet.size());
    CHECK(packet == known(sealed + "empty"));
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      const ByteSpan plain = bytes_of("plain text of a packet");
      packet.resize(plain.size() + seal_overhead_bytes);
      REQUIRE(client.seal(0x1'0000'0007 + epoch, plain, packet) == packet.size());
      CHECK(packet == known(sealed + std::to_string(epoch)));
      client.confirmed(0x1'0000'0007 + epoch);
      REQUIRE(client.rekey());
    }
  }
}

TEST_CASE("a handshake says byte for byte what the papers say", "[protocol][known_answers]") {
  RampEntropy server_entropy, client_entropy;
  ServerDoor door({3, key_pair(ramp(0x20)), offer_chacha20}, server_entropy, noon);
  ClientHandshakeSetup setup;
  setup.version = 3;
  setup.identity = key_pair(ramp(0x60));
  setup.ciphers = offer_chacha20 | offer_aes256;
  ClientHandshake client(setup, client_entropy, noon);
  const PeerAddress from = address_of(4000);
  CHECK(bytes_from(door.identity().bytes) == known("server_public"));
  CHECK(bytes_from(setup.identity.open.bytes) == known("client_public"));

  Bytes out(datagram_bytes_max);
  const auto answer = [&](const Bytes& packet) {
    const Arrival arrival = door.receive(packet, from, out);
    REQUIRE(std::holds_alternative<Answer>(arrival));
    return Bytes(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(std::get<Answer>(arrival).bytes));
  };
  Bytes hello = due(client, noon);
  CHECK(Bytes(hello.begin(), hello.begin() + hello_cookie_at) == known("hello_fields"));
  const Bytes retry = answer(hello);
  CHECK(retry == known("retry"));
  client.receive(retry, noon);
  const Bytes accept = answer(due(client, noon));
  CHECK(accept == known("accept"));
  client.receive(accept, noon);
  REQUIRE(client.step() == ClientStep::server_known);
  CHECK(bytes_from(client.binding()) == known("binding"));
  client.finish(bytes_of("what the player says"), noon);
  const Bytes finish = due(client, noon);
  CHECK(finish == known("finish"));
  const Arrival arrival = door.receive(finish, from, out);
  const auto* accepted = std::get_if<Accepted>(&arrival);
  REQUIRE(accepted != nullptr);
  CHECK(bytes_from(accepted->id) == known("handshake_id"));
  const SessionKeys keys = accepted->session.keys(0x01020304);
  CHECK(bytes_from(keys.transcript) == known("transcript"));
  CHECK(bytes_from(keys.client_to_server.bytes()) == known("client_to_server"));
  CHECK(bytes_from(keys.server_to_client.bytes()) == known("server_to_client"));
  CHECK(bytes_from(keys.resumption.bytes()) == known("resumption"));
  CHECK(bytes_from(resume_proof(keys.resumption, accepted->binding)) == known("resume_proof"));
  CHECK(bytes_from(reset_token(reset_key(ramp(0x20)), 0x01020304)) == known("reset_token"));
}

TEST_CASE("tokens and keys are written as the papers say", "[protocol][known_answers]") {
  const IssuerKeyPair issuer = issuer_key_pair(ramp(0x33));
  CHECK(bytes_from(issuer.open.bytes) == known("issuer_public"));
  TokenClaims claims;
  claims.client.bytes = ramp(0x77).bytes();
  claims.id = "id-4711";
  claims.name = "Ann";
  claims.not_before_s = 1000;
  claims.expires_s = 2000;
  claims.servers = {PublicKey{ramp(0x10).bytes()}, PublicKey{ramp(0x99).bytes()}};
  const auto token = mint_token(claims, issuer);
  REQUIRE(token.has_value());
  CHECK(*token == known("token"));
  KeyPair secret;
  secret.secret = ramp(0x33);
  CHECK(secret_key_text(secret).starts_with("ashlar-secret-"));
  // By the length, as the letters may hold a '-'.
  const auto bytes_in = [](const std::string& text) { return text.substr(text.size() - 48); };
  CHECK(bytes_in(secret_key_text(secret)) == base64url(known("checked_secret")));
  CHECK(bytes_in(issuer_public_text(issuer.open)) == base64url(known("checked_issuer_public")));
}

TEST_CASE("the papers' own vectors hold", "[protocol][known_answers]") {
  const auto hex = [](const std::string& text) { return ashlar::test::from_hex(text); };
  const auto key_of = [&](const std::string& text) {
    Bytes32 out;
    std::ranges::copy(hex(text), out.begin());
    return out;
  };
  // RFC 7748, section 5.2: the iterated one, once.
  Bytes32 nine{};
  nine[0] = 9;
  CHECK(bytes_from(shared_secret(Secret(nine), PublicKey{nine})->bytes()) ==
        hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"));
  // RFC 8032, section 7.1, test 1.
  const Secret seed(key_of("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"));
  CHECK(bytes_from(issuer_key_pair(seed).open.bytes) ==
        hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"));
  // RFC 5869, case 1, its first half.
  Bytes salt, info;
  for (std::uint8_t i = 0; i < 13; ++i) salt.push_back(i);
  CHECK(bytes_from(extract(salt, Bytes(22, 0x0b)).bytes()) ==
        hex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"));
}

}  // namespace ashlar::secure
