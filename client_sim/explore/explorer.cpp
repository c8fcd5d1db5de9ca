#include "client_sim/explore/explorer.h"

#include <algorithm>
#include <cmath>

#include "world/sim/teleport.h"
#include "world/sim/triggers.h"

namespace ashlar::client_sim {
namespace {

constexpr double off_way_m = 1.5;         // further from the way than this: plan again
constexpr double put_elsewhere_m = 3;     // further in one call: a teleporter, or sent back
constexpr double fallen_m = 1.0;          // below the way
constexpr std::size_t ahead_cells = 12;   // of the way, that are looked over at once
constexpr double patience_s = 5;          // doors and lifts wait three to four seconds before they turn
constexpr double held_s_max = 25;         // at one place, whatever moves
constexpr std::uint32_t errands_max = 4;  // for one goal
constexpr double check_every_s = 0.75;
constexpr double ahead_m_min = 0.25;  // within that time, or it stands still
constexpr std::uint32_t still_max = 4;
constexpr double claim_s = 40;
constexpr double goal_s_max = 90;
constexpr double arrive_s_max = 1.5;
// Nothing to do: looks again after so long, and after twice as long each time.
constexpr double idle_s_min = 0.25, idle_s_max = 8;
constexpr double forget_every_s = 60;
constexpr double leap_s_max = 6;
constexpr double make_way_s = 2.5;
constexpr double step_aside_s = 0.6;
constexpr double keys_later_s = 10;
constexpr double trail_piece_m = 0.4;
constexpr std::size_t trail_max = 64;

}  // namespace

Explorer::Explorer(std::shared_ptr<Expedition> expedition, std::shared_ptr<Router> router,
                   std::uint32_t number, std::uint64_t seed)
    : e_(std::move(expedition)), router_(std::move(router)), number_(number), rng_(rng_for(seed, 7, number)) {
  avoid_.assign(e_->grid().cell_count(), 0);
}

std::uint32_t Explorer::cell_of(const Body& body) const {
  const std::uint32_t own = e_->grid().cell_at(xy(body.position_m));
  if (own == no_index) return own;
  std::uint32_t best = no_index;
  double best_m = 1e9;
  for (std::int32_t dy = -2; dy <= 2; ++dy)
    for (std::int32_t dx = -2; dx <= 2; ++dx) {
      const std::uint32_t n = e_->grid().neighbour(own, dx, dy);
      if (n == no_index || e_->grid().set(n) == no_index) continue;
      const double up = std::fabs(e_->stand(e_->grid().set(n)).floor_m - body.position_m.z);
      const double away = length(e_->grid().point(n) - xy(body.position_m)) + (up > 0.1 ? 1 + up : 0);
      if (away >= best_m) continue;
      best_m = away;
      best = n;
    }
  return best;
}

Passage Explorer::between(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t a = e_->grid().set(from), b = e_->grid().set(to);
  if (a == no_index || b == no_index) return Passage::no;
  return passage(e_->stand(a), e_->stand(b), e_->rules());
}

bool Explorer::moves_with(std::uint32_t cell, std::uint32_t sector) const {
  const std::uint32_t set = e_->grid().set(cell);
  return set != no_index && std::ranges::binary_search(e_->grid().sectors(set), sector);
}

void Explorer::drop_route() {
  route_ = {};
  at_ = 0;
  on_errand_ = false;
  held_since_s_ = arrived_s_ = -1;
  leap_.reset();
  plan_at_s_ = e_->now_s();
}

void Explorer::give_up() {
  ++counters_.given_up;
  if (on_errand_ && favourite_.kind != ExploreGoal::Kind::none && favourite_.kind != ExploreGoal::Kind::key)
    e_->give_up(favourite_);
  // A key is everybody's own business: that one does not come to it now says nothing about the others.
  if (route_.goal.kind == ExploreGoal::Kind::key) {
    keys_later_ = static_cast<std::uint8_t>(keys_later_ | e_->plan().keys()[route_.goal.what].key);
    keys_later_until_s_ = e_->now_s() + keys_later_s;
  } else if (route_.goal.kind != ExploreGoal::Kind::none) {
    e_->give_up(route_.goal);
  }
  favourite_ = {};
  errands_ = 0;
  drop_route();
}

void Explorer::shun(std::uint32_t cell, std::uint16_t cost) {
  for (std::int32_t dy = -1; dy <= 1; ++dy)
    for (std::int32_t dx = -1; dx <= 1; ++dx) {
      const std::uint32_t n = e_->grid().neighbour(cell, dx, dy);
      if (n == no_index) continue;
      if (avoid_[n] == 0) avoided_.push_back(n);
      avoid_[n] = static_cast<std::uint16_t>(std::min(60000, avoid_[n] + cost));
    }
}

/// What the body's place tells: sectors entered, lines walked over, keys taken.
void Explorer::look(const Body& body) {
  e_->enter(body.position_m);
  if (seen_) {
    const DVec2 way = xy(body.position_m - before_m_);
    if (dot(way, way) > put_elsewhere_m * put_elsewhere_m) {
      note_teleport(body);
      // A teleporter on the way leads on along it; anything else is a new start.
      const auto& cells = route_.cells;
      std::size_t next = at_ + 1;
      while (next < cells.size() && length(e_->grid().point(cells[next]) - xy(body.position_m)) > 1) ++next;
      if (next < cells.size())
        at_ = next;
      else
        drop_route();
    } else {
      const CrossedLines crossed = lines_walked_over(e_->plan(), xy(before_m_), xy(body.position_m));
      for (std::size_t i = 0; i < crossed.count; ++i)
        if (unlocks(*e_, crossed.list[i].line, keys_)) e_->note_fired(crossed.list[i].line);
    }
  }
  before_m_ = body.position_m;
  seen_ = true;
  e_->note_place(number_, body.position_m);
  if (e_->now_s() >= way_until_s_ &&
      (trail_.empty() || length(trail_.back() - xy(body.position_m)) > trail_piece_m)) {
    trail_.push_back(xy(body.position_m));
    if (trail_.size() > trail_max) trail_.erase(trail_.begin());
  }
  for (std::uint32_t k = 0; k < e_->plan().keys().size(); ++k)
    if (e_->takes_key(k, body.position_m))
      keys_ = static_cast<std::uint8_t>(keys_ | e_->plan().keys()[k].key);
}

/// Which teleporter's line was it that it stood before?
void Explorer::note_teleport(const Body& body) {
  constexpr double before_line_m = 0.5, landing_m = 2.5;
  const DVec2 was = xy(before_m_), low{was.x - before_line_m, was.y - before_line_m};
  std::uint32_t line = no_index;
  e_->plan().visit_triggers(low, {was.x + before_line_m, was.y + before_line_m}, [&](std::uint32_t l) {
    if (!teleports(*e_->plan().action(l))) return;
    const DVec2 a = e_->plan().start_m(l), along = e_->plan().end_m(l) - a;
    const double at = std::clamp(dot(was - a, along) / dot(along, along), 0.0, 1.0);
    if (length(a + along * at - was) > before_line_m) return;
    const auto landing = teleport_landing(e_->plan(), e_->heights(), l);
    if (landing && length(xy(landing->position_m - body.position_m)) < landing_m) line = l;
  });
  if (line == no_index) return;
  e_->note_fired(line);
  e_->enter_behind(line);
}

void Explorer::plan(const Body& body) {
  RouteWish wish;
  wish.from = cell_of(body);
  wish.explorer = number_;
  if (e_->now_s() > keys_later_until_s_) keys_later_ = 0;
  wish.keys = keys_;
  wish.keys_later = keys_later_;
  wish.avoid = avoid_;
  wish.favourite = favourite_;
  auto found = router_->find(*e_, wish);
  if (!found) {
    wish.again = true;
    found = router_->find(*e_, wish);
  }
  ++counters_.routes;
  drop_route();
  if (!found) {
    ++counters_.idle;
    idle_s_ = std::min(2 * idle_s_, idle_s_max);
    plan_at_s_ = e_->now_s() + idle_s_ * (1 + rng_.unit());
    return;
  }
  idle_s_ = idle_s_min;
  route_ = std::move(*found);
  if (route_.goal != favourite_) {
    favourite_ = route_.goal;
    errands_ = 0;
    started_s_ = e_->now_s();
  }
  if (route_.goal.kind != ExploreGoal::Kind::key) e_->take(route_.goal, number_, claim_s);
  still_ = 0;
  check_s_ = e_->now_s() + check_every_s;
  check_m_ = body.position_m;
}

/// Sets out to press or walk over what moves the way between two cells.
bool Explorer::errand(const Body& body, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> lines;
  for (const std::uint32_t cell : {from, to})
    for (const std::uint32_t s : e_->grid().sectors(e_->grid().set(cell)))
      for (const std::uint32_t l : e_->lines_moving(s)) lines.push_back(l);
  if (lines.empty()) return false;
  RouteWish wish;
  wish.from = cell_of(body);
  wish.explorer = number_;
  wish.keys = keys_;
  wish.avoid = avoid_;
  wish.only = lines;
  auto found = router_->find(*e_, wish);
  if (!found) return false;
  ++counters_.routes;
  const ExploreGoal what_for = favourite_;
  drop_route();
  favourite_ = what_for;
  route_ = std::move(*found);
  on_errand_ = true;
  return true;
}

PlayerCommand Explorer::steer(DVec2 from, DVec2 to, bool stop) {
  PlayerCommand c;
  const DVec2 way = to - from;
  const double away = length(way);
  if (away < 0.01) return c;
  c.yaw = turn_towards(way);
  const double wish_mps = stop ? 7 * away : 2 + 7 * away;
  c.forward = std::min(1.0, wish_mps / e_->rules().walk_speed_mps_max);
  return c;
}

/// Can one walk straight, without a step that the way did not have?
bool Explorer::straight(DVec2 from, DVec2 to) const {
  const DVec2 way = to - from;
  const int pieces = static_cast<int>(length(way) / 0.12) + 1;
  std::uint32_t before = no_index;
  for (int i = 0; i <= pieces; ++i) {
    const std::uint32_t cell = e_->grid().cell_at(from + way * (static_cast<double>(i) / pieces));
    if (cell == no_index || e_->grid().set(cell) == no_index) return false;
    if ((e_->marks(cell) & Expedition::near_walk_line) != 0 || e_->leans_out(cell)) return false;
    if (before != no_index && before != cell) {
      const StandHeights &a = e_->stand(e_->grid().set(before)), &b = e_->stand(e_->grid().set(cell));
      if (passage(a, b, e_->rules()) != Passage::open) return false;
      if (a.floor_m - b.floor_m > e_->rules().step_height_m_max) return false;
    }
    before = cell;
  }
  return true;
}

std::size_t Explorer::lookahead(const Body& body, std::size_t last) const {
  std::size_t to = std::min(at_ + 1, last);
  for (std::size_t k = to + 1; k <= last && k <= at_ + 8; ++k)
    if (straight(xy(body.position_m), e_->grid().point(route_.cells[k]))) to = k;
  return to;
}

bool Explorer::gets_ahead(const Body& body) {
  if (e_->now_s() < check_s_) return true;
  const bool moved = length(body.position_m - check_m_) >= ahead_m_min;
  check_s_ = e_->now_s() + check_every_s;
  check_m_ = body.position_m;
  still_ = moved ? 0 : still_ + 1;
  return moved;
}

PlayerCommand Explorer::follow(const Body& body) {
  const GroundGrid& grid = e_->grid();
  const DVec2 here = xy(body.position_m);
  // Where on the way is it?
  double best_m = 1e9;
  std::size_t best = at_;
  for (std::size_t k = at_; k < route_.cells.size() && k <= at_ + ahead_cells; ++k) {
    const double away = length(grid.point(route_.cells[k]) - here);
    if (away < best_m) best_m = away, best = k;
  }
  if (best_m > off_way_m) {
    drop_route();
    return {};
  }
  at_ = best;
  // Fallen off the way: it goes on up there.
  const double below_m = e_->stand(grid.set(route_.cells[at_])).floor_m - body.position_m.z;
  if (body.grounded != 0 && below_m > fallen_m) {
    const std::uint32_t own = cell_of(body);
    if (own == no_index || between(own, route_.cells[at_]) == Passage::no) {
      drop_route();
      return {};
    }
  }
  const auto next_leap = std::ranges::lower_bound(route_.leaps, at_);
  if (next_leap != route_.leaps.end() && *next_leap <= at_ + 1) {
    leap_ = leap_between(*e_, route_.cells[*next_leap], route_.cells[*next_leap + 1]);
    if (!leap_) {
      shun(route_.cells[*next_leap + 1], 2000);  // things stand differently now
      drop_route();
      return {};
    }
    ++counters_.leaps;
    leap_phase_ = LeapPhase::back;
    leap_since_s_ = e_->now_s();
    return leap(body);
  }
  if (at_ + 1 >= route_.cells.size()) return arrive(body);

  std::size_t last = std::min(at_ + ahead_cells, route_.cells.size() - 1);
  bool jump = false;
  for (std::size_t k = at_; k < last; ++k) {
    const std::uint32_t from = route_.cells[k], to = route_.cells[k + 1];
    if (std::ranges::binary_search(route_.leaps, k) || length(grid.point(from) - grid.point(to)) > 1) {
      last = k;  // before a gap or behind a teleporter's line
      break;
    }
    const Passage p = between(from, to);
    if (p == Passage::jump && k <= at_ + 2) jump = true;
    if (p == Passage::jump) {
      last = std::min(k + 2, last);
      break;
    }
    if (p != Passage::open) return hold(body, k);
  }
  held_since_s_ = -1;
  if (body.grounded != 0 && !gets_ahead(body)) {
    ++counters_.held;
    if (e_->meets(number_, body.position_m, true) && trail_.size() > 2) {
      ++counters_.made_way;
      way_until_s_ = e_->now_s() + make_way_s;
      drop_route();
      return make_way(body);
    }
    if (still_ > still_max) {
      shun(route_.cells[std::min(at_ + 1, route_.cells.size() - 1)], 800);
      give_up();
      return {};
    }
    if (still_ == 2) shun(route_.cells[at_ + 1], 300), plan_at_s_ = e_->now_s(), drop_route();
    dodge_until_s_ = e_->now_s() + 0.3;
    dodge_ = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
    if (route_.cells.empty()) return {};
  }
  if (e_->now_s() < dodge_until_s_) {
    PlayerCommand c;
    c.yaw = dodge_;
    c.forward = 1;
    c.buttons = still_ >= 2 ? button::jump : 0;
    return c;
  }
  const std::size_t to = jump ? std::min(at_ + 3, last) : lookahead(body, last);
  PlayerCommand c = steer(here, grid.point(route_.cells[to]), to + 1 == route_.cells.size() && !jump);
  if (jump) {
    c.buttons = button::jump;
    c.forward = 1;
  }
  return c;
}

/// The way between two cells is not passable yet: waits where nothing comes down, presses what opens it.
PlayerCommand Explorer::hold(const Body& body, std::size_t blocked) {
  const GroundGrid& grid = e_->grid();
  const double now = e_->now_s();
  const std::uint32_t from = route_.cells[blocked], to = route_.cells[blocked + 1];
  if (between(from, to) == Passage::no) {
    drop_route();  // things stand differently than when the way was planned
    return {};
  }
  // Who is it that has to move, when did it last, and does it carry us?
  double moved_s = -1e9;
  bool riding = false;
  std::size_t stop = blocked;
  for (const std::uint32_t cell : {from, to})
    for (const std::uint32_t s : grid.sectors(grid.set(cell))) {
      if (!e_->recurs(s)) continue;
      moved_s = std::max(moved_s, e_->moved_s(s));
      const bool lift = e_->high(s).floor_m - e_->low(s).floor_m > 0.1;
      if (lift && moves_with(route_.cells[at_], s)) riding = true;
      while (stop > at_ && !lift && moves_with(route_.cells[stop], s)) --stop;
    }
  if (!riding)
    for (const std::uint32_t s : grid.sectors(grid.set(to)))
      while (stop > at_ && e_->recurs(s) && moves_with(route_.cells[stop], s)) --stop;
  const DVec2 place = grid.point(route_.cells[stop]);
  const bool there = length(place - xy(body.position_m)) < 0.4 || blocked <= at_ + 1;
  if (there && held_since_s_ < 0) held_since_s_ = now;
  if (there && now - held_since_s_ > held_s_max) {
    shun(to, 3000);
    give_up();
    return {};
  }
  const bool coming = now - moved_s < (riding || now - moved_s < 0.3 ? patience_s : 3.5);
  if (there && !coming && now - held_since_s_ > 0.2) {
    if (++errands_ > errands_max || !errand(body, from, to)) {
      shun(to, 3000);
      give_up();
    }
    return {};
  }
  check_s_ = now + check_every_s;
  check_m_ = body.position_m;
  const std::size_t next = stop > at_ ? lookahead(body, stop) : stop;
  return steer(xy(body.position_m), grid.point(route_.cells[next]), next == stop);
}

/// At the end of the way: what was to be done there is done.
PlayerCommand Explorer::arrive(const Body& body) {
  const double now = e_->now_s();
  if (arrived_s_ < 0) arrived_s_ = now;
  const ExploreGoal goal = route_.goal;
  const bool line = goal.kind == ExploreGoal::Kind::line;
  const bool walked = line && e_->plan().action(goal.what)->trigger == LineTrigger::walk;
  const bool done = goal.kind == ExploreGoal::Kind::sector ? e_->entered(goal.what)
                    : goal.kind == ExploreGoal::Kind::key  ? (keys_ & e_->plan().keys()[goal.what].key) != 0
                                                           : walked && now - e_->fired_s(goal.what) < 2;
  if (done) {
    if (walked) ++counters_.lines;
    if (!on_errand_) favourite_ = {}, errands_ = 0;
    drop_route();
    return {};
  }
  if (now - arrived_s_ > arrive_s_max) {
    give_up();
    return {};
  }
  if (line && !walked && body.grounded != 0) {
    const auto aim = aim_at_line(*e_, goal.what, body.position_m);
    if (aim && (buttons_ & (button::use | button::attack)) == 0) {
      PlayerCommand c;
      c.yaw = aim->yaw;
      c.pitch = aim->pitch;
      c.buttons = aim->buttons;
      e_->note_fired(goal.what);
      ++counters_.lines;
      if (!on_errand_) favourite_ = {}, errands_ = 0;
      drop_route();
      plan_at_s_ = now + 0.15;
      return c;
    }
  }
  PlayerCommand c = steer(xy(body.position_m), e_->grid().point(route_.cells.back()), !walked);
  if (now - arrived_s_ > 0.7) c.buttons = button::jump;
  return c;
}

/// Back to where the run begins, then to the edge and over it.
PlayerCommand Explorer::leap(const Body& body) {
  const DVec2 here = xy(body.position_m);
  const auto done = [&](bool well) {
    const std::uint32_t landing = e_->grid().cell_at(leap_->to);
    leap_.reset();
    if (!well) {
      shun(landing, 1500);
      drop_route();
    }
    return PlayerCommand{};
  };
  if (e_->now_s() - leap_since_s_ > leap_s_max) return done(false);
  const DVec2 start = leap_->from - leap_->ahead * leap_->run_m;
  if (leap_phase_ == LeapPhase::back) {
    const DVec2 v = xy(body.velocity_mps);
    if (length(start - here) > 0.12 || dot(v, v) > 0.25) return steer(here, start, true);
    leap_phase_ = LeapPhase::run;
  }
  PlayerCommand c;
  c.yaw = turn_towards(leap_->to - here);
  c.forward = std::min(1.0, leap_->speed_mps / e_->rules().walk_speed_mps_max);
  if (leap_phase_ == LeapPhase::run) {
    c.yaw = turn_towards(leap_->ahead);
    if (body.grounded == 0) return done(false);  // over the edge without a jump
    const double left_m = dot(leap_->from - here, leap_->ahead);
    if (left_m < 0.5 * leap_->speed_mps * e_->rules().tick_s() + 0.02) {
      c.buttons = button::jump;
      leap_phase_ = LeapPhase::air;
    }
    return c;
  }
  if (body.grounded != 0 && body.velocity_mps.z <= 0 && (buttons_ & button::jump) == 0) {
    const std::uint32_t cell = e_->grid().cell_at(leap_->to);
    const bool well = std::fabs(e_->stand(e_->grid().set(cell)).floor_m - body.position_m.z) < 0.05;
    if (well) {
      const auto next = std::ranges::lower_bound(route_.leaps, at_);
      if (next != route_.leaps.end()) at_ = *next + 1;
    }
    return done(well);
  }
  if (dot(leap_->to - here, leap_->ahead) < 0.1) c.forward = 0;
  return c;
}

/// Back along its own trail, out of the way of another one.
PlayerCommand Explorer::make_way(const Body& body) {
  while (trail_.size() > 1 && length(trail_.back() - xy(body.position_m)) < trail_piece_m) trail_.pop_back();
  return steer(xy(body.position_m), trail_.back(), trail_.size() == 1);
}

/// Nothing to do: out of the way of those who have. Only where a straight way leads over level ground.
PlayerCommand Explorer::stand_by(const Body& body) {
  const double now = e_->now_s();
  const DVec2 here = xy(body.position_m);
  if (now >= dodge_until_s_) {
    if (!e_->meets(number_, body.position_m, false)) return {};
    dodge_ = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
    if (!straight(here, here + heading(dodge_) * 2.0)) return {};
    dodge_until_s_ = now + step_aside_s;
  }
  PlayerCommand c;
  c.yaw = dodge_;
  c.forward = straight(here, here + heading(dodge_) * 0.6) ? 0.5 : 0;
  return c;
}

PlayerCommand Explorer::think(const Body& body) {
  const double now = e_->now_s();
  look(body);
  if (now >= forget_s_) {
    forget_s_ = now + forget_every_s;
    for (const std::uint32_t cell : avoided_) avoid_[cell] = static_cast<std::uint16_t>(avoid_[cell] / 2);
    std::erase_if(avoided_, [&](std::uint32_t cell) { return avoid_[cell] == 0; });
  }
  // Somebody else came there first.
  const ExploreGoal goal = on_errand_ ? favourite_ : route_.goal;
  if (goal.kind == ExploreGoal::Kind::sector && e_->entered(goal.what) && !leap_) {
    favourite_ = {};
    errands_ = 0;
    drop_route();
  }
  if (now < way_until_s_ && !trail_.empty()) return make_way(body);
  if (leap_) {
    const PlayerCommand c = leap(body);
    buttons_ = c.buttons;
    return c;
  }
  if (!route_.cells.empty() && now - started_s_ > goal_s_max) give_up();
  if (route_.cells.empty() && now >= plan_at_s_ && body.grounded != 0) plan(body);
  PlayerCommand command = route_.cells.empty() ? stand_by(body) : follow(body);
  buttons_ = command.buttons;
  return command;
}

}  // namespace ashlar::client_sim
