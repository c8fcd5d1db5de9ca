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
  CHECK(settle_blocks(slate, marble).error().find("marble") != std::string::npos);
  CHECK(settle_blocks(BlockRegistry::builtin_ptr(), marble).error().find("marble") != std::string::npos);
}
