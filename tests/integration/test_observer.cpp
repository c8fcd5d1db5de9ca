// Who looks on: sees each command and what was sent, live and in a recording, and changes nothing.
#include "world/sim/observer.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "client_sim/simulation/replay.h"
#include "protocol/recorded_world.h"
#include "protocol/recording.h"
#include "tests/integration/hosted_client.h"
#include "world/examples/aim_detector.h"
#include "world/sim/combat.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

WorldSetup meadow() {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.players_max = 4;
  setup.monsters_max = 16;
  setup.monsters = 8;
  setup.rules.monsters_fight = Switch::off;
  return setup;
}

/// Keeps what a server's ticks were made of.
struct Recorder final : server::TickSink {
  explicit Recorder(const World& world) : writer(recording_header(world, "test")) {}
  void on_tick(const TickRecord& record) override { writer.add(record); }
  std::vector<std::uint8_t> bytes() {
    std::vector<std::uint8_t> out;
    writer.take(out);
    return out;
  }
  RecordingWriter writer;
};

struct Seen {
  std::uint32_t tick;
  EntityId player;
  PlayerCommand command;
  friend bool operator==(const Seen&, const Seen&) = default;
};

/// Notes everything.
struct Notes final : Observer {
  void commanded(const World& before, EntityId player, const PlayerCommand& command) override {
    commands.push_back({number(before.tick()), player, command});
  }
  void joined(const World&, EntityId) override { ++joins; }
  void stepped(const World& after) override {
    ++steps;
    hash = after.hash();
  }
  void sent(TickId tick, EntityId player, std::span<const EntityId> entities) override {
    ++snapshots;
    for (const EntityId id : entities) {
      CHECK(id != EntityId{0});
      told.insert(id);
    }
    last_told = number(tick);
    CHECK(player != EntityId{0});
  }
  std::vector<Seen> commands;
  std::set<EntityId> told;
  int joins = 0, steps = 0, snapshots = 0;
  std::uint32_t last_told = 0;
  std::uint64_t hash = 0;
};

/// Plays with a command by the world's tick; what an observer came to.
std::vector<server::HostEvent> play(HostedClient& p, double seconds,
                                    const std::function<PlayerCommand(std::uint32_t)>& command) {
  std::vector<server::HostEvent> flagged;
  const Micros until = p.now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
  while (p.now < until && !p.client.ended()) {
    p.client.set_command(command(number(p.world().tick())));
    p.output.events.clear();
    p.turn();
    for (const auto& event : p.output.events)
      if (event.kind == server::HostEventKind::flagged) flagged.push_back(event);
  }
  return flagged;
}

PlayerCommand wandering(std::uint32_t tick) {
  PlayerCommand c;
  c.forward = 1;
  c.yaw = Turn16{static_cast<std::uint16_t>(tick * 300)};
  return c;
}

}  // namespace

TEST_CASE("an observer sees every command and who was told, and the world is none the wiser",
          "[integration][observer]") {
  const bool packed = GENERATE(true, false);
  CAPTURE(packed);
  const WorldSetup setup = meadow();
  const auto run = [&](Notes* notes) {
    client_sim::ClientConfig who = HostedClient::client_config(setup, "ada");
    who.takes_packed = packed;
    HostedClient p(setup, {}, who, 5);
    p.host->set_observer(notes);
    p.enter();
    play(p, 3, wandering);
    return std::pair(p.world().hash(), number(p.world().tick()));
  };
  Notes notes;
  const auto watched = run(&notes);
  CHECK(watched == run(nullptr));
  CHECK(notes.joins == 1);
  CHECK(notes.steps == static_cast<int>(watched.second));
  CHECK(notes.hash == watched.first);
  CHECK(notes.commands.size() > 150);
  CHECK(std::ranges::any_of(notes.commands, [](const Seen& s) { return s.command.seen != TickId{0}; }));
  CHECK(notes.snapshots > 100);
  CHECK(notes.told.size() > 1);  // the player's own entity and monsters
  CHECK(notes.last_told + 3 >= watched.second);
}

