#include "client_sim/explore/explorer.h"

#include <algorithm>
#include <cmath>

#include "world/sim/teleport.h"
#include "world/sim/triggers.h"

namespace ashlar::client_sim {
namespace {

constexpr double put_elsewhere_m = 3;  // further in one call: a teleporter, or sent back
constexpr double claim_s = 40;
constexpr double dead_end_s = 120;
constexpr double goal_s_max = 90, goal_cell_s = 0.1;  // for a goal, and beside it for each cell of the way
// Nothing to do: looks again after so long, and after twice as long each time.
constexpr double idle_s_min = 0.25, idle_s_max = 8;
constexpr double forget_every_s = 60;
constexpr double keys_later_s = 10;
constexpr double hasty_s = 0.1;
// To a place that moves: a way that ends so near to it is good enough, another is looked for so often, and
// where there was none, so much later.
constexpr double seek_slack_m = 2, seek_every_s = 0.7, seek_again_s = 4;
constexpr double way_out_again_s = 8;

}  // namespace

Explorer::Explorer(std::shared_ptr<Expedition> expedition, std::shared_ptr<Router> router,
                   std::uint32_t number, std::uint64_t seed)
    : e_(std::move(expedition)), router_(std::move(router)), number_(number), rng_(rng_for(seed, 7, number)) {
  avoid_.assign(e_->grid().cell_count(), 0);
}

void Explorer::drop_route() {
  route_ = {};
  at_ = 0;
  on_errand_ = false;
  held_since_s_ = arrived_s_ = -1;
  leap_.reset();
  plan_at_s_ = e_->now_s();
}

/// The way does not lead on as it was planned. One that fails at its first step would be planned again for
/// ever: something stands differently than a search can see.
void Explorer::lose_way() {
  if (e_->now_s() > planned_s_ + hasty_s) return drop_route();
  ++counters_.hasty;
  give_up();
}

void Explorer::give_up() {
  ++counters_.given_up;
  if (on_errand_ && favourite_.kind != ExploreGoal::Kind::none && favourite_.kind != ExploreGoal::Kind::key)
    e_->give_up(favourite_);
  // A key is everybody's own business: that one does not come to it now says nothing about the others.
  if (route_.goal.kind == ExploreGoal::Kind::key) {
    keys_later_ = static_cast<std::uint8_t>(keys_later_ | e_->plan().keys()[route_.goal.what].key);
    keys_later_until_s_ = e_->now_s() + keys_later_s;
  } else if (route_.goal.kind == ExploreGoal::Kind::place) {
    seek_at_s_ = e_->now_s() + seek_again_s;
  } else if (route_.goal.kind != ExploreGoal::Kind::none) {
    way_out_at_s_ = e_->now_s() + way_out_again_s;
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
  if (e_->now_s() >= way_until_s_) trail_.note(xy(body.position_m));
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
    if (e_->line_away_m(l, was) > before_line_m) return;
    const auto landing = teleport_landing(e_->plan(), e_->heights(), l);
    if (landing && length(xy(landing->position_m - body.position_m)) < landing_m) line = l;
  });
  if (line == no_index) return;
  e_->note_fired(line);
  e_->enter_behind(line);
}

void Explorer::plan(const Body& body) {
  RouteWish wish;
  wish.from = standing_cell(*e_, body);
  wish.explorer = number_;
  if (e_->now_s() > keys_later_until_s_) keys_later_ = 0;
  wish.keys = keys_;
  wish.keys_later = keys_later_;
  wish.avoid = avoid_;
  wish.favourite = favourite_;
  if (leaves_ && way_out(wish)) return begin_check(body);
  auto found = router_->find(*e_, wish);
  ++counters_.routes;
  drop_route();
  planned_s_ = e_->now_s();
  if (!found) {
    favourite_ = {};
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
    goal_until_s_ = e_->now_s() + goal_s_max + goal_cell_s * static_cast<double>(route_.cells.size());
  }
  if (route_.goal.kind != ExploreGoal::Kind::key) {
    e_->take(route_.goal, number_, claim_s + goal_cell_s * static_cast<double>(route_.cells.size()));
  }
  if (e_->dead_end(route_.cells.back(), wish.from))
    e_->take_dead_end(route_.cells.back(), number_, dead_end_s);
  still_ = 0;
  begin_check(body);
}

