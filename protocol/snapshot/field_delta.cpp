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

void encode_fields(BitWriter& out, const ReplicationRegistry& registry, const FieldRows& now,
                   const FieldRows& base) {
  if (!registry.shares_fields()) return;
  ASHLAR_ASSERT(now.fields.size() == now.entities.size());
  BaseWalk walk(base);
  std::uint32_t run = 0;
  for (std::size_t i = 0; i < now.entities.size(); ++i) {
    const ReplicatedKind* const kind = sharing(registry, now.entities[i].record.kind);
    if (kind == nullptr) continue;
    const FieldValues& before = walk.of(now.entities[i].record);
    if (same(*kind, now.fields[i], before)) {
      ++run;
      continue;
    }
    out.put_gamma(run);
    run = 0;
    for (std::size_t f = 0; f < kind->fields.size(); ++f) {
      if (kind->fields[f].to != FieldAudience::all) continue;
      const bool differs = now.fields[i][f] != before[f];
      out.put_bit(differs);
      if (differs) out.put(now.fields[i][f], kind->fields[f].bits);
    }
  }
  if (run > 0) out.put_gamma(run);
}

bool decode_fields(BitReader& in, const ReplicationRegistry& registry, std::span<const MovingRecord> entities,
                   const FieldRows& base, std::vector<FieldValues>& out) {
  out.clear();
  if (!registry.shares_fields()) return true;
  const auto tells = [&](const MovingRecord& e) { return sharing(registry, e.record.kind) != nullptr; };
  auto left = static_cast<std::uint32_t>(std::ranges::count_if(entities, tells));
  BaseWalk walk(base);
  std::uint32_t until_change = left > 0 ? in.get_gamma() : 0;
  for (const MovingRecord& e : entities) {
    FieldValues& values = out.emplace_back();
    const ReplicatedKind* const kind = sharing(registry, e.record.kind);
    if (kind == nullptr) continue;
    if (in.failed() || until_change > left) return false;
    const FieldValues& before = walk.of(e.record);
    for (std::size_t f = 0; f < kind->fields.size(); ++f)
      if (kind->fields[f].to == FieldAudience::all) values[f] = before[f];
    --left;
    if (until_change > 0) {
      --until_change;
      continue;
    }
    for (std::size_t f = 0; f < kind->fields.size(); ++f)
      if (kind->fields[f].to == FieldAudience::all && in.get_bit()) values[f] = in.get(kind->fields[f].bits);
    if (left > 0) until_change = in.get_gamma();
  }
  return !in.failed() && until_change == 0;
}

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
