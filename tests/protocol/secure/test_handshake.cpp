#include <set>
#include <string_view>

#include "protocol/little_endian.h"
#include "protocol/secure/key_derivation.h"
#include "protocol/secure/resumption.h"
#include "tests/protocol/secure/handshake_cases.h"

namespace ashlar::secure {
namespace {

using namespace secure_test;

bool holds(const Bytes& bytes, ByteSpan part) {
  return std::search(bytes.begin(), bytes.end(), part.begin(), part.end()) != bytes.end();
}

DropReason drop_of(const TestServer& server) {
  const auto* reason = std::get_if<DropReason>(&server.last);
  REQUIRE(reason != nullptr);
  return *reason;
}

}  // namespace

TEST_CASE("a handshake leaves both ends with the same keys and each other's identity",
          "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshakeSetup setup = client_setup(3);
  setup.pinned = server.door.identity();
  ClientHandshake client(setup, entropy, noon);
  talk(server, client, address_of(1));
  REQUIRE(client.step() == ClientStep::done);
  REQUIRE(server.sessions.size() == 1);
  CHECK(same_session(client.keys(), server.sessions[0].keys));
  CHECK(server.sessions[0].client == setup.identity.open);
  CHECK(server.sessions[0].payload == payload_text());
  CHECK(server.sessions[0].binding == client.binding());
  CHECK(client.server_key() == server.door.identity());
  const ResumeProof proof = resume_proof(client.keys().resumption, client.binding());
  CHECK(resume_proof_ok(server.sessions[0].keys.resumption, server.sessions[0].binding, proof));
  CHECK_FALSE(resume_proof_ok(server.sessions[0].keys.resumption, Bytes32{}, proof));
  CHECK_FALSE(resume_proof_ok(Secret{}, client.binding(), proof));
  CHECK_FALSE(resume_proof_ok(client.keys().resumption, client.binding(), std::span(proof).first(31)));
}

TEST_CASE("the system's random bytes make other keys each time", "[protocol][handshake]") {
  SystemEntropy entropy;
  const Secret first = entropy.secret(), second = entropy.secret();
  CHECK_FALSE(first == second);
  CHECK_FALSE(first == Secret{});
  CHECK(key_pair(first).open != key_pair(second).open);
}

TEST_CASE("over TCP the cookie is left out", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  const PeerAddress from = address_of(1, Transport::tcp);
  client.receive(server.answer(due(client, noon), from), noon);
  REQUIRE(client.step() == ClientStep::server_known);
  client.finish({}, noon);
  client.receive(server.answer(due(client, noon), from), noon);
  REQUIRE(client.step() == ClientStep::done);
  CHECK(same_session(client.keys(), server.sessions.at(0).keys));
}

TEST_CASE("one hello over several links is answered with other secrets on each", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  client.receive(server.answer(due(client, noon), address_of(1)), noon);
  const Bytes hello = due(client, noon);  // with a cookie: over UDP it is accepted, too
  const PeerAddress link = address_of(1, Transport::tcp);
  PeerAddress next_link = link;
  next_link.link = 1;
  std::set<Bytes> ephemerals, ids, sealed;
  for (const PeerAddress& from : {address_of(1), link, next_link, address_of(2, Transport::tcp)}) {
    const Bytes accept = server.answer(hello, from);
    REQUIRE(accept.size() == accept_bytes);
    CHECK(server.answer(hello, from) == accept);
    ClientHandshake twin = client;
    twin.receive(accept, noon);
    REQUIRE(twin.step() == ClientStep::server_known);
    twin.finish({}, noon);
    const Bytes finish = due(twin, noon);
    const ByteSpan said(accept), ticket = ByteSpan(finish).subspan(finish_ticket_at, ticket_bytes);
    const auto part = [](ByteSpan bytes) { return Bytes(bytes.begin(), bytes.end()); };
    ephemerals.insert(part(said.subspan(accept_ephemeral_at, 32)));
    ids.insert(part(ticket.subspan(4, 32)));  // the ticket's key is made of it
    sealed.insert(part(ticket.subspan(36)));
    server.answer(finish, from);
  }
  CHECK(ephemerals.size() == 4);
  CHECK(ids.size() == 4);
  CHECK(sealed.size() == 4);
  CHECK(server.sessions.size() == 4);
}

TEST_CASE("a ticket with a cipher that its server would not have chosen is refused",
          "[protocol][handshake]") {
  const std::uint8_t both = offer_chacha20 | offer_aes256;
  for (const std::uint8_t ours : {offer_chacha20, both})
    for (const int number : {0, 1, 2, 3, 255}) {
      CAPTURE(int{ours}, number);
      TestServer server(1, ours);
      // Who forges a ticket like this knows the slot's secret: a finish as good as any, but for the cipher.
      SeededEntropy same(1);
      const DoorSecrets secrets(same.secret(), noon);
      const DoorSecrets::Slot& slot = secrets.present();
      const PeerAddress from = address_of(1);
      const KeyPair identity = identity_of(3);
      const Bytes32 id{1, 2, 3};
      const KeyPair ephemeral = key_pair(expand(slot.secret, "ephemeral", id));
      HandshakeState state(Bytes(hello_fields_bytes), identity.open);
      state.mix_key(Secret(id));

      std::array<std::uint8_t, HandshakeState::bytes + 1> plain;
      state.save(std::span(plain).first<HandshakeState::bytes>());
      plain.back() = static_cast<std::uint8_t>(number);
      Bytes ticket(ticket_bytes), said{test_version, 0, 0, 0, 0};
      put_little(ticket.data(), slot.number);
      put_little(&said[1], slot.number);
      for (const std::uint8_t b : bytes_of(from)) said.push_back(b);
      std::ranges::copy(id, ticket.begin() + 4);
      // Sealed by a state whose key is the ticket's, and whose hash is what the ticket is bound to.
      Bytes sealer(HandshakeState::bytes);
      std::ranges::copy(expand(slot.secret, "ticket", id).bytes(), sealer.begin() + 32);
      std::ranges::copy(said, sealer.begin() + 64);
      HandshakeState(std::span(sealer).first<HandshakeState::bytes>())
          .encrypt(plain, std::span(ticket).subspan(36));

      Bytes finish(finish_bytes_min), hashed(ticket_bytes + handshake_tag_bytes);
      const std::span<std::uint8_t> out(finish);
      write_open_prefix(out, test_version, PacketType::finish, 7);
      std::ranges::copy(ticket, out.begin() + finish_ticket_at);
      state.encrypt(ticket, hashed);
      state.mix_hash(out.first(open_prefix_bytes));
      state.encrypt(identity.open.bytes, out.subspan(finish_static_at, 32 + handshake_tag_bytes));
      state.mix_key(*shared_secret(identity.secret, ephemeral.open));
      state.encrypt({}, out.subspan(finish_payload_at));

      const bool good = number == 1 || (number == 2 && ours == both && aes_available());
      CHECK(cost_of(server.door, finish, from) == (good ? DoorCost::finish : DoorCost::hash));
      Bytes answer(datagram_bytes_max);
      const Arrival arrival = server.door.receive(finish, from, answer);
      CHECK(std::holds_alternative<Accepted>(arrival) == good);
      if (!good) CHECK(std::get<DropReason>(arrival) == DropReason::corrupt);
    }
}

TEST_CASE("the cipher is AES where both have it, and never none", "[protocol][handshake]") {
  const std::uint8_t both = offer_chacha20 | offer_aes256;
  for (const std::uint8_t ours : {offer_chacha20, both})
    for (const std::uint8_t theirs : {std::uint8_t{0}, std::uint8_t{4}, offer_chacha20, both}) {
      if ((ours & theirs & offer_aes256) != 0 && !aes_available()) continue;
      TestServer server(1, ours);
      SeededEntropy entropy(2);
      ClientHandshakeSetup setup = client_setup(3);
      setup.ciphers = theirs;
      ClientHandshake client(setup, entropy, noon);
      client.receive(server.answer(due(client, noon), address_of(1)), noon);
      const Bytes accept = server.answer(due(client, noon), address_of(1));
      if ((ours & theirs) == 0) {
        CHECK(accept.empty());
        CHECK(drop_of(server) == DropReason::out_of_range);
        continue;
      }
      client.receive(accept, noon);
      client.finish({}, noon);
      client.receive(server.answer(due(client, noon), address_of(1)), noon);
      REQUIRE(client.step() == ClientStep::done);
      const bool aes = (ours & theirs & offer_aes256) != 0;
      CHECK(client.keys().cipher == (aes ? Cipher::aes256_gcm : Cipher::chacha20_poly1305));
    }
}

TEST_CASE("a server that agrees to what was not offered is not believed", "[protocol][handshake]") {
  for (const int cipher : {0, 1, 2, 3, 255}) {
    CAPTURE(cipher);
    SeededEntropy entropy(2);
    ClientHandshakeSetup setup = client_setup(3);
    setup.ciphers = offer_chacha20;
    ClientHandshake client(setup, entropy, noon);
    const Bytes hello = due(client, noon);
    // A server as genuine as any, but for its choice.
    const KeyPair server = identity_of(1), ephemeral = identity_of(2);
    PublicKey theirs;
    std::copy_n(hello.begin() + hello_ephemeral_at, 32, theirs.bytes.begin());
    HandshakeState state(ByteSpan(hello).first(hello_fields_bytes), theirs);
    Bytes accept(accept_bytes);
    const std::span<std::uint8_t> out(accept);
    write_open_prefix(out, test_version, PacketType::accept, open_nonce(hello));
    std::ranges::copy(ephemeral.open.bytes, out.begin() + accept_ephemeral_at);
    state.mix_hash(ephemeral.open.bytes);
    state.mix_key(*shared_secret(ephemeral.secret, theirs));
    state.encrypt(server.open.bytes, out.subspan(accept_static_at, 32 + handshake_tag_bytes));
    state.mix_key(*shared_secret(server.secret, theirs));
    const auto number = static_cast<std::uint8_t>(cipher);
    state.encrypt({&number, 1}, out.subspan(accept_cipher_at, 1 + handshake_tag_bytes));
    state.encrypt(Bytes(ticket_bytes), out.subspan(accept_ticket_at));
    client.receive(accept, noon);
    CHECK((client.step() == ClientStep::server_known) == (cipher == 1));
  }
}

TEST_CASE("a finish carries as much as it may", "[protocol][handshake]") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, finish_payload_bytes_max}) {
    TestServer server(1);
    SeededEntropy entropy(2);
    ClientHandshake client(client_setup(3), entropy, noon);
    client.receive(server.answer(due(client, noon), address_of(1)), noon);
    client.receive(server.answer(due(client, noon), address_of(1)), noon);
    Rng rng{size};
    const Bytes payload = random_bytes(rng, size);
    client.finish(payload, noon);
    const Bytes finish = due(client, noon);
    CHECK(finish.size() <= datagram_bytes_max);
    client.receive(server.answer(finish, address_of(1)), noon);
    REQUIRE(client.step() == ClientStep::done);
    CHECK(server.sessions.at(0).payload == payload);
  }
}

