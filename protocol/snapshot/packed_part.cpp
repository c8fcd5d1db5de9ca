#include "protocol/snapshot/packed_part.h"

#include <algorithm>
#include <cstring>

#include "protocol/bytes.h"
#include "protocol/little_endian.h"
#include "protocol/sector_motion.h"
#include "protocol/snapshot/block_delta.h"
#include "world/math/assert.h"
#include "world/sim/tick_limits.h"

namespace ashlar {
namespace {

constexpr std::size_t item_list_max = 255;

}  // namespace

void PackedPartWriter::put_varint(std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) put(static_cast<std::uint8_t>(value | 0x80));
  put(static_cast<std::uint8_t>(value));
}

void PackedPartWriter::put(std::span<const std::uint8_t> bytes) {
  if (!bytes.empty()) std::memcpy(bytes_.data() + used_, bytes.data(), bytes.size());
  used_ += bytes.size();
}

void PackedPartWriter::begin(const PartHead& head) {
  ASHLAR_ASSERT(head.applied_tick < head.tick + applied_ahead_max);
  used_ = 0;
  put(packed_part_mark);
  put(head.world);
  put(head.epoch);
  put(static_cast<std::uint8_t>(head.input_ahead));
  put_little(bytes_.data() + used_, head.tick);
  used_ += sizeof head.tick;
  put(head.part);
  count_at_ = used_;
  put(head.part_count);
  put_varint(head.applied_tick == 0 ? 0 : head.tick + applied_ahead_max - head.applied_tick);
  head_bytes_ = used_;
  ASHLAR_ASSERT(head_bytes_ <= packed_head_bytes_max);
  open_item_ = {};
}

bool PackedPartWriter::add_block(std::uint16_t number, std::uint32_t age,
                                 std::span<const std::uint8_t> bytes) {
  ASHLAR_ASSERT(age <= base_age_max);
  const bool joins = open_item_ == PackedItem::blocks && bytes_[open_count_at_] < item_list_max;
  const bool other = joins && open_age_ != age;
  const std::uint32_t told = 2 * static_cast<std::uint32_t>(bytes.size()) + (other ? 1 : 0);
  const std::size_t needed =
      (joins ? 0 : 3) + varint_bytes(number) + varint_bytes(told) + (other ? 1 : 0) + bytes.size();
  if (needed > room()) return false;
  if (!joins) {
    put(static_cast<std::uint8_t>(PackedItem::blocks));
    put(static_cast<std::uint8_t>(age));
    open_item_ = PackedItem::blocks, open_count_at_ = used_;
    put(0);
  }
  open_age_ = age;
  ++bytes_[open_count_at_];
  put_varint(number);
  put_varint(told);
  if (other) put(static_cast<std::uint8_t>(age));
  put(bytes);
  return true;
}

bool PackedPartWriter::add_gone(std::uint16_t number) {
  const bool joins = open_item_ == PackedItem::gone && bytes_[open_count_at_] < item_list_max;
  if ((joins ? 0 : 2) + varint_bytes(number) > room()) return false;
  if (!joins) {
    put(static_cast<std::uint8_t>(PackedItem::gone));
    open_item_ = PackedItem::gone, open_count_at_ = used_;
    put(0);
  }
  ++bytes_[open_count_at_];
  put_varint(number);
  return true;
}

bool PackedPartWriter::add_moved(const MovedEntity& moved) {
  ASHLAR_ASSERT(moved.id != EntityId{0});
  const bool joins = open_item_ == PackedItem::moved && bytes_[open_count_at_] < item_list_max;
  if ((joins ? 0 : 2) + sizeof moved.id + varint_bytes(moved.block) > room()) return false;
  if (!joins) {
    put(static_cast<std::uint8_t>(PackedItem::moved));
    open_item_ = PackedItem::moved, open_count_at_ = used_;
    put(0);
  }
  ++bytes_[open_count_at_];
  put_little(bytes_.data() + used_, static_cast<std::uint32_t>(moved.id));
  used_ += sizeof moved.id;
  put_varint(moved.block);
  return true;
}

bool PackedPartWriter::has_room(std::size_t moved, std::size_t block_bytes) const {
  constexpr std::size_t moved_bytes_max = sizeof(EntityId) + 3;
  return block_bytes + packed_item_bytes_max + 2 + moved * moved_bytes_max <= room();
}

bool PackedPartWriter::add_own(std::uint32_t age, std::span<const std::uint8_t> bytes, bool foreseen) {
  ASHLAR_ASSERT(age <= base_age_max && bytes.size() <= 255);
  if (3 + bytes.size() > room()) return false;
  open_item_ = {};
  put(static_cast<std::uint8_t>(foreseen ? PackedItem::own_foreseen : PackedItem::own));
  put(static_cast<std::uint8_t>(age));
  put(static_cast<std::uint8_t>(bytes.size()));
  put(bytes);
  return true;
}

bool PackedPartWriter::add_heights(std::uint8_t map, std::uint16_t slice, std::uint32_t age,
                                   std::span<const std::uint8_t> bytes) {
  ASHLAR_ASSERT(age <= base_age_max);
  const auto size = static_cast<std::uint32_t>(bytes.size());
  if (3 + varint_bytes(slice) + varint_bytes(size) + size > room()) return false;
  open_item_ = {};
  put(static_cast<std::uint8_t>(PackedItem::heights));
  put(static_cast<std::uint8_t>(age));
  put(map);
  put_varint(slice);
  put_varint(size);
  put(bytes);
  return true;
}

bool PackedPartWriter::add_motion(const WireMotion& motion) {
  if (1 + sizeof motion > room()) return false;
  open_item_ = {};
  put(static_cast<std::uint8_t>(PackedItem::motion));
  std::memcpy(bytes_.data() + used_, &motion,
              sizeof motion);  // little endian, as snapshot_writer.cpp asserts
  used_ += sizeof motion;
  return true;
}

