#include "client_sim/client/edited_ground.h"

#include "tests/catch.h"
#include "world/voxel/chunk.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

/// Block (1, 2, 3) of chunk (0, 0, 0) is `id` now.
struct Told {
  explicit Told(BlockId id)
      : change{static_cast<std::uint16_t>(index_in_chunk({1, 2, 3})), static_cast<std::uint16_t>(id)} {}
  BlockEdits edits() const { return {7, 1, {0, 0, 0}, std::span(&change, 1)}; }
  BlockChange change;
};
constexpr IVec3 block{1, 2, 3};

}  // namespace

TEST_CASE("what the server told stands, and comes into chunks that are made later",
          "[client][edited_ground]") {
  EditedGround ground;
  CHECK_FALSE(ground.changed(block).has_value());
  ground.take(Told(BlockId::brick).edits());
  CHECK(ground.changed(block) == BlockId::brick);
  CHECK_FALSE(ground.changed({1, 2, 4}).has_value());
  CHECK_FALSE(ground.changed({33, 2, 3}).has_value());
  Chunk chunk;
  ground.apply({0, 0, 0}, chunk);
  CHECK(chunk.block(block) == BlockId::brick);
  Chunk other;
  ground.apply({1, 0, 0}, other);
  CHECK(other.content_hash() == Chunk().content_hash());
  ground.take(Told(BlockId::air).edits());
  CHECK(ground.changed(block) == BlockId::air);
  CHECK(ground.told_blocks() == 1);
  CHECK(ground.take_touched()->size() == 2);
  CHECK(ground.take_touched()->empty());
  ground.clear();
  CHECK_FALSE(ground.changed(block).has_value());
  CHECK_FALSE(ground.take_touched().has_value());
}

TEST_CASE("a server that tells of changed blocks without end is not believed", "[client][edited_ground]") {
  std::vector<BlockChange> all(chunk_blocks);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {static_cast<std::uint16_t>(i), 1};
  EditedGround ground;
  constexpr std::size_t fits = EditedGround::told_max / chunk_blocks;
  for (std::size_t i = 0; i < fits; ++i)
    REQUIRE(ground.take(BlockEdits{1, 1, {static_cast<std::int16_t>(i), 0, 0}, all}) == nullptr);
  CHECK(ground.take(BlockEdits{1, 1, {-1, 0, 0}, all}) != nullptr);
  CHECK(ground.told_blocks() == EditedGround::told_max);
  CHECK_FALSE(ground.room_for(1));
  // What is farther away than a server tells of is told again where one comes back.
  constexpr int here = 50, reach = EditedGround::told_reach_columns;
  constexpr ChunkCoord elsewhere{1000, 0, 0};
  ground.forget_far({here, 0, 7}, {here + 2 * reach, 0, 7});
  CHECK(ground.told({chunk_size * (here + reach + 1), 0, 0}));  // the player may be there already
  ground.forget_far({here, 0, 7}, elsewhere);
  CHECK(ground.told_blocks() == (2 * reach + 1) * chunk_blocks);
  CHECK(ground.told({chunk_size * (here - reach), 0, 0}));
  CHECK_FALSE(ground.told({chunk_size * (here - reach) - 1, 0, 0}));
  CHECK(ground.take(BlockEdits{1, 1, {-1, 0, 0}, all}) == nullptr);
}

TEST_CASE("a refused act is taken back, one that was done gives way to the server's word",
          "[client][edited_ground]") {
  EditedGround ground;
  ground.foresee({5, block, BlockId::glass});
  CHECK(ground.changed(block) == BlockId::glass);
  Chunk chunk;
  ground.apply({0, 0, 0}, chunk);
  CHECK(chunk.block(block) == BlockId::glass);
  ground.take(ActAnswer{5, ActVerdict::progress, block});
  CHECK(ground.changed(block) == BlockId::glass);
  SECTION("refused") {
    ground.take(ActAnswer{5, ActVerdict::body_in_the_way, block});
    CHECK_FALSE(ground.changed(block).has_value());
  }
  SECTION("done") {
    ground.take(Told(BlockId::glass).edits());
    ground.take(ActAnswer{5, ActVerdict::done, block});
    CHECK(ground.changed(block) == BlockId::glass);
    CHECK(ground.foreseen().empty());
  }
  SECTION("somebody was faster: what the server told comes out from under it") {
    ground.take(Told(BlockId::wood).edits());
    CHECK(ground.changed(block) == BlockId::glass);
    ground.take(ActAnswer{5, ActVerdict::occupied, block});
    CHECK(ground.changed(block) == BlockId::wood);
  }
  SECTION("a later act of one's own lies above") {
    ground.foresee({6, block, BlockId::air});
    CHECK(ground.changed(block) == BlockId::air);
    ground.take(ActAnswer{5, ActVerdict::out_of_reach, block});
    CHECK(ground.changed(block) == BlockId::air);
    ground.take(ActAnswer{6, ActVerdict::nothing_there, block});
    CHECK_FALSE(ground.changed(block).has_value());
  }
  SECTION("the session ended") {
    ground.give_up_foreseen();
    CHECK_FALSE(ground.changed(block).has_value());
  }
  CHECK_FALSE(ground.take_touched()->empty());
}
