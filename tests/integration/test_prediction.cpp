// A client who predicts, and the server whose player it is: on a clean link, alone, both have the same bits.

#include <array>
#include <cmath>
#include <utility>

#include "client_sim/brains/brain.h"
#include "client_sim/brains/builder.h"
#include "client_sim/client/others.h"
#include "client_sim/explore/party.h"
#include "tests/integration/predicted_client.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/collide/prop.h"
#include "world/math/random.h"
#include "world/sim/block_acts.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::testing;
using client_sim::Brain;
using client_sim::BrainKind;
using client_sim::ExploreParty;

namespace {

WorldSetup alone(TerrainKind terrain = TerrainKind::plains) {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters_max = setup.monsters = 0;
  setup.terrain = terrain;
  return with_shared_ground(setup);
}

client_sim::LinkConditions delayed(int latency_ms) {
  client_sim::LinkConditions link;
  link.latency = Micros{1000 * latency_ms};
  return link;
}

/// Runs and jumps about, turning every second or so.
struct Runner {
  explicit Runner(std::uint64_t seed) : rng(rng_for(seed, 5)) {}
  PlayerCommand operator()() {
    if (left-- <= 0) {
      left = 100 + static_cast<int>(rng.below(500));
      command.forward = rng.below(8) == 0 ? 0 : 1;
      command.left = 0.5 * (static_cast<int>(rng.below(3)) - 1);
      command.yaw = Turn16{static_cast<std::uint16_t>(rng.below(65536))};
      command.buttons = rng.below(2) == 0 ? button::jump : std::uint16_t{0};
    }
    return command;
  }
  Rng rng;
  int left = 0;
  PlayerCommand command;
};

/// What a run on a clean link, alone, must come to.
void check_exact(const PredictedClient& p, std::uint64_t ticks_min) {
  const auto& stats = p.predictor.stats();
  CHECK(stats.confirmed >= ticks_min);
  CHECK(stats.late == 0);
  CHECK(p.mispredicted(MispredictCause::command) == 0);
  CHECK(p.mispredicted(MispredictCause::crowd) == 0);
  CHECK(p.mispredicted(MispredictCause::world) == 0);
  CHECK(p.mispredicted(MispredictCause::unknown) == 0);
  CHECK(stats.mispredicted_sum() == p.put_so_far);
}

void run_hills(double seconds, std::uint64_t seed) {
  WorldSetup setup = alone(TerrainKind::hills);
  setup.seed = seed;
  PredictedClient p(setup, seed);
  p.play.conditions(delayed(40));
  p.enter();
  p.run(2);
  Runner runner(seed);
  const DVec3 from = p.server_body().position_m;
  p.run(seconds, [&] { return runner(); });
  check_exact(p, static_cast<std::uint64_t>(55 * seconds));
  CHECK(p.predictor.stats().mispredicted_sum() == 0);
  // What came as foreseen is not played once more.
  CHECK(10 * p.predictor.stats().recalled > 9 * p.predictor.stats().confirmed);
  CHECK(length(p.server_body().position_m - from) > 5);
}

/// An explorer in a map: doors, lifts, switches, stairs, ledges.
void run_map(const std::shared_ptr<const PlacedMap>& map, DVec3 at, double seconds, std::uint64_t seed) {
  WorldSetup setup = alone();
  setup.maps.push_back(map);
  PredictedClient p(setup, seed);
  p.play.conditions(delayed(40));
  p.enter();
  p.put(at);
  auto party = std::make_shared<ExploreParty>([map](const WelcomeMap&) { return map; });
  party->prepare(p.play.client.welcome());
  Brain brain(BrainKind::explore, seed, party);
  p.run(seconds, [&] { return brain.think(p.play.now, p.play.client); });
  check_exact(p, static_cast<std::uint64_t>(55 * seconds));
  CHECK(party->explored().front().entered > 3);
  CHECK(p.play.world().mechanics().counters().lines > 0);
}

PropModel wedge() {
  PropModel model;
  model.name = "wedge";
  model.up = ModelUp::z;
  model.vertices = {{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}, {4, 0, 2}, {4, 4, 2}};
  model.triangles = {{0, 2, 1}, {0, 3, 2}, {0, 1, 4}, {2, 3, 5}, {0, 4, 5}, {0, 5, 3}, {1, 2, 5}, {1, 5, 4}};
  return model;
}

DVec3 start_of(const PlacedMap& map) {
  for (const PlacedThing& t : map.things())
    if (t.type == 1 && t.sector != no_index) return t.position_m;
  FAIL("no player start");
  return {};
}

std::shared_ptr<const PlacedMap> first_freedoom_map() {
  const auto wads = freedoom();
  if (wads.empty()) {
    WARN("freedoom2.wad is not there: nothing was tested (Debian package freedoom)");
    return nullptr;
  }
  PlaceOptions options;
  options.name = "MAP01";
  options.surface_z = 24;
  options.doors_open = false;
  return must_place(must_read(wads.front(), map_names(wads.front()).front()), options);
}

}  // namespace

