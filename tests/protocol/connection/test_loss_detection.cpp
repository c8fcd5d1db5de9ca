#include "protocol/connection/loss_detection.h"

#include <map>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

struct NotedFates final : SentPacketFates {
  std::map<std::uint64_t, int> acked, late, lost;
  void packet_acked(std::uint64_t sequence, const SentPacket&, bool was_lost) override {
    ++(was_lost ? late : acked)[sequence];
  }
  void packet_lost(std::uint64_t sequence, const SentPacket&) override { ++lost[sequence]; }
};

AckFrame ack_of(std::initializer_list<AckRange> ranges, Micros delay = Micros{0}) {
  AckFrame ack;
  ack.delay_us = static_cast<std::uint64_t>(delay.count());
  for (const AckRange& range : ranges) ack.ranges[ack.range_count++] = range;
  return ack;
}

std::uint64_t note_sent(LossDetection& loss, Micros now, bool eliciting = true) {
  const std::uint64_t sequence = loss.next_sequence();
  SentPacket packet;
  packet.sent_at = now, packet.bytes = 100, packet.eliciting = eliciting, packet.unreliable = eliciting;
  loss.sent(packet, {});
  return sequence;
}

constexpr Micros ms{1000};

}  // namespace

TEST_CASE("a round trip leaves out what the peer says it waited", "[protocol][connection][loss]") {
  LossDetection loss(false, 25 * ms);
  NotedFates fates;
  note_sent(loss, 0 * ms);
  const auto first = loss.acknowledge(ack_of({{1, 1}}, 20 * ms), 100 * ms, fates);
  CHECK(first.rtt == 80 * ms);
  CHECK(loss.round_trip().smoothed() == 80 * ms);
  CHECK(first.bytes == 100);
  // The same again is no news.
  const auto again = loss.acknowledge(ack_of({{1, 1}}), 300 * ms, fates);
  CHECK_FALSE(again.rtt.has_value());
  CHECK(again.bytes == 0);
  // What says that it waited longer than it took is bounded.
  note_sent(loss, 400 * ms);
  CHECK(loss.acknowledge(ack_of({{2, 2}}, 5000 * ms), 450 * ms, fates).rtt == Micros{1});
  CHECK(fates.acked.size() == 2);
}

