#include "server/net/send_thread.h"

#include <atomic>
#include <semaphore>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/server/net/sockets.h"
#include "world/math/random.h"

namespace ashlar::server {

using namespace test;

namespace {

DatagramBatch batch_of(std::uint8_t first, std::size_t datagrams, const PeerAddress& peer = {}) {
  DatagramBatch batch;
  for (std::size_t i = 0; i < datagrams; ++i) {
    const Bytes bytes(8 + i, first);
    batch.add(peer, bytes);
  }
  return batch;
}

}  // namespace

TEST_CASE("batches are sent in their order, each once, and their memory comes back",
          "[server][send_thread]") {
  std::vector<std::uint8_t> seen;
  std::size_t datagrams = 0;
  {
    SendThread thread([&](const DatagramBatch& batch) {
      seen.push_back(batch.bytes(batch.entries()[0])[0]);
      datagrams += batch.entries().size();
    });
    for (std::uint8_t i = 0; i < 200; ++i) {
      DatagramBatch batch = batch_of(i, 1 + i % 7u);
      while (!thread.hand_over(batch)) std::this_thread::yield();
      CHECK(batch.entries().empty());
    }
  }  // what was handed over is sent first
  REQUIRE(seen.size() == 200);
  for (std::size_t i = 0; i < seen.size(); ++i) REQUIRE(seen[i] == i);
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < 200; ++i) wanted += 1 + i % 7;
  CHECK(datagrams == wanted);
}

TEST_CASE("a full queue refuses a batch and leaves it as it was", "[server][send_thread]") {
  std::counting_semaphore<64> may_go{0};
  std::atomic<std::size_t> sent{0};
  SendThread thread([&](const DatagramBatch&) {
    may_go.acquire();
    ++sent;
  });
  std::size_t taken = 0;
  DatagramBatch batch = batch_of(1, 3);
  for (; taken < 2 * SendThread::batches_max && thread.hand_over(batch); ++taken) batch = batch_of(1, 3);
  CHECK(taken == SendThread::batches_max);
  CHECK(batch.entries().size() == 3);
  CHECK_FALSE(thread.idle());
  may_go.release(static_cast<std::ptrdiff_t>(taken));
  while (!thread.idle()) std::this_thread::yield();
  CHECK(sent == taken);
  CHECK(thread.take_longest_ns() > 0);
  CHECK(thread.take_longest_ns() == 0);
  CHECK(thread.hand_over(batch));
  may_go.release();
}

TEST_CASE("a send thread says when it falls behind, and takes no time of what comes early",
          "[server][send_thread]") {
  std::counting_semaphore<64> may_go{0};
  SendThread thread([&](const DatagramBatch&) { may_go.acquire(); });
  std::size_t early = 0;
  for (; thread.keeps_up() && early < 64; ++early) {
    DatagramBatch batch = batch_of(1, 3);
    REQUIRE(thread.hand_over(batch, true));
    CHECK(batch.empty());
  }
  // As many again find room for what has to go.
  CHECK(early == SendThread::batches_max / 2);
  may_go.release(static_cast<std::ptrdiff_t>(early));
  while (!thread.idle()) std::this_thread::yield();
  CHECK(thread.keeps_up());
  CHECK(thread.take_longest_ns() == 0);
  DatagramBatch last = batch_of(1, 3);
  CHECK(thread.hand_over(last));
  may_go.release();
  while (!thread.idle()) std::this_thread::yield();
  CHECK(thread.take_longest_ns() > 0);
}

TEST_CASE("with a send thread the same bytes travel in the same order", "[server][send_thread][udp]") {
  std::vector<Bytes> got[2];
  for (const bool beside : {false, true}) {
    TransportConfig config;
    config.send_thread = beside;
    Transports transports = open_on_loopback(config);
    Socket peer = udp_to(transports.port());
    REQUIRE(peer.send(bytes_of("here")));
    DatagramBatch in, out;
    REQUIRE(poll_until(transports, in, [&] { return in.entries().size() == 1; }));
    Rng rng{7}, early{8};
    std::uint64_t sent = 0, bytes_sent = 0;
    for (int turn = 0; turn < 40; ++turn) {
      out.clear();
      for (std::uint32_t i = rng.below(5); i > 0; --i) {
        Bytes bytes(1 + rng.below(datagram_bytes_max));
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.next_u32());
        out.add(in.entries()[0].peer, bytes);
        ++sent, bytes_sent += bytes.size();
        if (early.below(3) > 0) continue;
        // For nobody who is here: it goes nowhere, and not again with the rest.
        PeerAddress link = in.entries()[0].peer;
        link.transport = Transport::tcp, link.link = 99;
        if (early.below(2) == 0) out.add(link, bytes);
        transports.send_early(0us, out);
        CHECK((out.empty() || beside));  // a thread that is behind leaves it for later
      }
      transports.send(0us, out);
      while (got[beside].size() < sent) {
        REQUIRE(peer.readable(5000));
        got[beside].push_back(peer.receive());
      }
    }
    while (!transports.flushed()) std::this_thread::yield();
    CHECK(transports.counters().datagrams_out == sent);
    CHECK(transports.counters().bytes_out == bytes_sent);
    CHECK((transports.take_longest_send_ns() > 0) == beside);
    CHECK_FALSE(peer.readable(0));
  }
  CHECK(got[0] == got[1]);
}

}  // namespace ashlar::server