/// Sets out for an exit. What several are after at once, anybody may come to first.
bool Explorer::way_out(RouteWish wish) {
  if (e_->now_s() < way_out_at_s_) return false;
  wish.exits = true;
  wish.favourite = {};
  auto found = router_->find(*e_, wish);
  ++counters_.routes;
  if (!found) {
    way_out_at_s_ = e_->now_s() + way_out_again_s;
    return false;
  }
  drop_route();
  planned_s_ = e_->now_s();
  route_ = std::move(*found);
  favourite_ = {};
  goal_until_s_ = e_->now_s() + goal_s_max + goal_cell_s * static_cast<double>(route_.cells.size());
  still_ = 0;
  return true;
}

/// Sets out for the place that it seeks, or anew where that has moved on.
void Explorer::turn_to_place(const Body& body) {
  const bool under_way = route_.goal.kind == ExploreGoal::Kind::place;
  if (!seek_m_) {
    if (under_way) drop_route();
    return;
  }
  if (under_way && length(e_->grid().point(route_.goal.what) - xy(*seek_m_)) < seek_slack_m) return;
  if (on_errand_ || body.grounded == 0 || e_->now_s() < seek_at_s_) return;
  seek_at_s_ = e_->now_s() + seek_every_s;
  RouteWish wish;
  wish.from = standing_cell(*e_, body);
  wish.to = e_->grid().stand_near(xy(*seek_m_));
  wish.explorer = number_;
  wish.keys = keys_;
  wish.avoid = avoid_;
  auto found = wish.to == no_index || wish.to == wish.from ? std::nullopt : router_->find(*e_, wish);
  ++counters_.routes;
  if (!found) {
    seek_at_s_ += seek_again_s;
    return;
  }
  drop_route();
  planned_s_ = e_->now_s();
  route_ = std::move(*found);
  goal_until_s_ = e_->now_s() + goal_s_max + goal_cell_s * static_cast<double>(route_.cells.size());
  still_ = 0;
  begin_check(body);
}

/// Sets out to press or walk over what moves the way between two cells.
bool Explorer::errand(const Body& body, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> lines;
  for (const std::uint32_t cell : {from, to})
    for (const std::uint32_t s : e_->grid().sectors(e_->grid().set(cell)))
      for (const std::uint32_t l : e_->lines_moving(s)) lines.push_back(l);
  if (lines.empty()) return false;
  RouteWish wish;
  wish.from = standing_cell(*e_, body);
  wish.explorer = number_;
  wish.keys = keys_;
  wish.avoid = avoid_;
  wish.only = lines;
  auto found = router_->find(*e_, wish);
  if (!found) return false;
  ++counters_.routes;
  const ExploreGoal what_for = favourite_;
  drop_route();
  planned_s_ = e_->now_s();
  favourite_ = what_for;
  route_ = std::move(*found);
  on_errand_ = true;
  return true;
}

void Explorer::rest(const Body& body) {
  look(body);
  begin_check(body);
  still_ = 0;
  held_since_s_ = arrived_s_ = -1;
  leap_.reset();
  buttons_ = 0;
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
  if (now < way_until_s_ && !trail_.empty()) return trail_.back(e_->rules(), xy(body.position_m));
  if (leap_) {
    const PlayerCommand c = leap(body);
    buttons_ = c.buttons;
    return c;
  }
  if (!route_.cells.empty() && now > goal_until_s_) give_up();
  turn_to_place(body);
  if (route_.cells.empty() && now >= plan_at_s_ && body.grounded != 0) plan(body);
  PlayerCommand command = route_.cells.empty() ? stand_by(body) : follow(body);
  buttons_ = command.buttons;
  return command;
}

}  // namespace ashlar::client_sim
