#include "protocol/connection/streams.h"

#include <map>

#include "protocol/connection/frames.h"
#include "protocol/connection/receive_stream.h"
#include "protocol/connection/send_stream.h"
#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes random_message(Rng& rng, std::uint32_t bytes_max) {
  Bytes message(1 + rng.below(bytes_max));
  for (std::uint8_t& b : message) b = static_cast<std::uint8_t>(rng.next_u64());
  return message;
}

/// The bytes that messages make in a stream.
Bytes framed(const std::vector<Bytes>& messages) {
  Bytes bytes;
  for (const Bytes& message : messages) {
    for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(message.size() >> (8 * i)));
    bytes.insert(bytes.end(), message.begin(), message.end());
  }
  return bytes;
}

}  // namespace

TEST_CASE("segments in any order and any overlap give the messages once and in order",
          "[protocol][connection][streams]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  CAPTURE(seed);
  Rng rng{seed};
  ReceiveStream stream(StreamId::edits, 64 * 1024);
  stream.grant();
  std::vector<Bytes> sent, got;
  for (int i = 0; i < 40; ++i) sent.push_back(random_message(rng, 900));
  const Bytes bytes = framed(sent);
  std::vector<bool> arrived(bytes.size());
  std::size_t left = bytes.size();
  Bytes message;
  while (left > 0) {
    const std::size_t begin = rng.below(static_cast<std::uint32_t>(bytes.size()));
    const std::size_t end = std::min(bytes.size(), begin + 1 + rng.below(300));
    REQUIRE(stream.accept(begin, std::span(bytes).subspan(begin, end - begin)) == StreamAccept::taken);
    for (std::size_t i = begin; i < end; ++i) left -= arrived[i] ? 0 : 1, arrived[i] = true;
    while (stream.take(message)) got.push_back(message);
    // The twin: the messages whose bytes, and all before them, have come.
    std::size_t whole = 0, at = 0;
    const std::size_t prefix =
        static_cast<std::size_t>(std::find(arrived.begin(), arrived.end(), false) - arrived.begin());
    while (whole < sent.size() && at + 4 + sent[whole].size() <= prefix) at += 4 + sent[whole++].size();
    REQUIRE(got.size() == whole);
  }
  CHECK(got == sent);
  CHECK(stream.held_bytes() == 0);
}

TEST_CASE("bytes that came first stay, whatever comes for the same place later",
          "[protocol][connection][streams]") {
  ReceiveStream stream(StreamId::chat, 16 * 1024);
  const Bytes honest = framed({Bytes(100, 'a')}), other(104, 'b');
  REQUIRE(stream.accept(20, std::span(honest).subspan(20, 30)) == StreamAccept::taken);
  REQUIRE(stream.accept(4, std::span(other).subspan(4, 60)) == StreamAccept::taken);
  REQUIRE(stream.accept(0, honest) == StreamAccept::taken);
  Bytes message;
  REQUIRE(stream.take(message));
  for (std::size_t i = 0; i < 100; ++i) {
    const bool was_other = (i + 4 < 20) || (i + 4 >= 50 && i + 4 < 64);
    CHECK(message[i] == (was_other ? 'b' : 'a'));
  }
}

TEST_CASE("a receiver takes no byte that it has not allowed", "[protocol][connection][streams]") {
  ReceiveStream stream(StreamId::chat, 16 * 1024);
  const Bytes bytes(1000, 1);
  CHECK(stream.accept(first_credit_bytes, std::span(bytes).first(1)) == StreamAccept::flow_control);
  CHECK(stream.accept(first_credit_bytes - 999, bytes) == StreamAccept::flow_control);
  CHECK(stream.accept(varint_max - 1000, bytes) == StreamAccept::flow_control);
  CHECK(stream.reset(first_credit_bytes + 1) == StreamAccept::flow_control);
  CHECK(stream.held_bytes() == 0);
  CHECK(stream.memory_bytes() == 0);
  CHECK(stream.credit_due());
  CHECK(stream.grant() == 16 * 1024);
  CHECK_FALSE(stream.credit_due());
  CHECK(stream.accept(16 * 1024 - 1000, bytes) == StreamAccept::taken);
  CHECK(stream.accept(16 * 1024, std::span(bytes).first(1)) == StreamAccept::flow_control);
  CHECK(stream.memory_bytes() <= 17 * 1024);
}

