// Treasures: what they hold is of the secret seed, and comes into the world once.
#include "world/sim/loot.h"

#include "tests/catch.h"
#include "tests/world/sim/builders.h"
#include "world/sim/dropped_items.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

const BlockId treasure = BlockRegistry::builtin().treasure();
const BlockId chest_kind = *BlockRegistry::builtin().find("chest");
constexpr IVec3 hoard{10, 8, 4};
constexpr std::uint64_t secret = 7;

BlockId hoard_yard(IVec3 b) { return b == hoard ? treasure : Builders::plain(b); }

/// Who stands before a treasure.
struct HoardYard : Builders {
  explicit HoardYard(const std::vector<ProtectedZone>& zones = {})
      : Builders(1, hoard_yard, hoard_rules(), 0, [&zones](WorldSetup& s) {
          s.secret = secret;
          s.zones = zones;
        }) {
    put(0, {8.5, 8.5, 4});
    rest();
    look(0, {10, 8.5, 4.5});
    step();
  }
  static Rules hoard_rules() {
    Rules rules;
    rules.free_blocks = FreeBlocks::no;
    return rules;
  }
  ActVerdict open() { return verdict_of(act(0, BlockActKind::open, hoard, BlockFace::west)); }
  BlockId there() const { return world->space().voxels->block(hoard); }
  std::uint64_t lying() const {
    std::uint64_t sum = 0;
    for (const ItemStack& stack : world->items().table().stack) sum += stack.count;
    return sum;
  }
  const ItemCounters& books() const { return world->items().counters(); }
};

BlockData hoarded() { return loot_of(BlockRegistry::builtin(), secret, hoard); }

}  // namespace

TEST_CASE("loot is a function of secret and place, never nothing, and the deeper the rarer",
          "[world][loot]") {
  const BlockRegistry& kinds = BlockRegistry::builtin();
  CHECK(loot_of(kinds, 1, {4, 5, -6}) == loot_of(kinds, 1, {4, 5, -6}));
  CHECK_FALSE(loot_of(kinds, 1, {4, 5, -6}) == loot_of(kinds, 2, {4, 5, -6}));
  std::uint32_t high = 0, deep = 0;
  int differ = 0;
  for (std::int32_t x = 0; x < 500; ++x) {
    const BlockData above = loot_of(kinds, 3, {x, -x, 40}), below = loot_of(kinds, 3, {x, -x, -80});
    for (const BlockData& one : {above, below}) {
      REQUIRE(sane(one.items));
      REQUIRE_FALSE(one.items.empty());
      REQUIRE(fits(kinds.type(chest_kind), one));
    }
    high += above.items.count(BlockId::crystal_ore) + above.items.count(BlockId::gold_ore);
    deep += below.items.count(BlockId::crystal_ore) + below.items.count(BlockId::gold_ore);
    differ += above == loot_of(kinds, 3, {x + 1, -x, 40}) ? 0 : 1;
  }
  CHECK(deep > 2 * high);
  CHECK(differ > 480);
}

TEST_CASE("a treasure that is opened is a chest with its loot, once", "[world][loot]") {
  HoardYard y;
  const std::uint64_t brought = y.books().brought;
  REQUIRE(y.open() == ActVerdict::done);
  CHECK(y.there() == chest_kind);
  REQUIRE(y.world->contents().find(hoard) != nullptr);
  CHECK(*y.world->contents().find(hoard) == hoarded());
  CHECK(y.books().brought == brought + hoarded().items.count());
  CHECK(y.world->block_acts().opened(0) == hoard);
  // All of it is taken; the empty chest fills no more.
  for (const ItemStack& stack : hoarded().items.slots) {
    if (stack.empty()) continue;
    BlockAct take = y.act(0, BlockActKind::take, hoard, BlockFace{}, stack.kind);
    take.count = static_cast<std::uint8_t>(stack.count);
    CHECK(y.verdict_of(take) == ActVerdict::done);
  }
  CHECK(y.world->players().inventory[0].count() == hoarded().items.count());
  CHECK(y.open() == ActVerdict::done);
  CHECK(y.world->contents().find(hoard) == nullptr);
  CHECK(y.books().brought == brought + hoarded().items.count());
}

TEST_CASE("a treasure that is taken away leaves chest and loot, an explosion the loot", "[world][loot]") {
  HoardYard y;
  const std::uint64_t brought = y.books().brought;
  const bool blast = GENERATE(false, true);
  CAPTURE(blast);
  if (blast) {
    AdminCommand boom;
    boom.action = AdminAction::blast;
    boom.position_m = {10.5, 8.5, 4.5};
    boom.radius_m = 1;
    y.step_admin(boom);
  } else {
    const BlockAct dig = y.act(0, BlockActKind::dig, hoard, BlockFace::west);
    y.step(std::span(&dig, 1));
    for (int i = 0; i < 600 && y.there() == treasure; ++i) y.step();
  }
  REQUIRE(y.there() == BlockId::air);
  y.step();
  const std::uint64_t held = y.world->players().inventory[0].count();
  CHECK(y.lying() + held == hoarded().items.count() + (blast ? 0 : 1));
  CHECK(y.books().brought == brought + hoarded().items.count());
}

TEST_CASE("what players may not change they may not open either, and they place no treasures",
          "[world][loot]") {
  HoardYard y({{{{9, 7, 3}, {12, 10, 6}}, "vault"}});
  CHECK(y.open() == ActVerdict::protected_zone);
  CHECK(y.there() == treasure);
  CHECK(y.world->contents().size() == 0);
  BlockAct place = y.act(0, BlockActKind::place, {8, 8, 3}, BlockFace::top, treasure);
  CHECK(y.verdict_of(place) == ActVerdict::unknown_block);
}
