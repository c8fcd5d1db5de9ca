#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "client_sim/client/others.h"
#include "world/bsp/column.h"
#include "world/bsp/placement.h"
#include "world/math/assert.h"
#include "world/math/prefetch.h"
#include "world/sim/map_plan.h"
#include "world/sim/shown_walls.h"

// The picture of the others: how far it is behind, and where they are in it. What it is made of is kept by
// others.cpp.

namespace ashlar::client_sim {
namespace {

constexpr Micros glide_over{250'000};
constexpr Micros lower_after{2'000'000};
// Who stands is this near to the floor where it stood: what snapshots that are missing hide of when a lift
// began to move, less than most steps of a stair.
constexpr double on_floor_m = 0.2;
constexpr double under_floor_m = 0.4;
constexpr double over_floor_m = 1.5;  // who is higher above a lift did not jump off it

Turn16 between(Turn16 a, Turn16 b, double share) {
  const auto way = static_cast<std::int16_t>(static_cast<std::uint16_t>(b - a));
  if (way == 0) return a;
  return a + Turn16{static_cast<std::uint16_t>(static_cast<std::int16_t>(std::lround(way * share)))};
}

/// How large somebody is where walls are looked for: what is no body is a point with some room around it.
Cylinder shape_of(const PictureSource& source, EntityKind kind) {
  if (source.welcome == nullptr) return source.rules.player;
  constexpr Cylinder small{0.05, 0.1};
  return source.welcome->body_of(kind).value_or(small);
}

}  // namespace

void Others::measure(const PictureSource& source) {
  if (snapshot_tick_ == 0) return;
  const std::uint32_t newest = source.view.newest_tick();
  const auto behind = [&source](std::uint32_t tick) {
    const double ticks = source.command_time - static_cast<double>(tick);
    return static_cast<float>(std::clamp(ticks, 0.0, double{lag_ticks_max}));
  };
  needed_.add(behind(snapshot_tick_));
  ages_.add(behind(newest));
  apart_.add(static_cast<float>(newest - snapshot_tick_));
}

/// Where few are lost all but a few snapshots are there in time. Where more are, that would take one more for
/// all of the time: who is shown goes on for those that are lost, and the picture waits for what is late.
double Others::wanted_lag() const {
  return std::min(needed_.quantile(in_time_share), ages_.quantile(in_time_share) + apart_.quantile(0.5));
}

/// Most blocks are told seldom, as nobody in them moves: they are looked at again when somebody may be gone.
Others::Steps Others::steps_at(DVec3 place_m) {
  const auto steps = [](double v_m) { return static_cast<std::int32_t>(v_m * position_steps_per_m); };
  return {steps(place_m.x), steps(place_m.y), steps(place_m.z)};
}

bool Others::anybody_near(DVec3 place_m, double within_m) const {
  return std::ranges::any_of(heads_, [&](const Head& head) {
    const DVec3 way = metres(head.now().place()) - place_m;
    return head.record.health != 0 && dot(way, way) < within_m * within_m;
  });
}

void Others::steer(Micros now) {
  constexpr std::size_t measured_min = 4;
  if (needed_.count() < measured_min) return;
  // Whole ticks, rounded down: when a command is numbered (and a shot is aimed) the tick that is shown was
  // told, and from then until the snapshot comes, less than a tick later, everybody goes on as they went.
  const auto wanted = static_cast<std::uint32_t>(wanted_lag());
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

/// How many states back the newest is that is not behind a tick; its count: all are. As each state is a tick
/// older at least, that one is no further back than the ticks between say: it is looked for from there, so
/// that the many states between stay untouched.
std::size_t Others::steps_back_to(const Head& head, std::uint32_t tick) const {
  // The newest one's tick is known without it.
  if (head.count == 0 || head.now().tick <= tick) return 0;
  std::size_t i = std::min<std::size_t>(head.now().tick - tick, head.count);
  while (i > 1 && back(head, i - 1).tick <= tick) --i;
  return i;
}

/// Of who is shown several snapshots late two lines of the track are needed: whose turn comes in a while are
/// asked for now.
void Others::prefetch_track(std::size_t row, std::size_t states_back) const {
  constexpr std::size_t ahead = 8;
  if (states_back + 1 < recent_max || row + ahead >= heads_.size()) return;
  const Head& later = heads_[row + ahead];
  for (const std::size_t i : {states_back, states_back + 1}) ashlar::prefetch(&back(later, i), sizeof(State));
}

double Others::shown_lag(Micros now) const {
  const double share = std::clamp(
      static_cast<double>((now - lag_since_).count()) / static_cast<double>(glide_over.count()), 0.0, 1.0);
  return lag_before_ + (static_cast<double>(lag_) - lag_before_) * share;
}

double Others::shown_tick(Micros now, const PictureSource& source) const {
  return source.command_time - shown_lag(now);
}

/// Whether nothing solid is where somebody is shown who went there from a state at the same height: most are
/// in the open, and where that is known none of their ways has to be looked at for as long as they are near.
bool Others::in_the_open(Head& head, const State& to, const Cylinder& shape, DVec3 at_m, const Space& walls,
                         std::uint64_t version) const {
  constexpr double open_m = 0.5;
  constexpr auto open_steps = static_cast<std::int32_t>(open_m * position_steps_per_m);
  const Steps place = to.place();
  const DVec3 to_m = metres(place);
  if (version == 0 || at_m.z != to_m.z || shape.radius_m + open_m > rounded_box_reach_m_max) return false;
  // Of the walls, of the height that was looked at, and by whom.
  const std::uint64_t who =
      static_cast<std::uint32_t>(place.z) ^ std::uint64_t{static_cast<std::uint8_t>(head.record.kind)} << 32;
  auto seen = static_cast<std::uint32_t>((version ^ who * 0x9e3779b97f4a7c15u) >> 32);
  seen += seen == 0 ? 1 : 0;
  const bool known = head.looked_walls == seen && std::abs(place.x - head.looked_x) <= open_steps / 2 &&
                     std::abs(place.y - head.looked_y) <= open_steps / 2;
  if (!known) {
    const Cylinder around{shape.radius_m + open_m, shape.height_m};
    head.looked_x = place.x, head.looked_y = place.y, head.looked_walls = seen;
    head.in_the_open = space_overlaps(walls, around, to_m) ? 0 : 1;
  }
  if (head.in_the_open == 0) return false;
  const DVec2 off = xy(at_m) - xy(metres({head.looked_x, head.looked_y, place.z}));
  return dot(off, off) <= open_m * open_m;
}

void Others::place(std::size_t row, double tick, const PictureSource& source, const Walls& walls,
                   ShownEntity& out) {
  Head& head = heads_[row];
  const Rules& rules = source.rules;
  out.record = head.record;
  out.extrapolated = false;
  const auto put = [&out](const State& state) {
    out.position_m = metres(state.place()), out.yaw = state.yaw();
  };
  // It stands there, as far as was told and beyond.
  if (stands(row) && tick >= static_cast<double>(head.now().tick)) return put(head.now());
  const std::size_t i = steps_back_to(head, static_cast<std::uint32_t>(std::max(tick, 0.0)));
  const State* later = i == 0 ? nullptr : &back(head, i - 1);
  const bool told = later != nullptr;
  if (told && i == head.count) return put(*later);  // older than all that is known
  const State& from = back(head, i);
  // Beyond the newest it goes on as it went.
  const State& to = told ? *later : from;
  const State& before = told ? from : back(head, std::min<std::size_t>(i + 1, head.count - 1u));
  const ToldStates states{metres(before.place()), static_cast<double>(before.tick), metres(to.place()),
                          static_cast<double>(to.tick)};
  const DVec3 way = states.to_m - states.from_m;
  if (states.ticks() <= 0 || was_put(way, states.ticks(), rules)) return put(from);
  const bool goes = way != DVec3{};
  out.position_m = shown_between(states, tick, rules);
  // So short a step ends no deeper in a wall than is free, wherever it was told to be. Who runs makes it in
  // two milliseconds: pictures that are made as a command is numbered look for no walls.
  constexpr double short_m = shown_skin_m - 1 / position_steps_per_m;
  const DVec3 on = out.position_m - states.to_m;
  const bool is_short = !told && dot(on, on) <= short_m * short_m;
  if (goes && walls.space != nullptr && !is_short && (!told || states.ticks() > 1)) {
    const Cylinder shape = shape_of(source, head.record.kind);
    if (!in_the_open(head, to, shape, out.position_m, *walls.space, walls.version)) {
      bool stopped = false;
      out.position_m = shown_free(*walls.space, shape, states, tick, rules, &stopped);
      stats_.stopped_by_walls += stopped ? 1 : 0;
    }
  }
  out.extrapolated = goes && !told && tick > states.to_tick;
  out.yaw = told ? between(from.yaw(), to.yaw(), (tick - states.from_tick) / states.ticks())
                 : dequantise_turn(head.record.yaw);
}

void Others::near(DVec3 place_m, std::uint32_t tick, const Welcome& welcome,
                  std::vector<Bystander>& out) const {
  const Rules& rules = welcome.rules;
  constexpr double far_m = 8;  // beyond it nobody comes near within the time that is foreseen
  constexpr double foreseen_s = 0.3;
  constexpr std::size_t over_states =
      4;  // places are in steps of 8 mm, so one tick's way tells little of a speed
  const Steps here = steps_at(place_m);
  constexpr auto far_steps = static_cast<std::int32_t>((far_m + 1) * position_steps_per_m);
  for (std::size_t row = 0; row < told_.size(); ++row) {
    // Most are far off.
    const Steps& there = told_[row].place;
    if (std::abs(there.x - here.x) > far_steps || std::abs(there.y - here.y) > far_steps) continue;
    const Head& head = heads_[row];
    const DVec3 off = metres(there) - place_m;
    if (head.record.health == 0 || dot(off, off) > far_m * far_m) continue;
    std::size_t i = 0;
    while (i + 1 < head.count && back(head, i).tick > tick) ++i;
    const State& from = back(head, i);
    DVec3 at = metres(from.place());
    const State& before = back(head, std::min<std::size_t>(i + over_states, head.count - 1u));
    const bool stood = i == 0 && stands(row);
    if (!stood && tick > from.tick && from.tick > before.tick) {
      const DVec3 way = metres(from.place()) - metres(before.place());
      const double ticks = std::min(static_cast<double>(tick - from.tick), foreseen_s * rules.tick_rate_hz);
      const double over = static_cast<double>(from.tick - before.tick);
      if (!was_put(way, over, rules)) at += way * (ticks / over);
    }
    const DVec3 away = at - place_m;
    if (dot(away, away) > near_m * near_m) continue;
    if (const auto shape = welcome.body_of(head.record.kind)) out.push_back({head.record.id, *shape, at});
  }
}

/// Lists the maps where floors may be at other heights in the picture than when the others stood there, and
/// where these are.
void Others::find_lifts(const Replica& replica, const SectorForecast& sectors) {
  lifts_.clear();
  for (std::size_t i = 0; i < replica.setup().maps.size() && i < sectors.map_count(); ++i) {
    if (!floors_.moved(i) && !replica.sectors_move() && sectors.movers(i).empty()) continue;
    Lifts found{i, {}};
    bool any = false;
    const auto add = [&](std::uint32_t sector) {
      const SectorBounds& at = replica.plan(i).bounds_of(sector);
      SectorBounds& all = found.bounds;
      if (!std::exchange(any, true)) all = at;
      all.low = {std::min(all.low.x, at.low.x), std::min(all.low.y, at.low.y)};
      all.high = {std::max(all.high.x, at.high.x), std::max(all.high.y, at.high.y)};
    };
    floors_.visit_moved(i, add);
    const HeightsView then = sectors.heights(i), shown = replica.heights(i);
    for (std::uint32_t sector = 0; sector < then.size(); ++sector)
      if (then[sector].floor_m != shown[sector].floor_m) add(sector);
    if (any) lifts_.push_back(found);
  }
}

/// How much higher the floor under somebody is in the picture than at the tick that it is shown as of.
double Others::ride(const ShownEntity& shown, double tick, const Replica& replica,
                    const PictureSource& source) const {
  const SectorForecast& sectors = *source.sectors;
  const DVec3 at_m = shown.position_m;
  const auto& maps = replica.setup().maps;
  for (const auto& [i, bounds] : lifts_) {
    const bool beside =
        at_m.x < bounds.low.x || at_m.y < bounds.low.y || at_m.x > bounds.high.x || at_m.y > bounds.high.y;
    if (beside || !in_box(*maps[i], at_m)) continue;
    const std::uint32_t sector = replica.plan(i).sector_at(xy(at_m));
    if (sector == no_index) continue;
    const double then_m = floors_.floor_m(i, sector, tick, sectors.heights(i)[sector].floor_m);
    const double shown_m = replica.heights(i)[sector].floor_m;
    const double above_m = at_m.z - then_m;
    if (then_m == shown_m && !floors_.moved(i, sector)) continue;
    if (above_m < -under_floor_m || above_m > over_floor_m) continue;
    // Beyond what was told it goes on where the floor, as far as is known, does not.
    const bool grounded = (shown.record.flags & entity_flag::grounded) != 0;
    const bool on_floor = above_m < 0 || (grounded && (above_m <= on_floor_m || shown.extrapolated));
    if (on_floor) return shown_m - at_m.z;
    // What is above the lift came nearer meanwhile.
    const SweepHit hit = space_sweep(replica.space(), shape_of(source, shown.record.kind),
                                     {at_m.x, at_m.y, shown_m}, {0, 0, above_m});
    return shown_m - at_m.z + above_m * (hit.hit() ? hit.t : 1);
  }
  return 0;
}

void Others::shown(Micros now, const Client& client, const Replica* replica, std::vector<ShownEntity>& out) {
  if (client.state() != ClientState::playing) return out.clear();
  shown(now, PictureSource(client, now), replica, out);
}

void Others::shown(Micros now, const PictureSource& source, const Replica* replica,
                   std::vector<ShownEntity>& out) {
  const double tick = shown_tick(now, source);
  const std::optional<Space> known = replica == nullptr ? std::nullopt : std::optional(replica->space());
  const Walls walls{known ? &*known : source.walls, known ? replica->walls_version() : 0};
  lifts_.clear();
  if (replica != nullptr && source.sectors != nullptr) find_lifts(*replica, *source.sectors);
  out.resize(heads_.size());
  std::size_t count = 0;
  const auto states_back =
      static_cast<std::size_t>(std::clamp(static_cast<double>(snapshot_tick_) - tick, 0.0, states_max - 1.0));
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (told_[i].over(tick)) continue;
    ShownEntity& e = out[count++];
    prefetch_track(i, states_back);
    place(i, tick, source, walls, e);
    if (!lifts_.empty()) e.position_m.z += ride(e, tick, *replica, source);
    stats_.extrapolated += e.extrapolated ? 1 : 0;
  }
  out.resize(count);
  stats_.shown += count;
}

}  // namespace ashlar::client_sim
