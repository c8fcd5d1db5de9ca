#include "server/host/block_partition.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "world/math/assert.h"

namespace ashlar::server {
namespace {

constexpr int slack_steps = static_cast<int>(cube_slack_m * position_steps_per_m);
constexpr std::uint32_t calls_between_merges = 16;

bool stays_in(const Cube& cube, const PartitionPlace& place) {
  if (cube.cell != place.cell) return false;
  const int slack = std::min(slack_steps, cube.steps() / 2);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int low = cube.at[axis] * cube.steps() - slack;
    if (place.at[axis] < low || place.at[axis] >= low + cube.steps() + 2 * slack) return false;
  }
  return true;
}

Cube cube_of(const PartitionPlace& place, unsigned level) {
  Cube cube{place.cell, static_cast<std::uint8_t>(level), {}};
  for (std::size_t axis = 0; axis < 3; ++axis)
    cube.at[axis] = static_cast<std::uint8_t>(place.at[axis] / cube.steps());
  return cube;
}

bool lies_inside(Cube inner, const Cube& outer) {
  if (inner.level <= outer.level) return false;
  while (inner.level > outer.level) inner = inner.parent();
  return inner == outer;
}

}  // namespace

Cube Cube::parent() const {
  Cube out = *this;
  --out.level;
  for (std::uint8_t& v : out.at) v = static_cast<std::uint8_t>(v / 2);
  return out;
}

Cube BlockPartition::leaf_of(const PartitionPlace& place) const {
  for (unsigned level = 0;; ++level) {
    const Cube cube = cube_of(place, level);
    if (!std::ranges::binary_search(split_, cube)) return cube;
  }
}

std::uint16_t BlockPartition::new_number(std::uint32_t tick) {
  for (; !resting_.empty() && resting_.front().first <= tick; resting_.pop_front()) {
    free_.push_back(resting_.front().second);
    std::ranges::push_heap(free_, std::greater{});
  }
  // The lowest, as low numbers take fewer bytes.
  if (!free_.empty()) {
    std::ranges::pop_heap(free_, std::greater{});
    const std::uint16_t number = free_.back();
    free_.pop_back();
    return number;
  }
  // More than there are entities, twice over a second: never in this world.
  ASHLAR_ASSERT(of_number_.size() < 0xffff);
  of_number_.push_back(nobody);
  return static_cast<std::uint16_t>(of_number_.size() - 1);
}

std::uint32_t BlockPartition::find_room(const Cube& cube, std::uint32_t tick) {
  for (std::uint32_t i = 0; !alone() && i < blocks_.size(); ++i)
    if (blocks_[i].cube == cube && blocks_[i].count < entities_max_) return i;
  const std::uint16_t number = new_number(tick);
  of_number_[number] = static_cast<std::uint32_t>(blocks_.size());
  blocks_.push_back({number, cube, tick, 0});
  return of_number_[number];
}

void BlockPartition::keep_homes(std::span<const PartitionPlace> places) {
  block_of_.assign(places.size(), nobody);
  for (PartitionBlock& block : blocks_) block.count = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint32_t slot = slot_of(places[i].id);
    if (slot >= homes_.size()) homes_.resize(slot + 1);
    const Home& home = homes_[slot];
    if (home.id != places[i].id) continue;
    const std::uint32_t block = of_number_[home.number];
    if (block == nobody || !stays_in(blocks_[block].cube, places[i])) continue;
    block_of_[i] = block;
    ++blocks_[block].count;
  }
}

void BlockPartition::settle(std::span<const PartitionPlace> places, std::uint32_t tick) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (block_of_[i] != nobody) continue;
    block_of_[i] = find_room(leaf_of(places[i]), tick);
    ++blocks_[block_of_[i]].count;
  }
}

/// Those in the blocks of a cube have no block any more.
void BlockPartition::unsettle(Cube cube) {
  for (std::uint32_t& block : block_of_)
    if (block != nobody && blocks_[block].cube == cube) block = nobody;
  for (PartitionBlock& block : blocks_)
    if (block.cube == cube) block.count = 0;
}

bool BlockPartition::split_crowded() {
  totals_.clear();
  for (const PartitionBlock& block : blocks_)
    if (block.cube.level < cube_level_max) totals_.emplace_back(block.cube, block.count);
  std::ranges::sort(totals_);
  bool any = false;
  for (std::size_t i = 0; i < totals_.size();) {
    const Cube cube = totals_[i].first;
    std::size_t total = 0;
    for (; i < totals_.size() && totals_[i].first == cube; ++i) total += totals_[i].second;
    if (total <= cube_split_above) continue;
    split_.insert(std::ranges::lower_bound(split_, cube), cube);
    unsettle(cube);
    any = true;
  }
  return any;
}

