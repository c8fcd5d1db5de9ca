#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "world/voxel/block.h"
#include "world/voxel/block_shape.h"

namespace ashlar {

/// What one digs with. In registries on wire and disk: append only.
enum class Tool : std::uint8_t { hand, pick, axe, shovel };
inline constexpr std::size_t tool_count = 4;
/// As the enumerator is spelled.
std::string_view name(Tool tool);
/// Some tools, a bit each.
using Tools = std::uint8_t;
constexpr Tools bit_of(Tool tool) { return static_cast<Tools>(1u << static_cast<unsigned>(tool)); }
inline constexpr Tools no_tools = bit_of(Tool::hand), all_tools = (1u << tool_count) - 1;

inline constexpr std::size_t block_name_bytes_max = 32;
inline constexpr double hardness_s_max = 600;
inline constexpr std::uint16_t block_damage_max = 10'000;
inline constexpr double friction_factor_max = 4, jump_factor_max = 4;
inline constexpr std::uint8_t block_light_max = 15;
inline constexpr std::uint8_t block_slots_max = 36;  ///< as many as a player's own
inline constexpr std::uint8_t loot_slots = 8;        ///< that what a treasure drops has at least
inline constexpr double block_timer_s_min = 0.1, block_timer_s_max = 7.0 * 24 * 3600;
inline constexpr double block_blast_m_max = 7;

/// What one kind of block is like. Factors and damage are those of the block that one stands on or in.
struct BlockType {
  std::string name;  ///< a to z, 0 to 9 and "_", at most block_name_bytes_max; no other kind's
  BlockShape shape = *find_shape("full");  ///< what of it stops bodies, shots and sight
  /// Seconds that digging takes, by Tool; 0: at once; below: never.
  std::array<double, tool_count> hardness_s{1, 1, 1, 1};
  Tool tool = Tool::hand;          ///< what it is to who holds it; other than the hand: put nowhere
  BlockId drops{};                 ///< what is picked up where it was dug; air: nothing
  bool opaque = true;              ///< light does not pass it
  bool liquid = false;             ///< bodies swim in it; it has no shape
  bool climbable = false;          ///< bodies climb where they are in its cell
  bool falls = false;              ///< comes down where nothing is below it; a full block
  bool text = false;               ///< holds a text that players write, as signs do
  std::uint8_t slots = 0;          ///< stacks of items that it holds, as chests do, up to block_slots_max
  std::uint8_t light = 0;          ///< that it gives, up to block_light_max
  std::uint16_t damage_per_s = 0;  ///< points a second of who stands on it or in it
  double timer_s = 0;              ///< so long after it was put there it becomes another; 0: it stays
  BlockId becomes{};               ///< of air it leaves behind what digging it would
  double blast_m = 0;              ///< or it explodes, and so far around it all that can be dug is gone
  double friction = 1;             ///< of the rules' friction and acceleration on the ground
  double jump = 1;                 ///< of the rules' jump speed

  bool solid() const { return !shape.empty(); }
  bool holds_data() const { return text || slots > 0 || timer_s > 0; }  ///< see world/sim/block_contents.h
  double dig_s(Tool with) const { return hardness_s[static_cast<std::size_t>(with)]; }
  /// With the best of them; below 0: with none.
  double dig_s(Tools tools) const;
};

/// Why a list of kinds is none that a world can have: the number of the kind at fault, and half a sentence.
struct BlockTypesError {
  std::size_t kind = 0;
  std::string reason;
};

/// All kinds of blocks of a world, by id and by name. Immutable once made; any thread.
class BlockRegistry {
 public:
  /// Are these kinds for a world? Air first and as it is built in, the kinds that every world has (BlockId)
  /// with their names in their places, none twice, all values in range. The test that foreign lists pass.
  static std::optional<BlockTypesError> check(std::span<const BlockType> types);

  /// @param types  by id. Precondition: check(types) finds nothing
  explicit BlockRegistry(std::vector<BlockType> types);

  /// The kinds that terrain is made of and those that players build with; behind those of BlockId, chest,
  /// sign, sapling, charge, treasure and the tools, which stand elsewhere in worlds that had kinds of their
  /// own before there were any.
  static const BlockRegistry& builtin() { return *builtin_ptr(); }
  static const std::shared_ptr<const BlockRegistry>& builtin_ptr();

  std::size_t size() const { return types_.size(); }
  std::span<const BlockType> types() const { return types_; }
  bool knows(BlockId id) const { return static_cast<std::size_t>(id) < types_.size(); }
  /// Precondition: knows(id).
  const BlockType& type(BlockId id) const { return types_[static_cast<std::size_t>(id)]; }
  /// None where no kind is called so. Cost: a binary search.
  std::optional<BlockId> find(std::string_view name) const;

  /// May a player take it away who has these tools? Precondition: knows(id).
  bool diggable(BlockId id, Tools tools = all_tools) const {
    const BlockType& t = type(id);
    return id != BlockId::air && !t.liquid && t.dig_s(tools) >= 0;
  }
  /// May a player put it somewhere? Of foreign ids, too: those that are not known may not.
  bool placeable(BlockId id) const {
    return knows(id) && id != BlockId::air && !type(id).liquid && id != treasure_ && !is_tool(id);
  }
  /// Is it nothing but an item? Such a block is nowhere. Precondition: knows(id).
  bool is_tool(BlockId id) const { return type(id).tool != Tool::hand; }
  /// May another block take its place: air and liquids? Precondition: knows(id).
  bool replaceable(BlockId id) const { return id == BlockId::air || type(id).liquid; }

  /// What the secret seed puts into the walls of caves (world/sim/loot.h), by its name; air: there is no such
  /// kind.
  BlockId treasure() const { return treasure_; }
  /// Is it of the secret seed: an ore, or the treasure? Clients hold it for stone until they are told.
  bool hidden(BlockId id) const;

  /// How each kind fills its cell; full for ids that are not known, as nobody may walk into those.
  using Forms = std::array<BlockForm, block_kinds_max>;
  const Forms& forms() const { return forms_; }
  /// What of a block is solid: all of one that is not known.
  const BlockShape& shape(BlockId id) const;

  /// Over all that it holds: equal on two machines means equal kinds.
  std::uint64_t hash() const { return hash_; }

 private:
  std::vector<BlockType> types_;
  std::vector<BlockId> by_name_;  // sorted by name
  Forms forms_{};
  BlockId treasure_ = BlockId::air;
  std::uint64_t hash_ = 0;
};

}  // namespace ashlar