TEST_CASE("who reads along finds no identity, name or payload", "[protocol][handshake][eavesdropper]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshakeSetup setup = client_setup(3);
  ClientHandshake client(setup, entropy, noon);
  const Talk said = talk(server, client, address_of(1));
  REQUIRE(client.step() == ClientStep::done);
  PacketProtection protection(client.keys(), End::client, noon);
  const Bytes chat{'h', 'e', 'l', 'l', 'o', ' ', 't', 'h', 'e', 'r', 'e'};
  const Bytes talked = [&] {
    Bytes packet(chat.size() + seal_overhead_bytes);
    protection.seal(1, chat, packet);
    return packet;
  }();
  const std::string_view name = "Winifred";
  const ByteSpan name_bytes(reinterpret_cast<const std::uint8_t*>(name.data()), name.size());
  for (const Bytes* packet :
       {&said.hello, &said.retry, &said.hello_again, &said.accept, &said.finish, &said.sealed, &talked}) {
    CHECK_FALSE(holds(*packet, name_bytes));
    CHECK_FALSE(holds(*packet, setup.identity.open.bytes));
    CHECK_FALSE(holds(*packet, server.door.identity().bytes));
    CHECK_FALSE(holds(*packet, chat));
    CHECK_FALSE(holds(*packet, Bytes(14, 7)));
  }
}

