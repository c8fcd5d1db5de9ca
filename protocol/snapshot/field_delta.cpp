#include "protocol/snapshot/field_delta.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr FieldValues zeros{};

/// A kind that has fields for everybody; null: another one.
const ReplicatedKind* sharing(const ReplicationRegistry& registry, EntityKind kind) {
  const ReplicatedKind* const declared = registry.find(kind);
  return declared != nullptr && declared->has(FieldAudience::all) ? declared : nullptr;
}

/// Walks through a base beside entities that are visited by ascending id.
class BaseWalk {
 public:
  explicit BaseWalk(const FieldRows& base) : base_(base) {}
  const FieldValues& of(const EntityRecord& entity) {
    while (at_ < base_.entities.size() && base_.entities[at_].record.id < entity.id) ++at_;
    const bool there = at_ < base_.fields.size() && base_.entities[at_].record.id == entity.id &&
                       base_.entities[at_].record.kind == entity.kind;
    return there ? base_.fields[at_] : zeros;
  }

 private:
  const FieldRows& base_;
  std::size_t at_ = 0;
};

bool same(const ReplicatedKind& kind, const FieldValues& a, const FieldValues& b) {
  for (std::size_t i = 0; i < kind.fields.size(); ++i)
    if (kind.fields[i].to == FieldAudience::all && a[i] != b[i]) return false;
  return true;
}

}  // namespace

template <class Coder>
void FieldCoding<Coder>::changes(const ReplicatedKind& kind, FieldValues& values, const FieldValues& before) {
  for (std::size_t f = 0; f < kind.fields.size(); ++f) {
    if (kind.fields[f].to != FieldAudience::all) continue;
    if (!coder_.bit(odds_.field_other[f], values[f] != before[f])) continue;
    // The short way round, as a number of so many bits runs over.
    const unsigned bits = kind.fields[f].bits;
    const unsigned above = 32 - bits;
    const auto way = static_cast<std::int32_t>((values[f] - before[f]) << above) >> above;
    const std::int32_t told = code_number(coder_, odds_.field[f], way, std::max(bits, 17u));
    values[f] = (before[f] + static_cast<std::uint32_t>(told)) & (0xffffffffu >> above);
  }
}

template <class Coder>
void FieldCoding<Coder>::all(const FieldRows& now, const FieldRows& base, std::vector<FieldValues>& read) {
  if (!registry_.shares_fields()) return;
  ASHLAR_ASSERT(!Coder::writing || now.fields.size() == now.entities.size());
  BaseWalk walk(base);
  for (std::size_t i = 0; i < now.entities.size(); ++i) {
    if constexpr (!Coder::writing) read.emplace_back();
    const ReplicatedKind* const kind = sharing(registry_, now.entities[i].record.kind);
    if (kind == nullptr) continue;
    const FieldValues& before = walk.of(now.entities[i].record);
    FieldValues values = before;
    if constexpr (Coder::writing) values = now.fields[i];
    if (coder_.bit(odds_.field_changed, Coder::writing && !same(*kind, values, before)))
      changes(*kind, values, before);
    if constexpr (!Coder::writing)
      for (std::size_t f = 0; f < kind->fields.size(); ++f)
        if (kind->fields[f].to == FieldAudience::all) read[i][f] = values[f];
  }
}

template <class Coder>
void FieldCoding<Coder>::plain(EntityKind of, FieldValues& values) {
  const ReplicatedKind* const kind = sharing(registry_, of);
  if (kind == nullptr) return;
  for (std::size_t f = 0; f < kind->fields.size(); ++f)
    if (kind->fields[f].to == FieldAudience::all) values[f] = coder_.raw(kind->fields[f].bits, values[f]);
}

template class FieldCoding<RangeWriter>;
template class FieldCoding<RangeReader>;

std::size_t encode_group(std::span<const PrivateEntity> group, FieldAudience to,
                         const ReplicationRegistry& registry, std::span<std::uint8_t> out) {
  ASHLAR_ASSERT(group.size() <= private_entities_max && out.size() >= coded_group_bytes_max);
  BitWriter bits(out);
  bits.put_gamma(static_cast<std::uint32_t>(group.size()));
  for (const PrivateEntity& e : group) {
    const ReplicatedKind* const kind = registry.find(e.kind);
    ASHLAR_ASSERT(kind != nullptr);
    bits.put(static_cast<std::uint32_t>(e.id), 32);
    bits.put(static_cast<std::uint8_t>(e.kind), 8);
    for (std::size_t f = 0; f < kind->fields.size(); ++f)
      if (kind->fields[f].to == to) bits.put(e.values[f], kind->fields[f].bits);
  }
  return bits.finish();
}

bool decode_group(std::span<const std::uint8_t> bytes, FieldAudience to, const ReplicationRegistry& registry,
                  std::vector<PrivateEntity>& out) {
  out.clear();
  BitReader in(bytes);
  const std::uint32_t count = in.get_gamma();
  if (in.failed() || count > private_entities_max) return false;
  EntityId before{0};
  for (std::uint32_t i = 0; i < count; ++i) {
    PrivateEntity& e = out.emplace_back();
    e.id = EntityId{in.get(32)};
    e.kind = static_cast<EntityKind>(in.get(8));
    const ReplicatedKind* const kind = registry.find(e.kind);
    if (in.failed() || e.id <= before || kind == nullptr || !kind->has(to)) return false;
    for (std::size_t f = 0; f < kind->fields.size(); ++f)
      if (kind->fields[f].to == to) e.values[f] = in.get(kind->fields[f].bits);
    before = e.id;
  }
  return in.at_end();
}

static_assert(coded_group_bytes_max >= (9 + private_entities_max * (40 + 32 * own_fields_max)) / 8 + 1);

}  // namespace ashlar
