// Reads the examples in protocol/WIRE.md by the rules on that page alone: bytes and offsets, none of our
// encoders, decoders and generated code. Then checks that the decoders say the same.
#include <bit>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/sector_motion.h"
#include "protocol/snapshot_writer.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"

using namespace ashlar;
using test::AlignedBytes;

namespace {

/// The hex block below a heading of WIRE.md.
std::vector<std::uint8_t> example(const std::string& heading) {
  std::ifstream file(ASHLAR_WIRE_MD);
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  const std::size_t at = text.find("### " + heading);
  REQUIRE(at != std::string::npos);
  const std::size_t begin = text.find("```\n", at) + 4;
  const std::size_t end = text.find("```", begin);
  REQUIRE(end != std::string::npos);
  return test::from_hex(text.substr(begin, end - begin));
}

/// Little-endian numbers at places in bytes.
struct Reader {
  std::span<const std::uint8_t> bytes;

  std::uint64_t number(std::size_t at, std::size_t size) const {
    REQUIRE(at + size <= bytes.size());
    std::uint64_t v = 0;
    for (std::size_t i = 0; i < size; ++i) v |= std::uint64_t{bytes[at + i]} << (8 * i);
    return v;
  }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint8_t u8(std::size_t at) const { return static_cast<std::uint8_t>(number(at, 1)); }
  double f64(std::size_t at) const { return std::bit_cast<double>(number(at, 8)); }

  // FlatBuffers, as its own format page describes it: a table starts with the distance back to its virtual
  // table, which lists where in the table each field is; 0 is absent. Offsets count from where they stand.
  std::size_t follow(std::size_t at) const { return at + u32(at); }
  std::size_t field(std::size_t table, std::size_t index) const {
    const std::size_t vtable = table - u32(table);
    const std::size_t slot = 4 + 2 * index;
    if (slot >= u16(vtable)) return 0;
    const std::size_t offset = u16(vtable + slot);
    return offset == 0 ? 0 : table + offset;
  }
};

std::uint16_t check_by_the_page(std::span<const std::uint8_t> packet) {
  std::vector<std::uint8_t> bytes(packet.begin(), packet.end());
  bytes[2] = bytes[3] = 0;
  // At least one byte of padding: a length that is a multiple of 4 gets one more word.
  bytes.resize((bytes.size() / 4 + 1) * 4);
  const Reader words{bytes};
  std::uint32_t sum = static_cast<std::uint32_t>(packet.size());
  std::uint32_t sums = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    sum += words.u32(i);
    sums += sum;
  }
  return static_cast<std::uint16_t>(((sum ^ (sums << 16 | sums >> 16)) * 0x9e3779b1u) >> 16);
}

Input example_input() {
  Input input;
  input.newest_tick = 1000;
  input.snapshot_tick = 996;
  input.chat_seen = 2;
  input.command_count = 2;
  input.commands[0] = {
      1,          -1, Turn16{16384}, Turn16{static_cast<std::uint16_t>(-100)}, button::jump | button::attack,
      TickId{996}};
  input.commands[1] = {0, 0, Turn16{16000}, Turn16{0}, 0};
  return input;
}

constexpr PacketHeader input_header{
    .connection = 0x11223344, .sequence = 70, .ack = 65, .ack_bits = 0xfffffffe};
constexpr PacketHeader snapshot_header{.connection = 0x11223344, .sequence = 66, .ack = 70, .ack_bits = 7};

std::vector<std::uint8_t> example_snapshot(SnapshotWriter& writer) {
  EntityRecord player;
  player.id = make_entity_id(5, 3);
  player.x = 128, player.y = 256, player.z = 384;
  player.yaw = 64;
  player.pitch = -2;
  player.health = 255;
  player.flags = entity_flag::grounded;
  EntityRecord imp = player;
  imp.id = make_entity_id(300, 1);
  imp.kind = entity_kind(MonsterKind::imp);
  imp.x = 8191;
  const EntityRecord entities[] = {player, imp};
  const CellBlock blocks[] = {{{-1, 2, 0}, std::span(entities).first(1)},
                              {{0, 2, 0}, std::span(entities).last(1), EntityId{200}, imp.id}};
  const std::vector<WireHeights> heights{quantise_heights({-1.5, 4}), quantise_heights({0, 3.25})};
  const HeightBlock run{0, 17, heights};
  OwnPlayer own;
  own.body.position_m = {-63, 130, 3};
  own.body.velocity_mps = {6, 0, -0.5};
  own.body.eye_offset_m = 0.25;
  own.body.grounded = 1;
  own.id = player.id;
  own.health = 255;
  own.delta_yaw = Turn16{49152};
  Mover door;
  door.sector = 18, door.plane = Plane::ceiling;
  door.motion = Motion::door_raise, door.phase = MotionPhase::wait_high, door.resume = MotionPhase::up;
  door.low_m = 0, door.high_m = 3.25, door.speed_mps = 2.1875, door.wait_s = 4.25, door.left_s = 1.5;
  const WireMotion motion = to_wire(door, 0, 3.25);
  SnapshotHead head;
  head.tick = 998;
  head.applied_tick = 998;
  head.chat_seen = 4;
  head.input_ahead = 2;
  head.refresh_ticks = 3;
  head.own = &own;
  REQUIRE(writer.begin(head, blocks, std::span(&run, 1), 4, std::span(&motion, 1)).parts == 1);
  const AlignedBytes packet = test::packet_of(writer, 0, snapshot_header);
  return {packet.span().begin(), packet.span().end()};
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string out;
  char text[4];
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::snprintf(text, sizeof text, "%02x", static_cast<unsigned>(bytes[i]));
    out += text;
    out += i % 32 == 31 || i + 1 == bytes.size() ? "\n" : " ";
  }
  return out;
}

}  // namespace

