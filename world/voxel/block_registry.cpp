#include "world/voxel/block_registry.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "world/math/assert.h"
#include "world/math/hash.h"
#include "world/voxel/terrain.h"

namespace ashlar {
namespace {

using Hardness = std::array<double, tool_count>;

/// Seconds by hand of what a tool is for, and a quarter of it with that tool.
constexpr Hardness by(Tool tool, double hand_s) {
  Hardness all{hand_s, hand_s, hand_s, hand_s};
  all[static_cast<std::size_t>(tool)] = hand_s / 4;
  return all;
}

BlockType of(std::string name, const Hardness& hardness_s, BlockId drops) {
  BlockType type;
  type.name = std::move(name);
  type.hardness_s = hardness_s;
  type.drops = drops;
  return type;
}

BlockType shaped(BlockType type, std::string_view shape) {
  type.shape = *find_shape(shape);
  type.opaque = false;
  return type;
}

BlockType clear(BlockType type) {
  type.opaque = false;
  return type;
}

BlockType loose(BlockType type) {
  type.falls = true;
  return type;
}

// No terrain is made of these: they are found by name, and what they drop is settled where all kinds are.

BlockType chest_type() {
  BlockType type = of("chest", by(Tool::axe, 1), BlockId{block_id_count});
  type.slots = 27;
  return type;
}

BlockType sign_type() {
  BlockType type = shaped(of("sign", by(Tool::axe, 0.5), BlockId{block_id_count + 1}), "post");
  type.text = true;
  return type;
}

BlockType sapling_type() {
  BlockType type = shaped(of("sapling", by(Tool::axe, 0.2), BlockId{block_id_count + 2}), "post");
  type.timer_s = 300;
  type.becomes = BlockId::wood;
  return type;
}

BlockType charge_type() {
  BlockType type = of("charge", by(Tool::axe, 0.5), BlockId{block_id_count + 3});
  type.timer_s = 4;
  type.blast_m = 3;
  return type;
}

/// Put nowhere, so nothing of it as a block matters.
BlockType tool_type(Tool tool) {
  BlockType type = of(std::string(name(tool)), by(Tool::hand, 0), BlockId::air);
  type.tool = tool;
  return type;
}

constexpr std::string_view treasure_name = "treasure";

/// A chest that nobody opened yet.
BlockType treasure_type() {
  return of(std::string(treasure_name), by(Tool::axe, 1), BlockId{block_id_count});
}

std::vector<BlockType> builtin_types() {
  using enum BlockId;
  constexpr Hardness never_dug{-1, -1, -1, -1};
  const Hardness rock = by(Tool::pick, 2), soft = by(Tool::shovel, 0.5), timber = by(Tool::axe, 1);
  const Hardness foliage = by(Tool::axe, 0.2);
  BlockType water_type = shaped(of("water", never_dug, air), "none");
  water_type.liquid = true;
  BlockType ladder_type = shaped(of("ladder", by(Tool::axe, 0.4), ladder), "none");
  ladder_type.climbable = true;
  BlockType lamp_type = clear(of("lamp", by(Tool::pick, 0.4), lamp));
  lamp_type.light = block_light_max;
  // In the order of BlockId. Seconds by hand: soft ground half a second, wood one, stone two.
  return {
      shaped(of("air", {}, air), "none"),
      of("stone", rock, stone),
      of("dirt", soft, dirt),
      of("grass", soft, dirt),
      loose(of("sand", by(Tool::shovel, 0.4), sand)),
      loose(of("gravel", by(Tool::shovel, 0.6), gravel)),
      of("wood", timber, wood),
      of("leaves", foliage, air),
      of("brick", rock, brick),
      clear(of("glass", by(Tool::pick, 0.3), air)),
      water_type,
      of("snow", by(Tool::shovel, 0.2), snow),
      of("clay", by(Tool::shovel, 0.6), clay),
      of("sandstone", by(Tool::pick, 1.2), sandstone),
      of("pine_wood", timber, pine_wood),
      of("pine_needles", foliage, air),
      of("birch_wood", timber, birch_wood),
      of("birch_leaves", foliage, air),
      of("coal_ore", by(Tool::pick, 2.5), coal_ore),
      of("iron_ore", by(Tool::pick, 3), iron_ore),
      of("gold_ore", by(Tool::pick, 3), gold_ore),
      of("crystal_ore", by(Tool::pick, 4), crystal_ore),
      shaped(of("stone_slab", rock, stone_slab), "slab"),
      shaped(of("stone_stairs_east", rock, stone_stairs_east), "stairs_east"),
      shaped(of("stone_stairs_north", rock, stone_stairs_north), "stairs_north"),
      shaped(of("stone_stairs_west", rock, stone_stairs_west), "stairs_west"),
      shaped(of("stone_stairs_south", rock, stone_stairs_south), "stairs_south"),
      shaped(of("wood_post", timber, wood_post), "post"),
      ladder_type,
      lamp_type,
      chest_type(),
      sign_type(),
      sapling_type(),
      charge_type(),
      treasure_type(),
      tool_type(Tool::pick),
      tool_type(Tool::axe),
      tool_type(Tool::shovel),
  };
}

bool good_name(std::string_view name) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= block_name_bytes_max && std::ranges::all_of(name, allowed);
}

bool within(double v, double low, double high) { return v >= low && v <= high; }  // false for NaN too

/// What is wrong with one kind, whatever the others are; empty: nothing.
std::string fault(const BlockType& t, std::size_t kinds) {
  static_assert(block_name_bytes_max == 32, "the line below says so");
  if (!good_name(t.name)) return "its name has to be 1 to 32 of a-z, 0-9 and _";
  if (!t.shape.sane()) return "its shape is no list of boxes within a block";
  for (const double s : t.hardness_s)
    if (!(s == -1 || within(s, 0, hardness_s_max)))
      return "its hardness has to be 0 to 600 seconds, or -1 for never";
  if (static_cast<std::size_t>(t.drops) >= kinds) return "it drops a kind that there is not";
  if (t.liquid && t.solid()) return "a liquid has no shape: leave shape out, or say shape = \"none\"";
  if (t.falls && !t.shape.full()) return "only full blocks can fall";
  if (t.holds_data() && (t.falls || t.liquid))
    return "what falls or flows holds neither items nor a text, and has no timer";
  if (t.tool != Tool::hand && (t.holds_data() || t.falls || t.liquid))
    return "a tool stands nowhere, so it neither falls nor flows, holds nothing and has no timer";
  if (t.timer_s != 0 && !within(t.timer_s, block_timer_s_min, block_timer_s_max))
    return "its timer has to be 0.1 to 604800 seconds, or 0 for none";
  if (static_cast<std::size_t>(t.becomes) >= kinds) return "it becomes a kind that there is not";
  if (!within(t.blast_m, 0, block_blast_m_max)) return "its blast has to be 0 to 7 m";
  if (t.timer_s == 0 && (t.becomes != BlockId::air || t.blast_m > 0))
    return "without a timer it neither becomes another kind nor explodes";
  if (t.becomes != BlockId::air && t.blast_m > 0) return "what explodes becomes nothing else";
  if (t.slots > block_slots_max) return "its slots have to be 0 to 36";
  if (t.light > block_light_max) return "its light has to be 0 to 15";
  if (t.damage_per_s > block_damage_max) return "its damage has to be 0 to 10000 points a second";
  if (!within(t.friction, 0, friction_factor_max)) return "its friction has to be 0 to 4";
  if (!within(t.jump, 0, jump_factor_max)) return "its jump has to be 0 to 4";
  return {};
}

/// What is wrong with one kind beside the others; empty: nothing.
std::string fault_among(std::span<const BlockType> types, std::size_t i) {
  const BlockType &type = types[i], &then = types[static_cast<std::size_t>(type.becomes)];
  if (type.timer_s > 0 && static_cast<std::size_t>(type.becomes) == i) return "it cannot become what it is";
  if (then.tool != Tool::hand) return "it cannot become a tool, which stands nowhere";
  // Worlds are made of these, wherever they come to lie.
  if (type.tool != Tool::hand && i < block_id_count) return "the ground is made of it, so it is no tool";
  // Its loot comes of its place, once: it may neither move nor come anew.
  if (type.name == treasure_name && (type.falls || type.liquid || type.tool != Tool::hand))
    return "a treasure neither falls nor flows, and is no tool";
  if (then.name == treasure_name) return "it cannot become a treasure: those are where the secret seed says";
  return {};
}

BlockForm form_of(const BlockShape& shape) {
  if (shape.empty()) return BlockForm::passable;
  return shape.full() ? BlockForm::full : BlockForm::part;
}

void add(Hasher& hasher, const BlockType& type) {
  hasher.add(static_cast<std::uint64_t>(type.name.size()));
  hasher.add_bytes({reinterpret_cast<const std::uint8_t*>(type.name.data()), type.name.size()});
  hasher.add(
      static_cast<std::uint64_t>(type.drops) << 48 | static_cast<std::uint64_t>(type.light) << 40 |
      static_cast<std::uint64_t>(type.slots) << 32 | static_cast<std::uint64_t>(type.damage_per_s) << 16 |
      static_cast<std::uint64_t>(type.shape.count) << 8 |
      static_cast<std::uint64_t>((type.opaque ? 1 : 0) | (type.liquid ? 2 : 0) | (type.climbable ? 4 : 0) |
                                 (type.falls ? 8 : 0) | (type.text ? 16 : 0)));
  for (const ShapeBox& box : type.shape.boxes()) hasher.add_bytes(box.min), hasher.add_bytes(box.max);
  for (const double s : type.hardness_s) hasher.add(s);
  hasher.add(type.friction), hasher.add(type.jump);
  // Worlds of before there were timers have the hash that they had.
  if (type.timer_s > 0)
    hasher.add(type.timer_s), hasher.add(type.blast_m), hasher.add(static_cast<std::uint64_t>(type.becomes));
  if (type.tool != Tool::hand) hasher.add(static_cast<std::uint64_t>(type.tool));
}

/// Air is what nothing is: another air would be a block that nobody can place or dig.
bool is_air(const BlockType& t) {
  const BlockType air = builtin_types().front();
  return t.shape == air.shape && t.hardness_s == air.hardness_s && t.drops == air.drops && !t.opaque &&
         !t.climbable && !t.falls && !t.liquid && t.light == 0 && t.damage_per_s == 0 && t.friction == 1 &&
         t.jump == 1 && t.tool == Tool::hand && !t.holds_data();
}

}  // namespace