bool PackedPartWriter::add_fields(FieldAudience to, std::uint16_t number,
                                  std::span<const std::uint8_t> bytes) {
  ASHLAR_ASSERT(to != FieldAudience::all);
  const auto size = static_cast<std::uint32_t>(bytes.size());
  if (2 + varint_bytes(number) + varint_bytes(size) + size > room()) return false;
  open_item_ = {};
  put(static_cast<std::uint8_t>(PackedItem::fields));
  put(static_cast<std::uint8_t>(to));
  put_varint(number);
  put_varint(size);
  put(bytes);
  return true;
}

bool PackedPartWriter::add_cues(std::span<const std::uint8_t> bytes) {
  ASHLAR_ASSERT(bytes.size() <= 255);
  if (2 + bytes.size() > room()) return false;
  open_item_ = {};
  put(static_cast<std::uint8_t>(PackedItem::cues));
  put(static_cast<std::uint8_t>(bytes.size()));
  put(bytes);
  return true;
}

std::uint8_t PackedPartReader::get() {
  if (rest_.empty()) {
    failed_ = true;
    return 0;
  }
  const std::uint8_t byte = rest_[0];
  rest_ = rest_.subspan(1);
  return byte;
}

std::uint32_t PackedPartReader::get_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    const std::uint8_t byte = get();
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      if (value > 0xffffffffu || (byte == 0 && shift > 0)) failed_ = true;  // one way to write a number
      return failed_ ? 0 : static_cast<std::uint32_t>(value);
    }
  }
  failed_ = true;
  return 0;
}

std::span<const std::uint8_t> PackedPartReader::get_bytes(std::size_t count) {
  if (count > rest_.size()) {
    failed_ = true;
    return {};
  }
  const auto out = rest_.first(count);
  rest_ = rest_.subspan(count);
  return out;
}

std::optional<PackedPartReader> PackedPartReader::open(std::span<const std::uint8_t> message) {
  PackedPartReader reader;
  reader.rest_ = message;
  if (reader.get() != packed_part_mark) return std::nullopt;
  PartHead& head = reader.head_;
  head.world = reader.get();
  head.epoch = reader.get();
  head.input_ahead = static_cast<std::int8_t>(reader.get());
  const auto tick = reader.get_bytes(sizeof head.tick);
  if (reader.failed_) return std::nullopt;
  head.tick = get_little<std::uint32_t>(tick.data());
  head.part = reader.get();
  head.part_count = reader.get();
  const std::uint32_t applied = reader.get_varint();
  if (reader.failed_ || head.epoch == 0 || head.part >= head.part_count ||
      head.part_count > snapshot_parts_max || head.tick > world_ticks_max)
    return std::nullopt;
  if (applied > head.tick + std::uint64_t{applied_ahead_max}) return std::nullopt;
  head.applied_tick =
      applied == 0 ? 0 : static_cast<std::uint32_t>(head.tick + std::uint64_t{applied_ahead_max} - applied);
  return reader;
}

const PackedEntry* PackedPartReader::next() {
  if (failed_ || (open_left_ == 0 && rest_.empty())) return nullptr;
  PackedEntry& out = entry_;
  out = {};
  if (open_left_ == 0) {
    open_item_ = static_cast<PackedItem>(get());
    const bool based = open_item_ == PackedItem::blocks || open_item_ == PackedItem::own ||
                       open_item_ == PackedItem::own_foreseen || open_item_ == PackedItem::heights;
    open_age_ = based ? get() : 0;
    const bool list =
        open_item_ == PackedItem::blocks || open_item_ == PackedItem::gone || open_item_ == PackedItem::moved;
    open_left_ = list ? get() : 1;
    if (open_left_ == 0) failed_ = true;
  }
  --open_left_;
  out.item = open_item_;
  out.age = open_age_;
  const auto number = [this] {
    const std::uint32_t value = get_varint();
    if (value > 0xffff) failed_ = true;
    return static_cast<std::uint16_t>(value);
  };
  switch (open_item_) {
    case PackedItem::blocks: {
      out.number = number();
      const std::uint32_t told = get_varint();
      if ((told & 1) != 0) out.age = open_age_ = get();
      out.bytes = get_bytes(told >> 1);
      break;
    }
    case PackedItem::gone: out.number = number(); break;
    case PackedItem::moved:
      if (const auto id = get_bytes(sizeof out.id); !failed_)
        out.id = EntityId{get_little<std::uint32_t>(id.data())};
      out.number = number();
      if (out.id == EntityId{0}) failed_ = true;
      break;
    case PackedItem::own:
    case PackedItem::own_foreseen:
    case PackedItem::cues: out.bytes = get_bytes(get()); break;
    case PackedItem::heights:
      out.map = get();
      out.number = number();
      out.bytes = get_bytes(get_varint());
      if (out.map >= placed_maps_max || out.number >= 65536 / height_slice_sectors) failed_ = true;
      break;
    case PackedItem::motion:
      if (const auto bytes = get_bytes(sizeof out.motion); !failed_)
        std::memcpy(&out.motion, bytes.data(), sizeof out.motion);
      if (!failed_ && !motion_ok(out.motion)) failed_ = true;
      break;
    case PackedItem::fields:
      out.to = static_cast<FieldAudience>(get());
      out.number = number();
      out.bytes = get_bytes(get_varint());
      if (out.to != FieldAudience::owner && out.to != FieldAudience::team) failed_ = true;
      break;
    default: failed_ = true;
  }
  return failed_ ? nullptr : &out;
}

}  // namespace ashlar
