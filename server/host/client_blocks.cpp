#include "server/host/client_blocks.h"

#include <algorithm>
#include <utility>

#include "protocol/snapshot/block_delta.h"
#include "protocol/snapshot/own_delta.h"
#include "server/host/mover_replication.h"
#include "world/math/assert.h"

namespace ashlar::server {

static_assert(sizeof(ClientBlock) * client_blocks_max + 24 * journal_packets_max +
                  sizeof(JournalItem) * journal_items_max + 168 * (own_bases_max + 1) +
                  2 * client_blocks_max <=
              56 * 1024);
static_assert((journal_items_max & (journal_items_max - 1)) == 0, "places are numbers modulo it");

ClientBlocks::ClientBlocks()
    : packets_(journal_packets_max), items_(journal_items_max), own_(own_bases_max) {}

void ClientBlocks::reset() {
  blocks_.clear();
  numbers_.clear();
  packet_first_ = packet_count_ = 0;
  next_item_ = 0;
  own_ticks_.fill(0);
  own_held_ = 0;
  own_foreseen_.tick = 0;
  std::ranges::fill(slices_, 0u);
  std::ranges::fill(motions_, 0u);
  next_slice = next_motion = 0;
  uneven_tick = 0;
  waits = {};
  fields_.clear();
  epoch_ = epoch_ == 255 ? std::uint8_t{1} : static_cast<std::uint8_t>(epoch_ + 1);
}

/// Of the first entry whose number is not less. Asked for some forty times for each snapshot, and which way
/// it goes cannot be foreseen: no branches.
std::size_t ClientBlocks::place_of(std::uint16_t number) const {
  const std::uint16_t* first = numbers_.data();
  std::size_t count = numbers_.size();
  while (count > 1) {
    const std::size_t half = count / 2;
    first += first[half - 1] < number ? half : 0;
    count -= half;
  }
  const auto at = static_cast<std::size_t>(first - numbers_.data());
  return at + (count == 1 && *first < number ? 1 : 0);
}

const ClientBlock* ClientBlocks::find(std::uint16_t number) const {
  const std::size_t at = place_of(number);
  return at < numbers_.size() && numbers_[at] == number ? &blocks_[at] : nullptr;
}

ClientBlock* ClientBlocks::find(std::uint16_t number) {
  const std::size_t at = place_of(number);
  return at < numbers_.size() && numbers_[at] == number ? &blocks_[at] : nullptr;
}

ClientBlock* ClientBlocks::want(std::uint16_t number, std::size_t seat, std::uint32_t born,
                                std::uint32_t tick) {
  const bool has_seat = seat < numbers_.size() && numbers_[seat] == number;
  const auto at = static_cast<std::ptrdiff_t>(has_seat ? seat : place_of(number));
  if (at == std::ssize(numbers_) || numbers_[static_cast<std::size_t>(at)] != number) {
    if (blocks_.size() == client_blocks_max) return nullptr;
    numbers_.insert(numbers_.begin() + at, number);
    ClientBlock& made = *blocks_.insert(blocks_.begin() + at, ClientBlock{});
    made.number = number;
    made.born = born;
    made.since = tick;
    made.told = tick;  // it has been waiting since now
  }
  ClientBlock* const entry = &blocks_[static_cast<std::size_t>(at)];
  if (entry->leaving || entry->born != born) {
    // What it holds under this number may have been forgotten, or was another block: whole again.
    entry->leaving = false;
    entry->born = born;
    entry->since = tick;
    entry->held = entry->before = 0;
    entry->told = tick;
  }
  entry->wanted = tick;
  return entry;
}

void ClientBlocks::let_go(std::uint32_t unwanted_since, std::uint32_t tick) {
  bool never_told = false;
  for (ClientBlock& entry : blocks_) {
    if (!entry.leaving && entry.wanted < unwanted_since) {
      entry.leaving = true;
      entry.leaving_since = tick;
    }
    never_told = never_told || (entry.leaving && entry.sent == 0);
  }
  if (!never_told) return;
  std::erase_if(blocks_, [](const ClientBlock& entry) { return entry.leaving && entry.sent == 0; });
  numbers_.clear();
  for (const ClientBlock& entry : blocks_) numbers_.push_back(entry.number);
}

void ClientBlocks::note_sent(std::uint64_t sequence, std::uint32_t tick, std::span<const JournalItem> items) {
  if (items.size() > journal_items_max / 4) items = items.first(journal_items_max / 4);
  // The oldest give way: they count as lost.
  while (packet_count_ > 0) {
    const Packet& oldest = packets_[packet_first_];
    const bool room =
        packet_count_ < packets_.size() && next_item_ + items.size() - oldest.first <= journal_items_max;
    if (room) break;
    packet_first_ = (packet_first_ + 1) % packets_.size();
    --packet_count_;
  }
  Packet& packet = packets_[(packet_first_ + packet_count_++) % packets_.size()];
  newest_sequence_ = sequence;
  packet = {sequence, tick, next_item_, static_cast<std::uint32_t>(items.size()), 0};
  for (const JournalItem& item : items) items_[next_item_++ % journal_items_max] = item;
}

void ClientBlocks::apply(const JournalItem& item, std::uint32_t tick) {
  switch (item.kind) {
    case JournalItem::Kind::block:
      if (ClientBlock* entry = find(item.number, item.seat);
          entry != nullptr && !entry->leaving && entry->since <= tick) {
        if (tick > entry->held)
          entry->before = std::exchange(entry->held, tick);
        else if (tick < entry->held)
          entry->before = std::max(entry->before, tick);
      }
      return;
    case JournalItem::Kind::gone:
      if (const ClientBlock* entry = find(item.number);
          entry != nullptr && entry->leaving && entry->leaving_since <= tick) {
        const auto at = entry - blocks_.data();
        blocks_.erase(blocks_.begin() + at);
        numbers_.erase(numbers_.begin() + at);
      }
      return;
    case JournalItem::Kind::own: own_held_ = std::max(own_held_, tick); return;
    case JournalItem::Kind::heights:
      slice_held(item.number) = std::max(slice_held(item.number), tick);
      return;
    case JournalItem::Kind::fields: {
      const auto it = std::ranges::lower_bound(fields_, item.number, {}, &ClientFields::key);
      if (it == fields_.end() || it->key != item.number || it->since > tick) return;
      it->held = std::max(it->held, tick);
      return;
    }
    case JournalItem::Kind::cues: return;  // lost ones are lost
    case JournalItem::Kind::motion:
      if (item.number >= motion_keys_max) return;
      if (item.number >= motions_.size()) motions_.resize(item.number + std::size_t{1}, 0);
      motions_[item.number] = std::max(motions_[item.number], tick);
      return;
  }
}

void ClientBlocks::note_fate(const Connection::Fate& fate, std::uint32_t now) {
  if (!fate.acked) return;
  if (packet_count_ == 0) return;
  const auto at = [this](std::size_t i) -> Packet& {
    return packets_[(packet_first_ + i) % packets_.size()];
  };
  if (fate.sequence > newest_sequence_) return;
  std::size_t place = least_place_of(fate.sequence);
  while (at(place).sequence < fate.sequence) ++place;
  if (at(place).sequence != fate.sequence) return;
  Packet& packet = at(place);
  if (packet.acked_at == 0) packet.acked_at = now;
  for (std::uint32_t i = 0; i < packet.count; ++i)
    apply(items_[(packet.first + i) % journal_items_max], packet.tick);
}

ClientBlocks::OwnBase ClientBlocks::own_base(std::uint32_t tick) const {
  const bool foreseen =
      own_foreseen_.tick != 0 && own_foreseen_.tick <= tick && tick - own_foreseen_.tick <= foreseen_age_max;
  const bool held = own_held_ != 0 && own_held_ < tick && tick - own_held_ <= base_age_max;
  if (foreseen && (!held || own_foreseen_.tick > own_held_))
    return {&own_foreseen_.own, own_foreseen_.tick, true};
  return held ? OwnBase{held_own(), own_held_, false} : OwnBase{};
}

void ClientBlocks::note_own(std::uint32_t tick, const OwnPlayer& own) {
  own_ticks_[next_own_] = tick;
  own_[next_own_] = own;
  next_own_ = (next_own_ + 1) % own_.size();
}

std::uint32_t& ClientBlocks::slice_held(std::size_t slice) {
  if (slice >= slices_.size()) slices_.resize(slice + 1, 0);
  return slices_[slice];
}

ClientFields& ClientBlocks::want_fields(std::uint16_t key, std::uint32_t source, std::uint32_t tick) {
  auto it = std::ranges::lower_bound(fields_, key, {}, &ClientFields::key);
  if (it == fields_.end() || it->key != key) it = fields_.insert(it, ClientFields{key, source, tick, 0, 0});
  // Another team's group by the same key, or one that was gone: whole again.
  if (it->source != source) *it = {key, source, tick, 0, 0};
  it->wanted = tick;
  return *it;
}

std::size_t ClientBlocks::memory_bytes() const {
  return sizeof *this + blocks_.capacity() * sizeof(ClientBlock) +
         numbers_.capacity() * sizeof(std::uint16_t) + packets_.capacity() * sizeof(Packet) +
         items_.capacity() * sizeof(JournalItem) + own_.capacity() * sizeof(OwnPlayer) +
         (slices_.capacity() + motions_.capacity()) * sizeof(std::uint32_t) + waits.memory_bytes() +
         fields_.capacity() * sizeof(ClientFields);
}

}  // namespace ashlar::server
