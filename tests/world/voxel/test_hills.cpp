// The kinds of terrain that have seas, rivers, caves, forests and ores, or nothing at all.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/catch.h"
#include "tests/slowness.h"
#include "world/math/hash.h"
#include "world/sim/ground_generator.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

using namespace ashlar;

namespace {

Terrain terrain_of(TerrainKind kind, std::uint64_t seed) {
  Terrain terrain;
  terrain.kind = kind;
  terrain.seed = seed;
  return terrain;
}

/// Columns of chunks [low, high), whole.
VoxelVolume ground_of(const Terrain& terrain, IVec2 low, IVec2 high) {
  VoxelVolume volume;
  const ColumnSpan span = column_span(terrain.kind);
  for (std::int32_t x = low.x; x < high.x; ++x)
    for (std::int32_t y = low.y; y < high.y; ++y)
      for (std::int32_t z = span.low; z < span.high; ++z)
        volume.insert_chunk({x, y, z}, generate_chunk(terrain, {x, y, z}));
  return volume;
}

bool is_trunk(BlockId id) {
  return id == BlockId::wood || id == BlockId::pine_wood || id == BlockId::birch_wood;
}
bool is_crown(BlockId id) {
  return id == BlockId::leaves || id == BlockId::pine_needles || id == BlockId::birch_leaves;
}
bool is_tree(BlockId id) { return is_trunk(id) || is_crown(id); }

/// The place nearest to the origin, along rays of steps, for which the predicate holds of the surface.
template <typename Holds>
IVec2 find_place(const Terrain& terrain, Holds&& holds) {
  for (std::int32_t r = 0; r < 8000; r += 48)
    for (const IVec2 way : {IVec2{1, 0}, IVec2{0, 1}, IVec2{-1, 0}, IVec2{0, -1}, IVec2{1, 1}, IVec2{-1, -1}})
      if (holds(surface_height(terrain, way.x * r, way.y * r))) return {way.x * r, way.y * r};
  FAIL("no such place");
  return {};
}

std::uint64_t hash_of(const Terrain& terrain, std::initializer_list<ChunkCoord> chunks) {
  Hasher hash;
  for (const ChunkCoord at : chunks) hash.add(generate_chunk(terrain, at)->content_hash());
  return hash.value();
}

}  // namespace

TEST_CASE("kinds of terrain have names and numbers that stay", "[world][voxel][terrain]") {
  CHECK(name(TerrainKind::plains) == "plains");
  CHECK(name(TerrainKind::empty) == "void");
  CHECK(name(static_cast<TerrainKind>(9)) == "unknown");
  for (std::uint8_t kind = 0; kind < terrain_kind_count; ++kind) {
    CHECK(terrain_kind_of(name(static_cast<TerrainKind>(kind))) == static_cast<TerrainKind>(kind));
    CHECK(terrain_known(kind, terrain_generator));
    CHECK_FALSE(terrain_known(kind, terrain_generator + 1));
    CHECK_FALSE(terrain_known(kind, 0));
    CHECK(column_span(static_cast<TerrainKind>(kind)).count() <= column_chunks_max);
  }
  CHECK_FALSE(terrain_known(terrain_kind_count, terrain_generator));
  CHECK_FALSE(terrain_kind_of("hill").has_value());
  CHECK_FALSE(terrain_kind_of("").has_value());
}

TEST_CASE("every kind of terrain gives the same chunks on every build",
          "[world][voxel][terrain][determinism]") {
  // Mountains, sea, caves and forests among them. A change here breaks every stored world: terrain_generator
  // has to go up with it.
  const std::initializer_list<ChunkCoord> chunks{{0, 0, 0},   {3, -2, 0},   {30, 26, 1},     {30, 26, 2},
                                                 {30, 26, 3}, {-14, 3, -1}, {-14, 3, -2},    {7, -60, 0},
                                                 {7, -60, 1}, {7, -60, -3}, {9000, -9000, 0}};
  CHECK(hash_of(terrain_of(TerrainKind::plains, 1), chunks) == 0xd589621fd372b22du);
  CHECK(hash_of(terrain_of(TerrainKind::hills, 1), chunks) == 0xd7982f80e73daa00u);
  CHECK(hash_of(terrain_of(TerrainKind::flat, 1), chunks) == 0xaee6319070b98fa0u);
  CHECK(hash_of(terrain_of(TerrainKind::empty, 1), chunks) == 0x80eaedcba0b9a0bau);
}

