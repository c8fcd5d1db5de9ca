#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "world/math/hash.h"
#include "world/math/vec.h"
#include "world/sim/inventory.h"
#include "world/sim/kinds.h"
#include "world/voxel/block_registry.h"

// What single blocks hold beside their kind: a chest its items, a sign its text, and when a timer runs out.

namespace ashlar {

inline constexpr std::size_t sign_text_bytes_max = 64;

/// What is written on a sign: UTF-8 that who took it in has checked. Behind its end all bytes are 0.
struct SignText {
  std::array<char, sign_text_bytes_max> bytes{};
  std::uint8_t size = 0;

  /// Precondition: at most sign_text_bytes_max bytes.
  static SignText of(std::string_view text);
  std::string_view view() const { return {bytes.data(), size}; }
  bool empty() const { return size == 0; }
  friend bool operator==(const SignText&, const SignText&) = default;
};

/// What a block holds. Of its slots only as many are used as its kind has.
struct BlockData {
  Inventory items;
  SignText text;
  std::uint64_t due = 0;  ///< tick of the world's life in which its timer runs out; 0: none runs

  bool empty() const { return items.empty() && text.empty() && due == 0; }
  friend bool operator==(const BlockData&, const BlockData&) = default;
};

/// May a block of such a kind hold that? Precondition of the items: they are sane().
bool fits(const BlockType& type, const BlockData& data);

/// What the block at a place holds.
struct PlacedData {
  IVec3 block;
  BlockData data;
};

/// A change of what a block holds.
struct DataEdit {
  IVec3 block;
  BlockId kind{};  ///< of the block that held it
  EntityId who{};  ///< as of AppliedEdit
  BlockData before, after;
  std::size_t blocks_before = 0;  ///< AppliedEdits of its tick that came before it
};

/// What all blocks of a world hold, those in ground that is not loaded too. Only who holds something has an
/// entry, some 300 bytes. Part of the world's state and hash, which costs nothing while nothing changes.
class BlockContents {
 public:
  static constexpr std::size_t entries_max = 65'536;
  /// Squares of the ground that are counted each for itself, see has_room().
  static constexpr std::int32_t area_m = 128;

  /// What blocks held when the world ended, at its start. More than there is room for is left out, and a
  /// place counts once.
  void restore(std::span<const PlacedData> all);

  /// The last tick's lists are over.
  void begin_tick() { applied_.clear(), spilled_.clear(), blocks_changed_ = 0; }
  /// A block has changed in this tick: what is set from now on came after it.
  void note_block_changed() { ++blocks_changed_; }

  /// Null: nothing.
  const BlockData* find(IVec3 block) const;
  /// May `block` hold something, or is there no room for one more? An area has a sixteenth of what the world
  /// has room left for: whoever fills areas, one after the other, leaves most of the rest for all others.
  bool has_room(IVec3 block) const;
  /// Likewise, but for the area: for what operators put back.
  bool fits_world(IVec3 block) const { return entries_.size() < entries_max || find(block) != nullptr; }
  /// Precondition: fits_world(block).
  void set(IVec3 block, BlockId kind, const BlockData& data, EntityId who);
  /// A block is gone that held what no entry says: it is spilled().
  void scatter(IVec3 block, const BlockData& held) { spilled_.push_back({block, held}); }
  /// The block is gone that held it: its items are spilled(), its text is lost.
  void spill(IVec3 block, BlockId kind, EntityId who);

  std::span<const DataEdit> applied() const { return applied_; }    ///< changes of this tick, in their order
  std::span<const PlacedData> spilled() const { return spilled_; }  ///< what blocks lost that are gone

  std::size_t size() const { return entries_.size(); }  ///< blocks that hold something
  std::uint64_t item_count() const { return items_; }   ///< in all of them
  /// Calls use(block, data) for each in a column of chunks, in an order that is the same everywhere.
  template <typename Use>
  void in_column(IVec2 column, Use&& use) const {
    constexpr std::int32_t below_all = INT32_MIN;
    auto at = entries_.lower_bound({column.x * chunk_size, column.y * chunk_size, below_all});
    for (; at != entries_.end() && column_of(at->first) == column; ++at) use(at->first, at->second.data);
  }
  /// Likewise for each of the world.
  template <typename Use>
  void each(Use&& use) const {
    for (const auto& [block, entry] : entries_) use(block, entry.data);
  }

  /// Adds nothing while no block holds anything: such worlds hash as if blocks could not.
  void add_to_hash(StripeHasher& hash) const;

 private:
  struct Entry {
    BlockData data;
    std::uint64_t hash = 0;
  };
  static IVec2 column_of(IVec3 block) {
    const ChunkCoord chunk = chunk_of(block);
    return {chunk.x, chunk.y};
  }
  struct ByColumn {
    bool operator()(const IVec3& a, const IVec3& b) const {
      const auto key = [](const IVec3& v) {
        return std::tuple(v.x >> chunk_bits, v.y >> chunk_bits, v.z, v.y, v.x);
      };
      return key(a) < key(b);
    }
  };
  using Area = std::pair<std::int32_t, std::int32_t>;
  static Area area_of(IVec3 block);
  void replace(IVec3 block, const BlockData& data);

  std::map<IVec3, Entry, ByColumn> entries_;
  std::map<Area, std::size_t> in_area_;  // how many of these; none of 0
  std::vector<DataEdit> applied_;
  std::vector<PlacedData> spilled_;
  std::size_t blocks_changed_ = 0;  // in this tick
  std::uint64_t items_ = 0;
  std::uint64_t hash_ = 0;  // sum of the entries' own
};

}  // namespace ashlar
