#include "client_sim/simulation/ground_memo.h"

#include "tests/catch.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::simulation;

TEST_CASE("remembered ground is what is generated, and a copy of its own", "[simulation][ground_memo]") {
  GroundMemo memo;
  const Terrain terrain{7, {{{0, 0, 0}, {20, 20, 30}}}};
  for (int z = -2; z < 3; ++z) {
    const ChunkCoord at{0, -1, z};
    const auto wanted = generate_chunk(terrain, at);
    const auto first = memo.make(terrain, at);
    CHECK(first->content_hash() == wanted->content_hash());
    first->set_block({1, 2, 3}, first->block({1, 2, 3}) == BlockId::air ? BlockId::stone : BlockId::air);
    const auto second = memo.make(terrain, at);
    CHECK(second->content_hash() == wanted->content_hash());
    CHECK(second->solid() == wanted->solid());
  }
  CHECK(memo.chunk_count() == 5);
}

TEST_CASE("a world of remembered ground is the world of generated ground", "[simulation][ground_memo]") {
  WorldSetup setup;
  setup.seed = 9;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 20;
  const World plain(setup);
  const auto memo = std::make_shared<GroundMemo>();
  setup.make_chunk = [memo](const Terrain& terrain, ChunkCoord at) { return memo->make(terrain, at); };
  for (int i = 0; i < 2; ++i) CHECK(World(setup).hash() == plain.hash());
  CHECK(memo->chunk_count() > 100);
}