TEST_CASE("a machine in the middle with a key of its own is refused by a client that pins the server's",
          "[protocol][handshake]") {
  TestServer server(1), middle(9);
  SeededEntropy entropy(2);
  ClientHandshakeSetup setup = client_setup(3);
  setup.pinned = server.door.identity();
  ClientHandshake client(setup, entropy, noon);
  client.receive(middle.answer(due(client, noon), address_of(1)), noon);
  client.receive(middle.answer(due(client, noon), address_of(1)), noon);
  CHECK(client.step() == ClientStep::saying_hello);
  CHECK(due(client, noon + std::chrono::seconds(2)).empty());
  CHECK(client.step() == ClientStep::wrong_server);
  CHECK(client.server_key() == middle.door.identity());
}

TEST_CASE("what somebody forges in between does not keep the true server's answer away",
          "[protocol][handshake]") {
  TestServer server(1), middle(9);
  SeededEntropy entropy(2);
  ClientHandshakeSetup setup = client_setup(3);
  setup.pinned = server.door.identity();
  ClientHandshake client(setup, entropy, noon);
  client.receive(server.answer(due(client, noon), address_of(1)), noon);
  const Bytes hello = due(client, noon);
  PeerAddress link = address_of(1, Transport::tcp);
  client.receive(middle.answer(hello, link), noon);
  Bytes refusal(open_prefix_bytes);
  write_refuse_version(hello, test_version + 1, refusal);
  client.receive(refusal, noon);
  client.receive(server.answer(hello, address_of(1)), noon + std::chrono::milliseconds(900));
  REQUIRE(client.step() == ClientStep::server_known);
  client.finish({}, noon + std::chrono::seconds(3));
  client.receive(server.answer(due(client, noon + std::chrono::seconds(3)), address_of(1)),
                 noon + std::chrono::seconds(3));
  CHECK(client.step() == ClientStep::done);
}

