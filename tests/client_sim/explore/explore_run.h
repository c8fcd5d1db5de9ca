#pragma once
// Explorers in a world of their own: a map of which nothing is open, players who start where its players
// start, no monsters, and nothing but commands between them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "client_sim/explore/explorer.h"
#include "world/bsp/placement.h"
#include "world/sim/mechanics.h"
#include "world/sim/world.h"

namespace ashlar::testing {

struct ExploreOutcome {
  double seconds = 0;                 ///< simulated
  std::vector<std::uint8_t> entered;  ///< by sector
  std::vector<std::uint8_t> roomy;    ///< by sector: the middle of a body fits in
  std::uint64_t stuck = 0, lost = 0;  ///< the world's own counts
  std::uint64_t recoveries = 0;
  std::uint64_t out = 0;  ///< player-ticks in rock, under the map or outside of it
  DVec3 out_at_m;         ///< the first of them, and when
  double out_at_s = 0;
  std::uint64_t exits = 0;
  std::uint64_t deaths = 0;                ///< under crushers
  client_sim::ExplorerCounters explorers;  ///< of all together
};

struct ExploreRun {
  std::uint32_t explorers = 8;
  double seconds_max = 600;
  std::uint64_t seed = 1;
  std::uint16_t tick_rate_hz = 60;
  std::function<bool(const client_sim::Expedition&)> enough;  ///< asked once a second
  std::function<void(double, const client_sim::Expedition&, const std::vector<client_sim::Explorer>&,
                     const World&)>
      watch;  ///< called once a second
};

inline ExploreOutcome explore(std::shared_ptr<const PlacedMap> map, const ExploreRun& run) {
  WorldSetup setup;
  setup.seed = run.seed;
  setup.rules.tick_rate_hz = run.tick_rate_hz;
  setup.players_max = run.explorers;
  setup.monsters = 0;
  setup.monsters_max = 1;
  setup.maps = {map};
  World world(setup);

  // All set out from player start 1; of several the last counts, as in Doom.
  DVec3 start;
  for (const PlacedThing& t : map->things())
    if (t.type == 1 && t.sector != no_index) start = t.position_m;

  auto expedition = std::make_shared<client_sim::Expedition>(map, setup.rules);
  auto router = std::make_shared<client_sim::Router>();
  std::vector<client_sim::Explorer> explorers;
  std::vector<EntityId> ids;
  std::vector<PlayerInput> inputs;
  for (std::uint32_t i = 0; i < run.explorers; ++i) explorers.emplace_back(expedition, router, i, run.seed);

  ExploreOutcome out;
  const double dt_s = setup.rules.tick_s();
  const auto ticks = static_cast<std::uint32_t>(run.seconds_max / dt_s);
  const auto between_joins = static_cast<std::uint32_t>(2 / dt_s);
  // Who joins or comes back from death is put to the start: the world's own choice of a spawn may be
  // anywhere.
  enum class Now : std::uint8_t { spawned, put, exploring, dead };
  std::vector<Now> now;
  std::vector<AdminCommand> puts;
  for (std::uint32_t tick = 0; tick < ticks; ++tick) {
    // They come one after another.
    TickInput input;
    std::uint32_t token = 0;
    if (ids.size() < run.explorers && tick % between_joins == 0) input.joins = {&token, 1};
    puts.clear();
    inputs.clear();
    expedition->observe(tick * dt_s, world.maps()[0].heights);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const Body& body = world.players().body[static_cast<std::size_t>(world.player_row(ids[i]))];
      if (now[i] == Now::exploring) {
        inputs.push_back({ids[i], explorers[i].think(body)});
      } else if (now[i] == Now::spawned) {
        DVec3 there = start;
        // On the start's floor, wherever those who came before have sent it.
        const MapInSpace& in = world.maps()[0];
        if (const auto ground = map_floor_ceiling(*map, in.heights, xy(there), setup.rules.player.radius_m))
          there.z = ground->floor_m;
        puts.push_back({AdminAction::teleport, ids[i], there});
        now[i] = Now::put;
      }
    }
    input.admin = puts;
    input.commands = inputs;
    world.step(input);
    for (const Joined& j : world.joined()) {
      ids.push_back(j.id);
      now.push_back(Now::spawned);
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto row = static_cast<std::size_t>(world.player_row(ids[i]));
      const bool alive = world.players().alive(row);
      if (now[i] == Now::dead && alive) {
        now[i] = Now::spawned;
      } else if (!alive) {
        out.deaths += now[i] == Now::dead ? 0 : 1;
        now[i] = Now::dead;
      } else if (now[i] == Now::put) {
        now[i] = Now::exploring;
      }
      if (now[i] != Now::exploring) continue;
      const DVec3 p = world.players().body[row].position_m;
      const BlockBox& box = map->box();
      const bool inside = p.x >= box.min.x && p.x <= box.max.x && p.y >= box.min.y && p.y <= box.max.y;
      const bool in_rock =
          space_overlaps(world.space(), {setup.rules.player.radius_m - 0.001, 1.748}, p + DVec3{0, 0, 0.001});
      if (inside && p.z >= box.min.z && !in_rock) continue;
      if (out.out++ == 0) out.out_at_m = p, out.out_at_s = tick * dt_s;
    }
    out.seconds = (tick + 1) * dt_s;
    if (tick % run.tick_rate_hz == 0) {
      if (run.watch) run.watch(out.seconds, *expedition, explorers, world);
      if (run.enough && run.enough(*expedition)) break;
    }
  }
  for (std::uint32_t s = 0; s < expedition->plan().sector_count(); ++s) {
    out.entered.push_back(expedition->entered(s) ? 1 : 0);
    out.roomy.push_back(expedition->roomy(s) ? 1 : 0);
  }
  out.stuck = world.counters().stuck;
  out.lost = world.counters().lost;
  out.recoveries = world.counters().recoveries;
  out.exits = world.mechanics().counters().exits;
  for (const client_sim::Explorer& x : explorers) {
    const client_sim::ExplorerCounters& c = x.counters();
    out.explorers.routes += c.routes, out.explorers.idle += c.idle, out.explorers.given_up += c.given_up;
    out.explorers.hasty += c.hasty;
    out.explorers.blocked += c.blocked;
    out.explorers.held += c.held, out.explorers.lines += c.lines;
    out.explorers.leaps += c.leaps, out.explorers.made_way += c.made_way;
  }
  return out;
}

}  // namespace ashlar::testing