TEST_CASE("messages of no length, or longer than allowed, are refused as they begin",
          "[protocol][connection][streams]") {
  const auto announce = [](StreamId id, std::uint32_t window, std::uint32_t length) {
    ReceiveStream stream(id, window);
    const Bytes prefix{static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(length >> 8),
                       static_cast<std::uint8_t>(length >> 16), static_cast<std::uint8_t>(length >> 24)};
    return stream.accept(0, prefix);
  };
  CHECK(announce(StreamId::chat, 4096, 1024) == StreamAccept::taken);
  CHECK(announce(StreamId::chat, 4096, 1025) == StreamAccept::bad_message);
  CHECK(announce(StreamId::chat, 4096, 0) == StreamAccept::bad_message);
  CHECK(announce(StreamId::bulk, 1280 * 1024, 1 << 20) == StreamAccept::taken);
  CHECK(announce(StreamId::bulk, 1280 * 1024, (1 << 20) + 1) == StreamAccept::bad_message);
  CHECK(announce(StreamId::bulk, 32 * 1024, 40 * 1024) == StreamAccept::bad_message);  // never fits
  CHECK(announce(StreamId::bulk, 32 * 1024, 0xffffffff) == StreamAccept::bad_message);
}

TEST_CASE("a stream full of gaps asks for no more of them", "[protocol][connection][streams]") {
  ReceiveStream stream(StreamId::bulk, 64 * 1024);
  stream.grant();
  const Bytes one{7};
  std::uint64_t offset = 10;
  for (std::size_t i = 0; i < ReceiveStream::gaps_max; ++i, offset += 2)
    REQUIRE(stream.accept(offset, one) == StreamAccept::taken);
  CHECK(stream.accept(offset, one) == StreamAccept::scattered);
  CHECK(stream.accept(11, one) == StreamAccept::taken);  // closes one
  CHECK(stream.accept(offset, one) == StreamAccept::taken);
  CHECK(stream.memory_bytes() < 128 * 1024);
}

TEST_CASE("a full queue refuses a message whole", "[protocol][connection][streams]") {
  SendStream stream(StreamId::chat);
  const StreamProperties& bounds = properties(StreamId::chat);
  CHECK(stream.send(Bytes(bounds.message_bytes_max + 1)) == SendResult::too_long);
  std::size_t count = 0;
  while (stream.send(Bytes(bounds.message_bytes_max)) == SendResult::sent) ++count;
  CHECK(count == bounds.queue_bytes_max / (bounds.message_bytes_max + message_prefix_bytes));
  const std::uint64_t queued = stream.queued_bytes();
  CHECK(stream.send(Bytes(bounds.message_bytes_max)) == SendResult::queue_full);
  CHECK(stream.queued_bytes() == queued);
  CHECK(stream.memory_bytes() <= bounds.queue_bytes_max);
}

// Every state that two ends of a stream can be in, walked at random: packets lost, doubled, overtaken and
// late, credits lost, the application slow. Nothing goes beyond the limit, nothing comes twice, all comes in
// the end.
TEST_CASE("sender and receiver agree under any fate of packets", "[protocol][connection][streams]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
  CAPTURE(seed);
  Rng rng{seed};
  SendStream sender(StreamId::events);
  ReceiveStream receiver(StreamId::events, 20 * 1024);
  struct InFlight {
    Interval bytes;
    Bytes data;
    std::optional<std::uint64_t> reset;
  };
  std::vector<InFlight> flying;
  std::vector<Bytes> sent, got;
  std::size_t resets = 0, sent_at_reset = 0;
  Bytes message;
  std::uint64_t granted = first_credit_bytes, highest_sent = 0;
  const auto arrives = [&](const InFlight& packet) {
    if (packet.reset) REQUIRE(receiver.reset(*packet.reset) == StreamAccept::taken);
    if (!packet.data.empty())
      REQUIRE(receiver.accept(packet.bytes.begin, packet.data) == StreamAccept::taken);
  };
  const auto acknowledge = [&](const InFlight& packet) {
    if (packet.reset) sender.reset_acked(*packet.reset);
    sender.acked(packet.bytes);
  };
  const auto lose = [&](const InFlight& packet) {
    if (packet.reset) sender.reset_lost(*packet.reset);
    sender.lost(packet.bytes);
  };
  for (int round = 0; round < 30'000; ++round) {
    const bool winding_up = round > 25'000;
    const std::uint32_t what = rng.below(100);
    if (what < 15 && !winding_up) {
      const Bytes next = random_message(rng, 3000);
      if (sender.send(next) == SendResult::sent) sent.push_back(next);
    } else if (what < 55) {
      InFlight packet{{0, 0}, {}, sender.reset_pending()};
      if (packet.reset) sender.reset_sent();
      if (const auto bytes = sender.next(1 + rng.below(1100))) {
        packet.bytes = *bytes;
        packet.data.resize(static_cast<std::size_t>(bytes->size()));
        sender.copy(*bytes, packet.data);
        highest_sent = std::max(highest_sent, bytes->end);
        REQUIRE(highest_sent <= std::max<std::uint64_t>(granted, first_credit_bytes));
      }
      if (packet.reset || !packet.data.empty()) flying.push_back(packet);
    } else if (what < 85 && !flying.empty()) {
      const std::size_t which = rng.below(static_cast<std::uint32_t>(flying.size()));
      const InFlight packet = flying[which];
      const std::uint32_t fate = rng.below(100);
      if (fate < 20) {  // lost, and known to be
        lose(packet);
      } else if (fate < 30) {  // arrives, though it was called lost
        lose(packet), arrives(packet), acknowledge(packet);
      } else {
        arrives(packet), acknowledge(packet);
      }
      if (fate >= 95) continue;  // and once more later
      flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
    } else if (what < 95) {
      if (receiver.credit_due()) {
        granted = receiver.grant();
        if (rng.below(3) == 0)
          receiver.credit_lost(granted);
        else
          sender.credit(granted);
        sender.credit(granted / 2);  // an old one
      }
      if (rng.below(2) == 0 && receiver.take(message)) got.push_back(message);
    } else if (rng.below(200) == 0 && !winding_up) {
      sender.reset();
      // What the receiver got before the reset counts; the rest is void, as long as it was not taken.
      ++resets, sent_at_reset = sent.size();
    }
    REQUIRE(sender.queued_bytes() <= properties(StreamId::events).queue_bytes_max);
    REQUIRE(receiver.held_bytes() <= 20 * 1024);
  }
  for (int round = 0; round < 2000; ++round) {
    for (const InFlight& packet : flying) arrives(packet), acknowledge(packet);
    flying.clear();
    while (receiver.take(message)) got.push_back(message);
    if (receiver.credit_due()) sender.credit(receiver.grant());
    InFlight packet{{0, 0}, {}, sender.reset_pending()};
    if (const auto bytes = sender.next(1100)) {
      packet.bytes = *bytes;
      packet.data.resize(static_cast<std::size_t>(bytes->size()));
      sender.copy(*bytes, packet.data);
    }
    flying.push_back(packet);
  }
  CHECK(sender.idle());
  CHECK(receiver.held_bytes() == 0);
  // What came is in order, each once; all that was sent after the last reset came.
  std::size_t at = 0;
  for (const Bytes& each : got) {
    while (at < sent.size() && sent[at] != each) ++at;
    REQUIRE(at < sent.size());
    ++at;
  }
  const std::size_t after = sent.size() - sent_at_reset;
  REQUIRE(got.size() >= after);
  CHECK(std::equal(sent.end() - static_cast<std::ptrdiff_t>(after), sent.end(),
                   got.end() - static_cast<std::ptrdiff_t>(after)));
  if (resets == 0) CHECK(got == sent);
}

