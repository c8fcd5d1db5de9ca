// What it costs to tell of signs and timers: near whom something changed, not how much there is.
#include "server/host/contents_room.h"

#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

/// A player beside a field of signs, and the session that is told of them.
struct SignField {
  static constexpr int signs_across = 8, signs = signs_across * signs_across;
  SignField() : world(setup()), session(sessions.open({}, 1, {})) {
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
    std::vector<AdminCommand> acts(1);
    acts[0].action = AdminAction::fill_box;
    acts[0].box = {first, first + IVec3{signs_across, signs_across, 1}};
    acts[0].id = *BlockRegistry::builtin().find("sign");
    step(acts);
    acts.clear();
    for (int i = 0; i < signs; ++i) acts.push_back(write(sign(i), "as it was"));
    step(acts);
  }
  static WorldSetup setup() {
    WorldSetup s;
    s.terrain = TerrainKind::flat;
    s.monsters = s.monsters_max = 0;
    s.players_max = 1;
    return s;
  }
  IVec3 sign(int i) const { return first + IVec3{i % signs_across, i / signs_across, 0}; }
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

  World world;
  SessionTable sessions{1};
  Session& session;
  ContentsRoom room{sessions, 40};
  IVec3 first{};
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
