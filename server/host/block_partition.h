#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "protocol/snapshot/block_delta.h"

namespace ashlar::server {

/// Deepest split of a cell: cubes of 4 m.
inline constexpr unsigned cube_level_max = 4;
/// A cube with more entities is split into eight: fewer are told in one block or two, as heads cost most
/// where few move.
inline constexpr std::size_t cube_split_above = 56;
/// Eight cubes with no more between them become one again.
inline constexpr std::size_t cube_merge_up_to = 20;
/// An entity stays in its block until it is so far out of its cube, and half of the cube's edge at most: who
/// walks along a border changes no block.
inline constexpr double cube_slack_m = 4;

/// A cube of space: a cell, or one of the eighths that it is split into. Level 0 is the cell; the numbers
/// count cubes of its level from the cell's low corner.
struct Cube {
  CellCoord cell;
  std::uint8_t level = 0;
  std::array<std::uint8_t, 3> at{};
  friend auto operator<=>(const Cube&, const Cube&) = default;

  /// Edge in steps of position.
  int steps() const { return cell_steps >> level; }
  Cube parent() const;
};

/// One of the groups in which entities travel: at most block_entities_max of a cube. Its number is its own
/// until it is dissolved, and nobody else's for a while after.
struct PartitionBlock {
  std::uint16_t number = 0;
  Cube cube;
  std::uint32_t born = 0;   ///< tick
  std::uint32_t count = 0;  ///< entities, of the newest assign()
};

/// Where an entity is, for assign().
struct PartitionPlace {
  EntityId id{};
  CellCoord cell;
  std::array<std::uint16_t, 3> at{};  ///< steps from the cell's corner
};

/// Somebody who is in another block than in the assign() before.
struct BlockMove {
  std::uint16_t from = 0;
  EntityId id{};
  std::uint32_t tick = 0;
};

/// Puts entities into blocks of some 8 to 48: cells where many stand are split into smaller and smaller
/// cubes, and become one again when they have gone. An entity changes its block as seldom as can be, as it is
/// told whole then. The Host's thread. No allocation once the tables have their size.
class BlockPartition {
 public:
  /// @param entities_max  of a block; 1: each has a block of its own, as where it is told to some and not to
  ///   others beside it
  explicit BlockPartition(std::uint32_t entities_max = block_entities_max) : entities_max_(entities_max) {}

  /// Assigns everybody, each id once. Call once per published tick with ascending ticks. Cost: some 15 ns an
  /// entity that stays, 100 one that moves to another block.
  /// @param rest_ticks  for how long the number of a dissolved block is nobody's
  void assign(std::span<const PartitionPlace> places, std::uint32_t tick, std::uint32_t rest_ticks);

  /// Blocks with somebody in them, by number.
  std::span<const PartitionBlock> blocks() const { return blocks_; }
  /// Of each place given, in order: which of blocks() it is in.
  std::span<const std::uint32_t> block_of() const { return block_of_; }
  /// Those who left a block in the last rest_ticks, wherever they are by now.
  std::span<const BlockMove> moves_from(std::uint16_t number) const;
  /// Of somebody in the newest assign(); null: he was not there.
  const PartitionBlock* block_of(EntityId id) const;

 private:
  struct Home {
    EntityId id{};
    std::uint16_t number = 0;
    std::uint32_t tick = 0;  // of the assign() that it is from
  };
  static constexpr std::uint32_t nobody = 0xffffffffu;

  void keep_homes(std::span<const PartitionPlace> places);
  Cube leaf_of(const PartitionPlace& place) const;
  std::uint32_t find_room(const Cube& cube, std::uint32_t tick);
  void settle(std::span<const PartitionPlace> places, std::uint32_t tick);
  bool split_crowded();
  void merge_sparse();
  void unsettle(Cube cube);
  void finish(std::span<const PartitionPlace> places, std::uint32_t tick, std::uint32_t rest_ticks);
  void keep_moves(std::size_t sorted, std::uint32_t tick, std::uint32_t rest_ticks);
  void sort_moves();
  void list_moves();
  std::uint16_t new_number(std::uint32_t tick);

  bool alone() const { return entities_max_ == 1; }

  std::uint32_t entities_max_;
  std::vector<Cube> split_;             // sorted: those that are split
  std::vector<PartitionBlock> blocks_;  // by number
  std::vector<std::uint32_t> block_of_;
  std::vector<Home> homes_;                                      // by slot of the id
  std::vector<std::uint32_t> of_number_;                         // by number: index in blocks_; nobody: none
  std::deque<std::pair<std::uint32_t, std::uint16_t>> resting_;  // tick from which a number is free, by tick
  std::vector<std::uint16_t> free_;                              // a heap, the lowest number first
  std::uint32_t calls_ = 0, tick_ = 0;
  std::vector<BlockMove> moves_;                      // by number and id; of each the newest
  std::vector<std::uint32_t> first_move_;             // by number: its place in moves_; ends with their count
  std::vector<std::pair<Cube, std::size_t>> totals_;  // scratch
};

}  // namespace ashlar::server