TEST_CASE("messages as long as the window allows never wait for each other",
          "[protocol][connection][streams]") {
  const std::uint32_t first = GENERATE(1u, 4000u, 10'000u, 16'380u, 16'381u, 20'000u, 32'761u, 32'764u);
  CAPTURE(first);
  constexpr std::uint32_t window = 32 * 1024;
  SendStream sender(StreamId::bulk);
  ReceiveStream receiver(StreamId::bulk, window);
  int got = 0;
  for (const std::uint32_t size : {first, window - 4, first, 25'000u, window - 4})
    REQUIRE(sender.send(Bytes(size, 1)) == SendResult::sent);
  Bytes message, data;
  for (int round = 0; round < 400; ++round) {
    if (receiver.credit_due()) sender.credit(receiver.grant());
    if (const auto bytes = sender.next(1100)) {
      data.resize(static_cast<std::size_t>(bytes->size()));
      sender.copy(*bytes, data);
      REQUIRE(receiver.accept(bytes->begin, data) == StreamAccept::taken);
      sender.acked(*bytes);
    }
    while (receiver.take(message)) ++got;
  }
  CHECK(got == 5);
}

TEST_CASE("a reset tells where the next message begins, and bytes before it are void",
          "[protocol][connection][streams]") {
  SendStream sender(StreamId::events);
  ReceiveStream receiver(StreamId::events, 16 * 1024);
  REQUIRE(sender.send(Bytes(2000, 1)) == SendResult::sent);
  const Interval first = *sender.next(500);
  Bytes data(500);
  sender.copy(first, data);
  REQUIRE(receiver.accept(0, data) == StreamAccept::taken);
  sender.reset();
  CHECK(sender.queued_bytes() == 0);
  CHECK_FALSE(sender.idle());
  REQUIRE(sender.reset_pending() == 500u);
  CHECK(sender.lost(first) == 0);
  REQUIRE(sender.send(Bytes(10, 2)) == SendResult::sent);
  const Interval second = *sender.next(500);
  CHECK(second == Interval{500, 514});
  data.resize(14);
  sender.copy(second, data);
  REQUIRE(receiver.reset(500) == StreamAccept::taken);
  REQUIRE(receiver.reset(100) == StreamAccept::taken);  // an old one
  REQUIRE(receiver.accept(500, data) == StreamAccept::taken);
  Bytes message;
  REQUIRE(receiver.take(message));
  CHECK(message == Bytes(10, 2));
  sender.acked(second);
  sender.reset_acked(500);
  CHECK(sender.idle());
}
