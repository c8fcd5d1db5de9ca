#include "server/host/ground_room.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "protocol/chunk_codec.h"
#include "world/math/assert.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

/// How often a client that has all is looked at for ground that came since.
constexpr std::uint32_t look_again_every_ticks = 8;
/// Clients keep changes until they know that no chunk from before them is on its way.
constexpr std::uint32_t mark_every_ticks = 60;
/// What is behind a player may wait until so much farther things in its view are there.
constexpr double behind_factor = 2;
/// Queued. Above that, what its player needs is not looked for: who acknowledges nothing must cost nothing.
constexpr std::size_t enough_bytes = GroundRoom::queue_bytes_max * 2 / 3;
static_assert(enough_bytes + chunk_bytes_max < GroundRoom::queue_bytes_max, "what is looked for fits");
/// So near everything counts as in view.
constexpr double about_m = 48;
constexpr auto radius_chunks = static_cast<std::int32_t>(GroundRoom::radius_m / chunk_size);
static_assert(radius_chunks + 2 <= GroundDesk::reach);

/// From a point anywhere in one chunk to one so many further, at least.
double apart_m(std::int32_t chunks) { return std::max(std::abs(chunks) - 1, 0) * double{chunk_size}; }

constexpr auto kept_place = [](const GroundDesk::Kept& kept) {
  return std::tuple(kept.chunk.at.x, kept.chunk.at.y, kept.chunk.at.z);
};

}  // namespace

void GroundRoom::begin_world() {
  cache_.begin_world();
  for (const std::uint32_t row : sessions_->seated()) (*sessions_)[row].ground = GroundDesk{};
}

void GroundRoom::join(Session& session, const Join& join) const {
  session.ground = GroundDesk{};
  session.ground.streams = join.ground;
  for (const KeptChunk& kept : join.kept) session.ground.kept.push_back({kept});
  std::ranges::sort(session.ground.kept, {}, kept_place);
}

void GroundRoom::publish(const World& world, const ChangeLog& log, std::vector<PackRequest>& requests) {
  cache_.note(log.fresh());
  const std::uint32_t tick = number(world.tick());
  const std::span<const std::uint32_t> seated = sessions_->seated();
  bytes_left_ = bytes_per_tick_max;
  status_->ground_stream.clients = 0;
  if (first_ >= seated.size()) first_ = 0;
  for (std::size_t visit = 0; visit < seated.size(); ++visit) {
    const std::size_t i = first_ + visit < seated.size() ? first_ + visit : first_ + visit - seated.size();
    Session& session = (*sessions_)[seated[i]];
    if (session.state != SessionState::playing || !session.ground.streams) continue;
    const int row = world.player_row(session.player);
    if (row < 0) continue;
    ++status_->ground_stream.clients;
    GroundDesk& desk = session.ground;
    const ChunkCoord here =
        chunk_of(block_at(world.players().body[static_cast<std::size_t>(row)].position_m));
    follow(world, desk, {here.x, here.y});
    if (!tell_gone(session, tick)) continue;
    if (desk.all && (tick + seated[i]) % look_again_every_ticks != 0) continue;
    if (session.connection->queue_bytes(StreamId::bulk) > enough_bytes) continue;
    look(world, session, static_cast<std::size_t>(row));
    serve(world, log, session, requests);
  }
  ++first_;
  status_->ground_stream.cache_bytes = cache_.bytes();
  status_->ground_stream.packed = cache_.packed();
}

/// What its player has gone away from is dropped.
void GroundRoom::follow(const World& world, GroundDesk& desk, IVec2 column) const {
  if (desk.placed && std::abs(column.x - desk.centre.x) <= 1 && std::abs(column.y - desk.centre.y) <= 1)
    return;
  GroundDesk next;
  next.placed = true;
  next.centre = column;
  next.columns = world.columns();
  next.sent.assign(std::size_t{GroundDesk::across * GroundDesk::across} * next.columns.count(), 0);
  for (std::int32_t z = desk.columns.low; desk.placed && z < desk.columns.high; ++z)
    for (std::int32_t y = -GroundDesk::reach; y <= GroundDesk::reach; ++y)
      for (std::int32_t x = -GroundDesk::reach; x <= GroundDesk::reach; ++x) {
        const ChunkCoord at{desk.centre.x + x, desk.centre.y + y, z};
        if (!desk.holds(at)) continue;
        if (std::uint8_t* const still = next.place(at))
          *still = 1;
        else
          desk.gone.push_back(at);
      }
  desk.placed = true;
  desk.centre = next.centre;
  desk.columns = next.columns;
  desk.sent = std::move(next.sent);
  desk.all = false;
}

/// What is gone is told before anything new, or it might be told after that came back. So is a tick up to
/// which changes need not be kept, while there are some.
bool GroundRoom::tell_gone(Session& session, std::uint32_t tick) {
  GroundDesk& desk = session.ground;
  while (!desk.gone.empty() || (desk.edited && tick - desk.told_tick >= mark_every_ticks)) {
    const std::size_t count = std::min(desk.gone.size(), gone_chunks_max);
    const auto some = std::span<const ChunkCoord>(desk.gone).last(count);
    if (!send(session, tick, writer_.write(GroundGone{tick, session.world, some}))) return false;
    desk.gone.resize(desk.gone.size() - count);
  }
  return true;
}

