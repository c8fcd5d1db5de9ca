#include "protocol/block_kinds.h"

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "tests/catch.h"
#include "tests/protocol/bytes.h"
#include "world/content/block_file.h"

using namespace ashlar;

namespace {

std::shared_ptr<const BlockRegistry> some_kinds() {
  auto read = read_block_file(R"(
[[block]]
name = "table"
boxes = [[0, 0, 12, 16, 16, 16], [6, 6, 0, 10, 10, 12]]
hardness = { hand = 4, axe = 0.5 }
damage = 300
friction = 0.25
jump = 1.5
light = 9
opaque = false
drops = "wood"
[[block]]
name = "tar"
liquid = true
[[block]]
name = "vine"
climbable = true
[[block]]
name = "ash"
falls = true
hardness = -1
[[block]]
name = "seed"
timer = 12.5
becomes = "vine"
[[block]]
name = "mine"
timer = 3
blast = 2.5
[[block]]
name = "iron_axe"
tool = "axe"
)",
                              "test");
  REQUIRE(read.has_value());
  return std::make_shared<const BlockRegistry>(std::move(*read));
}

}  // namespace

TEST_CASE("kinds of blocks come back from their bytes as they were", "[protocol][block_kinds]") {
  const auto kinds = some_kinds();
  const std::vector<std::uint8_t> bytes = encode_block_kinds(*kinds);
  CHECK(bytes.size() <= block_kinds_bytes_max);
  const auto back = decode_block_kinds(bytes);
  REQUIRE(back.has_value());
  CHECK((*back)->hash() == kinds->hash());
  CHECK((*back)->type(*(*back)->find("table")).shape == kinds->type(*kinds->find("table")).shape);
  const BlockType& seed = (*back)->type(*(*back)->find("seed"));
  CHECK((seed.timer_s == 12.5 && seed.becomes == *(*back)->find("vine") && seed.blast_m == 0));
  const BlockType& mine = (*back)->type(*(*back)->find("mine"));
  CHECK((mine.timer_s == 3 && mine.becomes == BlockId::air && mine.blast_m == 2.5));
  CHECK((*back)->type(*(*back)->find("iron_axe")).tool == Tool::axe);
  CHECK(encode_block_kinds(**back) == bytes);
  const auto own = decode_block_kinds(encode_block_kinds(BlockRegistry::builtin()));
  REQUIRE(own.has_value());
  CHECK(*own == BlockRegistry::builtin_ptr());
}

TEST_CASE("bytes of kinds that are cut, longer or of another format are refused", "[protocol][block_kinds]") {
  std::vector<std::uint8_t> bytes = encode_block_kinds(*some_kinds());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    if (decode_block_kinds(std::span(bytes).first(size))) FAIL("cut to " << size);
  bytes.push_back(0);
  CHECK(decode_block_kinds(bytes).error() == BlockKindsError::cut);
  bytes.pop_back();
  bytes[0] = 5;
  CHECK(decode_block_kinds(bytes).error() == BlockKindsError::format);
  bytes[0] = 4;
  bytes[2] = 2;  // more than 256
  CHECK(decode_block_kinds(bytes).error() == BlockKindsError::kinds);
}

TEST_CASE("bytes of kinds with any byte changed are refused or kinds that a world can have",
          "[protocol][block_kinds]") {
  const std::vector<std::uint8_t> good = encode_block_kinds(*some_kinds());
  unsigned refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::vector<std::uint8_t> bytes = good;
      bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ flip);
      const auto kinds = decode_block_kinds(bytes);
      refused += !kinds;
      if (kinds) REQUIRE_FALSE(BlockRegistry::check((*kinds)->types()).has_value());
    }
  CHECK(refused > good.size());
}

TEST_CASE("kinds of blocks travel as a message", "[protocol][block_kinds]") {
  MessageWriter writer;
  const auto kinds = some_kinds();
  const test::AlignedBytes bytes(writer.write(BlockKinds{kinds, 7}));
  const auto message = decode_server_message(bytes.span());
  REQUIRE(message.has_value());
  const auto* back = std::get_if<BlockKinds>(&*message);
  REQUIRE(back != nullptr);
  CHECK(back->kinds->hash() == kinds->hash());
  CHECK(back->world == 7);
}
