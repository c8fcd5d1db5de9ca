// What must hold of the ground that clients are sent.

#include <string>
#include <vector>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

namespace ashlar::simulation {
namespace {

using client_sim::ClientState;
using client_sim::StreamedGround;

std::string chunk_name(ChunkCoord at) {
  return "chunk " + std::to_string(at.x) + " " + std::to_string(at.y) + " " + std::to_string(at.z);
}

/// The session of a seat whose client is sent the ground and plays; else null.
const server::SessionAudit* streaming(const Match& match, const Seat& seat) {
  if (seat.hostile() || seat.client() == nullptr || match.host() == nullptr) return nullptr;
  if (seat.client()->state() != ClientState::playing) return nullptr;
  const server::SessionAudit* session = match.session_of(seat);
  return session != nullptr && session->streams_ground && session->playing ? session : nullptr;
}

/// Who has all that it was sent, whatever was lost and came late on the way, holds the server's ground to the
/// last block, as far as it may know it. Some chunks of each client are looked at in each tick.
class GroundIsTrue final : public Invariant {
 public:
  std::string_view name() const override { return "ground that was sent is the server's"; }
  std::optional<Finding> after_clients(const Match& match) override {
    next_.resize(match.config().clients);
    for (const auto& seat : match.seats()) {
      const server::SessionAudit* session = streaming(match, *seat);
      if (session == nullptr || !session->ground_settled) continue;
      const StreamedGround& ground = seat->client()->ground().streamed();
      const std::vector<ChunkCoord> chunks = ground.chunks();
      for (int i = 0; i < looks && !chunks.empty(); ++i) {
        const ChunkCoord at = chunks[next_[seat->number()]++ % chunks.size()];
        if (auto wrong = compare(match, ground, at)) return Finding{seat_name(*seat), *wrong};
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr int looks = 2;

  std::optional<std::string> compare(const Match& match, const StreamedGround& ground, ChunkCoord at) {
    theirs_.resize(chunk_blocks), ours_.resize(chunk_blocks);
    if (!match.host()->public_blocks(at, theirs_)) return std::nullopt;  // it is not loaded any more
    ground.find(at)->copy_blocks(ours_);
    for (std::size_t i = 0; i < chunk_blocks; ++i)
      if (ours_[i] != theirs_[i])
        return chunk_name(at) + " holds block " + std::to_string(static_cast<int>(ours_[i])) + " at index " +
               std::to_string(i) + " where the server has " + std::to_string(static_cast<int>(theirs_[i]));
    return std::nullopt;
  }

  std::vector<std::size_t> next_;  // by seat
  std::vector<BlockId> theirs_, ours_;
};

/// Whom nothing ails has the ground that it stands in.
class GroundIsSent final : public Invariant {
 public:
  std::string_view name() const override { return "ground is sent to those who do not compute it"; }
  std::optional<Finding> after_clients(const Match& match) override {
    since_.resize(match.config().clients);
    for (const auto& seat : match.seats()) {
      Micros& since = since_[seat->number()];
      const bool asks = streaming(match, *seat) != nullptr && seat->client()->own() && !match.ground_slow() &&
                        calm(match, *seat, patience);
      if (!asks) {
        since = match.now();
        continue;
      }
      const ChunkCoord at = chunk_of(block_at(seat->client()->own()->body.position_m));
      const bool loaded = match.host()->world().space().voxels->loaded(at);
      if (!loaded || seat->client()->ground().streamed().find(at) != nullptr) since = match.now();
      if (match.now() - since > patience)
        return Finding{seat_name(*seat), "waits for " + chunk_name(at) + ", in which it stands"};
    }
    return std::nullopt;
  }

 private:
  static constexpr Micros patience{10'000'000};
  std::vector<Micros> since_;  // by seat: when it last had no reason to complain
};

}  // namespace

void add_ground_invariants(std::vector<std::unique_ptr<Invariant>>& out) {
  out.push_back(std::make_unique<GroundIsTrue>());
  out.push_back(std::make_unique<GroundIsSent>());
}

}  // namespace ashlar::simulation
