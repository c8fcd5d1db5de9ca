#include <flatbuffers/flatbuffers.h>

#include "protocol/chunk_codec.h"
#include "protocol/connection/streams.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/schema/client_message_generated.h"
#include "protocol/schema/server_message_generated.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"

// What travels for clients that are sent the ground: what they kept, chunks, goodbyes.

using namespace ashlar;
using test::AlignedBytes;

namespace {

template <class Message>
AlignedBytes ground_bytes(const Message& message) {
  MessageWriter writer;
  return AlignedBytes(writer.write(message));
}

Join most_kept_join() {
  Join join;
  join.world = 4;
  join.ground = true;
  join.content = {1, 2, 3};
  for (std::size_t i = 0; i < kept_chunks_max; ++i)
    join.kept.push_back({{-32768, 32767, static_cast<std::int32_t>(i % 256) - 128}, ~std::uint64_t{i}});
  return join;
}

template <class Body>
std::optional<DropReason> ground_error_of(flatbuffers::FlatBufferBuilder& fbb, wire::ServerBody type,
                                          Body body) {
  fbb.Finish(wire::CreateServerMessage(fbb, type, body.Union()), wire::ServerMessageIdentifier());
  const AlignedBytes bytes(std::span(fbb.GetBufferPointer(), fbb.GetSize()));
  const auto message = decode_server_message(bytes.span());
  return message ? std::nullopt : std::optional(message.error());
}

std::optional<DropReason> ground_chunk_error(IVec3 at, std::size_t size,
                                             const std::vector<wire::BlockChange>& list) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto bytes = fbb.CreateVector(std::vector<std::uint8_t>(size, 7));
  const auto changes = fbb.CreateVectorOfStructs(list);
  return ground_error_of(fbb, wire::ServerBody::GroundChunk,
                         wire::CreateGroundChunk(fbb, 1, at.x, at.y, at.z, 5, bytes, changes, 1));
}

std::optional<DropReason> kept_join_error(bool ground, std::size_t count) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto kept =
      fbb.CreateVectorOfStructs(std::vector<wire::KeptChunk>(count, wire::KeptChunk(1, 2, 3, 4)));
  const auto body = wire::CreateJoin(fbb, 0, 1, ground, kept);
  fbb.Finish(wire::CreateClientMessage(fbb, wire::ClientBody::Join, body.Union()),
             wire::ClientMessageIdentifier());
  const AlignedBytes bytes(std::span(fbb.GetBufferPointer(), fbb.GetSize()));
  const auto message = decode_client_message(bytes.span());
  return message ? std::nullopt : std::optional(message.error());
}

}  // namespace

TEST_CASE("a join comes back with all chunks that may be kept, and fits a server's window",
          "[protocol][messages][ground]") {
  Join join = most_kept_join();
  join.content.assign(join_content_max, 9);
  const AlignedBytes bytes = ground_bytes(join);
  CHECK(bytes.size() + message_prefix_bytes <= server_stream_windows[row(StreamId::control)]);
  const auto message = decode_client_message(bytes.span());
  REQUIRE(message.has_value());
  const Join& back = std::get<Join>(*message);
  CHECK(back.ground);
  CHECK(back.content == join.content);
  CHECK(back.kept == join.kept);
}

TEST_CASE("a join that keeps too much, or what it does not ask for, is refused",
          "[protocol][messages][ground]") {
  CHECK_FALSE(kept_join_error(true, 0).has_value());
  CHECK_FALSE(kept_join_error(true, kept_chunks_max).has_value());
  CHECK(kept_join_error(true, kept_chunks_max + 1) == DropReason::out_of_range);
  CHECK(kept_join_error(false, 1) == DropReason::out_of_range);
}

