#include "client_sim/harness/link.h"

#include <algorithm>
#include <map>

#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

constexpr int datagrams = 4000;
constexpr Micros apart{1'000};

struct Arrival {
  int number = 0;
  Micros at{0};
  std::size_t bytes = 0;
  bool whole = true;
};

/// Sends numbered datagrams of 100 bytes a millisecond apart and collects what arrives within five seconds.
std::vector<Arrival> play(Link& link, const PeerAddress& peer = {}) {
  std::vector<Arrival> out;
  DatagramBatch batch;
  for (int i = 0; i < datagrams + 5'000; ++i) {
    const Micros now = i * apart;
    if (i < datagrams) {
      std::vector<std::uint8_t> bytes(100, 0x5a);
      bytes[0] = static_cast<std::uint8_t>(i & 0xff);
      bytes[1] = static_cast<std::uint8_t>(i >> 8);
      batch.clear();
      batch.add(peer, bytes);
      link.send(now, batch);
    }
    batch.clear();
    link.deliver(now, batch);
    for (const auto& entry : batch.entries()) {
      const auto bytes = batch.bytes(entry);
      Arrival arrival;
      arrival.at = now;
      arrival.bytes = bytes.size();
      arrival.number = bytes.size() < 2 ? -1 : bytes[0] | bytes[1] << 8;
      for (std::size_t k = 2; k < bytes.size(); ++k) arrival.whole = arrival.whole && bytes[k] == 0x5a;
      out.push_back(arrival);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a clean link delivers everything at once, once and in order", "[client_sim][link]") {
  Link link({}, 1);
  const auto arrivals = play(link);
  REQUIRE(arrivals.size() == datagrams);
  for (int i = 0; i < datagrams; ++i) {
    REQUIRE(arrivals[static_cast<std::size_t>(i)].number == i);
    REQUIRE(arrivals[static_cast<std::size_t>(i)].at == i * apart);
  }
  CHECK(link.under_way() == 0);
  CHECK(link.next_due() == Micros::max());
}

TEST_CASE("a link delays by latency and jitter, and late ones overtake", "[client_sim][link]") {
  LinkConditions conditions;
  conditions.latency = Micros{30'000};
  conditions.jitter = Micros{20'000};
  Link link(conditions, 2);
  const auto arrivals = play(link);
  REQUIRE(arrivals.size() == datagrams);
  Micros least = Micros::max(), most{0};
  int overtaken = 0, before = -1;
  for (const Arrival& a : arrivals) {
    least = std::min(least, a.at - a.number * apart);
    most = std::max(most, a.at - a.number * apart);
    overtaken += a.number < before ? 1 : 0;
    before = a.number;
  }
  CHECK(least >= Micros{30'000});
  CHECK(least < Micros{32'000});
  CHECK(most <= Micros{51'000});
  CHECK(most > Micros{48'000});
  CHECK(overtaken > 1000);
}

TEST_CASE("a link loses, doubles, holds back and corrupts as many as it is told", "[client_sim][link]") {
  LinkConditions conditions;
  conditions.loss = 0.2;
  conditions.duplication = 0.1;
  conditions.reordering = 0.1;
  conditions.corruption = 0.05;
  Link link(conditions, 3);
  const auto arrivals = play(link);
  const LinkStats& c = link.stats();
  CHECK(c.taken == datagrams);
  CHECK(c.lost == Approx(800).margin(120));
  CHECK(c.reordered == Approx(320).margin(80));
  CHECK(c.corrupted == Approx(160).margin(60));
  CHECK(c.duplicated == Approx(320).margin(80));
  CHECK(c.delivered == c.taken - c.lost + c.duplicated);
  CHECK(arrivals.size() == c.delivered);
  const auto broken =
      std::ranges::count_if(arrivals, [](const Arrival& a) { return !a.whole || a.bytes != 100; });
  CHECK(broken > 100);
  CHECK(static_cast<std::uint64_t>(broken) <= c.corrupted);
}

TEST_CASE("a link carries no more than its rate, and what waits too long is lost", "[client_sim][link]") {
  LinkConditions conditions;
  conditions.bytes_per_s = 20'000;  // a fifth of what is sent
  conditions.queue_bytes_max = 5'000;
  Link link(conditions, 4);
  const auto arrivals = play(link);
  CHECK(arrivals.size() == Approx(datagrams / 5).margin(60));
  for (const Arrival& a : arrivals) REQUIRE(a.at - a.number * apart < Micros{300'000});
  CHECK(link.stats().overflowed + arrivals.size() == datagrams);
}

TEST_CASE("a parted link carries nothing, and what was on its way still arrives", "[client_sim][link]") {
  LinkConditions conditions;
  conditions.latency = Micros{100'000};
  Link link(conditions, 5);
  DatagramBatch batch;
  batch.add(PeerAddress{}, std::vector<std::uint8_t>(10));
  link.send(Micros{0}, batch);
  link.partition(Micros{5'000});
  link.send(Micros{1}, batch);
  link.send(Micros{5'000}, batch);
  DatagramBatch got;
  link.deliver(Micros{99'999}, got);
  CHECK(got.empty());
  link.deliver(Micros{10'000'000}, got);
  CHECK(got.entries().size() == 2);
  CHECK(link.stats().cut == 1);
}

TEST_CASE("a closed connection arrives behind everything that was sent before", "[client_sim][link]") {
  LinkConditions conditions;
  conditions.jitter = Micros{50'000};
  Link link(conditions, 8);
  DatagramBatch batch;
  for (int i = 0; i < 50; ++i) batch.add(PeerAddress{}, std::vector<std::uint8_t>(10));
  batch.add_closed(PeerAddress{});
  link.send(Micros{0}, batch);
  std::size_t before_close = 0;
  for (Micros now{0}; now < Micros{60'000}; now += Micros{100}) {
    DatagramBatch got;
    link.deliver(now, got);
    before_close += got.entries().size();
    if (!got.closed().empty()) break;
  }
  CHECK(before_close == 50);
  CHECK(link.under_way() == 0);
}

TEST_CASE("a cleared link has nothing under way", "[client_sim][link]") {
  LinkConditions conditions;
  conditions.latency = Micros{10'000};
  Link link(conditions, 9);
  DatagramBatch batch;
  batch.add(PeerAddress{}, std::vector<std::uint8_t>(10));
  link.send(Micros{0}, batch);
  CHECK(link.next_due() == Micros{10'000});
  link.clear();
  CHECK(link.next_due() == Micros::max());
  DatagramBatch got;
  link.deliver(Micros{20'000}, got);
  CHECK(got.empty());
}

TEST_CASE("a stream keeps order and loses nothing, however bad the network", "[client_sim][link]") {
  LinkConditions conditions;
  // A TCP peer's is one, also where others are not.
  PeerAddress peer;
  conditions.ordered = GENERATE(true, false);
  if (!conditions.ordered) peer.transport = Transport::tcp;
  conditions.latency = Micros{20'000};
  conditions.jitter = Micros{30'000};
  conditions.loss = 0.1;
  conditions.duplication = conditions.reordering = conditions.corruption = 0.5;
  Link link(conditions, 6);
  const auto arrivals = play(link, peer);
  REQUIRE(arrivals.size() == datagrams);
  for (int i = 0; i < datagrams; ++i) REQUIRE(arrivals[static_cast<std::size_t>(i)].number == i);
  CHECK(std::ranges::all_of(arrivals, &Arrival::whole));
  CHECK(link.stats().resent > 200);
}

TEST_CASE("two links of one seed do the same, of another seed not", "[client_sim][link]") {
  LinkConditions conditions;
  conditions.jitter = Micros{50'000};
  conditions.loss = 0.3;
  const auto fate = [&conditions](std::uint64_t seed) {
    Link link(conditions, seed);
    std::vector<std::pair<int, Micros>> out;
    for (const Arrival& a : play(link)) out.emplace_back(a.number, a.at);
    return out;
  };
  CHECK(fate(7) == fate(7));
  CHECK(fate(7) != fate(8));
}
