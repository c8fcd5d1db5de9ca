#pragma once
#include <bitset>
#include <cstdint>
#include <vector>

#include "server/host/block_frames.h"
#include "server/host/session.h"
#include "world/sim/told_apart.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Whom a shooter's picture showed between other states than its command says. A command names the two
/// snapshots that its picture was made of. Where the budget or overload left some blocks out of these, or
/// they were in a part that was lost, those in them were shown between older states: the ones that the client
/// had acknowledged of their blocks when it gave the command. The Host's thread; nothing allocates once
/// grown.
class SeldomTold {
 public:
  /// In one shot's way; more are taken to have been told of with the rest.
  static constexpr std::size_t targets_max = 32;

  /// Appends them for a command that may fire, as far as they are near its way. Nobody, and no cost, where
  /// all of the client's snapshots of the last half second were whole. Else some 4 ns an entity that it is
  /// told of, and 1 ns for each block in each of its snapshots of that time.
  /// @param frames   who was in which block
  /// @param command  turned as it will be played
  /// @param given    the tick that was to be played next when it was given
  void find(const World& world, const BlockFrames& frames, const Session& session,
            const PlayerCommand& command, std::uint32_t given, std::vector<ToldApart>& out);

 private:
  struct Target {
    EntityId id{};
    const FrameBlock* block = nullptr;
    std::uint32_t from = 0, from_before = 0;  // ticks at which it was told up to what is seen; 0: none
    std::uint32_t to = 0;                     // the next one
  };
  void list_targets(const BlockFrames& frames, const Session& session, DVec3 eye_m, DVec3 way);

  std::vector<Target> targets_;
  std::bitset<65536> wanted_;  // their blocks, by number
};

}  // namespace ashlar::server
