#pragma once
#include <cstdint>
#include <optional>

#include "client_sim/client/client.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

/// A player who builds and digs, one job after the other: a tower under its own feet, a bridge off its edge,
/// a tunnel down a stair, and where it has a chest and something to put into it, that before its feet. A
/// treasure in its way it opens as often as it digs it.
/// It knows nothing of the ground but where it stands, what it was told of what is before it and what became
/// of its acts; a job that does not go on is left for the next. Where blocks are not free it tunnels until it
/// holds some, builds with what it holds most of, and throws some away now and then. Seeded; same views, same
/// acts.
class Builder {
 public:
  explicit Builder(std::uint64_t seed) : rng_{seed} {}

  /// The command for now. Precondition: the client has its own player.
  PlayerCommand think(const Client& client);
  /// Does what the last think() wanted, and hears what became of it. Behind each think().
  void act(Client& client);

 private:
  enum class Job : std::uint8_t { tower, bridge, tunnel, chest };
  struct Wish {
    BlockActKind kind{};
    IVec3 block;
    BlockFace face{};
    BlockId id = BlockId::air;
    std::uint8_t count = 0;  // of items to move
  };

  /// That a time takes, at least one.
  std::uint32_t ticks(double seconds) const;
  void next_job(std::uint32_t tick);
  void choose_block(const Client& client);
  void go_to(std::uint8_t phase, std::uint32_t tick) { phase_ = phase, since_ = tick; }
  void wish(const Wish& wish, std::uint8_t phase, std::uint32_t tick);
  void tower(const Body& body, std::uint32_t tick);
  void bridge(const Body& body, std::uint32_t tick);
  void tunnel(const Client& client, std::uint32_t tick);
  void chest(const Client& client, std::uint32_t tick);
  void look_at(const Body& body, double eye_m, DVec3 at);
  std::uint32_t do_wish(Client& client) const;

  Rng rng_;
  std::uint16_t tick_rate_hz_ = 60;
  Job job_ = Job::tunnel;  // the first is a tower
  std::uint8_t phase_ = 0;
  std::uint32_t since_ = 0;  // command tick in which the phase began
  std::uint32_t count_ = 0;  // blocks, or steps of the stair, of this job
  std::uint32_t dug_ = 0;    // of the present step's three
  BlockFace way_ = BlockFace::east;
  IVec3 base_{};
  PlayerCommand command_;
  BlockId block_ = BlockId::brick;  // to build with; air: it has none
  std::optional<BlockId> chest_;    // the kind, while it has one to place
  bool throws_ = false;
  bool stores_ = false;  // leaves its tunnel after a step: it has a chest and what to put into it
  std::optional<Wish> wish_;
  std::uint32_t waits_for_ = 0;      // number of the act whose end is awaited; 0: none
  std::optional<ActVerdict> ended_;  // as what it ended
};

}  // namespace ashlar::client_sim
