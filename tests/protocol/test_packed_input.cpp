#include "protocol/bit_stream.h"
#include "protocol/decode.h"
#include "protocol/packed_input.h"
#include "protocol/quantise.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "world/math/random.h"

using namespace ashlar;
using test::AlignedBytes;

namespace {

/// Commands that have little in common, or much: each field changes with the given chance.
Input some_input(Rng& rng, double change) {
  Input input;
  input.newest_tick = rng.next_u32();
  input.world = static_cast<std::uint8_t>(rng.next_u32());
  input.lost_epoch = static_cast<std::uint8_t>(rng.next_u32());
  input.command_count = static_cast<std::uint8_t>(1 + rng.below(input_commands_max));
  PlayerCommand c;
  std::uint32_t age = 0;
  for (std::size_t i = 0; i < input.command_count; ++i) {
    if (rng.unit() < change) c.forward = rng.between(-1, 1);
    if (rng.unit() < change) c.left = rng.between(-1, 1);
    const auto turn = static_cast<std::uint16_t>(rng.next_u32() >> rng.below(32));
    if (rng.unit() < change) c.yaw = c.yaw + Turn16{turn};
    if (rng.unit() < change) c.pitch = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
    if (rng.unit() < change) c.buttons = static_cast<std::uint16_t>(rng.next_u32());
    if (rng.unit() < change) age = rng.below(0x10000u >> rng.below(16));
    const std::uint32_t tick = input.newest_tick - static_cast<std::uint32_t>(i);
    c.seen = age == 0 || age >= tick ? TickId{0} : TickId{tick - age};
    if (rng.unit() < change) {
      const unsigned less = rng.below(8);
      c.told_before = static_cast<std::uint8_t>(rng.below(256) >> less);
      c.told_after = static_cast<std::int8_t>((static_cast<int>(rng.below(256)) - 128) / (1 << less));
    }
    input.commands[i] = quantise(c);
  }
  if (rng.unit() < change) input.foreseen = std::max(rng.next_u32(), 1u);
  return input;
}

AlignedBytes packed(const Input& input) {
  std::array<std::uint8_t, packed_input_bytes_max> out;
  return AlignedBytes(write_packed_input(input, out));
}

void check_same(const Input& a, const Input& b) {
  REQUIRE(a.newest_tick == b.newest_tick);
  REQUIRE(a.world == b.world);
  REQUIRE(a.lost_epoch == b.lost_epoch);
  REQUIRE(a.command_count == b.command_count);
  REQUIRE(a.foreseen == b.foreseen);
  for (std::size_t i = 0; i < a.command_count; ++i) REQUIRE(a.commands[i] == b.commands[i]);
}

Input decoded(const AlignedBytes& bytes) {
  const auto message = decode_client_message(bytes.span());
  REQUIRE(message.has_value());
  REQUIRE(std::holds_alternative<Input>(*message));
  return std::get<Input>(*message);
}

DropReason error_of(const AlignedBytes& bytes) {
  const auto message = decode_client_message(bytes.span());
  REQUIRE_FALSE(message.has_value());
  return message.error();
}

}  // namespace

TEST_CASE("packed inputs come back with the same bits", "[protocol][packed_input]") {
  Rng rng{14};
  for (int i = 0; i < 4000; ++i) {
    const Input input = some_input(rng, i % 4 * 0.33);
    check_same(decoded(packed(input)), input);
  }
}

TEST_CASE("who runs on says its commands in few bytes", "[protocol][packed_input]") {
  Input input;
  input.newest_tick = 1000;
  input.command_count = input_commands_max;
  for (std::uint32_t i = 0; i < input_commands_max; ++i)
    input.commands[i] = {1, 0, Turn16{16384}, Turn16{}, 0, TickId{996 - i}};
  CHECK(packed(input).size() <= 14);
  // Told of others every third tick only: between the same two states it is the same picture.
  Input seldom = input;
  for (std::uint32_t i = 0; i < input_commands_max; ++i) {
    const auto before = static_cast<std::uint8_t>((input_commands_max - i) % 3);
    seldom.commands[i].told_before = before;
    seldom.commands[i].told_after = static_cast<std::int8_t>(before == 0 ? 0 : 3 - before);
  }
  CHECK(packed(seldom).size() <= 26);
  // One who turns with a mouse, a little more or less each tick.
  for (std::uint32_t i = 0; i < input_commands_max; ++i)
    input.commands[i].yaw = Turn16{static_cast<std::uint16_t>(16384 - 150 * i + i * i)};
  CHECK(packed(input).size() <= 30);
  // Nothing in common at all.
  for (std::uint32_t i = 0; i < input_commands_max; ++i)
    input.commands[i] = {i % 2 ? 1.0 : -1.0,
                         i % 2 ? -1.0 : 1.0,
                         Turn16{static_cast<std::uint16_t>(i % 2 * 32768)},
                         Turn16{static_cast<std::uint16_t>(i % 2 ? 16384 : -16384)},
                         static_cast<std::uint16_t>(i % 2 ? 15 : 1),
                         TickId{i % 2 ? 0u : 100u},
                         static_cast<std::uint8_t>(i % 2 ? 255 : 0),
                         static_cast<std::int8_t>(i % 2 ? 127 : -128)};
  input.foreseen = ~0u;
  CHECK(packed(input).size() <= packed_input_bytes_max);
}