TEST_CASE("a client of another version is told so, and believes only who heard it", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshakeSetup setup = client_setup(3);
  setup.version = test_version + 1;
  ClientHandshake client(setup, entropy, noon);
  const Bytes refusal = server.answer(due(client, noon), address_of(1));
  REQUIRE(refusal.size() == open_prefix_bytes);
  Bytes wrong_nonce = refusal;
  wrong_nonce[open_nonce_at] ^= 1;
  client.receive(wrong_nonce, noon);
  CHECK(due(client, noon + std::chrono::seconds(2)).size() == hello_bytes);
  client.receive(refusal, noon + std::chrono::seconds(2));
  CHECK(client.step() == ClientStep::saying_hello);
  due(client, noon + std::chrono::seconds(3));
  CHECK(client.step() == ClientStep::wrong_version);
  CHECK(client.server_version() == test_version);
}

TEST_CASE("a cookie is good for its own address, server and time alone", "[protocol][handshake]") {
  TestServer server(1), other(9);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  client.receive(server.answer(due(client, noon), address_of(1)), noon);
  const Bytes hello = due(client, noon);
  const auto is_retry = [](const Bytes& answer) { return answer.size() == retry_bytes; };
  CHECK(is_retry(server.answer(hello, address_of(2))));
  CHECK(is_retry(other.answer(hello, address_of(1))));
  PeerAddress elsewhere = address_of(1);
  elsewhere.ip[15] = 2;
  CHECK(is_retry(server.answer(hello, elsewhere)));
  CHECK(server.answer(hello, address_of(1)).size() == accept_bytes);
  server.advance(noon + door_slot);
  CHECK(server.answer(hello, address_of(1)).size() == accept_bytes);
  server.advance(noon + 2 * door_slot);
  CHECK(is_retry(server.answer(hello, address_of(1))));
  CHECK(server.door.counters().retries == 4);
}

