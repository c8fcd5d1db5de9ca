#include "protocol/packed_input.h"

#include "protocol/bit_stream.h"
#include "protocol/little_endian.h"
#include "protocol/quantise.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr std::size_t head_bytes = 7;
constexpr unsigned count_bits = 3;
static_assert(input_commands_max == 1u << count_bits);
constexpr unsigned small_turn_bits = 9, small_seen_bits = 4;
constexpr unsigned small_before_bits = 3, small_after_bits = 4;

/// A command as it travels.
struct Steps {
  std::int8_t forward = 0, left = 0;
  std::uint16_t yaw = 0, pitch = 0, buttons = 0, seen = 0;
  std::uint8_t told_before = 0;
  std::int8_t told_after = 0;
  friend bool operator==(const Steps&, const Steps&) = default;
};

Steps to_steps(const PlayerCommand& c, std::uint32_t tick) {
  return {command_axis_steps(c.forward),
          command_axis_steps(c.left),
          static_cast<std::uint16_t>(c.yaw),
          static_cast<std::uint16_t>(c.pitch),
          c.buttons,
          seen_age(c.seen, tick),
          c.told_before,
          c.told_after};
}

/// The command a tick earlier, if its player goes on: its picture is made of the same two states, until it is
/// of the first one's own tick.
Steps earlier(Steps s) {
  const bool none = s.told_before <= 1 || s.told_after == 127;
  s.told_before = none ? std::uint8_t{0} : static_cast<std::uint8_t>(s.told_before - 1);
  s.told_after = none ? std::int8_t{0} : static_cast<std::int8_t>(s.told_after + 1);
  if (s.told_after == 0) s.told_before = 0;
  return s;
}

void put_told(BitWriter& out, const Steps& now, const Steps& before) {
  const bool other = now.told_before != before.told_before || now.told_after != before.told_after;
  out.put_bit(other);
  if (!other) return;
  constexpr int half = 1 << (small_after_bits - 1);
  const bool wide =
      now.told_before >= 1 << small_before_bits || now.told_after < -half || now.told_after >= half;
  out.put_bit(wide);
  out.put(now.told_before, wide ? 8 : small_before_bits);
  out.put_signed(now.told_after, wide ? 8 : small_after_bits);
}

void get_told(BitReader& in, Steps& now) {
  if (!in.get_bit()) return;
  const bool wide = in.get_bit();
  now.told_before = static_cast<std::uint8_t>(in.get(wide ? 8 : small_before_bits));
  now.told_after = static_cast<std::int8_t>(in.get_signed(wide ? 8 : small_after_bits));
}

/// By how much a 16-bit number that wraps grew, narrow where that holds it.
void put_change(BitWriter& out, std::uint16_t now, std::uint16_t before, unsigned narrow_bits) {
  const auto change = static_cast<std::int16_t>(static_cast<std::uint16_t>(now - before));
  out.put_bit(change != 0);
  if (change == 0) return;
  const bool wide = change < -(1 << (narrow_bits - 1)) || change >= 1 << (narrow_bits - 1);
  out.put_bit(wide);
  out.put_signed(change, wide ? 16 : narrow_bits);
}

std::uint16_t get_change(BitReader& in, std::uint16_t before, unsigned narrow_bits) {
  if (!in.get_bit()) return before;
  const bool wide = in.get_bit();
  return static_cast<std::uint16_t>(before + in.get_signed(wide ? 16 : narrow_bits));
}

void put_command(BitWriter& out, const Steps& now, const Steps& before) {
  out.put_bit(now != before);
  if (now == before) return;
  const bool moves_on = now.forward == before.forward && now.left == before.left;
  out.put_bit(!moves_on);
  if (!moves_on) out.put_signed(now.forward, 8), out.put_signed(now.left, 8);
  put_change(out, now.yaw, before.yaw, small_turn_bits);
  put_change(out, now.pitch, before.pitch, small_turn_bits);
  out.put_bit(now.buttons != before.buttons);
  if (now.buttons != before.buttons) out.put(now.buttons, 16);
  put_change(out, now.seen, before.seen, small_seen_bits);
  put_told(out, now, before);
}

Steps get_command(BitReader& in, const Steps& before) {
  Steps now = before;
  if (!in.get_bit()) return now;
  if (in.get_bit()) {
    now.forward = static_cast<std::int8_t>(in.get_signed(8));
    now.left = static_cast<std::int8_t>(in.get_signed(8));
  }
  now.yaw = get_change(in, before.yaw, small_turn_bits);
  now.pitch = get_change(in, before.pitch, small_turn_bits);
  if (in.get_bit()) now.buttons = static_cast<std::uint16_t>(in.get(16));
  now.seen = get_change(in, before.seen, small_seen_bits);
  get_told(in, now);
  return now;
}

/// False: no client says so.
bool to_command(const Steps& s, std::uint32_t tick, PlayerCommand& out) {
  const auto pitch = static_cast<std::int16_t>(s.pitch);
  if (s.forward < -127 || s.left < -127 || pitch < -16384 || pitch > 16384) return false;
  if ((s.buttons & ~button::known) != 0 || (s.seen != 0 && s.seen >= tick)) return false;
  out.forward = static_cast<double>(s.forward) / 127;
  out.left = static_cast<double>(s.left) / 127;
  out.yaw = Turn16{s.yaw};
  out.pitch = Turn16{s.pitch};
  out.buttons = s.buttons;
  out.seen = seen_tick(s.seen, tick);
  out.told_before = s.told_before, out.told_after = s.told_after;
  return true;
}

}  // namespace

std::span<const std::uint8_t> write_packed_input(const Input& input,
                                                 std::array<std::uint8_t, packed_input_bytes_max>& out) {
  ASHLAR_ASSERT(input.command_count >= 1 && input.command_count <= input_commands_max);
  out[0] = packed_input_mark;
  out[1] = input.world;
  out[2] = input.lost_epoch;
  put_little(out.data() + 3, input.newest_tick);
  BitWriter bits{std::span(out).subspan(head_bytes)};
  bits.put(input.command_count - 1u, count_bits);
  Steps before;
  for (std::uint32_t i = 0; i < input.command_count; ++i) {
    const Steps now = to_steps(input.commands[i], input.newest_tick - i);
    put_command(bits, now, before);
    before = earlier(now);
  }
  bits.put_bit(input.foreseen != 0);
  if (input.foreseen != 0) bits.put(input.foreseen, 32);
  return std::span(out).first(head_bytes + bits.finish());
}

std::expected<Input, DropReason> decode_packed_input(std::span<const std::uint8_t> message) {
  if (message.size() < head_bytes || !is_packed_input(message)) return std::unexpected{DropReason::malformed};
  Input out;
  out.world = message[1];
  out.lost_epoch = message[2];
  out.newest_tick = get_little<std::uint32_t>(message.data() + 3);
  BitReader bits(message.subspan(head_bytes));
  out.command_count = static_cast<std::uint8_t>(bits.get(count_bits) + 1);
  Steps steps;
  for (std::uint32_t i = 0; i < out.command_count; ++i) {
    steps = get_command(bits, earlier(steps));
    if (bits.failed()) return std::unexpected{DropReason::malformed};
    if (!to_command(steps, out.newest_tick - i, out.commands[i]))
      return std::unexpected{DropReason::out_of_range};
  }
  const bool foresees = bits.get_bit();
  if (foresees) out.foreseen = bits.get(32);
  if (!bits.at_end()) return std::unexpected{DropReason::malformed};
  if (foresees && out.foreseen == 0) return std::unexpected{DropReason::out_of_range};
  return out;
}

}  // namespace ashlar
