#include "protocol/connection/frames.h"

#include <cstring>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<Frame> read_all(const Bytes& plaintext, bool& malformed) {
  std::vector<Frame> frames;
  FrameReader reader(plaintext);
  Frame frame;
  while (reader.next(frame)) frames.push_back(frame);
  malformed = reader.malformed();
  return frames;
}

bool is_malformed(const Bytes& plaintext) {
  bool malformed = false;
  read_all(plaintext, malformed);
  return malformed;
}

}  // namespace

TEST_CASE("every frame is read as it was written", "[protocol][connection][frames]") {
  Bytes bytes(plaintext_bytes_max);
  FrameWriter writer(bytes);
  const std::vector<AckRange> ranges{{90, 1'000'000}, {80, 88}, {2, 2}};
  REQUIRE(writer.ping());
  REQUIRE(writer.ack(ranges, 1234, 100) == 3);
  REQUIRE(writer.credit({StreamId::bulk, 1u << 30}));
  REQUIRE(writer.stream_reset({StreamId::edits, 77}));
  REQUIRE(writer.path_challenge(0x0123456789abcdefu));
  REQUIRE(writer.path_response(5));
  const std::string text = "stream";
  std::memcpy(writer.stream(StreamId::chat, 300, text.size()).data(), text.data(), text.size());
  REQUIRE(writer.close(CloseReason::done, "bye"));
  const Bytes message{1, 2, 3};
  REQUIRE(writer.unreliable(message));
  bytes.resize(writer.size());

  bool malformed = false;
  const std::vector<Frame> frames = read_all(bytes, malformed);
  REQUIRE_FALSE(malformed);
  REQUIRE(frames.size() == 9);
  CHECK(std::holds_alternative<PingFrame>(frames[0]));
  const auto& ack = std::get<AckFrame>(frames[1]);
  CHECK(ack.delay_us == 1234);
  REQUIRE(ack.range_count == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(ack.ranges[i] == ranges[i]);
  CHECK(std::get<CreditFrame>(frames[2]).stream == StreamId::bulk);
  CHECK(std::get<CreditFrame>(frames[2]).limit == 1u << 30);
  CHECK(std::get<StreamResetFrame>(frames[3]).offset == 77);
  CHECK(std::get<PathChallengeFrame>(frames[4]).data == 0x0123456789abcdefu);
  CHECK(std::get<PathResponseFrame>(frames[5]).data == 5);
  const auto& stream = std::get<StreamFrame>(frames[6]);
  CHECK(stream.stream == StreamId::chat);
  CHECK(stream.offset == 300);
  CHECK(std::memcmp(stream.bytes.data(), text.data(), text.size()) == 0);
  CHECK(std::get<CloseFrame>(frames[7]).reason == CloseReason::done);
  CHECK(std::get<CloseFrame>(frames[7]).text == "bye");
  const auto& unreliable = std::get<UnreliableFrame>(frames[8]);
  CHECK(Bytes(unreliable.message.begin(), unreliable.message.end()) == message);
  CHECK((plaintext_begin + static_cast<std::size_t>(unreliable.message.data() - bytes.data())) % 8 == 0);
}

TEST_CASE("frames by hand are as WIRE.md draws them", "[protocol][connection][frames]") {
  const auto one = [](const Bytes& bytes) {
    bool malformed = false;
    const std::vector<Frame> frames = read_all(bytes, malformed);
    REQUIRE_FALSE(malformed);
    REQUIRE(frames.size() == 1);
    return frames[0];
  };
  // 300 is ac 02; largest 300, delay 5, one more range, 10 packets; a gap of 3; 2 packets.
  const auto ack = std::get<AckFrame>(one({2, 0xac, 2, 5, 1, 9, 2, 1}));
  CHECK(ack.ranges[0] == AckRange{291, 300});
  CHECK(ack.ranges[1] == AckRange{286, 287});
  CHECK(std::get<CreditFrame>(one({3, 4, 0x80, 1})).limit == 128);
  CHECK(std::get<StreamResetFrame>(one({4, 2, 9})).offset == 9);
  CHECK(std::get<PathChallengeFrame>(one({5, 1, 0, 0, 0, 0, 0, 0, 2})).data == 0x0200000000000001u);
  CHECK(std::get<CloseFrame>(one({7, 64, 2, 'h', 'i'})).reason == CloseReason::application);
  CHECK(std::get<StreamFrame>(one({0, 0, 18, 7, 2, 'a', 'b'})).offset == 7);
  // Plaintext begins at byte 10 of the packet: the message at byte 16.
  CHECK(std::get<UnreliableFrame>(one({0, 0, 0, 0, 0, 8, 42})).message[0] == 42);
}

TEST_CASE("malformed frames are refused", "[protocol][connection][frames]") {
  const std::vector<Bytes> cases{
      {9},                                                               // no such type
      {15},                                                              // neither
      {21, 0, 1, 0},                                                     // no such stream
      {255},                                                             //
      {3, 5, 1},                                                         // credit of no stream
      {4, 200, 1},                                                       // reset of no stream
      {2},                                                               // cut off
      {2, 0, 0, 0, 0},                                                   // sequences begin at 1
      {2, 5, 0, 0, 5},                                                   // more packets than there can be
      {2, 9, 0, 1, 0, 7, 0},                                             // the second range would end at 0
      {2, 9, 0, 1, 0, 5, 2},                                             // or begin below 1
      {2, 9, 0, 64, 0},                                                  // more ranges than an end keeps
      {2, 1, 0, 0, 0, 2, 1, 0, 0, 0},                                    // two acknowledgements
      {2, 0x85, 0, 0, 0, 0},                                             // 5 with a needless zero
      {16, 0, 0},                                                        // no bytes
      {16, 0, 2, 1},                                                     // fewer bytes than it says
      {16, 0, 0xff, 0xff, 0xff, 0xff},                                   //
      {16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 1, 7},  // behind 2^62 - 1
      {16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 7},  // 2^63 - 1
      {16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1, 7},  // 2^64 - 1
      {5, 1, 2, 3},                                                            // cut off
      {7, 0, 0},                                                               // closed for no reason
      {7, 1, 3, 'a', 'b'},                                                     // cut off
      {7, 1, 1, 7},                                                            // a bell is not printable
      {8, 1},              // a message that is not aligned
      {0, 0, 0, 0, 0, 8},  // an empty one
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    CHECK(is_malformed(cases[i]));
  }
  CHECK_FALSE(is_malformed({}));
  CHECK_FALSE(is_malformed({0, 0, 0}));
  CHECK_FALSE(is_malformed({1, 2, 1, 0, 0, 0, 1}));
  CHECK_FALSE(is_malformed(Bytes(frames_max, 1)));
  CHECK(is_malformed(Bytes(frames_max + 1, 1)));
}

TEST_CASE("any bytes are read without harm, and frames stay within bounds",
          "[protocol][connection][frames]") {
  Rng rng{11};
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes(rng.below(80));
    for (std::uint8_t& b : bytes)
      b = static_cast<std::uint8_t>(rng.below(3) == 0 ? rng.next_u64() : rng.below(22));
    bool malformed = false;
    for (const Frame& frame : read_all(bytes, malformed)) {
      if (const auto* ack = std::get_if<AckFrame>(&frame)) {
        REQUIRE(ack->range_count >= 1);
        for (std::size_t i = 0; i < ack->range_count; ++i) {
          REQUIRE(ack->ranges[i].first >= 1);
          REQUIRE(ack->ranges[i].first <= ack->ranges[i].last);
          if (i > 0) REQUIRE(ack->ranges[i].last + 1 < ack->ranges[i - 1].first);
        }
      }
      if (const auto* stream = std::get_if<StreamFrame>(&frame)) {
        REQUIRE(row(stream->stream) < stream_count);
        REQUIRE(stream->offset + stream->bytes.size() <= varint_max);
      }
    }
  }
}

