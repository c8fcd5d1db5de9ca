#pragma once
#include <optional>

#include "protocol/secure/client_handshake.h"
#include "protocol/secure/server_door.h"
#include "tests/catch.h"
#include "tests/protocol/secure/secure_cases.h"

namespace ashlar::secure_test {

inline constexpr std::uint8_t test_version = 3;
inline constexpr Micros noon = std::chrono::seconds(100);

inline PeerAddress address_of(std::uint16_t port, Transport transport = Transport::udp) {
  PeerAddress out;
  out.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  out.port = port;
  out.transport = transport;
  return out;
}

inline KeyPair identity_of(std::uint64_t seed) {
  SeededEntropy entropy(seed);
  return key_pair(entropy.secret());
}

/// Notes what is to be paid, and pays or does not.
struct NotingPurse final : DoorPurse {
  explicit NotingPurse(bool rich) : pays_all(rich) {}
  bool pays(DoorCost cost) override {
    ++asked;
    noted = cost;
    return pays_all;
  }
  bool pays_all;
  int asked = 0;
  DoorCost noted = DoorCost::nothing;
};

/// What a door would have paid for a packet.
inline DoorCost cost_of(ServerDoor& door, ByteSpan packet, const PeerAddress& from) {
  NotingPurse purse(false);
  Bytes out(datagram_bytes_max);
  const Arrival arrival = door.receive(packet, from, out, &purse);
  const auto* dropped = std::get_if<DropReason>(&arrival);
  REQUIRE(dropped != nullptr);
  REQUIRE(purse.asked == (purse.noted == DoorCost::nothing ? 0 : 1));
  if (purse.asked > 0) REQUIRE(*dropped == DropReason::rate_limited);
  return purse.noted;
}

/// A server with one door that makes sessions of whoever comes, and remembers them.
struct TestServer {
  explicit TestServer(std::uint64_t seed, std::uint8_t ciphers = secure::ciphers_here(), Micros start = noon)
      : entropy(seed), door({test_version, identity_of(seed), ciphers}, entropy, start), now(start) {}

  struct Session {
    HandshakeId id{};
    PublicKey client;
    Bytes payload, first_packet;
    SessionKeys keys;
    Bytes32 binding{};
  };

  void advance(Micros to) { door.advance(now = to); }

  /// What the server sends back to there; empty: nothing.
  Bytes answer(const Bytes& packet, const PeerAddress& from) {
    Bytes out(datagram_bytes_max);
    last = door.receive(packet, from, out);
    if (const auto* said = std::get_if<Answer>(&last)) {
      out.resize(said->bytes);
      return out;
    }
    if (const auto* accepted = std::get_if<Accepted>(&last)) {
      Session session;
      session.id = accepted->id;
      session.client = accepted->client;
      session.payload.assign(accepted->payload.begin(), accepted->payload.end());
      session.keys = accepted->session.keys(0x1000 + static_cast<std::uint32_t>(sessions.size()));
      session.binding = accepted->binding;
      session.first_packet.resize(40);
      PacketProtection protection(session.keys, End::server, now);
      session.first_packet.resize(protection.seal(1, Bytes(14, 7), session.first_packet));
      sessions.push_back(session);
      return session.first_packet;
    }
    // A session says again by itself what was lost; here the newest does.
    if (std::holds_alternative<Repeated>(last)) return sessions.back().first_packet;
    return {};
  }

  SeededEntropy entropy;
  ServerDoor door;
  Micros now;
  std::vector<Session> sessions;
  Arrival last = DropReason::wrong_state;
};

inline ClientHandshakeSetup client_setup(std::uint64_t seed) {
  ClientHandshakeSetup setup;
  setup.version = test_version;
  setup.identity = identity_of(seed);
  return setup;
}

inline Bytes due(ClientHandshake& client, Micros now) {
  const ByteSpan packet = client.packet_due(now);
  return {packet.begin(), packet.end()};
}

inline Bytes payload_text() {
  const std::string_view text = "name=Winifred build=42";
  return {text.begin(), text.end()};
}

/// Every packet of a handshake over a link that loses nothing.
struct Talk {
  Bytes hello, retry, hello_again, accept, finish, sealed;
};

inline Talk talk(TestServer& server, ClientHandshake& client, const PeerAddress& from, Micros now = noon) {
  Talk out;
  out.hello = due(client, now);
  out.retry = server.answer(out.hello, from);
  client.receive(out.retry, now);
  out.hello_again = due(client, now);
  out.accept = server.answer(out.hello_again, from);
  client.receive(out.accept, now);
  REQUIRE(client.step() == ClientStep::server_known);
  client.finish(payload_text(), now);
  out.finish = due(client, now);
  out.sealed = server.answer(out.finish, from);
  client.receive(out.sealed, now);
  return out;
}

/// Both ends hold the same keys: what one seals the other opens.
inline bool same_session(const SessionKeys& a, const SessionKeys& b) {
  return a.version == b.version && a.cipher == b.cipher && a.connection == b.connection &&
         a.client_to_server == b.client_to_server && a.server_to_client == b.server_to_client &&
         a.resumption == b.resumption && a.transcript == b.transcript &&
         !(a.client_to_server == a.server_to_client);
}

}  // namespace ashlar::secure_test
