#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "client_sim/client/client.h"
#include "client_sim/client/others.h"
#include "client_sim/client/predictor.h"
#include "client_sim/load/seen_hits.h"
#include "world/voxel/volume.h"

namespace ashlar::client_sim {

/// How predicting went, of one client or of many together: `ashlar-sim load --predict`, in the terms of
/// `./dev bench feel`.
struct PredictionReport {
  std::uint32_t clients = 0;
  std::uint64_t ticks = 0;      ///< predicted
  std::uint64_t confirmed = 0;  ///< of those: the server told its own
  std::uint64_t mispredicted = 0, late = 0;
  /// Corrections above Predictor::visible_m: by commands that were late or lost and by the world; by bodies
  /// that were met.
  std::uint64_t visible = 0, crowd_visible = 0;
  /// Times that the server put a player elsewhere, hurt or pushed it: spawns, teleports, hits. No
  /// corrections.
  std::uint64_t put = 0;
  double minutes = 0;                     ///< foreseen, of all clients together
  SeenHitCounts hits;                     ///< that were seen
  Histogram corrections_um, crowd_um;     ///< in micrometres, alike
  Histogram others_lag;                   ///< of the picture behind the newest command, once a tick
  std::array<std::uint64_t, 16> leads{};  ///< ClientStats::leads
  /// Time that it took in frames in which this machine did nothing else and no ground was made: to read what
  /// the server sends and to write to it (Client::advance()), to foresee the own player, and to keep and show
  /// a picture of the others a tick.
  std::int64_t read_ns = 0, predict_ns = 0, show_ns = 0;
  std::uint64_t timed_ticks = 0;  ///< in such frames

  /// Adds what another client met.
  void merge(const PredictionReport& other);
  double us_per_tick(std::int64_t spent_ns) const {
    return timed_ticks > 0 ? static_cast<double>(spent_ns) / 1e3 / static_cast<double>(timed_ticks) : 0;
  }
  /// Of the ticks that the server's word was compared with: it tells of one in each of its snapshots.
  double late_per_minute() const {
    return confirmed > 0 ? per_minute(late) * static_cast<double>(ticks) / static_cast<double>(confirmed) : 0;
  }
  double per_minute(std::uint64_t count) const {
    return minutes > 0 ? static_cast<double>(count) / minutes : 0;
  }
};

/// Ground that was made for one of a process's clients, for the others.
class ChunkMemo {
 public:
  static constexpr std::size_t chunks_max = 8192;
  std::unique_ptr<Chunk> make(const Terrain& terrain, ChunkCoord at);

 private:
  std::optional<Terrain> terrain_;
  VoxelVolume made_;
};

/// What a simulated client that predicts has beside its session.
class Predicting final : private Foresight {
 public:
  explicit Predicting(PredictorConfig config) : predictor_(std::move(config)) {}

  /// Is a frame due? A game reads what came, numbers its command and shows what there is in one go: whenever
  /// a command is due, and so often at least where ticks are longer.
  bool frame_due(Micros now, const Client& client) const;
  /// A frame, Client::advance() included.
  /// @param shown  scratch, which all may share
  void advance(Micros now, Client& client, const DatagramBatch& in, DatagramBatch& out,
               std::vector<ShownEntity>& shown);
  PredictionReport report(const Client& client) const;

 private:
  std::optional<OwnPlayer> foresee(Micros now, Client& client) override;

  Predictor predictor_;
  Others others_;
  SeenHits hits_;
  Micros advanced_{0};
  std::uint32_t tick_ = 0;
  std::uint64_t ticks_ = 0, timed_ticks_ = 0;
  double minutes_ = 0;
  std::int64_t read_ns_ = 0, predict_ns_ = 0, show_ns_ = 0;
  std::int64_t taken_ns_ = 0, foreseen_ns_ = 0;  // of this frame: others taken in, the own player foreseen
  Histogram lag_;
};

}  // namespace ashlar::client_sim
