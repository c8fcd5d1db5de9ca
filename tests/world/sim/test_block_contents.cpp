// Chests and signs: opened, filled and emptied by acts, spilled by whatever takes them away; and nothing is
// lost or doubled by any of it.
#include "tests/catch.h"
#include "tests/world/sim/builders.h"
#include "world/math/random.h"
#include "world/sim/block_contents.h"
#include "world/sim/dropped_items.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr auto opening = BlockActKind::open, closing = BlockActKind::close, taking = BlockActKind::take,
               putting = BlockActKind::put, writing = BlockActKind::write;
const BlockId chest = *BlockRegistry::builtin().find("chest");
const BlockId sign = *BlockRegistry::builtin().find("sign");
constexpr IVec3 chest_at{10, 8, 4}, other_chest{10, 9, 4}, sign_at{9, 10, 4}, far_chest{20, 8, 4};

BlockId chest_yard(IVec3 b) {
  if (b == chest_at || b == other_chest || b == far_chest) return chest;
  return b == sign_at ? sign : Builders::plain(b);
}

/// Players who stand among two chests and a sign, another chest out of reach.
struct ChestYard : Builders {
  explicit ChestYard(std::uint32_t players = 1, Rules rules = chest_rules())
      : Builders(players, chest_yard, rules) {
    for (std::size_t i = 0; i < players; ++i) put(i, {8.5, 8.0 + 1.2 * static_cast<double>(i), 4});
    rest();
  }
  static Rules chest_rules() {
    Rules rules;
    rules.free_blocks = FreeBlocks::no;
    rules.block_interval_s = 0.05;
    return rules;
  }
  const Inventory& held(std::size_t who = 0) const { return world->players().inventory[who]; }
  const BlockData* in(IVec3 block) const { return world->contents().find(block); }
  void give(BlockId kind, std::uint16_t count, std::size_t who = 0) {
    AdminCommand gift;
    gift.action = AdminAction::give, gift.player = ids[who], gift.id = kind, gift.count = count;
    step_admin(gift);
  }
  BlockAct move(BlockActKind kind, IVec3 block, BlockId item, std::uint8_t count, std::size_t who = 0) {
    BlockAct made = act(who, kind, block, BlockFace{}, item);
    made.count = count;
    return made;
  }
  BlockAct text(const char* said, IVec3 block = sign_at) {
    BlockAct made = act(0, writing, block, BlockFace::south, BlockId::air);
    made.text = SignText::of(said);
    return made;
  }
  ActVerdict open(IVec3 block, BlockFace face = BlockFace::west, std::size_t who = 0) {
    look(who, block_middle(block) + 0.5 * to_dvec3(normal_of(face)));
    step();
    return verdict_of(act(who, opening, block, face));
  }
};

std::uint64_t chests_and_all(const World& world) {
  std::uint64_t sum = world.contents().item_count();
  for (std::size_t i = 0; i < world.players().rows(); ++i)
    if (world.players().id[i] != EntityId{0}) sum += world.players().inventory[i].count();
  for (const ItemStack& stack : world.items().table().stack) sum += stack.count;
  return sum;
}

void check_chest_books(const World& world) {
  const ItemCounters& c = world.items().counters();
  REQUIRE(c.dug + c.brought == chests_and_all(world) + c.placed + c.gone + c.taken_away);
}

}  // namespace