TEST_CASE("a cookie dies when the server slept over its time, and a restarted one knows none",
          "[protocol][handshake]") {
  TestServer server(1), again(7);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  client.receive(server.answer(due(client, noon), address_of(1)), noon);
  const Bytes hello = due(client, noon);
  CHECK(again.answer(hello, address_of(1)).size() == retry_bytes);
  server.advance(noon + 100 * door_slot);
  CHECK(server.answer(hello, address_of(1)).size() == retry_bytes);
}

TEST_CASE("a finish is accepted once, and again when its session was refused", "[protocol][handshake]") {
  TestServer server(1), other(9);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  const Talk said = talk(server, client, address_of(1));
  REQUIRE(server.sessions.size() == 1);
  for (int i = 0; i < 5; ++i) CHECK(server.answer(said.finish, address_of(1)) == said.sealed);
  CHECK(server.sessions.size() == 1);
  CHECK(server.answer(said.finish, address_of(2)).empty());
  CHECK(drop_of(server) == DropReason::corrupt);
  CHECK(other.answer(said.finish, address_of(1)).empty());
  CHECK(drop_of(other) == DropReason::corrupt);
  server.advance(noon + door_slot);
  CHECK(server.answer(said.finish, address_of(1)) == said.sealed);
  CHECK(server.sessions.size() == 1);
  server.door.forget(server.sessions[0].id);
  server.answer(said.finish, address_of(1));
  CHECK(server.sessions.size() == 2);
  CHECK(server.sessions[1].keys.transcript == server.sessions[0].keys.transcript);
  CHECK_FALSE(server.sessions[1].keys.server_to_client == server.sessions[0].keys.server_to_client);
  server.advance(noon + 2 * door_slot);
  CHECK(server.answer(said.finish, address_of(1)).empty());
  CHECK(drop_of(server) == DropReason::too_old);
}

TEST_CASE("two finishes with one ticket make one session", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  client.receive(server.answer(due(client, noon), address_of(1)), noon);
  client.receive(server.answer(due(client, noon), address_of(1)), noon);
  ClientHandshake twin = client;
  client.finish({}, noon);
  const Bytes second_thought{'b'};
  twin.finish(second_thought, noon);
  server.answer(due(client, noon), address_of(1));
  server.answer(due(twin, noon), address_of(1));
  CHECK(server.sessions.size() == 1);
}

TEST_CASE("any bit changed anywhere in a handshake is refused or ignored and changes nothing",
          "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  const PeerAddress from = address_of(1);

  // Without a cookie a changed hello can only be asked to come again, with a cookie that is of no use to the
  // true one: however many of those come, the true one's answer still counts.
  const Bytes hello = due(client, noon);
  ClientHandshake misled = client;
  for (std::size_t bit = 0; bit < 8 * hello.size(); ++bit) {
    const Bytes answer = server.answer(with_flipped_bit(hello, bit), from);
    REQUIRE(answer.size() <= retry_bytes);
    if (bit >= 8) misled.receive(answer, noon);
  }
  misled.receive(server.answer(hello, from), noon);
  misled.receive(server.answer(due(misled, noon + std::chrono::seconds(1)), from), noon);
  REQUIRE(misled.step() == ClientStep::server_known);
  const Bytes retry = server.answer(hello, from);
  for (std::size_t bit = 0; bit < 8 * open_prefix_bytes; ++bit)
    client.receive(with_flipped_bit(retry, bit), noon);
  REQUIRE(due(client, noon).empty());  // nothing was an answer
  client.receive(retry, noon);
  const Bytes hello_again = due(client, noon);
  for (std::size_t bit = 0; bit < 8 * hello_again.size(); ++bit)
    REQUIRE(server.answer(with_flipped_bit(hello_again, bit), from).size() <= retry_bytes);
  const Bytes accept = server.answer(hello_again, from);
  REQUIRE(server.answer(hello_again, from) == accept);
  for (std::size_t bit = 0; bit < 8 * accept.size(); ++bit) {
    client.receive(with_flipped_bit(accept, bit), noon);
    REQUIRE(client.step() == ClientStep::saying_hello);
  }
  client.receive(accept, noon);
  REQUIRE(client.step() == ClientStep::server_known);
  client.finish(payload_text(), noon);
  const Bytes finish = due(client, noon);
  for (std::size_t bit = 0; bit < 8 * finish.size(); ++bit) {
    server.answer(with_flipped_bit(finish, bit), from);
    REQUIRE(server.sessions.empty());
  }
  const Bytes sealed = server.answer(finish, from);
  REQUIRE(server.sessions.size() == 1);
  for (std::size_t bit = 0; bit < 8 * finish.size(); ++bit)
    server.answer(with_flipped_bit(finish, bit), from);
  REQUIRE(server.sessions.size() == 1);
  for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    client.receive(with_flipped_bit(sealed, bit), noon);
    REQUIRE(client.step() == ClientStep::finishing);
  }
  client.receive(sealed, noon);
  REQUIRE(client.step() == ClientStep::done);
  CHECK(same_session(client.keys(), server.sessions[0].keys));
}

