#include "client_sim/explore/route.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "client_sim/explore/leap.h"
#include "world/math/random.h"
#include "world/sim/teleport.h"
#include "world/sim/triggers.h"

namespace ashlar::client_sim {
namespace {

// Costs in centimetres of way.
constexpr std::uint32_t straight_cost = 25, diagonal_cost = 35;
constexpr std::uint32_t later_cost = 600;  // a door or lift has to move first
constexpr std::uint32_t jump_cost = 100;
constexpr std::uint32_t teleport_cost = 100;
constexpr std::uint32_t leap_cost = 500;
constexpr std::uint32_t rim_cost = 300;     // to come down from a leap on a rim
constexpr std::uint32_t lean_cost = 75;     // over a rim, where a push or a cut corner ends below
constexpr std::uint32_t drop_cost = 300;    // down to where one may not come up again
constexpr std::uint32_t line_cost = 800;    // sectors in reach come before switches
constexpr std::uint32_t again_cost = 4000;  // and switches before switches that were pressed before
constexpr std::uint32_t shut_cost =
    20000;  // what shuts a way behind somebody, and before the others, comes late
constexpr std::uint32_t key_cost = 300;
constexpr std::uint32_t favourite_gain = 1500;
constexpr std::uint32_t whim_cost_max = 200;  // explorers differ in what they like
constexpr double again_s = 25;
constexpr double pit_s =
    15;  // pits come last, when nobody found anything new for so long: who sits in one is lost

constexpr std::uint32_t far = 0xffffffffu;
constexpr std::uint32_t bucket_count = 1u << 17;  // more than any single edge costs
constexpr std::uint32_t edge_cost_max = bucket_count - 1;

// The top of a jump may fall between two ticks, so not all of its rise counts (of 1.225 m by the usual rules
// 1.13); over the head it needs some room.
constexpr double jump_margin_m = 0.095, jump_room_m = 0.1;
double jump_rise_m(const Rules& rules) { return rules.jump_rise_m() - jump_margin_m; }
constexpr double slack_m = 1e-6;

struct Neighbour {
  std::int32_t dx, dy;
  std::uint32_t cost;
};
constexpr std::array<Neighbour, 8> neighbours{{{1, 0, straight_cost},
                                               {-1, 0, straight_cost},
                                               {0, 1, straight_cost},
                                               {0, -1, straight_cost},
                                               {1, 1, diagonal_cost},
                                               {-1, 1, diagonal_cost},
                                               {1, -1, diagonal_cost},
                                               {-1, -1, diagonal_cost}}};

// Where leaps are tried to: so many directions, and so far.
constexpr int leap_directions = 24;
constexpr std::array<double, 15> leap_distances_m{0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5,
                                                  2.75, 3.0, 3.25, 3.5, 3.75, 4.2, 5.0};
constexpr double leap_edge_m = 0.3;  // the ground before an edge is so much lower, or one may as well walk
constexpr int leap_rounds = 3;       // leaps one after another on one way

/// The same in cells, once each.
std::vector<Neighbour> leap_targets() {
  std::vector<Neighbour> out;
  for (int i = 0; i < leap_directions; ++i)
    for (const double away : leap_distances_m) {
      const DVec2 d = heading(Turn16{static_cast<std::uint16_t>(65536 * i / leap_directions)}) *
                      (away / GroundGrid::cell_m);
      const Neighbour n{static_cast<std::int32_t>(std::floor(d.x + 0.5)),
                        static_cast<std::int32_t>(std::floor(d.y + 0.5)),
                        static_cast<std::uint32_t>(100 * away) + leap_cost};
      if (std::ranges::none_of(out, [&](const Neighbour& o) { return o.dx == n.dx && o.dy == n.dy; }))
        out.push_back(n);
    }
  return out;
}

/// Does it shut a way, or make it a dangerous one?
bool shuts(const LineAction& action) {
  return action.effect == LineEffect::door_close || action.effect == LineEffect::crusher;
}

}  // namespace

bool teleports(const LineAction& action) {
  return action.effect == LineEffect::teleport || action.effect == LineEffect::teleport_line;
}

Passage passage(const StandHeights& from, const StandHeights& to, const Rules& rules) {
  const double step = rules.step_height_m_max + slack_m, height = rules.player.height_m - slack_m;
  const double rise = to.floor_m - from.floor_m;
  const double room = std::min(from.ceiling_m, to.ceiling_m) - std::max(from.floor_m, to.floor_m);
  if (rise <= step && room >= height) return Passage::open;
  if (rise <= jump_rise_m(rules) && rise > step && room >= height + jump_room_m) return Passage::jump;
  const double top = std::min(from.high_ceiling_m, to.high_ceiling_m);
  const double least = to.low_floor_m - from.high_floor_m;
  if (least > jump_rise_m(rules)) return Passage::no;
  const double needed = height + (least > step ? jump_room_m : 0);
  return std::max(from.low_floor_m, to.low_floor_m) + needed <= top ? Passage::later : Passage::no;
}

bool unlocks(const Expedition& e, std::uint32_t line, std::uint8_t keys) {
  const LineAction& a = *e.plan().action(line);
  if (a.keys == 0 || e.rules().keys == KeyRule::ignored) return true;
  const auto held = static_cast<std::uint8_t>(a.keys & keys);
  return a.any_key ? held != 0 : held == a.keys;
}

std::optional<LineAim> aim_at_line(const Expedition& e, std::uint32_t line, DVec3 base) {
  const MapPlan& plan = e.plan();
  const LineAction& a = *plan.action(line);
  const DVec2 from = plan.start_m(line), along = plan.end_m(line) - from;
  // Nearest point first, then others, so that a post before a part of the line does not matter.
  const double nearest = std::clamp(dot(xy(base) - from, along) / dot(along, along), 0.05, 0.95);
  for (const double at : {nearest, 0.5, 0.2, 0.8}) {
    const DVec2 to = from + along * at - xy(base);
    if (length(to) == 0) continue;
    LineAim aim;
    aim.yaw = turn_towards(to);
    if (a.trigger == LineTrigger::use) {
      aim.buttons = button::use;
      if (line_used(plan, e.space(), e.heights(), base, e.rules().player, aim.yaw, use_reach_m) == line)
        return aim;
      continue;
    }
    const DVec3 eye = base + DVec3{0, 0, e.rules().player_eye_m};
    const std::uint32_t front = plan.map().source().front_sector(plan.map().source().lines[line]);
    aim.buttons = button::attack;
    for (const double rise : {1.6, 1.0, 2.5, 0.3}) {
      const double dz = e.heights()[front].floor_m + rise - eye.z;
      aim.pitch = turn_towards({length(to), dz});
      const CrossedLines hit =
          lines_shot(plan, e.space(), eye, view_direction(aim.yaw, aim.pitch), e.rules().shot_range_m);
      for (std::size_t i = 0; i < hit.count; ++i)
        if (hit.list[i].line == line) return aim;
    }
  }
  return std::nullopt;
}

/// One search: what it reads beside the router's memory.
struct Router::Search {
  Router& r;
  const Expedition& e;
  const RouteWish& wish;
  std::vector<std::uint8_t> wanted_set;  // by set: a thin sector in it was never entered

