#include "world/voxel/block_registry.h"

#include <set>

#include "tests/catch.h"
#include "world/voxel/chunk.h"

using namespace ashlar;

TEST_CASE("every kind of block has a name, by which it is found, and is as solid as chunks have it",
          "[world][voxel][block_registry]") {
  const BlockRegistry& all = BlockRegistry::builtin();
  REQUIRE(all.size() == block_id_count);
  std::set<std::string> names;
  for (std::uint16_t i = 0; i < block_id_count; ++i) {
    const auto id = static_cast<BlockId>(i);
    const BlockType& type = all.type(id);
    CAPTURE(type.name);
    CHECK(names.insert(type.name).second);
    CHECK(all.find(type.name) == id);
    CHECK(type.solid == (Chunk(id).solid()[0] != 0));
    CHECK(all.placeable(id) == type.solid);
    CHECK_FALSE((all.diggable(id) && !type.solid));
    CHECK(all.knows(type.drops));
  }
  CHECK(all.find("stone") == BlockId::stone);
  CHECK(all.find("crystal_ore") == BlockId::crystal_ore);
  for (const char* name : {"", "ston", "stones", "Stone", "zzz"}) CHECK_FALSE(all.find(name).has_value());
  CHECK_FALSE(all.knows(BlockId{block_id_count}));
  CHECK_FALSE(all.placeable(BlockId{65535}));
}

TEST_CASE("a registry's hash changes with everything that it says", "[world][voxel][block_registry]") {
  const std::vector<BlockType> types{{"air", false, 0, BlockId::air}, {"stone", true, 2, BlockId::stone}};
  const std::uint64_t hash = BlockRegistry(types).hash();
  CHECK(BlockRegistry(types).hash() == hash);
  std::vector<BlockType> other = types;
  other[1].name = "rock";
  CHECK(BlockRegistry(other).hash() != hash);
  other = types, other[1].hardness_s = 2.5;
  CHECK(BlockRegistry(other).hash() != hash);
  other = types, other[1].drops = BlockId::air;
  CHECK(BlockRegistry(other).hash() != hash);
  other = types, other.push_back({"dirt", true, 1, BlockId::air});
  CHECK(BlockRegistry(other).hash() != hash);
}
