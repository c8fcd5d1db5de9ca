// What clients say, in a finish, on streams and unreliably. Anybody may prove a key of his own and say it:
// nothing in it may crash the decoder, and what it lets through must be within its bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "protocol/decode.h"
#include "protocol/secure/connect_token.h"
#include "protocol/secure/resumption.h"
#include "protocol/text.h"

using namespace ashlar;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void check(const Hello& m) {
  expect(valid_player_name(m.name));
  expect(valid_text(m.build, 0, build_bytes_max));
  expect(m.token.size() <= secure::token_bytes_max);
  expect(m.resume != 0 || m.resume_proof == secure::ResumeProof{});
}
void check(const Join& m) { expect(m.content.size() <= join_content_max); }
void check(const Input& m) {
  expect(m.command_count >= 1 && m.command_count <= input_commands_max);
  for (std::size_t i = 0; i < m.command_count; ++i) {
    const PlayerCommand& c = m.commands[i];
    const std::uint32_t tick = m.newest_tick - static_cast<std::uint32_t>(i);
    expect(quantise(c) == c);
    expect(c.seen == TickId{0} || number(c.seen) < tick);
  }
}
void check(const Chat& m) { expect(valid_text(m.text, 0, chat_bytes_max)); }
void check(const Acts&) {}  // held in bounds by its own tests
void check(const GameCallMessage& m) {
  expect(m.number < game_messages_max && m.bytes.size() <= game_call_bytes_max);
}
void check(const ContentRequest& m) { expect(m.offset < content_bytes_max); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of exactly its size is aligned and lets the sanitizer see any overrun.
  const std::vector<std::uint8_t> message_bytes(data, data + size);
  if (const auto message = decode_client_message(message_bytes))
    std::visit([](const auto& m) { check(m); }, *message);
  return 0;
}
