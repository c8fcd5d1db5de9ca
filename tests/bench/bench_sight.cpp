// What line-of-sight culling hides and costs (server/host/sight_culler.h): players who walk about in the
// first map of Freedoom (else the built-in one) and in tunnels through voxels. Each tick every pair within 64
// m is asked; rays from the eye to foot, middle and top of the body say who is seen. CPU time of the thread.
//   bench_sight [--seconds N]
// Prints of all pairs the share that is sent, of those the share that stays unseen for the next 200 ms (what
// a spying client learns for nothing; the aim is 1 %), beside the share without culling by sight; pairs
// looked into and microseconds a tick; and how many were seen without having been sent for the 100 ms before:
// exit code 1 when there are any but for spawns and teleports, which the scenes have none of.
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "client_sim/load/unseen_ledger.h"
#include "server/host/sight_culler.h"
#include "tests/bench/timing.h"
#include "tests/bench/workload.h"
#include "tests/made_chunk.h"
#include "tests/wads.h"
#include "world/bsp/open_rooms.h"
#include "world/bsp/placement.h"
#include "world/collide/visibility_query.h"
#include "world/content/builtin_map.h"
#include "world/content/udmf.h"
#include "world/content/wad.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::bench;
using namespace ashlar::server;

namespace {

constexpr std::uint32_t rate_hz = 60, ahead_ticks = 6, idle_ticks = 12;
constexpr double reach_m = 64;
/// What any culler with the guarantee has to send is worked out every so many ticks, more than idle_ticks.
constexpr std::uint32_t due_every = 20;
/// 100 ms, until the snapshot after this one can tell of it.
constexpr double due_s = sight_ahead_s + 1.0 / rate_hz;

struct Scene {
  const char* name;
  WorldSetup setup;
  std::vector<DVec3> starts;  // of players; empty: the world's own
};

Scene map_scene(std::uint32_t players) {
  PlaceOptions options;
  options.surface_z = 24;
  options.visibility = true;
  Scene scene{"map", {}, {}};
  auto source = parse_udmf(builtin_map_text());
  if (const auto wad = testing::find_wad("freedoom2.wad")) source = read_map(*wad, "MAP01");
  const auto map = place_map(*source, options);
  if (!map) std::printf("%s\n", map.error().line().c_str()), std::exit(2);
  scene.setup.maps = {*map};
  scene.setup.players_max = players;
  scene.setup.monsters_max = scene.setup.monsters = 200;
  return scene;
}

/// Tunnels 3 m wide and 4 m high on a lattice of 8 m, of which a third is missing.
bool tunnel(IVec3 b) {
  if (b.z < 12 || b.z >= 16) return false;
  const auto open = [](std::int32_t a, std::int32_t c, std::uint32_t kind) {
    return hash4(kind, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(c), 5) % 3 != 0;
  };
  const std::int32_t x = b.x & 7, y = b.y & 7;
  return (x < 3 && y < 3) || (x < 3 && open(b.x >> 3, b.y >> 3, 1)) || (y < 3 && open(b.x >> 3, b.y >> 3, 2));
}

Scene tunnel_scene(std::uint32_t players) {
  Scene scene{"tunnels", {}, {}};
  scene.setup.players_max = players;
  scene.setup.monsters_max = 1, scene.setup.monsters = 0;
  scene.setup.make_chunk = [](const Terrain&, ChunkCoord at) {
    return testing::made_chunk(
        at, [](IVec3 b) { return b.z < 24 && !tunnel(b) ? BlockId::stone : BlockId::air; });
  };
  const auto across = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(players))));
  for (std::uint32_t i = 0; i < players; ++i)
    scene.starts.push_back(
        {8.0 * (i % across) - 4 * across + 1.5, 8.0 * (i / across) - 4 * across + 1.5, 12});
  return scene;
}

struct Pair {
  std::uint32_t sent_since = 0;  // tick; 0: not sent
  client_sim::UnseenLedger unseen{idle_ticks};
  std::uint32_t due_unseen = 0;  // tick at which it had to be sent, not seen since; 0: none
  std::uint32_t known_since = 0;
};

struct Sums {
  std::uint64_t pairs = 0, in_rooms = 0, sent = 0, idle = 0, seen = 0, late = 0;
  std::uint64_t due = 0, due_idle = 0;  // of every due_every-th tick: had to be sent, and stayed unseen
  double us = 0;
};

