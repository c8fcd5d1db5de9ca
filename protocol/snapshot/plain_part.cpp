#include "protocol/snapshot/plain_part.h"

#include <flatbuffers/flatbuffers.h>

#include <cstring>
#include <vector>

#include "protocol/schema/server_message_generated.h"
#include "protocol/snapshot/plain_codec.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

static_assert(sizeof(wire::SliceHeader) == sizeof(SliceHeader));
static_assert(sizeof(wire::GroupHeader) == sizeof(GroupHeader));
static_assert(sizeof(wire::MovedEntity) == sizeof(MovedEntity));
static_assert(sizeof(wire::SectorMotion) == sizeof(WireMotion));

/// Of a list in use: its offset, its length, and what aligns it.
constexpr std::size_t list_bytes = 16;
constexpr std::size_t own_padding_bytes = 8;

/// Structs of the schema, one behind the other.
struct StructList {
  std::vector<std::uint8_t> bytes;

  void clear() { bytes.clear(); }
  void append(std::span<const std::uint8_t> more) { bytes.insert(bytes.end(), more.begin(), more.end()); }
  template <class Value>
  void put(const Value& value) {
    std::uint8_t raw[sizeof(Value)];
    std::memcpy(raw, &value, sizeof value);
    append(raw);
  }
  /// What so many bytes more cost.
  std::size_t cost(std::size_t more) const { return more == 0 ? 0 : more + (bytes.empty() ? list_bytes : 0); }

  /// CreateVectorOfStructs aligns by the struct's alignment. The variant that hands out uninitialised memory
  /// aligns by its size, which is wrong for sizes that are no power of two.
  template <class Wire>
  flatbuffers::Offset<flatbuffers::Vector<const Wire*>> structs(flatbuffers::FlatBufferBuilder& fbb) const {
    if (bytes.empty()) return {};
    return fbb.CreateVectorOfStructs(reinterpret_cast<const Wire*>(bytes.data()),
                                     bytes.size() / sizeof(Wire));
  }
  template <class Number>
  flatbuffers::Offset<flatbuffers::Vector<Number>> numbers(flatbuffers::FlatBufferBuilder& fbb) const {
    if (bytes.empty()) return {};
    return fbb.CreateVector(reinterpret_cast<const Number*>(bytes.data()), bytes.size() / sizeof(Number));
  }
};

}  // namespace

struct PlainPartWriter::Impl {
  flatbuffers::FlatBufferBuilder fbb{2 * unreliable_bytes_max};
  PartHead head;
  std::size_t used = 0;
  bool made = false;
  std::vector<std::uint8_t> own;
  std::uint8_t own_age = 0;
  StructList blocks, entities, fields, removed, gone, slices, heights, motions, groups, grouped, values, cues,
      moved;

  bool has_room(std::size_t bytes) {
    ASHLAR_ASSERT(!made);
    if (used + bytes > unreliable_bytes_max) return false;
    used += bytes;
    return true;
  }
  void make();
};

void PlainPartWriter::Impl::make() {
  fbb.Clear();
  const auto moved_list = moved.structs<wire::MovedEntity>(fbb);
  const auto cue_list = cues.structs<wire::Cue>(fbb);
  const auto value_list = values.numbers<std::uint32_t>(fbb);
  const auto grouped_list = grouped.structs<wire::GroupedEntity>(fbb);
  const auto group_list = groups.structs<wire::GroupHeader>(fbb);
  const auto motion_list = motions.structs<wire::SectorMotion>(fbb);
  const auto height_list = heights.structs<wire::SectorHeight>(fbb);
  const auto slice_list = slices.structs<wire::SliceHeader>(fbb);
  const auto gone_list = gone.numbers<std::uint16_t>(fbb);
  const auto removed_list = removed.numbers<std::uint32_t>(fbb);
  const auto field_list = fields.structs<wire::FieldBits>(fbb);
  const auto entity_list = entities.structs<wire::EntityRecord>(fbb);
  const auto block_list = blocks.structs<wire::BlockHeader>(fbb);
  wire::SnapshotBuilder builder(fbb);
  if (!own.empty()) {
    builder.add_own(reinterpret_cast<const wire::OwnPlayer*>(own.data()));
    std::uint16_t turn = 0;
    std::memcpy(&turn, own.data() + sizeof(wire::OwnPlayer), sizeof turn);
    builder.add_own_delta_yaw(turn);
  } else {
    builder.add_own_age(own_age);
  }
  builder.add_blocks(block_list);
  builder.add_entities(entity_list);
  builder.add_fields(field_list);
  builder.add_removed(removed_list);
  builder.add_gone(gone_list);
  builder.add_slices(slice_list);
  builder.add_heights(height_list);
  builder.add_motions(motion_list);
  builder.add_groups(group_list);
  builder.add_grouped(grouped_list);
  builder.add_values(value_list);
  builder.add_cues(cue_list);
  builder.add_moved(moved_list);
  builder.add_tick(head.tick);
  builder.add_applied_tick(head.applied_tick);
  builder.add_input_ahead(head.input_ahead);
  builder.add_world(head.world);
  builder.add_epoch(head.epoch);
  builder.add_part(head.part);
  builder.add_part_count(head.part_count);
  const auto snapshot = builder.Finish();
  fbb.Finish(wire::CreateServerMessage(fbb, wire::ServerBody::Snapshot, snapshot.Union()),
             wire::ServerMessageIdentifier());
  ASHLAR_ASSERT(fbb.GetSize() <= used);
  made = true;
}

