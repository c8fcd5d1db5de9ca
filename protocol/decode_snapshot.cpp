#include "protocol/decode_snapshot.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstdint>

#include "protocol/cue.h"
#include "protocol/schema/server_message_generated.h"
#include "protocol/sector_motion.h"
#include "world/sim/tick_limits.h"

namespace ashlar {
namespace {

constexpr double speed_mps_max = 1e4;

bool bounded(double v, double low, double high) { return v >= low && v <= high; }  // false for NaN too

bool vec_bounded(DVec3 v, double bound) {
  return bounded(v.x, -bound, bound) && bounded(v.y, -bound, bound) && bounded(v.z, -bound, bound);
}

DVec3 vec_of(const wire::Vec& v) { return {v.x(), v.y(), v.z()}; }

bool decode_own(const wire::OwnPlayer& in, OwnPlayer& out) {
  out.body.position_m = vec_of(in.position_m());
  out.body.velocity_mps = vec_of(in.velocity_mps());
  out.body.recovery_velocity_mps = vec_of(in.recovery_velocity_mps());
  out.body.recovery_target_m = vec_of(in.recovery_target_m());
  out.body.last_free_m = vec_of(in.last_free_m());
  out.body.eye_offset_m = in.eye_offset_m();
  out.body.grounded = in.grounded();
  out.body.stuck_ticks = in.stuck_ticks();
  out.body.noclip = in.noclip();
  out.id = EntityId{in.id()};
  out.health = in.health();
  return own_sane(out);
}

/// A list as a span of ours, whose layout is the schema's (plain_codec.cpp and plain_part.cpp assert that).
/// False: it is not aligned. The Verifier proves a list's length to be, not its elements, where these are
/// aligned to more.
template <class Ours, class Wire>
bool take_list(const flatbuffers::Vector<Wire>* list, std::span<const Ours>& out) {
  if (list == nullptr || list->size() == 0) return true;
  const void* const data = list->Data();
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(Ours) != 0) return false;
  out = {static_cast<const Ours*>(data), list->size()};
  return true;
}

/// The next so many of a list; null: there are not so many.
template <class Value>
bool take_next(std::span<const Value>& list, std::size_t count, std::span<const Value>& out) {
  if (count > list.size()) return false;
  out = list.first(count);
  list = list.subspan(count);
  return true;
}

template <class Value, class Projection>
bool ascends(std::span<const Value> list, Projection projection) {
  return std::ranges::adjacent_find(list, std::ranges::greater_equal{}, projection) == list.end();
}

bool blocks_sane(const PlainPart& part) {
  std::span<const EntityRecord> entities = part.entities, changed;
  std::span<const EntityId> removed = part.removed, gone;
  for (const BlockHeader& block : part.blocks) {
    if (!cell_in_world(block.cell) || block.flags > block_flag::quiet ||
        block.entity_count > block_entities_max || block.removed_count > block_entities_max ||
        (block.age == 0 && block.removed_count > 0))
      return false;
    if (!take_next(entities, block.entity_count, changed) || !take_next(removed, block.removed_count, gone))
      return false;
    if (!std::ranges::all_of(changed, record_sane) || !ascends(changed, &EntityRecord::id) ||
        !ascends(gone, std::identity{}))
      return false;
    // Nobody both stays and goes.
    for (const EntityId id : gone)
      if (std::ranges::binary_search(changed, id, {}, &EntityRecord::id)) return false;
  }
  return entities.empty() && removed.empty() &&
         (part.fields.empty() || part.fields.size() == part.entities.size());
}

bool sectors_sane(const PlainPart& part) {
  std::span<const SliceHeight> heights = part.heights, told;
  for (const SliceHeader& slice : part.slices) {
    if (slice.map >= placed_maps_max || slice.number >= 65536 / height_slice_sectors ||
        !take_next(heights, slice.count, told) || !ascends(told, &SliceHeight::sector))
      return false;
    if (!told.empty() && told.back().sector >= height_slice_sectors) return false;
  }
  return heights.empty() && part.motions.size() <= snapshot_motions_max &&
         std::ranges::all_of(part.motions, motion_ok);
}

bool groups_sane(const PlainPart& part) {
  std::span<const GroupedEntity> grouped = part.grouped, told;
  std::span<const std::uint32_t> values = part.values, of_one;
  for (const GroupHeader& group : part.groups) {
    if ((group.to != FieldAudience::owner && group.to != FieldAudience::team) ||
        group.entity_count > private_entities_max || !take_next(grouped, group.entity_count, told) ||
        !ascends(told, &GroupedEntity::id))
      return false;
    for (const GroupedEntity& e : told)
      if (e.id == EntityId{0} || e.value_count > own_fields_max || !take_next(values, e.value_count, of_one))
        return false;
  }
  return grouped.empty() && values.empty();
}

bool decode_cues(const flatbuffers::Vector<const wire::Cue*>* list, std::vector<Cue>& out) {
  if (list == nullptr) return true;
  if (list->size() > cues_max) return false;
  for (const wire::Cue* c : *list) {
    if (c->kind() >= cue_kind_count || c->flags() > 1) return false;
    Cue cue{static_cast<CueKind>(c->kind()), c->detail(), c->age(), EntityId{c->who()}, c->flags() != 0, {}};
    if (cue.placed) cue.place = {c->x(), c->y(), c->z()};
    if (!cue_sane(cue)) return false;
    out.push_back(cue);
  }
  return true;
}

}  // namespace

