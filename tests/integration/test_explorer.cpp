// Explorers as clients of a real Host: what they know comes in snapshots, over a link.

#include "client_sim/brains/brain.h"
#include "client_sim/explore/party.h"
#include "tests/integration/hosted_client.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/moving_rooms.h"

using namespace ashlar;
using namespace ashlar::testing;
using client_sim::Brain;
using client_sim::BrainKind;
using client_sim::ExploreParty;
using client_sim::Micros;

namespace {

WorldSetup world_of(std::shared_ptr<const PlacedMap> map) {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters_max = setup.monsters = 0;
  setup.maps.push_back(std::move(map));
  return setup;
}

/// A client with an explorer's brain, put to a place of the map.
struct ExplorerScene {
  ExplorerScene(const std::shared_ptr<const PlacedMap>& map, DVec3 at, std::uint64_t seed)
      : play(world_of(map), seed),
        party(std::make_shared<ExploreParty>([map](const WelcomeMap&) { return map; })),
        brain(BrainKind::explore, seed, party) {
    play.enter();
    play.host->admin({AdminAction::teleport, play.client.player(), at});
    party->prepare(play.client.welcome());
  }
  /// @return seconds until so many sectors were entered; or all that there are
  double run_until_entered(std::uint32_t sectors, double seconds_max) {
    double seconds = 0;
    for (; seconds < seconds_max; seconds += 0.002) {
      play.client.set_command(brain.think(play.now, play.client));
      play.turn();
      if (party->explored().front().entered >= sectors) break;
    }
    return seconds;
  }

  HostedClient play;
  std::shared_ptr<ExploreParty> party;
  Brain brain;
};

}  // namespace

TEST_CASE("a client that explores opens doors, rides lifts and enters every room, over a slow link too",
          "[integration][explore]") {
  const int latency_ms = GENERATE(0, 50);
  CAPTURE(latency_ms);
  // A door by its own line, a step that only a jump gets over, and a lift that is called.
  const SectorMap source = row_of_rooms({{0, 256}, {0, 0}, {0, 256}, {33, 256}, {160, 320, 3}, {160, 320}},
                                        {{1, 0}, {1, 0, true}, {}, {62, 3}, {}}, {thing_at(40, 128, 1)});
  PlaceOptions options;
  options.surface_z = 32;
  options.doors_open = options.doorway = false;
  const auto map = must_place(source, options);
  const DVec2 at = map->to_world({40, 128});
  ExplorerScene s(map, {at.x, at.y, map->z_to_world(0)}, 3);
  client_sim::LinkConditions link;
  link.latency = Micros{1000 * latency_ms};
  link.jitter = link.latency / 5;
  s.play.conditions(link);
  CHECK(s.run_until_entered(6, 40) < 40);
  CHECK(s.play.world().counters().stuck == 0);
}

TEST_CASE("a client that explores finds its way from the surface into the map", "[integration][explore]") {
  PlaceOptions options;
  options.name = builtin_map_name;
  options.surface_z = 24;
  options.doors_open = false;
  const auto map = must_place(builtin_map(), options);
  REQUIRE_FALSE(map->doorways().empty());
  const DVec3 top = map->doorways().front().top_m, foot = map->doorways().front().foot_m;
  // Behind the stairs' upper end, a few metres off.
  DVec2 away = xy(top - foot);
  away = away * (6 / length(away));
  ExplorerScene s(map, {top.x + away.x + 2, top.y + away.y - 1, map->roof_m()}, 5);
  CHECK(s.run_until_entered(12, 60) < 60);
}
