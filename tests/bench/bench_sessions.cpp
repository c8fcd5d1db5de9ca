// What secure sessions cost, section by section:
//
//   bench_sessions [SECTION ...]      all of them without arguments
//
//   handshake   handshakes a second that a server's thread gets through, and each of its packets; what a
//   stranger is
//               answered for each byte of his
//   cipher      processor time of sealing and opening a datagram with each cipher, beside none
//   packet      processor time of a datagram through a whole connection, sent and taken in
//   goodput     a bulk transfer of 10 MiB at several round trips and losses, and what it does to snapshots
//   reno        beside a Reno flow, at several round trips and queues; both in simulated time
//
// Times are of the thread's processor, the median of three runs with the lowest and highest.
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "protocol/secure/client_handshake.h"
#include "protocol/secure/packet_protection.h"
#include "protocol/secure/seeded_entropy.h"
#include "tests/bench/streams_section.h"
#include "tests/bench/timing.h"

using namespace ashlar;
using namespace ashlar::secure;
using ashlar::bench::measure;
using ashlar::bench::Spread;

namespace {

constexpr std::uint8_t version = 3;
constexpr Micros noon = std::chrono::seconds(100);
using Bytes = std::vector<std::uint8_t>;

KeyPair identity(std::uint64_t seed) {
  SeededEntropy entropy(seed);
  return key_pair(entropy.secret());
}

[[noreturn]] void fail(const char* what) {
  std::printf("FAILED: %s\n", what);
  std::exit(1);
}

void line(const char* what, const Spread& s, double unit, const char* unit_name) {
  std::printf("  %-44s %8.2f %s (%.2f to %.2f)\n", what, s.median * unit, unit_name, s.low * unit,
              s.high * unit);
}

/// The packets of so many clients, made beforehand: only the server's work is measured.
struct Crowd {
  static constexpr std::size_t count = 500;
  std::vector<Bytes> hellos, hellos_again, finishes;
};

Bytes packet_of(ClientHandshake& client) {
  const ByteSpan packet = client.packet_due(noon);
  return {packet.begin(), packet.end()};
}

PeerAddress address(std::size_t i) {
  PeerAddress out;
  out.port = static_cast<std::uint16_t>(1000 + i);
  return out;
}

std::size_t answer(ServerDoor& door, const Bytes& packet, std::size_t i, Bytes& out) {
  const Arrival arrival = door.receive(packet, address(i), out);
  const auto* said = std::get_if<Answer>(&arrival);
  if (said == nullptr) fail("no answer");
  return said->bytes;
}

Crowd crowd(ServerDoor& door) {
  Crowd out;
  Bytes buffer(datagram_bytes_max);
  const auto heard = [&](const Bytes& packet, std::size_t i) {
    return ByteSpan(buffer).first(answer(door, packet, i, buffer));
  };
  SeededEntropy entropy(7);
  for (std::size_t i = 0; i < Crowd::count; ++i) {
    ClientHandshakeSetup setup;
    setup.version = version;
    setup.identity = key_pair(entropy.secret());
    ClientHandshake client(setup, entropy, noon);
    out.hellos.push_back(packet_of(client));
    client.receive(heard(out.hellos.back(), i), noon);
    out.hellos_again.push_back(packet_of(client));
    client.receive(heard(out.hellos_again.back(), i), noon);
    if (client.step() != ClientStep::server_known) fail("the server did not answer");
    client.finish(Bytes(300, 1), noon);
    out.finishes.push_back(packet_of(client));
  }
  return out;
}

void handshake_section() {
  SeededEntropy entropy(1);
  ServerDoor door({.version = version, .identity = identity(2)}, entropy, noon);
  const Crowd all = crowd(door);
  Bytes out(datagram_bytes_max);
  const auto hellos = [&](const std::vector<Bytes>& packets) {
    for (std::size_t i = 0; i < Crowd::count; ++i) answer(door, packets[i], i, out);
  };
  const auto finishes = [&] {
    for (std::size_t i = 0; i < Crowd::count; ++i) {
      const Arrival arrival = door.receive(all.finishes[i], address(i), out);
      const auto* accepted = std::get_if<Accepted>(&arrival);
      if (accepted == nullptr) fail("a finish was not accepted");
      const PacketProtection session(accepted->session.keys(7), End::server, noon);
      door.forget(accepted->id);  // so that the next run measures the same
    }
  };
  std::printf("handshake: the server's part, one thread\n");
  const Spread hello = measure([&] { hellos(all.hellos); }, Crowd::count);
  const Spread accept = measure([&] { hellos(all.hellos_again); }, Crowd::count);
  const Spread finish = measure(finishes, Crowd::count);
  const Spread whole =
      measure([&] { hellos(all.hellos), hellos(all.hellos_again), finishes(); }, Crowd::count);
  line("a hello without a cookie", hello, 1e6, "us");
  line("a hello with a cookie", accept, 1e6, "us");
  line("a finish, with the session's keys", finish, 1e6, "us");
  line("all three", whole, 1e6, "us");
  std::printf("  handshakes a second                          %8.0f (%.0f to %.0f)\n", 1 / whole.median,
              1 / whole.high, 1 / whole.low);

  Bytes forged = all.finishes[0];
  forged[finish_ticket_at + 60] ^= 1;
  const Spread garbage = measure(
      [&] {
        for (int i = 0; i < 5000; ++i) door.receive(forged, address(0), out);
      },
      5000);
  line("a forged finish", garbage, 1e6, "us");

  std::printf("  bytes answered to a stranger for each of his:\n");
  const auto share = [&](const char* what, std::size_t answered, std::size_t asked) {
    std::printf("    %-30s %4zu for %4zu: %.3f\n", what, answered, asked,
                static_cast<double>(answered) / static_cast<double>(asked));
    if (answered > asked / 2) fail("more than half");
  };
  share("hello -> retry", answer(door, all.hellos[0], 0, out), hello_bytes);
  share("hello with cookie -> accept", answer(door, all.hellos_again[0], 0, out), hello_bytes);
  Bytes other = all.hellos[0];
  other[0] = version + 1;
  share("another version -> refusal", answer(door, other, 0, out), hello_bytes);
  Bytes ping(ping_bytes_max);
  write_ping(version, 1, ping_bytes_max, ping);
  share("ping -> pong", write_pong(ping, version, Bytes(pong_info_bytes_max), out), ping_bytes_max);
  Bytes sealed(2 * reset_bytes);
  sealed[0] = version, sealed[1] = sealed_type;
  share("unknown connection -> reset", write_reset(sealed, version, Secret{}, out), sealed.size());
}

SessionKeys keys_of(Cipher cipher) {
  SeededEntropy entropy(5);
  SessionKeys keys;
  keys.version = version;
  keys.cipher = cipher;
  keys.connection = 7;
  keys.client_to_server = entropy.secret();
  keys.server_to_client = entropy.secret();
  return keys;
}

void cipher_section() {
  constexpr int count = 20000;
  std::printf("cipher: a datagram sealed at one end and opened at the other\n");
  for (const std::size_t datagram_bytes : {std::size_t{300}, std::size_t{1200}}) {
    double none_s = 0;
    for (const Cipher cipher : {Cipher::none, Cipher::chacha20_poly1305, Cipher::aes256_gcm}) {
      if (cipher == Cipher::aes256_gcm && !aes_available()) {
        std::printf("  aes256_gcm: this machine has no instructions for it\n");
        continue;
      }
      PacketProtection client(keys_of(cipher), End::client, noon), server(keys_of(cipher), End::server, noon);
      const Bytes plain(datagram_bytes - seal_overhead_bytes, 3);
      Bytes packet(datagram_bytes), out(plain.size());
      std::uint64_t sequence = 0;
      const Spread seal = measure(
          [&] {
            for (int i = 0; i < count; ++i) client.seal(++sequence, plain, packet);
          },
          count);
      const Spread open = measure(
          [&] {
            // The same packet again: it is the caller's window that would know it.
            for (int i = 0; i < count; ++i) {
              const auto header = server.peek(packet);
              if (!header || !server.open(packet, *header, out)) fail("a packet did not open");
            }
          },
          count);
      const double both = seal.median + open.median;
      if (cipher == Cipher::none) none_s = both;
      std::printf("  %4zu B %-18s seal %.3f us, open %.3f us, both %.3f us, %+.3f us beside none\n",
                  datagram_bytes, std::string(name(cipher)).c_str(), seal.median * 1e6, open.median * 1e6,
                  both * 1e6, (both - none_s) * 1e6);
      if (packet.size() == 1200 && cipher == Cipher::chacha20_poly1305) {
        packet[600] ^= 1;
        const Spread forged = measure(
            [&] {
              for (int i = 0; i < count; ++i) {
                const auto header = server.peek(packet);
                if (!header || server.open(packet, *header, out)) fail("a forged packet opened");
              }
            },
            count);
        line("1200 B forged, chacha20_poly1305", forged, 1e6, "us");
      }
    }
  }
}

struct Section {
  const char* name;
  void (*run)();
};
constexpr Section sections[] = {{"handshake", handshake_section},
                                {"cipher", cipher_section},
                                {"packet", ashlar::bench::packet_section},
                                {"goodput", ashlar::bench::goodput_section},
                                {"reno", ashlar::bench::reno_section}};

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    bool known = false;
    for (const Section& section : sections) known = known || std::strcmp(argv[i], section.name) == 0;
    if (!known) {
      std::printf("there is no section '%s'; there are: handshake, cipher, packet, goodput, reno\n", argv[i]);
      return 2;
    }
  }
  for (const Section& section : sections) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; ++i) wanted = wanted || std::strcmp(argv[i], section.name) == 0;
    if (wanted) section.run();
  }
  return 0;
}
