#include <flatbuffers/flatbuffers.h>

#include "protocol/connection/streams.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/schema/client_message_generated.h"
#include "protocol/schema/server_message_generated.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "tests/protocol/content/contents.h"

using namespace ashlar;
using test::AlignedBytes;

// They fit their streams: requests a server's window for control, parts a client's for bulk.
static_assert(content_message_bytes_max < properties(StreamId::bulk).message_bytes_max);
static_assert(content_message_bytes_max * 4 < client_stream_windows[row(StreamId::bulk)]);

namespace {

std::expected<ServerMessage, DropReason> part_of(std::uint32_t total, std::uint32_t offset,
                                                 std::size_t size) {
  flatbuffers::FlatBufferBuilder fbb;
  const std::vector<std::uint8_t> bytes(size, 3);
  const auto list = fbb.CreateVector(bytes);
  const auto part = wire::CreateContentPart(fbb, 42, total, offset, list);
  fbb.Finish(wire::CreateServerMessage(fbb, wire::ServerBody::ContentPart, part.Union()),
             wire::ServerMessageIdentifier());
  const AlignedBytes message(std::span(fbb.GetBufferPointer(), fbb.GetSize()));
  auto decoded = decode_server_message(message.span());
  // What it points at is gone with this function.
  if (decoded) std::get<ContentPart>(*decoded).bytes = {};
  return decoded;
}

}  // namespace

TEST_CASE("messages of content come out as they went in", "[protocol][messages][content]") {
  MessageWriter w;
  const AlignedBytes request(w.write(ContentRequest{0xfedcba9876543210u, 4095 * 1024}));
  const auto asked = decode_client_message(request.span());
  REQUIRE(asked);
  CHECK(std::get<ContentRequest>(*asked).hash == 0xfedcba9876543210u);
  CHECK(std::get<ContentRequest>(*asked).offset == 4095 * 1024);

  std::vector<std::uint8_t> bytes(content_part_bytes_max);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
  const AlignedBytes largest(w.write(ContentPart{7, content_bytes_max, content_bytes_max - 32768, bytes}));
  const auto part = decode_server_message(largest.span());
  REQUIRE(part);
  CHECK(std::get<ContentPart>(*part).hash == 7);
  CHECK(std::get<ContentPart>(*part).total == content_bytes_max);
  CHECK(std::get<ContentPart>(*part).offset == content_bytes_max - 32768);
  CHECK(std::ranges::equal(std::get<ContentPart>(*part).bytes, bytes));

  for (std::size_t r = 0; r < content_refusal_count; ++r) {
    const ContentRefused refused{9, static_cast<ContentRefusal>(r)};
    const AlignedBytes payload(w.write(refused));
    const auto message = decode_server_message(payload.span());
    REQUIRE(message);
    CHECK(std::get<ContentRefused>(*message).hash == 9);
    CHECK(std::get<ContentRefused>(*message).reason == refused.reason);
    CHECK(name(refused.reason) != "?");
  }
  CHECK(name(static_cast<ContentRefusal>(content_refusal_count)) == "?");
}

TEST_CASE("every truncation of a message of content is refused", "[protocol][messages][content]") {
  MessageWriter w;
  const std::vector<std::uint8_t> bytes(100, 1);
  const auto check = [](std::span<const std::uint8_t> payload, auto decode) {
    const AlignedBytes whole(payload);
    REQUIRE(decode(whole.span()).has_value());
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const AlignedBytes cut(whole.span().first(size));
      if (decode(cut.span()).has_value()) REQUIRE(whole.size() - size < 8);  // the builder's padding
    }
  };
  const auto from_server = [](auto span) { return decode_server_message(span); };
  check(w.write(ContentRequest{1, 2}), [](auto span) { return decode_client_message(span); });
  check(w.write(ContentPart{1, 200, 2, bytes}), from_server);
  check(w.write(ContentRefused{1, ContentRefusal::off}), from_server);
}

TEST_CASE("messages of content out of their bounds are refused", "[protocol][messages][content]") {
  CHECK(part_of(100, 0, 100));
  CHECK(part_of(100, 99, 1));
  CHECK(part_of(100, 100, 1).error() == DropReason::out_of_range);
  CHECK(part_of(100, 0xffffffff, 1).error() == DropReason::out_of_range);
  CHECK(part_of(100, 0, 101).error() == DropReason::out_of_range);
  CHECK(part_of(100, 0, 0).error() == DropReason::out_of_range);
  CHECK(part_of(0, 0, 0).error() == DropReason::out_of_range);
  CHECK(part_of(content_bytes_max, 0, content_part_bytes_max));
  CHECK(part_of(content_bytes_max, 0, content_part_bytes_max + 1).error() == DropReason::out_of_range);
  CHECK(part_of(content_bytes_max + 1, 0, 1).error() == DropReason::out_of_range);

  flatbuffers::FlatBufferBuilder fbb;
  const auto request = wire::CreateContentRequest(fbb, 1, content_bytes_max);
  fbb.Finish(wire::CreateClientMessage(fbb, wire::ClientBody::ContentRequest, request.Union()),
             wire::ClientMessageIdentifier());
  CHECK(
      decode_client_message(AlignedBytes(std::span(fbb.GetBufferPointer(), fbb.GetSize())).span()).error() ==
      DropReason::out_of_range);
  fbb.Clear();
  const auto refused = wire::CreateContentRefused(fbb, 1, static_cast<wire::ContentRefusal>(4));
  fbb.Finish(wire::CreateServerMessage(fbb, wire::ServerBody::ContentRefused, refused.Union()),
             wire::ServerMessageIdentifier());
  CHECK(
      decode_server_message(AlignedBytes(std::span(fbb.GetBufferPointer(), fbb.GetSize())).span()).error() ==
      DropReason::out_of_range);
  fbb.Clear();
  const auto empty = wire::CreateContentPart(fbb, 1, 10, 0);
  fbb.Finish(wire::CreateServerMessage(fbb, wire::ServerBody::ContentPart, empty.Union()),
             wire::ServerMessageIdentifier());
  CHECK(
      decode_server_message(AlignedBytes(std::span(fbb.GetBufferPointer(), fbb.GetSize())).span()).error() ==
      DropReason::malformed);
}