TEST_CASE("hills are a function of seed and chunk, in any order", "[world][voxel][terrain]") {
  const Terrain terrain = terrain_of(TerrainKind::hills, 42);
  std::vector<ChunkCoord> all;
  for (std::int32_t x = -1; x < 2; ++x)
    for (std::int32_t z = -4; z < 3; ++z) all.push_back({x, 5, z});
  std::map<std::int32_t, std::uint64_t> forward;
  for (std::size_t i = 0; i < all.size(); ++i)
    forward[static_cast<std::int32_t>(i)] = generate_chunk(terrain, all[i])->content_hash();
  for (std::size_t i = all.size(); i-- > 0;)
    CHECK(generate_chunk(terrain, all[i])->content_hash() == forward[static_cast<std::int32_t>(i)]);
  CHECK(generate_chunk(terrain, {0, 5, 0})->content_hash() !=
        generate_chunk(terrain_of(TerrainKind::hills, 43), {0, 5, 0})->content_hash());
}

TEST_CASE("the surface of hills is where surface_height says, caves and trees aside",
          "[world][voxel][terrain]") {
  const Terrain terrain = terrain_of(TerrainKind::hills, 1);
  const IVec2 low = GENERATE(IVec2{-1, -1}, IVec2{30, 26}, IVec2{5, -60}, IVec2{-14, 3});
  CAPTURE(low.x, low.y);
  const VoxelVolume volume = ground_of(terrain, low, {low.x + 2, low.y + 2});
  unsigned wrong = 0, dug = 0, wrong_block = 0;
  for (std::int32_t y = low.y * 32; y < low.y * 32 + 64; ++y)
    for (std::int32_t x = low.x * 32; x < low.x * 32 + 64; ++x) {
      const std::int32_t top = surface_height(terrain, x, y);
      const BlockId above = volume.block({x, y, top}), ground = volume.block({x, y, top - 1});
      wrong += is_solid(above) && !is_tree(above);
      wrong += (above == BlockId::water) != (top < sea_level_m);
      dug += !is_solid(ground);
      wrong_block += is_solid(ground) && ground != surface_block(terrain, x, y) &&
                     ground != BlockId::coal_ore && ground != BlockId::iron_ore;
    }
  CHECK(wrong == 0);
  CHECK(wrong_block == 0);
  CHECK(dug < 64 * 64 / 8);
}

TEST_CASE("hills reach from the deep sea to high mountains and stay within their bounds",
          "[world][voxel][terrain]") {
  std::int32_t low = 0, high = 0;
  unsigned dry = 0, wet = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const Terrain terrain = terrain_of(TerrainKind::hills, seed);
    for (std::int32_t y = -4000; y < 4000; y += 64)
      for (std::int32_t x = -4000; x < 4000; x += 64) {
        const std::int32_t top = surface_height(terrain, x, y);
        low = std::min(low, top);
        high = std::max(high, top);
        ++(top < sea_level_m ? wet : dry);
      }
  }
  CAPTURE(low, high, dry, wet);
  CHECK(low >= hills_low_m);
  CHECK(high <= hills_high_m);
  CHECK(low < -88);
  CHECK(high > 115);
  CHECK(wet > dry / 6);  // seas
  CHECK(dry > wet / 2);  // and continents
}

