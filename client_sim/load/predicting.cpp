#include "client_sim/load/predicting.h"

#include <chrono>
#include <memory>
#include <utility>

#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"

namespace ashlar::client_sim {
namespace {

/// Asked for five times a frame: the thread's own time takes ten times as long to ask for.
std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// A frame that took longer made ground, or others ran meanwhile.
constexpr std::int64_t frame_ns_max = 500'000;

/// From one frame to the next: as a game has that shows sixty a second.
constexpr Micros frame_max{17'000};

/// More of them in one turn are another world's, or another place in it.
constexpr std::uint32_t ticks_at_once_max = 64;

}  // namespace

void PredictionReport::merge(const PredictionReport& other) {
  clients += other.clients;
  ticks += other.ticks, confirmed += other.confirmed;
  mispredicted += other.mispredicted, late += other.late;
  visible += other.visible, crowd_visible += other.crowd_visible, put += other.put;
  minutes += other.minutes;
  hits.merge(other.hits);
  corrections_um.merge(other.corrections_um);
  crowd_um.merge(other.crowd_um);
  others_lag.merge(other.others_lag);
  for (std::size_t i = 0; i < leads.size(); ++i) leads[i] += other.leads[i];
  read_ns += other.read_ns, predict_ns += other.predict_ns, show_ns += other.show_ns;
  timed_ticks += other.timed_ticks;
}

std::unique_ptr<Chunk> ChunkMemo::make(const Terrain& terrain, ChunkCoord at) {
  if (!terrain_ || !(*terrain_ == terrain) || made_.chunk_count() >= chunks_max) {
    terrain_ = terrain;
    made_ = VoxelVolume();
  }
  if (!made_.loaded(at)) made_.insert_chunk(at, generate_chunk(terrain, at));
  return std::make_unique<Chunk>(*made_.find(at));
}

bool Predicting::frame_due(Micros now, const Client& client) const {
  return client.state() != ClientState::playing || client.command_due(now) || now - advanced_ >= frame_max;
}

std::optional<OwnPlayer> Predicting::foresee(Micros now, Client& client) {
  const std::int64_t begin = now_ns();
  others_.advance(now, client);
  const std::int64_t taken = now_ns();
  predictor_.advance(now, client, &others_);
  foreseen_ns_ = now_ns() - taken, taken_ns_ = taken - begin;
  return predictor_.foreseen(client);
}

void Predicting::advance(Micros now, Client& client, const DatagramBatch& in, DatagramBatch& out,
                         std::vector<ShownEntity>& shown) {
  advanced_ = now;
  const std::uint64_t waited = predictor_.stats().waited;
  const std::int64_t begin = now_ns();
  others_.prefetch();
  client.advance(now, in, out, this);
  const std::int64_t turned = now_ns();
  if (!predictor_.ready() || predictor_.waiting()) return;
  const bool stepped = predictor_.tick() != tick_;
  // A frame for each tick.
  if (stepped)
    others_.shown(now, client, &predictor_.replica(), shown);
  else
    shown.clear();
  const std::int64_t end = now_ns();
  hits_.advance(client, predictor_, shown);
  const bool timed = waited == predictor_.stats().waited && end - begin < frame_ns_max;
  if (timed) {
    read_ns_ += turned - begin - taken_ns_ - foreseen_ns_;
    predict_ns_ += foreseen_ns_;
    show_ns_ += taken_ns_ + (end - turned);
  }
  if (!stepped) return;
  // Where this machine is late, several ticks are foreseen in one frame.
  const std::uint32_t more = predictor_.tick() - tick_;
  const std::uint32_t played = more <= ticks_at_once_max ? more : 1;
  ticks_ += played;
  timed_ticks_ += timed ? played : 0;
  minutes_ += played * client.welcome().rules.tick_s() / 60;
  tick_ = predictor_.tick();
  lag_.add(Micros{std::int64_t{others_.lag_ticks()} * 1'000'000 / client.welcome().rules.tick_rate_hz});
}

PredictionReport Predicting::report(const Client& client) const {
  const PredictorStats& p = predictor_.stats();
  PredictionReport out;
  out.clients = 1;
  out.ticks = ticks_;
  out.minutes = minutes_;
  out.hits = hits_.counts();
  out.confirmed = p.confirmed, out.mispredicted = p.mispredicted_sum(), out.late = p.late;
  for (std::size_t i = 0; i < mispredict_cause_count; ++i) {
    if (i == static_cast<std::size_t>(MispredictCause::server)) continue;
    const bool crowd = i == static_cast<std::size_t>(MispredictCause::crowd);
    (crowd ? out.crowd_visible : out.visible) += p.visible[i];
    (crowd ? out.crowd_um : out.corrections_um).merge(p.corrections_um[i]);
  }
  out.put = p.mispredicted[static_cast<std::size_t>(MispredictCause::server)];
  out.others_lag = lag_;
  out.leads = client.stats().leads;
  out.read_ns = read_ns_, out.predict_ns = predict_ns_, out.show_ns = show_ns_;
  out.timed_ticks = timed_ticks_;
  return out;
}

}  // namespace ashlar::client_sim
