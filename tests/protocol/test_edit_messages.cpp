#include <flatbuffers/flatbuffers.h>

#include "protocol/decode.h"
#include "protocol/inventory_codec.h"
#include "protocol/message_writer.h"
#include "protocol/schema/client_message_generated.h"
#include "protocol/schema/server_message_generated.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "world/math/random.h"
#include "world/voxel/chunk.h"

// The messages of the edits stream: acts of players, their verdicts, changed blocks.

using namespace ashlar;
using test::AlignedBytes;

namespace {

Acts most_acts() {
  Acts acts;
  acts.tick = 0xfffffffeu;
  acts.world = 3;
  acts.act_count = acts_max;
  Rng rng{6};
  for (BlockAct& act : acts.acts) {
    act.number = rng.next_u32();
    act.kind = static_cast<BlockActKind>(rng.below(block_act_kind_count - 1));
    act.face = static_cast<BlockFace>(rng.below(block_face_count));
    act.block = {INT32_MIN, INT32_MAX, static_cast<std::int32_t>(rng.next_u32())};
    act.id = BlockId{65535};
    if (moves_items(act.kind)) act.face = {}, act.count = stack_items_max;
  }
  acts.acts[3].kind = BlockActKind::write;  // one at most
  acts.acts[3].face = BlockFace::north;
  acts.acts[3].count = 0;
  acts.acts[3].text = SignText::of("to the mine, 64 bytes at most: 0123456789 0123456789 01234567890");
  return acts;
}

ActAnswers most_answers() {
  ActAnswers answers;
  answers.tick = 77;
  answers.world = 255;
  for (std::uint32_t i = 0; i < act_answers_max; ++i)
    answers.answers.push_back({i, static_cast<ActVerdict>(i % act_verdict_count), {-1, INT32_MIN, 5}});
  return answers;
}

std::vector<BlockChange> changes(std::size_t count) {
  std::vector<BlockChange> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back({static_cast<std::uint16_t>(chunk_blocks - count + i),
                   static_cast<std::uint16_t>(i % block_id_count)});
  return out;
}

template <class Message>
AlignedBytes written(const Message& message) {
  MessageWriter writer;
  return AlignedBytes(writer.write(message));
}

DropReason acts_error(std::size_t count, std::uint8_t kind, std::uint8_t face, const char* text = "") {
  flatbuffers::FlatBufferBuilder fbb;
  const std::vector<wire::Act> acts(count, wire::Act(1, 2, 3, 4, 5, kind, face));
  const auto body = wire::CreateActs(fbb, 1, fbb.CreateVectorOfStructs(acts), 1, fbb.CreateString(text));
  fbb.Finish(wire::CreateClientMessage(fbb, wire::ClientBody::Acts, body.Union()),
             wire::ClientMessageIdentifier());
  const AlignedBytes bytes(std::span(fbb.GetBufferPointer(), fbb.GetSize()));
  const auto message = decode_client_message(bytes.span());
  return message ? DropReason{} : message.error();
}

bool edits_good(IVec3 chunk, const std::vector<wire::BlockChange>& list) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto body =
      wire::CreateBlockEdits(fbb, 1, chunk.x, chunk.y, chunk.z, fbb.CreateVectorOfStructs(list), 1);
  fbb.Finish(wire::CreateServerMessage(fbb, wire::ServerBody::BlockEdits, body.Union()),
             wire::ServerMessageIdentifier());
  const AlignedBytes bytes(std::span(fbb.GetBufferPointer(), fbb.GetSize()));
  const auto message = decode_server_message(bytes.span());
  if (!message) CHECK(message.error() == DropReason::out_of_range);
  return message.has_value();
}

}  // namespace

TEST_CASE("acts come back as they went, whatever blocks they name", "[protocol][messages][edits]") {
  const Acts acts = most_acts();
  const AlignedBytes bytes = written(acts);
  const auto message = decode_client_message(bytes.span());
  REQUIRE(message.has_value());
  const Acts& back = std::get<Acts>(*message);
  CHECK(back.tick == acts.tick);
  CHECK(back.world == acts.world);
  CHECK(back.act_count == acts.act_count);
  CHECK(back.acts == acts.acts);
}

TEST_CASE("acts of unknown kinds or faces, none and too many are refused", "[protocol][messages][edits]") {
  CHECK(acts_error(0, 0, 0) == DropReason::out_of_range);
  CHECK(acts_error(acts_max + 1, 0, 0) == DropReason::out_of_range);
  CHECK(acts_error(1, block_act_kind_count, 0) == DropReason::out_of_range);
  CHECK(acts_error(1, 0, block_face_count) == DropReason::out_of_range);
  CHECK(acts_error(1, 255, 255) == DropReason::out_of_range);
  CHECK(acts_error(acts_max, 4, block_face_count - 1) == DropReason{});
}

TEST_CASE("acts move 1 to 64 items, and one of a message writes", "[protocol][messages][edits]") {
  constexpr std::uint8_t take = 6, put = 7, write = 8;
  CHECK(acts_error(acts_max, take, 64) == DropReason{});
  CHECK(acts_error(1, put, 1) == DropReason{});
  CHECK(acts_error(1, put, 0) == DropReason::out_of_range);
  CHECK(acts_error(1, take, 65) == DropReason::out_of_range);
  CHECK(acts_error(1, write, 0) == DropReason{});
  CHECK(acts_error(1, write, 0, "a sign") == DropReason{});
  CHECK(acts_error(2, write, 0, "a sign") == DropReason::out_of_range);
  CHECK(acts_error(1, put, 1, "a sign") == DropReason::out_of_range);
  CHECK(acts_error(1, write, 0, "a\nsign") == DropReason{});
  CHECK(acts_error(1, write, 0, "a\xffsign") == DropReason::bad_text);
  CHECK(acts_error(1, write, 0, std::string(65, 'x').c_str()) == DropReason::bad_text);
}

