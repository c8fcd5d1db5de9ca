#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/message_writer.h"
#include "server/host/ground_cache.h"
#include "server/host/session_table.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Sends the ground to clients that do not compute it: the chunks within radius_m of their players that are
/// loaded, what is in view and near first, each packed once for all (GroundCache), over their bulk streams as
/// these take it. Who kept a chunk of an earlier session and said so is told that it still holds. A chunk is
/// told of as of a tick; the edit room tells its later changes to those who hold it. What is far is said to
/// be gone. The Host's thread. Cost: some 10 us a client and tick while much is missing, 1 us when nothing
/// is.
class GroundRoom {
 public:
  static constexpr double radius_m = 128;
  /// Not acknowledged, of one session: what a path of 10 Mbit/s and 100 ms holds. Behind it waits whatever
  /// becomes more urgent while its player turns.
  static constexpr std::size_t queue_bytes_max = 128 * 1024;
  /// Of all sessions together.
  static constexpr std::size_t bytes_per_tick_max = 1024 * 1024;

  /// Both must outlive this.
  GroundRoom(SessionTable& sessions, HostStatus& status) : sessions_(&sessions), status_(&status) {}

  /// Another world: nobody was sent anything of it.
  void begin_world();
  /// Its client joins, and takes the ground or not.
  void join(Session& session, const Join& join) const;
  /// Chunks that were packed.
  void take(std::span<PackedGround> packed) { cache_.take(packed); }
  /// After a step, behind the changes of its tick: sends what is due, and appends what is to be packed.
  void publish(const World& world, const ChangeLog& log, std::vector<PackRequest>& requests);

 private:
  static constexpr std::size_t candidates_max = pack_requests_max;
  struct Candidate {
    double score_m = 0;
    ChunkCoord at;
  };
  void follow(const World& world, GroundDesk& desk, IVec2 column) const;
  bool tell_gone(Session& session, std::uint32_t tick);
  void look(const World& world, Session& session, std::size_t row);
  void note_candidate(const Candidate& candidate);
  void serve(const World& world, const ChangeLog& log, Session& session, std::vector<PackRequest>& requests);
  bool tell(Session& session, std::uint32_t tick, ChunkCoord at, const GroundCache::Entry& entry);
  bool takes(const Session& session, std::size_t bytes) const;
  bool send(Session& session, std::uint32_t tick, std::span<const std::uint8_t> message);

  SessionTable* sessions_;
  HostStatus* status_;
  GroundCache cache_;
  std::array<Candidate, candidates_max> candidates_;  // best first
  std::size_t candidate_count_ = 0;
  std::size_t first_ = 0;       // whose turn is first: another one in each tick
  std::size_t bytes_left_ = 0;  // of the tick
  MessageWriter writer_;
};

}  // namespace ashlar::server
