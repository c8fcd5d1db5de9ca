#include <flatbuffers/flatbuffers.h>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/schema/client_message_generated.h"
#include "protocol/secure/connect_token.h"
#include "protocol/secure/handshake_packets.h"
#include "protocol/secure/resumption.h"
#include "protocol/text.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "world/math/random.h"

using namespace ashlar;
using test::AlignedBytes;

namespace {

/// A hello with everything that it may hold, as long as it may be.
Hello longest_hello() {
  Hello hello;
  // 24 characters of four bytes each.
  for (int i = 0; i < 24; ++i) hello.name += "\xf0\x9f\x90\xbb";
  hello.build = std::string(build_bytes_max, 'b');
  for (std::size_t i = 0; i < secure::token_bytes_max; ++i)
    hello.token.push_back(static_cast<std::uint8_t>(i));
  hello.resume = 0xfedcba98u;
  for (std::size_t i = 0; i < hello.resume_proof.size(); ++i)
    hello.resume_proof[i] = static_cast<std::uint8_t>(200 - i);
  return hello;
}

Input some_input(Rng& rng) {
  Input input;
  input.newest_tick = rng.next_u32();
  input.snapshot_tick = rng.next_u32();
  input.world = static_cast<std::uint8_t>(rng.next_u32());
  input.command_count = static_cast<std::uint8_t>(1 + rng.below(input_commands_max));
  for (std::size_t i = 0; i < input.command_count; ++i) {
    PlayerCommand& c = input.commands[i];
    c.forward = rng.between(-1, 1);
    c.left = rng.between(-1, 1);
    c.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
    c.pitch = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
    c.buttons = static_cast<std::uint16_t>(rng.next_u32());
    const std::uint32_t tick = input.newest_tick - static_cast<std::uint32_t>(i);
    c.seen = TickId{tick - std::min(tick, rng.below(0x10000))};
    c = quantise(c);
  }
  return input;
}

/// The bytes of one message of each kind.
std::vector<AlignedBytes> one_of_each_client_message() {
  MessageWriter writer;
  Rng rng{8};
  std::vector<AlignedBytes> out;
  Hello hello;
  hello.name = "Ada", hello.build = "test 1";
  out.emplace_back(writer.write(hello));
  out.emplace_back(writer.write(longest_hello()));
  out.emplace_back(writer.write(Join{{1, 2, 3}, 4}));
  out.emplace_back(writer.write(some_input(rng)));
  out.emplace_back(writer.write(Chat{"hello there"}));
  out.emplace_back(writer.write(GameCallMessage{3, 9, {1, 2, 3, 4, 5}}));
  return out;
}

/// What the schema's own code writes, which checks no ranges.
template <class Build>
AlignedBytes raw_client_message(wire::ClientBody type, Build&& build) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto body = build(fbb);
  fbb.Finish(wire::CreateClientMessage(fbb, type, body.Union()), wire::ClientMessageIdentifier());
  return AlignedBytes(std::span(fbb.GetBufferPointer(), fbb.GetSize()));
}

DropReason client_error_of(const AlignedBytes& bytes) {
  const auto message = decode_client_message(bytes.span());
  REQUIRE_FALSE(message.has_value());
  return message.error();
}

AlignedBytes raw_command(std::int8_t forward, std::int8_t left, std::int16_t pitch, std::uint16_t buttons,
                         std::size_t count = 1, std::uint16_t seen = 0) {
  return raw_client_message(wire::ClientBody::Input, [&](auto& fbb) {
    const std::vector<wire::Command> commands(count, wire::Command(0, pitch, buttons, seen, forward, left));
    return wire::CreateInput(fbb, 100, 0, fbb.CreateVectorOfStructs(commands));
  });
}

AlignedBytes raw_hello(const std::string& player_name, const std::string& build, std::size_t token_bytes = 0,
                       std::uint32_t resume = 0, std::size_t proof_bytes = 0) {
  return raw_client_message(wire::ClientBody::Hello, [&](auto& fbb) {
    const std::vector<std::uint8_t> token(token_bytes, 7), proof(proof_bytes, 8);
    return wire::CreateHelloDirect(fbb, player_name.c_str(), build.c_str(), &token, resume, &proof);
  });
}

