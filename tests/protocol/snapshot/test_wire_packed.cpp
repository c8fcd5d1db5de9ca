// The packed snapshot of protocol/WIRE.md, read as the page draws it and by nothing of ours.

#include <iomanip>
#include <iostream>
#include <sstream>

#include "protocol/snapshot/block_delta.h"
#include "protocol/snapshot/cue_codec.h"
#include "protocol/snapshot/height_delta.h"
#include "protocol/snapshot/own_delta.h"
#include "protocol/snapshot/packed_part.h"
#include "tests/protocol/wire_page.h"

using namespace ashlar;
using wire_page::Bytes;
using wire_page::PageBits;
using wire_page::Reader;

namespace {

/// Decisions as the page says that they are read, with the odds that it lists.
class PageDecisions {
 public:
  explicit PageDecisions(const Bytes& bytes) : bytes_(bytes) {
    const std::string& text = wire_page::page_text();
    std::istringstream list(text.substr(text.find("```odds\n") + 8));
    for (unsigned odd; list >> odd;) first_.push_back(256 * odd + 128);
    REQUIRE(first_.size() == 5 * trained);
    std::istringstream digits(text.substr(text.find("```shifts\n") + 10));
    for (char digit; digits >> digit && digit != '`';) shifts_.push_back(digit - '0');
    REQUIRE(shifts_.size() == trained);
    mood(0);
    for (int i = 0; i < 4; ++i) next();
  }
  /// Begins anew with the odds of a mood.
  void mood(std::size_t which) {
    const auto first = first_.begin() + static_cast<std::ptrdiff_t>(which * trained);
    odds_.assign(first, first + trained);
  }
  unsigned bit(unsigned at) {
    const std::uint32_t bound = range_ / 65536 * odds_[at];
    const bool one = code_ < bound;
    if (!one) code_ -= bound;
    range_ = one ? bound : range_ - bound;
    const std::uint32_t moved = (one ? 65536 - odds_[at] : odds_[at]) / (1u << shifts_[at]);
    odds_[at] = one ? odds_[at] + moved : odds_[at] - moved;
    widen();
    return one ? 1 : 0;
  }
  std::uint32_t raw(unsigned count) {
    range_ >>= count;
    const std::uint32_t value = code_ / range_;
    code_ -= value * range_;
    widen();
    return value;
  }
  unsigned tree(unsigned at) {
    unsigned value = 1;
    for (int i = 0; i < 4; ++i) value = 2 * value + bit(at + value);
    return value - 16;
  }
  std::int32_t number(unsigned at) {
    const unsigned width = tree(at);
    REQUIRE(width < 15);
    if (width == 0) return 0;
    const std::uint32_t told = raw(width);
    const auto size = static_cast<std::int32_t>((1u << (width - 1)) + told / 2);
    return told % 2 == 1 ? -size : size;
  }
  void check_end() const { CHECK(at_ >= bytes_.size()); }

