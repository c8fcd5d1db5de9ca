// A tick's datagrams go out while it makes them.
#include "server/host/early_sender.h"

#include <algorithm>
#include <vector>

#include "tests/catch.h"
#include "tests/server/host/host_table.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

/// Gives everybody what is there, and takes a millisecond for it.
class Courier : public EarlySender {
 public:
  explicit Courier(Table& table) : table_(table), clock_(table.now) {}
  void begin_tick() { clock_ = table_.now; }
  Micros send(DatagramBatch& datagrams) override {
    clock_ += Micros{1'000};
    REQUIRE(clock_ < table_.now + tick);
    for (const DatagramBatch::Entry& entry : datagrams.entries()) {
      for (Hand& h : table_.hands)
        if (h.at == entry.peer) h.receive(clock_, Table::server_at(entry.peer), datagrams.bytes(entry));
      bytes += entry.size;
    }
    sent += datagrams.entries().size();
    ++calls;
    datagrams.clear();
    return clock_;
  }
  std::size_t calls = 0, sent = 0, bytes = 0;

 private:
  Table& table_;
  Micros clock_;
};

}  // namespace

TEST_CASE("what a tick makes goes out before all of it is made, and none of it twice", "[server][host]") {
  constexpr std::uint32_t clients = 3 * EarlySender::datagrams_least;
  HostConfig config;
  config.clients_per_address_max = clients;
  Table table(clients, {}, config);
  for (std::uint32_t i = 0; i < clients; ++i) table.hand(peer(static_cast<std::uint16_t>(i + 1)));
  for (Hand& h : table.hands) h.begin(table.now);
  for (int i = 0;
       i < 240 && !std::ranges::all_of(table.hands, [](const Hand& h) { return h.own.has_value(); }); ++i)
    table.run();
  REQUIRE(std::ranges::all_of(table.hands, [](const Hand& h) { return h.own.has_value(); }));
  table.run(60);

  Courier courier(table);
  table.output.early = &courier;
  const std::uint64_t before = table.host->status().datagrams_out;
  const std::uint64_t bytes_before = table.host->status().bytes_out;
  std::size_t rest = 0, rest_bytes = 0;
  constexpr int ticks = 240;
  std::vector<int> snapshots_before;
  for (const Hand& h : table.hands) snapshots_before.push_back(h.snapshots);
  for (int i = 0; i < ticks; ++i) {
    courier.begin_tick();
    for (Hand& h : table.hands) table.send(h, walking(h.snapshot_tick + 2));
    table.run();
    rest += table.out.entries().size();
    for (const DatagramBatch::Entry& entry : table.out.entries()) rest_bytes += entry.size;
  }
  CHECK(courier.calls >= 3 * ticks);
  CHECK(courier.sent >= clients * ticks);
  CHECK(table.host->status().datagrams_out - before == courier.sent + rest);
  CHECK(table.host->status().bytes_out - bytes_before == courier.bytes + rest_bytes);
  for (std::size_t i = 0; i < table.hands.size(); ++i)
    CHECK(table.hands[i].snapshots - snapshots_before[i] == ticks);
  // A packet's time is that of the batch before its own; what is left at the tick's end arrives with the
  // next. By the tick's beginning it would be 5 ms in the median, and 12.
  std::vector<Micros> rtts;
  for (const PlayerInfo& player : table.host->players()) rtts.push_back(player.rtt);
  std::ranges::sort(rtts);
  CHECK(rtts.front() > Micros{0});
  CHECK(rtts[rtts.size() / 2] <= Micros{1'500});
  CHECK(rtts.back() <= Micros{8'000});
}