void check_in_bounds(const Hello& m) {
  REQUIRE(valid_player_name(m.name));
  REQUIRE(valid_text(m.build, 0, build_bytes_max));
  REQUIRE(m.token.size() <= secure::token_bytes_max);
}
void check_in_bounds(const Join& m) { REQUIRE(m.content.size() <= join_content_max); }
void check_in_bounds(const Input& m) {
  REQUIRE((m.command_count >= 1 && m.command_count <= input_commands_max));
  for (std::size_t c = 0; c < m.command_count; ++c) REQUIRE(quantise(m.commands[c]) == m.commands[c]);
}
void check_in_bounds(const Chat& m) { REQUIRE(valid_text(m.text, 1, chat_bytes_max)); }
void check_in_bounds(const Acts& m) { REQUIRE((m.act_count >= 1 && m.act_count <= acts_max)); }
void check_in_bounds(const ContentRequest& m) { REQUIRE(m.offset < content_bytes_max); }
void check_in_bounds(const GameCallMessage& m) {
  REQUIRE((m.number < game_messages_max && m.bytes.size() <= game_call_bytes_max));
}

}  // namespace

TEST_CASE("a hello comes back whole", "[protocol][messages]") {
  MessageWriter writer;
  Hello plain;
  plain.name = "J\xc3\xb6rg", plain.build = "build 5";
  const auto message = decode_client_message(AlignedBytes(writer.write(plain)).span());
  REQUIRE(message.has_value());
  const Hello& hello = std::get<Hello>(*message);
  CHECK(hello.name == plain.name);
  CHECK(hello.build == plain.build);
  CHECK(hello.token.empty());
  CHECK(hello.resume == 0);
}

TEST_CASE("the longest hello fits a finish and comes back whole", "[protocol][messages]") {
  MessageWriter writer;
  const Hello longest = longest_hello();
  REQUIRE(valid_player_name(longest.name));
  const AlignedBytes bytes(writer.write(longest));
  CHECK(bytes.size() <= secure::finish_payload_bytes_max);
  const auto message = decode_client_message(bytes.span());
  REQUIRE(message.has_value());
  const Hello& back = std::get<Hello>(*message);
  CHECK(back.name == longest.name);
  CHECK(back.build == longest.build);
  CHECK(back.token == longest.token);
  CHECK(back.resume == longest.resume);
  CHECK(back.resume_proof == longest.resume_proof);
}

TEST_CASE("a proof travels with the session that it is of, and with nothing else", "[protocol][messages]") {
  CHECK(decode_client_message(raw_hello("ok", "", 0, 5, 32).span()).has_value());
  CHECK(decode_client_message(raw_hello("ok", "", 512, 0, 0).span()).has_value());
  CHECK(client_error_of(raw_hello("ok", "", 513)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_hello("ok", "", 0, 0, 32)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_hello("ok", "", 0, 5, 0)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_hello("ok", "", 0, 5, 31)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_hello("ok", "", 0, 5, 33)) == DropReason::out_of_range);
  // Our own writer leaves out what is of no meaning.
  Hello hello;
  hello.name = "ok";
  hello.resume_proof.fill(9);
  MessageWriter writer;
  const auto message = decode_client_message(AlignedBytes(writer.write(hello)).span());
  REQUIRE(message.has_value());
  CHECK(std::get<Hello>(*message).resume_proof == secure::ResumeProof{});
}

TEST_CASE("joins and chats come back", "[protocol][messages]") {
  MessageWriter writer;
  for (const std::size_t count : {0u, 1u, 2u, 3u, 40u, 511u, 512u}) {
    Join join;
    for (std::size_t i = 0; i < count; ++i) join.content.push_back(~std::uint64_t{0} - i);
    join.world = 200;
    join.watches = count % 2 == 1;
    const auto message = decode_client_message(AlignedBytes(writer.write(join)).span());
    REQUIRE(message.has_value());
    CHECK(std::get<Join>(*message).content == join.content);
    CHECK(std::get<Join>(*message).world == join.world);
    CHECK(std::get<Join>(*message).watches == join.watches);
  }
  const Chat chat{std::string(chat_bytes_max, 'x')};
  const auto back = decode_client_message(AlignedBytes(writer.write(chat)).span());
  REQUIRE(back.has_value());
  CHECK(std::get<Chat>(*back).text == chat.text);
}

