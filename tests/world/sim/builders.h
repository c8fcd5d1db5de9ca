#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tests/catch.h"
#include "tests/made_chunk.h"
#include "world/sim/block_acts.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"

// A world of given blocks with players in it who look somewhere, dig and place.

namespace ashlar::testing {

struct Builders {
  /// @param ground  what stands where, a BlockId of an IVec3; the ground is solid below z = 4 in most tests
  template <class Block>
  explicit Builders(std::uint32_t players, Block ground, Rules rules = {}, std::uint32_t monsters = 0,
                    const std::function<void(WorldSetup&)>& more = {}) {
    setup.players_max = players;
    setup.monsters = setup.monsters_max = monsters;
    setup.rules = rules;
    setup.make_chunk = [ground](const Terrain&, ChunkCoord at) { return made_chunk(at, ground); };
    if (more) more(setup);
    begin();
  }

  static BlockId plain(IVec3 b) { return b.z < 4 ? BlockId::stone : BlockId::air; }

  DVec3 eye(std::size_t who) const {
    return world->players().body[who].position_m + DVec3{0, 0, setup.rules.player_eye_m};
  }
  /// From the next step on the player looks there.
  void look(std::size_t who, DVec3 at) {
    const DVec3 way = at - eye(who);
    commands[who].yaw = turn_towards(xy(way));
    const double turns = std::atan2(way.z, length(xy(way))) / (2 * 3.14159265358979);
    commands[who].pitch = Turn16{static_cast<std::uint16_t>(static_cast<std::int32_t>(turns * 65536))};
  }
  void put(std::size_t who, DVec3 base) {
    const AdminCommand to{AdminAction::teleport, ids[who], base};
    step_admin(to);
  }
  void step_admin(const AdminCommand& command) {
    TickInput input = filled();
    input.admin = std::span(&command, 1);
    world->step(input);
  }
  /// An act of the player's next number, for the next step.
  BlockAct act(std::size_t who, BlockActKind kind, IVec3 block, BlockFace face = BlockFace::top,
               BlockId id = BlockId::brick) {
    return {ids[who], ++numbers[who], kind, face, block, id};
  }
  void step(std::span<const BlockAct> acts = {}) {
    TickInput input = filled();
    input.acts = acts;
    world->step(input);
  }
  /// Does it alone in a step. @return its verdict
  ActVerdict verdict_of(const BlockAct& given) {
    step(std::span(&given, 1));
    const auto verdicts = world->block_acts().verdicts();
    const auto found = std::ranges::find_if(verdicts, [&](const BlockVerdict& v) {
      return v.player == given.player && v.number == given.number;
    });
    REQUIRE(found != verdicts.end());
    return found->verdict;
  }
  /// Steps without acts until the player's cool-down is over.
  void rest() {
    for (int i = 0; i < 20; ++i) step();
  }
  BlockId block(IVec3 at) const { return world->space().voxels->block(at); }

  WorldSetup setup;
  std::unique_ptr<World> world;
  std::vector<EntityId> ids;
  std::vector<PlayerCommand> commands;
  std::vector<std::uint32_t> numbers;

 private:
  void begin() {
    world = std::make_unique<World>(setup);
    const std::vector<std::uint32_t> tokens(setup.players_max, 1);
    TickInput join;
    join.joins = tokens;
    world->step(join);
    for (const Joined& joined : world->joined()) ids.push_back(joined.id);
    commands.resize(setup.players_max);
    numbers.resize(setup.players_max);
  }
  TickInput filled() {
    inputs_.clear();
    for (std::size_t i = 0; i < ids.size(); ++i) inputs_.push_back({ids[i], commands[i]});
    TickInput input;
    input.commands = inputs_;
    return input;
  }
  std::vector<PlayerInput> inputs_;
};

}  // namespace ashlar::testing