TEST_CASE("what a block holds is kept whole, and any other bytes are none", "[protocol][inventory_codec]") {
  BlockData data;
  data.items.slots[0] = {BlockId::stone, 64};
  data.items.slots[35] = {BlockId{255}, 1};
  data.text = SignText::of("stone, mostly");
  const auto bytes = encode_block_data(data);
  CHECK(decode_block_data(bytes) == data);
  CHECK(decode_block_data(encode_block_data({})) == BlockData{});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_block_data(std::span(bytes).first(size)).has_value());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto bad = bytes;
    bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ 1u << bit % 8);
    const auto read = decode_block_data(bad);
    if (read) CHECK((sane(read->items) && encode_block_data(*read) == bad));
  }
}

TEST_CASE("what a block holds comes back as it went", "[protocol][messages][edits]") {
  HeldByBlock held{77, 3, true, {-5, 6, 700}, {}};
  held.data.items.slots[0] = {BlockId::stone, 64};
  held.data.items.slots[35] = {BlockId{255}, 1};
  held.data.text = SignText::of("stone, mostly");
  const auto same = [&held] {
    const AlignedBytes bytes = written(held);
    const auto message = decode_server_message(bytes.span());
    REQUIRE(message.has_value());
    const HeldByBlock& back = std::get<HeldByBlock>(*message);
    return back.tick == held.tick && back.world == held.world && back.open == held.open &&
           back.block == held.block && back.data == held.data;
  };
  CHECK(same());
  held.open = false;
  held.data = {};
  CHECK(same());
}

TEST_CASE("verdicts come back as they went", "[protocol][messages][edits]") {
  const ActAnswers answers = most_answers();
  const AlignedBytes bytes = written(answers);
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  const ActAnswers& back = std::get<ActAnswers>(*message);
  CHECK(back.tick == answers.tick);
  CHECK(back.world == answers.world);
  CHECK(back.answers == answers.answers);
}

TEST_CASE("4 096 blocks of a chunk fit one message and come back whole", "[protocol][messages][edits]") {
  const auto all = changes(block_changes_max);
  const AlignedBytes bytes = written(BlockEdits{9, 4, {-32768, 32767, -128}, all});
  CHECK(bytes.size() < 16'500);
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  const BlockEdits& back = std::get<BlockEdits>(*message);
  CHECK(back.tick == 9);
  CHECK(back.world == 4);
  CHECK(back.chunk == ChunkCoord{-32768, 32767, -128});
  CHECK(std::ranges::equal(back.changes, all));
}

TEST_CASE("changes outside the world, of unknown blocks or out of order are refused",
          "[protocol][messages][edits]") {
  const auto one = [](std::uint16_t index, std::uint16_t block) {
    return std::vector<wire::BlockChange>{wire::BlockChange(index, block)};
  };
  CHECK(edits_good({0, 0, 0}, one(32767, block_kinds_max - 1)));
  CHECK(edits_good({32767, -32768, 127}, one(0, 0)));
  CHECK_FALSE(edits_good({32768, 0, 0}, one(0, 0)));
  CHECK_FALSE(edits_good({0, -32769, 0}, one(0, 0)));
  CHECK_FALSE(edits_good({0, 0, 128}, one(0, 0)));
  CHECK_FALSE(edits_good({0, 0, -129}, one(0, 0)));
  CHECK_FALSE(edits_good({0, 0, 0}, one(32768, 0)));
  CHECK_FALSE(edits_good({0, 0, 0}, one(0, block_kinds_max)));
  CHECK_FALSE(edits_good({0, 0, 0}, {}));
  CHECK_FALSE(edits_good({0, 0, 0}, {wire::BlockChange(5, 0), wire::BlockChange(5, 1)}));
  CHECK_FALSE(edits_good({0, 0, 0}, {wire::BlockChange(5, 0), wire::BlockChange(4, 0)}));
  std::vector<wire::BlockChange> many;
  for (std::uint16_t i = 0; i <= block_changes_max; ++i) many.emplace_back(i, std::uint16_t{0});
  CHECK_FALSE(edits_good({0, 0, 0}, many));
}

TEST_CASE("messages of edits that are cut or changed anywhere are refused or within their bounds",
          "[protocol][messages][edits]") {
  const auto few = changes(5);
  for (const AlignedBytes& whole :
       {written(most_acts()), written(most_answers()), written(BlockEdits{9, 4, {1, 2, 3}, few})}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const AlignedBytes cut(whole.span().first(size));
      CHECK_FALSE((decode_client_message(cut.span()) || decode_server_message(cut.span())));
    }
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (const int value : {0, 1, 127, 128, 255}) {
        std::vector<std::uint8_t> copy(whole.span().begin(), whole.span().end());
        copy[at] = static_cast<std::uint8_t>(value);
        const AlignedBytes changed(copy);
        if (const auto m = decode_client_message(changed.span()))
          if (const Acts* acts = std::get_if<Acts>(&*m))
            REQUIRE((acts->act_count >= 1 && acts->act_count <= 8));
        if (const auto m = decode_server_message(changed.span()))
          if (const BlockEdits* edits = std::get_if<BlockEdits>(&*m))
            for (const BlockChange& change : edits->changes) {
              REQUIRE(change.index < chunk_blocks);
              REQUIRE(change.block < block_kinds_max);
            }
      }
  }
}
