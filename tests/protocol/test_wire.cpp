// Reads the messages that protocol/WIRE.md shows by the rules on that page alone: bytes and offsets, none of
// our encoders, decoders and generated code. test_wire_packets.cpp does it with the packets.
#include "tests/protocol/wire_page.h"

using namespace ashlar;
using namespace ashlar::wire_page;

TEST_CASE("the page's hello message says what the page says", "[protocol][wire]") {
  const Bytes bytes = example("Hello message");
  const Reader r{bytes};
  const std::size_t hello = body_of(r, "ASHC", 1);
  CHECK(r.text(hello, 0) == "Ada");
  CHECK(r.text(hello, 1) == "page 4");
  const Bytes token = example("Connect token");
  const std::size_t token_at = r.list(hello, 2);
  REQUIRE(r.length(token_at) == token.size());
  CHECK(r.part(token_at, token.size()) == token);
  CHECK(r.u32(r.field(hello, 3)) == 0x55667788);
  const std::size_t proof = r.list(hello, 4);
  REQUIRE(r.length(proof) == 32);
  CHECK(r.u8(proof) == 0xc0);
  CHECK(r.u8(proof + 31) == 0xdf);
}

TEST_CASE("the page's join says what the page says", "[protocol][wire]") {
  const Bytes bytes = example("Join");
  const Reader r{bytes};
  const std::size_t join = body_of(r, "ASHC", 2);
  const std::size_t content = r.list(join, 0);
  REQUIRE(r.length(content) == 2);
  CHECK(content % 8 == 0);
  CHECK(r.u64(content) == 0x0102030405060708);
  CHECK(r.u64(content + 8) == 0x1112131415161718);
  CHECK(r.u8(r.field(join, 1)) == 1);
}

TEST_CASE("the page's input says what the page says", "[protocol][wire]") {
  const Bytes bytes = example("Input");
  const Reader r{bytes};
  const std::size_t input = body_of(r, "ASHC", 3);
  CHECK(r.u32(r.field(input, 0)) == 1000);
  CHECK(r.u32(r.field(input, 1)) == 996);
  const std::size_t first = r.list(input, 2);
  REQUIRE(r.length(first) == 2);
  CHECK(r.u16(first) == 16384);
  CHECK(r.i16(first + 2) == -100);
  CHECK(r.u16(first + 4) == 5);
  CHECK(r.u16(first + 6) == 4);
  CHECK(r.i8(first + 8) == 127);
  CHECK(r.i8(first + 9) == -127);
  CHECK(r.u16(first + 10) == 16000);
  CHECK(r.u16(first + 16) == 0);  // not known
  CHECK(r.u8(r.field(input, 3)) == 1);
}

TEST_CASE("the page's packed input says what the page's input says", "[protocol][wire]") {
  const Bytes bytes = example("Packed input");
  const Reader r{bytes};
  CHECK(r.u8(0) == 1);
  CHECK(r.u8(1) == 1);
  CHECK(r.u8(2) == 0);
  CHECK(r.u32(3) == 1000);
  PageBits bits{r.part(7, bytes.size() - 7)};
  CHECK(bits.get(3) == 1);  // two commands
  CHECK(bits.get(1) == 1);
  CHECK(bits.get(1) == 1);
  CHECK(bits.sign(8) == 127);
  CHECK(bits.sign(8) == -127);
  CHECK(bits.get(2) == 3);
  CHECK(bits.sign(16) == 16384);
  CHECK(bits.get(2) == 1);
  CHECK(bits.sign(9) == -100);
  CHECK(bits.get(1) == 1);
  CHECK(bits.get(16) == 5);
  CHECK(bits.get(2) == 1);
  CHECK(bits.sign(4) == 4);
  CHECK(bits.get(1) == 0);  // made of no two states
  CHECK(bits.get(1) == 1);  // the one of tick 999
  CHECK(bits.get(1) == 1);
  CHECK(bits.get(16) == 0);
  CHECK(bits.get(2) == 3);
  CHECK(bits.sign(16) == 16000 - 16384);
  CHECK(bits.get(2) == 1);
  CHECK(bits.sign(9) == 100);
  CHECK(bits.get(1) == 1);
  CHECK(bits.get(16) == 0);
  CHECK(bits.get(2) == 1);
  CHECK(bits.sign(4) == -4);
  CHECK(bits.get(1) == 0);
  bits.check_end();
}

TEST_CASE("the page's lines of chat say what the page says", "[protocol][wire]") {
  const Bytes said = example("Chat"), heard = example("ChatLine");
  const Reader r{said}, line_reader{heard};
  CHECK(r.text(body_of(r, "ASHC", 4), 0) == "good morning");
  const std::size_t line = body_of(line_reader, "ASHS", 3);
  CHECK(line_reader.text(line, 0) == "Ada");
  CHECK(line_reader.text(line, 1) == "good morning");
}

