// What a Host knows of players beyond their stay: where they were, and where they begin when they come back.
#include "server/host/player_book.h"
#include "tests/server/host/host_table.h"
#include "world/sim/game.h"
#include "world/sim/player_life.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

HostConfig returning(bool to_place, std::size_t away_max) {
  HostConfig config;
  config.return_to_place = to_place;
  config.players_away_max = away_max;
  return config;
}

DVec3 position(const Table& t) {
  const PlayerTable& players = t.host->world().players();
  for (std::size_t row = 0; row < players.rows(); ++row)
    if (players.id[row] != EntityId{0}) return players.body[row].position_m;
  FAIL("nobody is there");
  return {};
}

/// A table without monsters.
struct Quiet : Table {
  explicit Quiet(bool to_place = true, std::size_t away_max = HostConfig{}.players_away_max)
      : Table(3, {}, returning(to_place, away_max)) {
    setup.monsters = setup.monsters_max = 0;
    restart();
  }
};

/// Somebody is away who holds so many bricks, and whose key is this number again and again.
void remember(Table& t, int number, int bricks) {
  KeptPlayer player;
  player.identity.fill(static_cast<std::uint8_t>(number));
  if (bricks > 0) player.inventory.slots[0] = {BlockId::brick, static_cast<std::uint16_t>(bricks)};
  t.host->remember(player);
}

/// 40 m from where it began, and told so.
DVec3 walk_away(Table& t, Hand& ann) {
  const DVec3 there = position(t) + DVec3{40, 0, 3};
  t.host->admin({AdminAction::teleport, t.books().sessions.at(0).player, there});
  t.run(90);
  REQUIRE(ann.own);
  return position(t);
}

void leave(Table& t, Hand& hand) {
  hand.leave(t.now);
  t.run(3);
  REQUIRE(t.host->world().player_count() == 0);
}

}  // namespace

TEST_CASE("who comes back begins where it left off, or at a start where that is wanted",
          "[server][player_book]") {
  const bool to_place = GENERATE(true, false);
  Quiet t(to_place);
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  const DVec3 there = walk_away(t, ann);
  leave(t, ann);
  t.enter(ann);
  t.run(30);
  CHECK((length(position(t) - there) < 1) == to_place);
}

