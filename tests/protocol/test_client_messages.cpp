#include <flatbuffers/flatbuffers.h>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/schema/client_message_generated.h"
#include "protocol/text.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "world/math/random.h"

using namespace ashlar;
using test::AlignedBytes;
using test::payload_of;

namespace {

constexpr PacketHeader client_header{.connection = 5, .sequence = 6, .ack = 7, .ack_bits = 8};

Input some_input(Rng& rng) {
  Input input;
  input.newest_tick = rng.next_u32();
  input.snapshot_tick = rng.next_u32();
  input.chat_seen = rng.next_u32();
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
std::vector<AlignedBytes> one_of_each() {
  MessageWriter writer;
  Rng rng{8};
  std::vector<AlignedBytes> out;
  out.push_back(payload_of(writer.write(client_header, Hello{1, 0x1122334455667788u, "Ada", "test 1"})));
  Join join;
  join.content = {1, 2, 3};
  join.content_count = 3;
  out.push_back(payload_of(writer.write(client_header, join)));
  out.push_back(payload_of(writer.write(client_header, some_input(rng))));
  out.push_back(payload_of(writer.write(client_header, Chat{4, "hello there"})));
  out.push_back(payload_of(writer.write(client_header, Leave{LeaveReason::stopped})));
  out.push_back(payload_of(writer.write(client_header, Ping{0x8877665544332211u})));
  return out;
}

/// Builds a payload with the schema's own code, which checks no ranges.
template <class Build>
AlignedBytes raw(wire::ClientBody type, Build&& build) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto body = build(fbb);
  fbb.Finish(wire::CreateClientMessage(fbb, type, body.Union()), wire::ClientMessageIdentifier());
  AlignedBytes bytes(std::span(fbb.GetBufferPointer(), fbb.GetSize()));
  if (type != wire::ClientBody::Hello) return bytes;
  std::vector<std::uint8_t> padded(bytes.span().begin(), bytes.span().end());
  padded.resize(payload_bytes_max);
  return AlignedBytes(padded);
}

DropReason client_error_of(const AlignedBytes& bytes) {
  const auto message = decode_client_message(bytes.span());
  REQUIRE_FALSE(message.has_value());
  return message.error();
}

AlignedBytes raw_command(std::int8_t forward, std::int8_t left, std::int16_t pitch, std::uint16_t buttons,
                         std::size_t count = 1, std::uint16_t seen = 0) {
  return raw(wire::ClientBody::Input, [&](auto& fbb) {
    const std::vector<wire::Command> commands(count, wire::Command(0, pitch, buttons, seen, forward, left));
    return wire::CreateInput(fbb, 100, 0, 0, fbb.CreateVectorOfStructs(commands));
  });
}

}  // namespace

TEST_CASE("a hello comes back and fills a datagram", "[protocol][messages]") {
  MessageWriter writer;
  const auto packet = writer.write(client_header, Hello{3, 77, "J\xc3\xb6rg", "build 5"});
  CHECK(packet.size() == datagram_bytes_max);
  CHECK(decode_packet(packet)->header == client_header);
  const auto message = decode_client_message(payload_of(packet).span());
  REQUIRE(message.has_value());
  const Hello& hello = std::get<Hello>(*message);
  CHECK(hello.protocol == 3);
  CHECK(hello.nonce == 77);
  CHECK(hello.name == "J\xc3\xb6rg");
  CHECK(hello.build == "build 5");
}

TEST_CASE("a hello that is not padded to full size is refused", "[protocol][messages]") {
  MessageWriter writer;
  const AlignedBytes payload = payload_of(writer.write(client_header, Hello{1, 1, "Ada", ""}));
  CHECK(client_error_of(AlignedBytes(payload.span().first(payload.size() - 1))) == DropReason::too_short);
}

