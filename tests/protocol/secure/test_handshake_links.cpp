#include "tests/protocol/secure/handshake_cases.h"

namespace ashlar::secure {
namespace {

using namespace secure_test;

/// Loses, doubles, delays and damages what it carries; seeded.
class BadLink {
 public:
  BadLink(std::uint64_t seed, std::uint32_t loss_percent) : rng_{seed}, loss_percent_(loss_percent) {}

  void send(const Bytes& packet, Micros now) {
    if (packet.empty()) return;
    past_.push_back(packet);
    const std::uint32_t copies = rng_.below(100) < 20 ? 2 : 1;
    for (std::uint32_t i = 0; i < copies; ++i) {
      if (rng_.below(100) < loss_percent_) continue;
      Bytes sent = packet;
      if (rng_.below(100) < 5)
        sent = with_flipped_bit(sent, rng_.below(static_cast<std::uint32_t>(8 * sent.size())));
      add(std::move(sent), now);
    }
    if (rng_.below(100) < 10) add(past_[rng_.below(static_cast<std::uint32_t>(past_.size()))], now);
    if (rng_.below(100) < 10) add(random_bytes(rng_, rng_.below(1300)), now);
  }

  std::vector<Bytes> arrived(Micros now) {
    std::vector<Bytes> out;
    for (std::size_t i = 0; i < flying_.size();) {
      if (flying_[i].at > now) {
        ++i;
        continue;
      }
      out.push_back(std::move(flying_[i].packet));
      flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return out;
  }

 private:
  struct Flying {
    Micros at;
    Bytes packet;
  };
  void add(Bytes packet, Micros now) {
    const auto delay = std::chrono::milliseconds(rng_.below(rng_.below(4) == 0 ? 3000 : 200));
    flying_.push_back({now + delay, std::move(packet)});
  }
  Rng rng_;
  std::uint32_t loss_percent_;
  std::vector<Flying> flying_;
  std::vector<Bytes> past_;
};

ClientStep play(std::uint64_t seed, std::uint32_t loss_percent) {
  const Micros start = noon + std::chrono::milliseconds(seed % 5000);
  TestServer server(seed, secure::ciphers_here(), start);
  SeededEntropy entropy(seed + 1);
  ClientHandshakeSetup setup = client_setup(seed + 2);
  if (seed % 2 == 0) setup.pinned = server.door.identity();
  ClientHandshake client(setup, entropy, start);
  BadLink up(seed + 3, loss_percent), down(seed + 4, loss_percent);
  const PeerAddress from = address_of(7);
  for (Micros now = start; !ended(client.step()); now += std::chrono::milliseconds(10)) {
    REQUIRE(now <= start + setup.give_up_after);
    server.advance(now);
    up.send(due(client, now), now);
    for (const Bytes& packet : up.arrived(now)) down.send(server.answer(packet, from), now);
    for (const Bytes& packet : down.arrived(now)) client.receive(packet, now);
    if (client.step() == ClientStep::server_known) client.finish(payload_text(), now);
  }
  if (client.step() != ClientStep::done) return client.step();
  const auto same = [&](const auto& session) { return same_session(session.keys, client.keys()); };
  CHECK(std::ranges::count_if(server.sessions, same) == 1);
  for (const auto& session : server.sessions) {
    CHECK(session.client == setup.identity.open);
    CHECK(session.payload == payload_text());
  }
  return ClientStep::done;
}

}  // namespace

TEST_CASE("over any link a handshake ends in one session with the same keys, or in a timeout",
          "[protocol][handshake]") {
  int done = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const ClientStep end = play(1000 * seed, 20);
    REQUIRE((end == ClientStep::done || end == ClientStep::timed_out));
    done += end == ClientStep::done ? 1 : 0;
  }
  CHECK(done >= 50);
  done = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const ClientStep end = play(1000 * seed + 1, 60);
    REQUIRE((end == ClientStep::done || end == ClientStep::timed_out));
    done += end == ClientStep::done ? 1 : 0;
  }
  CHECK(done >= 10);
  CHECK(play(5, 100) == ClientStep::timed_out);
}

}  // namespace ashlar::secure