TEST_CASE("running and jumping in hills is predicted to the last bit", "[integration][prediction]") {
  run_hills(20, 3);
}

TEST_CASE("an hour of running in hills is predicted to the last bit", "[integration][prediction][.slow]") {
  run_hills(3600, GENERATE(std::uint64_t{1}, std::uint64_t{2}));
}

TEST_CASE("doors, lifts and steps are predicted to the last bit", "[integration][prediction]") {
  const SectorMap source = row_of_rooms({{0, 256}, {0, 0}, {0, 256}, {33, 256}, {160, 320, 3}, {160, 320}},
                                        {{1, 0}, {1, 0, true}, {}, {62, 3}, {}}, {thing_at(40, 128, 1)});
  PlaceOptions options;
  options.surface_z = 32;
  options.doors_open = options.doorway = false;
  const auto map = must_place(source, options);
  const DVec2 at = map->to_world({40, 128});
  run_map(map, {at.x, at.y, map->z_to_world(0)}, 30, 3);
}

TEST_CASE("MAP01 is explored without a misprediction", "[integration][prediction]") {
  const auto map = first_freedoom_map();
  if (map == nullptr) return;
  run_map(map, start_of(*map), 40, 1);
}

TEST_CASE("an hour in MAP01 is predicted to the last bit", "[integration][prediction][.slow]") {
  const auto map = first_freedoom_map();
  if (map == nullptr) return;
  run_map(map, start_of(*map), 3600, 2);
}

namespace {

void run_on_props(double seconds) {
  WorldSetup setup = alone();
  const Terrain terrain{setup.seed, {}, setup.terrain, {}};
  for (int i = 0; i < 9; ++i) {
    PropPlace place;
    place.position_m = {-12.0 + 8 * (i % 3), -12.0 + 8 * (i / 3), 0};
    place.position_m.z =
        surface_height(terrain, static_cast<int>(place.position_m.x), static_cast<int>(place.position_m.y));
    place.yaw = Turn16{static_cast<std::uint16_t>(i * 5000)};
    const auto prop = Prop::place(wedge(), place);
    REQUIRE(prop.has_value());
    setup.props.push_back(*prop);
  }
  PredictedClient p(setup, 4);
  p.play.conditions(delayed(40));
  p.enter();
  p.put({0, 0, 2.0 + surface_height(terrain, 0, 0)});
  Runner runner(4);
  p.run(seconds, [&] { return runner(); });
  check_exact(p, static_cast<std::uint64_t>(50 * seconds));
}

}  // namespace

TEST_CASE("walking about on props is predicted to the last bit", "[integration][prediction]") {
  run_on_props(30);
}

TEST_CASE("an hour on props is predicted to the last bit", "[integration][prediction][.slow]") {
  run_on_props(3600);
}

namespace {

/// Goes between a pool, a ladder and open ground.
struct Swimmer {
  Swimmer(PredictedClient& whose, std::uint64_t seed)
      : p(whose), rng(rng_for(seed, 6)), home_m(whose.server_body().position_m) {}

  /// A pool east of where it stands, and a wall with a ladder west of it.
  void furnish() {
    const IVec3 base = block_at(home_m);
    const auto fill = [&](IVec3 from, IVec3 size, BlockId id) {
      p.play.host->admin(
          {.action = AdminAction::fill_box, .box = {base + from, base + from + size}, .id = id});
    };
    fill({4, -3, -1}, {6, 6, 1}, BlockId::water);
    fill({-6, -2, 0}, {1, 4, 6}, BlockId::stone);
    fill({-5, -2, 0}, {1, 4, 6}, BlockId::ladder);
    p.run(1);
  }
  PlayerCommand operator()() {
    const DVec3 here = p.predictor.body().position_m;
    wet_turns += touched(BlockId::water), ladder_turns += touched(BlockId::ladder);
    if (left-- <= 0) {
      left = 600 + static_cast<int>(rng.below(1500));
      const double east_m = std::array{-4.6, 7.0, 1.0}[static_cast<std::size_t>(goals++) % 3];
      const double north_m = rng.below(5) - 2.0;
      goal_m = home_m + DVec3{east_m, north_m, 0};
      command.buttons = rng.below(2) == 0 ? button::jump : std::uint16_t{0};
    }
    const DVec3 way = goal_m - here;
    command.yaw = turn_towards(xy(way));
    command.forward = length(xy(way)) > 0.3 || rng.below(4) == 0 ? 1 : 0;
    return command;
  }
  int touched(BlockId id) const {
    const DVec3 here = p.server_body().position_m;
    const VoxelVolume& blocks = *p.play.world().space().voxels;
    return blocks.block(block_at(here + DVec3{0, 0, 0.5})) == id ? 1 : 0;
  }

