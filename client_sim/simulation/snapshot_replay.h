#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "client_sim/harness/byte_report.h"
#include "server/host/cue_board.h"
#include "server/host/packed_snapshot.h"
#include "server/host/replicator.h"
#include "world/math/random.h"
#include "world/sim/world.h"

namespace ashlar::simulation {

/// How a recorded match is told to its players once more.
struct SnapshotReplayOptions {
  std::uint32_t every_ticks = 1;
  std::uint32_t ack_ticks = 4;  ///< from a packet to its acknowledgement
  double loss = 0;              ///< of packets down
  std::uint64_t seed = 1;
  double interest_radius_m = 64;
  std::uint32_t snapshot_bytes_max = 16 * datagram_bytes_max;
};

/// Tells every player of a world of each tick as a server's publisher would, packed, over connections that
/// are only thought of: what is sent arrives or is lost, and its fate is known some ticks later. Nothing
/// travels on streams, and nothing up. One thread.
class SnapshotReplay {
 public:
  SnapshotReplay(const SnapshotReplayOptions& options, std::uint32_t tick_rate_hz);

  /// After each tick of the world.
  void publish(const World& world);
  /// Of all players that there were.
  client_sim::ByteReport report() const;
  std::size_t told() const;  ///< players that are told on: those who are there

 private:
  struct Fate {
    std::uint32_t due = 0;
    Connection::Fate fate;
  };
  /// What telling a player on takes.
  struct Session {
    server::ClientBlocks blocks;
    std::deque<Fate> fates;
    std::uint64_t sequence = 0;
    std::uint32_t told_tick = 0;
  };
  struct Viewer {
    std::unique_ptr<Session> session;  // null: it has gone, and the sums are left
    client_sim::ByteMeter meter;
    std::uint64_t packets = 0, bytes = 0;
    std::uint32_t snapshots = 0;
  };
  void forget_gone(const World& world);
  void tell(const World& world, std::size_t row, Viewer& viewer);

  SnapshotReplayOptions options_;
  std::uint32_t tick_rate_hz_;
  Rng rng_;
  server::Replicator replicator_;
  server::PackedWorld packed_;
  server::CueBoard cues_;
  server::PackedSnapshot snapshot_;
  std::map<EntityId, std::unique_ptr<Viewer>> viewers_;
};

}  // namespace ashlar::simulation
