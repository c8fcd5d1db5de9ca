#include "client_sim/client/others.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "world/bsp/column.h"
#include "world/bsp/placement.h"
#include "world/sim/map_plan.h"

namespace ashlar::client_sim {
namespace {

constexpr Micros glide_over{250'000};
constexpr Micros lower_after{2'000'000};
/// Of the snapshots so many are there in time; the rest is lost or late beyond measure, and shown by going
/// on.
constexpr double in_time_share = 0.97;
constexpr double jump_mps = 25;  // who went faster was put elsewhere
constexpr double jump_m = 1;
constexpr double on_floor_m = 0.02;  // places travel in steps of 1/128 m

Turn16 between(Turn16 a, Turn16 b, double share) {
  const auto way = static_cast<std::int16_t>(static_cast<std::uint16_t>(b - a));
  return a + Turn16{static_cast<std::uint16_t>(static_cast<std::int16_t>(std::lround(way * share)))};
}

}  // namespace

void Others::reset() {
  heads_.clear();
  ids_.clear();
  tracks_.clear();
  free_.clear();
  snapshot_tick_ = 0;
  peak_count_ = peak_at_ = 0;
  lag_ = lag_before_ = 0;
  lower_from_ = Micros{0};
}

void Others::advance(Micros now, Client& client) {
  if (client.stats().worlds != world_) {
    world_ = client.stats().worlds;
    reset();
  }
  if (client.state() != ClientState::playing || client.command_tick() == 0) return;
  const std::uint32_t before = lag_;
  advance(now, PictureSource(client, now));
  if (lag_ != before) client.set_view_lag(lag_);
}

void Others::advance(Micros now, const PictureSource& source) {
  if (source.world != world_) {
    world_ = source.world;
    reset();
  }
  if (source.view.newest_tick() == snapshot_tick_) return;
  measure(source);
  snapshot_tick_ = source.view.newest_tick();
  take_states(source);
  steer(now);
}

/// How far the picture would have had to be behind to need no other snapshot until this one.
void Others::measure(const PictureSource& source) {
  if (snapshot_tick_ == 0) return;
  const double ahead = source.command_time - static_cast<double>(snapshot_tick_);
  peaks_[peak_at_] = static_cast<float>(std::clamp(ahead, 0.0, double{lag_ticks_max}));
  peak_at_ = (peak_at_ + 1) % peaks_max;
  peak_count_ = std::min(peak_count_ + 1, peaks_max);
}

void Others::take_states(const PictureSource& source) {
  fresh_.clear();
  source.view.visit([&](const EntityRecord& record, CellCoord cell, std::uint32_t tick) {
    if (record.id == source.self) return;
    const auto at = std::ranges::lower_bound(ids_, record.id);
    if (at != ids_.end() && *at == record.id)
      take_state(heads_[static_cast<std::size_t>(at - ids_.begin())], record, cell, tick);
    else
      fresh_.push_back({record, cell, tick});
  });
  if (!fresh_.empty()) take_fresh();
  // Who is gone is shown until the picture comes to where it was last seen.
  const std::size_t gone_count = std::erase_if(heads_, [&](const Head& head) {
    const bool gone = snapshot_tick_ - head.seen_tick > lag_ + 1;
    if (gone) free_.push_back(head.track);
    return gone;
  });
  if (gone_count > 0 || !fresh_.empty()) list_ids();
}

void Others::list_ids() {
  ids_.clear();
  for (const Head& head : heads_) ids_.push_back(head.record.id);
}

void Others::take_state(Head& head, const EntityRecord& record, CellCoord cell, std::uint32_t tick) {
  head.seen_tick = snapshot_tick_;
  if (tick <= head.told_tick) return;
  const EntityRecord& old = head.record;
  const bool same = old.x == record.x && old.y == record.y && old.z == record.z && old.yaw == record.yaw &&
                    head.cell == cell && head.since_tick != 0;
  head.record = record;
  if (!same) {
    Track& track = tracks_[head.track];
    // It stood until then, and went from there.
    if (head.told_tick > head.since_tick) {
      State stood = track.back(0);
      stood.tick = head.told_tick;
      track.push(stood);
    }
    head.cell = cell;
    head.newest_m = dequantise({cell, record.x, record.y, record.z});
    head.since_tick = tick;
    track.push({tick, head.newest_m, dequantise_turn(record.yaw)});
  }
  head.told_tick = tick;
}

void Others::take_fresh() {
  std::ranges::sort(fresh_, [](const Fresh& a, const Fresh& b) {
    return a.record.id != b.record.id ? a.record.id < b.record.id : a.tick < b.tick;
  });
  const std::size_t known = heads_.size();
  for (const Fresh& fresh : fresh_) {
    if (heads_.size() == known || heads_.back().record.id != fresh.record.id) {
      if (free_.empty()) free_.push_back(static_cast<std::uint32_t>(tracks_.size())), tracks_.emplace_back();
      Head& head = heads_.emplace_back();
      head.record = fresh.record, head.track = free_.back();
      tracks_[free_.back()].count = 0;
      free_.pop_back();
    }
    take_state(heads_.back(), fresh.record, fresh.cell, fresh.tick);
  }
  std::ranges::sort(heads_, {}, [](const Head& h) { return h.record.id; });
}

bool Others::anybody_near(DVec3 place_m, double within_m) const {
  return std::ranges::any_of(heads_, [&](const Head& head) {
    const DVec3 way = head.newest_m - place_m;
    return head.record.health != 0 && dot(way, way) < within_m * within_m;
  });
}

void Others::steer(Micros now) {
  constexpr std::size_t peaks_min = 4;
  if (peak_count_ < peaks_min) return;
  const auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(peak_count_);
  std::copy_n(peaks_.begin(), peak_count_, sorted_.begin());
  const auto nth =
      sorted_.begin() + static_cast<std::ptrdiff_t>(in_time_share * static_cast<double>(peak_count_ - 1));
  std::nth_element(sorted_.begin(), nth, end);
  const auto wanted = static_cast<std::uint32_t>(std::ceil(static_cast<double>(*nth)));
  if (wanted >= lag_) lower_from_ = Micros{0};
  if (wanted == lag_ || (lag_ != 0 && now - lag_since_ < glide_over)) return;
  if (wanted < lag_) {
    if (lower_from_ == Micros{0}) lower_from_ = now;
    if (now - lower_from_ < lower_after && lag_ - wanted < 3) return;
  }
  lag_before_ = lag_ == 0 ? wanted : lag_;
  // A step at a time, so that nobody is seen to run; far off it goes there at once.
  if (lag_ == 0 || wanted > lag_ + 8 || wanted + 8 < lag_)
    lag_ = lag_before_ = wanted;
  else
    lag_ = wanted > lag_ ? lag_ + 1 : lag_ - 1;
  lag_since_ = now;
}

/// As each state is a tick older at least, the one that is asked for is no further back than the ticks
/// between say: it is looked for from there, so that the many states between stay untouched.
std::size_t Others::Track::steps_back_to(double tick) const {
  if (count == 0 || static_cast<double>(back(0).tick) <= tick) return 0;
  const double ticks = std::ceil(static_cast<double>(back(0).tick) - tick);
  std::size_t i = ticks < static_cast<double>(count) ? static_cast<std::size_t>(ticks) : count;
  while (i > 0 && static_cast<double>(back(i - 1).tick) <= tick) --i;
  return i;
}

double Others::shown_tick(Micros now, const PictureSource& source) const {
  const double share = std::clamp(
      static_cast<double>((now - lag_since_).count()) / static_cast<double>(glide_over.count()), 0.0, 1.0);
  const double lag = lag_before_ + (static_cast<double>(lag_) - lag_before_) * share;
  return source.command_time - lag;
}

ShownEntity Others::place(const Head& head, double tick, const Rules& rules, const Replica* replica) {
  ShownEntity out{head.record, head.newest_m, dequantise_turn(head.record.yaw)};
  // It stands there, as far as was told and beyond.
  if (head.since_tick < head.told_tick && tick >= static_cast<double>(head.since_tick)) return out;
  const Track& track = tracks_[head.track];
  const std::size_t i = track.steps_back_to(tick);
  const State* later = i == 0 ? nullptr : &track.back(i - 1);
  const bool told = later != nullptr;
  if (told && i == track.count) {  // older than all that is known
    out.position_m = later->position_m, out.yaw = later->yaw;
    return out;
  }
  const State& from = track.back(i);
  // Beyond the newest it goes on as it went.
  const State& to = told ? *later : from;
  const State& before = told ? from : track.back(std::min<std::size_t>(i + 1, track.count - 1));
  const double ticks = static_cast<double>(to.tick) - static_cast<double>(before.tick);
  const DVec3 way = to.position_m - before.position_m;
  const bool put_elsewhere = ticks <= 0 || length(way) > jump_m + jump_mps * ticks * rules.tick_s();
  if (put_elsewhere) {
    out.position_m = from.position_m, out.yaw = from.yaw;
    return out;
  }
  if (told) {
    const double share = (tick - static_cast<double>(from.tick)) / ticks;
    out.position_m = from.position_m + way * share;
    out.yaw = between(from.yaw, to.yaw, share);
    if (ticks > 1 && way != DVec3{} && replica != nullptr &&
        space_overlaps(replica->space(), rules.player, out.position_m)) {
      // Between two far states it went around a corner.
      out.position_m = share < 0.5 ? from.position_m : to.position_m;
      ++stats_.stopped_by_walls;
    }
    return out;
  }
  const double on = std::min(tick - static_cast<double>(from.tick), extrapolate_s * rules.tick_rate_hz);
  DVec3 step = way * (on / ticks);
  out.extrapolated = step != DVec3{};
  if (out.extrapolated && replica != nullptr) {
    const SweepHit hit = space_sweep(replica->space(), rules.player, from.position_m, step);
    if (hit.hit()) step = step * hit.t, ++stats_.stopped_by_walls;
  }
  out.position_m = from.position_m + step;
  return out;
}

void Others::near(DVec3 place_m, std::uint32_t tick, const Welcome& welcome,
                  std::vector<Bystander>& out) const {
  const Rules& rules = welcome.rules;
  constexpr double far_m = 8;  // beyond it nobody comes near within the time that is foreseen
  constexpr double foreseen_s = 0.3;
  constexpr std::size_t over_states =
      4;  // places are in steps of 8 mm, so one tick's way tells little of a speed
  for (const Head& head : heads_) {
    const DVec3 off = head.newest_m - place_m;
    if (head.record.health == 0 || dot(off, off) > far_m * far_m) continue;
    const Track& track = tracks_[head.track];
    std::size_t i = 0;
    while (i + 1 < track.count && track.back(i).tick > tick) ++i;
    const State& from = track.back(i);
    DVec3 at = from.position_m;
    const State& before = track.back(std::min(i + over_states, track.count - 1));
    const bool stands = i == 0 && head.told_tick > head.since_tick;
    if (!stands && tick > from.tick && from.tick > before.tick) {
      const DVec3 way = from.position_m - before.position_m;
      const double ticks = std::min(static_cast<double>(tick - from.tick), foreseen_s * rules.tick_rate_hz);
      const double over = static_cast<double>(from.tick - before.tick);
      if (length(way) < jump_m + jump_mps * over * rules.tick_s()) at += way * (ticks / over);
    }
    const DVec3 away = at - place_m;
    if (dot(away, away) > near_m * near_m) continue;
    if (const auto shape = welcome.body_of(head.record.kind)) out.push_back({head.record.id, *shape, at});
  }
}

/// Lists the maps where floors are at other heights in the picture than when the others stood there.
void Others::find_lifts(const Replica& replica, const SectorForecast& sectors) {
  lifts_.clear();
  for (std::size_t i = 0; i < replica.setup().maps.size() && i < sectors.map_count(); ++i) {
    if (sectors.movers(i).empty()) continue;
    const HeightsView then = sectors.heights(i), shown = replica.heights(i);
    bool moved = false;
    for (std::size_t sector = 0; sector < then.size() && !moved; ++sector)
      moved = then[sector].floor_m != shown[sector].floor_m;
    if (moved) lifts_.push_back(i);
  }
}

/// How much higher the floor under somebody is in the picture than when it stood there.
double Others::ride(DVec3 at_m, const Replica& replica, const SectorForecast& sectors) const {
  const auto& maps = replica.setup().maps;
  for (const std::size_t i : lifts_) {
    if (!in_box(*maps[i], at_m)) continue;
    const std::uint32_t sector = replica.plan(i).sector_at(xy(at_m));
    if (sector == no_index) continue;
    const double then_m = sectors.heights(i)[sector].floor_m;
    const double shown_m = replica.heights(i)[sector].floor_m;
    const double above_m = at_m.z - then_m;
    // It moves with the lift, so it is as far behind the newest snapshot's floor as the picture is.
    const double reach_m = std::fabs(shown_m - then_m) + on_floor_m;
    if (then_m != shown_m && std::fabs(above_m) <= reach_m) return shown_m - at_m.z;
  }
  return 0;
}

void Others::shown(Micros now, const Client& client, const Replica* replica, std::vector<ShownEntity>& out) {
  out.clear();
  if (client.state() == ClientState::playing) shown(now, PictureSource(client, now), replica, out);
}

void Others::shown(Micros now, const PictureSource& source, const Replica* replica,
                   std::vector<ShownEntity>& out) {
  out.clear();
  const double tick = shown_tick(now, source);
  lifts_.clear();
  if (replica != nullptr && source.sectors != nullptr) find_lifts(*replica, *source.sectors);
  out.reserve(heads_.size());
  for (const Head& head : heads_) {
    ShownEntity& e = out.emplace_back(place(head, tick, source.rules, replica));
    if (!lifts_.empty()) e.position_m.z += ride(e.position_m, *replica, *source.sectors);
    ++stats_.shown;
    stats_.extrapolated += e.extrapolated ? 1 : 0;
  }
}

}  // namespace ashlar::client_sim
