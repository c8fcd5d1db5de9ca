#include "world/content/block_file.h"

#include "tests/catch.h"

using namespace ashlar;

namespace {

BlockRegistry read(const std::string& text) {
  auto kinds = read_block_file(text, "blocks.toml");
  if (!kinds) FAIL(kinds.error().line());
  return std::move(*kinds);
}

std::string refusal(const std::string& text) {
  const auto kinds = read_block_file(text, "blocks.toml");
  REQUIRE_FALSE(kinds.has_value());
  const std::string line = kinds.error().line();
  CHECK(line.find('\n') == std::string::npos);
  return line;
}

}  // namespace

TEST_CASE("a block file adds kinds and changes built-in ones", "[world][content][block_file]") {
  CHECK(read("").hash() == BlockRegistry::builtin().hash());
  const BlockRegistry kinds = read(R"(
[[block]]
name = "marble"  # tür
hardness = { hand = 4, pick = 0.5 }
[[block]]
name = "ice"
drops = "slush"
friction = 0.1
jump = 0
damage = 7
light = 15
opaque = false
[[block]]
name = "leaves"
shape = "none"
[[block]]
name = "slush"
falls = true
hardness = -1
[[block]]
name = "table"
boxes = [[0, 0, 12, 16, 16, 16], [6, 6, 0, 10, 10, 12]]
[[block]]
name = "tar"
liquid = true
[[block]]
name = "vine"
climbable = true
[[block]]
name = "rungs"
climbable = true
shape = "post"
[[block]]
name = "seed"
timer = 90
becomes = "vine"
[[block]]
name = "mine"
timer = 0.5
blast = 2
[[block]]
name = "iron_pick"
tool = "pick"
)");
  REQUIRE(kinds.size() == BlockRegistry::builtin().size() + 10);
  const auto type = [&](std::string_view name) -> const BlockType& {
    return kinds.type(kinds.find(name).value());
  };
  CHECK(kinds.find("marble") == static_cast<BlockId>(BlockRegistry::builtin().size()));
  CHECK(type("marble").hardness_s == std::array<double, tool_count>{4, 0.5, 4, 4});
  CHECK(type("marble").drops == static_cast<BlockId>(BlockRegistry::builtin().size()));
  CHECK(type("marble").shape.full());
  CHECK(type("ice").drops == *kinds.find("slush"));
  CHECK(type("ice").friction == 0.1);
  CHECK(type("ice").jump == 0);
  CHECK(type("ice").damage_per_s == 7);
  CHECK(type("ice").light == 15);
  CHECK_FALSE(type("ice").opaque);
  CHECK(kinds.find("leaves") == BlockId::leaves);
  CHECK_FALSE(type("leaves").solid());
  CHECK(type("leaves").drops == BlockId::air);  // as it is built in
  CHECK(type("slush").falls);
  CHECK_FALSE(kinds.diggable(*kinds.find("slush")));
  REQUIRE(type("table").shape.count == 2);
  CHECK(type("table").shape.box[1] == ShapeBox{{6, 6, 0}, {10, 10, 12}});
  CHECK((type("tar").liquid && !type("tar").solid()));
  CHECK_FALSE(type("vine").solid());
  CHECK(type("rungs").shape == *find_shape("post"));
  CHECK((type("seed").timer_s == 90 && type("seed").becomes == *kinds.find("vine")));
  CHECK((type("mine").timer_s == 0.5 && type("mine").blast_m == 2));
  CHECK(type("iron_pick").tool == Tool::pick);
  CHECK_FALSE(kinds.placeable(*kinds.find("iron_pick")));
}

TEST_CASE("a block file that is wrong is refused with its line", "[world][content][block_file]") {
  const auto in_line = [](int line, const std::string& block) {
    const std::string says = refusal("[[block]]\nname = \"marble\"\n" + block);
    CAPTURE(block, says);
    // Piece by piece: g++ 14 takes a sum of texts here for one that runs over its end.
    std::string begin = "blocks.toml line ";
    begin += std::to_string(line);
    begin += ": ";
    CHECK(says.starts_with(begin));
  };
  in_line(3, "hardness = \"much\"");
  in_line(3, "hardness = -2");
  in_line(3, "hardness = nan");
  in_line(3, "hardness = { pick = 1 }");
  in_line(3, "hardness = { hand = 1, spoon = 1 }");
  in_line(3, "hardness = { hand = 1, pick = 1e9 }");
  in_line(3, "tool = \"hand\"");
  in_line(3, "tool = 1");
  in_line(3, "drops = \"nonsense\"");
  in_line(3, "drops = 3");
  in_line(3, "drops = \"\"");
  in_line(3, "opaque = 1");
  in_line(3, "light = 16");
  in_line(3, "light = 1.5");
  in_line(3, "damage = -1");
  in_line(3, "friction = 5");
  in_line(3, "jump = \"high\"");
  in_line(3, "timer = -1");
  in_line(3, "timer = 604801");
  in_line(1, "timer = 0.05");
  in_line(4, "timer = 5\nbecomes = \"nothing\"");
  in_line(4, "timer = 5\nbecomes = 3");
  in_line(4, "timer = 5\nblast = 7.5");
  in_line(1, "blast = 3");
  in_line(1, "becomes = \"stone\"");
  in_line(1, "timer = 5\nbecomes = \"stone\"\nblast = 2");
  in_line(1, "timer = 5\nbecomes = \"marble\"");
  in_line(1, "timer = 5\nfalls = true");
  in_line(3, "shape = \"ball\"");
  in_line(3, "boxes = []");
  in_line(3, "boxes = [[0, 0, 0, 16, 16]]");
  in_line(3, "boxes = [[0, 0, 0, 16, 16, 17]]");
  in_line(3, "boxes = [[0, 0, 8, 16, 16, 8]]");
  in_line(3, "boxes = [[0,0,0,1,1,1],[0,0,0,1,1,1],[0,0,0,1,1,1],[0,0,0,1,1,1],[0,0,0,1,1,1]]");
  in_line(3, "colour = \"white\"");
  in_line(4, "light = 3\ncolour = \"white\"\nfriction = 9");
  in_line(1, "shape = \"full\"\nboxes = [[0, 0, 0, 16, 16, 8]]");
  in_line(1, "liquid = true\nshape = \"full\"");
  in_line(1, "falls = true\nshape = \"slab\"");
  in_line(3, "[[block]]\nname = \"marble\"\n");
  in_line(3, "[[block]]\n");
  in_line(3, "[[block]]\nname = \"Marble\"\n");
  in_line(3, "[[block]]\nname = \"air\"\nlight = 3");
  in_line(3, "this is not TOML");
  CHECK(read_block_file("\xEF\xBB\xBF[[block]]\nname = \"marble\"", "b.toml").has_value());
  CHECK(refusal("[block]\nname = \"marble\"").starts_with("blocks.toml line 1: "));
  CHECK(refusal("\nblocks = 3").starts_with("blocks.toml line 2: "));
  CHECK(refusal("[[[").find("not TOML") != std::string::npos);
  CHECK(refusal(std::string(block_file_bytes_max + 1, ' ')).find("too long") != std::string::npos);
  std::string many;
  for (int i = 0; i < 256; ++i) many += "[[block]]\nname = \"kind_" + std::to_string(i) + "\"\n";
  CHECK(refusal(many).find("at most 256") != std::string::npos);
}
