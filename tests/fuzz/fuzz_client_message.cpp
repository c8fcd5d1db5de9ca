// What clients send is the first thing strangers can reach: nothing in it may crash the decoder, and what it
// lets through must be within its bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "protocol/decode.h"
#include "protocol/packet.h"
#include "protocol/text.h"

using namespace ashlar;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void check(const Hello& m) {
  expect(valid_player_name(m.name));
  expect(valid_text(m.build, 0, build_bytes_max));
}
void check(const Join& m) { expect(m.content_count <= join_content_max); }
void check(const Input& m) {
  expect(m.command_count >= 1 && m.command_count <= input_commands_max);
  for (std::size_t i = 0; i < m.command_count; ++i) {
    const PlayerCommand& c = m.commands[i];
    const std::uint32_t tick = m.newest_tick - static_cast<std::uint32_t>(i);
    expect(quantise(c) == c);
    expect(c.seen == TickId{0} || number(c.seen) < tick);
  }
}
void check(const Chat& m) { expect(m.number != 0 && valid_text(m.text, 1, chat_bytes_max)); }
void check(const Leave& m) { expect(m.reason <= LeaveReason::timeout); }
void check(const Ping&) {}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The input is a payload; a copy of exactly its size is aligned and lets the sanitizer see any overrun.
  const std::vector<std::uint8_t> payload(data, data + size);
  if (const auto message = decode_client_message(payload))
    std::visit([](const auto& m) { check(m); }, *message);
  // And as a whole packet, header first.
  if (const auto packet = decode_packet(payload)) {
    expect(packet->header.sequence != 0);
    expect(decode_packet(unknown_connection_packet(packet->header)).has_value());
  }
  (void)nonce_of(payload);
  return 0;
}
