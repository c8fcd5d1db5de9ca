#include "client_sim/explore/steps.h"

#include <algorithm>
#include <cmath>

namespace ashlar::client_sim {
namespace {

constexpr double trail_piece_m = 0.4;
constexpr std::size_t trail_max = 64;

}  // namespace

PlayerCommand step_to(const Rules& rules, DVec2 from, DVec2 to, bool stop) {
  PlayerCommand c;
  const DVec2 way = to - from;
  const double away = length(way);
  if (away < 0.01) return c;
  c.yaw = turn_towards(way);
  const double wish_mps = stop ? 7 * away : 2 + 7 * away;
  c.forward = std::min(1.0, wish_mps / rules.walk_speed_mps_max);
  return c;
}

std::uint32_t standing_cell(const Expedition& e, const Body& body) {
  const GroundGrid& grid = e.grid();
  const std::uint32_t own = grid.cell_at(xy(body.position_m));
  if (own == no_index) return own;
  std::uint32_t best = no_index;
  double best_m = 1e9;
  for (std::int32_t dy = -2; dy <= 2; ++dy)
    for (std::int32_t dx = -2; dx <= 2; ++dx) {
      const std::uint32_t n = grid.neighbour(own, dx, dy);
      if (n == no_index || grid.set(n) == no_index) continue;
      const double up = std::fabs(e.stand(grid.set(n)).floor_m - body.position_m.z);
      const double away = length(grid.point(n) - xy(body.position_m)) + (up > 0.1 ? 1 + up : 0);
      if (away >= best_m) continue;
      best_m = away;
      best = n;
    }
  return best;
}

Passage passage_between(const Expedition& e, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t a = e.grid().set(from), b = e.grid().set(to);
  if (a == no_index || b == no_index) return Passage::no;
  return passage(e.stand(a), e.stand(b), e.rules());
}

bool straight(const Expedition& e, DVec2 from, DVec2 to) {
  const DVec2 way = to - from;
  const int pieces = static_cast<int>(length(way) / 0.12) + 1;
  std::uint32_t before = no_index;
  for (int i = 0; i <= pieces; ++i) {
    const std::uint32_t cell = e.grid().cell_at(from + way * (static_cast<double>(i) / pieces));
    if (cell == no_index || e.grid().set(cell) == no_index) return false;
    if ((e.marks(cell) & Expedition::near_walk_line) != 0 || e.leans_out(cell)) return false;
    if (before != no_index && before != cell) {
      const StandHeights &a = e.stand(e.grid().set(before)), &b = e.stand(e.grid().set(cell));
      if (passage(a, b, e.rules()) != Passage::open) return false;
      if (a.floor_m - b.floor_m > e.rules().step_height_m_max) return false;
    }
    before = cell;
  }
  return true;
}

void Trail::note(DVec2 here) {
  if (!places_m_.empty() && length(places_m_.back() - here) <= trail_piece_m) return;
  places_m_.push_back(here);
  if (places_m_.size() > trail_max) places_m_.erase(places_m_.begin());
}

PlayerCommand Trail::back(const Rules& rules, DVec2 here) {
  while (places_m_.size() > 1 && length(places_m_.back() - here) < trail_piece_m) places_m_.pop_back();
  return step_to(rules, here, places_m_.back(), places_m_.size() == 1);
}

}  // namespace ashlar::client_sim