TEST_CASE("a changed cookie in a retry costs a round, not the handshake", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  const Bytes retry = server.answer(due(client, noon), address_of(1));
  client.receive(with_flipped_bit(retry, 8 * open_prefix_bytes + 40), noon);
  client.receive(server.answer(due(client, noon), address_of(1)), noon);  // another retry
  client.receive(server.answer(due(client, noon), address_of(1)), noon);
  CHECK(client.step() == ClientStep::server_known);
}

TEST_CASE("every truncation and lengthening of a handshake's packets is refused", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  const Talk said = talk(server, client, address_of(1));
  TestServer fresh(1);
  for (const Bytes* packet : {&said.hello, &said.hello_again, &said.finish})
    for (std::size_t size = 0; size <= datagram_bytes_max + 1; ++size) {
      if (size == packet->size()) continue;
      Bytes other = *packet;
      other.resize(size);
      REQUIRE(fresh.answer(other, address_of(1)).empty());
      // A finish has no fixed length: that one is cut is found out by opening it.
      const bool by_its_looks = packet != &said.finish || size < finish_bytes_min;
      if (by_its_looks) REQUIRE(cost_of(fresh.door, other, address_of(1)) == DoorCost::nothing);
    }
  CHECK(fresh.sessions.empty());
}

TEST_CASE("no answer to a stranger is larger than half of what was asked", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  const Talk said = talk(server, client, address_of(1));
  Rng rng{5};
  TestServer fresh(1);
  std::size_t answers = 0;
  const auto ask = [&](const Bytes& question) {
    const Bytes answer = fresh.answer(question, address_of(1));
    answers += answer.empty() ? 0 : 1;
    REQUIRE(answer.size() <= question.size() / 2);
  };
  for (const Bytes* packet : {&said.hello, &said.retry, &said.hello_again, &said.accept, &said.sealed})
    ask(*packet);
  CHECK(answers >= 2);
  for (std::size_t size = 0; size <= datagram_bytes_max; ++size)
    for (int version = 0; version < 6; ++version) {
      Bytes question = random_bytes(rng, size);
      if (size > 0) question[0] = static_cast<std::uint8_t>(version);
      if (size > 1) question[1] = static_cast<std::uint8_t>(rng.below(10));
      ask(question);
    }
}

