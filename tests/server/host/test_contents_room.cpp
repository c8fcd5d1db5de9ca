// What it costs to tell of signs and timers: near whom something changed, not how much there is.
#include "server/host/contents_room.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/decode.h"
#include "tests/catch.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

using Places = std::set<IVec3, ContentsDesk::Less>;

/// A player beside a field of signs, some layers above each other, and the session that is told of them.
struct SignField {
  static constexpr int signs_across = 8, signs = signs_across * signs_across;
  explicit SignField(int layers = 1) : world(setup()), session(sessions.open({}, 1, {})) {
    const std::uint32_t tokens[]{0};
    TickInput join;
    join.joins = tokens;
    world.step(join);
    session.player = world.joined()[0].id;
    session.connection =
        std::make_unique<Connection>(ConnectionSettings{.end = secure::End::server}, secure::SessionKeys{},
                                     PeerAddress{}, secure::Secret{}, Micros{0});
    sessions.leave_greeted(session, SessionState::playing);
    first = block_at(world.players().body[0].position_m) + IVec3{4, 0, 6};
    step({fill(first, {signs_across, signs_across, layers}, "sign")});
    std::vector<AdminCommand> acts;
    for (int i = 0; i < signs * layers; ++i) acts.push_back(write(sign(i), "as it was"));
    step(acts);
  }
  static WorldSetup setup() {
    WorldSetup s;
    s.terrain = TerrainKind::flat;
    s.monsters = s.monsters_max = 0;
    s.players_max = 1;
    return s;
  }
  IVec3 sign(int i) const {
    return first + IVec3{i % signs_across, i / signs_across % signs_across, i / signs};
  }
  static AdminCommand fill(IVec3 at, IVec3 size, const char* kind) {
    AdminCommand act;
    act.action = AdminAction::fill_box;
    act.box = {at, at + size};
    act.id = *BlockRegistry::builtin().find(kind);
    return act;
  }
  static AdminCommand write(IVec3 at, const std::string& text) {
    AdminCommand act;
    act.action = AdminAction::fill_block;
    act.box.min = at;
    act.data.text = SignText::of(text);
    return act;
  }
  AdminCommand move(DVec3 by) const {
    return {AdminAction::teleport, session.player, world.players().body[0].position_m + by};
  }
  void step(std::vector<AdminCommand> acts) {
    TickInput input;
    input.admin = acts;
    world.step(input);
    room.publish(world);
  }
  void idle(int ticks) {
    for (int i = 0; i < ticks; ++i) step({});
  }
  std::string told(int i) const {
    const auto known = session.contents.shown.find(sign(i));
    return known == session.contents.shown.end() ? "" : std::string(known->second.text.view());
  }

  /// What is to be told: of all that the world has within `radius_m` the nearest.
  Places nearest(double radius_m = 48) const {
    std::vector<std::pair<double, IVec3>> all;
    world.contents().each([&](IVec3 block, const BlockData&) {
      const double far_m = length(block_middle(block) - world.players().body[0].position_m);
      if (far_m <= radius_m) all.emplace_back(far_m, block);
    });
    std::ranges::sort(all, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : ContentsDesk::Less{}(a.second, b.second);
    });
    Places out;
    for (std::size_t i = 0; i < std::min(all.size(), ContentsRoom::shown_max); ++i) out.insert(all[i].second);
    return out;
  }

  World world;
  SessionTable sessions{1};
  Session& session;
  ContentsRoom room{sessions, 40};
  IVec3 first{};
};

/// The client's end: what it was told last of each block.
struct Reader {
  explicit Reader(Session& of) : session(of) {}
  /// All that is on its way.
  void hear() {
    for (int round = 0; round < 200; ++round) {
      now += Micros{10'000};
      pass(*session.connection, client);
      while (client.take(StreamId::edits, message)) {
        const auto decoded = decode_server_message(message);
        REQUIRE(decoded);
        const auto& held = std::get<HeldByBlock>(*decoded);
        known.erase(held.block);
        if (!held.data.text.empty() || held.data.due != 0) known[held.block] = held.data;
      }
      pass(client, *session.connection);
    }
  }
  void pass(Connection& from, Connection& to) {
    batch.clear();
    from.poll(now, batch);
    for (const auto& entry : batch.entries()) {
      const auto opened = to.open(now, {}, batch.bytes(entry), scratch);
      REQUIRE(opened);
      REQUIRE(to.accept(now, *opened));
    }
    while (from.next_fate()) {
    }
  }
  Places places() const {
    Places out;
    for (const auto& [block, data] : known) out.insert(block);
    return out;
  }
  Session& session;
  Connection client{ConnectionSettings{}, secure::SessionKeys{}, PeerAddress{}, secure::Secret{}, Micros{0}};
  std::map<IVec3, BlockData, ContentsDesk::Less> known;
  Micros now{0};
  DatagramBatch batch;
  PacketScratch scratch;
  std::vector<std::uint8_t> message;
};

}  // namespace