TEST_CASE("what a client says to the game comes back, and is within its bounds", "[protocol][messages]") {
  MessageWriter writer;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, game_call_bytes_max}) {
    const GameCallMessage call{3, game_messages_max - 1, std::vector<std::uint8_t>(size, 7)};
    const auto back = decode_client_message(AlignedBytes(writer.write(call)).span());
    REQUIRE(back.has_value());
    CHECK(std::get<GameCallMessage>(*back).world == 3);
    CHECK(std::get<GameCallMessage>(*back).number == call.number);
    CHECK(std::get<GameCallMessage>(*back).bytes == call.bytes);
  }
  const auto raw = [](std::uint8_t number, std::size_t size) {
    return raw_client_message(wire::ClientBody::GameCall, [&](auto& fbb) {
      return wire::CreateGameCall(fbb, 1, number, fbb.CreateVector(std::vector<std::uint8_t>(size, 1)));
    });
  };
  CHECK(decode_client_message(raw(0, game_call_bytes_max).span()).has_value());
  CHECK(client_error_of(raw(game_messages_max, 1)) == DropReason::out_of_range);
  CHECK(client_error_of(raw(0, game_call_bytes_max + 1)) == DropReason::out_of_range);
}

TEST_CASE("inputs come back with the same bits", "[protocol][messages]") {
  Rng rng{1};
  MessageWriter writer;
  for (int i = 0; i < 2000; ++i) {
    const Input input = some_input(rng);
    const AlignedBytes bytes(writer.write(input));
    REQUIRE(bytes.size() <= 160);
    const auto message = decode_client_message(bytes.span());
    REQUIRE(message.has_value());
    const Input& back = std::get<Input>(*message);
    REQUIRE(back.newest_tick == input.newest_tick);
    REQUIRE(back.snapshot_tick == input.snapshot_tick);
    REQUIRE(back.world == input.world);
    REQUIRE(back.command_count == input.command_count);
    for (std::size_t c = 0; c < input.command_count; ++c) REQUIRE(back.commands[c] == input.commands[c]);
  }
}

TEST_CASE("every truncation of a client message is refused", "[protocol][messages]") {
  for (const AlignedBytes& whole : one_of_each_client_message()) {
    const auto decoded = decode_client_message(whole.span());
    REQUIRE(decoded.has_value());
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const AlignedBytes cut(whole.span().first(size));
      const auto message = decode_client_message(cut.span());
      // The builder's padding at the very end may be missing without loss; nothing else may.
      if (message.has_value()) {
        REQUIRE(whole.size() - size < 8);
        REQUIRE(message->index() == decoded->index());
      }
    }
  }
}

TEST_CASE("a changed byte in a client message never yields a value out of range", "[protocol][messages]") {
  Rng rng{11};
  for (const AlignedBytes& whole : one_of_each_client_message()) {
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (int round = 0; round < 16; ++round) {
        AlignedBytes changed(whole.span());
        changed.span()[at] = static_cast<std::uint8_t>(rng.next_u32());
        const auto message = decode_client_message(changed.span());
        if (message.has_value()) std::visit([](const auto& m) { check_in_bounds(m); }, *message);
      }
  }
}