TEST_CASE("a player opens a chest, puts items in and takes them out", "[world][block_contents]") {
  ChestYard y;
  y.give(BlockId::clay, 70);
  CHECK(y.held().count(BlockId::clay) == 70);
  CHECK(y.verdict_of(y.move(putting, chest_at, BlockId::clay, 5)) == ActVerdict::not_open);
  REQUIRE(y.open(chest_at) == ActVerdict::done);
  CHECK(y.world->block_acts().opened(0) == chest_at);
  const std::uint64_t before = y.world->hash();
  CHECK(y.verdict_of(y.move(putting, chest_at, BlockId::clay, 60)) == ActVerdict::done);
  CHECK(y.world->hash() != before);
  REQUIRE(y.world->contents().applied().size() == 1);
  CHECK(y.world->contents().applied()[0].who == y.ids[0]);
  CHECK(y.verdict_of(y.move(putting, chest_at, BlockId::clay, 60)) ==
        ActVerdict::done);  // the ten that are left
  CHECK(y.held().empty());
  REQUIRE(y.in(chest_at) != nullptr);
  CHECK(y.in(chest_at)->items.count(BlockId::clay) == 70);
  CHECK(y.verdict_of(y.move(putting, chest_at, BlockId::clay, 1)) == ActVerdict::no_blocks);
  CHECK(y.verdict_of(y.move(taking, chest_at, BlockId::sand, 1)) == ActVerdict::no_blocks);
  CHECK(y.verdict_of(y.move(taking, other_chest, BlockId::clay, 1)) == ActVerdict::not_open);
  CHECK(y.verdict_of(y.move(taking, chest_at, BlockId::clay, 64)) == ActVerdict::done);
  CHECK(y.held().count(BlockId::clay) == 64);
  check_chest_books(*y.world);
  CHECK(y.verdict_of(y.act(0, closing, {})) == ActVerdict::done);
  CHECK_FALSE(y.world->block_acts().opened(0).has_value());
  CHECK(y.verdict_of(y.move(taking, chest_at, BlockId::clay, 1)) == ActVerdict::not_open);
}

TEST_CASE("a chest opens to who reaches and sees it, and closes to who goes away",
          "[world][block_contents]") {
  ChestYard y;
  CHECK(y.open(far_chest) == ActVerdict::out_of_reach);
  CHECK(y.open({9, 8, 3}, BlockFace::top) == ActVerdict::holds_none);
  CHECK(y.open(sign_at, BlockFace::south) == ActVerdict::holds_none);
  CHECK(y.open(chest_at, BlockFace::east) == ActVerdict::no_sight);
  CHECK_FALSE(y.world->block_acts().opened(0).has_value());
  REQUIRE(y.open(chest_at) == ActVerdict::done);
  y.put(0, {30.5, 30.5, 4});
  y.step();
  CHECK_FALSE(y.world->block_acts().opened(0).has_value());
}

TEST_CASE("a chest that is full takes no more, and a full player takes none", "[world][block_contents]") {
  ChestYard y;
  REQUIRE(y.open(chest_at) == ActVerdict::done);
  for (int i = 0; i < 27; ++i) {
    y.give(BlockId::clay, 64);
    REQUIRE(y.verdict_of(y.move(putting, chest_at, BlockId::clay, 64)) == ActVerdict::done);
  }
  y.give(BlockId::clay, 64);
  CHECK(y.verdict_of(y.move(putting, chest_at, BlockId::clay, 64)) == ActVerdict::no_room);
  CHECK(y.held().count() == 64);
  y.give(BlockId::sand, 64 * 40);  // of which 35 stacks have room
  CHECK(y.held().count() == 64 * 36);
  CHECK(y.verdict_of(y.move(taking, chest_at, BlockId::clay, 64)) == ActVerdict::no_room);
  check_chest_books(*y.world);
}