void GroundRoom::note_candidate(const Candidate& candidate) {
  if (candidate_count_ == candidates_max && candidates_.back().score_m <= candidate.score_m) return;
  if (candidate_count_ < candidates_max) ++candidate_count_;
  std::size_t at = candidate_count_ - 1;
  for (; at > 0 && candidates_[at - 1].score_m > candidate.score_m; --at)
    candidates_[at] = candidates_[at - 1];
  candidates_[at] = candidate;
}

/// The chunks that its player needs most.
void GroundRoom::look(const World& world, Session& session, std::size_t row) {
  GroundDesk& desk = session.ground;
  const PlayerTable& players = world.players();
  const DVec3 eye = players.body[row].position_m + DVec3{0, 0, world.setup().rules.player_eye_m};
  const DVec3 view = view_direction(players.yaw[row], players.pitch[row]);
  const ChunkCoord here = chunk_of(block_at(eye));
  const VoxelVolume& ground = *world.space().voxels;
  candidate_count_ = 0;
  for (std::int32_t y = here.y - radius_chunks; y <= here.y + radius_chunks; ++y)
    for (std::int32_t x = here.x - radius_chunks; x <= here.x + radius_chunks; ++x) {
      const double dx = apart_m(x - here.x), dy = apart_m(y - here.y);
      for (std::int32_t z = desk.columns.low; z < desk.columns.high; ++z) {
        const double dz = apart_m(z - here.z);
        if (dx * dx + dy * dy + dz * dz >= radius_m * radius_m) continue;
        const ChunkCoord at{x, y, z};
        const std::uint8_t* const known = desk.place(at);
        if (known == nullptr || *known != 0 || !ground.loaded(at)) continue;
        constexpr double half = chunk_size / 2.0;
        const DVec3 way = DVec3{x * double{chunk_size} + half, y * double{chunk_size} + half,
                                z * double{chunk_size} + half} -
                          eye;
        const double far_m = length(way);
        const bool seen = far_m < about_m || dot(way, view) > 0.5 * far_m;
        note_candidate({seen ? far_m : far_m * behind_factor, at});
      }
    }
  desk.all = candidate_count_ == 0;
}

/// What is not packed yet does not hold up what is.
void GroundRoom::serve(const World& world, const ChangeLog& log, Session& session,
                       std::vector<PackRequest>& requests) {
  GroundDesk& desk = session.ground;
  for (std::size_t i = 0; i < candidate_count_; ++i) {
    const ChunkCoord at = candidates_[i].at;
    const GroundCache::Entry* const entry = cache_.find(at);
    if (entry == nullptr) {
      cache_.request(world, log, at, requests);
      continue;
    }
    const auto kept = std::ranges::lower_bound(desk.kept, std::tuple(at.x, at.y, at.z), {}, kept_place);
    const bool claims = kept != desk.kept.end() && kept->chunk.at == at;
    // What its client kept may be what the chunk has become since it was packed.
    if (claims && kept->chunk.hash != entry->hash && !entry->changes.empty() &&
        !std::exchange(kept->looked, true)) {
      cache_.forget(at);
      cache_.request(world, log, at, requests);
      continue;
    }
    if (!tell(session, number(world.tick()), at, *entry)) return;
    if (claims) desk.kept.erase(kept);
  }
}

/// @return false: the stream, or the tick, takes no more
bool GroundRoom::tell(Session& session, std::uint32_t tick, ChunkCoord at, const GroundCache::Entry& entry) {
  GroundDesk& desk = session.ground;
  const auto kept = std::ranges::lower_bound(desk.kept, std::tuple(at.x, at.y, at.z), {}, kept_place);
  const bool holds = kept != desk.kept.end() && kept->chunk.at == at && kept->chunk.hash == entry.hash;
  GroundChunk message{tick, session.world, at, entry.hash, entry.bytes, entry.changes};
  if (holds) message.bytes = {};
  // It is longer than its bytes: what cannot go is not written first.
  if (!takes(session, message.bytes.size())) return false;
  if (!send(session, tick, writer_.write(message))) return false;
  std::uint8_t* const known = desk.place(at);
  ASHLAR_ASSERT(known != nullptr);
  *known = 1;
  ++(holds ? status_->ground_stream.kept : status_->ground_stream.chunks);
  return true;
}

bool GroundRoom::takes(const Session& session, std::size_t bytes) const {
  return session.connection->queue_bytes(StreamId::bulk) + bytes <= queue_bytes_max && bytes <= bytes_left_;
}

bool GroundRoom::send(Session& session, std::uint32_t tick, std::span<const std::uint8_t> message) {
  if (!takes(session, message.size())) return false;
  if (session.connection->send(StreamId::bulk, message) != SendResult::sent) return false;
  bytes_left_ -= message.size();
  status_->ground_stream.bytes += message.size();
  session.ground.told_tick = tick;
  session.ground.edited = false;
  return true;
}

}  // namespace ashlar::server
