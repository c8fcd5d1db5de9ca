#include "server/store/stored_blocks.h"

#include "tests/catch.h"
#include "world/content/block_file.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

std::shared_ptr<const BlockRegistry> kinds_of(const std::string& text) {
  auto read = read_block_file(text, "test");
  REQUIRE(read.has_value());
  return std::make_shared<const BlockRegistry>(std::move(*read));
}

}  // namespace

TEST_CASE("kept kinds of blocks come back, and damaged ones are found", "[server][store][stored_blocks]") {
  const auto kinds = kinds_of("[[block]]\nname = \"marble\"\nhardness = 3");
  const std::string text = stored_blocks_text(*kinds);
  const auto back = read_stored_blocks(text);
  REQUIRE(back.has_value());
  CHECK((*back)->hash() == kinds->hash());
  CHECK(*read_stored_blocks("") == BlockRegistry::builtin_ptr());
  unsigned taken = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string bad = text;
    bad[i] = bad[i] == '0' ? '1' : '0';
    taken += read_stored_blocks(bad).has_value();
  }
  CHECK(taken == 0);
  for (const char* bad : {"0", "zz", "00", "0000000000000000"})
    CHECK_FALSE(read_stored_blocks(bad).has_value());
}

TEST_CASE("a world's kinds keep their places", "[server][store][stored_blocks]") {
  const auto marble = kinds_of("[[block]]\nname = \"marble\"");
  const auto harder = kinds_of("[[block]]\nname = \"marble\"\nhardness = 3\n[[block]]\nname = \"slate\"");
  const auto slate = kinds_of("[[block]]\nname = \"slate\"\n[[block]]\nname = \"marble\"");
  CHECK(*settle_blocks(nullptr, nullptr) == BlockRegistry::builtin_ptr());
  CHECK(*settle_blocks(nullptr, marble) == marble);
  CHECK(*settle_blocks(marble, nullptr) == marble);
  CHECK(*settle_blocks(harder, marble) == harder);
  // Whatever their order in the file: what is kept keeps its place, new kinds go behind.
  const auto both = *settle_blocks(slate, marble);
  CHECK(both->find("marble") == marble->find("marble"));
  CHECK(both->find("slate") == static_cast<BlockId>(marble->size()));
  CHECK(both->type(*both->find("slate")).drops == *both->find("slate"));
  CHECK(settle_blocks(BlockRegistry::builtin_ptr(), marble).error().find("marble") != std::string::npos);
}

TEST_CASE("a world from before there were chests gets them behind its own kinds",
          "[server][store][stored_blocks]") {
  const auto now = BlockRegistry::builtin().types();
  std::vector<BlockType> old(now.begin(), now.begin() + block_id_count);
  old.push_back({.name = "marble", .drops = BlockId{block_id_count}});
  old[static_cast<std::size_t>(BlockId::leaves)].shape = *find_shape("none");
  const auto kept = std::make_shared<const BlockRegistry>(old);
  for (const auto& given :
       {std::shared_ptr<const BlockRegistry>(), kinds_of("[[block]]\nname = \"marble\"")}) {
    const auto settled = *settle_blocks(given, kept);
    CHECK(settled->size() == kept->size() + 8);
    CHECK(settled->type(*settled->find("sapling")).becomes == BlockId::wood);
    CHECK(settled->find("marble") == BlockId{block_id_count});
    CHECK(settled->type(*settled->find("chest")).slots == 27);
    CHECK(settled->type(*settled->find("sign")).drops == *settled->find("sign"));
    CHECK(settled->type(BlockId::leaves).solid() == (given != nullptr));
  }
}
