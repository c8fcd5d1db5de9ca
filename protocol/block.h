#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/quantise.h"

// What snapshots are made of: a block is what is told of one cell, contiguous and readable alone. It is coded
// once per tick and copied to everyone.

namespace ashlar {

/// What a block begins with: those of a cell whose ids are from `first` to `last`. Whom it does not list of
/// these is not there. Exactly the 16 bytes of the schema's struct.
struct CellHeader {
  CellCoord cell;
  std::uint16_t entity_count = 0;
  EntityId first{0};  ///< 0 and entity_id_max: the whole cell
  EntityId last = entity_id_max;
};
static_assert(sizeof(CellHeader) == 16);

/// Could a position of the world be in this cell?
bool cell_in_world(CellCoord cell);

/// A block, or a stretch of one. Points into bytes that somebody else owns.
struct CellBlock {
  CellCoord cell;
  std::span<const EntityRecord> entities;  ///< by ascending id; may be empty: says that nobody is there
  EntityId first{0};                       ///< the range that it speaks of
  EntityId last = entity_id_max;
  /// All of it as it travels, header and entities. Empty for a stretch: whoever copies it writes its header.
  std::span<const std::uint8_t> coded{};

  /// The stretch of the ids below one, and of those from it on. Precondition: first < id <= last (asserted).
  CellBlock below(EntityId id) const;
  CellBlock from(EntityId id) const;
};

/// Bytes that a block takes on the wire.
constexpr std::size_t block_bytes(std::size_t entities) {
  return sizeof(CellHeader) + entities * sizeof(EntityRecord);
}

/// Where blocks are coded, one behind the other. Adding never moves what is there: reserve() makes the room,
/// and blocks given out stay good until the next clear() or reserve(). One thread.
class BlockArena {
 public:
  /// Room for blocks of so many bytes, with those that are there. Allocates where it never had as much.
  void reserve(std::size_t bytes);
  void clear() { used_ = 0; }
  std::span<const std::uint8_t> bytes() const { return std::span(bytes_).first(used_); }

  /// Begins a block. Precondition (asserted, as in add): no other is open, and there is room.
  void open(CellCoord cell, EntityId first = EntityId{0}, EntityId last = entity_id_max);
  /// Precondition: its id lies within the block's, above the one before (not checked here).
  void add(const EntityRecord& record);
  CellBlock close();
  /// Takes the open block away again.
  void discard();

 private:
  std::vector<std::uint8_t>
      bytes_;  // its memory is aligned for anything, and every block is a multiple of 16
  std::size_t used_ = 0;
  std::size_t open_at_ = 0;
  bool open_ = false;
  CellHeader header_;
};

/// Blocks one behind the other, as a snapshot carries them: a range of CellBlock. A view of bytes.
class BlockList {
 public:
  class Iterator {
   public:
    explicit Iterator(const std::uint8_t* at) : at_(at) {}
    CellBlock operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator&) const = default;

   private:
    const std::uint8_t* at_;
  };

  BlockList() = default;
  /// Bytes that come from our own arena, so they hold what checked() would find.
  explicit BlockList(const BlockArena& arena) : bytes_(arena.bytes()) {}

  /// Bytes from anywhere. Nothing unless they are 4-byte aligned, whole blocks with no byte behind them,
  /// cells in the world, first <= last, entities within by ascending id, ids not 0, positions in the cell,
  /// and pitch within a quarter. O(bytes).
  static std::optional<BlockList> checked(std::span<const std::uint8_t> bytes);

  Iterator begin() const { return Iterator(bytes_.data()); }
  Iterator end() const { return Iterator(bytes_.data() + bytes_.size()); }
  bool empty() const { return bytes_.empty(); }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  explicit BlockList(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::span<const std::uint8_t> bytes_;
};

}  // namespace ashlar