TEST_CASE("a ping comes back, has its one size, and is no smaller than any answer to it",
          "[protocol][messages]") {
  MessageWriter writer;
  const auto packet = writer.write(client_header, Ping{~std::uint64_t{5}});
  CHECK(packet.size() == ping_bytes);
  const AlignedBytes payload = payload_of(packet);
  const auto message = decode_client_message(payload.span());
  REQUIRE(message.has_value());
  CHECK(std::get<Ping>(*message).nonce == ~std::uint64_t{5});
  CHECK(client_error_of(AlignedBytes(payload.span().first(payload.size() - 8))) == DropReason::too_short);

  constexpr std::uint32_t most = 0xffffffff;
  const auto answer = writer.write(client_header, Pong{~std::uint64_t{0}, most, most, most});
  CHECK(answer.size() <= ping_bytes);
  const auto pong = decode_server_message(payload_of(answer).span());
  REQUIRE(pong.has_value());
  CHECK(std::get<Pong>(*pong).nonce == ~std::uint64_t{0});
  CHECK(std::get<Pong>(*pong).tick == most);
  CHECK(std::get<Pong>(*pong).clients == most);
  CHECK(std::get<Pong>(*pong).clients_max == most);
}

TEST_CASE("joins, chats and leaves come back", "[protocol][messages]") {
  MessageWriter writer;
  Join join;
  for (std::size_t i = 0; i < join_content_max; ++i) join.content[i] = ~std::uint64_t{0} - i;
  for (std::uint8_t count = 0; count <= join_content_max; ++count) {
    join.content_count = count;
    const auto message = decode_client_message(payload_of(writer.write(client_header, join)).span());
    REQUIRE(message.has_value());
    REQUIRE(std::get<Join>(*message).content_count == count);
    for (std::size_t i = 0; i < count; ++i) CHECK(std::get<Join>(*message).content[i] == join.content[i]);
  }
  const Chat chat{9, std::string(chat_bytes_max, 'x')};
  const auto chat_back = decode_client_message(payload_of(writer.write(client_header, chat)).span());
  REQUIRE(chat_back.has_value());
  CHECK(std::get<Chat>(*chat_back).number == 9);
  CHECK(std::get<Chat>(*chat_back).text == chat.text);
  const auto leave =
      decode_client_message(payload_of(writer.write(client_header, Leave{LeaveReason::timeout})).span());
  REQUIRE(leave.has_value());
  CHECK(std::get<Leave>(*leave).reason == LeaveReason::timeout);
}

TEST_CASE("inputs come back with the same bits", "[protocol][messages]") {
  Rng rng{1};
  MessageWriter writer;
  for (int i = 0; i < 2000; ++i) {
    const Input input = some_input(rng);
    const auto packet = writer.write(client_header, input);
    REQUIRE(packet.size() <= 192);
    const auto message = decode_client_message(payload_of(packet).span());
    REQUIRE(message.has_value());
    const Input& back = std::get<Input>(*message);
    REQUIRE(back.newest_tick == input.newest_tick);
    REQUIRE(back.snapshot_tick == input.snapshot_tick);
    REQUIRE(back.chat_seen == input.chat_seen);
    REQUIRE(back.command_count == input.command_count);
    for (std::size_t c = 0; c < input.command_count; ++c) REQUIRE(back.commands[c] == input.commands[c]);
  }
}

TEST_CASE("every truncation of a client message is refused", "[protocol][messages]") {
  for (const AlignedBytes& payload : one_of_each()) {
    const std::size_t index = std::get<0>(std::tuple{decode_client_message(payload.span())->index()});
    for (std::size_t size = 0; size < payload.size(); ++size) {
      const AlignedBytes cut(payload.span().first(size));
      const auto message = decode_client_message(cut.span());
      // The builder's padding at the very end may be missing without loss; nothing else may.
      if (message.has_value()) {
        REQUIRE(payload.size() - size < 8);
        REQUIRE(message->index() == index);
      }
    }
  }
}

