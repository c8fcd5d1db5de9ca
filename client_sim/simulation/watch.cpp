#include "client_sim/simulation/watch.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "client_sim/simulation/replay.h"

namespace ashlar::simulation {

using client_sim::Micros;
using client_sim::PictureSource;

std::expected<WatchedMatch, std::string> WatchedMatch::open(std::span<const std::uint8_t> recording,
                                                            const MapSource& maps, const PropSource& props) {
  auto reader = RecordingReader::open(recording);
  if (!reader) return std::unexpected(recording_trouble(reader.error(), recording));
  auto world = world_of(reader->header(), maps, {}, props);
  if (!world) return std::unexpected(std::move(world.error()));
  WatchedMatch match(std::move(*reader), recording, std::move(*world));
  match.view_.reset(match.world_->setup().rules.tick_rate_hz);
  return match;
}

std::expected<bool, std::string> WatchedMatch::step() {
  const auto more = reader_.next(record_);
  if (!more)
    return std::unexpected(recording_trouble(more.error(), bytes_) + " (after tick " +
                           std::to_string(number(world_->tick())) + ")");
  if (!*more) return false;
  step_recorded(*world_, record_, ground_);
  if (world_->hash() != record_.hash)
    return std::unexpected(
        "tick " + std::to_string(number(world_->tick())) +
        " comes out otherwise than it was recorded: watch it with the build that wrote it");
  choose();
  look();
  motion_cues_.stepped(*world_);
  listen();
  return true;
}

void WatchedMatch::listen() {
  if (followed_ == EntityId{0}) return;
  const auto place = [this](const WorldCue& cue) -> std::optional<DVec3> {
    if (cue.placed) return cue.place_m;
    const int monster = world_->monster_row(cue.who), player = world_->player_row(cue.who);
    if (monster >= 0) return world_->monsters().body[static_cast<std::size_t>(monster)].position_m;
    if (player >= 0) return world_->players().body[static_cast<std::size_t>(player)].position_m;
    return std::nullopt;
  };
  for (const WorldCue& cue : motion_cues_.cues()) {
    const auto at = place(cue);
    const DVec3 way = at ? *at - world_->players().body[row()].position_m : DVec3{};
    const double reach = cue_reach_m(cue.kind);
    if (at && dot(way, way) <= reach * reach) ++(cue.kind == CueKind::step ? heard_.steps : heard_.others);
  }
  const DVec3 here = world_->players().body[row()].position_m;
  bool goes_on = false;
  for (const ShotEvent& shot : world_->shooting().events()) {
    const bool begins = !std::exchange(goes_on, shot.goes_on);
    if (begins && shot.ray == 0 && length(shot.origin - here) < radius_m) ++heard_.shots;
  }
}

void WatchedMatch::choose() {
  std::erase_if(present_, [this](EntityId id) { return world_->player_row(id) < 0; });
  for (const Joined& joined : world_->joined())
    if (joined.id != EntityId{0}) present_.push_back(joined.id);
  followed_ = wanted_;
  if (wanted_ == EntityId{0} && !present_.empty()) followed_ = present_.front();
  if (world_->player_row(followed_) < 0) followed_ = EntityId{0};
}

/// As a snapshot of this tick would tell it to whom is watched.
void WatchedMatch::look() {
  shown_.clear();
  replicator_.gather(*world_);
  if (followed_ == EntityId{0}) return;
  const std::uint32_t tick = number(world_->tick());
  const DVec3 eye = world_->players().body[row()].position_m;
  view_.forget_blocks();
  placed_.assign(replicator_.placed().begin(), replicator_.placed().end());
  std::ranges::sort(placed_, [](const server::PlacedEntity& a, const server::PlacedEntity& b) {
    return std::tuple(a.cell, a.record.id) < std::tuple(b.cell, b.record.id);
  });
  const std::span<const server::PlacedEntity> placed = placed_;
  for (std::size_t i = 0; i < placed.size();) {
    const CellCoord cell = placed[i].cell;
    records_.clear();
    for (; i < placed.size() && placed[i].cell == cell; ++i) {
      const DVec3 way = placed[i].base - eye;
      if (dot(way, way) < radius_m * radius_m) records_.push_back(placed[i].record);
    }
    if (!records_.empty()) view_.take_block(0, cell, records_, tick);
  }
  SnapshotPart part;
  part.tick = tick;
  view_.take(part);
  PictureSource source(view_, world_->setup().rules);
  source.self = followed_;
  source.world = 1;
  source.command_time = tick;
  const Space walls = world_->space();
  source.walls = &walls;
  const Micros now{static_cast<std::int64_t>(1e6 * seconds())};
  others_.advance(now, source);
  // Each tick is told, and doors and lifts are where they are: so is everybody.
  source.command_time += tick - others_.shown_tick(now, source);
  others_.shown(now, source, nullptr, shown_);
}

}  // namespace ashlar::simulation
