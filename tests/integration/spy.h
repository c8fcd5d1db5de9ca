#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "client_sim/client/view.h"
#include "world/collide/space.h"
#include "world/sim/world.h"

namespace ashlar::testing {

/// Sits behind a client and compares whom it was told of with whom its player sees: what a changed client
/// would show of those behind walls. Rays from the eye to foot, middle and top of a body say who is seen.
class Spy {
 public:
  static constexpr std::uint32_t ahead_ticks = 6, idle_ticks = 12;  ///< 100 and 200 ms at 60 Hz

  /// Each a tick of an entity.
  struct Report {
    std::uint64_t told = 0;    ///< the client knew of it
    std::uint64_t unseen = 0;  ///< of those: it was not to be seen then, nor for the next 200 ms
    std::uint64_t seen = 0;
    std::uint64_t late = 0;  ///< of those: the client had not known of it for 100 ms
    double unseen_share() const {
      return told == 0 ? 0.0 : static_cast<double>(unseen) / static_cast<double>(told);
    }
  };

  /// Call after each step of the server. Monsters and players count.
  void look(const World& world, const client_sim::View& view, EntityId own) {
    const int row = world.player_row(own);
    if (row < 0) return;
    const std::uint32_t tick = number(world.tick());
    const Body& body = world.players().body[static_cast<std::size_t>(row)];
    // A respawn or a teleport shows others at once.
    if (length(body.position_m - before_) > jump_m) others_.clear();
    before_ = body.position_m;
    told_.clear();
    view.visit([this](const EntityRecord& e, CellCoord, std::uint32_t) { told_.push_back(e.id); });
    std::ranges::sort(told_);
    const DVec3 eye = body.position_m + DVec3{0, 0, world.setup().rules.player_eye_m};
    for (std::size_t i = 0; i < world.monsters().rows(); ++i)
      look_at(world, eye, world.monsters().id[i], world.monsters().body[i].position_m,
              world.monsters().traits_at(i).shape, tick);
    for (std::size_t i = 0; i < world.players().rows(); ++i)
      if (world.players().id[i] != own)
        look_at(world, eye, world.players().id[i], world.players().body[i].position_m,
                world.setup().rules.player, tick);
  }
  const Report& report() const { return report_; }

 private:
  static constexpr double jump_m = 1, reach_m = 56;  // of HostConfig's 64
  struct Other {
    std::uint32_t since = 0;  ///< tick since which the client knows of it; 0: it does not
    std::uint32_t first = 0;  ///< tick of the first look
    DVec3 before;
    std::deque<std::uint32_t> unseen;  ///< ticks at which the client knew of it, not seen since
  };
  void look_at(const World& world, DVec3 eye, EntityId id, DVec3 base, const Cylinder& shape,
               std::uint32_t tick) {
    if (id == EntityId{0}) return;
    Other& other = others_[id];
    if (other.first == 0 || length(base - other.before) > jump_m) other = {0, tick, base, {}};
    // Who comes from beyond what is told of at all has not been hidden.
    if (length(base - eye) > reach_m) other.first = tick;
    other.before = base;
    const bool told = std::ranges::binary_search(told_, id);
    if (!told) other.since = 0;
    if (told && other.since == 0) other.since = tick;
    bool sees = false;
    for (const double share : {0.05, 0.5, 0.95})
      sees = sees || space_sees(world.space(), eye, base + DVec3{0, 0, share * shape.height_m});
    if (sees) {
      ++report_.seen;
      const bool long_enough = tick - other.first > settle_ticks;
      report_.late += long_enough && (!told || tick - other.since < ahead_ticks) ? 1 : 0;
      other.unseen.clear();
    }
    while (!other.unseen.empty() && other.unseen.front() + idle_ticks < tick)
      ++report_.unseen, other.unseen.pop_front();
    report_.told += told ? 1 : 0;
    if (told && !sees) other.unseen.push_back(tick);
  }

  /// A first look finds what was told before; so long after it who is seen should have been told of.
  static constexpr std::uint32_t settle_ticks = 2 * idle_ticks;

  std::map<EntityId, Other> others_;
  std::vector<EntityId> told_;
  DVec3 before_;
  Report report_;
};

}  // namespace ashlar::testing