  PredictedClient& p;
  Rng rng;
  DVec3 home_m, goal_m;
  PlayerCommand command;
  int left = 0, goals = 0;
  int wet_turns = 0, ladder_turns = 0;
};

void run_works(double seconds, std::uint64_t seed) {
  WorldSetup setup = alone();
  setup.seed = seed;
  PredictedClient p(setup, seed);
  p.play.conditions(delayed(40));
  p.enter();
  Swimmer swimmer(p, seed);
  swimmer.furnish();
  p.run(seconds / 2, [&] { return swimmer(); });
  p.put(swimmer.home_m);  // who stands in water builds little
  client_sim::Builder builder(seed);
  // A tower and a bridge take it 20 s before it digs.
  p.run(seconds / 2 + 20, [&] {
    const PlayerCommand command = builder.think(p.play.client);
    builder.act(p.play.client);
    return command;
  });
  check_exact(p, static_cast<std::uint64_t>(50 * seconds));
  CHECK(p.play.world().block_acts().counters().dug > 0);
  CHECK(swimmer.wet_turns > 100);
  CHECK(swimmer.ladder_turns > 100);
}

}  // namespace

TEST_CASE("ladders, water and digging are predicted to the last bit", "[integration][prediction]") {
  run_works(40, 12);
}

TEST_CASE("an hour of ladders, water and digging is predicted to the last bit",
          "[integration][prediction][.slow]") {
  run_works(3600, GENERATE(std::uint64_t{1}, std::uint64_t{2}));
}

