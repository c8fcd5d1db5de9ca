// Chests and signs through the whole chain: what one client does with them the other is told, and both hold
// what the server says that they hold.

#include "tests/catch.h"
#include "tests/integration/hosted_client.h"
#include "world/sim/block_acts.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// A player who stands before a block of that kind.
struct Owner {
  explicit Owner(const char* kind) : play(survival_setup()) {
    play.enter();
    play.run(1.5);
    const IVec3 feet = block_at(play.client.own()->body.position_m + DVec3{0, 0, 0.5});
    at = feet + IVec3{2, 0, 0};
    AdminCommand fill;
    fill.action = AdminAction::fill_box;
    fill.box = {feet + IVec3{1, 0, 0}, feet + IVec3{2, 1, 3}};
    play.host->admin(fill);
    fill.box = {at, at + IVec3{1, 1, 1}};
    fill.id = *BlockRegistry::builtin().find(kind);
    play.host->admin(fill);
    const DVec3 look = to_dvec3(at) + DVec3{0.4, 0.5, 0.4} - play.client.own()->body.position_m -
                       DVec3{0, 0, play.world().setup().rules.player_eye_m};
    PlayerCommand command;
    command.yaw = turn_towards(xy(look));
    command.pitch = turn_towards({length(xy(look)), look.z});
    play.client.set_command(command);
    play.run(0.5);
  }
  ActVerdict settled(std::uint32_t number) {
    REQUIRE(number != 0);
    const auto answer = play.settled(number);
    return answer ? answer->verdict : ActVerdict::progress;
  }
  const BlockData* truth() const { return play.world().contents().find(at); }
  HostedClient play;
  IVec3 at{};
};

}  // namespace

TEST_CASE("a client keeps items in a chest, and is told what it holds", "[integration][chests]") {
  Owner o("chest");
  if (GENERATE(false, true)) {
    client_sim::LinkConditions lossy;
    lossy.loss = 0.1;
    o.play.conditions(lossy);
  }
  client_sim::Client& client = o.play.client;
  CHECK(o.play.host->give("nobody", BlockId::clay, 70).players == 0);
  REQUIRE(o.play.host->give("ada", BlockId::clay, 70).players == 1);
  o.play.run(0.5);
  CHECK(client.inventory().count(BlockId::clay) == 70);
  CHECK(client.put_into_block(BlockId::clay, 1) == 0);  // none is open
  REQUIRE(o.settled(client.open_block(o.at, BlockFace::west)) == ActVerdict::done);
  REQUIRE(client.opened().has_value());
  CHECK(client.opened()->block == o.at);
  CHECK(client.opened()->data.empty());
  REQUIRE(o.settled(client.put_into_block(BlockId::clay, 40)) == ActVerdict::done);
  CHECK(client.opened()->data.items.count(BlockId::clay) == 40);
  CHECK(client.inventory().count(BlockId::clay) == 30);
  REQUIRE(o.settled(client.take_from_block(BlockId::clay, 64)) == ActVerdict::done);
  CHECK(client.opened()->data.empty());
  CHECK(client.inventory().count(BlockId::clay) == 70);
  REQUIRE(o.settled(client.put_into_block(BlockId::clay, 10)) == ActVerdict::done);
  // An operator puts something in: it is seen while it is open.
  AdminCommand fill;
  fill.action = AdminAction::fill_block;
  fill.box.min = o.at;
  fill.data.items.slots[3] = {BlockId::brick, 7};
  o.play.host->admin(fill);
  o.play.run(1);
  CHECK(client.opened()->data == fill.data);
  REQUIRE(o.truth() != nullptr);
  CHECK(*o.truth() == fill.data);
  REQUIRE(o.settled(client.close_block()) == ActVerdict::done);
  o.play.run(0.5);
  CHECK_FALSE(client.opened().has_value());
}

TEST_CASE("who comes near to a sign reads it, and reads no more of one that is gone",
          "[integration][chests]") {
  Owner o("sign");
  client_sim::Client& client = o.play.client;
  REQUIRE(o.settled(client.write_sign(o.at, BlockFace::west, "to the mine")) == ActVerdict::done);
  o.play.run(0.5);
  CHECK(client.sign_text(o.at) == "to the mine");
  CHECK(client.write_sign(o.at, BlockFace::west, "a\nb") == 0);
  o.play.client.leave();
  o.play.run(1);
  client_sim::ClientConfig bob = HostedClient::client_config(o.play.world().setup(), "bob");
  bob.seed = secure::SeededEntropy(78).secret();
  o.play.client = client_sim::Client(std::move(bob));
  o.play.enter();
  o.play.run(1);
  CHECK(client.sign_text(o.at) == "to the mine");
  AdminCommand fill;
  fill.action = AdminAction::fill_box;
  fill.box = {o.at, o.at + IVec3{1, 1, 1}};
  o.play.host->admin(fill);
  o.play.run(1);
  CHECK(client.sign_text(o.at).empty());
}