  /// A goal and the way's end for it.
  struct Offer {
    std::uint32_t cost = far, cell = no_index;
    std::uint32_t crossed_from = no_index;  // it lies on the step from there to the cell
    ExploreGoal goal;
  };
  Offer best;
  Offer pit;  // the best where one may not come out again: where there is nothing else, nor comes for a while
  Offer again;  // the best of the lines that were set off before: where there is nothing else

  /// Is all that nobody has seen yet worth going to?
  bool explores() const { return wish.only.empty() && wish.to == no_index && !wish.exits; }

  std::uint32_t whim(ExploreGoal goal) const {
    const std::uint64_t mixed = mix64((static_cast<std::uint64_t>(goal.what) << 32) ^ wish.explorer);
    return static_cast<std::uint32_t>(mixed % whim_cost_max);
  }

  /// Was it set off before?
  bool known(ExploreGoal goal) const {
    return goal.kind == ExploreGoal::Kind::line && explores() && e.fired(goal.what) > 0;
  }

  /// @param cost  of the way and beside it
  void consider(ExploreGoal goal, std::uint32_t cell, std::uint32_t cost, std::uint32_t crossed_from) {
    // Who has to get through somewhere does not mind who else is after the same line.
    if (explores() && goal.kind != ExploreGoal::Kind::key && e.taken(goal, wish.explorer)) return;
    const bool in_pit = explores() && e.dead_end(cell, wish.from);
    if (in_pit && (known(goal) || e.dead_end_taken(cell, wish.explorer))) return;
    const std::uint32_t gain = goal == wish.favourite ? favourite_gain : 0;
    cost += whim(goal);
    cost = cost > gain ? cost - gain : 0;
    Offer& among = in_pit ? pit : known(goal) ? again : best;
    if (cost < among.cost) among = {cost, cell, crossed_from, goal};
  }
  void consider(ExploreGoal goal, std::uint32_t cell, std::uint32_t extra) {
    consider(goal, cell, r.cost_[cell] + extra, no_index);
  }