bool own_sane(const OwnPlayer& own) {
  const Body& b = own.body;
  return in_bounds(b.position_m) && vec_bounded(b.velocity_mps, speed_mps_max) &&
         vec_bounded(b.recovery_velocity_mps, speed_mps_max) && in_bounds(b.recovery_target_m) &&
         in_bounds(b.last_free_m) && bounded(b.eye_offset_m, -16, 16) && b.grounded <= 1 &&
         b.noclip <= noclip_spectates;
}

std::expected<PlainPart, DropReason> decode_snapshot(const wire::Snapshot& in) {
  constexpr std::unexpected<DropReason> out_of_range{DropReason::out_of_range};
  PlainPart out;
  out.tick = in.tick();
  out.applied_tick = in.applied_tick();
  out.input_ahead = in.input_ahead();
  out.world = in.world();
  out.epoch = in.epoch();
  out.part = in.part();
  out.part_count = in.part_count();
  if (out.part_count == 0 || out.part_count > snapshot_parts_max || out.part >= out.part_count ||
      out.epoch == 0 || out.tick > world_ticks_max ||
      out.applied_tick > out.tick + std::uint64_t{applied_ahead_max})
    return out_of_range;
  out.own_age = in.own_age();
  if (in.own() != nullptr) {
    OwnPlayer own;
    if (!decode_own(*in.own(), own)) return out_of_range;
    own.delta_yaw = Turn16{in.own_delta_yaw()};
    out.own = own;
  }
  const bool aligned = take_list(in.blocks(), out.blocks) && take_list(in.entities(), out.entities) &&
                       take_list(in.fields(), out.fields) && take_list(in.removed(), out.removed) &&
                       take_list(in.gone(), out.gone) && take_list(in.slices(), out.slices) &&
                       take_list(in.heights(), out.heights) && take_list(in.motions(), out.motions) &&
                       take_list(in.groups(), out.groups) && take_list(in.grouped(), out.grouped) &&
                       take_list(in.values(), out.values) && take_list(in.moved(), out.moved);
  if (!aligned) return std::unexpected{DropReason::malformed};
  if (std::ranges::find(out.moved, EntityId{0}, &MovedEntity::id) != out.moved.end()) return out_of_range;
  if (!blocks_sane(out) || !sectors_sane(out) || !groups_sane(out) || !decode_cues(in.cues(), out.cues))
    return out_of_range;
  return out;
}

}  // namespace ashlar