/// Where somebody may be after some seconds: where it is, and where eight straight ways at a run and a jump
/// end, at the first wall at the latest.
struct Places {
  std::array<DVec3, 10> base;
  Places(const Space& space, const Cylinder& shape, DVec3 from, double speed_mps, double rise_mps, double s) {
    for (std::size_t i = 0; i < base.size(); ++i) {
      const double angle = 0.785398163397448 * static_cast<double>(i);
      DVec3 way = DVec3{std::cos(angle), std::sin(angle), 0} * (speed_mps * s);
      if (i == 8) way = {0, 0, rise_mps * s};
      if (i == 9) way = {};
      const SweepHit hit = space_sweep(space, shape, from, way);
      base[i] = from + way * hit.t;
    }
  }
};

/// Can the one come to see the other within the guarantee, whoever they are? Then nobody may be silent of it:
/// a lower bound, as it tries some places only.
bool may_come_to_see(const Space& space, const Places& eyes, double eye_m, const Places& bodies,
                     double height_m) {
  for (const DVec3 a : eyes.base)
    for (const DVec3 b : bodies.base)
      for (const double share : {0.05, 0.5, 0.95})
        if (space_sees(space, a + DVec3{0, 0, eye_m}, b + DVec3{0, 0, share * height_m})) return true;
  return false;
}

/// All that a viewer may be told of.
std::vector<PlacedEntity> bodies(const World& world) {
  std::vector<PlacedEntity> out;
  const auto add = [&](EntityId id, const Body& body, const Cylinder& shape) {
    if (id == EntityId{0}) return;
    PlacedEntity e;
    e.record.id = id;
    e.base = body.position_m, e.velocity_mps = body.velocity_mps, e.shape = shape;
    out.push_back(e);
  };
  for (std::size_t i = 0; i < world.players().rows(); ++i)
    add(world.players().id[i], world.players().body[i], world.setup().rules.player);
  for (std::size_t i = 0; i < world.monsters().rows(); ++i)
    add(world.monsters().id[i], world.monsters().body[i], world.monsters().traits_at(i).shape);
  return out;
}

void step(World& world, std::span<const PlayerInput> commands, std::span<const AdminCommand> admin,
          std::span<const std::uint32_t> joins) {
  TickInput input{};
  input.commands = commands, input.admin = admin, input.joins = joins;
  world.step(input);
}