  /// Is a line one to set off? @return its extra cost, or `far`
  std::uint32_t line_extra(std::uint32_t line) const {
    const LineAction& a = *e.plan().action(line);
    const bool exit = a.effect == LineEffect::exit;
    if (!a.players || exit != wish.exits || wish.to != no_index || !unlocks(e, line, wish.keys)) return far;
    if (exit) return 0;
    if (!wish.only.empty()) {
      if (std::ranges::find(wish.only, line) == wish.only.end()) return far;
      if (!a.repeats && e.fired(line) > 1) return far;
      return e.now_s() - e.fired_s(line) < again_s ? line_cost : 0;
    }
    if (e.fired(line) == 0) return line_cost + (shuts(a) ? shut_cost : 0);
    if (e.now_s() - e.fired_s(line) < again_s * e.fired(line)) return far;
    if (!a.repeats && e.fired(line) > 2) return far;
    return again_cost + 500 * std::min(e.fired(line), 20u);
  }

  /// Goals that are reached by standing in a cell. At an exit nobody stands: the least push sends one off.
  void look_around(std::uint32_t cell) {
    if (cell == wish.to) return consider({ExploreGoal::Kind::place, cell}, cell, 0);
    const std::uint8_t marks = e.marks(cell);
    if ((marks & Expedition::at_exit) != 0) return;
    if ((marks & Expedition::has_stand) != 0)
      for (const auto& [at, line] : e.stands_at(cell)) {
        const std::uint32_t extra = line_extra(line);
        const ExploreGoal goal{ExploreGoal::Kind::line, line};
        if (extra == far || r.cost_[cell] + extra >= (known(goal) ? again : best).cost) continue;
        const DVec2 p = e.grid().point(cell);
        if (aim_at_line(e, line, {p.x, p.y, e.stand(e.grid().set(cell)).floor_m}))
          consider(goal, cell, extra);
      }
    if (!explores()) return;
    const std::uint32_t own = e.grid().sector(cell), set = e.grid().set(cell);
    // Over a pit's rim its middle is in the pit and its feet are not.
    if (!e.entered(own) && near_floor(own, e.stand(set).floor_m))
      consider({ExploreGoal::Kind::sector, own}, cell, 0);
    if (wanted_set[set] != 0)
      for (const std::uint32_t s : e.grid().sectors(set))
        if (thin_and_new(s, e.stand(set).floor_m)) consider({ExploreGoal::Kind::sector, s}, cell, 0);
    if ((marks & Expedition::has_key) != 0)
      for (const auto& [at, key] : e.keys_at(cell)) {
        if (((wish.keys | wish.keys_later) & e.plan().keys()[key].key) != 0) continue;
        const DVec2 p = e.grid().point(cell);
        if (e.takes_key(key, {p.x, p.y, e.stand(set).floor_m}))
          consider({ExploreGoal::Kind::key, key}, cell, key_cost);
      }
  }

  bool thin_and_new(std::uint32_t s, double floor_m) const {
    return !e.roomy(s) && !e.entered(s) && near_floor(s, floor_m);
  }
  bool near_floor(std::uint32_t s, double floor_m) const {
    return std::fabs(floor_m - e.heights()[s].floor_m) <= e.rules().step_height_m_max;
  }