TEST_CASE("whatever takes a chest away has its items lie there", "[world][block_contents]") {
  ChestYard y;
  y.give(BlockId::clay, 70);
  REQUIRE(y.open(chest_at) == ActVerdict::done);
  REQUIRE(y.verdict_of(y.move(putting, chest_at, BlockId::clay, 64)) == ActVerdict::done);
  SECTION("digging") {
    REQUIRE(y.verdict_of(y.act(0, BlockActKind::dig, chest_at, BlockFace::west)) == ActVerdict::progress);
    for (int i = 0; i < 600 && y.block(chest_at) == chest; ++i) y.step();
  }
  SECTION("an operator") {
    AdminCommand fill;
    fill.action = AdminAction::fill_box;
    fill.box = {chest_at, chest_at + IVec3{1, 1, 1}};
    fill.id = GENERATE(BlockId::air, BlockId::stone, sign);
    y.step_admin(fill);
  }
  SECTION("a blast") {
    AdminCommand blast;
    blast.action = AdminAction::blast;
    blast.position_m = to_dvec3(chest_at);
    blast.radius_m = 1.5;
    y.step_admin(blast);
  }
  CHECK(y.block(chest_at) != chest);
  CHECK(y.in(chest_at) == nullptr);
  CHECK(y.world->contents().size() == 0);
  std::uint64_t lying = 0;
  for (const ItemStack& stack : y.world->items().table().stack)
    if (stack.kind == BlockId::clay) lying += stack.count;
  CHECK(lying == 64);
  y.step();
  CHECK_FALSE(y.world->block_acts().opened(0).has_value());
  check_chest_books(*y.world);
}

TEST_CASE("a sign holds what was written last", "[world][block_contents]") {
  ChestYard y;
  y.look(0, to_dvec3(sign_at) + DVec3{0.5, 0.4, 0.5});
  y.rest();
  REQUIRE(y.verdict_of(y.text("to the mine")) == ActVerdict::done);
  REQUIRE(y.in(sign_at) != nullptr);
  CHECK(y.in(sign_at)->text.view() == "to the mine");
  CHECK(y.verdict_of(y.text("too soon")) == ActVerdict::cooling_down);
  y.rest();
  CHECK(y.verdict_of(y.text("a chest is no sign", chest_at)) != ActVerdict::done);
  REQUIRE(y.verdict_of(y.text("")) == ActVerdict::done);
  CHECK(y.in(sign_at) == nullptr);
}

TEST_CASE("an operator fills a chest with what it can hold", "[world][block_contents]") {
  ChestYard y;
  AdminCommand fill;
  fill.action = AdminAction::fill_block;
  fill.box.min = chest_at;
  fill.data.items.slots[26] = {BlockId::clay, 5};
  y.step_admin(fill);
  REQUIRE(y.in(chest_at) != nullptr);
  CHECK(*y.in(chest_at) == fill.data);
  fill.data.items.slots[27] = {BlockId::clay, 5};  // beyond its slots
  y.step_admin(fill);
  CHECK(y.in(chest_at)->items.count() == 5);
  fill.data = {};
  fill.data.text = SignText::of("none");
  y.step_admin(fill);
  CHECK(y.in(chest_at)->items.count() == 5);
  fill.data = {};
  y.step_admin(fill);
  CHECK(y.in(chest_at) == nullptr);
  check_chest_books(*y.world);
}

TEST_CASE("what blocks held at a world's end they hold at its start", "[world][block_contents]") {
  ChestYard y;
  WorldSetup setup = y.setup;
  BlockData data;
  data.items.add({BlockId::clay, 9});
  setup.contents = {{chest_at, data}};
  World world(setup);
  world.step({});
  CHECK(world.contents().find(chest_at)->items.count() == 9);
  CHECK(world.items().counters().brought == 9);
  check_chest_books(world);
}