TEST_CASE("nothing is not said to be foreseen", "[protocol][packed_input]") {
  Input input;
  input.newest_tick = 1000, input.command_count = 1, input.foreseen = 1;
  AlignedBytes bytes = packed(input);
  CHECK(decoded(bytes).foreseen == 1);
  // A command of one bit behind the three of their number, then that something is foreseen, and its lowest
  // bit.
  std::vector<std::uint8_t> none(bytes.span().begin(), bytes.span().end());
  REQUIRE(none[7] == 0b110000);
  none[7] = 0b010000;
  CHECK(error_of(AlignedBytes(none)) == DropReason::out_of_range);
}

TEST_CASE("every truncation of a packed input is refused, and so is what is left over",
          "[protocol][packed_input]") {
  Rng rng{15};
  for (int round = 0; round < 40; ++round) {
    const AlignedBytes whole = packed(some_input(rng, 0.5));
    for (std::size_t size = 1; size < whole.size(); ++size)
      CHECK(error_of(AlignedBytes(whole.span().first(size))) == DropReason::malformed);
    std::vector<std::uint8_t> longer(whole.span().begin(), whole.span().end());
    longer.push_back(0);
    CHECK(error_of(AlignedBytes(longer)) == DropReason::malformed);
  }
}

TEST_CASE("a packed input says nothing that an input may not", "[protocol][packed_input]") {
  // Bits of a first command by hand: mark, world, epoch, tick, then the commands' bits.
  const auto by_hand = [](auto&& put) {
    std::vector<std::uint8_t> bytes(40);
    bytes[0] = packed_input_mark;
    bytes[3] = 100;
    BitWriter bits{std::span(bytes).subspan(7)};
    bits.put(0, 3);
    bits.put_bit(true);
    put(bits);
    bytes.resize(7 + bits.finish());
    return AlignedBytes(bytes);
  };
  const auto axes = [&](int forward, int left) {
    return by_hand(
        [&](BitWriter& b) { b.put_bit(true), b.put_signed(forward, 8), b.put_signed(left, 8), b.put(0, 5); });
  };
  CHECK(decoded(axes(-127, 127)).commands[0].forward == -1);
  CHECK(error_of(axes(-128, 0)) == DropReason::out_of_range);
  CHECK(error_of(axes(0, -128)) == DropReason::out_of_range);
  const auto pitch = [&](int value) {
    return by_hand([&](BitWriter& b) { b.put(0, 2), b.put(3, 2), b.put_signed(value, 16), b.put(0, 3); });
  };
  CHECK(decoded(pitch(-16384)).commands[0].pitch == Turn16{0xc000});
  CHECK(error_of(pitch(-16385)) == DropReason::out_of_range);
  CHECK(error_of(pitch(16385)) == DropReason::out_of_range);
  const auto buttons = [&](unsigned value) {
    return by_hand([&](BitWriter& b) { b.put(0, 3), b.put_bit(true), b.put(value, 16), b.put(0, 2); });
  };
  CHECK(decoded(buttons(button::known)).commands[0].buttons == button::known);
  CHECK(error_of(buttons(button::known + 1)) == DropReason::out_of_range);
  const auto seen = [&](int age) {
    return by_hand([&](BitWriter& b) { b.put(0, 4), b.put(3, 2), b.put_signed(age, 16), b.put(0, 1); });
  };
  CHECK(decoded(seen(99)).commands[0].seen == TickId{1});
  CHECK(error_of(seen(100)) == DropReason::out_of_range);
}

TEST_CASE("no bytes make the reader of packed inputs stumble", "[protocol][packed_input]") {
  Rng rng{16};
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint8_t> bytes(rng.below(60));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(rng.next_u32());
    if (!bytes.empty()) bytes[0] = packed_input_mark;
    const auto input = decode_packed_input(bytes);
    if (!input) continue;
    for (std::size_t i = 0; i < input->command_count; ++i)
      REQUIRE(quantise(input->commands[i]) == input->commands[i]);
    // What was taken is said again with the same meaning.
    check_same(decoded(packed(*input)), *input);
  }
}