PlainPartWriter::PlainPartWriter() : impl_(std::make_unique<Impl>()) {}
PlainPartWriter::~PlainPartWriter() = default;
PlainPartWriter::PlainPartWriter(PlainPartWriter&&) noexcept = default;
PlainPartWriter& PlainPartWriter::operator=(PlainPartWriter&&) noexcept = default;

void PlainPartWriter::begin(const PartHead& head) {
  Impl& in = *impl_;
  in.head = head;
  in.used = plain_part_fixed_bytes;
  in.made = false;
  in.own.clear();
  in.own_age = 0;
  for (StructList* list :
       {&in.blocks, &in.entities, &in.fields, &in.removed, &in.gone, &in.slices, &in.heights, &in.motions,
        &in.groups, &in.grouped, &in.values, &in.cues, &in.moved})
    list->clear();
}

bool PlainPartWriter::add_block(std::uint16_t number, std::uint32_t age,
                                std::span<const std::uint8_t> bytes) {
  Impl& in = *impl_;
  BlockHeader header;
  ASHLAR_ASSERT(age <= base_age_max && bytes.size() >= sizeof header);
  std::memcpy(&header, bytes.data(), sizeof header);
  header.number = number;
  header.age = static_cast<std::uint8_t>(age);
  const std::size_t entity_bytes = header.entity_count * sizeof(EntityRecord);
  const std::size_t removed_bytes = header.removed_count * sizeof(EntityId);
  const std::size_t field_bytes = bytes.size() - sizeof header - entity_bytes - removed_bytes;
  if (!in.has_room(in.blocks.cost(sizeof header) + in.entities.cost(entity_bytes) +
                   in.fields.cost(field_bytes) + in.removed.cost(removed_bytes)))
    return false;
  in.blocks.put(header);
  in.entities.append(bytes.subspan(sizeof header, entity_bytes));
  in.fields.append(bytes.subspan(sizeof header + entity_bytes, field_bytes));
  in.removed.append(bytes.last(removed_bytes));
  return true;
}

bool PlainPartWriter::add_gone(std::uint16_t number) {
  if (!impl_->has_room(impl_->gone.cost(sizeof number))) return false;
  impl_->gone.put(number);
  return true;
}

bool PlainPartWriter::add_moved(const MovedEntity& moved) {
  ASHLAR_ASSERT(moved.id != EntityId{0} && moved.reserved == 0);
  if (!impl_->has_room(impl_->moved.cost(sizeof moved))) return false;
  impl_->moved.put(moved);
  return true;
}

bool PlainPartWriter::has_room(std::size_t moved, std::size_t block_bytes) const {
  // A block touches at most four lists.
  const std::size_t most = block_bytes + 5 * list_bytes + moved * sizeof(MovedEntity);
  return impl_->used + most <= unreliable_bytes_max;
}

bool PlainPartWriter::add_own(std::uint32_t age, std::span<const std::uint8_t> bytes) {
  ASHLAR_ASSERT(age <= base_age_max && (bytes.size() == plain_own_bytes || (bytes.empty() && age > 0)));
  if (!impl_->has_room(bytes.empty() ? 1 : bytes.size() + own_padding_bytes)) return false;
  impl_->own.assign(bytes.begin(), bytes.end());
  impl_->own_age = static_cast<std::uint8_t>(age);
  return true;
}

bool PlainPartWriter::add_heights(std::uint8_t map, std::uint16_t slice, std::uint32_t age,
                                  std::span<const std::uint8_t> bytes) {
  Impl& in = *impl_;
  ASHLAR_ASSERT(age <= base_age_max);
  const std::size_t count = bytes.size() / sizeof(SliceHeight);
  if (!in.has_room(in.slices.cost(sizeof(wire::SliceHeader)) + in.heights.cost(bytes.size()))) return false;
  in.slices.put(
      wire::SliceHeader(slice, map, static_cast<std::uint8_t>(age), static_cast<std::uint8_t>(count)));
  in.heights.append(bytes);
  return true;
}

bool PlainPartWriter::add_motion(const WireMotion& motion) {
  if (!impl_->has_room(impl_->motions.cost(sizeof motion))) return false;
  impl_->motions.put(motion);
  return true;
}

bool PlainPartWriter::add_fields(FieldAudience to, std::uint16_t number,
                                 std::span<const std::uint8_t> bytes) {
  Impl& in = *impl_;
  ASHLAR_ASSERT(to != FieldAudience::all);
  std::uint32_t count = 0;
  std::memcpy(&count, bytes.data(), sizeof count);
  const auto entities = bytes.subspan(sizeof count, count * sizeof(GroupedEntity));
  const auto values = bytes.subspan(sizeof count + entities.size());
  if (!in.has_room(in.groups.cost(sizeof(GroupHeader)) + in.grouped.cost(entities.size()) +
                   in.values.cost(values.size())))
    return false;
  in.groups.put(wire::GroupHeader(number, static_cast<std::uint8_t>(to), static_cast<std::uint8_t>(count)));
  in.grouped.append(entities);
  in.values.append(values);
  return true;
}

bool PlainPartWriter::add_cues(std::span<const std::uint8_t> bytes) {
  if (!impl_->has_room(impl_->cues.cost(bytes.size()))) return false;
  impl_->cues.append(bytes);
  return true;
}

void PlainPartWriter::set_part_count(std::size_t parts) {
  impl_->head.part_count = static_cast<std::uint8_t>(parts);
  impl_->make();
}

std::size_t PlainPartWriter::size() const { return impl_->made ? impl_->fbb.GetSize() : impl_->used; }

std::span<const std::uint8_t> PlainPartWriter::bytes() const {
  if (!impl_->made) return {};
  return {impl_->fbb.GetBufferPointer(), impl_->fbb.GetSize()};
}

}  // namespace ashlar