TEST_CASE("whom a store remembers begins where it was, and looks as it did, once it lives",
          "[server][player_book]") {
  const bool lived = GENERATE(true, false);
  Quiet t;
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  const DVec3 there = walk_away(t, ann);
  leave(t, ann);
  t.restart();
  KeptPlayer kept;
  kept.identity = ann.identity.open.bytes;
  kept.position_m = there;
  kept.yaw = Turn16{12'345};
  kept.life.health = lived ? 50 : 0;
  t.host->remember(kept);
  t.enter(ann);
  t.run(30);
  CHECK((length(position(t) - there) < 1) == lived);
  if (lived) CHECK(t.books().sessions.at(0).delta_yaw == kept.yaw);
}

TEST_CASE("whom a store remembers has its score in the same match, and its life where that is wanted",
          "[server][player_book]") {
  const bool wanted = GENERATE(true, false);
  HostConfig config;
  config.return_with_life = wanted;
  Table t(3, {}, config);
  t.setup.monsters = t.setup.monsters_max = 0;
  t.restart();
  Hand& ann = t.hand(peer(1), "ann");
  KeptPlayer kept;
  kept.identity = ann.identity.open.bytes;
  kept.life = {.health = 41,
               .armour = 9,
               .arsenal = fresh_arsenal(default_kinds()),
               .kinds_of = t.host->world().kinds_hash()};
  kept.life.arsenal.ammo[0] = 3;
  kept.score = {.match = 1, .score = 6, .kills = 7, .deaths = 8};
  t.host->remember(kept);
  t.enter(ann);
  t.run(3);
  REQUIRE(t.host->present_players().size() == 1);
  const KeptPlayer there = t.host->present_players()[0];
  CHECK(there.score == kept.score);
  CHECK((there.life == kept.life) == wanted);
  // And again, from what the Host itself remembers.
  leave(t, ann);
  t.enter(ann);
  t.run(3);
  CHECK(t.host->present_players()[0].score == kept.score);
  CHECK(t.host->present_players()[0].life == there.life);
}

TEST_CASE("a store is told at once of who died", "[server][player_book]") {
  /// Nobody survives its 200th tick.
  class Short final : public Game {
    void tick(GameApi& api) override {
      if (number(api.tick()) != 200) return;
      for (const EntityId id : api.players().id) api.hurt(id, EntityId{0}, 5000);
    }
  };
  Quiet t;
  t.setup.game = [] { return std::make_unique<Short>(); };
  t.restart();
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  std::vector<KeptPlayer> told;
  for (int i = 0; i < 300 && told.empty(); ++i) {
    t.run();
    for (const KeptPlayer& player : t.host->changed_players())
      if (player.life.health == 0) told.push_back(player);
    CHECK((number(t.host->world().tick()) <= 200 || !told.empty()));
  }
  CHECK(told.size() == 1);
}

TEST_CASE("where it was is rock now: recovery has it out", "[server][player_book]") {
  Quiet t;
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  const DVec3 there = walk_away(t, ann);
  leave(t, ann);
  AdminCommand wall;
  wall.action = AdminAction::fill_box;
  const IVec3 at = block_at(there);
  wall.box = {at - IVec3{1, 1, 1}, at + IVec3{2, 2, 3}};
  wall.id = BlockId::stone;
  t.host->admin(wall);
  t.run(2);
  t.enter(ann);
  t.run(240);
  const DVec3 now = position(t);
  CHECK(t.host->world().space().voxels->block(block_at(now + DVec3{0, 0, 0.5})) == BlockId::air);
}

TEST_CASE("a store is told of who left, of who walked, and at the end of all who are there",
          "[server][player_book]") {
  Quiet t;
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  std::size_t told = 0;
  for (int i = 0; i < 1300; ++i) {
    t.run();
    told += t.host->changed_players().size();
  }
  CHECK(told <= 1);  // it stands
  const DVec3 there = walk_away(t, ann);
  REQUIRE(t.host->present_players().size() == 1);
  CHECK(length(t.host->present_players()[0].position_m - there) < 1e-9);
  CHECK(t.host->present_players()[0].identity == ann.identity.open.bytes);
  ann.leave(t.now);
  std::vector<KeptPlayer> left;
  for (int i = 0; i < 5; ++i) {
    t.run();
    const auto changed = t.host->changed_players();
    left.insert(left.end(), changed.begin(), changed.end());
  }
  REQUIRE(left.size() == 1);
  CHECK(length(left[0].position_m - there) < 1);
  CHECK(t.host->present_players().empty());
}

TEST_CASE("in the next world a store is told of who walked as often, whatever its tick rate",
          "[server][player_book]") {
  Quiet t;
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  WorldSetup next = t.setup;
  next.rules.tick_rate_hz = 10;
  t.host->change_world(std::make_unique<World>(next));
  constexpr Micros slow_tick{100'001};
  for (int i = 0; i < 30; ++i) t.turn(slow_tick);
  REQUIRE(t.host->world().player_count() == 1);
  t.host->admin({AdminAction::teleport, t.books().sessions.at(0).player, position(t) + DVec3{40, 0, 3}});
  std::size_t told = 0;
  for (std::uint32_t i = 0; i < (PlayerBook::place_every_s + 1) * 10; ++i) {
    t.turn(slow_tick);
    told += t.host->changed_players().size();
  }
  CHECK(told >= 1);
}

TEST_CASE("of who came, did nothing and went a store is told nothing", "[server][player_book]") {
  Quiet t;
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  std::size_t told = 0;
  const auto run = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      t.run();
      told += t.host->changed_players().size();
    }
  };
  run(1300);
  CHECK(t.host->present_players().empty());
  ann.leave(t.now);
  run(5);
  REQUIRE(t.host->world().player_count() == 0);
  CHECK(told == 0);
}

