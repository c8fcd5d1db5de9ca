#include "server/host/tick_input.h"

#include "tests/catch.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

/// A world and the rooms that its input is collected from, without a Host.
struct Desk {
  Desk() : world(setup()) {}
  static WorldSetup setup() {
    WorldSetup s;
    s.players_max = 4;
    s.monsters = 0;
    return s;
  }
  Session& enter(std::uint16_t port) {
    PeerAddress a;
    a.port = port;
    Session& session = sessions.open(a, port, Identity{static_cast<std::uint8_t>(port)});
    sessions.leave_greeted(session, SessionState::joining);
    return session;
  }
  void step() {
    input.collect(world, sessions, lingering, ground, requests);
    world.step(input.input());
    input.stepped(world, sessions);
  }
  void settle() {
    for (const Joined& joined : world.joined()) {
      sessions[joined.token].player = joined.id;
      sessions[joined.token].state = SessionState::playing;
      sessions[joined.token].delta_yaw = world.players().yaw[slot_of(joined.id)];
    }
  }

  World world;
  SessionTable sessions{4};
  LingeringBodies lingering{4, 4, 0};
  ChunkLoader ground;
  TickInputCollector input{4, Defects{}};
  std::vector<IVec2> requests;
};

}  // namespace

TEST_CASE("who joins enters by its row, and from the next tick on by its commands", "[server][tick_input]") {
  Desk desk;
  Session& ann = desk.enter(1);
  Session& bob = desk.enter(2);
  desk.input.collect(desk.world, desk.sessions, desk.lingering, desk.ground, desk.requests);
  CHECK(desk.input.input().joins.size() == 2);
  CHECK(desk.input.input().joins[1] == 1);
  CHECK(desk.input.input().commands.empty());
  desk.world.step(desk.input.input());
  desk.input.stepped(desk.world, desk.sessions);
  desk.settle();

  PlayerCommand turned;
  turned.yaw = Turn16{1000};
  bob.input.add(number(desk.world.tick()) + 1, turned, number(desk.world.tick()) + 1);
  desk.input.collect(desk.world, desk.sessions, desk.lingering, desk.ground, desk.requests);
  const TickInput next = desk.input.input();
  CHECK(next.joins.empty());
  REQUIRE(next.commands.size() == 2);
  CHECK(next.commands[0].player == ann.player);
  // The world put it down with a yaw of its own: what the client turns is added to that.
  CHECK(next.commands[1].command.yaw == turned.yaw + bob.delta_yaw);
}

TEST_CASE("leaves and admin commands enter one tick", "[server][tick_input]") {
  Desk desk;
  Session& ann = desk.enter(1);
  desk.step();
  desk.settle();
  desk.input.admin({AdminAction::noclip_on, ann.player, {}});
  desk.input.leave(ann.player);
  ann.state = SessionState::greeted;
  CHECK(desk.input.leaves_waiting() == 1);
  CHECK(desk.input.admin_waiting() == 1);
  desk.step();
  CHECK(desk.world.player_count() == 0);
  CHECK(desk.input.leaves_waiting() == 0);
  CHECK(desk.input.admin_waiting() == 0);
}

TEST_CASE("what operators change is spread over ticks, in their order", "[server][tick_input]") {
  Desk desk;
  desk.step();
  const auto fill = [&](IVec3 size, BlockId id = BlockId::stone) {
    AdminCommand act;
    act.action = AdminAction::fill_box;
    act.box = {{0, 0, 0}, size};
    act.id = id;
    desk.input.admin(act);
  };
  AdminCommand hold;
  hold.action = AdminAction::fill_block;
  fill({16, 16, 15});  // 3 840 of a tick's 4 096
  fill({16, 16, 1});   // and the rest
  desk.input.admin(hold);
  fill({1, 1, 1});
  fill({16, 16, 16});
  desk.input.admin(hold);
  fill({0, 9, 9}), fill({1 << 30, 1 << 30, 1 << 30}), fill({4097, 1, 1});  // which the world refuses
  AdminCommand blast;
  blast.action = AdminAction::blast;
  blast.radius_m = 9;
  desk.input.admin(blast), desk.input.admin(blast);
  desk.input.admin({AdminAction::noclip_on, EntityId{1}, {}});
  const std::vector<std::size_t> ticks = {4, 1, 2, 4, 1};  // who flies waits for nobody
  std::size_t waiting = 12;
  CHECK(desk.input.admin_waiting() == waiting);
  for (const std::size_t due : ticks) {
    CHECK(desk.input.input().admin.size() == due);
    desk.step();
    CHECK(desk.input.admin_waiting() == (waiting -= due));
  }
  CHECK(waiting == 0);
}

TEST_CASE("with no room to log blocks, who is sent or given something waits for nothing",
          "[server][tick_input]") {
  Desk desk;
  desk.step();
  AdminCommand fill;
  fill.action = AdminAction::fill_box;
  fill.box = {{0, 0, 0}, {1, 1, 1}};
  AdminCommand gift;
  gift.action = AdminAction::give;
  desk.input.allow_admin_blocks(0);
  desk.input.admin(fill), desk.input.admin(gift);
  CHECK(desk.input.ground_waits());
  REQUIRE(desk.input.input().admin.size() == 1);
  CHECK(desk.input.input().admin[0].action == AdminAction::give);
  desk.step();
  CHECK(desk.input.admin_waiting() == 1);
  desk.input.allow_admin_blocks(4096);
  desk.step();
  CHECK_FALSE(desk.input.ground_waits());
}

TEST_CASE("where the world turns a player its session makes up for it", "[server][tick_input]") {
  Desk desk;
  Session& ann = desk.enter(1);
  desk.step();
  desk.settle();
  desk.step();
  const Turn16 before = ann.delta_yaw;
  ann.yaw_given = ann.yaw_given - Turn16{300};  // as if the world had turned it by 300 more than it was told
  desk.input.stepped(desk.world, desk.sessions);
  CHECK(ann.delta_yaw == before + Turn16{300});
}

}  // namespace ashlar::server
