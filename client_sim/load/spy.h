#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/load/unseen_ledger.h"
#include "world/collide/space.h"
#include "world/sim/ground_generator.h"
#include "world/voxel/volume.h"

namespace ashlar::client_sim {

/// What spies learned, of one or of many together.
struct SpyReport {
  std::uint32_t spies = 0;
  double told_s = 0;    ///< others that were told of, in seconds of each
  double unseen_s = 0;  ///< of these, so long they were not seen then, nor in the idle_s that followed
  double share() const { return told_s > 0 ? unseen_s / told_s : 0; }
  void merge(const SpyReport& other);
};

/// The walls of one server's worlds as a cheat works them out: the ground of its seed as it was made, without
/// what players changed, and its maps. For all spies of a process. One thread.
class SpyWalls {
 public:
  static constexpr std::size_t chunks_max = 8192;
  using Maps = std::function<std::shared_ptr<const PlacedMap>(const WelcomeMap&)>;
  explicit SpyWalls(Maps maps) : maps_(std::move(maps)) {}

  /// Takes up the world of a client's welcome. False: it is not known here (a map, or how its ground is
  /// made).
  bool enter(const Client& client);
  /// Does a straight line meet nothing? Nothing: there is no room for the ground on its way.
  std::optional<bool> sees(const Client& client, DVec3 from, DVec3 to);

 private:
  bool load(DVec3 from, DVec3 to);

  Maps maps_;
  std::uint64_t seed_ = 0;
  std::vector<std::uint64_t> hashes_;  // of the maps
  bool known_ = false, entered_ = false;
  std::vector<std::shared_ptr<const PlacedMap>> held_;
  std::optional<GroundGenerator> generator_;
  VoxelVolume ground_;
};

/// A client that makes of what it is told what walls are to hide: of everybody whom its view has, whether it
/// sees him, and whether he stays unseen for a while. What that is under line-of-sight culling is what a wall
/// hack is worth there. One thread.
class Spy {
 public:
  static constexpr double idle_s = 0.2;
  explicit Spy(SpyWalls& walls) : walls_(&walls) {}

  /// Behind each Client::advance(): once for each tick that is told. Cost: three rays for each entity known.
  void look(const Client& client);
  SpyReport report(const Client& client) const;

 private:
  struct Known {
    UnseenLedger ledger;
    std::uint32_t tick = 0;  // when it was last told
  };
  SpyWalls* walls_;
  std::uint64_t world_ = 0;
  std::uint32_t tick_ = 0;
  std::map<EntityId, Known> known_;
  std::uint64_t told_ = 0, unseen_ = 0;  // looks, at each entity
  std::vector<ViewEntity> seen_;         // scratch
};

}  // namespace ashlar::client_sim