 private:
  void next() { code_ = code_ << 8 | (at_ < bytes_.size() ? bytes_[at_] : 0u), ++at_; }
  void widen() {
    for (; range_ < 1u << 24; range_ <<= 8) next();
  }
  static constexpr std::ptrdiff_t trained = 690;
  Bytes bytes_;
  std::vector<std::uint32_t> first_, odds_;
  std::vector<int> shifts_;
  std::size_t at_ = 0;
  std::uint32_t code_ = 0, range_ = 0xffffffff;
};

MovingRecord page_walker(std::uint32_t slot, std::uint16_t x) {
  MovingRecord e;
  e.record.id = make_entity_id(slot, 1);
  e.record.x = x, e.record.y = 500, e.record.z = 128;
  e.record.kind = EntityKind{19};
  e.record.yaw = 64, e.record.health = 255, e.record.flags = 1;
  e.velocity = {80, -40, 0};
  return e;
}

OwnPlayer page_own() {
  OwnPlayer own;
  own.id = make_entity_id(3, 5);
  own.body.position_m = {-2, 1, 0.5};
  own.health = 255;
  return own;
}

Bytes page_packed_today() {
  PartHead head;
  head.tick = 998;
  head.applied_tick = 997;
  head.input_ahead = 2;
  head.world = 1;
  PackedPartWriter part;
  part.begin(head);
  Bytes bytes(coded_block_bytes_max);
  BitWriter bits(bytes);
  encode_own(page_own(), OwnPlayer{}, 0, 60, bits);
  REQUIRE(part.add_own(0, std::span(bytes).first(bits.finish())));
  REQUIRE(part.add_gone(7));
  REQUIRE(part.add_moved({make_entity_id(12, 1), 300}));
  const SliceHeight heights[] = {{0, {0, 4 * 65536}}, {63, {1000, -65536}}};
  REQUIRE(part.add_heights(1, 2, 0, std::span(bytes).first(encode_heights(heights, bytes))));
  const MovingRecord fresh[] = {page_walker(9, 4000)};
  REQUIRE(part.add_block(5, 0, std::span(bytes).first(encode_block({{-1, 2, 0}, fresh}, {}, 60, bytes))));
  const MovingRecord before[] = {page_walker(10, 100), page_walker(11, 200)};
  MovingRecord now[] = {before[0], before[1]};
  // 6 ticks at 5 and -2.5 m/s are 64 and -32 steps.
  now[0].record.x = 164, now[0].record.y = 468;
  now[1].record.x = 266, now[1].record.y = 467, now[1].record.yaw = 61;
  const std::size_t size = encode_block({{-1, 2, 0}, now}, {6, before, true, {}, head.tick}, 60, bytes);
  REQUIRE(part.add_block(300, 6, std::span(bytes).first(size)));
  const Cue cues[] = {{CueKind::shot, 2, 0, make_entity_id(9, 1), true, {-800, 2100, 25}},
                      {CueKind::shot, 2, 0, make_entity_id(9, 1), true, {-790, 2098, 30}},
                      {CueKind::hurt, 1, 2, make_entity_id(10, 1), false, {}}};
  const CodedCues told = encode_cues(cues, bytes);
  REQUIRE(told.count == 3);
  REQUIRE(part.add_cues(std::span(bytes).first(told.bytes)));
  return {part.bytes().begin(), part.bytes().end()};
}

}  // namespace

TEST_CASE("the page's own player has the hash that the page says", "[protocol][packed][wire]") {
  // By what the page says of hashes: the numbers in their order, what is less, the id.
  std::uint64_t words[18] = {};
  words[3] = std::bit_cast<std::uint64_t>(-2.0);
  words[4] = std::bit_cast<std::uint64_t>(1.0);
  words[5] = std::bit_cast<std::uint64_t>(0.5);
  words[16] = std::uint64_t{255} << 24;
  words[17] = 5u << 20 | 3;
  std::uint64_t h = 0x243f6a8885a308d3;
  for (const std::uint64_t w : words) {
    h = (h ^ w) * 0x9e3779b97f4a7c15 + 1;
    h ^= h >> 30, h *= 0xbf58476d1ce4e5b9, h ^= h >> 27, h *= 0x94d049bb133111eb, h ^= h >> 31;
  }
  const Bytes page = wire_page::example("Hash of the own player");
  CHECK(Reader{page}.u32(0) == static_cast<std::uint32_t>(h));
  CHECK(own_hash(page_own()) == static_cast<std::uint32_t>(h));
  // Each bit of it counts, the sign of a zero, too.
  OwnPlayer other = page_own();
  other.body.velocity_mps.z = -0.0;
  CHECK(own_hash(other) != own_hash(page_own()));
  other = page_own(), other.body.noclip = 1;
  CHECK(own_hash(other) != own_hash(page_own()));
  other = page_own(), other.delta_yaw = Turn16{1};
  CHECK(own_hash(other) != own_hash(page_own()));
}