  void relax(std::uint32_t from, std::uint32_t to, std::uint32_t cost, std::uint32_t via) {
    if (!wish.avoid.empty()) cost += wish.avoid[to];
    cost = std::max(r.cost_[from] + std::min(cost, edge_cost_max), at_cost);
    if (cost >= r.cost_[to]) return;
    if (r.cost_[to] == far) r.touched_.push_back(to);
    r.cost_[to] = cost;
    r.parent_[to] = from;
    r.via_[to] = via;
    r.buckets_[cost % bucket_count].push_back(to);
    ++waiting;
  }

  /// Lines between two cells that are set off by walking.
  /// @param cost  of the step; more, where it sets off what is better left alone
  /// @return false: nobody goes on to `to` that way
  bool cross(std::uint32_t from, std::uint32_t to, std::uint32_t& cost) {
    const MapPlan& plan = e.plan();
    const CrossedLines crossed = lines_walked_over(plan, e.grid().point(from), e.grid().point(to));
    const std::uint32_t way = cost;
    for (std::size_t i = 0; i < crossed.count; ++i) {
      const std::uint32_t line = crossed.list[i].line;
      const LineAction& a = *plan.action(line);
      if (!a.players) continue;
      if (a.effect == LineEffect::exit) {
        if (wish.exits) consider({ExploreGoal::Kind::line, line}, to, r.cost_[from] + cost, from);
        return false;
      }
      if (teleports(a)) {
        if (!crossed.list[i].from_front || (!a.repeats && e.fired(line) > 0) || !unlocks(e, line, wish.keys))
          continue;
        const auto landing = teleport_landing(plan, e.heights(), line);
        if (!landing) continue;
        const std::uint32_t there = e.grid().stand_near(xy(landing->position_m));
        if (there != no_index) relax(from, there, cost + teleport_cost, to);
        const std::uint32_t pad = plan.map().source().back_sector(plan.map().source().lines[line]);
        if (explores() && !e.entered(pad))
          consider({ExploreGoal::Kind::sector, pad}, to, r.cost_[from] + cost, from);
        return false;
      }
      const std::uint32_t extra = line_extra(line);
      if (shuts(a) && e.fired(line) == 0) cost += shut_cost;
      if (extra != far) consider({ExploreGoal::Kind::line, line}, to, r.cost_[from] + way + extra, from);
    }
    return true;
  }

  /// Did explorers fail to get something between two stands to move?
  bool blocked(std::uint32_t from, std::uint32_t to) const {
    for (const std::uint32_t set : {from, to})
      for (const std::uint32_t s : e.grid().sectors(set))
        if (e.blocked(s)) return true;
    return false;
  }

  void spread(std::uint32_t cell) {
    const GroundGrid& grid = e.grid();
    const std::uint32_t own = grid.set(cell);
    const StandHeights& here = e.stand(own);
    const bool lines = (e.marks(cell) & Expedition::near_walk_line) != 0;
    const bool leaves_exit = (e.marks(cell) & Expedition::at_exit) != 0;
    for (const Neighbour& n : neighbours) {
      const std::uint32_t to = grid.beside(cell, n.dx, n.dy), set = grid.set(to);
      if (set == no_index) continue;
      if (lines && !leaves_exit && !wish.exits && (e.marks(to) & Expedition::at_exit) != 0) continue;
      if (!lines && r.cost_[cell] + n.cost >= r.cost_[to]) continue;
      std::uint32_t cost = n.cost + (e.leans_out(to) ? lean_cost : 0);
      if (set != own || here.ceiling_m - here.floor_m < 2) {
        const StandHeights& there = e.stand(set);
        const Passage p = passage(here, there, e.rules());
        if (p == Passage::no || (p == Passage::later && !wish.only.empty())) continue;
        if (p == Passage::later && blocked(own, set)) continue;
        if (p == Passage::later) cost += later_cost;
        if (p == Passage::jump) cost += jump_cost;
        if (p == Passage::open && e.slit_between(cell, to)) continue;
        if (here.floor_m - there.floor_m > jump_rise_m(e.rules())) cost += drop_cost;
      }
      if (lines && !cross(cell, to, cost)) continue;
      relax(cell, to, cost, no_index);
    }
  }

