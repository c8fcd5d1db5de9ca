// What the Host tells a game of who stands behind its players, and that it is in recordings.
#include <string>
#include <vector>

#include "tests/server/host/host_table.h"
#include "world/sim/game.h"
#include "world/sim/ground_generator.h"
#include "world/voxel/chunk.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

/// Notes what it is told; what it noted is its state.
class Porter final : public Game {
 public:
  explicit Porter(std::vector<std::string>* notes) : notes_(notes) {}
  void joined(GameApi& api, EntityId who) override { note("joined", api, who); }
  void left(GameApi& api, EntityId who) override { note("left", api, who); }
  void away(GameApi& api, EntityId who) override { note("away", api, who); }
  void back(GameApi& api, EntityId who) override { note("back", api, who); }
  bool chat_command(GameApi& api, EntityId who, std::string_view text) override {
    return text == "hurt" && api.hurt(who, EntityId{0}, 5);
  }
  void add_to_hash(StripeHasher& hash) const override { hash.add(noted_); }

 private:
  void note(const std::string& what, const GameApi& api, EntityId who) {
    notes_->push_back(what + " " + std::string(api.name(who)));
    for (const char c : notes_->back()) noted_ = noted_ * 31 + static_cast<unsigned char>(c);
  }
  std::vector<std::string>* notes_;
  std::uint64_t noted_ = 0;
};

/// Keeps what went into each tick.
struct Tape final : TickSink {
  void on_tick(const TickRecord& record) override { ticks.push_back(record); }
  std::vector<TickRecord> ticks;
};

/// A table at which such a game is played, from its first tick on tape.
struct Lodge {
  explicit Lodge(HostConfig config = {}) : table(3, {}, std::move(config)) {
    table.setup.terrain = TerrainKind::flat;
    table.setup.monsters = 0;
    table.setup.game = [this] { return std::make_unique<Porter>(&notes); };
    table.restart();
    table.host->set_sink(&tape);
  }
  void vanish(Hand& hand) {
    hand.will_resume();
    hand.vanished = true;
    table.run(60 * 11);
  }
  void come_back(Hand& hand, std::uint16_t port) {
    hand.vanished = false;
    hand.at.port = port;
    table.enter(hand);
    table.run(2);
  }
  /// In a world of its own, through the bytes of a recording.
  void replays() const {
    std::vector<std::string> again;
    WorldSetup setup = table.setup;
    setup.game = [&again] { return std::make_unique<Porter>(&again); };
    World world(setup);
    RecordingHeader header;
    header.players_max = setup.players_max;
    RecordingWriter writer(header);
    for (const TickRecord& played : tape.ticks) writer.add(played);
    std::vector<std::uint8_t> bytes;
    writer.take(bytes);
    auto reader = RecordingReader::open(bytes);
    REQUIRE(reader.has_value());
    TickRecord record;
    for (auto more = reader->next(record); more.has_value() && *more; more = reader->next(record)) {
      std::vector<ReadyChunk> ready;
      ready.reserve(record.chunks_ready.size());
      for (const ChunkCoord at : record.chunks_ready) ready.push_back({at, world.ground()->make_chunk(at)});
      TickInput input;
      input.joins = record.joins, input.leaves = record.leaves, input.commands = record.commands;
      input.admin = record.admin, input.chunks_ready = ready, input.chunks_dropped = record.chunks_dropped;
      input.returning = record.returning, input.told_apart = record.told_apart;
      input.calls = record.calls, input.names = record.names, input.away = record.away;
      world.step(input);
      REQUIRE(world.hash() == record.hash);
    }
    CHECK(number(world.tick()) == tape.ticks.size());
    CHECK(again == notes);
  }

  std::vector<std::string> notes;
  Tape tape;
  Table table;
};

HostConfig patient(int grace_s) {
  HostConfig config;
  config.away_grace = std::chrono::seconds(grace_s);
  return config;
}

using Notes = std::vector<std::string>;

}  // namespace

TEST_CASE("a game hears whose line broke off and who is back, by name, and so does a replay",
          "[server][presence]") {
  Lodge lodge(patient(60));
  Hand &ann = lodge.table.hand(peer(1), "Ann"), &bob = lodge.table.hand(peer(2), "Bob");
  lodge.table.enter(ann);
  lodge.table.enter(bob);
  const EntityId player = ann.own->id;
  CHECK(lodge.notes == Notes{"joined Ann", "joined Bob"});
  lodge.vanish(ann);
  REQUIRE(lodge.notes.size() >= 3);
  CHECK(lodge.notes[2] == "away Ann");
  CHECK(lodge.table.host->world().player_name(player) == "Ann");
  CHECK(lodge.table.host->world().player_away(player));
  lodge.come_back(ann, 40);
  CHECK(ann.own->id == player);
  CHECK_FALSE(lodge.table.host->world().player_away(player));
  CHECK(lodge.notes.back() == "back Ann");
  ann.leave(lodge.table.now);
  lodge.table.run(3);
  CHECK(lodge.notes.back() == "left Ann");
  lodge.replays();
}