TEST_CASE("where too many are away those who hold nothing go, who was there longest ago first",
          "[server][player_book]") {
  Quiet t(true, 3);
  // Of an earlier run more are there than are kept: they go when one more leaves.
  for (const auto& [number, bricks] :
       {std::pair(1, 5), std::pair(2, 0), std::pair(3, 0), std::pair(4, 5), std::pair(5, 0)})
    remember(t, number, bricks);
  Hand& ann = t.hand(peer(1), "ann");
  std::vector<KeptPlayer> told;
  const auto stay = [&] {
    t.enter(ann);
    walk_away(t, ann);
    ann.leave(t.now);
    told.clear();
    for (int i = 0; i < 5; ++i) {
      t.run();
      told.insert(told.end(), t.host->changed_players().begin(), t.host->changed_players().end());
    }
  };
  stay();
  REQUIRE(told.size() == 4);
  for (const auto& [at, number] : {std::pair(0u, 2), std::pair(1u, 3), std::pair(2u, 5)})
    CHECK((told[at].gone && told[at].identity[0] == number));
  CHECK((!told[3].gone && told[3].identity == ann.identity.open.bytes));
}

TEST_CASE("where all who are away hold something the little that was held long ago makes room",
          "[server][player_book]") {
  Quiet t(true, 8);
  remember(t, 1, 64);
  for (int number = 2; number <= 8; ++number) remember(t, number, 1);
  // Guests who come once, take a brick and go: each finds room, and none of them pushes out who has 64.
  std::vector<std::uint8_t> gone;
  for (std::uint8_t guest = 0; guest < 10; ++guest) {
    PeerAddress from = peer(1);
    from.ip[14] = guest;
    Hand& hand = t.hand(from, "guest");
    t.enter(hand);
    AdminCommand gift;
    gift.action = AdminAction::give, gift.player = t.books().sessions.at(0).player;
    gift.id = BlockId::brick, gift.count = 1;
    t.host->admin(gift);
    t.run(3);
    hand.leave(t.now);
    bool kept = false;
    for (int i = 0; i < 5; ++i) {
      t.run();
      for (const KeptPlayer& told : t.host->changed_players()) {
        if (told.gone) gone.push_back(told.identity[0]);
        kept = kept || (!told.gone && told.identity == hand.identity.open.bytes);
      }
    }
    CHECK(kept);
  }
  REQUIRE(gone.size() == 10);
  for (std::uint8_t i = 0; i < 7; ++i) CHECK(gone[i] == i + 2);
  CHECK(std::ranges::find(gone, 1) == gone.end());
  CHECK(t.host->status().players_forgotten == 10);
  // Who walked about and holds nothing takes nobody's place.
  Hand& walker = t.hand(peer(2), "walker");
  t.enter(walker);
  walk_away(t, walker);
  walker.leave(t.now);
  t.run(5);
  CHECK(t.host->status().players_forgotten == 10);
}

TEST_CASE("who a player is can be asked by its id", "[server][player_book]") {
  Quiet t;
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  EditAuthor author;
  t.host->author_of(EntityId{12345}, author);
  CHECK(author.kind == EditAuthor::Kind::world);
  t.host->author_of(t.books().sessions.at(0).player, author);
  CHECK(author.kind == EditAuthor::Kind::player);
  CHECK(author.name == "ann");
  CHECK(author.identity == ann.identity.open.bytes);
}

TEST_CASE("who has left can still be asked for by its id", "[server][player_book]") {
  Quiet t;
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  const EntityId was = t.books().sessions.at(0).player;
  leave(t, ann);
  Hand& bob = t.hand(peer(2), "bob");
  t.enter(bob);
  EditAuthor author;
  t.host->author_of(was, author);
  CHECK(author.name == "ann");
  CHECK(author.identity == ann.identity.open.bytes);
  t.host->author_of(t.books().sessions.at(0).player, author);
  CHECK(author.name == "bob");
}
