// What a game knows of who stands behind its players: names, and who is away.
#include "world/sim/presence.h"

#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "world/sim/game.h"
#include "world/sim/world.h"

using namespace ashlar;

namespace {

/// Writes down what it is told, with the name that it asks for at that moment.
struct Guestbook final : Game {
  void joined(GameApi& api, EntityId who) override { note("joined", api, who); }
  void left(GameApi& api, EntityId who) override { note("left", api, who); }
  void spawned(GameApi& api, EntityId who) override { note("spawned", api, who); }
  void away(GameApi& api, EntityId who) override {
    CHECK(api.away(who));
    note("away", api, who);
  }
  void back(GameApi& api, EntityId who) override {
    CHECK_FALSE(api.away(who));
    note("back", api, who);
  }
  void tick(GameApi& api) override {
    nobody = std::string(api.name(EntityId{0})) + std::string(api.name(make_entity_id(3, 1)));
    if (kills != EntityId{0}) api.hurt(kills, EntityId{0}, 1000);
  }
  void note(const std::string& what, const GameApi& api, EntityId who) {
    notes.push_back(what + " " + std::string(api.name(who)) + (api.away(who) ? ", away" : ""));
  }
  std::vector<std::string> notes;
  std::string nobody;
  EntityId kills{};
};

struct Company {
  Company() {
    WorldSetup setup;
    setup.terrain = TerrainKind::flat;
    setup.players_max = 4;
    setup.monsters = setup.monsters_max = 0;
    setup.rules.respawn_s = 0.1;
    setup.game = [this] {
      auto made = std::make_unique<Guestbook>();
      book = made.get();
      return made;
    };
    world = std::make_unique<World>(setup);
  }
  EntityId join(const std::string& name, bool watches = false) {
    const std::uint32_t token = 7;
    const JoinName named{token, PlayerName(name)};
    TickInput input;
    input.joins = {&token, 1};
    if (!name.empty()) input.names = {&named, 1};
    if (watches) input.watchers = {&token, 1};
    world->step(input);
    return world->joined()[0].id;
  }
  void change(const std::vector<AwayChange>& changes, const std::vector<EntityId>& leaves = {}) {
    TickInput input;
    input.away = changes;
    input.leaves = leaves;
    world->step(input);
  }
  std::vector<std::string> take() { return std::exchange(book->notes, {}); }

  Guestbook* book = nullptr;
  std::unique_ptr<World> world;
};

using Notes = std::vector<std::string>;

}  // namespace

TEST_CASE("a game asks for a player's name from joined() to the end of left()", "[world][game][presence]") {
  Company c;
  const EntityId ann = c.join("Ann"), none = c.join("");
  CHECK(c.take() == Notes{"joined Ann", "spawned Ann", "joined ", "spawned "});
  CHECK(c.world->player_name(ann) == "Ann");
  CHECK(c.world->player_name(none).empty());
  CHECK(c.book->nobody.empty());
  c.change({}, {ann});
  CHECK(c.take() == Notes{"left Ann"});
  CHECK(c.world->player_name(ann).empty());
  // Her row is somebody else's, who has no name.
  const EntityId next = c.join("");
  CHECK(slot_of(next) == slot_of(ann));
  CHECK(c.world->player_name(next).empty());
  CHECK(c.world->player_name(ann).empty());
}

TEST_CASE("names of joins go to those who have one, and end where names end", "[world][game][presence]") {
  Company c;
  const std::uint32_t tokens[]{1, 2, 3};
  const std::string longest(PlayerName::bytes_max, 'x');
  const JoinName names[]{{1, PlayerName("Ann")}, {3, PlayerName(longest + "yz")}};
  TickInput input;
  input.joins = tokens, input.names = names;
  c.world->step(input);
  const auto joined = c.world->joined();
  REQUIRE(joined.size() == 3);
  CHECK(c.world->player_name(joined[0].id) == "Ann");
  CHECK(c.world->player_name(joined[1].id).empty());
  CHECK(c.world->player_name(joined[2].id) == longest);
}

TEST_CASE("a game hears who is away and who is back by turns, before who leaves and joins in the tick",
          "[world][game][presence]") {
  Company c;
  const EntityId ann = c.join("Ann"), bob = c.join("Bob");
  c.take();
  c.change({{ann, true}, {ann, true}, {make_entity_id(3, 1), true}, {bob, false}});
  CHECK(c.take() == Notes{"away Ann, away"});
  CHECK(c.world->player_away(ann));
  CHECK_FALSE(c.world->player_away(bob));
  // As she comes back she may call herself otherwise, and so may who was never away.
  c.change({{ann, false, PlayerName("Anna")}, {bob, false, PlayerName("Bert")}});
  CHECK(c.take() == Notes{"back Anna"});
  CHECK(c.world->player_name(bob) == "Bert");
  c.change({{ann, true}, {ann, false}, {ann, true}, {bob, true}}, {bob});
  CHECK(c.take() ==
        Notes{"away Anna, away", "back Anna", "away Anna, away", "away Bert, away", "left Bert, away"});
  // She dies and lives again without being there, and goes for good.
  c.book->kills = ann;
  c.change({});
  c.book->kills = EntityId{0};
  for (int i = 0; i < 20; ++i) c.change({});
  CHECK(c.take() == Notes{"spawned Anna, away"});
  c.change({{ann, false}}, {ann});
  CHECK(c.take() == Notes{"back Anna", "left Anna"});
  CHECK_FALSE(c.world->player_away(ann));
}

TEST_CASE("of spectators a game hears nothing, and asks when they play", "[world][game][presence]") {
  Company c;
  c.join("Bob");
  const EntityId cid = c.join("Cid", true);
  c.take();
  c.change({{cid, true}});
  CHECK(c.take().empty());
  CHECK(c.world->player_away(cid));
  const AdminCommand play{AdminAction::play, cid, {}};
  TickInput input;
  input.admin = {&play, 1};
  c.world->step(input);
  for (int i = 0; i < 30; ++i) c.change({});
  CHECK(c.take() == Notes{"joined Cid, away", "spawned Cid, away"});
  c.change({{cid, false}});
  CHECK(c.take() == Notes{"back Cid"});
}

TEST_CASE("names and who is away are in the hash, and a world without them has that of ever",
          "[world][game][presence]") {
  Company named, away, plain;
  const EntityId ann = named.join("Ann");
  CHECK(away.join("Ann") == ann);
  CHECK(plain.join("") == ann);
  CHECK(named.world->hash() == away.world->hash());
  CHECK(named.world->hash() != plain.world->hash());
  named.change({}), away.change({{ann, true}}), plain.change({{ann, false}});
  CHECK(named.world->hash() != away.world->hash());
  named.change({{ann, true}}), away.change({{ann, true}});
  CHECK(named.world->hash() == away.world->hash());
  const std::uint64_t before = plain.world->hash();
  CHECK(before == [] {
    Company again;
    again.join(""), again.change({});
    return again.world->hash();
  }());
}