TEST_CASE("who does not come back in time leaves a game, and begins anew", "[server][presence]") {
  Lodge lodge(patient(5));
  Hand& ann = lodge.table.hand(peer(1), "Ann");
  lodge.table.enter(ann);
  lodge.vanish(ann);
  lodge.table.run(60 * 6);
  lodge.come_back(ann, 40);
  CHECK(lodge.notes == Notes{"joined Ann", "away Ann", "left Ann", "joined Ann"});
  lodge.replays();
}

TEST_CASE("where no body waits a broken line is a leave", "[server][presence]") {
  Lodge lodge(patient(0));
  Hand& ann = lodge.table.hand(peer(1), "Ann");
  lodge.table.enter(ann);
  lodge.vanish(ann);
  CHECK(lodge.notes == Notes{"joined Ann", "left Ann"});
  lodge.replays();
}

TEST_CASE("who comes by another line before the first one is missed was away for no longer than that",
          "[server][presence]") {
  Lodge lodge(patient(60));
  Hand& ann = lodge.table.hand(peer(1), "Ann");
  lodge.table.enter(ann);
  const EntityId player = ann.own->id;
  ann.will_resume();
  lodge.come_back(ann, 40);
  CHECK(ann.own->id == player);
  CHECK(lodge.notes == Notes{"joined Ann", "away Ann", "back Ann"});
  lodge.replays();
}

TEST_CASE("who leaves in a fight is away as long as its body lingers, and may come back by another name",
          "[server][presence]") {
  HostConfig config = patient(60);
  config.fight_linger = std::chrono::seconds(5);
  Lodge lodge(config);
  Hand& ann = lodge.table.hand(peer(1), "Ann");
  lodge.table.enter(ann);
  const EntityId player = ann.own->id;
  const auto fight_and_leave = [&](Hand& hand) {
    CHECK(hand.send(Chat{"/hurt"}) == SendResult::sent);
    lodge.table.run(10);
    hand.leave(lodge.table.now);
    lodge.table.run(10);
  };
  fight_and_leave(ann);
  CHECK(lodge.notes == Notes{"joined Ann", "away Ann"});
  Hand& again = lodge.table.hand(peer(2), "Anna");
  again.identity = ann.identity;
  lodge.table.enter(again);
  lodge.table.run(2);
  CHECK(again.own->id == player);
  CHECK(lodge.notes == Notes{"joined Ann", "away Ann", "back Anna"});
  lodge.table.run(60);
  fight_and_leave(again);
  lodge.table.run(60 * 6);
  CHECK(lodge.notes == Notes{"joined Ann", "away Ann", "back Anna", "away Anna", "left Anna"});
  lodge.replays();
}

TEST_CASE("a change of world tells its game neither of who goes nor of who was away", "[server][presence]") {
  Lodge lodge(patient(60));
  Hand &ann = lodge.table.hand(peer(1), "Ann"), &bob = lodge.table.hand(peer(2), "Bob");
  lodge.table.enter(ann);
  lodge.table.enter(bob);
  lodge.vanish(ann);
  lodge.notes.clear();
  lodge.table.host->change_world(std::make_unique<World>(lodge.table.setup));
  CHECK(lodge.notes.empty());
  lodge.table.run(120);
  for (const std::string& note : lodge.notes) CHECK(note.starts_with("joined "));
  CHECK_FALSE(lodge.notes.empty());
}

TEST_CASE("our modes are told no names, and their recordings hold none", "[server][presence]") {
  Table table(3, {}, patient(60));
  Tape tape;
  table.host->set_sink(&tape);
  Hand& ann = table.hand(peer(1), "Ann");
  table.enter(ann);
  ann.will_resume();
  ann.vanished = true;
  table.run(60 * 11);
  REQUIRE(table.host->status().away == 1);
  CHECK(table.host->world().player_name(ann.own->id).empty());
  for (const TickRecord& record : tape.ticks) CHECK((record.names.empty() && record.away.empty()));
}