TEST_CASE("what a packet costs is known before it is paid", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  const Talk said = talk(server, client, address_of(1));
  TestServer fresh(1);
  const auto cost = [&](const Bytes& packet, std::uint16_t port = 1) {
    return cost_of(fresh.door, packet, address_of(port));
  };
  CHECK(cost(said.hello) == DoorCost::hash);
  CHECK(cost(said.hello_again) == DoorCost::accept);
  CHECK(cost(said.hello_again, 2) == DoorCost::hash);
  CHECK(cost_of(fresh.door, said.hello, address_of(1, Transport::tcp)) == DoorCost::accept);
  CHECK(cost(said.finish) == DoorCost::finish);
  CHECK(cost(said.finish, 2) == DoorCost::hash);
  CHECK(cost_of(server.door, said.finish, address_of(1)) == DoorCost::hash);
  Bytes unclean = said.finish;
  unclean[2] = 1;  // no ticket is opened for what is refused in any case
  CHECK(cost(unclean) == DoorCost::nothing);
  CHECK(cost(said.sealed) == DoorCost::nothing);
  CHECK(cost({}) == DoorCost::nothing);
  CHECK(cost(Bytes(hello_bytes, test_version)) == DoorCost::nothing);
  // What is not paid for leaves nothing behind.
  const DoorCounters& door = fresh.door.counters();
  CHECK(door.retries + door.accepts + door.finishes + door.repeats == 0);
  CHECK(fresh.answer(said.finish, address_of(1)).size() == said.sealed.size());
  NotingPurse purse(true);
  Bytes out(datagram_bytes_max);
  CHECK(std::holds_alternative<Repeated>(fresh.door.receive(said.finish, address_of(1), out, &purse)));
  CHECK(purse.asked == 1);
  CHECK(purse.noted == DoorCost::hash);
}

namespace {

HandshakeId id_of(std::uint32_t n) {
  HandshakeId id{};
  for (std::size_t i = 0; i < 4; ++i) id[i] = static_cast<std::uint8_t>(n >> (8 * i));
  return id;
}

}  // namespace

TEST_CASE("a door's memory stays the same whoever comes, and full it says so", "[protocol][handshake]") {
  FinishMemory memory(Bytes16{1, 2, 3});
  for (std::uint32_t i = 0; i < FinishMemory::per_slot_max; ++i) {
    REQUIRE_FALSE(memory.full());
    memory.add(id_of(i));
  }
  CHECK(memory.full());
  for (std::uint32_t i = 0; i < FinishMemory::per_slot_max; ++i) REQUIRE(memory.known(id_of(i)));
  CHECK_FALSE(memory.known(id_of(1u << 20)));
  memory.forget(id_of(5));
  CHECK_FALSE(memory.known(id_of(5)));
  memory.advance(1);
  CHECK_FALSE(memory.full());
  CHECK(memory.known(id_of(6)));
  memory.add(id_of(5));
  CHECK(memory.known(id_of(5)));
  memory.advance(1);
  CHECK_FALSE(memory.known(id_of(6)));
  CHECK(memory.known(id_of(5)));
  memory.advance(2);
  CHECK_FALSE(memory.known(id_of(5)));
}

TEST_CASE("refused finishes take no room in a door's memory", "[protocol][handshake]") {
  FinishMemory memory(Bytes16{1, 2, 3});
  constexpr std::uint32_t accepted = FinishMemory::per_slot_max - 1, first_refused = 1u << 20;
  for (std::uint32_t i = 0; i < accepted; ++i) memory.add(id_of(i));
  for (std::uint32_t i = first_refused; i < first_refused + 20'000; ++i) {
    REQUIRE_FALSE(memory.full());
    memory.add(id_of(i));
    memory.forget(id_of(i));
    memory.forget(id_of(i));  // of what it does not know nothing is left to forget
    REQUIRE_FALSE(memory.known(id_of(i)));
  }
  for (std::uint32_t i = 0; i < accepted; ++i) REQUIRE(memory.known(id_of(i)));
  memory.add(id_of(first_refused));
  CHECK(memory.full());
}