TEST_CASE("water of hills lies below the level of the sea and rests on something",
          "[world][voxel][terrain]") {
  const Terrain terrain = terrain_of(TerrainKind::hills, GENERATE(1u, 6u));
  const IVec2 shore = find_place(terrain, [](std::int32_t top) { return top >= -3 && top < -1; });
  const IVec2 c{shore.x >> 5, shore.y >> 5};
  CAPTURE(shore.x, shore.y);
  const VoxelVolume volume = ground_of(terrain, {c.x - 1, c.y - 1}, {c.x + 3, c.y + 3});
  unsigned sea = 0, lakes = 0, wrong = 0, solid = 0;
  for (std::int32_t y = (c.y - 1) * 32 + 1; y < (c.y + 3) * 32 - 1; ++y)
    for (std::int32_t x = (c.x - 1) * 32 + 1; x < (c.x + 3) * 32 - 1; ++x)
      for (std::int32_t z = -90; z < 8; ++z) {
        if (volume.block({x, y, z}) != BlockId::water) continue;
        ++(z < cave_water_m ? lakes : sea);
        solid += volume.solid({x, y, z});
        wrong += z >= sea_level_m;
        for (const IVec3 side :
             {IVec3{1, 0, 0}, IVec3{-1, 0, 0}, IVec3{0, 1, 0}, IVec3{0, -1, 0}, IVec3{0, 0, -1}})
          wrong += volume.block(IVec3{x, y, z} + side) == BlockId::air;
      }
  CHECK(sea > 1000);
  CHECK(lakes > 100);
  CHECK(wrong == 0);
  CHECK(solid == 0);
}

TEST_CASE("hills have caves, ores by their depth and overhangs", "[world][voxel][terrain]") {
  const Terrain terrain = terrain_of(TerrainKind::hills, 1);
  std::map<BlockId, std::int32_t> highest;
  unsigned caves = 0, overhangs = 0;
  for (const IVec2 low : {IVec2{-2, -2}, IVec2{28, 24}, IVec2{4, -62}, IVec2{10, -58}}) {
    const VoxelVolume volume = ground_of(terrain, low, {low.x + 4, low.y + 4});
    for (std::int32_t y = low.y * 32; y < low.y * 32 + 128; ++y)
      for (std::int32_t x = low.x * 32; x < low.x * 32 + 128; ++x) {
        const std::int32_t top = surface_height(terrain, x, y);
        for (std::int32_t z = -100; z < top; ++z) {
          const BlockId id = volume.block({x, y, z});
          if (id >= BlockId::coal_ore) {
            const auto known = highest.try_emplace(id, z).first;
            known->second = std::max(known->second, z);
          }
          caves += id == BlockId::air && z < top - 6;
          // Ground with a skin of its own below other ground.
          overhangs += id == BlockId::air && z < top - 1 && z > 8 &&
                       surface_block(terrain, x, y) != BlockId::air &&
                       volume.block({x, y, z - 1}) == surface_block(terrain, x, y) &&
                       surface_block(terrain, x, y) != BlockId::stone;
        }
      }
  }
  CHECK(caves > 5000);
  CHECK(overhangs > 20);
  REQUIRE(highest.size() == 4);
  CHECK(highest[BlockId::coal_ore] > 30);
  CHECK(highest[BlockId::iron_ore] <= 59);
  CHECK(highest[BlockId::gold_ore] <= -11);
  CHECK(highest[BlockId::crystal_ore] <= -49);
}

TEST_CASE("ores hang on the secret seed and nothing else does", "[world][voxel][terrain]") {
  Terrain open = terrain_of(TerrainKind::hills, 5), other = open;
  other.secret = 77;
  const auto is_ore = [](BlockId id) { return id >= BlockId::coal_ore && id <= BlockId::crystal_ore; };
  std::vector<BlockId> a(chunk_blocks), b(chunk_blocks);
  unsigned moved = 0, else_differs = 0;
  for (const std::int32_t z : {-3, -2, -1, 0}) {
    generate_chunk(open, {1, 1, z})->copy_blocks(a);
    generate_chunk(other, {1, 1, z})->copy_blocks(b);
    for (std::size_t i = 0; i < chunk_blocks; ++i) {
      moved += is_ore(a[i]) != is_ore(b[i]);
      const BlockId x = is_ore(a[i]) ? BlockId::stone : a[i], y = is_ore(b[i]) ? BlockId::stone : b[i];
      else_differs += x != y;
    }
  }
  CHECK(moved > 100);
  CHECK(else_differs == 0);
  other.secret = secret_of_seed(open.seed);
  CHECK(generate_chunk(open, {1, 1, -2})->content_hash() ==
        generate_chunk(other, {1, 1, -2})->content_hash());
}