TEST_CASE("the page's example of an input says what the page says", "[protocol][wire]") {
  const auto bytes = example("Input");
  const Reader r{bytes};
  CHECK(r.u8(0) == 3);
  CHECK(r.u8(1) == 0);
  CHECK(r.u16(2) == check_by_the_page(bytes));
  CHECK(r.u32(4) == 0x11223344);
  CHECK(r.number(8, 8) == 70);
  CHECK(r.u32(16) == 65);
  CHECK(r.u32(20) == 0xfffffffe);

  const Reader p{r.bytes.subspan(24)};
  CHECK(std::string(p.bytes.begin() + 4, p.bytes.begin() + 8) == "ASHC");
  const std::size_t message = p.follow(0);
  CHECK(p.u8(p.field(message, 0)) == 3);  // the union's type: Input
  const std::size_t input = p.follow(p.field(message, 1));
  CHECK(p.u32(p.field(input, 0)) == 1000);
  CHECK(p.u32(p.field(input, 1)) == 996);
  CHECK(p.u32(p.field(input, 2)) == 2);
  const std::size_t commands = p.follow(p.field(input, 3));
  REQUIRE(p.u32(commands) == 2);
  const std::size_t first = commands + 4;
  CHECK(p.u16(first) == 16384);
  CHECK(static_cast<std::int16_t>(p.u16(first + 2)) == -100);
  CHECK(p.u16(first + 4) == 5);
  CHECK(p.u16(first + 6) == 4);
  CHECK(static_cast<std::int8_t>(p.u8(first + 8)) == 127);
  CHECK(static_cast<std::int8_t>(p.u8(first + 9)) == -127);
  CHECK(p.u16(first + 10) == 16000);
  CHECK(p.u16(first + 16) == 0);  // not known

  const auto packet = decode_packet(bytes);
  REQUIRE(packet.has_value());
  CHECK(packet->header == input_header);
  const auto decoded = decode_client_message(AlignedBytes(packet->payload).span());
  REQUIRE(decoded.has_value());
  CHECK(std::get<Input>(*decoded).commands == example_input().commands);
}