std::string_view name(Tool tool) {
  constexpr std::array<std::string_view, tool_count> names{"hand", "pick", "axe", "shovel"};
  return names[static_cast<std::size_t>(tool)];
}

double BlockType::dig_s(Tools tools) const {
  double best = -1;
  for (std::size_t i = 0; i < tool_count; ++i)
    if ((tools & bit_of(static_cast<Tool>(i))) != 0 && hardness_s[i] >= 0 &&
        (best < 0 || hardness_s[i] < best))
      best = hardness_s[i];
  return best;
}

std::optional<BlockTypesError> BlockRegistry::check(std::span<const BlockType> types) {
  static const std::vector<BlockType> own = builtin_types();
  if (types.size() > block_kinds_max)
    return BlockTypesError{block_kinds_max, "a world has at most 256 kinds of blocks"};
  if (types.size() < block_id_count)
    return BlockTypesError{types.size(), "a kind that every world has is missing"};
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (std::string why = fault(types[i], types.size()); !why.empty())
      return BlockTypesError{i, std::move(why)};
    if (std::string why = fault_among(types, i); !why.empty()) return BlockTypesError{i, std::move(why)};
    if (i < block_id_count && types[i].name != own[i].name)
      return BlockTypesError{i, "in its place every world has " + own[i].name};
    if (i == 0 && !is_air(types[i])) return BlockTypesError{i, "air cannot be changed"};
    const auto at = std::ranges::lower_bound(names, std::string_view(types[i].name));
    if (at != names.end() && *at == types[i].name) return BlockTypesError{i, "another kind has its name"};
    names.insert(at, types[i].name);
  }
  return std::nullopt;
}

