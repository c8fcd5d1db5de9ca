#include "client_sim/client/packed_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "client_sim/client/view.h"
#include "protocol/snapshot/cue_codec.h"
#include "protocol/snapshot/own_delta.h"
#include "protocol/snapshot/plain_codec.h"
#include "world/math/prefetch.h"

namespace ashlar::client_sim {

void PackedMemory::reset(std::uint16_t tick_rate_hz, std::uint16_t snapshot_every_ticks,
                         std::shared_ptr<const ReplicationRegistry> registry) {
  const std::uint64_t members = members_;  // views remember them
  *this = PackedMemory{};
  members_ = members;
  registry_ = std::move(registry);
  tick_rate_hz_ = tick_rate_hz;
  every_ticks_ = snapshot_every_ticks;
}

void PackedMemory::prefetch() const {
  // Where the states are is asked for first, of all blocks: one miss, and not one after the other.
  for (const Block& block : blocks_) ashlar::prefetch(block.states.data(), sizeof(State));
  // Bases get newer, and older states than the last one are not kept.
  constexpr std::size_t oldest = 2;
  for (const Block& block : blocks_)
    for (std::size_t i = 0; i < std::min(block.states.size(), oldest); ++i) {
      const std::vector<MovingRecord>& entities = block.states[i].entities;
      ashlar::prefetch(entities.data(), entities.size() * sizeof(MovingRecord));
    }
}

/// The server holds that we hold nothing.
void PackedMemory::begin_epoch(const PartHead& head, View& view) {
  view.forget_blocks();
  forget_blocks();
  own_.clear();
  groups_.clear();
  epoch_ = head.epoch;
  lost_epoch_ = 0;
}

bool PackedMemory::begin_part(const PartHead& head, View& view, SnapshotPart& out) {
  out = {};
  static_cast<PartHead&>(out) = head;
  whole_ = true;
  if (head.epoch != epoch_ && (epoch_ == 0 || head.tick > newest_tick_)) begin_epoch(head, view);
  newest_tick_ = std::max(newest_tick_, head.tick);
  runs_.clear();
  heights_.clear();
  motions_.clear();
  cues_.clear();
  return head.epoch == epoch_;
}

void PackedMemory::end_part(SnapshotPart& out) {
  if (entity_count_ > entities_max || state_count_ > states_max) {
    // No server of ours tells so much.
    forget_blocks();
    lost();
  }
  out.sector_runs = runs_;
  out.sector_heights = heights_;
}

bool PackedMemory::take(PackedPartReader& reader, View& view, SnapshotPart& out, BlockTally* tally) {
  const PartHead& head = reader.head();
  const bool counts = begin_part(head, view, out);
  while (const auto entry = reader.next()) {
    const Item item{head.tick, entry->age, entry->item == PackedItem::own_foreseen};
    bool sane = true;
    switch (entry->item) {
      case PackedItem::blocks:
        sane = !counts || take_block(entry->number, item, view, [&](const BlockBase& base, CellCoord cell) {
          return decode_block(entry->bytes, cell, base, tick_rate_hz_, decoded_, registry_.get(), tally);
        });
        break;
      case PackedItem::gone:
        if (counts) take_gone(entry->number, head.tick, view);
        break;
      case PackedItem::own:
      case PackedItem::own_foreseen:
        sane = !counts || take_own(item, out, [&](const OwnPlayer& base, OwnPlayer& own) {
          if (item.foreseen && entry->bytes.empty()) return own = base, entry->age == 0;
          BitReader bits(entry->bytes);
          return decode_own(bits, base, entry->age, tick_rate_hz_, own) && bits.at_end();
        });
        break;
      case PackedItem::heights:
        sane = !counts || decode_heights(entry->bytes, slice_);
        if (counts && sane) take_heights(entry->map, entry->number, slice_, item, view);
        break;
      case PackedItem::fields:
        sane = !counts ||
               take_fields(entry->to, entry->number, head.tick, [&](std::vector<PrivateEntity>& entities) {
                 return decode_group(entry->bytes, entry->to, *registry_, entities);
               });
        break;
      case PackedItem::moved:
        if (counts) view.take_moved({entry->id, entry->number}, head.tick);
        break;
      case PackedItem::motion: motions_.push_back(entry->motion); break;
      // At most one list a part: who reads a part twice shows it once.
      case PackedItem::cues: sane = cues_.empty() && decode_cues(entry->bytes, cues_); break;
    }
    if (!sane) return false;
  }
  if (reader.failed()) return false;
  out.sector_motions = motions_;
  out.cues = cues_;
  end_part(out);
  return true;
}

bool PackedMemory::take(const PlainPart& part, View& view, SnapshotPart& out) {
  const bool counts = begin_part(part, view, out);
  if (counts) {
    for (const MovedEntity& moved : part.moved) view.take_moved(moved, part.tick);
    if (!take_blocks(part, view) || !take_groups(part)) return false;
    for (const std::uint16_t number : part.gone) take_gone(number, part.tick, view);
    const auto whole = [&part](const OwnPlayer& base, OwnPlayer& own) {
      own = part.own ? *part.own : base;
      return true;
    };
    const std::uint32_t own_age = part.own ? 0 : part.own_age;
    if ((part.own || own_age != 0) && !take_own({part.tick, own_age}, out, whole)) return false;
    std::size_t at = 0;
    for (const SliceHeader& slice : part.slices) {
      take_heights(slice.map, slice.number, part.heights.subspan(at, slice.count), {part.tick, slice.age},
                   view);
      at += slice.count;
    }
  }
  out.sector_motions = part.motions;
  out.cues = part.cues;
  end_part(out);
  return true;
}

bool PackedMemory::take_blocks(const PlainPart& part, View& view) {
  std::size_t entity = 0, removed = 0;
  for (const BlockHeader& header : part.blocks) {
    PlainBlock block{header,
                     part.entities.subspan(entity, header.entity_count),
                     {},
                     part.removed.subspan(removed, header.removed_count)};
    if (!part.fields.empty()) block.fields = part.fields.subspan(entity, header.entity_count);
    entity += header.entity_count;
    removed += header.removed_count;
    const bool sane =
        take_block(header.number, {part.tick, header.age}, view, [&](const BlockBase& base, CellCoord) {
          return apply_plain_block(block, base, registry_.get(), decoded_);
        });
    if (!sane) return false;
  }
  return true;
}

bool PackedMemory::take_groups(const PlainPart& part) {
  std::size_t at = 0;
  std::span<const std::uint32_t> values = part.values;
  for (const GroupHeader& group : part.groups) {
    const auto told = part.grouped.subspan(at, group.entity_count);
    at += group.entity_count;
    group_.clear();
    // Of one that is known already, too: the values of the next ones lie behind its own.
    if (!read_plain_group(group.to, told, values, *registry_, group_)) return false;
    const bool sane =
        take_fields(group.to, group.number, part.tick, [this](std::vector<PrivateEntity>& entities) {
          entities = group_;
          return true;
        });
    if (!sane) return false;
  }
  return true;
}

void PackedMemory::forget_blocks() {
  places_.clear();
  blocks_.clear();
  entity_count_ = state_count_ = 0;
}

PackedMemory::Block& PackedMemory::block_of(std::uint16_t number) {
  if (number >= places_.size()) places_.resize(std::size_t{number} + 1);
  std::uint32_t& place = places_[number];
  if (place == 0) blocks_.emplace_back(), place = static_cast<std::uint32_t>(blocks_.size());
  return blocks_[place - 1];
}

/// As each state is a tick older at least, the one of a tick is no further back than the ticks between say.
const PackedMemory::State* PackedMemory::Block::of(std::uint32_t tick) const {
  if (states.empty() || states.back().tick < tick) return nullptr;
  const std::size_t most = states.size() - 1;
  std::size_t i = most - std::min<std::size_t>(states.back().tick - tick, most);
  while (states[i].tick < tick) ++i;
  return states[i].tick == tick ? &states[i] : nullptr;
}

void PackedMemory::drop_front(Block& block, std::size_t count) {
  const auto end = block.states.begin() + static_cast<std::ptrdiff_t>(count);
  state_count_ -= count;
  for (auto state = block.states.begin(); state != end; ++state) {
    entity_count_ -= state->entities.size();
    if (spare_.size() < spare_max) spare_.push_back(std::move(*state));
  }
  block.states.erase(block.states.begin(), end);
}

/// Moves what was decoded in among the block's states. Bases only get newer: older states than this one's
/// are of no use any more.
void PackedMemory::keep(Block& block, std::uint32_t tick, std::uint32_t base_tick,
                        std::uint64_t base_members) {
  State now;
  if (!spare_.empty()) now = std::move(spare_.back()), spare_.pop_back();
  now.tick = tick, now.cell = decoded_.cell;
  now.members = decoded_.same_members ? base_members : ++members_;
  std::swap(now.entities, decoded_.entities);
  std::swap(now.fields, decoded_.fields);
  entity_count_ += now.entities.size();
  ++state_count_;
  const bool newest = block.states.empty() || block.states.back().tick <= tick;
  const auto at =
      newest ? block.states.end() : std::ranges::upper_bound(block.states, tick, {}, &State::tick);
  block.states.insert(at, std::move(now));
  const auto older = std::ranges::lower_bound(block.states, base_tick, {}, &State::tick);
  auto over = static_cast<std::size_t>(older - block.states.begin());
  if (block.states.size() - over > block_states_max) over = block.states.size() - block_states_max;
  if (over > 0) drop_front(block, over);
}

/// @param decode  (base, its cell): puts what the block is into decoded_
template <class Decode>
bool PackedMemory::take_block(std::uint16_t number, Item item, View& view, Decode&& decode) {
  const std::uint32_t tick = item.tick, base_tick = item.base_tick();
  Block& block = block_of(number);
  if (tick <= block.gone_tick) return true;
  if (block.of(tick) != nullptr) return true;  // a double
  const bool newest = block.states.empty() || block.states.back().tick < tick;
  BlockBase base{item.age, {}, false, {}, item.tick};
  CellCoord cell;
  std::uint64_t members = 0;
  if (item.age != 0) {
    const State* const held = block.of(base_tick);
    if (held == nullptr) {
      if (newest) lost();  // an old one that was overtaken is no loss
      return true;
    }
    base.entities = held->entities;
    ashlar::prefetch(base.entities.data(), base.entities.size_bytes());
    base.fields = held->fields;
    cell = held->cell;
    members = held->members;
  }
  if (!decode(std::as_const(base), cell)) return false;
  keep(block, tick, base_tick, members);
  if (newest) show(number, block, base_tick, view);
  return true;
}

/// Puts a block's newest state into the view.
void PackedMemory::show(std::uint16_t number, Block& block, std::uint32_t base_tick, View& view) {
  const State& state = block.states.back();
  if (block.shown && block.cell != state.cell) view.forget_block(block.cell, number);
  block.cell = state.cell;
  block.shown = true;
  const bool quiet = decoded_.quiet && base_tick != 0 && state.tick - base_tick > every_ticks_;
  if (quiet) view.confirm_block(state.cell, number, base_tick, state.tick - every_ticks_);
  view.take_block(number, state.cell, state.entities, state.tick, state.members);
}

void PackedMemory::take_gone(std::uint16_t number, std::uint32_t tick, View& view) {
  Block& block = block_of(number);
  block.gone_tick = std::max(block.gone_tick, tick);
  const auto newer = std::ranges::upper_bound(block.states, tick, {}, &State::tick);
  drop_front(block, static_cast<std::size_t>(newer - block.states.begin()));
  if (!block.states.empty() || !block.shown) return;
  view.forget_block(block.cell, number);
  block.shown = false;
}

/// The own player of a tick; end: it is not kept. Most bases are among the newest ones.
std::deque<PackedMemory::Own>::iterator PackedMemory::own_of(std::uint32_t tick) {
  auto at = own_.end();
  while (at != own_.begin() && std::prev(at)->tick > tick) --at;
  return at != own_.begin() && std::prev(at)->tick == tick ? std::prev(at) : own_.end();
}

void PackedMemory::foresee(std::uint32_t tick, const OwnPlayer& own) {
  if (foreseen_.empty()) foreseen_.resize(foreseen_max);
  Foreseen& then = foreseen_[tick % foreseen_max];
  if (then.tick != tick) then = {tick, own_hash(own), own};
}

std::uint32_t PackedMemory::foreseen_hash(std::uint32_t tick) const {
  if (foreseen_.empty() || !foresees_) return 0;
  const Foreseen& then = foreseen_[tick % foreseen_max];
  return then.tick == tick ? then.hash : 0;
}

/// Null: it is not kept.
const OwnPlayer* PackedMemory::own_base(Item item) {
  static constexpr OwnPlayer nobody;
  const std::uint32_t tick = item.tick - item.age;
  if (!item.foreseen) {
    const auto it = own_of(tick);
    return item.age == 0 ? &nobody : it == own_.end() ? nullptr : &it->own;
  }
  return foreseen_hash(tick) != 0 ? &foreseen_[tick % foreseen_max].own : nullptr;
}

/// @param decode  (base, own): makes the one of the other
template <class Decode>
bool PackedMemory::take_own(Item item, SnapshotPart& out, Decode&& decode) {
  const std::uint32_t tick = item.tick;
  const bool newest = own_.empty() || own_.back().tick < tick;
  if (own_of(tick) != own_.end()) return true;  // a double
  const OwnPlayer* const base = own_base(item);
  if (base == nullptr) {
    if (newest) lost();
    // Its way is longer than what is kept: then it is better not said.
    if (newest && item.foreseen) foresees_ = false;
    return true;
  }
  OwnPlayer own;
  if (!decode(*base, own)) return false;
  own_.insert(newest ? own_.end() : std::ranges::lower_bound(own_, tick, {}, &Own::tick), Own{tick, own});
  if (own_.size() > own_states_max) own_.pop_front();
  if (newest) out.own = own;
  return true;
}

template <class Decode>
bool PackedMemory::take_fields(FieldAudience to, std::uint16_t number, std::uint32_t tick, Decode&& decode) {
  if (groups_.size() >= groups_max && !groups_.contains({to, number})) return false;
  Group& group = groups_[{to, number}];
  if (tick <= group.tick) return true;
  std::vector<PrivateEntity> entities;
  if (!decode(entities)) return false;
  group.tick = tick;
  group.entities = std::move(entities);
  return true;
}

bool PackedMemory::find_shared(EntityId id, KnownFields& out) const {
  const auto place_in = [id](const State& state) {
    const auto it =
        std::ranges::lower_bound(state.entities, id, {}, [](const MovingRecord& e) { return e.record.id; });
    const bool there = it != state.entities.end() && it->record.id == id;
    return there ? static_cast<std::size_t>(it - state.entities.begin()) : state.entities.size();
  };
  bool found = false;
  for (const Block& block : blocks_) {
    if (block.states.empty()) continue;
    const State& newest = block.states.back();
    const std::size_t at = place_in(newest);
    if (at >= newest.fields.size() || (found && newest.tick <= out.tick)) continue;
    if (registry_->find(newest.entities[at].record.kind) == nullptr) continue;  // it has no fields
    found = true;
    out = {newest.entities[at].record.kind, newest.tick, newest.tick, newest.fields[at], {}};
    if (block.states.size() < 2) continue;
    const State& before = block.states[block.states.size() - 2];
    const std::size_t was = place_in(before);
    if (was < before.fields.size() && before.entities[was].record.kind == out.kind)
      out.before_tick = before.tick, out.before = before.fields[was];
  }
  return found;
}

bool PackedMemory::find_fields(EntityId id, FieldAudience to, KnownFields& out) const {
  if (to == FieldAudience::all) return find_shared(id, out);
  bool found = false;
  for (const auto& [key, group] : groups_) {
    if (key.first != to || (found && group.tick <= out.tick)) continue;
    const auto it = std::ranges::lower_bound(group.entities, id, {}, &PrivateEntity::id);
    if (it == group.entities.end() || it->id != id) continue;
    found = true;
    out = {it->kind, group.tick, group.tick, it->values, {}};
  }
  return found;
}

void PackedMemory::take_heights(std::size_t map, std::uint16_t slice, std::span<const SliceHeight> heights,
                                Item item, View& view) {
  const std::size_t first = slice * height_slice_sectors;
  if (!view.take_slice(map, first, heights, item.tick, item.base_tick())) return lost();
  for (const SliceHeight& s : heights) {
    runs_.push_back({static_cast<std::uint16_t>(map), static_cast<std::uint16_t>(first + s.sector), 1});
    heights_.push_back(s.heights);
  }
}

}  // namespace ashlar::client_sim
