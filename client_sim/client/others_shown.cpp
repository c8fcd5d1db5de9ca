#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "client_sim/client/others.h"
#include "world/bsp/column.h"
#include "world/bsp/placement.h"
#include "world/math/assert.h"
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

Others::Steps Others::steps_at(DVec3 place_m) {
  const auto steps = [](double v_m) { return static_cast<std::int32_t>(v_m * position_steps_per_m); };
  return {steps(place_m.x), steps(place_m.y), steps(place_m.z)};
}

bool Others::anybody_near(DVec3 place_m, double within_m) const {
  return std::ranges::any_of(listed_, [&](const Listed& listed) {
    const DVec3 way = metres(newest()[listed.row].place()) - place_m;
    return records_[listed.row].health != 0 && dot(way, way) < within_m * within_m;
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

Others::Picture Others::picture_at(double tick) const {
  Picture out;
  out.tick = tick, out.whole_tick = static_cast<std::uint32_t>(std::max(tick, 0.0));
  while (out.back < moments_ && moment_tick(out.back) > out.whole_tick) ++out.back;
  if (out.back < moments_) out.from = moment(out.back);
  if (out.back > 0) out.to = moment(out.back - 1);
  return out;
}

/// Of who was not told of in the snapshots around a tick, or came since.
Others::Around Others::search(std::uint32_t row, const Picture& picture) const {
  const State* from = nullptr;
  for (std::size_t back = std::min(picture.back + 1, moments_); back-- > 0;) {
    const State& state = moment(back)[row];
    if (state.tick == 0) continue;
    // It is older than all that is known where none is before it.
    if (state.tick > picture.whole_tick) return {from == nullptr ? &state : from, &state, from != nullptr};
    from = &state;
  }
  ASHLAR_ASSERT(from == newest() + row);
  return {&state_before(row, 1, from->tick), from, false};
}

/// Somebody's state so many moments back, or the one before it where it has that tick; the oldest that is
/// known where none is.
const Others::State& Others::state_before(std::uint32_t row, std::size_t back, std::uint32_t tick) const {
  std::size_t i = std::min(back, moments_ - 1);
  while (moment(i)[row].tick == 0) --i;
  if (moment(i)[row].tick != tick) return moment(i)[row];
  // Who stands has it for long. Snapshots before that tick told of another one: one state is read, not all.
  while (i + 1 < moments_ && moment_tick(i) >= tick) ++i;
  while (moment(i)[row].tick == 0) --i;
  return moment(i)[row];
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
bool Others::in_the_open(std::uint32_t row, const State& to, const Cylinder& shape, DVec3 at_m,
                         const Space& walls, std::uint64_t version) {
  constexpr double open_m = 0.5;
  constexpr auto open_steps = static_cast<std::int32_t>(open_m * position_steps_per_m);
  const Steps place = to.place();
  const DVec3 to_m = metres(place);
  if (version == 0 || at_m.z != to_m.z || shape.radius_m + open_m > rounded_box_reach_m_max) return false;
  // Of the walls, of the height that was looked at, and by whom.
  const std::uint64_t who = static_cast<std::uint32_t>(place.z) ^
                            std::uint64_t{static_cast<std::uint8_t>(records_[row].kind)} << 32;
  auto seen = static_cast<std::uint32_t>((version ^ who * 0x9e3779b97f4a7c15u) >> 32);
  seen += seen == 0 ? 1 : 0;
  WallLook& look = looked_[row];
  const bool known = look.walls == seen;
  const auto within = [&] {
    const DVec2 off = xy(at_m) - xy(metres({look.x, look.y, place.z}));
    return look.open && dot(off, off) <= open_m * open_m;
  };
  if (known && within()) return true;
  // Where walls are near, they were looked for a moment ago.
  const bool near =
      std::abs(place.x - look.x) <= open_steps / 2 && std::abs(place.y - look.y) <= open_steps / 2;
  if (known && near) return false;
  const Cylinder around{shape.radius_m + open_m, shape.height_m};
  look = {place.x, place.y, seen, !space_overlaps(walls, around, to_m)};
  return within();
}

Turn16 Others::yaw_between(const Around& around, const Picture& picture) {
  const State &from = *around.from, &to = *around.to;
  if (!around.told || from.same_yaw(to)) return to.yaw();
  return between(from.yaw(), to.yaw(), (picture.tick - from.tick) / (to.tick - from.tick));
}

void Others::place_going(std::uint32_t row, const Around& around, const Picture& picture,
                         const PictureSource& source, const Walls& walls, ShownEntity& out) {
  const Rules& rules = source.rules;
  const State &from = *around.from, &to = *around.to;
  const bool told = around.told;
  const ToldStates states{metres(from.place()), static_cast<double>(from.tick), metres(to.place()),
                          static_cast<double>(to.tick)};
  if (states.ticks() <= 0 || was_put(states.to_m - states.from_m, states.ticks(), rules)) {
    out.position_m = told ? states.from_m : states.to_m;
    out.yaw = told ? from.yaw() : to.yaw();
    return;
  }
  out.position_m = shown_between(states, picture.tick, rules);
  out.yaw = yaw_between(around, picture);
  out.extrapolated = !told && picture.tick > states.to_tick;
  // So short a step ends no deeper in a wall than is free, wherever it was told to be. Who runs makes it in
  // two milliseconds: pictures that are made as a command is numbered look for no walls.
  constexpr double short_m = shown_skin_m - 1 / position_steps_per_m;
  const DVec3 on = out.position_m - states.to_m;
  const bool is_short = !told && dot(on, on) <= short_m * short_m;
  if (walls.space == nullptr || is_short || (told && states.ticks() <= 1)) return;
  const Cylinder shape = shape_of(source, out.record.kind);
  if (in_the_open(row, to, shape, out.position_m, *walls.space, walls.version)) return;
  bool stopped = false;
  out.position_m = shown_free(*walls.space, shape, states, picture.tick, rules, &stopped);
  stats_.stopped_by_walls += stopped ? 1 : 0;
}

void Others::near(DVec3 place_m, std::uint32_t tick, const Welcome& welcome,
                  std::vector<Bystander>& out) const {
  constexpr double far_m = 8;  // beyond it nobody comes near within the time that is foreseen
  constexpr auto far_steps = static_cast<std::uint32_t>((far_m + 1) * position_steps_per_m);
  const Steps here = steps_at(place_m);
  const auto within = [](std::int32_t a, std::int32_t b) {
    return static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b) + far_steps <= 2 * far_steps;
  };
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  // Most are far off: all rows are read, in their order in memory.
  const State* const last = newest();
  const auto rows = static_cast<std::uint32_t>(records_.size());
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (!within(last[row].x, here.x) || !within(last[row].y, here.y)) continue;
    const DVec3 off = metres(last[row].place()) - place_m;
    const EntityRecord& record = records_[row];  // nobody's have no health
    if (record.health == 0 || dot(off, off) > far_m * far_m) continue;
    const DVec3 at_m = thought_at(row, tick, welcome.rules), away = at_m - place_m;
    if (dot(away, away) > near_m * near_m) continue;
    if (const auto shape = welcome.body_of(record.kind)) out.push_back({record.id, *shape, at_m});
  }
  std::ranges::sort(out.begin() + first, out.end(), {}, &Bystander::id);
}

/// Where somebody is thought to be at a tick: as told, or going on as he went.
DVec3 Others::thought_at(std::uint32_t row, std::uint32_t tick, const Rules& rules) const {
  constexpr double foreseen_s = 0.3;
  // Places are in steps of 8 mm, so one tick's way tells little of a speed.
  constexpr std::size_t over_moments = 4;
  std::size_t back = 0;
  while (back + 1 < moments_ && moment(back)[row].tick > tick && moment(back + 1)[row].tick != 0) ++back;
  const State& from = moment(back)[row];
  const DVec3 from_m = metres(from.place());
  const State& before = state_before(row, back + over_moments, from.tick);
  const bool stood = back == 0 && state_before(row, 1, from.tick).same_place(from);
  if (stood || tick <= from.tick || from.tick <= before.tick) return from_m;
  const DVec3 way = from_m - metres(before.place());
  const double ticks = std::min(static_cast<double>(tick - from.tick), foreseen_s * rules.tick_rate_hz);
  const double over = static_cast<double>(from.tick - before.tick);
  return was_put(way, over, rules) ? from_m : from_m + way * (ticks / over);
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
                    const PictureSource& source, const ShownSectors& sectors) const {
  const SectorForecast& told = *source.sectors;
  const DVec3 at_m = shown.position_m;
  const auto& maps = replica.setup().maps;
  for (const auto& [i, bounds] : lifts_) {
    const bool beside =
        at_m.x < bounds.low.x || at_m.y < bounds.low.y || at_m.x > bounds.high.x || at_m.y > bounds.high.y;
    if (beside || !in_box(*maps[i], at_m)) continue;
    const std::uint32_t sector = replica.plan(i).sector_at(xy(at_m));
    if (sector == no_index) continue;
    const double then_m = floors_.floor_m(i, sector, tick, told.heights(i)[sector].floor_m);
    const SectorHeights& newest = replica.heights(i)[sector];
    const double newest_m = newest.floor_m;
    const double above_m = at_m.z - then_m;
    if (then_m == newest_m && !floors_.moved(i, sector)) continue;
    if (above_m < -under_floor_m || above_m > over_floor_m) continue;
    // Beyond what was told it goes on where the floor, as far as is known, does not.
    const bool grounded = (shown.record.flags & entity_flag::grounded) != 0;
    const bool on_floor = above_m < 0 || (grounded && (above_m <= on_floor_m || shown.extrapolated));
    // Walls are those of the newest tick, and the floor is drawn on its way there.
    const double drawn_m = sectors.at(i, sector, newest).floor_m - newest_m;
    if (on_floor) return drawn_m + newest_m - at_m.z;
    // What is above the lift came nearer meanwhile.
    const SweepHit hit = space_sweep(replica.space(), shape_of(source, shown.record.kind),
                                     {at_m.x, at_m.y, newest_m}, {0, 0, above_m});
    return drawn_m + newest_m - at_m.z + above_m * (hit.hit() ? hit.t : 1);
  }
  return 0;
}

void Others::shown(Micros now, const Client& client, const Replica* replica, std::vector<ShownEntity>& out,
                   const ShownSectors& sectors) {
  if (client.state() != ClientState::playing) return out.clear();
  shown(now, PictureSource(client, now), replica, out, sectors);
}

void Others::shown(Micros now, const PictureSource& source, const Replica* replica,
                   std::vector<ShownEntity>& out, const ShownSectors& sectors) {
  const double tick = shown_tick(now, source);
  const std::optional<Space> known = replica == nullptr ? std::nullopt : std::optional(replica->space());
  const Walls walls{known ? &*known : source.walls, known ? replica->walls_version() : 0};
  lifts_.clear();
  if (replica != nullptr && source.sectors != nullptr) find_lifts(*replica, *source.sectors);
  out.resize(listed_.size());
  std::size_t count = 0;
  const Picture picture = picture_at(tick);
  const bool some_over = any_over(tick);
  for (const auto& [id, row] : listed_) {
    if (some_over && presence_[row].over(tick)) continue;
    ShownEntity& e = out[count++];
    e.record = records_[row];
    e.extrapolated = false;
    const Around around = states_around(row, picture);
    if (around.from->same_place(*around.to)) {  // most stand
      e.position_m = metres(around.to->place());
      e.yaw = yaw_between(around, picture);
    } else {
      place_going(row, around, picture, source, walls, e);
    }
    if (!lifts_.empty()) e.position_m.z += ride(e, tick, *replica, source, sectors);
    stats_.extrapolated += e.extrapolated ? 1 : 0;
  }
  out.resize(count);
  stats_.shown += count;
}

}  // namespace ashlar::client_sim
