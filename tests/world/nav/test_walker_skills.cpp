// What a kind can do by its data is what its ways lead through.

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "tests/catch.h"
#include "tests/world/nav/block_hunt.h"
#include "tests/world/nav/map_hunt.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

std::shared_ptr<const KindSet> kinds_with(const std::function<void(MonsterTraits&)>& change) {
  KindSet kinds = default_kinds();
  change(kinds.monsters[static_cast<std::size_t>(MonsterKind::imp)]);
  return std::make_shared<const KindSet>(std::move(kinds));
}

}  // namespace

TEST_CASE("a kind that opens no doors has no way through one that is shut, others have",
          "[world][nav][walker_skills]") {
  for (const bool opens : {true, false}) {
    CAPTURE(opens);
    // A door line is between the second room and the shut third one.
    MovingWorld w(row_of_rooms({{0, 128}, {0, 128}, {0, 0}, {0, 128}}, {{}, {1}, {1, 0, true}}));
    w.monsters.kinds = kinds_with([&](MonsterTraits& kind) { kind.opens_doors = opens ? 1 : 0; });
    MapHunt hunt(w);
    w.add_player(w.at(450, 128, 0));
    const std::size_t row = hunt.add(MonsterKind::imp, w.at(60, 128, 0));
    bool way = false;
    for (int t = 0; t < 60 && !way; ++t) {
      hunt.step();
      way = hunt.navigation.way(w.space(), w.players, w.monsters, row).has_value();
    }
    CHECK(way == opens);
    CHECK((hunt.comes_within(row, 20) >= 0) == opens);
  }
}

TEST_CASE("a kind that minds a drop goes round by what is lower", "[world][nav][walker_skills]") {
  for (const bool minds : {false, true}) {
    CAPTURE(minds);
    // A terrace of four blocks in the west, and steps down from it 22 m aside.
    BlockHunt hunt(1, [](IVec3 b) {
      const std::int32_t height = b.x < 0 ? 4 : b.y >= 20 && b.y < 26 ? 3 - b.x / 2 : 0;
      return b.z < std::max(0, height);
    });
    hunt.arena.monsters.kinds = kinds_with([&](MonsterTraits& kind) { kind.drop_m = minds ? 1 : 64; });
    hunt.player({10, 0, 0});
    const std::size_t row = hunt.add(MonsterKind::imp, {-10, 0, 4});
    double deepest_m = 0, before_m = 4;
    double s = -1;
    for (int t = 0; t < 60 * 60 && s < 0; ++t) {
      hunt.step();
      const Body& body = hunt.arena.monsters.body[row];
      if (body.grounded != 0) deepest_m = std::max(deepest_m, before_m - body.position_m.z);
      if (body.grounded != 0) before_m = body.position_m.z;
      if (hunt.beside(row)) s = t / 60.0;
    }
    CAPTURE(s, deepest_m);
    CHECK(s >= (minds ? 15 : 4));
    CHECK(s < (minds ? 40 : 12));
    CHECK((deepest_m > 1.1) == !minds);
  }
}

TEST_CASE("a kind that leaps a block up has a way onto one, others have none",
          "[world][nav][walker_skills]") {
  for (const bool leaps : {false, true}) {
    CAPTURE(leaps);
    BlockHunt hunt(1, [](IVec3 b) { return b.z < 0 || (b.z == 0 && b.x >= 4); });
    hunt.arena.monsters.kinds = kinds_with([&](MonsterTraits& kind) { kind.jump_m = leaps ? 1 : 0; });
    hunt.player({12, 0, 1});
    const std::size_t row = hunt.add(MonsterKind::imp, {-6, 0, 0});
    CHECK((hunt.comes_within(row, 20) >= 0) == leaps);
  }
}