TEST_CASE("players who quarrel over chests neither lose nor double an item", "[world][block_contents]") {
  constexpr std::uint32_t players = 3;
  ChestYard y(players);
  Rng rng{GENERATE(1u, 2u, 3u)};
  for (std::size_t i = 0; i < players; ++i) y.give(BlockId::clay, 100, i), y.give(chest, 3, i);
  const IVec3 chests[] = {chest_at, other_chest};
  std::uint64_t moved = 0;
  for (int tick = 0; tick < 600; ++tick) {
    std::vector<BlockAct> acts;
    for (std::size_t who = 0; who < players; ++who) {
      const IVec3 at = chests[rng.below(2)];
      const std::uint32_t what = rng.below(8);
      const auto count = static_cast<std::uint8_t>(1 + rng.below(64));
      if (tick % 40 == 0) y.look(who, to_dvec3(at) + DVec3{0, 0.5, 0.5});
      if (what < 2) acts.push_back(y.act(who, opening, at, BlockFace::west));
      if (what == 2 || what == 3) acts.push_back(y.move(putting, at, BlockId::clay, count, who));
      if (what == 4 || what == 5) acts.push_back(y.move(taking, at, BlockId::clay, count, who));
      if (what == 6) acts.push_back(y.act(who, BlockActKind::dig, at, BlockFace::west));
      if (what == 7)
        acts.push_back(y.act(who, BlockActKind::place, at - IVec3{0, 0, 1}, BlockFace::top, chest));
    }
    if (tick % 100 == 99) {
      AdminCommand blast;
      blast.action = AdminAction::blast;
      blast.position_m = block_middle(chest_at);
      blast.radius_m = 0.6;
      y.step_admin(blast);
    }
    y.step(acts);
    moved += y.world->contents().applied().size();
    const ItemCounters& c = y.world->items().counters();
    REQUIRE(c.dug + c.brought == chests_and_all(*y.world) + c.placed + c.gone + c.taken_away);
  }
  CHECK(moved > 20);
}

TEST_CASE("whoever fills an area with things that hold something leaves room in all others",
          "[world][block_contents]") {
  BlockContents contents;
  BlockData data;
  data.text = SignText::of("mine");
  const auto fill = [&](std::int32_t area_x) {
    std::size_t count = 0;
    for (std::int32_t z = 0;; ++z)
      for (std::int32_t y = 0; y < BlockContents::area_m; ++y)
        for (std::int32_t x = 0; x < BlockContents::area_m; ++x) {
          const IVec3 block{area_x * BlockContents::area_m + x, y - 3 * BlockContents::area_m, z};
          if (!contents.has_room(block)) return count;
          contents.set(block, sign, data, EntityId{0});
          ++count;
        }
  };
  // A seventeenth of all, and the next one of what that leaves.
  const std::size_t one = fill(-1);
  CHECK(one == BlockContents::entries_max / 17 + 1);
  // What operators put back finds room all the same.
  const IVec3 beyond{-1, -300, 100};
  CHECK((!contents.has_room(beyond) && contents.fits_world(beyond)));
  contents.set(beyond, sign, data, EntityId{0});
  contents.set(beyond, sign, {}, EntityId{0});
  for (std::int32_t area = 0; area < 15; ++area) CHECK(fill(area) > one / 3);
  CHECK(contents.size() < BlockContents::entries_max * 2 / 3);
  for (std::int32_t area = 15; area < 63; ++area) CHECK(fill(area) > 0);
  const std::size_t full = contents.size();
  CHECK(full + 1000 < BlockContents::entries_max);
  CHECK(contents.has_room({80 * BlockContents::area_m, 0, 0}));
  // What is there goes on being changed, and what goes makes room.
  const IVec3 first{-BlockContents::area_m, -3 * BlockContents::area_m, 0};
  CHECK(contents.has_room(first));
  data.text = SignText::of("yours");
  contents.set(first, sign, data, EntityId{0});
  CHECK(contents.size() == full);
  // A world that was kept full begins as it was.
  std::vector<PlacedData> all;
  contents.each([&](IVec3 block, const BlockData& held) { all.push_back({block, held}); });
  BlockContents again;
  again.restore(all);
  CHECK(again.size() == full);
  CHECK_FALSE(again.has_room(first + IVec3{0, 0, 100}));
  for (const PlacedData& placed : all) contents.set(placed.block, sign, {}, EntityId{0});
  CHECK(contents.size() == 0);
  CHECK(fill(-1) == one);
}