TEST_CASE("the page's welcome says what the page says", "[protocol][wire]") {
  const Bytes bytes = example("Welcome");
  const Reader r{bytes};
  const std::size_t welcome = body_of(r, "ASHS", 1);
  const std::size_t token = r.list(welcome, 0);
  REQUIRE(r.length(token) == 16);
  const Bytes reset = example("Reset");
  CHECK(r.part(token, 16) == Reader{reset}.part(6, 16));
  CHECK(r.field(welcome, 1) == 0);  // not resumed, which is what an absent field says
  CHECK(r.u8(r.field(welcome, 2)) == 1);
  CHECK(r.u64(r.field(welcome, 3)) == 0x1122334455667788);
  CHECK(r.u32(r.field(welcome, 4)) == 990);
  CHECK(r.u16(r.field(welcome, 5)) == 2);

  const std::size_t rules = r.follow(r.field(welcome, 6));
  CHECK(r.u16(r.field(rules, 0)) == 60);   // ticks a second
  CHECK(r.f64(r.field(rules, 3)) == 0.3);  // radius
  CHECK(r.f64(r.field(rules, 7)) == 20);   // gravity
  CHECK(r.f64(r.field(rules, 8)) == 7);    // jump
  CHECK(r.f64(r.field(rules, 9)) == 6);    // walk

  const std::size_t maps = r.list(welcome, 7);
  REQUIRE(r.length(maps) == 1);
  const std::size_t map = r.follow(maps);
  CHECK(r.text(map, 0) == "MAP01");
  CHECK(r.u64(r.field(map, 1)) == 0x0102030405060708);
  CHECK(r.i32(r.field(map, 2)) == -10);
  CHECK(r.i32(r.field(map, 3)) == 20);
  CHECK(r.i32(r.field(map, 4)) == 30);
  CHECK(r.u32(r.field(map, 5)) == 2);
  CHECK(r.text(welcome, 8) == "hello");

  const std::size_t prop = r.list(welcome, 9);
  REQUIRE(r.length(prop) == 1);
  CHECK(prop % 8 == 0);
  CHECK(r.u64(prop) == 0x1112131415161718);
  CHECK(r.f64(prop + 8) == 1.5);
  CHECK(r.f64(prop + 16) == -2);
  CHECK(r.f64(prop + 24) == 40);
  CHECK(r.f32(prop + 32) == 0.5f);
  CHECK(r.u16(prop + 36) == 16384);
  CHECK(r.u8(prop + 38) == 0);
  CHECK(r.u8(prop + 39) == 1);  // z points up in its file
  const std::size_t names = r.list(welcome, 10);
  REQUIRE(r.length(names) == 1);
  const std::size_t prop_name = r.follow(names) + 4;
  const Bytes name_bytes = r.part(prop_name, r.length(prop_name));
  CHECK(std::string(name_bytes.begin(), name_bytes.end()) == "crate.obj");
  CHECK(r.u8(r.field(welcome, 11)) == 3);
  CHECK(r.u16(r.field(welcome, 12)) == 258);
}