TEST_CASE("trees that stand at the border of a chunk are whole", "[world][voxel][terrain]") {
  unsigned looked_at = 0, torn = 0;
  for (std::uint64_t seed = 1; seed < (test::slowness == 1 ? 9U : 4U); ++seed) {
    const Terrain terrain = terrain_of(TerrainKind::hills, seed);
    const VoxelVolume volume = ground_of(terrain, {-3, -3}, {3, 3});
    std::vector<IVec3> trunks;
    for (std::int32_t y = -96; y < 96; ++y)
      for (std::int32_t x = -96; x < 96; ++x) {
        const IVec3 root{x, y, surface_height(terrain, x, y)};
        if (is_trunk(volume.block(root))) trunks.push_back(root);
      }
    for (const IVec3 root : trunks) {
      const bool border = ((root.x + 2) & 31) < 4 || ((root.y + 2) & 31) < 4;
      const bool alone = std::ranges::none_of(trunks, [&](IVec3 o) {
        return o != root && std::abs(o.x - root.x) < 9 && std::abs(o.y - root.y) < 9;
      });
      if (!border || !alone || std::max(std::abs(root.x), std::abs(root.y)) > 90) continue;
      ++looked_at;
      // Crowns are the same on both sides. The ground may be in their way, so only from some way up.
      for (std::int32_t z = root.z + 4; z < root.z + 17; ++z)
        for (std::int32_t dy = -4; dy <= 4; ++dy)
          for (std::int32_t dx = 1; dx <= 4; ++dx)
            torn += is_crown(volume.block({root.x + dx, root.y + dy, z})) !=
                    is_crown(volume.block({root.x - dx, root.y - dy, z}));
    }
  }
  CHECK(looked_at > (test::slowness == 1 ? 10U : 4U));
  CHECK(torn == 0);
}

TEST_CASE("beside a footprint hills are level, dry and whole, whatever was there",
          "[world][voxel][terrain]") {
  Terrain terrain = terrain_of(TerrainKind::hills, 1);
  // A mountain, the deep sea, a forest at a river, where players begin.
  const IVec2 at = GENERATE(IVec2{964, 843}, IVec2{1800, -600}, IVec2{-60, -1600}, IVec2{0, 0});
  const std::int32_t roof = GENERATE(3, 40, 90);
  if (test::slowness > 1 && (roof != 40 || at.x < 0)) return;
  CAPTURE(at.x, at.y, roof);
  const BlockBox box{{at.x - 20, at.y - 13, roof - 40}, {at.x + 21, at.y + 14, roof}};
  terrain.footprints.push_back(box);
  const VoxelVolume volume = ground_of(terrain, {(at.x - 36) >> 5, (at.y - 36) >> 5},
                                       {((at.x + 36) >> 5) + 1, ((at.y + 36) >> 5) + 1});
  unsigned inside = 0, uneven = 0, over = 0, hollow = 0, water = 0;
  for (std::int32_t y = box.min.y - 12; y < box.max.y + 12; ++y)
    for (std::int32_t x = box.min.x - 12; x < box.max.x + 12; ++x) {
      const std::int32_t away =
          std::max({box.min.x - x, x - box.max.x + 1, box.min.y - y, y - box.max.y + 1, 0});
      for (std::int32_t z = -128; z < 192; ++z) {
        const BlockId id = volume.block({x, y, z});
        if (away == 0 && z >= box.min.z) inside += id != BlockId::air;
        if (away == 0) continue;
        if (away <= terrain_apron_m) uneven += is_solid(id) != (z < roof) && !is_tree(id);
        over += away <= terrain_apron_m && is_tree(id);
        water += id == BlockId::water;
        hollow += z < surface_height(terrain, x, y) && !is_solid(id);
      }
    }
  CHECK(inside == 0);
  CHECK(uneven == 0);
  CHECK(over == 0);
  CHECK(water == 0);
  CHECK(hollow == 0);
}