TEST_CASE("a sign that is written is looked at alone, however many stand near", "[server][contents_room]") {
  SignField field;
  field.idle(16);
  REQUIRE(field.session.contents.shown.size() == SignField::signs);
  const std::uint64_t before = field.room.looked();
  for (int i = 0; i < 48; ++i) {
    const std::string text = "now " + std::to_string(i);
    field.step({SignField::write(field.sign(i % 3), text)});
    CHECK(field.told(i % 3) == text);
  }
  field.step({SignField::write(field.sign(5), "")});
  CHECK(field.session.contents.shown.size() == SignField::signs - 1);
  CHECK(field.room.looked() - before == 49);
  CHECK(field.told(7) == "as it was");
}

TEST_CASE("who moves is told of signs that come near, and anew of those that were far",
          "[server][contents_room]") {
  SignField field;
  field.idle(16);
  field.step({field.move({-200, 0, 0})});
  field.idle(16);
  CHECK(field.session.contents.shown.empty());
  field.step({SignField::write(field.sign(3), "while away")});
  const std::uint64_t looked = field.room.looked();
  field.idle(16);
  CHECK(field.room.looked() == looked);
  field.step({field.move({200, 0, 0})});
  field.idle(16);
  CHECK(field.told(3) == "while away");
  CHECK(field.told(4) == "as it was");
}

TEST_CASE("who walks into interest has been told of a sign by then", "[server][contents_room]") {
  SignField field;
  field.idle(16);
  field.step({field.move({-38, 0, 0})});
  field.idle(16);
  const auto distance_m = [&] {
    return length(block_middle(field.sign(0)) - field.world.players().body[0].position_m);
  };
  REQUIRE(distance_m() > 42);
  field.step({field.move({3.5, 0, 0})});  // too little to look again
  REQUIRE(distance_m() < 40);
  CHECK(field.told(0) == "as it was");
}

TEST_CASE("signs that are written at once in numbers, or in a full stream, are told of later",
          "[server][contents_room]") {
  SignField field;
  field.idle(16);
  // Nothing is acknowledged, so that its queue is full at some time.
  const std::vector<std::uint8_t> much(8000, 1);
  while (field.session.connection->send(StreamId::edits, much) == SendResult::sent) {
  }
  const std::vector<std::uint8_t> little(1, 1);
  while (field.session.connection->send(StreamId::edits, little) == SendResult::sent) {
  }
  field.step({SignField::write(field.sign(2), "unheard")});
  CHECK(field.told(2) == "as it was");
  field.session.connection->reset(StreamId::edits);
  field.idle(16);
  CHECK(field.told(2) == "unheard");
  std::vector<AdminCommand> acts;
  for (int round = 0; round < 5; ++round)
    for (int i = 0; i < SignField::signs; ++i)
      acts.push_back(SignField::write(field.sign(i), "round " + std::to_string(round)));
  field.step(std::move(acts));
  field.idle(16);
  for (int i = 0; i < SignField::signs; ++i) CHECK(field.told(i) == "round 4");
}

TEST_CASE("signs that a player leaves behind are told gone, and not when they are removed meanwhile",
          "[server][contents_room]") {
  SignField field;
  Reader reader(field.session);
  field.idle(16);
  reader.hear();
  CHECK(reader.known.size() == SignField::signs);
  field.step({field.move({-200, 0, 0})});
  field.idle(16);
  reader.hear();
  CHECK(reader.known.empty());
  field.step({SignField::fill(field.sign(3), {1, 1, 1}, "air")});
  field.step({SignField::fill(field.sign(3), {1, 1, 1}, "sign")});
  field.step({field.move({200, 0, 0})});
  field.idle(16);
  reader.hear();
  CHECK(reader.known.size() == SignField::signs - 1);
  CHECK_FALSE(reader.known.contains(field.sign(3)));
}

TEST_CASE("of more signs than a session is told of the nearest are told, and a nearer timer is told at once",
          "[server][contents_room]") {
  constexpr int layers = 25;
  SignField field(layers);
  REQUIRE(field.world.contents().size() == SignField::signs * layers);
  static_assert(SignField::signs * layers > ContentsRoom::shown_max);
  Reader reader(field.session);
  const auto settle = [&] {
    for (int i = 0; i < 12; ++i) field.idle(16), reader.hear();
    CHECK((reader.places() == field.nearest()));
    CHECK(field.session.contents.shown.size() == ContentsRoom::shown_max);
  };
  settle();
  SECTION("an explosive at its feet") {
    const IVec3 feet = block_at(field.world.players().body[0].position_m) + IVec3{1, 1, 0};
    field.step({SignField::fill(feet, {1, 1, 1}, "charge")});
    field.idle(16);
    reader.hear();
    REQUIRE(reader.known.contains(feet));
    CHECK(reader.known[feet].due > field.world.life_tick());
    CHECK((reader.places() == field.nearest()));
  }
  SECTION("one that goes makes room for another") {
    field.step({SignField::fill(field.sign(0), {3, 3, 1}, "air")});
    settle();
  }
  SECTION("who goes to the other side is told of those that are near there") {
    const Places below = reader.places();
    field.step({field.move({20, 4, 0})});
    settle();
    CHECK((reader.places() != below));
  }
  SECTION("one beyond them costs a look at it alone") {
    const std::uint64_t before = field.room.looked();
    field.step({SignField::write(field.sign(SignField::signs * layers - 1), "far above")});
    field.idle(32);
    CHECK(field.room.looked() - before == 1);
  }
}