TEST_CASE("a lost command is corrected to the bit by the command that was applied",
          "[integration][prediction]") {
  PredictedClient p(alone(), 7);
  client_sim::LinkConditions link = delayed(40);
  p.play.conditions(link);
  p.enter();
  p.run(2);
  Runner runner(7);
  p.run(2, [&] { return runner(); });
  REQUIRE(p.predictor.stats().mispredicted_sum() == 0);
  link.loss = 0.3;
  link.jitter = Micros{60'000};
  p.play.conditions(link);
  p.run(20, [&] {
    runner.left = std::min(runner.left, 20);
    return runner();
  });
  const auto& stats = p.predictor.stats();
  CHECK(stats.late > 0);
  CHECK(p.mispredicted(MispredictCause::command) > 0);
  CHECK(p.mispredicted(MispredictCause::unknown) == 0);
  // What is shown comes to rest where the server has the player.
  p.play.conditions(delayed(40));
  p.play.client.set_command({});
  p.run(2);
  CHECK(p.predictor.body().position_m == p.server_body().position_m);
  CHECK(p.predictor.shown(p.play.now).position_m == p.server_body().position_m);
}

TEST_CASE("a hit that pushes is the server's doing, and a body that is gone was in the way",
          "[integration][prediction]") {
  WorldSetup setup = alone(TerrainKind::flat);
  setup.monsters = setup.monsters_max = 40;
  setup.spawn.radius_m = 14;
  // The least hit is told: health travels as a share of 255.
  setup.rules.player_health = 700;
  PredictedClient p(setup, 21);
  client_sim::Others others;
  p.play.conditions(delayed(20));
  p.enter();
  p.foresees(&others);
  std::uint64_t hits = 0;
  std::int32_t health = p.play.world().players().health[p.play.row()];
  p.play.after_tick = [&] {
    const std::int32_t now = p.play.world().players().health[p.play.row()];
    hits += now < health ? 1 : 0;
    health = now;
  };
  const std::uint64_t put = p.mispredicted(MispredictCause::server);
  Runner runner(21);
  for (const Micros until = p.play.now + Micros{90'000'000}; p.play.now < until;) {
    PlayerCommand command = runner();
    command.buttons |= button::attack;
    p.play.client.set_command(command);
    p.turn();
  }
  CAPTURE(hits);
  CHECK(hits > 20);
  CHECK(p.mispredicted(MispredictCause::server) - put > hits / 2);
  CHECK(p.mispredicted(MispredictCause::crowd) > 0);
  CHECK(p.mispredicted(MispredictCause::unknown) == 0);
}

TEST_CASE("an error is shown as a glide of a fifth of a second, and one above two metres as a jump",
          "[integration][prediction]") {
  PredictedClient p(alone(), 9);
  p.play.conditions(delayed(20));
  p.enter();
  p.run(2);
  const DVec3 here = p.server_body().position_m;
  const double off_m = GENERATE(0.5, 1.98, 2.02, 3.0);
  const bool snaps = off_m > Predictor::snap_m;
  CAPTURE(off_m);
  const auto corrections = [&] {
    std::uint64_t all = 0;
    for (const auto& of_cause : p.predictor.stats().corrections_um) all += of_cause.count();
    return all;
  };
  const std::uint64_t before = corrections();
  p.play.host->admin({AdminAction::teleport, p.play.client.player(), here + DVec3{off_m, 0, 0.1}});
  for (int i = 0; i < 250 && corrections() == before; ++i) p.turn();
  REQUIRE(corrections() == before + 1);
  const Micros corrected_at = p.play.now;
  // Where it is does not change, only what is shown of it.
  const double truth_m = p.predictor.body().position_m.x;
  CHECK(p.predictor.stats().snapped == (snaps ? 1u : 0u));
  double left_m = truth_m - p.predictor.shown(p.play.now).position_m.x;
  CHECK(left_m == Approx(snaps ? 0 : off_m).margin(1e-6));
  while (p.play.now < corrected_at + Micros{300'000}) {
    p.turn();
    CAPTURE((p.play.now - corrected_at).count());
    const double now_left_m = truth_m - p.predictor.shown(p.play.now).position_m.x;
    const bool over = snaps || p.play.now - corrected_at >= Micros{200'000};
    if (over ? now_left_m != 0 : !(now_left_m > 0 && now_left_m < left_m)) FAIL(now_left_m);
    if (left_m - now_left_m > 0.05) FAIL("a jolt");
    left_m = now_left_m;
  }
  CHECK(p.server_body().position_m.x == truth_m);
}

TEST_CASE("where the ground is not there yet a client waits as the server does, and goes on to the bit",
          "[integration][prediction]") {
  PredictedClient p(alone(TerrainKind::hills), 13);
  // Of ground that it makes, a chunk in each turn: the server has its own sooner.
  PredictorConfig slow = PredictedClient::config_of(p.play.world().setup(), nullptr);
  slow.chunks_per_advance = 1;
  p.predictor = Predictor(slow);
  p.play.conditions(delayed(30));
  p.enter();
  Runner runner(13);
  p.run(2, [&] { return runner(); });
  REQUIRE(p.predictor.stats().mispredicted_sum() == p.mispredicted(MispredictCause::server));
  const std::uint64_t waited = p.predictor.stats().waited;
  for (int leap = 1; leap <= 3; ++leap) {
    CAPTURE(leap);
    p.play.host->admin({AdminAction::teleport, p.play.client.player(), {500.0 * leap, -300.0 * leap, 90}});
    int waiting = 0;
    bool waited_before = false;
    for (int i = 0; i < 2000; ++i) {
      p.play.client.set_command(runner());
      const Body before = p.predictor.body();
      const std::uint64_t confirmed = p.predictor.stats().confirmed;
      p.turn();
      const bool waited_on = std::exchange(waited_before, p.predictor.waiting()) && p.predictor.waiting();
      if (!p.predictor.waiting()) continue;
      ++waiting;
      // It stands where the server last had it: nothing is foreseen in what is not known.
      if (waited_on && p.predictor.stats().confirmed == confirmed &&
          !(p.predictor.body().position_m == before.position_m) &&
          !p.predictor.replica().space().voxels->loaded(chunk_of(block_at(before.position_m))))
        FAIL("moved while it waited");
    }
    CHECK(waiting > 3);
    REQUIRE_FALSE(p.predictor.waiting());
  }
  CHECK(p.predictor.stats().waited > waited + 9);
  CHECK(p.mispredicted(MispredictCause::unknown) <= 3);  // the leaps, which nobody could foresee
  CHECK(p.mispredicted(MispredictCause::world) == 0);
  // From then on it is as exact as before.
  const std::uint64_t so_far = p.predictor.stats().mispredicted_sum();
  p.run(5, [&] { return runner(); });
  CHECK(p.predictor.stats().mispredicted_sum() == so_far);
}

namespace {

/// A game on whose ground nobody changes anything, whoever may begin to.
struct Museum : Game {
  explicit Museum(bool begun) : may_begin(begun) {}
  void begin(GameApi&) override {}
  bool may_edit(GameApi&, EntityId, IVec3, BlockId) override { return std::exchange(may_begin, false); }
  bool may_begin;
};

}  // namespace

TEST_CASE("what the server's game refuses is back at once, and no misprediction that nobody can explain",
          "[integration][prediction]") {
  const bool digs = GENERATE(true, false), hard = GENERATE(false, true), streams = GENERATE(false, true);
  if (hard && !digs) return;
  const bool begun = hard && GENERATE(true, false);  // refused at its end, or at its beginning
  CAPTURE(digs, hard, streams, begun);
  WorldSetup setup = with_shared_ground(alone());
  setup.game = [begun] { return std::make_unique<Museum>(begun); };
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  for (std::size_t i = 1; i < types.size(); ++i)  // but air
    for (double& hardness_s : types[i].hardness_s)
      if (hardness_s >= 0) hardness_s = hard ? 0.3 : 0;
  setup.blocks = std::make_shared<const BlockRegistry>(std::move(types));
  PredictedClient p(setup, 12, nullptr, streams);
  p.play.conditions(delayed(40));
  p.enter();
  PlayerCommand down;
  down.pitch = Turn16{static_cast<std::uint16_t>(-16000)};
  p.play.client.set_command(down);
  p.run(1);
  const IVec3 under = block_at(p.server_body().position_m - DVec3{0, 0, 0.5});
  const IVec3 beside = under + IVec3{1, 0, 0};
  const IVec3 target = digs ? under : beside + IVec3{0, 0, 1};
  const auto solid = [&] { return p.predictor.replica().space().voxels->solid(target); };
  const bool was = solid();
  REQUIRE(was == digs);
  const std::uint64_t so_far = p.mispredicted(MispredictCause::server);
  REQUIRE((digs ? p.play.client.act(BlockActKind::dig, under)
                : p.play.client.act(BlockActKind::place, beside, BlockFace::top, BlockId::stone)) != 0);
  const Micros tick{1'000'000 / setup.rules.tick_rate_hz};
  Micros refused_at{0}, back_at{0};
  bool foreseen = false, progressed = false;
  for (int i = 0; i < 1500; ++i) {
    p.turn();
    for (const ActAnswer& answer : p.play.client.take_verdicts())
      if (refused(answer.verdict))
        refused_at = p.play.now;
      else
        progressed = true;
    foreseen = foreseen || solid() != was;
    if (foreseen && solid() != was) back_at = Micros{0};
    if (foreseen && solid() == was && back_at == Micros{0}) back_at = p.play.now;
  }
  // The word comes sooner than what is hard is dug.
  CHECK(foreseen == (begun || !hard));
  CHECK(progressed == begun);
  CHECK(refused_at != Micros{0});
  CHECK((back_at != Micros{0}) == foreseen);
  CHECK(back_at <= refused_at + 2 * tick);
  CHECK(p.mispredicted(MispredictCause::unknown) == 0);
  CHECK(p.mispredicted(MispredictCause::server) == so_far);
  // Only whose ground is dug away falls.
  CHECK((p.mispredicted(MispredictCause::world) > 0) == (digs && foreseen));
  CHECK(length(p.predictor.body().position_m - p.server_body().position_m) < 1e-9);
}

TEST_CASE("a block that is placed and one that is dug are foreseen, and taken back when refused",
          "[integration][prediction]") {
  PredictedClient p(alone(), 11);
  p.play.conditions(delayed(60));
  p.enter();
  p.run(2);
  const Body body = p.server_body();
  const IVec3 under = block_at(body.position_m - DVec3{0, 0, 0.5});
  PlayerCommand down;
  down.pitch = Turn16{static_cast<std::uint16_t>(-16000)};
  p.play.client.set_command(down);
  p.run(0.5);
  // Beside its feet: the server has it later than the client does.
  const IVec3 beside = under + IVec3{1, 0, 0};
  REQUIRE(p.predictor.replica().space().voxels->solid(beside));
  REQUIRE(p.play.client.act(BlockActKind::place, beside, BlockFace::top, BlockId::stone) != 0);
  p.run(0.05);
  const IVec3 placed = beside + IVec3{0, 0, 1};
  CHECK(p.predictor.replica().space().voxels->solid(placed));
  CHECK_FALSE(p.play.world().space().voxels->solid(placed));
  p.run(0.5);
  CHECK(p.predictor.replica().space().voxels->solid(placed));
  CHECK(p.play.world().space().voxels->solid(placed));
  CHECK(p.predictor.stats().mispredicted_sum() == 0);
}