TEST_CASE("the page's snapshot says what the page says", "[protocol][wire]") {
  const Bytes bytes = example("Snapshot");
  const Reader r{bytes};
  const std::size_t snapshot = body_of(r, "ASHS", 2);
  CHECK(r.u32(r.field(snapshot, 0)) == 998);
  CHECK(r.u32(r.field(snapshot, 1)) == 997);
  CHECK(r.i8(r.field(snapshot, 2)) == 2);
  CHECK(r.u8(r.field(snapshot, 3)) == 1);  // world
  CHECK(r.u8(r.field(snapshot, 4)) == 2);  // epoch
  CHECK(r.field(snapshot, 5) == 0);        // part 0, which is what an absent field says
  CHECK(r.u8(r.field(snapshot, 6)) == 1);  // of one
  CHECK(r.field(snapshot, 7) == 0);

  const std::size_t own = r.field(snapshot, 8);
  CHECK(own % 8 == 0);
  CHECK(r.f64(own) == -63);
  CHECK(r.f64(own + 8) == 130);
  CHECK(r.f64(own + 16) == 3);
  CHECK(r.f64(own + 24) == 6);
  CHECK(r.f64(own + 40) == -0.5);
  CHECK(r.f64(own + 120) == 0.25);
  CHECK(r.u32(own + 128) == (5u | 3u << 20));
  CHECK(r.u8(own + 132) == 1);
  CHECK(r.u8(own + 135) == 255);

  CHECK(r.u16(r.field(snapshot, 9)) == 49152);

  const std::size_t blocks = r.list(snapshot, 10);
  REQUIRE(r.length(blocks) == 2);
  CHECK(r.u16(blocks) == 5);
  CHECK(r.i16(blocks + 2) == -1);
  CHECK(r.i16(blocks + 4) == 2);
  CHECK(r.i16(blocks + 6) == 0);
  CHECK(r.u8(blocks + 8) == 0);   // whole
  CHECK(r.u8(blocks + 10) == 1);  // one entity
  CHECK(r.u8(blocks + 11) == 0);
  const std::size_t second = blocks + 12;
  CHECK(r.u16(second) == 300);
  CHECK(r.u16(second + 2) == 0);
  CHECK(r.u8(second + 8) == 6);   // ticks before this one
  CHECK(r.u8(second + 9) == 1);   // quiet
  CHECK(r.u8(second + 10) == 1);  // one changed
  CHECK(r.u8(second + 11) == 1);  // one is gone
  const std::size_t player = r.list(snapshot, 11);
  REQUIRE(r.length(player) == 2);
  CHECK(r.u32(player) == (5u | 3u << 20));
  CHECK(r.u16(player + 4) == 128);
  CHECK(r.u16(player + 6) == 256);
  CHECK(r.u16(player + 8) == 384);
  CHECK(r.u8(player + 10) == 0);
  CHECK(r.u8(player + 11) == 64);
  CHECK(r.i8(player + 12) == -2);
  CHECK(r.u8(player + 13) == 255);
  CHECK(r.u8(player + 15) == 1);
  const std::size_t imp = player + 16;
  CHECK(r.u32(imp) == (300u | 1u << 20));
  CHECK(r.u16(imp + 4) == 8191);
  CHECK(r.u8(imp + 10) == 16 + 3);
  CHECK(r.field(snapshot, 12) == 0);  // no kind has fields
  const std::size_t removed = r.list(snapshot, 13);
  REQUIRE(r.length(removed) == 1);
  CHECK(r.u32(removed) == (302u | 1u << 20));
  const std::size_t gone = r.list(snapshot, 14);
  REQUIRE(r.length(gone) == 1);
  CHECK(r.u16(gone) == 7);

  const std::size_t slices = r.list(snapshot, 15);
  REQUIRE(r.length(slices) == 1);
  CHECK(r.u16(slices) == 0);
  CHECK(r.u8(slices + 2) == 0);
  CHECK(r.u8(slices + 3) == 4);
  CHECK(r.u8(slices + 4) == 2);
  const std::size_t heights = r.list(snapshot, 16);
  REQUIRE(r.length(heights) == 2);
  CHECK(r.u8(heights) == 17);
  CHECK(r.i32(heights + 4) == -98304);
  CHECK(r.u32(heights + 8) == 262144);
  CHECK(r.u8(heights + 12) == 18);

  const std::size_t motion = r.list(snapshot, 17);
  REQUIRE(r.length(motion) == 1);
  CHECK(motion % 8 == 0);
  CHECK(r.f64(motion) == 3.25);
  CHECK(r.f64(motion + 8) == 0);
  CHECK(r.f64(motion + 16) == 3.25);
  CHECK(r.f64(motion + 24) == 2.1875);
  CHECK(r.f64(motion + 32) == 4.25);
  CHECK(r.f64(motion + 40) == 1.5);
  CHECK(r.u16(motion + 48) == 18);
  CHECK(r.u8(motion + 50) == 0);
  CHECK(r.u8(motion + 51) == 1);  // ceiling
  CHECK(r.u8(motion + 52) == 0);  // a door that closes by itself
  CHECK(r.u8(motion + 53) == 2);  // waits high

  const std::size_t moved = r.list(snapshot, 22);
  REQUIRE(r.length(moved) == 1);
  CHECK(r.u32(moved) == (302u | 1u << 20));
  CHECK(r.u16(moved + 4) == 5);

  const std::size_t cues = r.list(snapshot, 21);
  REQUIRE(r.length(cues) == 2);
  CHECK(r.u32(cues + 12) == (300u | 1u << 20));
  CHECK(r.u8(cues + 16) == 3);  // hurt
  CHECK(r.u8(cues + 17) == 1);
  CHECK(r.u8(cues + 18) == 3);  // ticks ago
  CHECK(r.u8(cues + 19) == 0);  // no place
  CHECK(r.i32(cues + 20) == -16);
  CHECK(r.i32(cues + 28) == 24);
  CHECK(r.u32(cues + 32) == 0);
  CHECK(r.u8(cues + 36) == 5);  // burst
  CHECK(r.u8(cues + 39) == 1);
}

TEST_CASE("the page's messages of content say what the page says", "[protocol][wire]") {
  const Bytes request_bytes = example("ContentRequest"), part_bytes = example("ContentPart"),
              refused_bytes = example("ContentRefused");
  const Reader asks{request_bytes}, brings{part_bytes}, refuses{refused_bytes};
  const std::size_t request = body_of(asks, "ASHC", 5);
  CHECK(asks.u64(asks.field(request, 0)) == 0x0102030405060708);
  CHECK(asks.u32(asks.field(request, 1)) == 32768);
  const std::size_t part = body_of(brings, "ASHS", 4);
  CHECK(brings.u64(brings.field(part, 0)) == 0x0102030405060708);
  CHECK(brings.u32(brings.field(part, 1)) == 32773);
  CHECK(brings.u32(brings.field(part, 2)) == 32768);
  const std::size_t content = brings.list(part, 3);
  REQUIRE(brings.length(content) == 5);
  CHECK(brings.part(content, 5) == Bytes{0xc0, 0xc1, 0xc2, 0xc3, 0xc4});
  const std::size_t refused = body_of(refuses, "ASHS", 5);
  CHECK(refuses.u64(refuses.field(refused, 0)) == 0x1112131415161718);
  CHECK(refuses.u8(refuses.field(refused, 1)) == 2);
}
