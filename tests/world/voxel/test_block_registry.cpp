#include "world/voxel/block_registry.h"

#include <cmath>
#include <set>

#include "tests/catch.h"
#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

using namespace ashlar;

TEST_CASE("every kind of block has a name, by which it is found, and is as solid as the ground has it",
          "[world][voxel][block_registry]") {
  const BlockRegistry& all = BlockRegistry::builtin();
  REQUIRE(all.size() == block_id_count + 8);  // chest, sign, sapling, charge, treasure and three tools
  std::set<std::string> names;
  for (std::uint16_t i = 0; i < all.size(); ++i) {
    const auto id = static_cast<BlockId>(i);
    const BlockType& type = all.type(id);
    CAPTURE(type.name);
    CHECK(names.insert(type.name).second);
    CHECK(all.find(type.name) == id);
    CHECK(type.solid() == is_solid(id));
    CHECK(type.solid() == (Chunk(id).solid()[0] != 0));
    CHECK((Chunk(id).parts() != nullptr) == (type.solid() && !type.shape.full()));
    CHECK(all.placeable(id) == (!all.replaceable(id) && id != all.treasure() && !all.is_tool(id)));
    CHECK(all.diggable(id) == !all.replaceable(id));
    CHECK(all.knows(type.drops));
  }
  CHECK_FALSE(all.diggable(BlockId::water));
  CHECK(all.diggable(BlockId::ladder));
  CHECK((all.is_tool(*all.find("pick")) && !all.placeable(*all.find("pick"))));
  CHECK(all.find("stone") == BlockId::stone);
  CHECK(all.find("crystal_ore") == BlockId::crystal_ore);
  for (const char* name : {"", "ston", "stones", "Stone", "zzz"}) CHECK_FALSE(all.find(name).has_value());
  CHECK_FALSE(all.knows(static_cast<BlockId>(all.size())));
  CHECK_FALSE(all.placeable(BlockId{65535}));
}

namespace {

std::vector<BlockType> builtin_and(std::string_view name) {
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  types.emplace_back();
  types.back().name = name;
  return types;
}

}  // namespace

TEST_CASE("a registry's hash changes with everything that it says", "[world][voxel][block_registry]") {
  const std::vector<BlockType> types = builtin_and("marble");
  std::set<std::uint64_t> hashes{BlockRegistry(types).hash(), BlockRegistry::builtin().hash()};
  CHECK(BlockRegistry(types).hash() == *hashes.find(BlockRegistry(types).hash()));
  const auto differs = [&](const auto& change) {
    std::vector<BlockType> other = types;
    change(other.back());
    CHECK(hashes.insert(BlockRegistry(other).hash()).second);
  };
  differs([](BlockType& t) { t.name = "rock"; });
  differs([](BlockType& t) { t.hardness_s[1] = 2.5; });
  differs([](BlockType& t) { t.drops = BlockId::stone; });
  differs([](BlockType& t) { t.opaque = false; });
  differs([](BlockType& t) { t.climbable = true; });
  differs([](BlockType& t) { t.falls = true; });
  differs([](BlockType& t) { t.slots = 3; });
  differs([](BlockType& t) { t.text = true; });
  differs([](BlockType& t) { t.light = 3; });
  differs([](BlockType& t) { t.damage_per_s = 3; });
  differs([](BlockType& t) { t.timer_s = 3; });
  differs([](BlockType& t) { t.timer_s = 3, t.becomes = BlockId::stone; });
  differs([](BlockType& t) { t.timer_s = 3, t.blast_m = 2; });
  differs([](BlockType& t) { t.friction = 0.1; });
  differs([](BlockType& t) { t.jump = 2; });
  differs([](BlockType& t) { t.tool = Tool::axe; });
  for (const std::string_view shape : shape_names())
    if (shape != "full") differs([&](BlockType& t) { t.shape = *find_shape(shape); });
  differs([](BlockType& t) { t.shape = *find_shape("none"), t.liquid = true; });
}

