#include "world/voxel/block_registry.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "world/math/assert.h"
#include "world/math/hash.h"

namespace ashlar {
namespace {

std::vector<BlockType> builtin_types() {
  using enum BlockId;
  constexpr bool solid = true;
  // In the order of BlockId. Seconds by hand: soft ground half a second, wood one, stone two.
  return {
      {"air", !solid, 0, air},
      {"stone", solid, 2, stone},
      {"dirt", solid, 0.5, dirt},
      {"grass", solid, 0.5, dirt},
      {"sand", solid, 0.4, sand},
      {"gravel", solid, 0.6, gravel},
      {"wood", solid, 1, wood},
      {"leaves", solid, 0.2, air},
      {"brick", solid, 2, brick},
      {"glass", solid, 0.3, air},
      {"water", !solid, -1, air},
      {"snow", solid, 0.2, snow},
      {"clay", solid, 0.6, clay},
      {"sandstone", solid, 1.2, sandstone},
      {"pine_wood", solid, 1, pine_wood},
      {"pine_needles", solid, 0.2, air},
      {"birch_wood", solid, 1, birch_wood},
      {"birch_leaves", solid, 0.2, air},
      {"coal_ore", solid, 2.5, coal_ore},
      {"iron_ore", solid, 3, iron_ore},
      {"gold_ore", solid, 3, gold_ore},
      {"crystal_ore", solid, 4, crystal_ore},
  };
}

}  // namespace

BlockRegistry::BlockRegistry(std::vector<BlockType> types) : types_(std::move(types)) {
  ASHLAR_ASSERT(!types_.empty());
  ASHLAR_ASSERT(types_.size() <= block_id_count);  // chunks hold no others
  Hasher hasher;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const BlockType& type = types_[i];
    ASHLAR_ASSERT(!type.name.empty());
    ASHLAR_ASSERT(type.solid == is_solid(static_cast<BlockId>(i)));
    ASHLAR_ASSERT(std::isfinite(type.hardness_s));
    ASHLAR_ASSERT(knows(type.drops));
    hasher.add_bytes({reinterpret_cast<const std::uint8_t*>(type.name.data()), type.name.size()});
    hasher.add(static_cast<std::uint64_t>(type.solid ? 1 : 0) | static_cast<std::uint64_t>(type.drops) << 16);
    hasher.add(type.hardness_s);
    by_name_.push_back(static_cast<BlockId>(i));
  }
  hash_ = hasher.value();
  const auto name_of = [this](BlockId id) -> std::string_view { return type(id).name; };
  std::ranges::sort(by_name_, {}, name_of);
  ASHLAR_ASSERT(std::ranges::adjacent_find(by_name_, {}, name_of) == by_name_.end());
}

const BlockRegistry& BlockRegistry::builtin() {
  static const BlockRegistry all(builtin_types());
  return all;
}

std::optional<BlockId> BlockRegistry::find(std::string_view name) const {
  const auto name_of = [this](BlockId id) -> std::string_view { return type(id).name; };
  const auto at = std::ranges::lower_bound(by_name_, name, {}, name_of);
  if (at == by_name_.end() || name_of(*at) != name) return std::nullopt;
  return *at;
}

}  // namespace ashlar