BlockRegistry::BlockRegistry(std::vector<BlockType> types) : types_(std::move(types)) {
  ASHLAR_ASSERT(!check(types_));
  forms_.fill(BlockForm::full);
  Hasher hasher;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    add(hasher, types_[i]);
    forms_[i] = form_of(types_[i].shape);
    by_name_.push_back(static_cast<BlockId>(i));
  }
  hash_ = hasher.value();
  std::ranges::sort(by_name_, {}, [this](BlockId id) -> std::string_view { return type(id).name; });
  // What is opened becomes what it drops, which has to hold what was in it.
  const auto treasure = find(treasure_name);
  if (treasure && type(type(*treasure).drops).slots >= loot_slots) treasure_ = *treasure;
}

const std::shared_ptr<const BlockRegistry>& BlockRegistry::builtin_ptr() {
  static const auto all = std::make_shared<const BlockRegistry>(builtin_types());
  return all;
}

bool BlockRegistry::hidden(BlockId id) const {
  return terrain_hides(id) || (id == treasure_ && id != BlockId::air);
}

const BlockShape& BlockRegistry::shape(BlockId id) const {
  static const BlockShape full = *find_shape("full");
  return knows(id) ? type(id).shape : full;
}

std::optional<BlockId> BlockRegistry::find(std::string_view wanted) const {
  const auto name_of = [this](BlockId id) -> std::string_view { return type(id).name; };
  const auto at = std::ranges::lower_bound(by_name_, wanted, {}, name_of);
  if (at == by_name_.end() || name_of(*at) != wanted) return std::nullopt;
  return *at;
}

}  // namespace ashlar
