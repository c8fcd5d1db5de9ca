// What is promised of edits: when everybody knows of them, and what they cost.
#include <algorithm>

#include "protocol/datagram.h"
#include "tests/server/host/host_table.h"
#include "world/voxel/chunk.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

AdminCommand one_block(IVec3 at, BlockId id) {
  return {.action = AdminAction::fill_box, .box = {at, at + IVec3{1, 1, 1}}, .id = id};
}

/// A flat world, for as many as are asked for, and nobody else.
struct Site : Table {
  explicit Site(std::uint32_t clients) : Table(clients, {}, config_for(clients)) {
    setup.terrain = TerrainKind::flat;
    setup.monsters = 0;
    setup.rules.block_reach_m = 64;
    setup.rules.block_interval_s = 0;
    restart();
    for (std::uint16_t i = 0; i < clients; ++i) enter(hand(peer(static_cast<std::uint16_t>(1000 + i))));
    run(120);  // all columns are told
    for (Hand& h : hands) h.edits.clear(), h.answers.clear();
  }
  static HostConfig config_for(std::uint32_t clients) {
    HostConfig config;
    config.clients_per_address_max = clients;
    return config;
  }
};

struct Cost {
  std::size_t messages = 0, changes = 0, bytes = 0;
};

Cost cost_to(const Hand& h) {
  Cost sum;
  for (const Hand::HeardEdits& e : h.edits) {
    ++sum.messages;
    sum.changes += e.changes.size();
    sum.bytes += e.bytes;
  }
  return sum;
}

}  // namespace

TEST_CASE("all who are near know of an edit with the snapshot of its tick", "[server][host][edit_promises]") {
  Site site(8);
  const std::int32_t z = flat_surface_m + 20;
  for (int round = 0; round < 20; ++round) {
    for (Hand& h : site.hands) h.edits.clear();
    const IVec3 at{round, 2 * round - 20, z};
    site.host->admin(one_block(at, BlockId::brick));
    const std::uint32_t before = number(site.host->world().tick());
    site.run();
    const std::uint32_t now = number(site.host->world().tick());
    REQUIRE(now == before + 1);
    REQUIRE(site.host->world().space().voxels->block(at) == BlockId::brick);
    for (Hand& h : site.hands) {
      CAPTURE(round, h.at.port);
      // The same turn of the host has brought both.
      REQUIRE(h.edits.size() == 1);
      CHECK(h.edits[0].tick == now);
      CHECK(h.snapshot_tick == now);
      REQUIRE(h.edits[0].changes.size() == 1);
      CHECK(h.edits[0].changes[0].block == static_cast<std::uint16_t>(BlockId::brick));
      CHECK(h.edits[0].changes[0].index == index_in_chunk(local_in_chunk(at)));
    }
  }
}

TEST_CASE("while nothing more can be saved treasures are not opened, and chests are",
          "[server][host][edit_promises]") {
  Site site(1);
  const BlockRegistry& kinds = *site.host->world().setup().blocks;
  const BlockId what = GENERATE(0, 1) == 0 ? kinds.treasure() : *kinds.find("chest");
  Hand& ann = site.hands.front();
  const PlayerTable& players = site.host->world().players();
  const IVec3 at = block_at(players.body[0].position_m) + IVec3{2, 0, 2};
  site.host->admin(one_block(at, what));
  site.host->note_saving(0, false);
  site.run(5);
  Acts acts;
  acts.world = ann.welcomes.back().world;
  acts.tick = number(site.host->world().tick());
  acts.act_count = 1;
  acts.acts[0].number = 1;
  acts.acts[0].kind = BlockActKind::open;
  acts.acts[0].block = at;
  REQUIRE(ann.send(acts) == SendResult::sent);
  site.run(20);
  REQUIRE(ann.answers.size() == 1);
  CHECK((ann.answers[0].verdict == ActVerdict::not_saved) == (what == kinds.treasure()));
  CHECK(site.host->world().space().voxels->block(at) == what);
}

TEST_CASE("fifty who dig in one chunk cost each of them no more than the blocks that change",
          "[server][host][edit_promises]") {
  constexpr std::uint32_t diggers = 50;
  Site site(diggers);
  // Fifty bricks above the ground, in one chunk: what is told does not hang on who dug.
  const auto brick = [](std::uint32_t i) {
    return IVec3{static_cast<std::int32_t>(i % 10), static_cast<std::int32_t>(i / 10), flat_surface_m + 8};
  };
  const auto change_all = [&](BlockId id, bool at_once) {
    for (Hand& h : site.hands) h.edits.clear();
    for (std::uint32_t i = 0; i < diggers; ++i) {
      AdminCommand change = one_block(brick(i), id);
      // Each by its own player, as BlockActs has it.
      change.player = site.host->world().players().id[at_once ? i : 0];
      site.host->admin(change);
      if (!at_once) site.run();
    }
    site.run(5);
  };
  change_all(BlockId::brick, true);
  change_all(BlockId::air, true);
  const Cost fifty = cost_to(site.hands.front());
  for (const Hand& h : site.hands) CHECK(cost_to(h).bytes == fifty.bytes);
  change_all(BlockId::brick, true);
  change_all(BlockId::air, false);
  const Cost one = cost_to(site.hands.front());
  CAPTURE(fifty.messages, fifty.bytes, one.messages, one.bytes);
  CHECK(fifty.changes == diggers);
  CHECK(one.changes == diggers);
  // Four bytes a block and a message's head, however many dig.
  CHECK(fifty.messages == 1);
  CHECK(fifty.bytes <= 4 * diggers + 80);
  CHECK(one.messages == diggers);
  CHECK(one.bytes <= diggers * (4 + 80));
  CHECK(fifty.bytes < one.bytes);
}
