// What a game may do to blocks.
#include "tests/catch.h"

#include <functional>
#include "world/sim/block_acts.h"
#include "world/sim/dropped_items.h"
#include "world/sim/game.h"
#include "world/sim/ground_edits.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

using namespace ashlar;

namespace {

/// Does once what it is told in tick(), or in edited().
struct Editor final : Game {
  void tick(GameApi& api) override {
    if (auto now = std::exchange(todo, {})) now(api);
  }
  void edited(GameApi& api, EntityId, IVec3 block) override {
    if (on_edit) on_edit(api, block);
  }
  std::function<void(GameApi&)> todo;
  std::function<void(GameApi&, IVec3)> on_edit;
};

constexpr std::int32_t top = flat_surface_m;  // the lowest block of air

struct Site {
  explicit Site(const std::function<void(WorldSetup&)>& more = {}) {
    WorldSetup setup;
    setup.terrain = TerrainKind::flat;
    setup.monsters = 0;
    setup.players_max = setup.monsters_max = 4;
    setup.game = [this] {
      auto made = std::make_unique<Editor>();
      editor = made.get();
      return made;
    };
    if (more) more(setup);
    world = std::make_unique<World>(setup);
    const std::uint32_t token = 1;
    TickInput input;
    input.joins = {&token, 1};
    world->step(input);
    player = world->joined()[0].id;
  }
  template <typename Body>
  auto ask(const Body& body) {
    decltype(body(std::declval<GameApi&>())) result{};
    editor->todo = [&](GameApi& api) { result = body(api); };
    world->step({});
    return result;
  }
  BlockId block(IVec3 at) const { return world->space().voxels->block(at); }

  Editor* editor = nullptr;
  std::unique_ptr<World> world;
  EntityId player{};
};

}  // namespace

TEST_CASE("a game sets a block, and is told why not", "[world][sim][game_edits]") {
  Site site;
  const IVec3 at{20, 3, top + 2};
  CHECK(site.ask([&](GameApi& api) { return api.set_block(at, BlockId::brick, site.player); }) ==
        GameEdit::done);
  CHECK(site.block(at) == BlockId::brick);
  REQUIRE(site.world->applied_edits().size() == 1);
  CHECK(site.world->applied_edits()[0] == AppliedEdit{at, BlockId::air, BlockId::brick, site.player});
  const auto set = [&](IVec3 where, BlockId id) {
    return site.ask([&](GameApi& api) { return api.set_block(where, id); });
  };
  CHECK(set({1 << 21, 0, 0}, BlockId::brick) == GameEdit::out_of_bounds);
  CHECK(set(at, BlockId{200}) == GameEdit::unknown_block);
  CHECK(set({100'000, 0, top}, BlockId::brick) == GameEdit::not_loaded);
  CHECK(site.world->applied_edits().empty());
}

TEST_CASE("a game has 4096 blocks a tick, in boxes, lists and spheres", "[world][sim][game_edits]") {
  Site site;
  const BlockBox box{{16, -8, top + 1}, {32, 8, top + 17}};
  struct Both {
    GameEdits first, second;
    GameEdit third{};
  };
  const Both both = site.ask([&](GameApi& api) {
    return Both{api.fill_blocks(box, BlockId::brick), api.blast({24, 0, top + 8.0}, 1),
                api.set_block({}, {})};
  });
  CHECK(both.first == GameEdits{GameEdit::done, 4096, 0});
  CHECK(both.second == GameEdits{GameEdit::too_many, 0, 0});
  CHECK(both.third == GameEdit::too_many);
  CHECK(site.world->applied_edits().size() == 4096);
  CHECK(site.block({31, 7, top + 16}) == BlockId::brick);
  // The next tick has its own.
  const GameEdits gone = site.ask([&](GameApi& api) { return api.blast({24, 0, top + 8.0}, 3); });
  CHECK(gone.verdict == GameEdit::done);
  CHECK(gone.done == site.world->applied_edits().size());
  CHECK((gone.done > 80 && gone.done < 150));
  CHECK(site.block({24, 0, top + 8}) == BlockId::air);

  const BlockEdit list[] = {{{16, 0, top + 30}, BlockId::glass},
                            {{1 << 21, 0, 0}, BlockId::glass},
                            {{17, 0, top + 30}, BlockId{200}},
                            {{18, 0, top + 30}, BlockId::glass}};
  CHECK(site.ask([&](GameApi& api) { return api.set_blocks(list); }) ==
        GameEdits{GameEdit::out_of_bounds, 2, 2});
  CHECK(site.block({18, 0, top + 30}) == BlockId::glass);
  const auto fill = [&](const BlockBox& what) {
    return site.ask([&](GameApi& api) { return api.fill_blocks(what, BlockId::air); }).verdict;
  };
  CHECK(fill({{16, -8, top + 1}, {32, 8, top + 18}}) == GameEdit::too_many);
  CHECK(fill({{5, 5, 5}, {5, 6, 6}}) == GameEdit::too_many);
  CHECK(fill({{-(1 << 21), 0, 0}, {0, 1, 1}}) == GameEdit::out_of_bounds);
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(site.ask([&](GameApi& api) { return api.blast({0, 0, 0}, nan); }).verdict == GameEdit::out_of_bounds);
  CHECK(site.ask([&](GameApi& api) { return api.blast({nan, 0, 0}, 1); }).verdict == GameEdit::out_of_bounds);
}

TEST_CASE("a game's change behind all else of a tick lets sand fall, spills chests and tells no end of edits",
          "[world][sim][game_edits]") {
  // The hook runs when the tick's sand has fallen and its spilled items lie.
  Site site([](WorldSetup& s) { s.rules.free_blocks = FreeBlocks::no; });
  const IVec3 sand{20, 0, top + 6}, foot{20, 0, top + 5}, chest{22, 0, top};
  AdminCommand held{.action = AdminAction::fill_block, .box = {chest, chest + IVec3{1, 1, 1}}};
  held.data.items.add({BlockId::brick, 5});
  const AdminCommand first[] = {
      {.action = AdminAction::fill_box, .box = {foot, foot + IVec3{1, 1, 1}}, .id = BlockId::stone},
      {.action = AdminAction::fill_box, .box = {sand, sand + IVec3{1, 1, 1}}, .id = BlockId::sand},
      {.action = AdminAction::fill_box,
       .box = {chest, chest + IVec3{1, 1, 1}},
       .id = *BlockRegistry::builtin().find("chest")},
      held};
  TickInput input;
  input.admin = first;
  site.world->step(input);
  REQUIRE(site.world->contents().item_count() == 5);
  int told = 0;
  site.editor->on_edit = [&](GameApi& api, IVec3) {
    ++told;
    api.set_block(foot, BlockId::air, site.player);
    api.set_block(chest, BlockId::air, site.player);
  };
  site.ask([&](GameApi& api) { return api.set_block({25, 0, top + 3}, BlockId::brick, site.player); });
  CHECK(told == 1);
  CHECK(site.world->contents().item_count() == 0);
  std::uint32_t lying = 0;
  const ItemTable& items = site.world->items().table();
  for (std::size_t i = 0; i < items.rows(); ++i)
    if (items.id[i] != EntityId{0}) lying += items.stack[i].count;
  CHECK(lying == 5);
  site.editor->on_edit = {};
  for (int i = 0; i < 60; ++i) site.world->step({});
  CHECK(site.block(sand) == BlockId::air);
  CHECK(site.block({20, 0, top}) == BlockId::sand);
}