TEST_CASE("an observer of a recording sees the commands that it saw live", "[integration][observer]") {
  const WorldSetup setup = meadow();
  HostedClient p(setup, 5);
  Notes live;
  Recorder recorder(p.world());
  p.host->set_sink(&recorder);
  p.host->set_observer(&live);
  p.enter();
  play(p, 2, wandering);
  p.host->set_sink(nullptr);
  Notes later;
  simulation::ReplayOptions options;
  options.observer = &later;
  const auto replayed = simulation::replay(recorder.bytes(), {}, options);
  if (!replayed) FAIL(replayed.error());
  CHECK_FALSE(replayed->mismatch.has_value());
  CHECK(later.commands == live.commands);
  CHECK(later.hash == live.hash);
  CHECK(later.snapshots == 0);
}

TEST_CASE("who presses the trigger faster than fingers can is sent away, and so found in the recording",
          "[integration][observer]") {
  const WorldSetup setup = meadow();
  const auto tapping = [](std::uint32_t every) {
    return [every](std::uint32_t tick) {
      PlayerCommand c;
      if (tick / every % 2 == 0) c.buttons = button::attack;
      return c;
    };
  };
  SECTION("who taps as quickly as a good player is left alone") {
    HostedClient p(setup, 5);
    examples::AimDetector detector;
    p.host->set_observer(&detector);
    p.enter();
    CHECK(play(p, 5, tapping(3)).empty());  // ten times a second
    CHECK_FALSE(p.client.ended());
  }
  SECTION("thirty times a second is too much") {
    HostedClient p(setup, 5);
    examples::AimDetector detector;
    Recorder recorder(p.world());
    p.host->set_sink(&recorder);
    p.host->set_observer(&detector);
    p.enter();
    const EntityId cheat = p.client.player();
    const auto flagged = play(p, 5, tapping(1));
    REQUIRE(flagged.size() == 1);
    CHECK(flagged[0].name == "ada");
    CHECK(flagged[0].detail.find("trigger") != std::string::npos);
    CHECK(p.client.ended());
    CHECK(p.client.reason().find("trigger") != std::string::npos);
    p.host->set_sink(nullptr);

    examples::AimDetector again;
    std::vector<EntityId> found;
    simulation::ReplayOptions options;
    options.observer = &again;
    options.on_verdict = [&](std::uint32_t, const ObserverVerdict& verdict) {
      CHECK(verdict.kick);
      found.push_back(verdict.player);
    };
    REQUIRE(simulation::replay(recorder.bytes(), {}, options).has_value());
    CHECK(found == std::vector{cheat});
  }
}

TEST_CASE("who leaps onto others in the tick of the shot is flagged, who turns as a hand does is not",
          "[integration][observer]") {
  WorldSetup setup = meadow();
  setup.monsters = 0;
  setup.rules.friendly_fire = Switch::on;
  setup.rules.player_health = 10'000;
  World world(setup);
  const std::uint32_t tokens[]{1, 2};
  TickInput joins;
  joins.joins = tokens;
  world.step(joins);
  const EntityId me = world.joined()[0].id, other = world.joined()[1].id;
  const DVec3 at = world.players().body[slot_of(me)].position_m;
  const AdminCommand there[]{{AdminAction::teleport, me, at},
                             {AdminAction::teleport, other, at + DVec3{6, 0, 0}}};
  TickInput places;
  places.admin = there;
  world.step(places);
  const bool leaps = GENERATE(true, false);
  CAPTURE(leaps);
  examples::AimDetector detector;
  int verdicts = 0;
  for (int tick = 0; tick < 60 * 12; ++tick) {
    // Once a second it shoots at the other, and looks away again: at once, or over half a second.
    const int phase = tick % 60;
    const double off = leaps ? (phase == 30 ? 0 : 90) : phase <= 30 ? 90 - 3 * phase : 3 * (phase - 30);
    PlayerInput input{me, {}};
    input.command.yaw = Turn16{static_cast<std::uint16_t>(off / 360 * 65536)};
    if (phase == 30) input.command.buttons = button::attack;
    TickInput next;
    next.commands = {&input, 1};
    next.admin = there;
    observe_input(detector, world, next);
    world.step(next);
    observe_step(detector, world);
    while (const auto verdict = detector.take_verdict()) {
      ++verdicts;
      CHECK(verdict->player == me);
      CHECK_FALSE(verdict->kick);
    }
  }
  CHECK(world.combat().counters().hits >= 5);
  CHECK(verdicts == (leaps ? 2 : 0));
}