TEST_CASE("the page's example of a snapshot says what the page says", "[protocol][wire]") {
  const auto bytes = example("Snapshot");
  const Reader r{bytes};
  CHECK(r.u8(0) == 3);
  CHECK(r.u16(2) == check_by_the_page(bytes));
  CHECK(r.number(8, 8) == 66);
  const Reader p{r.bytes.subspan(24)};
  CHECK(std::string(p.bytes.begin() + 4, p.bytes.begin() + 8) == "ASHS");
  const std::size_t message = p.follow(0);
  CHECK(p.u8(p.field(message, 0)) == 3);  // the union's type: Snapshot
  const std::size_t snapshot = p.follow(p.field(message, 1));
  CHECK(p.u32(p.field(snapshot, 0)) == 998);
  CHECK(p.u32(p.field(snapshot, 1)) == 998);
  CHECK(p.u32(p.field(snapshot, 2)) == 4);
  CHECK(static_cast<std::int8_t>(p.u8(p.field(snapshot, 3))) == 2);
  CHECK(p.u8(p.field(snapshot, 4)) == 0);
  CHECK(p.u8(p.field(snapshot, 5)) == 1);

  const std::size_t own = p.field(snapshot, 6);
  CHECK(own % 8 == 0);
  CHECK(p.f64(own) == -63);
  CHECK(p.f64(own + 8) == 130);
  CHECK(p.f64(own + 16) == 3);
  CHECK(p.f64(own + 24) == 6);
  CHECK(p.f64(own + 40) == -0.5);
  CHECK(p.f64(own + 120) == 0.25);
  CHECK(p.u32(own + 128) == (5u | 3u << 20));
  CHECK(p.u8(own + 132) == 1);
  CHECK(p.u8(own + 135) == 255);

  CHECK(p.field(snapshot, 7) == 0);  // the cells and entities of version 2
  CHECK(p.field(snapshot, 8) == 0);
  const std::size_t blocks = p.follow(p.field(snapshot, 14));
  REQUIRE(p.u32(blocks) == 64);
  const std::size_t first = blocks + 4;
  CHECK(static_cast<std::int16_t>(p.u16(first)) == -1);
  CHECK(p.u16(first + 2) == 2);
  CHECK(p.u16(first + 4) == 0);
  CHECK(p.u16(first + 6) == 1);  // one entity
  CHECK(p.u32(first + 8) == 0);  // of every id: the whole cell
  CHECK(p.u32(first + 12) == 0xffffffff);
  const std::size_t player = first + 16;
  CHECK(p.u32(player) == (5u | 3u << 20));
  CHECK(p.u16(player + 4) == 128);
  CHECK(p.u16(player + 6) == 256);
  CHECK(p.u16(player + 8) == 384);
  CHECK(p.u8(player + 10) == 0);
  CHECK(p.u8(player + 11) == 64);
  CHECK(static_cast<std::int8_t>(p.u8(player + 12)) == -2);
  CHECK(p.u8(player + 13) == 255);
  CHECK(p.u8(player + 15) == 1);
  const std::size_t second = player + 16;
  CHECK(p.u16(second) == 0);  // of a cell that comes in ranges of ids
  CHECK(p.u16(second + 6) == 1);
  CHECK(p.u32(second + 8) == 200);
  CHECK(p.u32(second + 12) == (300u | 1u << 20));
  const std::size_t imp = second + 16;
  CHECK(p.u32(imp) == (300u | 1u << 20));
  CHECK(p.u16(imp + 4) == 8191);
  CHECK(p.u8(imp + 10) == 16 + 3);
  CHECK(imp + 16 == first + 64);

  const std::size_t runs = p.follow(p.field(snapshot, 9));
  REQUIRE(p.u32(runs) == 1);
  CHECK(p.u16(runs + 4) == 0);
  CHECK(p.u16(runs + 6) == 17);
  CHECK(p.u16(runs + 8) == 2);
  const std::size_t heights = p.follow(p.field(snapshot, 10));
  REQUIRE(p.u32(heights) == 2);
  CHECK(static_cast<std::int32_t>(p.u32(heights + 4)) == -98304);
  CHECK(p.u32(heights + 8) == 262144);

  const std::size_t motions = p.follow(p.field(snapshot, 11));
  REQUIRE(p.u32(motions) == 1);
  const std::size_t motion = motions + 4;
  CHECK(motion % 8 == 0);
  CHECK(p.f64(motion) == 3.25);
  CHECK(p.f64(motion + 8) == 0);
  CHECK(p.f64(motion + 16) == 3.25);
  CHECK(p.f64(motion + 24) == 2.1875);
  CHECK(p.f64(motion + 32) == 4.25);
  CHECK(p.f64(motion + 40) == 1.5);
  CHECK(p.u16(motion + 48) == 18);
  CHECK(p.u8(motion + 50) == 0);
  CHECK(p.u8(motion + 51) == 1);  // ceiling
  CHECK(p.u8(motion + 52) == 0);  // a door that closes by itself
  CHECK(p.u8(motion + 53) == 2);  // waits high
  CHECK(p.u16(p.field(snapshot, 12)) == 49152);
  CHECK(p.u16(p.field(snapshot, 13)) == 3);

  const auto packet = decode_packet(bytes);
  REQUIRE(packet.has_value());
  const AlignedBytes payload(packet->payload);
  const auto decoded = decode_server_message(payload.span());
  REQUIRE(decoded.has_value());
  CHECK(std::get<SnapshotPart>(*decoded).own->body.position_m == DVec3{-63, 130, 3});
  std::vector<std::size_t> counts;
  for (const CellBlock& block : std::get<SnapshotPart>(*decoded).blocks)
    counts.push_back(block.entities.size());
  CHECK(counts == std::vector<std::size_t>{1, 1});
}

TEST_CASE("messages with an older peer's bytes still read", "[protocol][wire]") {
  // The examples are recordings: an encoder may lay tables out anew, but must say the same.
  MessageWriter writer;
  SnapshotWriter snapshots;
  const auto input = writer.write(input_header, example_input());
  CHECK(input.size() == example("Input").size());
  CHECK(example_snapshot(snapshots).size() == example("Snapshot").size());
}

TEST_CASE("prints the examples for the page", "[.][wire_examples]") {
  MessageWriter writer;
  SnapshotWriter snapshots;
  std::printf("### Input\n\n```\n%s```\n\n", to_hex(writer.write(input_header, example_input())).c_str());
  std::printf("### Snapshot\n\n```\n%s```\n", to_hex(example_snapshot(snapshots)).c_str());
}
