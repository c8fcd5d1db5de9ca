#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "protocol/part_head.h"
#include "protocol/snapshot/block_delta.h"

namespace ashlar::server {

/// A block of a frame.
struct FrameBlock {
  std::uint16_t number = 0;
  CellCoord cell;
  std::uint32_t born = 0;     ///< tick since which the number is this block's
  std::uint32_t changed = 0;  ///< newest tick at which it was not what it had been in the frame before
  std::uint32_t first = 0, count = 0;  ///< in the frame's records
};

/// The base ring: all entities of the last published ticks, quantised, block by block, about a second of
/// them; and the blocks of the newest, coded against any of these frames once for everybody who holds it. The
/// Host's thread. No allocation once the frames have their size.
class BlockFrames {
 public:
  /// @param frames  how many are kept, the newest included
  /// @param registry  what the world's game adds to kinds; null: nothing for everybody
  explicit BlockFrames(std::size_t frames, std::shared_ptr<const ReplicationRegistry> registry = nullptr)
      : ring_(frames), registry_(std::move(registry)) {}

  /// Begins the frame of a tick; ticks ascend.
  /// @param pace  BlockContent's
  void begin(std::uint32_t tick, std::uint32_t tick_rate_hz, std::int32_t pace = usual_pace_steps);
  /// Adds a block to it: numbers ascend, entities by id.
  /// @param fields  by entity, where there is a registry
  void add(std::uint16_t number, CellCoord cell, std::uint32_t born, std::span<const MovingRecord> entities,
           std::span<const FieldValues> fields = {});

  /// Of the newest frame; 0: none yet.
  std::uint32_t tick() const { return newest_ == nullptr ? 0 : newest_->tick; }
  std::span<const FrameBlock> blocks() const;
  std::span<const MovingRecord> entities(const FrameBlock& block) const;

  /// What a block of the newest frame was at an older tick: nothing when that is not kept, or the block was
  /// another one then.
  std::optional<std::span<const MovingRecord>> at(const FrameBlock& block, std::uint32_t tick) const;

  struct Coded {
    std::uint32_t age = 0;  ///< of the base that was taken; 0: whole
    std::span<const std::uint8_t> bytes;
  };
  /// A block of the newest frame, by its place in blocks(), against what it was at a tick; whole where that
  /// is not kept, or where that is shorter. Coded when it is first asked for. Valid until begin().
  Coded coded(std::size_t block, std::uint32_t base_tick,
              SnapshotEncoding encoding = SnapshotEncoding::packed);

  /// Blocks that were coded since the start; all others were copied.
  std::uint64_t codings() const { return codings_; }

 private:
  struct Frame {
    std::uint32_t tick = 0;  // 0: empty
    std::vector<FrameBlock> blocks;
    std::vector<MovingRecord> records;
    std::vector<FieldValues> fields;  // by record, where there is a registry
  };
  struct Code {
    SnapshotEncoding encoding{};
    std::uint32_t asked = 0;  // age of the base that was there; 0: none
    std::uint32_t age = 0;    // of the one that was taken
    std::uint32_t next = 0;   // one more than the place of the next code of the same block; 0: none
    std::span<const std::uint8_t> bytes;
  };
  static constexpr std::size_t page_bytes = 64 * 1024;

  std::span<std::uint8_t> room();
  const Frame* frame(std::uint32_t tick) const;
  static const FrameBlock* find_block(const Frame& frame, std::uint16_t number);

  /// Of the codes that were made of a block; null: none yet.
  const Code* find_code(std::size_t block, std::uint32_t asked, SnapshotEncoding encoding) const;
  std::span<const FieldValues> fields_of(const Frame& frame, const FrameBlock& block) const;

  std::vector<Frame> ring_;
  std::shared_ptr<const ReplicationRegistry> registry_;
  std::size_t next_ = 0;
  Frame* newest_ = nullptr;
  const Frame* before_ = nullptr;
  std::uint32_t tick_rate_hz_ = 60;
  std::int32_t pace_ = usual_pace_steps;
  std::vector<Code> codes_;
  std::vector<std::uint32_t> first_code_;         // by block; as Code::next
  std::vector<std::vector<std::uint8_t>> pages_;  // of the codes; pages never move
  std::size_t pages_used_ = 0, page_used_ = 0;
  std::uint64_t codings_ = 0;
};

}  // namespace ashlar::server
