#include <algorithm>
#include <cmath>

#include "client_sim/explore/explorer.h"

// An explorer's way: where on it the body is, what is done about doors, lifts, gaps and other explorers, and
// what at its end.

namespace ashlar::client_sim {
namespace {

constexpr double off_way_m = 1.5;         // further from the way than this: plan again
constexpr double overhead_m = 1.0;        // so far above the body the way is not where it is
constexpr std::size_t ahead_cells = 12;   // of the way, that are looked over at once
constexpr double patience_s = 5;          // doors and lifts wait three to four seconds before they turn
constexpr double held_s_max = 25;         // at one place, whatever moves
constexpr std::uint32_t errands_max = 4;  // for one goal
constexpr double check_every_s = 0.75;
constexpr double ahead_m_min = 0.25;  // within that time, or it stands still
constexpr std::uint32_t still_max = 4;
constexpr double arrive_s_max = 1.5;
constexpr double pressed_s = 1;  // by another one, too
constexpr double make_way_s = 2.5;
constexpr double step_aside_s = 0.6;
constexpr double dodge_s = 0.3;
constexpr double dodge_clear_m = 4;  // of exits: the dodge, and what one slides on

constexpr std::size_t off_way = ~std::size_t{0};

}  // namespace

bool Explorer::moves_with(std::uint32_t cell, std::uint32_t sector) const {
  const std::uint32_t set = e_->grid().set(cell);
  return set != no_index && std::ranges::binary_search(e_->grid().sectors(set), sector);
}

bool Explorer::is_lift(std::uint32_t sector) const {
  return e_->high(sector).floor_m - e_->low(sector).floor_m > 0.1;
}

/// Would a lift press a body in that cell against a ceiling that is not its own?
bool Explorer::pinched(std::uint32_t cell, std::uint32_t lift) const {
  const double top_m = e_->high(lift).floor_m + e_->rules().player.height_m - 0.01;
  return moves_with(cell, lift) &&
         std::ranges::any_of(e_->grid().sectors(e_->grid().set(cell)), [&](std::uint32_t s) {
           return !e_->plan().map().sky(s) && !is_lift(s) && e_->high(s).ceiling_m < top_m;
         });
}

std::size_t Explorer::lookahead(const Body& body, std::size_t last) const {
  std::size_t to = std::min(at_ + 1, last);
  for (std::size_t k = to + 1; k <= last && k <= at_ + 8; ++k)
    if (straight(*e_, xy(body.position_m), e_->grid().point(route_.cells[k]))) to = k;
  return to;
}

void Explorer::begin_check(const Body& body) {
  check_s_ = e_->now_s() + check_every_s;
  check_m_ = body.position_m;
}

bool Explorer::gets_ahead(const Body& body) {
  if (e_->now_s() < check_s_) return true;
  const bool moved = length(body.position_m - check_m_) >= ahead_m_min;
  begin_check(body);
  still_ = moved ? 0 : still_ + 1;
  return moved;
}

/// Which cell of the way is it at? Not one overhead: a way up turns back above itself, and from the ground
/// its upper end may be the nearer one.
std::size_t Explorer::place_on_way(const Body& body) const {
  const GroundGrid& grid = e_->grid();
  double best_m = off_way_m;
  std::size_t best = off_way;
  for (std::size_t k = at_; k < route_.cells.size() && k <= at_ + ahead_cells; ++k) {
    const double up_m = e_->stand(grid.set(route_.cells[k])).floor_m - body.position_m.z;
    if (body.grounded != 0 && up_m > overhead_m) continue;
    const double away = length(grid.point(route_.cells[k]) - xy(body.position_m));
    if (away < best_m) best_m = away, best = k;
  }
  return best;
}

PlayerCommand Explorer::begin_leap(const Body& body, std::size_t at) {
  const auto found = leap_between(*e_, route_.cells[at], route_.cells[at + 1]);
  if (!found) {
    shun(route_.cells[at + 1], 2000);  // things stand differently now
    lose_way();
    return {};
  }
  // Whoever stands where it would come down is what it would bounce off.
  if (e_->meets(number_, {found->to.x, found->to.y, e_->stand(e_->grid().set(route_.cells[at + 1])).floor_m},
                false)) {
    shun(route_.cells[at + 1], 1000);
    drop_route();
    plan_at_s_ = e_->now_s() + 0.5;
    return {};
  }
  ++counters_.leaps;
  leap_.emplace(*found, e_->now_s());
  return leap(body);
}

PlayerCommand Explorer::leap(const Body& body) {
  const PlayerCommand c = leap_->think(*e_, body, buttons_);
  const LeapRun::State state = leap_->state();
  if (state == LeapRun::State::going) return c;
  const std::uint32_t landing = e_->grid().cell_at(leap_->leap().to);
  leap_.reset();
  if (state == LeapRun::State::landed) {
    const auto next = std::ranges::lower_bound(route_.leaps, at_);
    if (next != route_.leaps.end()) at_ = *next + 1;
  } else {
    shun(landing, 1500);
    drop_route();
  }
  return c;
}

PlayerCommand Explorer::follow(const Body& body) {
  const GroundGrid& grid = e_->grid();
  const std::size_t here = place_on_way(body);
  if (here == off_way) {
    lose_way();
    return {};
  }
  at_ = here;
  const auto next_leap = std::ranges::lower_bound(route_.leaps, at_);
  // From where it stands, that is: beside a lift that is up there is no leaping off it.
  if (next_leap != route_.leaps.end() && *next_leap <= at_ + 1 &&
      (*next_leap == at_ ||
       passage_between(*e_, route_.cells[at_], route_.cells[*next_leap]) == Passage::open))
    return begin_leap(body, *next_leap);
  if (at_ + 1 >= route_.cells.size()) return arrive(body);

  std::size_t last = std::min(at_ + ahead_cells, route_.cells.size() - 1);
  bool jump = false;
  for (std::size_t k = at_; k < last; ++k) {
    const std::uint32_t from = route_.cells[k], to = route_.cells[k + 1];
    if (std::ranges::binary_search(route_.leaps, k) || length(grid.point(from) - grid.point(to)) > 1) {
      last = k;  // before a gap or behind a teleporter's line
      break;
    }
    const Passage p = passage_between(*e_, from, to);
    if (p == Passage::jump && k <= at_ + 2) jump = true;
    if (p == Passage::jump) {
      last = std::min(k + 2, last);
      break;
    }
    if (p != Passage::open) return hold(body, k);
  }
  held_since_s_ = -1;
  if (body.grounded != 0 && !gets_ahead(body) && held_up(body)) return {};
  return walk(body, last, jump);
}

/// It does not get ahead: makes way for whoever came first, dodges, plans anew, gives up.
/// @return true when it has no way any more
bool Explorer::held_up(const Body& body) {
  ++counters_.held;
  if (e_->meets(number_, body.position_m, true) && trail_.leads()) {
    ++counters_.made_way;
    way_until_s_ = e_->now_s() + make_way_s;
    drop_route();
    return true;
  }
  const std::uint32_t next = route_.cells[std::min(at_ + 1, route_.cells.size() - 1)];
  if (still_ > still_max) {
    shun(next, 800);
    give_up();
    return true;
  }
  dodge_ = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
  if (!e_->exit_ahead(xy(body.position_m), dodge_, dodge_clear_m)) dodge_until_s_ = e_->now_s() + dodge_s;
  if (still_ != 2) return false;
  shun(next, 300);
  drop_route();
  return true;
}

PlayerCommand Explorer::walk(const Body& body, std::size_t last, bool jump) {
  PlayerCommand c;
  if (e_->now_s() < dodge_until_s_) {
    c.yaw = dodge_;
    c.forward = 1;
    c.buttons = still_ >= 2 ? button::jump : 0;
    return c;
  }
  const std::size_t to = jump ? std::min(at_ + 3, last) : lookahead(body, last);
  c = step_to(e_->rules(), xy(body.position_m), e_->grid().point(route_.cells[to]),
              to + 1 == route_.cells.size() && !jump);
  if (jump) {
    c.buttons = button::jump;
    c.forward = 1;
  }
  return c;
}

/// Nobody gets what is between two cells to move: there are other ways, or other goals, for now.
void Explorer::block(std::uint32_t from, std::uint32_t to) {
  ++counters_.blocked;
  const GroundGrid& grid = e_->grid();
  bool any = false;
  for (const std::uint32_t s : grid.sectors(grid.set(to)))
    if (e_->recurs(s) && !moves_with(from, s)) e_->block(s), any = true;
  if (!any)
    for (const std::uint32_t cell : {from, to})
      for (const std::uint32_t s : grid.sectors(grid.set(cell)))
        if (e_->recurs(s)) e_->block(s), any = true;
  if (!any) {
    give_up();
    return;
  }
  errands_ = 0;
  drop_route();
}

/// The way between two cells is not passable yet: waits where nothing comes down, presses what opens it.
PlayerCommand Explorer::hold(const Body& body, std::size_t blocked) {
  const GroundGrid& grid = e_->grid();
  const double now = e_->now_s();
  const std::uint32_t from = route_.cells[blocked], to = route_.cells[blocked + 1];
  if (passage_between(*e_, from, to) == Passage::no) {
    lose_way();
    return {};
  }
  // Who is it that has to move, when did it last, and does it carry us?
  double moved_s = -1e9;
  bool riding = false;
  std::uint32_t under = no_index;  // the lift
  std::size_t stop = blocked;
  for (const std::uint32_t cell : {from, to})
    for (const std::uint32_t s : grid.sectors(grid.set(cell))) {
      if (!e_->recurs(s)) continue;
      moved_s = std::max(moved_s, e_->moved_s(s));
      const bool lift = is_lift(s);
      if (lift && moves_with(route_.cells[at_], s)) riding = true, under = s;
      while (stop > at_ && !lift && moves_with(route_.cells[stop], s)) --stop;
    }
  // A lift is waited for beside it; but one that has to carry it on from there, on it.
  if (!riding)
    for (const std::uint32_t s : grid.sectors(grid.set(to)))
      while (!(is_lift(s) && moves_with(from, s)) && stop > at_ && e_->recurs(s) &&
             moves_with(route_.cells[stop], s))
        --stop;
  // Half on it and half under what stays, it would stop the lift for everybody: further on, or off it.
  if (riding) {
    while (stop > at_ && pinched(route_.cells[stop], under)) --stop;
    if (pinched(route_.cells[stop], under))
      while (stop > 0 && moves_with(route_.cells[stop], under)) --stop;
  }
  const DVec2 place = grid.point(route_.cells[stop]);
  const bool there = length(place - xy(body.position_m)) < 0.4 || blocked <= at_ + 1;
  if (there && held_since_s_ < 0) held_since_s_ = now;
  if (there && now - held_since_s_ > held_s_max) {
    block(from, to);
    return {};
  }
  const bool coming = now - moved_s < (riding || now - moved_s < 0.3 ? patience_s : 3.5);
  if (there && !coming && now - held_since_s_ > 0.2) {
    if (++errands_ > errands_max || !errand(body, from, to)) block(from, to);
    return {};
  }
  begin_check(body);
  const std::size_t next = stop > at_ ? lookahead(body, stop) : stop;
  return step_to(e_->rules(), xy(body.position_m), grid.point(route_.cells[next]), next == stop);
}

/// At the end of the way: what was to be done there is done.
PlayerCommand Explorer::arrive(const Body& body) {
  const double now = e_->now_s();
  if (arrived_s_ < 0) arrived_s_ = now;
  const ExploreGoal goal = route_.goal;
  const bool line = goal.kind == ExploreGoal::Kind::line;
  const bool walked = line && e_->plan().action(goal.what)->trigger == LineTrigger::walk;
  const bool done = goal.kind == ExploreGoal::Kind::place    ? true
                    : goal.kind == ExploreGoal::Kind::sector ? e_->entered(goal.what)
                    : goal.kind == ExploreGoal::Kind::key    ? (keys_ & e_->plan().keys()[goal.what].key) != 0
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
    // Pressed twice, a door that opens closes again.
    if (e_->plan().action(goal.what)->repeats && now - e_->fired_s(goal.what) < pressed_s) {
      drop_route();
      return {};
    }
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
  // The last point may lie on the border of where it wants to be, or a hair before it: then on, beyond it.
  DVec2 end = e_->grid().point(route_.cells.back());
  if (now - arrived_s_ > 0.35 && route_.cells.size() > 1)
    end = end + (end - e_->grid().point(route_.cells[route_.cells.size() - 2])) * 0.5;
  PlayerCommand c = step_to(e_->rules(), xy(body.position_m), end, !walked);
  if (now - arrived_s_ > 0.7) c.buttons = button::jump;
  return c;
}

/// Nothing to do: out of the way of those who have. Only where a straight way leads over level ground.
PlayerCommand Explorer::stand_by(const Body& body) {
  const double now = e_->now_s();
  const DVec2 here = xy(body.position_m);
  if (now >= dodge_until_s_) {
    if (!e_->meets(number_, body.position_m, false)) return {};
    dodge_ = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
    if (!straight(*e_, here, here + heading(dodge_) * 2.0)) return {};
    dodge_until_s_ = now + step_aside_s;
  }
  PlayerCommand c;
  c.yaw = dodge_;
  c.forward = straight(*e_, here, here + heading(dodge_) * 0.6) ? 0.5 : 0;
  return c;
}

}  // namespace ashlar::client_sim
