#include "server/host/block_frames.h"

#include <algorithm>

#include "protocol/snapshot/plain_codec.h"
#include "world/math/assert.h"

namespace ashlar::server {

static_assert(plain_block_bytes_max <= coded_block_bytes_max, "what room() leaves");

void BlockFrames::begin(std::uint32_t tick, std::uint32_t tick_rate_hz, std::int32_t pace) {
  ASHLAR_ASSERT(newest_ == nullptr || tick > newest_->tick);
  before_ = newest_;
  newest_ = &ring_[next_];
  next_ = (next_ + 1) % ring_.size();
  newest_->tick = tick;
  pace_ = pace;
  newest_->blocks.clear();
  newest_->records.clear();
  newest_->fields.clear();
  tick_rate_hz_ = tick_rate_hz;
  codes_.clear();
  first_code_.clear();
  pages_used_ = 0;
  page_used_ = 0;
}

const FrameBlock* BlockFrames::find_block(const Frame& frame, std::uint16_t number) {
  const auto it = std::ranges::lower_bound(frame.blocks, number, {}, &FrameBlock::number);
  return it == frame.blocks.end() || it->number != number ? nullptr : &*it;
}

void BlockFrames::add(std::uint16_t number, CellCoord cell, std::uint32_t born,
                      std::span<const MovingRecord> entities, std::span<const FieldValues> fields) {
  Frame& frame = *newest_;
  ASHLAR_ASSERT(frame.blocks.empty() || frame.blocks.back().number < number);
  FrameBlock block{number,
                   cell,
                   born,
                   frame.tick,
                   static_cast<std::uint32_t>(frame.records.size()),
                   static_cast<std::uint32_t>(entities.size())};
  frame.records.insert(frame.records.end(), entities.begin(), entities.end());
  if (registry_ != nullptr) {
    ASHLAR_ASSERT(fields.size() == entities.size());
    frame.fields.insert(frame.fields.end(), fields.begin(), fields.end());
  }
  if (before_ != nullptr && before_ != newest_) {
    const FrameBlock* was = find_block(*before_, number);
    if (was != nullptr && was->born == born &&
        std::ranges::equal(std::span(before_->records).subspan(was->first, was->count), entities) &&
        std::ranges::equal(fields_of(*before_, *was), fields_of(frame, block)))
      block.changed = was->changed;
  }
  frame.blocks.push_back(block);
  first_code_.push_back(0);
}

std::span<const FieldValues> BlockFrames::fields_of(const Frame& frame, const FrameBlock& block) const {
  if (registry_ == nullptr) return {};
  return std::span(frame.fields).subspan(block.first, block.count);
}

std::span<const FrameBlock> BlockFrames::blocks() const {
  return newest_ == nullptr ? std::span<const FrameBlock>{} : newest_->blocks;
}

std::span<const MovingRecord> BlockFrames::entities(const FrameBlock& block) const {
  return std::span(newest_->records).subspan(block.first, block.count);
}

const BlockFrames::Frame* BlockFrames::frame(std::uint32_t tick) const {
  if (tick == 0) return nullptr;
  // From the oldest on ticks ascend; those that were never filled come first, as 0.
  std::size_t first = 0, count = ring_.size();
  while (count > 0) {
    const std::size_t half = count / 2;
    const bool older = ring_[(next_ + first + half) % ring_.size()].tick < tick;
    first = older ? first + half + 1 : first;
    count = older ? count - half - 1 : half;
  }
  if (first == ring_.size()) return nullptr;
  const Frame& found = ring_[(next_ + first) % ring_.size()];
  return found.tick == tick ? &found : nullptr;
}

std::optional<std::span<const MovingRecord>> BlockFrames::at(const FrameBlock& block,
                                                             std::uint32_t tick) const {
  const Frame* then = frame(tick);
  const FrameBlock* was = then == nullptr ? nullptr : find_block(*then, block.number);
  if (was == nullptr || was->born != block.born) return std::nullopt;
  return std::span(then->records).subspan(was->first, was->count);
}

std::span<std::uint8_t> BlockFrames::room() {
  if (pages_used_ == 0 || page_bytes - page_used_ < coded_block_bytes_max) {
    if (pages_used_ == pages_.size()) pages_.emplace_back(page_bytes);
    ++pages_used_;
    page_used_ = 0;
  }
  return std::span(pages_[pages_used_ - 1]).subspan(page_used_);
}

const BlockFrames::Code* BlockFrames::find_code(std::size_t block, std::uint32_t asked,
                                                SnapshotEncoding encoding) const {
  for (std::uint32_t i = first_code_[block]; i != 0; i = codes_[i - 1].next)
    if (codes_[i - 1].asked == asked && codes_[i - 1].encoding == encoding) return &codes_[i - 1];
  return nullptr;
}

BlockFrames::Coded BlockFrames::coded(std::size_t block, std::uint32_t base_tick, SnapshotEncoding encoding) {
  const FrameBlock& now = newest_->blocks[block];
  const bool in_reach =
      base_tick != 0 && base_tick < newest_->tick && newest_->tick - base_tick <= base_age_max;
  // Who asked first looked whether there is such a base.
  if (in_reach)
    if (const Code* code = find_code(block, newest_->tick - base_tick, encoding))
      return {code->age, code->bytes};
  const Frame* const then = in_reach ? frame(base_tick) : nullptr;
  const FrameBlock* was = then == nullptr ? nullptr : find_block(*then, now.number);
  if (was != nullptr && was->born != now.born) was = nullptr;
  const std::uint32_t asked = was != nullptr ? newest_->tick - base_tick : 0;
  if (const Code* code = asked == 0 ? find_code(block, 0, encoding) : nullptr)
    return {code->age, code->bytes};

  BlockBase against{asked, {}, false, {}, newest_->tick};
  if (was != nullptr) {
    against.entities = std::span(then->records).subspan(was->first, was->count);
    against.fields = fields_of(*then, *was);
  }
  if (was != nullptr && before_ != nullptr && before_->tick >= base_tick) {
    const FrameBlock* last = find_block(*before_, now.number);
    against.quiet = last != nullptr && last->born == now.born && last->changed <= base_tick;
  }
  const BlockContent content{now.cell, entities(now), fields_of(*newest_, now), registry_.get(), pace_};
  const std::span<std::uint8_t> out = room();
  PlainCoded made{asked, 0};
  if (encoding == SnapshotEncoding::packed)
    made.bytes = encode_block(content, against, tick_rate_hz_, out);
  else
    made = encode_plain_block(content, against, out);
  page_used_ += made.bytes;
  ++codings_;
  codes_.push_back({encoding, asked, made.age, first_code_[block], out.first(made.bytes)});
  first_code_[block] = static_cast<std::uint32_t>(codes_.size());
  return {made.age, codes_.back().bytes};
}

}  // namespace ashlar::server