TEST_CASE("a client is told when the timer of a block near it runs out, and how late in the day it is",
          "[integration][chests]") {
  Owner o("sapling");
  client_sim::Client& client = o.play.client;
  o.play.run(1);
  const auto left = client.timer_ticks(o.at);
  REQUIRE(left.has_value());
  const World& world = o.play.world();
  CHECK(client.life_tick() <= world.life_tick());
  REQUIRE(o.truth() != nullptr);
  CHECK(client.life_tick() + *left == o.truth()->due);
  CHECK(client.sky() == 15);
  CHECK_FALSE(client.timer_ticks(o.at + IVec3{1, 0, 0}).has_value());
  AdminCommand fill;
  fill.action = AdminAction::fill_box;
  fill.box = {o.at, o.at + IVec3{1, 1, 1}};
  o.play.host->admin(fill);
  o.play.run(1);
  CHECK_FALSE(client.timer_ticks(o.at).has_value());
}

TEST_CASE("a client forgets the sign and the timer that it leaves behind", "[integration][chests]") {
  const char* const kind = GENERATE("sign", "sapling");
  Owner o(kind);
  client_sim::Client& client = o.play.client;
  client_sim::LinkConditions lossy;
  lossy.loss = 0.1;
  o.play.conditions(lossy);
  AdminCommand fill;
  fill.action = AdminAction::fill_block;
  fill.box.min = o.at;
  fill.data.text = SignText::of("to the mine");
  const bool sign = std::string(kind) == "sign";
  if (sign) o.play.host->admin(fill);
  const auto knows = [&] { return !client.sign_text(o.at).empty() || client.timer_ticks(o.at).has_value(); };
  o.play.run(1);
  REQUIRE(knows());
  const DVec3 home = client.own()->body.position_m;
  o.play.host->admin({AdminAction::teleport, client.player(), home + DVec3{300, 0, 60}});
  o.play.run(2);
  CHECK_FALSE(knows());
  // Meanwhile it is removed, and another block of the kind placed there that holds nothing, or stone.
  fill = {};
  fill.action = AdminAction::fill_box;
  fill.box = {o.at, o.at + IVec3{1, 1, 1}};
  o.play.host->admin(fill);
  o.play.run(0.5);
  fill.id = sign ? *BlockRegistry::builtin().find(kind) : BlockId::stone;
  o.play.host->admin(fill);
  o.play.host->admin({AdminAction::teleport, client.player(), home});
  o.play.run(2);
  REQUIRE(length(client.own()->body.position_m - home) < 5);
  CHECK_FALSE(knows());
}

TEST_CASE("a client whose session goes on knows no chest and no sign of before that is none any more",
          "[integration][chests]") {
  Owner o("chest");
  client_sim::Client& client = o.play.client;
  const IVec3 kept = o.at + IVec3{0, 0, 1}, lost = o.at + IVec3{0, 1, 0};
  AdminCommand fill;
  fill.id = *BlockRegistry::builtin().find("sign");
  for (const IVec3 at : {kept, lost}) {
    fill.action = AdminAction::fill_box;
    fill.box = {at, at + IVec3{1, 1, 1}};
    o.play.host->admin(fill);
    fill.action = AdminAction::fill_block;
    fill.data.text = SignText::of("to the mine");
    o.play.host->admin(fill);
  }
  REQUIRE(o.settled(client.open_block(o.at, BlockFace::west)) == ActVerdict::done);
  REQUIRE(client.opened().has_value());
  REQUIRE(client.sign_text(kept) == "to the mine");
  REQUIRE(client.sign_text(lost) == "to the mine");
  // The network is away for longer than the server waits, and both the chest and a sign are.
  o.play.up.partition(o.play.now + Micros{13'000'000});
  o.play.down.partition(o.play.now + Micros{13'000'000});
  o.play.run(1);
  fill = {};
  fill.action = AdminAction::fill_box;
  for (const IVec3 at : {o.at, lost}) {
    fill.box = {at, at + IVec3{1, 1, 1}};
    o.play.host->admin(fill);
  }
  o.play.run(15);
  REQUIRE(client.stats().resumes == 1);
  REQUIRE(client.stats().worlds == 1);
  CHECK_FALSE(client.opened().has_value());
  CHECK(client.sign_text(lost).empty());
  CHECK(client.sign_text(kept) == "to the mine");
}