  /// Leaps from a cell at an edge to where no way leads.
  void leap_from(std::uint32_t cell) {
    const GroundGrid& grid = e.grid();
    const double floor = e.stand(grid.set(cell)).floor_m;
    const bool edge = std::ranges::any_of(neighbours, [&](const Neighbour& n) {
      const std::uint32_t set = grid.set(grid.beside(cell, n.dx, n.dy));
      return set != no_index && e.stand(set).floor_m < floor - leap_edge_m;
    });
    if (!edge) return;
    static const std::vector<Neighbour> targets = leap_targets();
    for (const Neighbour& n : targets) {
      const std::uint32_t to = grid.neighbour(cell, n.dx, n.dy);
      if (to == no_index || grid.set(to) == no_index || r.cost_[to] != far) continue;
      if (e.stand(grid.set(to)).floor_m > floor + jump_rise_m(e.rules())) continue;
      if (leap_between(e, cell, to)) relax(cell, to, n.cost + (e.leans_out(to) ? rim_cost : 0), to);
    }
  }

  /// Takes what waits, the cheapest first, until there is nothing or the best goal is cheaper than all of it.
  void run() {
    for (; waiting > 0 && at_cost < best.cost; ++at_cost) {
      std::vector<std::uint32_t>& bucket = r.buckets_[at_cost % bucket_count];
      for (std::size_t i = 0; i < bucket.size(); ++i) {
        const std::uint32_t cell = bucket[i];
        --waiting;
        if (r.cost_[cell] != at_cost) continue;  // a cheaper way was found since
        look_around(cell);
        spread(cell);
      }
      bucket.clear();
    }
  }

  std::uint32_t waiting = 0;
  std::uint32_t at_cost = 0;
};

std::optional<Route> Router::find(const Expedition& e, const RouteWish& wish) {
  const std::uint32_t cells = e.grid().cell_count();
  if (wish.from >= cells || e.grid().set(wish.from) == no_index) return std::nullopt;
  cost_.resize(cells, far);
  parent_.resize(cells, no_index);
  via_.resize(cells, no_index);
  buckets_.resize(bucket_count);

  Search s{*this, e, wish, {}, {}, {}, {}};
  s.wanted_set.assign(e.grid().set_count(), 0);
  for (std::uint32_t set = 0; set < e.grid().set_count(); ++set)
    for (const std::uint32_t sector : e.grid().sectors(set))
      if (s.thin_and_new(sector, e.stand(set).floor_m)) s.wanted_set[set] = 1;

  cost_[wish.from] = 0;
  parent_[wish.from] = via_[wish.from] = no_index;
  touched_.assign(1, wish.from);
  buckets_[0].push_back(wish.from);
  s.waiting = 1;
  s.run();
  std::size_t leapt = 0;
  const bool leaps = wish.only.empty() && wish.to == no_index;
  for (int round = 0; round < leap_rounds && s.best.cell == no_index && leaps; ++round) {
    const std::size_t reached = touched_.size();
    // Costs are offered above all that was paid so far, so the buckets stay in order.
    for (; leapt < reached; ++leapt) s.leap_from(touched_[leapt]);
    s.run();
  }

  std::optional<Route> out;
  const bool pits = s.pit.cell != no_index && e.now_s() - e.news_s() > pit_s;
  const Search::Offer& end = s.best.cell != no_index ? s.best : pits ? s.pit : s.again;
  if (end.cell != no_index) {
    out.emplace();
    out->goal = end.goal;
    std::uint32_t at = end.cell;
    if (end.crossed_from != no_index) {
      out->cells.push_back(at);
      at = end.crossed_from;
    }
    for (; at != no_index; at = parent_[at]) {
      out->cells.push_back(at);
      if (via_[at] == at)
        out->leaps.push_back(out->cells.size());
      else if (via_[at] != no_index)
        out->cells.push_back(via_[at]);
    }
    std::ranges::reverse(out->cells);
    for (std::size_t& at_leap : out->leaps) at_leap = out->cells.size() - 1 - at_leap;
    std::ranges::reverse(out->leaps);
  }
  for (const std::uint32_t cell : touched_) cost_[cell] = far;
  if (s.waiting > 0)
    for (std::vector<std::uint32_t>& bucket : buckets_) bucket.clear();
  return out;
}

}  // namespace ashlar::client_sim
