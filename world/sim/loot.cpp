#include "world/sim/loot.h"

#include <algorithm>
#include <array>

#include "world/math/assert.h"
#include "world/math/random.h"

namespace ashlar {
namespace {

struct Find {
  BlockId kind;
  std::uint32_t least, most;
  std::uint32_t of_100;       // treasures that hold some, at the height of the sea
  std::uint32_t deep_of_100;  // and at deep_m and below
};
constexpr std::array<Find, 6> finds{{{BlockId::iron_ore, 4, 16, 100, 100},
                                     {BlockId::coal_ore, 6, 24, 60, 30},
                                     {BlockId::gold_ore, 2, 9, 25, 75},
                                     {BlockId::crystal_ore, 1, 4, 8, 50},
                                     {BlockId::lamp, 1, 6, 50, 50},
                                     {BlockId::ladder, 3, 12, 50, 40}}};
constexpr std::uint32_t charges_of_100 = 35, charges_most = 3;
constexpr std::uint32_t tool_of_100 = 40;
constexpr std::int32_t deep_m = -64;

/// Between the two shares, by depth.
std::uint32_t share(const Find& find, std::int32_t z) {
  const std::int32_t depth = std::clamp(-z, 0, -deep_m);
  const auto at = [](std::uint32_t of_100) { return static_cast<std::int32_t>(of_100); };
  return static_cast<std::uint32_t>(at(find.of_100) +
                                    (at(find.deep_of_100) - at(find.of_100)) * depth / -deep_m);
}

}  // namespace

BlockData loot_of(const BlockRegistry& kinds, std::uint64_t secret, IVec3 block) {
  constexpr std::uint64_t loot_stream = 0x6c6f6f74;
  const auto bits = [](std::int32_t v) { return std::uint64_t{static_cast<std::uint32_t>(v)}; };
  Rng rng = rng_for(secret, loot_stream ^ bits(block.z) << 32, bits(block.x) << 32 | bits(block.y));
  BlockData out;
  for (const Find& find : finds) {
    const bool some = rng.below(100) < share(find, block.z);
    const std::uint32_t count = find.least + rng.below(find.most - find.least + 1);
    if (some) out.items.add({find.kind, static_cast<std::uint16_t>(count)});
  }
  const bool charges = rng.below(100) < charges_of_100;
  const std::uint32_t count = 1 + rng.below(charges_most);
  if (const auto charge = kinds.find("charge"); charge && charges)
    out.items.add({*charge, static_cast<std::uint16_t>(count)});
  const bool tool = rng.below(100) < tool_of_100;
  const auto which = static_cast<Tool>(1 + rng.below(tool_count - 1));
  if (const auto kind = kinds.find(name(which)); kind && tool) out.items.add({*kind, 1});
  ASHLAR_ASSERT(!out.items.empty());
  return out;
}

}  // namespace ashlar
