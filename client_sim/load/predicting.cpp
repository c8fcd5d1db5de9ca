#include "client_sim/load/predicting.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <utility>

#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"

namespace ashlar::client_sim {
namespace {

/// Of this thread alone: a machine that plays thousands of clients has others to run meanwhile.
std::int64_t spent_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// What asking for that takes: eight turns come to a tick, so it would be a third of what is measured.
std::int64_t asking_ns() {
  constexpr int rounds = 2001;
  std::array<std::int64_t, rounds> took{};
  std::int64_t before = spent_ns();
  for (std::int64_t& t : took) {
    const std::int64_t now = spent_ns();
    t = now - std::exchange(before, now);
  }
  std::nth_element(took.begin(), took.begin() + rounds / 2, took.end());
  return took[rounds / 2];
}

/// Time that was spent between two answers, and not on asking.
std::int64_t between_ns(std::int64_t from, std::int64_t to) {
  static const std::int64_t asking = asking_ns();
  return std::max<std::int64_t>(to - from - asking, 0);
}

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
}

std::unique_ptr<Chunk> ChunkMemo::make(const Terrain& terrain, ChunkCoord at) {
  if (!terrain_ || !(*terrain_ == terrain) || made_.chunk_count() >= chunks_max) {
    terrain_ = terrain;
    made_ = VoxelVolume();
  }
  if (!made_.loaded(at)) made_.insert_chunk(at, generate_chunk(terrain, at));
  return std::make_unique<Chunk>(*made_.find(at));
}

void Predicting::advance(Micros now, Client& client, const DatagramBatch& in, DatagramBatch& out) {
  const std::uint64_t waited = predictor_.stats().waited;
  const std::int64_t begin = spent_ns();
  client.advance(now, in, out);
  const std::int64_t from = spent_ns();
  others_.advance(now, client);
  const std::int64_t between = spent_ns();
  predictor_.advance(now, client, &others_);
  const std::int64_t predicted = spent_ns();
  if (!predictor_.ready() || predictor_.waiting()) return;
  const bool stepped = predictor_.tick() != tick_;
  // A frame for each tick.
  if (stepped) others_.shown(now, client, &predictor_.replica(), shown_);
  const std::int64_t end = spent_ns();
  hits_.advance(client, predictor_, shown_);
  constexpr std::int64_t ground_ns = 500'000;  // it was made
  if (waited == predictor_.stats().waited && end - from < ground_ns) {
    read_ns_ += between_ns(begin, from);
    predict_ns_ += between_ns(between, predicted);
    show_ns_ += between_ns(from, between) + between_ns(predicted, end);
  }
  if (!stepped) return;
  // Where this machine is late, several ticks are foreseen in one turn.
  const std::uint32_t more = predictor_.tick() - tick_;
  const std::uint32_t played = more <= ticks_at_once_max ? more : 1;
  ticks_ += played;
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
  return out;
}

}  // namespace ashlar::client_sim