TEST_CASE("client values outside their bounds are refused by name", "[protocol][messages]") {
  CHECK(decode_client_message(raw_command(127, -127, 16384, button::known).span()).has_value());
  CHECK(client_error_of(raw_command(-128, 0, 0, 0)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_command(0, -128, 0, 0)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_command(0, 0, 16385, 0)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_command(0, 0, -16385, 0)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_command(0, 0, 0, button::known + 1)) == DropReason::out_of_range);
  CHECK(decode_client_message(raw_command(0, 0, 0, 0, 1, 99).span()).has_value());
  CHECK(client_error_of(raw_command(0, 0, 0, 0, 1, 100)) ==
        DropReason::out_of_range);  // before the world's start
  CHECK(client_error_of(raw_command(0, 0, 0, 0, 2, 99)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_command(0, 0, 0, 0, 1, 0xffff)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_command(0, 0, 0, 0, 0)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_command(0, 0, 0, 0, 9)) == DropReason::out_of_range);
  CHECK(client_error_of(raw_client_message(wire::ClientBody::Input, [](auto& fbb) {
          return wire::CreateInput(fbb, 1);
        })) == DropReason::malformed);

  CHECK(decode_client_message(raw_hello("ok", std::string(64, 'b')).span()).has_value());
  CHECK(client_error_of(raw_hello("", "")) == DropReason::bad_text);
  CHECK(client_error_of(raw_hello("a\x1b[31m", "")) == DropReason::bad_text);
  CHECK(client_error_of(raw_hello("ok", std::string(65, 'b'))) == DropReason::out_of_range);
  CHECK(client_error_of(raw_hello("ok", "\x1b[31m")) == DropReason::out_of_range);
  CHECK(client_error_of(raw_client_message(wire::ClientBody::Hello, [](auto& fbb) {
          return wire::CreateHello(fbb);
        })) == DropReason::bad_text);

  const auto chat = [](const std::string& text) {
    return raw_client_message(wire::ClientBody::Chat,
                              [&](auto& fbb) { return wire::CreateChatDirect(fbb, text.c_str()); });
  };
  CHECK(decode_client_message(chat(std::string(200, 'x')).span()).has_value());
  CHECK(client_error_of(chat("")) == DropReason::bad_text);
  CHECK(client_error_of(chat(std::string(201, 'x'))) == DropReason::bad_text);
  CHECK(client_error_of(chat("bad \xff")) == DropReason::bad_text);
  const auto line =
      decode_client_message(chat("\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9 co\xc2\xadop\n").span());
  REQUIRE(line.has_value());
  CHECK(std::get<Chat>(*line).text == "\xf0\x9f\x91\xa8\xf0\x9f\x91\xa9 coop?");
  const auto none = decode_client_message(chat("\xe2\x80\x8b").span());
  REQUIRE(none.has_value());
  CHECK(std::get<Chat>(*none).text.empty());

  CHECK(client_error_of(raw_client_message(wire::ClientBody::Join, [](auto& fbb) {
          return wire::CreateJoin(fbb, fbb.CreateVector(std::vector<std::uint64_t>(join_content_max + 1, 1)));
        })) == DropReason::out_of_range);
}

TEST_CASE("messages of an unknown type, of nothing, of the other side and too long ones are refused",
          "[protocol][messages]") {
  const auto chat = [](auto& fbb) { return wire::CreateChatDirect(fbb, "x"); };
  constexpr int beyond = static_cast<int>(wire::ClientBody::MAX) + 1;
  for (const int type : {beyond, beyond + 1, 255})
    CHECK(client_error_of(raw_client_message(static_cast<wire::ClientBody>(type), chat)) ==
          DropReason::unknown_message);
  CHECK(client_error_of(AlignedBytes{}) == DropReason::malformed);
  MessageWriter writer;
  const AlignedBytes line(writer.write(ChatLine{"Ada", "good morning"}));
  CHECK(client_error_of(line) == DropReason::malformed);
  CHECK(decode_server_message(line.span()).has_value());
  // Zeros behind a message are nothing; above the longest message nobody looks.
  const AlignedBytes said(writer.write(Chat{"x"}));
  std::vector<std::uint8_t> padded(said.span().begin(), said.span().end());
  padded.resize(message_bytes_max);
  CHECK(decode_client_message(AlignedBytes(padded).span()).has_value());
  padded.resize(message_bytes_max + 1);
  CHECK(client_error_of(AlignedBytes(padded)) == DropReason::too_long);
}

TEST_CASE("seeded garbage is refused", "[protocol][messages]") {
  Rng rng{17};
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::uint8_t> bytes(rng.below(300));
    for (auto& b : bytes) b = static_cast<std::uint8_t>(rng.next_u32());
    REQUIRE_FALSE(decode_client_message(AlignedBytes(bytes).span()).has_value());
    REQUIRE_FALSE(decode_server_message(AlignedBytes(bytes).span()).has_value());
  }
}

TEST_CASE("a list of hashes at an odd place is refused, not read", "[protocol][messages]") {
  // The Verifier looks at where a list's length lies, not at its elements. Found by the fuzzer.
  const auto bytes = test::from_hex(
      "10 00 00 00 41 53 48 43 08 00 0e 00 07 00 08 00 08 00 00 00 00 00 00 02 0c 00 00 00 00 00 06 00 "
      "08 00 04 00 06 00 00 00 10 00 00 00 41 53 48 43 08 00 0e 00 07 00 08 00 08 00 00 00 00 00 00 05 "
      "0c 00 00 00 01 10 00 00 00 00 00 00 00 07 06 00 41 53 48 43 08 00 0e 00 07 00 08 00 08 00 00 00 "
      "00 00 00 05 0c 00 00 00 01 00 00 00 00 00 00 00 00 00 04 00 00 00 7a 07 06 00 00 00 00 7a 7a 7a "
      "01 7a 00 00 01 ");
  CHECK(client_error_of(AlignedBytes(bytes)) == DropReason::malformed);
}