TEST_CASE("kinds that no world can have are refused, and it is said which",
          "[world][voxel][block_registry]") {
  CHECK_FALSE(BlockRegistry::check(builtin_and("marble")));
  const auto refused = [](std::vector<BlockType> types) {
    const auto wrong = BlockRegistry::check(types);
    REQUIRE(wrong.has_value());
    CHECK_FALSE(wrong->reason.empty());
    return wrong->kind;
  };
  for (const char* name : {"", "Marble", "mar ble", "stone", "a234567890123456789012345678901234"})
    CHECK(refused(builtin_and(name)) == BlockRegistry::builtin().size());
  const auto changed = [&](std::size_t kind, const auto& change) {
    std::vector<BlockType> types = builtin_and("marble");
    change(types[kind]);
    CHECK(refused(types) == kind);
  };
  const std::size_t own = BlockRegistry::builtin().size();
  changed(0, [](BlockType& t) { t.shape = *find_shape("full"); });
  changed(0, [](BlockType& t) { t.climbable = true; });
  changed(3, [](BlockType& t) { t.name = "turf"; });
  changed(own, [](BlockType& t) { t.hardness_s[2] = -2; });
  changed(own, [](BlockType& t) { t.hardness_s[2] = std::nan(""); });
  changed(own, [](BlockType& t) { t.hardness_s[2] = 1e9; });
  changed(own, [](BlockType& t) { t.drops = BlockId{500}; });
  changed(own, [](BlockType& t) { t.liquid = true; });
  changed(own, [](BlockType& t) { t.shape = *find_shape("slab"), t.falls = true; });
  changed(own, [](BlockType& t) { t.slots = 37; });
  changed(own, [](BlockType& t) { t.slots = 1, t.falls = true; });
  changed(own, [](BlockType& t) { t.text = true, t.shape = *find_shape("none"), t.liquid = true; });
  changed(0, [](BlockType& t) { t.text = true; });
  changed(own, [](BlockType& t) { t.light = 16; });
  changed(own, [](BlockType& t) { t.damage_per_s = 10001; });
  changed(own, [](BlockType& t) { t.timer_s = -1; });
  changed(own, [](BlockType& t) { t.timer_s = std::nan(""); });
  changed(own, [](BlockType& t) { t.timer_s = 0.05; });
  changed(own, [](BlockType& t) { t.timer_s = 1e6; });
  changed(own, [](BlockType& t) { t.timer_s = 1, t.falls = true; });
  changed(own, [](BlockType& t) { t.timer_s = 1, t.becomes = BlockId{500}; });
  // What stands nowhere comes into the ground by no timer, and is nothing that moves or is generated.
  const BlockRegistry& all = BlockRegistry::builtin();
  changed(own, [&](BlockType& t) { t.timer_s = 1, t.becomes = *all.find("pick"); });
  changed(own, [](BlockType& t) { t.tool = Tool::axe, t.falls = true; });
  changed(own, [](BlockType& t) { t.tool = Tool::axe, t.shape = *find_shape("none"), t.liquid = true; });
  changed(own, [](BlockType& t) { t.tool = Tool::axe, t.slots = 8; });
  changed(own, [](BlockType& t) { t.tool = Tool::axe, t.timer_s = 1; });
  for (const BlockId id : {BlockId::water, BlockId::stone, BlockId::sand})
    changed(static_cast<std::size_t>(id), [](BlockType& t) { t.tool = Tool::axe; });
  // A treasure that moved, or came of something else, would have its loot again.
  const auto treasure = static_cast<std::size_t>(*all.find("treasure"));
  changed(treasure, [](BlockType& t) { t.falls = true; });
  changed(treasure, [](BlockType& t) { t.shape = *find_shape("none"), t.liquid = true; });
  changed(treasure, [](BlockType& t) { t.tool = Tool::pick; });
  changed(own, [&](BlockType& t) { t.timer_s = 1, t.becomes = *all.find("treasure"); });
  changed(own, [](BlockType& t) { t.timer_s = 1, t.becomes = BlockId{block_id_count + 8}; });
  changed(own, [](BlockType& t) { t.timer_s = 1, t.blast_m = 8; });
  changed(own, [](BlockType& t) { t.timer_s = 1, t.blast_m = 1, t.becomes = BlockId::stone; });
  changed(own, [](BlockType& t) { t.blast_m = 1; });
  changed(0, [](BlockType& t) { t.timer_s = 1; });
  changed(own, [](BlockType& t) { t.friction = -1; });
  changed(own, [](BlockType& t) { t.jump = 5; });
  changed(own, [](BlockType& t) { t.shape.count = 5; });
  changed(own, [](BlockType& t) { t.shape.box[0].max[1] = 17; });
  changed(own, [](BlockType& t) { t.shape.box[0].max[1] = 0; });
  changed(own, [](BlockType& t) { t.shape.box[3].max[1] = 4; });
  std::vector<BlockType> many = builtin_and("marble");
  while (many.size() <= block_kinds_max) {
    many.push_back(many.back());
    many.back().name = "marble_" + std::to_string(many.size());
  }
  CHECK(refused(many) == block_kinds_max);
  many.resize(block_id_count - 1);
  CHECK(refused(many) == block_id_count - 1);
}

TEST_CASE("chunks take on the forms of the volume that they come into", "[world][voxel][block_registry]") {
  std::vector<BlockType> types = builtin_and("marble");
  types[static_cast<std::size_t>(BlockId::leaves)].shape = *find_shape("none");
  types[static_cast<std::size_t>(BlockId::brick)].shape = *find_shape("slab");
  const auto kinds = std::make_shared<const BlockRegistry>(types);
  VoxelVolume volume(16, kinds);
  auto chunk = std::make_unique<Chunk>(BlockId::leaves);
  chunk->set_block({1, 2, 3}, BlockId::brick);
  chunk->set_block({1, 2, 4}, BlockId::stone);
  CHECK(chunk->solid()[0] == ~0u);
  volume.insert_chunk({0, 0, 0}, std::move(chunk));
  CHECK_FALSE(volume.solid({0, 0, 0}));
  CHECK(volume.solid({1, 2, 3}));
  CHECK(volume.solid({1, 2, 4}));
  REQUIRE(volume.find({0, 0, 0})->parts() != nullptr);
  CHECK((*volume.find({0, 0, 0})->parts())[2 * 32 + 1] == 1u << 3);
  CHECK(volume.solid_at({1.5, 2.5, 3.25}));
  CHECK_FALSE(volume.solid_at({1.5, 2.5, 3.5}));
  CHECK(volume.solid_at({1.5, 2.5, 4.5}));
  CHECK(volume.solid_at({-1, 0, 0}));  // not loaded
  REQUIRE(volume.set_block({1, 2, 3}, BlockId::leaves));
  CHECK_FALSE(volume.solid({1, 2, 3}));
  CHECK((*volume.find({0, 0, 0})->parts())[2 * 32 + 1] == 0);
}