TEST_CASE("a door's memory finds who shared a place with one that it forgot", "[protocol][handshake]") {
  FinishMemory memory(Bytes16{7});
  Rng rng(5);
  std::vector<std::uint8_t> held(6000);  // by number: is it known?
  std::size_t count = 0;
  for (int round = 0; round < 60'000; ++round) {
    const std::uint32_t n = rng.below(static_cast<std::uint32_t>(held.size()));
    REQUIRE(memory.known(id_of(n)) == (held[n] != 0));
    if (held[n] != 0)
      memory.forget(id_of(n)), held[n] = 0, --count;
    else if (!memory.full())
      memory.add(id_of(n)), held[n] = 1, ++count;
    REQUIRE(memory.full() == (count == FinishMemory::per_slot_max));
  }
  for (std::uint32_t n = 0; n < held.size(); ++n) REQUIRE(memory.known(id_of(n)) == (held[n] != 0));
}

TEST_CASE("a client repeats itself, and gives up", "[protocol][handshake]") {
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  std::vector<std::int64_t> sent_ms;
  for (Micros at = noon; !ended(client.step()); at += std::chrono::milliseconds(1)) {
    REQUIRE(at < noon + std::chrono::seconds(11));
    if (!due(client, at).empty()) sent_ms.push_back((at - noon).count() / 1000);
  }
  CHECK(client.step() == ClientStep::timed_out);
  std::vector<std::int64_t> expected{0, 300};
  while (expected.back() + 600 < 10'000) expected.push_back(expected.back() + 600);
  CHECK(sent_ms == expected);
}

TEST_CASE("a finish that nobody answers begins again with fresh keys", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  client.receive(server.answer(due(client, noon), address_of(1)), noon);
  const Bytes first_hello = due(client, noon);
  client.receive(server.answer(first_hello, address_of(1)), noon);
  client.finish({}, noon);
  const Micros later = noon + door_slot;
  const Bytes hello = due(client, later);
  REQUIRE(client.step() == ClientStep::saying_hello);
  CHECK_FALSE(std::ranges::equal(std::span(hello).subspan(hello_ephemeral_at, 32),
                                 std::span(first_hello).subspan(hello_ephemeral_at, 32)));
  server.advance(later);
  client.receive(server.answer(hello, address_of(1)), later);
  client.receive(server.answer(due(client, later), address_of(1)), later);
  client.finish({}, later);
  client.receive(server.answer(due(client, later), address_of(1)), later);
  CHECK(client.step() == ClientStep::done);
}

TEST_CASE("who thinks about the server's key for too long is asked again", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  CHECK_FALSE(client.finish({}, noon));  // of whom?
  client.receive(server.answer(due(client, noon), address_of(1)), noon);
  client.receive(server.answer(due(client, noon), address_of(1)), noon);
  REQUIRE(client.step() == ClientStep::server_known);
  ClientHandshake quick = client, asleep = client;
  CHECK(quick.finish({}, noon + door_slot - Micros(1)));
  CHECK_FALSE(quick.finish({}, noon + door_slot - Micros(1)));
  CHECK_FALSE(asleep.finish({}, noon + std::chrono::seconds(10)));
  CHECK(asleep.step() == ClientStep::timed_out);

  const Micros later = noon + door_slot;
  CHECK_FALSE(client.finish({}, later));
  CHECK(client.step() == ClientStep::saying_hello);
  server.advance(later);
  client.receive(server.answer(due(client, later), address_of(1)), later);
  client.receive(server.answer(due(client, later), address_of(1)), later);
  CHECK(client.finish({}, later));
  client.receive(server.answer(due(client, later), address_of(1)), later);
  CHECK(client.step() == ClientStep::done);
  CHECK_FALSE(client.finish({}, later));
  CHECK(server.sessions.size() == 1);
}

TEST_CASE("a public key that gives everybody the same secret is refused", "[protocol][handshake]") {
  TestServer server(1);
  SeededEntropy entropy(2);
  ClientHandshake client(client_setup(3), entropy, noon);
  Bytes hello = due(client, noon);
  std::fill_n(hello.begin() + hello_ephemeral_at, 32, std::uint8_t{0});
  CHECK(server.answer(hello, address_of(1, Transport::tcp)).empty());
  CHECK(drop_of(server) == DropReason::malformed);
}

}  // namespace ashlar::secure
