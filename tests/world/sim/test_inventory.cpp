#include <map>

#include "tests/catch.h"
#include "world/math/random.h"
#include "world/sim/inventory.h"

using namespace ashlar;

TEST_CASE("items go onto stacks of their kind first, then into empty slots", "[world][inventory]") {
  Inventory held;
  held.slots[5] = {BlockId::dirt, 60};
  CHECK(held.add({BlockId::dirt, 10}) == 0);
  CHECK(held.slots[5] == ItemStack{BlockId::dirt, 64});
  CHECK(held.slots[0] == ItemStack{BlockId::dirt, 6});
  CHECK(held.add({BlockId::sand, 1}) == 0);
  CHECK(held.slots[1] == ItemStack{BlockId::sand, 1});
  CHECK(held.take(BlockId::dirt, 65) == 65);  // out of the last slots first
  CHECK(held.slots[5].empty());
  CHECK(held.slots[0] == ItemStack{BlockId::dirt, 5});
  CHECK(held.take(BlockId::dirt, 9) == 5);
  CHECK(held.take(BlockId::brick, 1) == 0);
  CHECK(held.count() == 1);
}

TEST_CASE("whatever goes in and out, an inventory is sane and nothing is lost or doubled",
          "[world][inventory]") {
  Rng rng{GENERATE(1u, 2u, 3u)};
  Inventory held;
  std::map<BlockId, std::uint32_t> truth;
  bool was_full = false;
  for (int i = 0; i < 3000; ++i) {
    const auto kind = static_cast<BlockId>(1 + rng.below(60));
    const auto count = static_cast<std::uint16_t>(1 + rng.below(stack_items_max));
    if (rng.below(5) < 3) {
      const std::uint16_t left = held.add({kind, count});
      was_full = was_full || left > 0;
      truth[kind] += count - left;
      // What found no room had none: no empty slot and no stack of its kind with room.
      if (left > 0)
        for (const ItemStack& slot : held.slots)
          CHECK((!slot.empty() && (slot.kind != kind || slot.count == stack_items_max)));
    } else {
      truth[kind] -= held.take(kind, count);
    }
    REQUIRE(sane(held));
    REQUIRE(held.count(kind) == truth[kind]);
  }
  CHECK(was_full);
  std::uint32_t sum = 0;
  for (const auto& [kind, count] : truth) sum += count;
  CHECK(held.count() == sum);
}

TEST_CASE("what is no inventory of a world is told from one", "[world][inventory]") {
  Inventory held;
  CHECK(sane(held));
  SECTION("too many") { held.slots[0] = {BlockId::dirt, 65}; }
  SECTION("air") { held.slots[0] = {BlockId::air, 1}; }
  SECTION("none of a kind") { held.slots[0] = {BlockId::dirt, 0}; }
  SECTION("a kind that no world has") { held.slots[0] = {static_cast<BlockId>(256), 1}; }
  if (held != Inventory{}) CHECK_FALSE(sane(held));
}
