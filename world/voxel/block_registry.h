#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "world/voxel/block.h"

namespace ashlar {

/// What one kind of block is like.
struct BlockType {
  std::string name;       ///< lower case, words joined by "_"; no other kind's
  bool solid = true;      ///< stops bodies, shots and sight; must be what is_solid() says of its id
  double hardness_s = 1;  ///< that digging takes by hand, the one tool so far; 0: at once; below: never
  BlockId drops{};        ///< what is picked up where it was dug; air: nothing
};

/// All kinds of blocks of a world, by id and by name. Immutable once made; any thread.
class BlockRegistry {
 public:
  /// @param types  by id, air first; asserted: at most block_id_count, each with a name of its own, solid as
  ///               is_solid() has it, finite hardness, drops that are in the list
  explicit BlockRegistry(std::vector<BlockType> types);

  /// The kinds that terrain is made of and those that players build with.
  static const BlockRegistry& builtin();

  std::size_t size() const { return types_.size(); }
  bool knows(BlockId id) const { return static_cast<std::size_t>(id) < types_.size(); }
  /// Precondition: knows(id).
  const BlockType& type(BlockId id) const { return types_[static_cast<std::size_t>(id)]; }
  /// None where no kind is called so. Cost: a binary search.
  std::optional<BlockId> find(std::string_view name) const;

  /// May a player take it away? Precondition: knows(id).
  bool diggable(BlockId id) const { return type(id).solid && type(id).hardness_s >= 0; }
  /// May a player put it somewhere? Of foreign ids, too: those that are not known may not.
  bool placeable(BlockId id) const { return knows(id) && type(id).solid; }

  /// Over all that it holds: equal on two machines means equal kinds.
  std::uint64_t hash() const { return hash_; }

 private:
  std::vector<BlockType> types_;
  std::vector<BlockId> by_name_;  // sorted by name
  std::uint64_t hash_ = 0;
};

}  // namespace ashlar
