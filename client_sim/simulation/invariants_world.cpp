// What must hold of bodies, whoever moves them. The words are those of the field: "out" is beyond the world's
// bounds or below its lowest solid; "stuck" is in solid for more than half a second while there is a way out.

#include <cstdio>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "world/collide/recover.h"
#include "world/sim/monster_move.h"
#include "world/sim/world.h"
#include "world/voxel/block.h"

namespace ashlar::simulation {
namespace {

constexpr double sweep_tolerance_m = 0.001;
constexpr double correct_tolerance_m = 0.01;

std::string place(const Body& body) {
  char text[160];
  std::snprintf(text, sizeof text, "at (%.4f, %.4f, %.4f), stuck for %u ticks", body.position_m.x,
                body.position_m.y, body.position_m.z, static_cast<unsigned>(body.stuck_ticks));
  return text;
}

/// Calls visit(id, body, shape, solver) for everyone alive until it returns a finding. The shape is what
/// walls meet: of monsters that go the stepped way as points it is the point.
template <class Visit>
std::optional<Finding> for_everyone(const World& world, Visit visit) {
  const Rules& rules = world.setup().rules;
  const PlayerTable& players = world.players();
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (!players.alive(i)) continue;
    if (auto f = visit(players.id[i], players.body[i], rules.player, rules.player_solver)) return f;
  }
  const MonsterTable& monsters = world.monsters();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    const Cylinder shape = wall_shape(rules, monsters.traits_at(i));
    if (auto f = visit(monsters.id[i], monsters.body[i], shape, rules.monster_solver)) return f;
  }
  return std::nullopt;
}

/// In solid by more than the solver's tolerance.
bool in_solid(const Space& space, const Body& body, const Cylinder& shape, Solver solver) {
  const double tolerance = solver == Solver::sweep ? sweep_tolerance_m : correct_tolerance_m;
  if (shape.radius_m <= tolerance)  // a point
    return space_solid(space, body.position_m + DVec3{0, 0, 0.5 * shape.height_m});
  const Cylinder core{shape.radius_m - tolerance, shape.height_m - 2 * tolerance};
  return space_overlaps(space, core, body.position_m + DVec3{0, 0, tolerance});
}

class NobodyOut final : public Invariant {
 public:
  std::string_view name() const override { return "nobody is out of the world"; }
  std::optional<Finding> after_tick(const Match& match, const TrueFrame&, const TickRecord&) override {
    const double lowest_solid_m = match.host()->world().columns().low * chunk_size;
    return for_everyone(
        match.host()->world(),
        [=](EntityId id, const Body& body, const Cylinder&, Solver) -> std::optional<Finding> {
          const bool fine = in_bounds(body.position_m) && is_finite(body.velocity_mps) &&
                            body.position_m.z >= lowest_solid_m;
          if (fine) return std::nullopt;
          return Finding{entity_name(id), place(body)};
        });
  }
};

/// Both of "in solid without being recovered" and "stuck": they need the same look at every body.
class NobodyInSolid final : public Invariant {
 public:
  std::string_view name() const override { return "nobody is left in solid"; }
  void on_server_start(const Match& match) override {
    const WorldSetup& setup = match.host()->world().setup();
    inside_.assign(setup.players_max + setup.monsters_max, {});
  }
  std::optional<Finding> after_tick(const Match& match, const TrueFrame&, const TickRecord&) override {
    const World& world = match.host()->world();
    const Space space = world.space();
    const unsigned stuck_ticks = world.setup().rules.tick_rate_hz / 2u + 2u;
    return for_everyone(
        world,
        [&](EntityId id, const Body& body, const Cylinder& shape, Solver solver) -> std::optional<Finding> {
          Inside& inside = inside_[slot_of(id)];
          const bool free = body.noclip != 0 || !in_solid(space, body, shape, solver) ||
                            space_unloaded(space, shape, body.position_m);
          if (free || inside.id != id) {
            inside = {id, free ? 0u : 1u};
            return std::nullopt;
          }
          ++inside.ticks;
          // The crowd may push somebody in after its move: then the next tick's move has to notice.
          if (inside.ticks > 2 && body.stuck_ticks == 0)
            return Finding{entity_name(id), "in solid and not being recovered, " + place(body)};
          if (inside.ticks > stuck_ticks && recovery_target(space, shape, body.position_m, body.last_free_m))
            return Finding{entity_name(id), "stuck though there is a way out, " + place(body)};
          return std::nullopt;
        });
  }

 private:
  struct Inside {
    EntityId id{};
    unsigned ticks = 0;
  };
  std::vector<Inside> inside_;  // by slot
};

/// Who walks beyond the loaded ground waits for it, but not for ever.
class GroundComes final : public Invariant {
 public:
  static constexpr unsigned seconds_max = 8;
  std::string_view name() const override { return "ground comes to those who wait"; }
  void on_server_start(const Match& match) override {
    waited_.assign(match.host()->world().setup().players_max, {});
  }
  std::optional<Finding> after_tick(const Match& match, const TrueFrame&, const TickRecord&) override {
    const World& world = match.host()->world();
    const PlayerTable& players = world.players();
    for (std::size_t i = 0; i < players.rows(); ++i) {
      const bool waits = players.id[i] != EntityId{0} && players.report[i].frozen;
      if (waits && match.ground_slow()) continue;  // nor does the time count in which it cannot come
      waited_[i] = waits ? waited_[i] + 1 : 0;
      if (waited_[i] > seconds_max * world.setup().rules.tick_rate_hz)
        return Finding{entity_name(players.id[i]), "frozen for " + std::to_string(seconds_max) + " s"};
    }
    return std::nullopt;
  }

 private:
  std::vector<unsigned> waited_;  // ticks, by row
};

/// Who died comes back when the rules say.
class TheDeadComeBack final : public Invariant {
 public:
  std::string_view name() const override { return "the dead come back"; }
  std::optional<Finding> after_tick(const Match& match, const TrueFrame&, const TickRecord&) override {
    const World& world = match.host()->world();
    const PlayerTable& players = world.players();
    const Rules& rules = world.setup().rules;
    const auto ticks_max = static_cast<unsigned>(rules.respawn_s * rules.tick_rate_hz) + 1;
    for (std::size_t i = 0; i < players.rows(); ++i) {
      if (players.id[i] == EntityId{0}) continue;
      const bool dead = players.health[i] == 0;
      if (players.dead_ticks[i] <= (dead ? ticks_max : 0u)) continue;
      return Finding{entity_name(players.id[i]), std::string(dead ? "is dead" : "lives and is dead") +
                                                     " for " + std::to_string(players.dead_ticks[i]) +
                                                     " ticks"};
    }
    return std::nullopt;
  }
};

}  // namespace

void add_world_invariants(std::vector<std::unique_ptr<Invariant>>& out) {
  out.push_back(std::make_unique<NobodyOut>());
  out.push_back(std::make_unique<NobodyInSolid>());
  out.push_back(std::make_unique<GroundComes>());
  out.push_back(std::make_unique<TheDeadComeBack>());
}

}  // namespace ashlar::simulation