TEST_CASE("an acknowledgement says as many ranges as there is room for", "[protocol][connection][frames]") {
  AckRanges arrived;
  for (std::uint64_t i = 1; i <= AckRanges::ranges_max; ++i) arrived.insert(1'000'000 + 3 * i);
  for (std::size_t room = 0; room < 200; ++room) {
    Bytes bytes(plaintext_bytes_max);
    FrameWriter writer(bytes);
    const std::size_t told = writer.ack(arrived.list(), 99, room);
    CHECK(writer.size() <= room);
    CHECK((told > 0) == (room >= 7));
    bytes.resize(writer.size());
    bool malformed = false;
    const auto frames = read_all(bytes, malformed);
    REQUIRE_FALSE(malformed);
    if (told == 0) continue;
    const auto& ack = std::get<AckFrame>(frames.at(0));
    REQUIRE(ack.range_count == told);
    for (std::size_t i = 0; i < told; ++i) CHECK(ack.ranges[i] == arrived.list()[i]);
  }
}

TEST_CASE("the longest unreliable message fits beside an acknowledgement", "[protocol][connection][frames]") {
  Bytes bytes(plaintext_bytes_max);
  FrameWriter writer(bytes);
  const std::vector<AckRange> ranges{{varint_max - 20, varint_max}};
  REQUIRE(writer.ack(ranges, 50'000, 21) == 1);
  CHECK(writer.unreliable(Bytes(unreliable_bytes_max, 7)));
  CHECK_FALSE(FrameWriter(bytes).unreliable(Bytes(unreliable_bytes_max + 17, 7)));
}