void BlockPartition::merge_sparse() {
  if (++calls_ % calls_between_merges != 0) return;
  // The deepest first, one at a time: what is above it may follow.
  for (std::size_t i = split_.size(); i-- > 0;) {
    const Cube cube = split_[i];
    const auto inside = [&](const Cube& other) { return lies_inside(other, cube); };
    std::size_t total = 0;
    for (const PartitionBlock& block : blocks_)
      if (inside(block.cube)) total += block.count;
    if (total > cube_merge_up_to || std::ranges::any_of(split_, inside)) continue;
    split_.erase(split_.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      if (inside(blocks_[b].cube) && blocks_[b].count > 0) unsettle(blocks_[b].cube);
    return;
  }
}

/// Empty blocks are dissolved.
void BlockPartition::finish(std::span<const PartitionPlace> places, std::uint32_t tick,
                            std::uint32_t rest_ticks) {
  for (const PartitionBlock& block : blocks_) {
    of_number_[block.number] = nobody;
    if (block.count == 0) resting_.emplace_back(tick + rest_ticks, block.number);
  }
  const std::size_t moves_before = moves_.size();
  // Where each stands when the empty ones are out and the rest is sorted by number.
  for (std::size_t i = 0; i < places.size(); ++i) {
    Home& home = homes_[slot_of(places[i].id)];
    const std::uint16_t number = blocks_[block_of_[i]].number;
    if (home.id == places[i].id && home.number != number) moves_.push_back({home.number, home.id, tick});
    home = {places[i].id, number, tick};
  }
  keep_moves(moves_before, tick, rest_ticks);
  std::erase_if(blocks_, [](const PartitionBlock& block) { return block.count == 0; });
  std::ranges::sort(blocks_, {}, &PartitionBlock::number);
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) of_number_[blocks_[i].number] = i;
  for (std::size_t i = 0; i < places.size(); ++i)
    block_of_[i] = of_number_[homes_[slot_of(places[i].id)].number];
}

/// @param sorted  so many of them were there before this tick
void BlockPartition::keep_moves(std::size_t sorted, std::uint32_t tick, std::uint32_t rest_ticks) {
  const bool news = moves_.size() > sorted;
  const std::size_t old =
      std::erase_if(moves_, [&](const BlockMove& move) { return tick - move.tick >= rest_ticks; });
  if (!news && old == 0) return;
  if (news) sort_moves();
  list_moves();
}

void BlockPartition::sort_moves() {
  std::ranges::sort(moves_, [](const BlockMove& a, const BlockMove& b) {
    return std::tuple(a.from, a.id, b.tick) < std::tuple(b.from, b.id, a.tick);
  });
  const auto same = [](const BlockMove& a, const BlockMove& b) { return a.from == b.from && a.id == b.id; };
  const auto doubles = std::ranges::unique(moves_, same);
  moves_.erase(doubles.begin(), doubles.end());
}

void BlockPartition::list_moves() {
  first_move_.assign(of_number_.size() + 1, 0);
  for (const BlockMove& move : moves_) ++first_move_[move.from + std::size_t{1}];
  for (std::size_t i = 1; i < first_move_.size(); ++i) first_move_[i] += first_move_[i - 1];
}

std::span<const BlockMove> BlockPartition::moves_from(std::uint16_t number) const {
  if (number + std::size_t{1} >= first_move_.size()) return {};
  const std::uint32_t first = first_move_[number], end = first_move_[number + std::size_t{1}];
  return std::span(moves_).subspan(first, end - first);
}

const PartitionBlock* BlockPartition::block_of(EntityId id) const {
  const std::uint32_t slot = slot_of(id);
  if (slot >= homes_.size() || homes_[slot].id != id || homes_[slot].tick != tick_) return nullptr;
  const std::uint32_t block = of_number_[homes_[slot].number];
  return block == nobody ? nullptr : &blocks_[block];
}

void BlockPartition::assign(std::span<const PartitionPlace> places, std::uint32_t tick,
                            std::uint32_t rest_ticks) {
  tick_ = tick;
  keep_homes(places);
  merge_sparse();
  settle(places, tick);
  while (!alone() && split_crowded()) settle(places, tick);
  finish(places, tick, rest_ticks);
}

}  // namespace ashlar::server