TEST_CASE("a packet is lost three packets later, or an eighth over a round trip",
          "[protocol][connection][loss]") {
  LossDetection loss(false, 25 * ms);
  NotedFates fates;
  for (int i = 0; i < 6; ++i) note_sent(loss, i * ms);
  loss.acknowledge(ack_of({{4, 4}}), 83 * ms, fates);  // sent at 3 ms: 80 ms
  CHECK(loss.detect(83 * ms, fates) == 100);
  CHECK(fates.lost == std::map<std::uint64_t, int>{{1, 1}});
  CHECK(loss.loss_at() == 91 * ms);  // packet 2, sent at 1 ms
  CHECK(loss.detect(91 * ms, fates) == 100);
  CHECK(loss.detect(92 * ms, fates) == 100);
  CHECK(fates.lost.size() == 3);
  CHECK(loss.bytes_in_flight() == 200);  // 5 and 6: nothing later was acknowledged
  CHECK(loss.detect(10'000 * ms, fates) == 0);
}

TEST_CASE("a packet called lost that turns up is counted once and makes us wait longer",
          "[protocol][connection][loss]") {
  LossDetection loss(false, 25 * ms);
  NotedFates fates;
  for (int i = 0; i < 12; ++i) note_sent(loss, i * ms);
  loss.acknowledge(ack_of({{10, 10}}), 50 * ms, fates);
  loss.detect(50 * ms, fates);
  REQUIRE(fates.lost.count(4) == 1);
  const std::uint64_t flying = loss.bytes_in_flight();
  const auto late = loss.acknowledge(ack_of({{10, 10}, {4, 4}}), 52 * ms, fates);
  CHECK(late.bytes == 0);
  CHECK(fates.late == std::map<std::uint64_t, int>{{4, 1}});
  CHECK(loss.late() == 1);
  CHECK(loss.bytes_in_flight() == flying);
  CHECK(loss.packet_threshold() == 7);
  loss.acknowledge(ack_of({{10, 10}, {4, 4}}), 53 * ms, fates);
  CHECK(loss.late() == 1);
}

TEST_CASE("an acknowledgement of what was never sent is told apart and changes nothing",
          "[protocol][connection][loss]") {
  LossDetection loss(false, 25 * ms);
  NotedFates fates;
  CHECK(loss.acknowledge(ack_of({{1, 1}}), 1 * ms, fates).bad);
  note_sent(loss, 1 * ms);
  CHECK(loss.acknowledge(ack_of({{1, 2}}), 2 * ms, fates).bad);
  CHECK(fates.acked.empty());
  CHECK_FALSE(loss.acknowledge(ack_of({{1, 1}}), 2 * ms, fates).bad);
  // 2 is passed over: what came before and behind it may be named, and it may not.
  loss.pass_over(3 * ms);
  note_sent(loss, 3 * ms), note_sent(loss, 3 * ms);
  CHECK(loss.acknowledge(ack_of({{1, 3}}), 4 * ms, fates).bad);
  CHECK(loss.acknowledge(ack_of({{4, 4}, {2, 2}}), 4 * ms, fates).bad);
  CHECK(fates.acked.size() == 1);
  CHECK_FALSE(loss.acknowledge(ack_of({{3, 4}, {1, 1}}), 4 * ms, fates).bad);
  CHECK(fates.acked.size() == 3);
  loss.detect(2000 * ms, fates);
  CHECK(fates.lost.empty());
}

TEST_CASE("probes wait twice as long each time, up to a quarter of a second",
          "[protocol][connection][loss]") {
  LossDetection loss(false, 25 * ms);
  NotedFates fates;
  CHECK(loss.probe_at() == Micros::max());
  note_sent(loss, 0 * ms, false);
  CHECK(loss.probe_at() == Micros::max());  // nothing that asks for an answer
  note_sent(loss, 0 * ms);
  loss.acknowledge(ack_of({{2, 2}}), 100 * ms, fates);
  note_sent(loss, 200 * ms);
  CHECK(loss.probe_timeout() == 325 * ms);             // 100 + 4 * 50 + 25
  for (std::int64_t at = 525; at < 2000; at += 325) {  // longer than a quarter of a second: not doubled
    CHECK(loss.probe_at() == at * ms);
    loss.probed(at * ms);
  }
  LossDetection near(false, 25 * ms);
  note_sent(near, 0 * ms);
  near.acknowledge(ack_of({{1, 1}}), 10 * ms, fates);
  note_sent(near, 100 * ms);
  for (const std::int64_t at : {155, 265, 485, 735, 985}) {  // after 55, 110, 220 and then 250 ms
    CHECK(near.probe_at() == at * ms);
    near.probed(at * ms);
  }
  CHECK(near.probes() == 5);
  note_sent(near, 1000 * ms);
  near.acknowledge(ack_of({{3, 3}}), 1010 * ms, fates);
  CHECK(near.probes() == 0);
}

TEST_CASE("each packet gets exactly one fate, whatever acknowledgements say and when",
          "[protocol][connection][loss]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Rng rng{seed};
  LossDetection loss(false, 25 * ms);
  NotedFates fates;
  AckRanges arrived;
  Micros now{0};
  for (int round = 0; round < 20'000; ++round) {
    now += Micros{rng.below(8000)};
    const bool asks = rng.below(10) != 0;
    if (loss.full()) break;
    const std::uint64_t sequence = note_sent(loss, now, asks);
    if (rng.below(4) != 0)
      arrived.insert(sequence > 20 && rng.below(3) == 0 ? sequence - rng.below(20) : sequence);
    if (rng.below(3) == 0 && !arrived.empty()) {
      AckFrame ack;
      for (const AckRange& range : arrived.list()) ack.ranges[ack.range_count++] = range;
      REQUIRE_FALSE(loss.acknowledge(ack, now, fates).bad);
      arrived.forget_until(arrived.largest() > 100 ? arrived.largest() - 100 : 0);
    }
    if (rng.below(2) == 0) loss.detect(now, fates);
  }
  loss.abandon(fates);
  CHECK(loss.bytes_in_flight() == 0);
  CHECK(loss.unreliable_bytes_in_flight() == 0);
  for (const auto& fate : {fates.acked, fates.late, fates.lost})
    for (const auto& [sequence, count] : fate) REQUIRE(count == 1);
  for (const auto& [sequence, count] : fates.late) REQUIRE(fates.lost.count(sequence) == 1);
  for (const auto& [sequence, count] : fates.lost) REQUIRE(fates.acked.count(sequence) == 0);
  CHECK(fates.acked.size() + fates.lost.size() + 2000 >= loss.next_sequence());
}

TEST_CASE("over a reliable link only what was passed over is called lost", "[protocol][connection][loss]") {
  LossDetection loss(true, 25 * ms);
  NotedFates fates;
  for (int i = 0; i < 100; ++i) note_sent(loss, 0 * ms);
  CHECK(loss.detect(10'000 * ms, fates) == 0);  // however long it takes
  loss.acknowledge(ack_of({{51, 90}, {1, 49}}), 10'000 * ms, fates);
  CHECK(loss.detect(10'000 * ms, fates) > 0);
  CHECK(fates.lost.size() == 1);
  CHECK(fates.lost.count(50) == 1);
  CHECK(loss.detect(20'000 * ms, fates) == 0);  // 91 to 100 are on their way
  CHECK(loss.probe_at() == Micros::max());
}

TEST_CASE("a round trip is one path's, there and back", "[protocol][connection][loss]") {
  LossDetection loss(false, 25 * ms);
  NotedFates fates;
  // Answered from elsewhere: it counts as arrived, and tells no time.
  note_sent(loss, 0 * ms);
  const auto other = loss.acknowledge(ack_of({{1, 1}}), 3 * ms, fates, false);
  CHECK(other.bytes == 100);
  CHECK_FALSE(other.rtt.has_value());
  // Sent elsewhere: the same.
  SentPacket challenge;
  challenge.sent_at = 10 * ms, challenge.bytes = 100, challenge.eliciting = challenge.elsewhere = true;
  loss.sent(challenge, {});
  CHECK_FALSE(loss.acknowledge(ack_of({{2, 2}}), 12 * ms, fates).rtt.has_value());
  CHECK(loss.round_trip().samples() == 0);
  note_sent(loss, 20 * ms);
  CHECK(loss.acknowledge(ack_of({{3, 3}}), 60 * ms, fates).rtt == 40 * ms);
  // What was on its way when the path changed is of neither.
  note_sent(loss, 100 * ms);
  loss.new_path();
  CHECK_FALSE(loss.acknowledge(ack_of({{4, 4}}), 105 * ms, fates).rtt.has_value());
  note_sent(loss, 110 * ms);
  CHECK(loss.acknowledge(ack_of({{5, 5}}), 140 * ms, fates).rtt == 30 * ms);
  CHECK(loss.round_trip().samples() == 1);
  CHECK(fates.acked.size() == 5);
}