TEST_CASE("chunks come back as they went, with bytes and without", "[protocol][messages][ground]") {
  std::vector<std::uint8_t> bytes(GENERATE(0u, 1u, 5u, 40'000u), 3);
  std::vector<BlockChange> changes;
  for (std::uint16_t i = 0; i < block_changes_max; ++i) changes.push_back({i, 255});
  if (GENERATE(true, false)) changes.clear();
  const AlignedBytes whole =
      ground_bytes(GroundChunk{77, 3, {-32768, 32767, -128}, 0x8877665544332211, bytes, changes});
  const auto message = decode_server_message(whole.span());
  REQUIRE(message.has_value());
  const GroundChunk& back = std::get<GroundChunk>(*message);
  CHECK(back.tick == 77);
  CHECK(back.world == 3);
  CHECK(back.at == ChunkCoord{-32768, 32767, -128});
  CHECK(back.hash == 0x8877665544332211);
  CHECK(std::ranges::equal(back.bytes, bytes));
  CHECK(std::ranges::equal(back.changes, changes));
}

TEST_CASE("chunks outside the world, too long or with changes that are none are refused",
          "[protocol][messages][ground]") {
  CHECK_FALSE(ground_chunk_error({32767, -32768, 127}, chunk_bytes_max, {}).has_value());
  CHECK(ground_chunk_error({32768, 0, 0}, 1, {}) == DropReason::out_of_range);
  CHECK(ground_chunk_error({0, -32769, 0}, 1, {}) == DropReason::out_of_range);
  CHECK(ground_chunk_error({0, 0, 128}, 1, {}) == DropReason::out_of_range);
  CHECK(ground_chunk_error({0, 0, 0}, chunk_bytes_max + 1, {}) == DropReason::out_of_range);
  CHECK(ground_chunk_error({0, 0, 0}, 1, {wire::BlockChange(5, 0), wire::BlockChange(5, 0)}) ==
        DropReason::out_of_range);
  CHECK(ground_chunk_error({0, 0, 0}, 1, {wire::BlockChange(5, block_kinds_max)}) ==
        DropReason::out_of_range);
}

TEST_CASE("goodbyes to chunks come back as they went", "[protocol][messages][ground]") {
  std::vector<ChunkCoord> chunks(GENERATE(0u, 1u, 1024u), ChunkCoord{-32768, 32767, 127});
  const AlignedBytes whole = ground_bytes(GroundGone{9, 200, chunks});
  const auto message = decode_server_message(whole.span());
  REQUIRE(message.has_value());
  const GroundGone& back = std::get<GroundGone>(*message);
  CHECK(back.tick == 9);
  CHECK(back.world == 200);
  CHECK(std::ranges::equal(back.chunks, chunks));

  flatbuffers::FlatBufferBuilder fbb;
  const std::vector<wire::ChunkPlace> outside{wire::ChunkPlace(0, 0, 128)};
  CHECK(ground_error_of(fbb, wire::ServerBody::GroundGone,
                        wire::CreateGroundGone(fbb, 1, fbb.CreateVectorOfStructs(outside), 1)) ==
        DropReason::out_of_range);
}

TEST_CASE("messages of ground that are cut or changed anywhere are refused or within their bounds",
          "[protocol][messages][ground]") {
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4, 5, 6, 7, 8};  // whole words: what pads may be cut
  const std::vector<BlockChange> changes{{3, 4}, {9, 1}};
  const std::vector<ChunkCoord> gone{{1, 2, 3}, {4, 5, 6}};
  Join join = most_kept_join();
  join.kept.resize(3);
  for (const AlignedBytes& whole :
       {ground_bytes(join), ground_bytes(GroundChunk{9, 4, {1, 2, 3}, 8, bytes, changes}),
        ground_bytes(GroundGone{9, 4, gone})}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const AlignedBytes cut(whole.span().first(size));
      CHECK_FALSE((decode_client_message(cut.span()) || decode_server_message(cut.span())));
    }
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (const int value : {0, 1, 127, 128, 255}) {
        std::vector<std::uint8_t> copy(whole.span().begin(), whole.span().end());
        copy[at] = static_cast<std::uint8_t>(value);
        const AlignedBytes changed(copy);
        static_cast<void>(decode_client_message(changed.span()));
        const auto m = decode_server_message(changed.span());
        if (!m) continue;
        if (const auto* chunk = std::get_if<GroundChunk>(&*m)) REQUIRE(chunk_in_world(chunk->at));
        if (const auto* away = std::get_if<GroundGone>(&*m))
          for (const ChunkCoord one : away->chunks) REQUIRE(chunk_in_world(one));
      }
  }
}
