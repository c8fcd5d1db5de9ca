#include "world/nav/ground_regions.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "world/math/assert.h"

namespace ashlar::client_sim {
namespace {

constexpr std::array<std::pair<std::int32_t, std::int32_t>, 8> around{
    {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}};

}  // namespace

void GroundRegions::find_regions(const GroundGrid& grid) {
  region_.assign(grid.cell_count(), no_index);
  std::vector<std::uint32_t> open;
  for (std::uint32_t first = 0; first < grid.cell_count(); ++first) {
    if (grid.set(first) == no_index || region_[first] != no_index) continue;
    const std::uint32_t region = count();
    set_.push_back(grid.set(first));
    cells_.push_back(0);
    region_[first] = region;
    open.assign(1, first);
    while (!open.empty()) {
      const std::uint32_t cell = open.back();
      open.pop_back();
      ++cells_[region];
      for (const auto& [dx, dy] : around) {
        const std::uint32_t n = grid.neighbour(cell, dx, dy);
        if (n == no_index || grid.set(n) != set_[region] || region_[n] != no_index) continue;
        region_[n] = region;
        open.push_back(n);
      }
    }
  }
}

GroundRegions::GroundRegions(const GroundGrid& grid,
                             std::span<const std::pair<std::uint32_t, std::uint32_t>> sent) {
  find_regions(grid);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t cell = 0; cell < grid.cell_count(); ++cell) {
    if (region_[cell] == no_index) continue;
    for (const auto& [dx, dy] : around) {
      const std::uint32_t n = grid.neighbour(cell, dx, dy);
      if (n != no_index && region_[n] != no_index && region_[n] != region_[cell])
        pairs.emplace_back(region_[cell], region_[n]);
    }
    // Most of the pairs are the same few again and again.
    if (pairs.size() < 1u << 20) continue;
    std::ranges::sort(pairs);
    pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  }
  std::vector<std::pair<std::uint32_t, Beyond>> all;
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  all.reserve(pairs.size() + sent.size());
  for (const auto& [from, to] : pairs) all.push_back({from, {to, false}});
  for (const auto& [from, to] : sent)
    if (region_[from] != no_index && region_[to] != no_index)
      all.push_back({region_[from], {region_[to], true}});
  std::ranges::sort(all, {},
                    [](const auto& b) { return std::tuple(b.first, b.second.region, b.second.sent); });
  std::size_t at = 0;
  for (std::uint32_t r = 0; r < count(); ++r) {
    first_.push_back(static_cast<std::uint32_t>(at));
    for (; at < all.size() && all[at].first == r; ++at) beyond_.push_back(all[at].second);
  }
  ASHLAR_ASSERT(at == all.size());
  first_.push_back(static_cast<std::uint32_t>(at));
  ASHLAR_ASSERT(first_.size() == count() + 1u);
  open_.assign(beyond_.size(), 0);
  ahead_.assign(count(), 0);
  hold_.assign(count(), 0);
}

/// Strongly connected components as Tarjan finds them, those that lead nowhere else first, so that what is
/// ahead of each is known when it is found. R. Tarjan, Depth-first search and linear graph algorithms, 1972.
void GroundRegions::measure_ahead() {
  constexpr std::uint32_t unseen = 0, done = 0xffffffffu;
  std::vector<std::uint32_t> order(count(), unseen), low(count(), 0), next(first_.begin(), first_.end() - 1);
  std::vector<std::uint32_t> path, stack;  // the way to where the search is; regions not in a component yet
  std::uint32_t seen = 0;
  for (std::uint32_t root = 0; root < count(); ++root) {
    if (order[root] != unseen) continue;
    path.assign(1, root);
    while (!path.empty()) {
      const std::uint32_t r = path.back();
      if (order[r] == unseen) {
        order[r] = low[r] = ++seen;
        stack.push_back(r);
      }
      bool deeper = false;
      for (; next[r] < first_[r + 1] && !deeper; ++next[r]) {
        if (open_[next[r]] == 0) continue;
        const std::uint32_t to = beyond_[next[r]].region;
        if (order[to] == unseen) {
          path.push_back(to);
          deeper = true;
          break;  // looks at it again when that is done, for its low
        }
        if (order[to] != done) low[r] = std::min(low[r], low[to]);
      }
      if (deeper) continue;
      path.pop_back();
      ASHLAR_ASSERT(low[r] <= order[r]);
      if (low[r] != order[r]) continue;
      ASHLAR_ASSERT(!stack.empty());
      auto first = stack.end() - 1;
      while (*first != r) --first;
      const std::span<const std::uint32_t> component(first, stack.end());
      std::uint32_t own = 0, most = 0;
      for (const std::uint32_t member : component) {
        own += cells_[member];
        order[member] = done;
        ahead_[member] = 0;
        hold_[member] = r;
      }
      // Whatever else these lead to was done before them.
      for (const std::uint32_t member : component)
        for (std::uint32_t i = first_[member]; i < first_[member + 1]; ++i)
          if (open_[i] != 0) most = std::max(most, ahead_[beyond_[i].region]);
      for (const std::uint32_t member : component) ahead_[member] = own + most;
      stack.erase(first, stack.end());
    }
  }
}

}  // namespace ashlar::client_sim
