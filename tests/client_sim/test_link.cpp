#include "client_sim/link.h"

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
std::vector<Arrival> play(Link& link) {
  std::vector<Arrival> out;
  DatagramBatch batch;
  for (int i = 0; i < datagrams + 5'000; ++i) {
    const Micros now = i * apart;
    if (i < datagrams) {
      std::vector<std::uint8_t> bytes(100, 0x5a);
      bytes[0] = static_cast<std::uint8_t>(i & 0xff);
      bytes[1] = static_cast<std::uint8_t>(i >> 8);
      link.send(now, PeerAddress{}, bytes);
    }
    batch.clear();
    link.receive(now, batch);
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

TEST_CASE("a clean link delivers everything at once, once and in order", "[link]") {
  Link link(1);
  const auto arrivals = play(link);
  REQUIRE(arrivals.size() == datagrams);
  for (int i = 0; i < datagrams; ++i) {
    REQUIRE(arrivals[static_cast<std::size_t>(i)].number == i);
    REQUIRE(arrivals[static_cast<std::size_t>(i)].at == i * apart);
  }
  CHECK(link.waiting() == 0);
  CHECK(link.next_arrival() == Micros::max());
}

TEST_CASE("a link delays by delay and jitter, and late ones overtake", "[link]") {
  Link link(2);
  LinkConditions conditions;
  conditions.delay = Micros{30'000};
  conditions.jitter = Micros{20'000};
  link.set(conditions);
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

TEST_CASE("a link loses, doubles, holds back and corrupts as many as it is told", "[link]") {
  Link link(3);
  LinkConditions conditions;
  conditions.loss_share = 0.2;
  conditions.duplicate_share = 0.1;
  conditions.reorder_share = 0.1;
  conditions.corrupt_share = 0.05;
  link.set(conditions);
  const auto arrivals = play(link);
  const LinkCounters& c = link.counters();
  CHECK(c.sent == datagrams);
  CHECK(c.lost == Approx(800).margin(120));
  CHECK(c.held_back == Approx(320).margin(80));
  CHECK(c.corrupted == Approx(160).margin(60));
  CHECK(c.duplicated == Approx(640).margin(160));
  CHECK(c.delivered == c.sent - c.lost + c.duplicated);
  CHECK(arrivals.size() == c.delivered);
  const auto broken =
      std::ranges::count_if(arrivals, [](const Arrival& a) { return !a.whole || a.bytes != 100; });
  CHECK(broken > 100);
  CHECK(static_cast<std::uint64_t>(broken) <= c.corrupted);
}

TEST_CASE("a link carries no more than its rate, and what waits too long is lost", "[link]") {
  Link link(4);
  LinkConditions conditions;
  conditions.bytes_per_second_max = 20'000;  // a fifth of what is sent
  link.set(conditions);
  const auto arrivals = play(link);
  CHECK(arrivals.size() == Approx(datagrams / 5).margin(60));
  for (const Arrival& a : arrivals) REQUIRE(a.at - a.number * apart < Micros{300'000});
  CHECK(link.counters().over_rate + arrivals.size() == datagrams);
}

TEST_CASE("a cut link carries nothing, and what was on its way still arrives", "[link]") {
  Link link(5);
  LinkConditions conditions;
  conditions.delay = Micros{100'000};
  link.set(conditions);
  const std::vector<std::uint8_t> bytes(10);
  link.send(Micros{0}, PeerAddress{}, bytes);
  conditions.cut = true;
  link.set(conditions);
  link.send(Micros{1}, PeerAddress{}, bytes);
  DatagramBatch batch;
  link.receive(Micros{99'999}, batch);
  CHECK(batch.empty());
  link.receive(Micros{10'000'000}, batch);
  CHECK(batch.entries().size() == 1);
  CHECK(link.counters().cut_off == 1);
}

TEST_CASE("a stream keeps order and loses nothing, however bad the network", "[link]") {
  Link link(6);
  LinkConditions conditions;
  conditions.stream = true;
  conditions.delay = Micros{20'000};
  conditions.jitter = Micros{30'000};
  conditions.loss_share = 0.1;
  conditions.duplicate_share = conditions.reorder_share = conditions.corrupt_share = 0.5;
  link.set(conditions);
  const auto arrivals = play(link);
  REQUIRE(arrivals.size() == datagrams);
  for (int i = 0; i < datagrams; ++i) REQUIRE(arrivals[static_cast<std::size_t>(i)].number == i);
  CHECK(std::ranges::all_of(arrivals, &Arrival::whole));
  CHECK(link.counters().resent > 200);
}

TEST_CASE("two links of one seed do the same, of another seed not", "[link]") {
  LinkConditions conditions;
  conditions.jitter = Micros{50'000};
  conditions.loss_share = 0.3;
  const auto fate = [&conditions](std::uint64_t seed) {
    Link link(seed);
    link.set(conditions);
    std::vector<std::pair<int, Micros>> out;
    for (const Arrival& a : play(link)) out.emplace_back(a.number, a.at);
    return out;
  };
  CHECK(fate(7) == fate(7));
  CHECK(fate(7) != fate(8));
}