TEST_CASE("flat ground is one level and void is a platform", "[world][voxel][terrain]") {
  const Terrain flat = terrain_of(TerrainKind::flat, 3), nothing = terrain_of(TerrainKind::empty, 3);
  CHECK(surface_height(flat, 1234, -999) == flat_surface_m);
  CHECK(generate_chunk(flat, {5, 5, 0})->block({3, 3, flat_surface_m - 1}) == BlockId::grass);
  CHECK(generate_chunk(flat, {5, 5, -1})->kind_count() == 1);
  CHECK(generate_chunk(flat, {5, 5, 1})->block({0, 0, 0}) == BlockId::air);

  CHECK(dry_ground(nothing, 0, 0));
  CHECK_FALSE(dry_ground(nothing, platform_radius_blocks, 0));
  unsigned solid = 0;
  const VoxelVolume volume = ground_of(nothing, {-1, -1}, {1, 1});
  for (std::int32_t y = -32; y < 32; ++y)
    for (std::int32_t x = -32; x < 32; ++x)
      for (std::int32_t z = -96; z < 128; ++z) solid += volume.solid({x, y, z});
  CHECK(solid == 2 * (2 * platform_radius_blocks) * (2 * platform_radius_blocks));
  CHECK(volume.solid({0, 0, flat_surface_m - 1}));
  CHECK_FALSE(volume.solid({0, 0, flat_surface_m}));
}

TEST_CASE("ground can be made at the ends of the world", "[world][voxel][terrain]") {
  constexpr std::int32_t end = (1 << 20) / chunk_size;
  for (std::uint8_t kind = 0; kind < terrain_kind_count; ++kind) {
    const Terrain terrain = terrain_of(static_cast<TerrainKind>(kind), 8);
    const ColumnSpan span = column_span(terrain.kind);
    for (const IVec2 column : {IVec2{-end, -end}, IVec2{end - 1, end - 1}, IVec2{-end, end - 1}}) {
      for (const std::int32_t z : {span.low, 0, span.high - 1})
        CHECK(generate_chunk(terrain, {column.x, column.y, z}) != nullptr);
      const std::int32_t top = surface_height(terrain, column.x * chunk_size, column.y * chunk_size);
      CHECK(top >= span.low * chunk_size);
      CHECK(top < span.high * chunk_size);
    }
  }
}

TEST_CASE("a chunk of one kind of block takes next to nothing, and one of hills few kilobytes",
          "[world][voxel][terrain][memory]") {
  CHECK(Chunk{BlockId::air}.bytes() < 512);
  CHECK(Chunk{BlockId::stone}.bytes() < 512);
  const Terrain terrain = terrain_of(TerrainKind::hills, 1);
  std::size_t bytes = 0, chunks = 0, most = 0;
  const ColumnSpan span = column_span(terrain.kind);
  for (const IVec2 low : {IVec2{0, 0}, IVec2{30, 26}, IVec2{50, -20}})
    for (std::int32_t n = 0; n < 4; ++n)
      for (std::int32_t z = span.low; z < span.high; ++z) {
        const auto chunk = generate_chunk(terrain, {low.x + n % 2, low.y + n / 2, z});
        bytes += chunk->bytes();
        most = std::max(most, chunk->bytes());
        ++chunks;
        if (z == span.low || z == span.high - 1) CHECK(chunk->bytes() < 512);
      }
  CAPTURE(bytes / chunks, most);
  CHECK(bytes / chunks < 6 * 1024);
  CHECK(most < 24 * 1024);
}

TEST_CASE("players begin on dry open ground in hills of any seed", "[world][sim][terrain][spawn]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    WorldSetup setup;
    setup.seed = seed;
    setup.terrain = TerrainKind::hills;
    setup.monsters = 20;
    setup.players_max = 16;
    World world(setup);
    const Terrain& terrain = world.ground()->terrain();
    std::vector<std::uint32_t> joins(16);
    TickInput input;
    input.joins = joins;
    world.step(input);
    for (std::size_t i = 0; i < world.players().rows(); ++i) {
      const DVec3 at = world.players().body[i].position_m;
      CAPTURE(at.x, at.y, at.z);
      const IVec3 block = block_at(at + DVec3{0, 0, 0.1});
      CHECK(dry_ground(terrain, block.x, block.y));
      CHECK(world.space().voxels->block(block) == BlockId::air);
      CHECK_FALSE(space_overlaps(world.space(), setup.rules.player, at));
      CHECK(std::abs(at.z - surface_height(terrain, block.x, block.y)) <= 3);
    }
    for (std::size_t i = 0; i < world.monsters().rows(); ++i) {
      if (world.monsters().id[i] == EntityId{0}) continue;
      const IVec3 block = block_at(world.monsters().body[i].position_m);
      CHECK(dry_ground(terrain, block.x, block.y));
    }
  }
}

