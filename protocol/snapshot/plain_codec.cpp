#include "protocol/snapshot/plain_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "protocol/schema/server_message_generated.h"
#include "protocol/snapshot/height_delta.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

// Structs are copied between ours and the schema's as they are.
static_assert(std::endian::native == std::endian::little, "the wire is little endian");
static_assert(sizeof(wire::BlockHeader) == sizeof(BlockHeader));
static_assert(sizeof(wire::EntityRecord) == sizeof(EntityRecord));
static_assert(sizeof(wire::FieldBits) == sizeof(FieldBits));
static_assert(sizeof(wire::SectorHeight) == sizeof(SliceHeight));
static_assert(sizeof(wire::GroupedEntity) == sizeof(GroupedEntity));
static_assert(sizeof(wire::Cue) == plain_cue_bytes);
static_assert(sizeof(wire::OwnPlayer) + sizeof(std::uint16_t) == plain_own_bytes);

/// Appends structs to memory that somebody else owns.
class StructWriter {
 public:
  explicit StructWriter(std::span<std::uint8_t> out) : out_(out) {}
  template <class Value>
  void put(const Value& value) {
    ASHLAR_ASSERT(used_ + sizeof value <= out_.size());
    std::memcpy(out_.data() + used_, &value, sizeof value);
    used_ += sizeof value;
  }
  std::size_t used() const { return used_; }

 private:
  std::span<std::uint8_t> out_;
  std::size_t used_ = 0;
};

wire::Vec wire_vec(DVec3 v) { return {v.x, v.y, v.z}; }

FieldBits pack_fields(const ReplicatedKind* kind, const FieldValues& values) {
  std::uint64_t bits = 0;
  unsigned at = 0;
  for (std::size_t f = 0; kind != nullptr && f < kind->fields.size(); ++f) {
    if (kind->fields[f].to != FieldAudience::all) continue;
    bits |= std::uint64_t{values[f]} << at;
    at += kind->fields[f].bits;
  }
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}

/// False: there are bits that no field has.
bool unpack_fields(const ReplicatedKind* kind, const FieldBits& packed, FieldValues& values) {
  std::uint64_t bits = packed.low | std::uint64_t{packed.high} << 32;
  values = {};
  for (std::size_t f = 0; kind != nullptr && f < kind->fields.size(); ++f) {
    if (kind->fields[f].to != FieldAudience::all) continue;
    const unsigned wide = kind->fields[f].bits;
    values[f] = static_cast<std::uint32_t>(bits & (0xffffffffu >> (32 - wide)));
    bits >>= wide;
  }
  return bits == 0;
}

/// Which of the entities of now are not as in the base, and which of the base's are gone.
struct Difference {
  std::uint64_t changed = 0, removed = 0;
  static_assert(block_entities_max <= 64);
  std::size_t changed_count() const { return static_cast<std::size_t>(std::popcount(changed)); }
  std::size_t removed_count() const { return static_cast<std::size_t>(std::popcount(removed)); }
};

Difference compare(const BlockContent& now, const BlockBase& base) {
  Difference out;
  std::size_t b = 0;
  for (std::size_t n = 0; n < now.entities.size(); ++n) {
    const EntityRecord& e = now.entities[n].record;
    for (; b < base.entities.size() && base.entities[b].record.id < e.id; ++b)
      out.removed |= std::uint64_t{1} << b;
    const bool there = b < base.entities.size() && base.entities[b].record.id == e.id;
    const bool same =
        there && base.entities[b].record == e && (now.fields.empty() || now.fields[n] == base.fields[b]);
    if (!same) out.changed |= std::uint64_t{1} << n;
    if (there) ++b;
  }
  for (; b < base.entities.size(); ++b) out.removed |= std::uint64_t{1} << b;
  return out;
}

}  // namespace

PlainCoded encode_plain_block(const BlockContent& now, const BlockBase& base, std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(out.size() >= plain_block_bytes_max && now.entities.size() <= block_entities_max);
  const bool with_fields = now.registry != nullptr && now.registry->shares_fields();
  const std::size_t entity_bytes = sizeof(EntityRecord) + (with_fields ? sizeof(FieldBits) : 0);
  Difference what = compare(now, base);
  const std::size_t bytes = what.changed_count() * entity_bytes + what.removed_count() * sizeof(EntityId);
  const bool whole = base.age == 0 || bytes >= now.entities.size() * entity_bytes;
  if (whole) what = {now.entities.empty() ? 0 : ~std::uint64_t{0} >> (64 - now.entities.size()), 0};

  StructWriter to(out.first(plain_block_bytes_max));
  BlockHeader header;
  header.cell = now.cell;
  header.flags = !whole && base.quiet ? block_flag::quiet : std::uint8_t{0};
  header.entity_count = static_cast<std::uint8_t>(what.changed_count());
  header.removed_count = static_cast<std::uint8_t>(what.removed_count());
  to.put(header);
  for (std::size_t i = 0; i < now.entities.size(); ++i)
    if ((what.changed >> i & 1) != 0) to.put(now.entities[i].record);
  for (std::size_t i = 0; with_fields && i < now.entities.size(); ++i)
    if ((what.changed >> i & 1) != 0)
      to.put(pack_fields(now.registry->find(now.entities[i].record.kind), now.fields[i]));
  for (std::size_t i = 0; i < base.entities.size(); ++i)
    if ((what.removed >> i & 1) != 0) to.put(base.entities[i].record.id);
  return {whole ? 0 : base.age, to.used()};
}

