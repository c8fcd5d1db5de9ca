#pragma once
// What a connection makes of a line, in simulated time, and what it costs; sections of bench_sessions.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "tests/bench/timing.h"
#include "tests/protocol/connection/traffic.h"

namespace ashlar::bench {

/// A transfer of 10 MiB on 10 Mbit/s down, a queue of one bandwidth-delay product, losses both ways alike,
/// beside 60 snapshots of 400 bytes a second down and 60 inputs up.
inline void goodput_section() {
  std::printf(
      "goodput: 10 MiB of bulk over 10 Mbit/s in simulated time, as a share of what snapshots leave of it;\n"
      "what snapshots take above the line's latency, with the transfer and (in brackets) without\n");
  std::printf("  %6s %6s  %7s  %7s  %18s  %18s  %9s\n", "rtt ms", "loss", "seconds", "share", "p50 ms",
              "p99 ms", "resent");
  for (const int rtt_ms : {20, 80, 200}) {
    for (const double loss : {0.0, 0.01, 0.05, 0.2}) {
      test::SimulatedPair pair(test::line_of_10_mbit(rtt_ms, loss, 1, 5));
      test::BulkTransfer bulk(pair, 10 << 20);
      for (int i = 0; i < 600 && !bulk.done(); ++i) pair.run(pair.now + Micros{200'000}, std::ref(bulk));
      test::SimulatedPair quiet(test::line_of_10_mbit(rtt_ms, loss, 1, 5));
      test::BulkTransfer snapshots(quiet, 1);
      quiet.run(quiet.now + Micros{10'000'000}, std::ref(snapshots));
      const double latency = rtt_ms / 2.0;
      std::printf("  %6d %5.0f%%  %7.2f  %7.3f  %8.1f (%5.1f)  %9.1f (%5.1f)  %6.2f MB%s\n", rtt_ms,
                  100 * loss, bulk.done() ? bulk.took_s() : 0.0,
                  bulk.done() ? bulk.goodput_share(test::ten_mbit_bytes_per_s) : 0.0,
                  bulk.delay_ms(0.5) - latency, snapshots.delay_ms(0.5) - latency,
                  bulk.delay_ms(0.99) - latency, snapshots.delay_ms(0.99) - latency,
                  static_cast<double>(pair.server->connection.counters().bytes_resent) * 1e-6,
                  bulk.done() ? "" : "  NOT DONE");
    }
  }
}

/// Two minutes beside a Reno flow on the same line, after half a minute.
inline void reno_section() {
  std::printf(
      "reno: bulk and snapshots beside one Reno flow on 10 Mbit/s, no chance losses; our share of what both "
      "get\n");
  std::printf("  %6s  %11s  %13s  %11s  %12s\n", "rtt ms", "queue, BDP", "both at once", "Reno first",
              "we first");
  for (const double queue_bdp : {0.5, 1.0, 2.0, 4.0}) {
    for (const int rtt_ms : {20, 80, 200}) {
      const auto both = test::beside_reno(rtt_ms, queue_bdp, 0, 0, 120, 1);
      const auto reno_first = test::beside_reno(rtt_ms, queue_bdp, 20, 0, 120, 1);
      const auto we_first = test::beside_reno(rtt_ms, queue_bdp, 0, 20, 120, 1);
      std::printf("  %6d  %11.1f  %12.0f%%  %10.0f%%  %11.0f%%\n", rtt_ms, queue_bdp, 100 * both.share,
                  100 * reno_first.share, 100 * we_first.share);
    }
  }
}

/// Two ends in one thread that say something 60 times a second, without a network between.
inline void packet_section() {
  std::printf(
      "packet: processor time of a datagram, sent by one connection and taken in by another, beside cipher "
      "none\n");
  struct Row {
    const char* name;
    secure::Cipher cipher;
    std::size_t unreliable, stream;
  };
  std::vector<Row> rows{{"60 B", secure::Cipher::none, 60, 0},
                        {"1000 B", secure::Cipher::none, 1000, 0},
                        {"600 B and an event of 100 B", secure::Cipher::none, 600, 100}};
  for (const auto cipher : {secure::Cipher::chacha20_poly1305, secure::Cipher::aes256_gcm}) {
    if (cipher == secure::Cipher::aes256_gcm && !secure::aes_available()) continue;
    for (std::size_t i = 0; i < 3; ++i) rows.push_back(rows[i]), rows.back().cipher = cipher;
  }
  for (const Row& row : rows) {
    constexpr int ticks = 20'000;
    const auto run = [&] {
      const secure::SessionKeys keys = test::session_keys(1, row.cipher);
      Micros now{0};
      ConnectionSettings settings;
      settings.end = secure::End::client;
      test::SimulatedEnd a(settings, keys, test::client_address, test::server_address, now);
      settings.end = secure::End::server;
      test::SimulatedEnd b(settings, keys, test::server_address, test::client_address, now);
      const std::vector<std::uint8_t> message(row.unreliable), event(std::max<std::size_t>(row.stream, 1));
      std::vector<std::uint8_t> taken;
      for (int t = 0; t < ticks; ++t) {
        now += Micros{16'667};
        for (test::SimulatedEnd* end : {&a, &b}) {
          test::SimulatedEnd& other = end == &a ? b : a;
          if (row.stream > 0) (void)end->connection.send(StreamId::events, event);
          (void)end->connection.send_unreliable(now, message, end->out);
          end->connection.poll(now, end->out);
          for (const auto& entry : end->out.entries()) other.take_in(now, end->own, end->out.bytes(entry));
          end->out.clear();
          while (other.connection.take(StreamId::events, taken)) {
          }
          while (end->connection.next_fate()) {
          }
        }
      }
    };
    const Spread s = measure(run, 2.0 * ticks);
    const std::string_view cipher = secure::name(row.cipher);
    std::printf("  %-28s %-18.*s %6.2f us   (%.2f to %.2f)\n", row.name, static_cast<int>(cipher.size()),
                cipher.data(), s.median * 1e6, s.low * 1e6, s.high * 1e6);
  }
  test::SimulatedPair pair({});
  pair.run(pair.now + Micros{5'000'000});
  std::printf("  a connection is %zu bytes, idle %zu with all that it holds\n", sizeof(Connection),
              pair.server->connection.memory_bytes());
}

}  // namespace ashlar::bench