TEST_CASE("who is to begin at sea begins on the nearest land", "[world][sim][terrain][spawn]") {
  WorldSetup setup;
  setup.seed = 1;
  setup.terrain = TerrainKind::hills;
  setup.monsters = 0;
  setup.players_max = 8;
  const Terrain terrain = terrain_of(TerrainKind::hills, 1);
  const IVec2 sea = find_place(terrain, [](std::int32_t top) { return top < -6 && top > -20; });
  setup.spawn = {{static_cast<double>(sea.x), static_cast<double>(sea.y)}, 3};
  World world(setup);
  std::vector<std::uint32_t> joins(4);
  TickInput input;
  input.joins = joins;
  world.step(input);
  for (std::size_t i = 0; i < 4; ++i) {
    const IVec3 block = block_at(world.players().body[i].position_m);
    CAPTURE(sea.x, sea.y, block.x, block.y, block.z);
    CHECK(dry_ground(terrain, block.x, block.y));
    CHECK(std::abs(block.x - sea.x) <= 1100);
  }
}

TEST_CASE("ores are of the secret alone, and without it they are stone", "[world][terrain][hills]") {
  Terrain open{.seed = 11, .kind = TerrainKind::hills};
  Terrain one = open, other = open, bare = open;
  one.secret = 1, other.secret = 2, bare.bare = true;
  int ores = 0, differ = 0;
  for (const ChunkCoord at : {ChunkCoord{0, 0, -1}, ChunkCoord{3, -2, -2}, ChunkCoord{-4, 5, 0}}) {
    const auto a = generate_chunk(one, at), b = generate_chunk(other, at), plain = generate_chunk(bare, at);
    for (int i = 0; i < static_cast<int>(chunk_blocks); ++i) {
      const IVec3 local{i / chunk_size % chunk_size, i / chunk_size / chunk_size, i % chunk_size};
      const BlockId first = a->block(local), second = b->block(local);
      REQUIRE_FALSE(terrain_hides(plain->block(local)));
      REQUIRE(plain->block(local) == (terrain_hides(first) ? BlockId::stone : first));
      REQUIRE(plain->block(local) == (terrain_hides(second) ? BlockId::stone : second));
      ores += terrain_hides(first), differ += first != second;
    }
  }
  CHECK(ores > 100);
  CHECK(differ > ores / 2);
}

TEST_CASE("treasures lie in floors of caves, by the secret alone, and without it there is stone",
          "[world][terrain][hills]") {
  Terrain one{.seed = 11, .kind = TerrainKind::hills};
  one.secret = 1, one.treasure = BlockRegistry::builtin().treasure();
  Terrain other = one, bare = one, open = one;
  other.secret = 2, bare.bare = true, open.secret.reset();
  int found = 0, same = 0;
  for (std::int32_t n = 0; n < 64; ++n) {
    const ChunkCoord at{n % 8, n / 8, -1 - n % 2};
    const auto a = generate_chunk(one, at), b = generate_chunk(other, at);
    const bool some = a->may_hold(one.treasure);
    if (!some) continue;
    const auto plain = generate_chunk(bare, at), computed = generate_chunk(open, at);
    CHECK_FALSE(computed->may_hold(one.treasure));
    for (std::size_t i = 0; i < chunk_blocks; ++i) {
      const IVec3 local = local_of_index(i);
      if (a->block(local) != one.treasure) continue;
      ++found;
      same += b->block(local) == one.treasure;
      CHECK(plain->block(local) == BlockId::stone);
      CHECK(a->block(local + IVec3{0, 0, 1}) == BlockId::air);
      CHECK(at.z * chunk_size + local.z <
            surface_height(one, at.x * chunk_size + local.x, at.y * chunk_size + local.y));
    }
  }
  CHECK(found > 3);
  CHECK(same == 0);
}