std::size_t encode_plain_own(const OwnPlayer& own, std::span<std::uint8_t> out) {
  const Body& b = own.body;
  StructWriter to(out);
  to.put(wire::OwnPlayer(wire_vec(b.position_m), wire_vec(b.velocity_mps), wire_vec(b.recovery_velocity_mps),
                         wire_vec(b.recovery_target_m), wire_vec(b.last_free_m), b.eye_offset_m,
                         static_cast<std::uint32_t>(own.id), b.grounded, b.stuck_ticks, b.noclip,
                         own.health));
  to.put(static_cast<std::uint16_t>(own.delta_yaw));
  return to.used();
}

std::size_t encode_plain_heights(std::span<const SliceHeight> changed, std::span<std::uint8_t> out) {
  StructWriter to(out);
  for (const SliceHeight& s : changed)
    to.put(wire::SectorHeight(s.sector, s.heights.floor, s.heights.ceiling));
  return to.used();
}

std::size_t encode_plain_group(std::span<const PrivateEntity> group, FieldAudience to,
                               const ReplicationRegistry& registry, std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(group.size() <= private_entities_max);
  StructWriter bytes(out);
  bytes.put(static_cast<std::uint32_t>(group.size()));
  for (const PrivateEntity& e : group) {
    const ReplicatedKind* const kind = registry.find(e.kind);
    ASHLAR_ASSERT(kind != nullptr);
    const auto count = std::ranges::count(kind->fields, to, &FieldTraits::to);
    bytes.put(wire::GroupedEntity(static_cast<std::uint32_t>(e.id), static_cast<std::uint8_t>(e.kind),
                                  static_cast<std::uint8_t>(count)));
  }
  for (const PrivateEntity& e : group) {
    const ReplicatedKind& kind = *registry.find(e.kind);
    for (std::size_t f = 0; f < kind.fields.size(); ++f)
      if (kind.fields[f].to == to) bytes.put(e.values[f]);
  }
  return bytes.used();
}

std::size_t encode_plain_cues(std::span<const Cue> cues, std::span<std::uint8_t> out) {
  const std::size_t count = std::min({cues.size(), cues_max, out.size() / plain_cue_bytes});
  StructWriter to(out);
  for (const Cue& c : cues.first(count))
    to.put(wire::Cue(c.place.x, c.place.y, c.place.z, static_cast<std::uint32_t>(c.who),
                     static_cast<std::uint8_t>(c.kind), c.detail, c.age,
                     static_cast<std::uint8_t>(c.placed)));
  return count;
}

bool apply_plain_block(const PlainBlock& block, const BlockBase& base, const ReplicationRegistry* registry,
                       DecodedBlock& out) {
  const bool with_fields = registry != nullptr && registry->shares_fields();
  if (block.fields.size() != (with_fields ? block.entities.size() : 0)) return false;
  out.cell = block.header.cell;
  out.quiet = (block.header.flags & block_flag::quiet) != 0;
  out.same_members = false;
  out.entities.clear();
  out.fields.clear();
  std::size_t b = 0, r = 0;
  // Takes those of the base below an id, but for the removed; the one of the id is replaced.
  const auto copy_base = [&](const EntityId* below) {
    for (; b < base.entities.size() && (below == nullptr || base.entities[b].record.id < *below); ++b) {
      if (r < block.removed.size() && block.removed[r] == base.entities[b].record.id) {
        ++r;
        continue;
      }
      out.entities.push_back(base.entities[b]);
      if (with_fields) out.fields.push_back(base.fields[b]);
    }
    if (below != nullptr && b < base.entities.size() && base.entities[b].record.id == *below) ++b;
  };
  for (std::size_t i = 0; i < block.entities.size(); ++i) {
    const EntityRecord& e = block.entities[i];
    copy_base(&e.id);
    out.entities.push_back({e, {}});
    if (with_fields && !unpack_fields(registry->find(e.kind), block.fields[i], out.fields.emplace_back()))
      return false;
  }
  copy_base(nullptr);
  return r == block.removed.size() && out.entities.size() <= block_entities_max;
}

bool read_plain_group(FieldAudience to, std::span<const GroupedEntity> entities,
                      std::span<const std::uint32_t>& values, const ReplicationRegistry& registry,
                      std::vector<PrivateEntity>& out) {
  out.clear();
  for (const GroupedEntity& entity : entities) {
    const ReplicatedKind* const kind = registry.find(entity.kind);
    if (kind == nullptr || entity.value_count > values.size() || !kind->has(to) ||
        std::ranges::count(kind->fields, to, &FieldTraits::to) != entity.value_count)
      return false;
    PrivateEntity& e = out.emplace_back(PrivateEntity{entity.id, entity.kind, {}});
    for (std::size_t f = 0; f < kind->fields.size(); ++f) {
      if (kind->fields[f].to != to) continue;
      e.values[f] = values.front();
      values = values.subspan(1);
      if (kind->fields[f].bits < 32 && e.values[f] >> kind->fields[f].bits != 0) return false;
    }
  }
  return true;
}

}  // namespace ashlar
