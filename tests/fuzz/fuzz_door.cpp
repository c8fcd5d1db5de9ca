// A server's door and what else answers strangers: whatever bytes come, from wherever, the answer is at most
// half of them, no session begins, and a true client still gets in. The first byte says what comes before the
// rest.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "protocol/secure/client_handshake.h"
#include "protocol/secure/packet_protection.h"
#include "protocol/secure/server_door.h"
#include "tests/fuzz/ramp.h"

using namespace ashlar;
using namespace ashlar::secure;
using ashlar::fuzz::identity;
using ashlar::fuzz::Ramp;

namespace {

constexpr std::uint8_t version = 3;
constexpr Micros noon = std::chrono::seconds(100);

using Bytes = std::vector<std::uint8_t>;

/// What a client sends, in turn; recorded once, as it is always the same.
struct Recorded {
  Bytes hello, hello_again, finish, ping, sealed;
};

Bytes answer(ServerDoor& door, const Bytes& packet, Arrival& arrival) {
  Bytes out(datagram_bytes_max);
  arrival = door.receive(packet, PeerAddress{}, out);
  const auto* said = std::get_if<Answer>(&arrival);
  out.resize(said == nullptr ? 0 : said->bytes);
  return out;
}

/// Pays everything, and notes what.
struct Noting final : DoorPurse {
  bool pays(DoorCost asked) override {
    cost = asked;
    return true;
  }
  DoorCost cost = DoorCost::nothing;
};

ServerDoor fresh_door() {
  Ramp entropy(1);
  return ServerDoor({version, identity(2), offer_chacha20}, entropy, noon);
}

const Recorded& recorded() {
  static const Recorded all = [] {
    Recorded out;
    Arrival arrival = DropReason::wrong_state;
    ServerDoor door = fresh_door();
    Ramp entropy(3);
    ClientHandshakeSetup setup;
    setup.version = version;
    setup.identity = identity(4);
    ClientHandshake client(setup, entropy, noon);
    const auto due = [&] {
      const ByteSpan packet = client.packet_due(noon);
      return Bytes(packet.begin(), packet.end());
    };
    out.hello = due();
    client.receive(answer(door, out.hello, arrival), noon);
    out.hello_again = due();
    client.receive(answer(door, out.hello_again, arrival), noon);
    client.finish(Bytes(20, 7), noon);
    out.finish = due();
    answer(door, out.finish, arrival);
    const auto* accepted = std::get_if<Accepted>(&arrival);
    if (accepted == nullptr) std::abort();
    PacketProtection protection(accepted->session.keys(5), End::client, noon);
    out.sealed.resize(100);
    protection.seal(1, Bytes(100 - seal_overhead_bytes), out.sealed);
    out.ping.resize(ping_bytes_max);
    write_ping(version, 5, ping_bytes_max, out.ping);
    return out;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // Mode 0: the bytes as they are; else they are laid over a true packet from the offset that the next two
  // say.
  const Bytes* const bases[] = {
      nullptr,          &recorded().hello, &recorded().hello_again, &recorded().finish,
      &recorded().ping, &recorded().sealed};
  const Bytes* const base = bases[data[0] % 6];
  Bytes packet(data + 1, data + size);
  if (base != nullptr) {
    if (packet.size() < 2) return 0;
    const std::size_t at = (packet[0] | static_cast<std::size_t>(packet[1]) << 8) % base->size();
    const Bytes over(packet.begin() + 2, packet.end());
    packet = *base;
    for (std::size_t i = 0; i < over.size() && at + i < packet.size(); ++i) packet[at + i] ^= over[i];
  }

  ServerDoor door = fresh_door();
  const PeerAddress from{.transport = (data[0] & 0x80) != 0 ? Transport::tcp : Transport::udp};
  Bytes out(datagram_bytes_max);
  Noting purse;
  const Arrival arrival = door.receive(packet, from, out, &purse);
  if (const auto* said = std::get_if<Answer>(&arrival))
    if (said->bytes > packet.size() / 2) std::abort();
  if (std::holds_alternative<Repeated>(arrival)) std::abort();
  if (std::holds_alternative<Accepted>(arrival) &&
      (packet != recorded().finish || purse.cost != DoorCost::finish))
    std::abort();
  if (write_pong(packet, version, Bytes(40), out) > packet.size() / 2) std::abort();
  if (write_reset(packet, version, Secret{}, out) > packet.size() / 2) std::abort();
  Arrival after = DropReason::wrong_state;
  answer(door, recorded().finish, after);
  if (std::holds_alternative<DropReason>(after)) std::abort();
  return 0;
}
