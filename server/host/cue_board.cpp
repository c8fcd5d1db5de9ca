#include "server/host/cue_board.h"

#include <algorithm>

#include "protocol/snapshot/cue_codec.h"
#include "world/sim/combat.h"
#include "world/sim/shooting.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

/// What is seen of a shot's end, or of a burst.
constexpr Cylinder spark{0.1, 0.2};

/// Of those that have to give way, steps do before anything as far away.
constexpr double step_times_farther = 4;

double distance2(DVec3 a, DVec3 b) { return dot(a - b, a - b); }

}  // namespace

void CueBoard::keep(std::uint32_t tick, CueKind kind, std::uint8_t detail, EntityId who,
                    std::optional<DVec3> place_m) {
  if (kept_.size() == kept_max) return;
  if (place_m && !in_bounds(*place_m)) place_m.reset();  // a ray into the sky
  if (who == EntityId{0} && !place_m) return;
  Kept& kept = kept_.emplace_back();
  kept.tick = tick;
  kept.cue = {kind, detail, 0, who, place_m.has_value(), {}};
  kept.reach_m = cue_reach_m(kind);
  if (!place_m) return;
  kept.place_m = *place_m;
  kept.cue.place = quantise_cue_place(*place_m);
}

/// Steps that the next snapshot does not tell are over.
void CueBoard::forget(std::uint32_t tick) {
  std::erase_if(kept_, [tick, this](const Kept& kept) {
    return tick - kept.tick >= (kept.cue.kind == CueKind::step ? every_ticks_ : ticks_kept_);
  });
}

void CueBoard::stepped(const World& world) {
  const std::uint32_t tick = number(world.tick());
  forget(tick);
  for (const ShotEvent& shot : world.shooting().events())
    keep(tick, CueKind::shot, shot.weapon, shot.shooter, shot.end());
  for (const LaunchEvent& launch : world.shooting().launches())
    keep(tick, CueKind::launch, launch.weapon, launch.shooter, {});
  for (const WorldCue& cue : world.combat().cues())
    keep(tick, cue.kind, cue.detail, cue.who, cue.placed ? std::optional(cue.place_m) : std::nullopt);
  motion_.stepped(world);
  for (const WorldCue& cue : motion_.cues())
    keep(tick, cue.kind, cue.detail, cue.who, cue.placed ? std::optional(cue.place_m) : std::nullopt);
}

CueBoard::Spot CueBoard::spot_of(const World& world, DVec3 base, const Cylinder& shape) {
  Spot spot{true, base, static_cast<std::uint32_t>(places_.size()), 0, {}};
  if (!world.maps().empty()) sight_places(world.maps(), base, shape.radius_m, shape.height_m, places_);
  spot.place_count = static_cast<std::uint32_t>(places_.size()) - spot.first_place;
  return spot;
}

void CueBoard::gather(const World& world, std::span<const PlacedEntity> placed, double reach_s,
                      SightCuller* culler) {
  if (kept_.empty()) return;
  places_.clear();
  row_of_slot_.clear();
  for (std::uint32_t i = 0; i < placed.size(); ++i) {
    const std::uint32_t slot = slot_of(placed[i].record.id);
    if (slot >= row_of_slot_.size()) row_of_slot_.resize(slot + 1);
    row_of_slot_[slot] = i + 1;
  }
  for (Kept& kept : kept_) {
    kept.who = kept.place = {};
    const std::uint32_t slot = slot_of(kept.cue.who);
    const std::uint32_t row = slot < row_of_slot_.size() ? row_of_slot_[slot] : 0;
    if (row != 0 && placed[row - 1].record.id == kept.cue.who) {
      const PlacedEntity& entity = placed[row - 1];
      kept.who = spot_of(world, entity.base, entity.shape);
      if (reach_s > 0)
        kept.who.reach = culler != nullptr ? culler->reach_of(entity, world.setup().rules, reach_s)
                                           : reach_of(entity, world.setup().rules, reach_s);
    }
    if (!kept.cue.placed) continue;
    const DVec3 base = kept.place_m - DVec3{0, 0, spark.height_m / 2};
    kept.place = spot_of(world, base, spark);
    kept.place.reach = bounds_of(spark, base);
  }
}

bool CueBoard::may_know(const Spot& spot, const Viewer& viewer, const World& world,
                        std::span<const OpenRooms> rooms) {
  if (distance2(spot.base, viewer.eye_m) > viewer.radius_m * viewer.radius_m) return false;
  if (!world.maps().empty()) {
    if (!looked_) query_.look_from(world.maps(), rooms, viewer.eye_m, viewer.margin_m);
    looked_ = true;
    const auto places = std::span(places_).subspan(spot.first_place, spot.place_count);
    if (std::ranges::none_of(places, [this](const SightPlace& place) { return query_.may_see(place); }))
      return false;
  }
  return viewer.reach == nullptr || viewer.reach->view.may_see(spot.reach);
}

std::optional<Cue> CueBoard::told_of(const Kept& kept, const Viewer& viewer, const World& world,
                                     std::span<const OpenRooms> rooms) {
  Cue cue = kept.cue;
  if (cue.placed && !may_know(kept.place, viewer, world, rooms)) cue.placed = false, cue.place = {};
  // Who is gone by now was where it happened.
  const bool knows =
      cue.who == viewer.player || (kept.who.there ? may_know(kept.who, viewer, world, rooms) : cue.placed);
  if (!knows) cue.who = EntityId{0};
  if (cue.who == EntityId{0} && !cue.placed) return std::nullopt;
  return cue;
}

std::span<const Cue> CueBoard::pick(const Viewer& viewer, const World& world,
                                    std::span<const OpenRooms> rooms) {
  const std::uint32_t tick = number(world.tick());
  looked_ = false;
  best_.clear();
  picked_.clear();
  const auto fresh = std::ranges::upper_bound(kept_, viewer.told_tick, {}, &Kept::tick);
  for (const Kept& kept : std::span(fresh, kept_.end())) {
    const Spot& nearest = kept.who.there ? kept.who : kept.place;
    if (!nearest.there) continue;
    double d2 = distance2(nearest.base, viewer.eye_m);
    if (kept.reach_m > 0 && d2 > kept.reach_m * kept.reach_m) continue;
    if (kept.cue.kind == CueKind::step) {
      if (kept.cue.who == viewer.player) continue;  // it makes its own
      d2 *= step_times_farther * step_times_farther;
    }
    if (best_.size() == cues_max && d2 >= best_.back().distance2) continue;
    std::optional<Cue> cue = told_of(kept, viewer, world, rooms);
    if (!cue) continue;
    cue->age = static_cast<std::uint8_t>(tick - kept.tick);
    if (best_.size() == cues_max) best_.pop_back();
    // Behind those as near: what happened first goes first, and rays of one shot stay together.
    const auto at = std::ranges::upper_bound(best_, d2, {}, &Picked::distance2);
    best_.insert(at, {d2, *cue});
  }
  for (const Picked& picked : best_) picked_.push_back(picked.cue);
  return picked_;
}

}  // namespace ashlar::server
