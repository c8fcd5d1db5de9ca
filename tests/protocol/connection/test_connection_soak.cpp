// Hours on a bad network, in simulated time.
#include <map>

#include "tests/catch.h"
#include "tests/protocol/connection/traffic.h"
#include "tests/slowness.h"
#include "tests/world/cases.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

/// Everything that one end says and hears: numbered messages on all streams, unreliable ones with their
/// fates.
class SoakEnd {
 public:
  SoakEnd(SimulatedEnd& self, std::uint64_t seed) : self_(self), rng_{seed} {
    self.on_unreliable = [this](Micros, std::uint64_t sequence, std::span<const std::uint8_t>) {
      REQUIRE(sequence > 0);
      ++unreliable_heard;
    };
  }

  void say(Micros now) {
    Connection& connection = self_.connection;
    for (std::size_t i = 0; i < stream_count; ++i) {
      if (rng_.below(odds[i]) != 0) continue;
      const std::uint32_t size_max = sizes[i];
      std::vector<std::uint8_t> message(4 + rng_.below(size_max));
      const std::uint32_t number = next_number_[i];
      std::memcpy(message.data(), &number, 4);
      for (std::size_t k = 4; k < message.size(); ++k) message[k] = body(number, k);
      if (connection.state() != ConnectionState::open) return;
      const SendResult result = connection.send(static_cast<StreamId>(i), message);
      if (result == SendResult::sent)
        ++next_number_[i];
      else
        REQUIRE(result == SendResult::queue_full);
    }
    const auto sequence =
        connection.send_unreliable(now, std::vector<std::uint8_t>(20 + rng_.below(400)), self_.out);
    if (sequence) {
      REQUIRE(open_fates_.insert(*sequence).second);
      ++unreliable_said;
    }
  }

  void hear_fates() {
    while (const auto fate = self_.connection.next_fate()) {
      REQUIRE(open_fates_.erase(fate->sequence) == 1);  // once, and of a packet that was sent
      ++(fate->acked ? acked : lost);
    }
  }

  void hear() {
    for (std::size_t i = 0; i < stream_count; ++i) {
      while (self_.connection.take(static_cast<StreamId>(i), message_)) {
        REQUIRE(message_.size() >= 4);
        std::uint32_t number = 0;
        std::memcpy(&number, message_.data(), 4);
        REQUIRE(number == heard_[i]++);  // once and in order
        for (std::size_t k = 4; k < message_.size(); ++k)
          if (message_[k] != body(number, k)) FAIL("a message came with other bytes");
      }
    }
  }

  const std::array<std::uint32_t, stream_count>& said() const { return next_number_; }
  const std::array<std::uint32_t, stream_count>& heard() const { return heard_; }
  std::size_t open_fates() const { return open_fates_.size(); }
  std::uint64_t unreliable_said = 0, unreliable_heard = 0, acked = 0, lost = 0;

 private:
  // One message in so many ticks, and how long.
  static constexpr std::array<std::uint32_t, stream_count> odds{200, 15, 300, 40, 1500};
  static constexpr std::array<std::uint32_t, stream_count> sizes{8000, 200, 100, 1500, 25'000};
  static std::uint8_t body(std::uint32_t number, std::size_t k) {
    return static_cast<std::uint8_t>(number * 31 + k * 7 + k / 256);
  }
  SimulatedEnd& self_;
  Rng rng_;
  std::array<std::uint32_t, stream_count> next_number_{}, heard_{};
  std::set<std::uint64_t> open_fates_;
  std::vector<std::uint8_t> message_;
};

void soak(const SimulatedPair::Options& options, int simulated_s, bool all_arrive) {
  SimulatedPair pair(options);
  SoakEnd client(*pair.client, options.seed * 5 + 1), server(*pair.server, options.seed * 5 + 2);
  Micros next{0};
  bool quiet = false;
  const auto work = [&](Micros now) {
    if (now >= next) {
      next = now + Micros{16'667};
      if (!quiet) client.say(now), server.say(now);
      client.hear(), server.hear();
      client.hear_fates(), server.hear_fates();
    }
    return next;
  };
  for (int s = 0; s < simulated_s; ++s) {
    pair.run(pair.now + Micros{1'000'000}, work);
    CAPTURE(s, pair.client->connection.close_text(), pair.server->connection.close_text());
    REQUIRE(pair.client->connection.state() == ConnectionState::open);
    REQUIRE(pair.server->connection.state() == ConnectionState::open);
  }
  REQUIRE(pair.client->connection.state() == ConnectionState::open);
  REQUIRE(pair.server->connection.state() == ConnectionState::open);
  CHECK(client.unreliable_said > static_cast<std::uint64_t>(simulated_s) * 30);
  if (!all_arrive) return;
  quiet = true;
  for (int i = 0;
       i < 60 && !(pair.client->connection.streams_idle() && pair.server->connection.streams_idle()); ++i)
    pair.run(pair.now + Micros{1'000'000}, work);
  pair.run(pair.now + Micros{3'000'000}, work);
  CHECK(client.heard() == server.said());
  CHECK(server.heard() == client.said());
  for (const SoakEnd* end : {&client, &server}) {
    CHECK(end->open_fates() == 0);
    CHECK(end->acked + end->lost == end->unreliable_said);
  }
  // Each fate says what happened, but for those called lost that came after all.
  CHECK(server.unreliable_heard >= client.acked);
  CHECK(client.unreliable_heard >= server.acked);
}

SimulatedPair::Options bad_network(double loss) {
  SimulatedPair::Options options;
  options.up.latency = options.down.latency = Micros{30'000};
  options.up.jitter = options.down.jitter = Micros{5'000};
  options.up.loss = options.down.loss = loss;
  options.up.reordering = options.down.reordering = 0.3;
  options.up.duplication = options.down.duplication = 0.02;
  options.up.corruption = options.down.corruption = 0.01;
  options.poll_least = Micros{2'000};
  return options;
}

}  // namespace

// Two hours of simulated time are some seconds.
TEST_CASE("on a bad network every reliable message comes once and in order, and every fate is told once",
          "[protocol][connection][property]") {
  SimulatedPair::Options options = bad_network(0.2);
  for (int seed = 0; seed < std::min(cases(1), 10); ++seed) {
    CAPTURE(seed);
    options.seed = static_cast<std::uint64_t>(11 + seed);
    soak(options, 7200 / static_cast<int>(slowness), true);
  }
}

TEST_CASE("a session that keeps one packet in five is not lost", "[protocol][connection][property]") {
  SimulatedPair::Options options = bad_network(0.8);
  options.seed = GENERATE(1u, 2u);
  const int minutes = std::min(cases(20), 120);
  soak(options, minutes * 60 / static_cast<int>(slowness), false);
}