TEST_CASE("a changed byte in a client message never yields a value out of range", "[protocol][messages]") {
  Rng rng{11};
  for (const AlignedBytes& payload : one_of_each()) {
    const std::size_t reach = std::min<std::size_t>(payload.size(), 240);
    for (std::size_t at = 0; at < reach; ++at)
      for (int round = 0; round < 16; ++round) {
        AlignedBytes changed(payload.span());
        changed.span()[at] = static_cast<std::uint8_t>(rng.next_u32());
        const auto message = decode_client_message(changed.span());
        if (!message.has_value()) continue;
        if (const auto* hello = std::get_if<Hello>(&*message)) REQUIRE(valid_player_name(hello->name));
        if (const auto* chat = std::get_if<Chat>(&*message))
          REQUIRE(valid_text(chat->text, 1, chat_bytes_max));
        if (const auto* leave = std::get_if<Leave>(&*message)) REQUIRE(leave->reason <= LeaveReason::timeout);
        if (const auto* join = std::get_if<Join>(&*message)) REQUIRE(join->content_count <= join_content_max);
        if (const auto* input = std::get_if<Input>(&*message)) {
          REQUIRE((input->command_count >= 1 && input->command_count <= input_commands_max));
          for (std::size_t c = 0; c < input->command_count; ++c)
            REQUIRE(quantise(input->commands[c]) == input->commands[c]);
        }
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
  CHECK(client_error_of(raw(wire::ClientBody::Input, [](auto& fbb) { return wire::CreateInput(fbb, 1); })) ==
        DropReason::malformed);

  const auto hello = [](const char* player_name, const std::string& build) {
    return raw(wire::ClientBody::Hello,
               [&](auto& fbb) { return wire::CreateHelloDirect(fbb, 1, 1, player_name, build.c_str()); });
  };
  CHECK(decode_client_message(hello("ok", std::string(64, 'b')).span()).has_value());
  CHECK(client_error_of(hello("", "")) == DropReason::bad_text);
  CHECK(client_error_of(hello("a\x1b[31m", "")) == DropReason::bad_text);
  CHECK(client_error_of(hello("ok", std::string(65, 'b'))) == DropReason::bad_text);
  CHECK(client_error_of(raw(wire::ClientBody::Hello,
                            [](auto& fbb) { return wire::CreateHello(fbb, 1, 1); })) == DropReason::bad_text);

  const auto chat = [](std::uint32_t number, const std::string& text) {
    return raw(wire::ClientBody::Chat,
               [&](auto& fbb) { return wire::CreateChatDirect(fbb, number, text.c_str()); });
  };
  CHECK(client_error_of(chat(0, "x")) == DropReason::out_of_range);
  CHECK(client_error_of(chat(1, "")) == DropReason::bad_text);
  CHECK(client_error_of(chat(1, std::string(201, 'x'))) == DropReason::bad_text);
  CHECK(client_error_of(chat(1, "bad \xff")) == DropReason::bad_text);

  CHECK(client_error_of(raw(wire::ClientBody::Join, [](auto& fbb) {
          return wire::CreateJoin(fbb, fbb.CreateVector(std::vector<std::uint64_t>(join_content_max + 1, 1)));
        })) == DropReason::out_of_range);
  CHECK(client_error_of(raw(wire::ClientBody::Leave, [](auto& fbb) {
          return wire::CreateLeave(fbb, static_cast<wire::LeaveReason>(5));
        })) == DropReason::out_of_range);
}

TEST_CASE("messages of an unknown type, of nothing and of the other side are refused",
          "[protocol][messages]") {
  const auto leave = [](auto& fbb) { return wire::CreateLeave(fbb, wire::LeaveReason::quit); };
  CHECK(client_error_of(raw(static_cast<wire::ClientBody>(7), leave)) == DropReason::unknown_message);
  CHECK(client_error_of(raw(static_cast<wire::ClientBody>(255), leave)) == DropReason::unknown_message);
  CHECK(client_error_of(AlignedBytes{}) == DropReason::malformed);
  MessageWriter writer;
  const AlignedBytes goodbye = payload_of(writer.write(client_header, Goodbye{GoodbyeReason::kicked, "bye"}));
  CHECK(client_error_of(goodbye) == DropReason::malformed);
  CHECK(decode_server_message(goodbye.span()).has_value());
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