bool play(Scene scene, std::uint32_t seconds) {
  const std::uint32_t players = scene.setup.players_max;
  World world(scene.setup);
  std::vector<std::uint32_t> tokens(players);
  step(world, {}, {}, tokens);
  std::vector<EntityId> ids;
  std::vector<AdminCommand> put;
  for (std::uint32_t i = 0; i < players; ++i) {
    ids.push_back(world.joined()[i].id);
    if (!scene.starts.empty()) put.push_back({AdminAction::teleport, ids[i], scene.starts[i]});
  }
  step(world, {}, put, {});
  SightCuller culler(*world.space().voxels, world.maps());
  VisibilityQuery rooms_query;
  std::vector<OpenRooms> rooms(world.maps().size());
  std::vector<Pair> pairs(std::size_t{players} * 4096);
  std::vector<PlayerInput> commands;
  std::vector<DVec3> before(players);
  std::vector<SightPlace> places;
  Sums sums;
  const Rules& rules = world.setup().rules;
  const double ahead_s = sight_ahead(rate_hz, 1);
  for (std::uint32_t t = 1; t <= seconds * rate_hz; ++t) {
    commands.clear();
    for (std::uint32_t i = 0; i < players; ++i) {
      const Body& body = world.players().body[static_cast<std::size_t>(world.player_row(ids[i]))];
      PlayerCommand c;
      c.forward = 1;
      c.yaw = Turn16{static_cast<std::uint16_t>(hash4(11, i, t / 40, 0))};
      if (body.grounded != 0 && length(body.position_m - before[i]) < 0.05) c.buttons = button::jump;
      before[i] = body.position_m;
      commands.push_back({ids[i], c});
    }
    step(world, commands, {}, {});
    culler.stepped(number(world.tick()), world.applied_edits());
    const std::vector<PlacedEntity> all = bodies(world);
    for (std::size_t m = 0; m < rooms.size(); ++m)
      rooms[m].update(*world.maps()[m].map, world.maps()[m].heights);
    for (std::uint32_t i = 0; i < players; ++i) {
      const Body& body = world.players().body[static_cast<std::size_t>(world.player_row(ids[i]))];
      const DVec3 eye = body.position_m + DVec3{0, 0, rules.player_eye_m};
      const Aabb eyes =
          culler.confined({eye, eye}, reach_of_eyes(eye, body.velocity_mps, rules, ahead_s + 2.0 / rate_hz));
      const bool tries = t % due_every == 0;
      const Space space = world.space();
      const Places own(space, rules.player, body.position_m, tries ? rules.walk_speed_mps_max : 0,
                       rules.jump_speed_mps, due_s);
      rooms_query.look_from(world.maps(), rooms, eye, 2.1);
      for (const PlacedEntity& e : all) {
        if (e.record.id == ids[i] || length(e.base - eye) > reach_m) continue;
        ++sums.pairs;
        places.clear();
        sight_places(world.maps(), e.base, e.shape.radius_m, e.shape.height_m, places);
        const bool in_rooms = world.maps().empty() || std::ranges::any_of(places, [&](const SightPlace& p) {
                                return rooms_query.may_see(p);
                              });
        const double began = thread_s();
        const bool sent = in_rooms && culler.may_see(eyes, culler.reach_of(e, rules, ahead_s));
        sums.us += (thread_s() - began) * 1e6;
        bool sees = false;
        for (const double share : {0.05, 0.5, 0.95})
          sees = sees || space_sees(world.space(), eye, e.base + DVec3{0, 0, share * e.shape.height_m});
        Pair& pair = pairs[std::size_t{i} * 4096 + slot_of(e.record.id) % 4096];
        if (pair.known_since == 0) pair.known_since = t;
        sums.in_rooms += in_rooms ? 1 : 0;
        if (sees) {
          ++sums.seen;
          const bool long_enough = t - pair.known_since > ahead_ticks;
          if (!sent || (long_enough && (pair.sent_since == 0 || t - pair.sent_since < ahead_ticks)))
            ++sums.late;
          pair.due_unseen = 0;
        }
        if (pair.due_unseen != 0 && pair.due_unseen + idle_ticks < t) ++sums.due_idle, pair.due_unseen = 0;
        if (tries && sent) {
          const Places theirs(space, e.shape, e.base, rules.walk_speed_mps_max, rules.jump_speed_mps, due_s);
          const bool due = sees || may_come_to_see(space, own, rules.player_eye_m, theirs, e.shape.height_m);
          sums.due += due ? 1 : 0;
          if (due && !sees) pair.due_unseen = t;
        }
        sums.idle += pair.unseen.note(t, sent, sees);
        if (sent) {
          ++sums.sent;
          if (pair.sent_since == 0) pair.sent_since = t;
        } else {
          pair.sent_since = 0;
        }
      }
    }
  }
  const double ticks = seconds * rate_hz;
  const SightCounters& c = culler.counters();
  std::printf("%s: %u players, %.0f pairs a tick within %.0f m, %.1f %% of them seen\n", scene.name, players,
              static_cast<double>(sums.pairs) / ticks, reach_m,
              100.0 * static_cast<double>(sums.seen) / static_cast<double>(sums.pairs));
  std::printf(
      "  by rooms alone %.1f %% would be sent, by sight %.1f %%; of those %.1f %% stay unseen for 200 ms\n",
      100.0 * static_cast<double>(sums.in_rooms) / static_cast<double>(sums.pairs),
      100.0 * static_cast<double>(sums.sent) / static_cast<double>(sums.pairs),
      100.0 * static_cast<double>(sums.idle) / static_cast<double>(sums.sent));
  std::printf("  no culler that keeps the 100 ms can send less than %.1f %%, of which %.1f %% stay unseen\n",
              100.0 * static_cast<double>(sums.due) * due_every / static_cast<double>(sums.pairs),
              100.0 * static_cast<double>(sums.due_idle) / static_cast<double>(sums.due));
  std::printf(
      "  %.0f pairs looked into a tick, %.0f us a tick in all (clock included), beyond a tick's share "
      "%" PRIu64 ", late %" PRIu64 "\n",
      static_cast<double>(c.computed) / ticks, sums.us / ticks, c.beyond, sums.late);
  return sums.late == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t seconds = 10;
  if (argc == 3 && std::strcmp(argv[1], "--seconds") == 0)
    seconds = static_cast<std::uint32_t>(std::atoi(argv[2]));
  bool good = play(map_scene(32), seconds);
  good = play(tunnel_scene(64), seconds) && good;
  return good ? 0 : 1;
}