TEST_CASE("the page's packed snapshot says what the page says", "[protocol][packed][wire]") {
  const Bytes page = wire_page::example("Packed snapshot");
  const Reader r{page};
  CHECK(page == page_packed_today());
  CHECK(r.u8(0) == 1);
  CHECK(r.u8(1) == 1);
  CHECK(r.u8(2) == 1);
  CHECK(r.i8(3) == 2);
  CHECK(r.u32(4) == 998);
  CHECK(r.u8(8) == 0);
  CHECK(r.u8(9) == 1);
  CHECK(r.u8(10) == (0x80 | (257 & 0x7f)));
  CHECK(r.u8(11) == 257 >> 7);
  std::size_t at = 12;

  CHECK(r.u8(at) == 3);  // own, anew
  CHECK(r.u8(at + 1) == 0);
  PageBits own{r.part(at + 3, r.u8(at + 2))};
  at += 3 + r.u8(at + 2);
  CHECK(own.get(1) == 1);
  CHECK(own.get(32) == (5u << 20 | 3));
  for (int i = 0; i < 3; ++i) CHECK(own.get(1) == 0);
  const double position[] = {-2, 1, 0.5};
  for (const double v : position) {
    REQUIRE(own.get(1) == 1);
    const unsigned size = static_cast<unsigned>(own.get(3)) + 1;
    const std::uint64_t folded = own.get(8 * size);
    const std::uint64_t off = folded & 1 ? ~(folded >> 1) : folded >> 1;
    // Places in the order of all doubles: that of 0 is 2^63.
    const std::uint64_t place = (std::uint64_t{1} << 63) + off;
    const std::uint64_t is = place >> 63 ? place ^ std::uint64_t{1} << 63 : ~place;
    CHECK(std::bit_cast<double>(is) == v);
  }
  // The last free place is foretold to be the position, as the base's are alike: it is the origin all the
  // same.
  for (int i = 0; i < 3; ++i) {
    REQUIRE(own.get(1) == 1);
    own.get(8 * (static_cast<unsigned>(own.get(3)) + 1));
  }
  for (int i = 0; i < 7; ++i) CHECK(own.get(1) == 0);
  CHECK(own.get(1) == 1);
  CHECK(own.get(24) == 0);
  CHECK(own.get(8) == 255);
  CHECK(own.get(16) == 0);
  own.check_end();

  CHECK(r.part(at, 3) == Bytes{2, 1, 7});  // gone
  at += 3;
  CHECK(r.part(at, 8) == Bytes{8, 1, 12, 0, 0x10, 0, 0x80 | (300 & 0x7f), 300 >> 7});  // moved
  at += 8;

  CHECK(r.part(at, 4) == Bytes{4, 0, 1, 2});  // heights: no base, map 1, slice 2
  PageBits heights{r.part(at + 5, r.u8(at + 4))};
  at += 5 + r.u8(at + 4);
  CHECK(heights.gamma() == 2);
  CHECK(heights.gamma() == 0);
  CHECK(heights.get(1) == 1);
  CHECK(heights.sign(12) == 0);
  CHECK(heights.get(1) == 1);
  CHECK(heights.sign(12) == 4 * 32);
  CHECK(heights.gamma() == 62);
  CHECK(heights.get(1) == 0);
  CHECK(heights.sign(32) == 1000);
  CHECK(heights.get(1) == 1);
  CHECK(heights.sign(12) == -32);
  heights.check_end();

  CHECK(r.part(at, 4) == Bytes{1, 0, 2, 5});  // two blocks, the first without a base, number 5
  CHECK(r.u8(at + 4) % 2 == 0);
  PageDecisions whole(r.part(at + 5, r.u8(at + 4) / 2));
  at += 5 + r.u8(at + 4) / 2;
  CHECK(whole.bit(0) == 0);  // not plain
  CHECK(whole.bit(1) == 0);  // not quiet
  CHECK(whole.raw(16) == 0xffff);
  CHECK(whole.raw(16) == 2);
  CHECK(whole.raw(16) == 0);
  CHECK(whole.bit(5) == 1);  // the usual pace
  CHECK(whole.bit(2) == 1);  // others than the base's
  CHECK(whole.bit(4) == 1);  // somebody new
  CHECK(whole.tree(614) == 4);
  CHECK(whole.raw(3) == 9 - 8);
  CHECK(whole.tree(630) == 1);
  CHECK(whole.raw(13) == 4000);
  CHECK(whole.raw(13) == 500);
  CHECK(whole.number(646) == 128);
  CHECK(whole.bit(663) == 0);
  CHECK(whole.raw(8) == 19);
  CHECK(whole.raw(8) == 64);
  for (const unsigned usual : {664u, 665u, 666u, 667u}) CHECK(whole.bit(usual) == 1);
  CHECK(whole.bit(662) == 0);  // it moves,
  CHECK(whole.bit(40) == 0);   // on no course
  CHECK(whole.bit(41) == 0);   // and not at the pace
  CHECK(whole.number(58) == 80);
  CHECK(whole.number(58) == -40);
  CHECK(whole.number(115) == 0);
  CHECK(whole.bit(4) == 0);  // and nobody else is
  whole.check_end();

  CHECK(r.part(at, 2) == Bytes{0x80 | (300 & 0x7f), 300 >> 7});
  CHECK(r.u8(at + 2) % 2 == 1);
  CHECK(r.u8(at + 3) == 6);  // the other one against 6 ticks ago
  PageDecisions delta(r.part(at + 4, r.u8(at + 2) / 2));
  at += 4 + r.u8(at + 2) / 2;
  CHECK(delta.bit(0) == 0);
  CHECK(delta.bit(1) == 1);  // quiet
  CHECK(delta.bit(5) == 1);
  delta.mood(3);  // those of the base walk
  CHECK(delta.bit(2) == 0);
  CHECK(delta.bit(8) == 0);   // the first is where it was foretold
  CHECK(delta.bit(8) == 1);   // the other one is not,
  CHECK(delta.bit(11) == 1);  // it turned
  CHECK(delta.bit(12) == 1);  // by more than one,
  CHECK(delta.number(14) == -2);
  CHECK(delta.bit(30) == 0);  // but walks on as it did
  CHECK(delta.bit(34) == 0);
  CHECK(delta.bit(75) == 0);
  CHECK(delta.bit(356) == 1);  // 2 steps off
  CHECK(delta.bit(357) == 1);
  CHECK(delta.number(359) == 1);
  CHECK(delta.bit(356) == 1);  // and 1 the other way
  CHECK(delta.bit(357) == 0);
  CHECK(delta.bit(358) == 1);
  CHECK(delta.bit(467) == 0);
  CHECK(delta.bit(540) == 0);
  CHECK(delta.bit(557) == 0);
  delta.check_end();

  CHECK(r.u8(at) == 7);  // cues
  PageBits cues{r.part(at + 2, r.u8(at + 1))};
  at += 2 + r.u8(at + 1);
  CHECK(cues.get(5) == 3 - 1);
  CHECK(cues.get(4) == 0);  // a shot of weapon 2, in this tick
  CHECK(cues.get(8) == 2);
  CHECK(cues.get(1) == 0);
  CHECK(cues.get(1) == 1);
  CHECK(cues.get(32) == (1u << 20 | 9));
  CHECK(cues.get(1) == 1);
  CHECK(cues.sign(25) == -800);
  CHECK(cues.sign(25) == 2100);
  CHECK(cues.sign(17) == 25);
  CHECK(cues.get(1) == 0);  // another ray of it
  CHECK(cues.get(1) == 1);
  CHECK(cues.get(1) == 1);
  CHECK(cues.sign(11) == 10);
  CHECK(cues.sign(11) == -2);
  CHECK(cues.sign(11) == 5);
  CHECK(cues.get(1) == 1);
  CHECK(cues.get(4) == 3);  // somebody was hurt by a shot two ticks ago
  CHECK(cues.get(8) == 1);
  CHECK(cues.get(1) == 1);
  CHECK(cues.get(8) == 2);
  CHECK(cues.get(1) == 1);
  CHECK(cues.get(32) == (1u << 20 | 10));
  CHECK(cues.get(1) == 0);
  cues.check_end();
  CHECK(at == page.size());
}

TEST_CASE("prints the packed example for the page", "[.][wire_examples]") {
  const Bytes bytes = page_packed_today();
  std::cout << "### Packed snapshot\n\n```";
  for (std::size_t i = 0; i < bytes.size(); ++i)
    std::cout << (i % 32 == 0 ? "\n" : " ") << std::hex << std::setfill('0') << std::setw(2)
              << unsigned{bytes[i]};
  std::cout << std::dec << "\n```\n";
}
