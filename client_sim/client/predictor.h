#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/client/replica.h"

namespace ashlar {
struct Chunk;
class Prop;
}  // namespace ashlar

namespace ashlar::client_sim {

class Others;

/// What a prediction is made with. The functions are called from Predictor::advance(), once for each map or
/// prop of a world.
struct PredictorConfig {
  /// As ClientConfig::map, which has to be given, too: moving sectors come by it.
  std::function<std::shared_ptr<const PlacedMap>(const WelcomeMap&)> map;
  std::function<std::shared_ptr<const Prop>(const WelcomeProp&)> prop;
  /// Makes the ground where it is ready or cheaper than generate_chunk(); empty: that.
  std::function<std::unique_ptr<Chunk>(const Terrain&, ChunkCoord)> make_chunk;
  /// What the server's game adds to how players move (Game::motion()): a client of a game of one's own is
  /// linked with it. Null: nothing.
  std::shared_ptr<const PlayerMotion> motion;
  int chunks_per_advance = 2;  ///< of ground that is made at once, about 1 ms each
};

/// Why the server's player was another one than predicted. Each misprediction counts once, by the first of
/// these that holds.
enum class MispredictCause : std::uint8_t {
  server,   ///< put elsewhere or pushed: spawns, operators, no-clip, hits
  command,  ///< a command came too late or not at all, so the server used another one; or a snapshot was
            ///< missed that would have told
  crowd,    ///< somebody else was near enough to push, or was taken to be
  world,    ///< sectors or blocks were changed by others
  unknown,  ///< none of them: on a server of the same version there should be none of these
};
inline constexpr std::size_t mispredict_cause_count = 5;

/// Counters only grow.
struct PredictorStats {
  std::uint64_t confirmed = 0;  ///< ticks whose own player the server told and that had been predicted
  std::array<std::uint64_t, mispredict_cause_count> mispredicted{};  ///< of those: other bits than predicted
  std::uint64_t recalled = 0;        ///< of those confirmed: without playing them once more
  std::uint64_t replayed_ticks = 0;  ///< stepped again
  std::uint64_t waited = 0;          ///< calls in which the ground was not there
  std::uint64_t snapped = 0;         ///< corrections too large to be smoothed
  /// Of the confirmed, and of ticks that the server told before their command was numbered: it applied
  /// another one.
  std::uint64_t late = 0;
  /// How far corrections moved the player as shown, in micrometres, by cause; those below 1 um are not in it.
  std::array<Histogram, mispredict_cause_count> corrections_um;

  /// Of those, larger than Predictor::visible_m.
  std::array<std::uint64_t, mispredict_cause_count> visible{};

  /// Ticks that came otherwise, whatever the cause.
  std::uint64_t mispredicted_sum() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : mispredicted) sum += n;
    return sum;
  }
};

/// The own player as a picture shows it.
struct ShownPlayer {
  DVec3 position_m;         ///< centre of the base
  double eye_offset_m = 0;  ///< Body::eye_offset_m
  Turn16 delta_yaw{0};      ///< Client::delta_yaw() as foreseen: what a held yaw is turned by
};

/// Runs ahead of the server: the own player as of the newest command, by the server's own code on a replica
/// of its world (replica.h). When the server's word on a tick comes and is another than was predicted, all
/// commands since are played again from it; what the picture jumps by is smoothed away.
///
/// Doors used, lines walked over and shot at, blocks dug and placed, teleporters are foreseen alike and taken
/// back alike. Where the ground is not made yet it waits, and where nothing is known of a map
/// (PredictorConfig) it does not predict.
///
/// One thread, the client's. Same calls, same bits. Cost: about 3 us a tick, and as much again for each tick
/// that is played again: all of those that came otherwise, and each once where sectors move, or where blocks
/// were changed that the server has not told of yet.
class Predictor {
 public:
  static constexpr Micros smooth_over{200'000};  ///< after which nothing of an error is shown any more
  static constexpr double snap_m = 2;            ///< larger errors are not smoothed
  static constexpr double visible_m = 0.02;      ///< smaller corrections nobody sees

  explicit Predictor(PredictorConfig config);

  /// In each Client::advance(), as its Foresight, or behind it, with the same time. Takes the changes of
  /// blocks out of Client::ground(): who wants them too has them from take_touched().
  /// @param others  who may be in the player's way, advanced with the same client before; null: nobody is
  ///   foreseen to be
  void advance(Micros now, Client& client, const Others* others = nullptr);

  /// There is a player, and its world is known: not while the content of the next one is fetched.
  bool ready() const { return replica_ != nullptr && confirmed_tick_ != 0; }
  /// The ground at the player is not made yet: it stands where it is.
  bool waiting() const { return waiting_; }
  /// The newest predicted state: of tick(), the newest command's. Precondition: ready().
  const Body& body() const { return replica_->body(); }
  std::uint32_t tick() const { return replica_->tick(); }
  const Replica& replica() const { return *replica_; }
  /// The own player of the client's newest command, what is not foreseen of it as the server said; none: it
  /// is not ready, or waits.
  std::optional<OwnPlayer> foreseen(const Client& client) const;
  /// Between the last two predicted ticks, errors smoothed. Precondition: ready().
  ShownPlayer shown(Micros now) const;
  /// Sectors at the moment that shown() shows, so that who rides a lift is shown on it. Until the next
  /// advance(). Precondition: ready().
  ShownSectors shown_sectors(Micros now) const;
  /// Of those, one.
  SectorHeights shown_sector(std::size_t map, std::uint32_t sector, Micros now) const {
    return shown_sectors(now).at(map, sector, replica().heights(map)[sector]);
  }
  /// Shots that were foreseen since the last call, in order; each is told once, however often it is played
  /// again. At most events_max are kept.
  static constexpr std::size_t events_max = 64;
  std::vector<ShotEvent> take_shots();
  /// Likewise what was launched: to show until the server's own comes into view.
  std::vector<LaunchEvent> take_launches();
  /// As EditedGround::take_touched().
  std::optional<std::vector<IVec3>> take_touched();
  const PredictorStats& stats() const { return stats_; }

 private:
  /// A tick beyond the confirmed one, and where in states_ it is kept as it was foreseen.
  struct Predicted {
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    std::uint32_t tick = 0;
    std::uint32_t state = nowhere;
    bool beside = false;  // somebody was taken to be so near that it may have been in the way
  };

  /// What a picture needs of a tick.
  struct Stand {
    DVec3 position_m;
    double eye_offset_m = 0;
  };

  ReplicaState& confirmed() { return states_[confirmed_state_]; }
  void begin_world(Client& client);
  bool take_blocks(const Client& client, const std::optional<std::vector<IVec3>>& told);
  bool take_refusals(const Client& client);
  bool confirm(const Client& client);
  bool catch_up(const Client& client, std::uint32_t tick);
  bool take_arsenal(const Client& client, std::uint32_t tick);
  PlayerCommand applied_command(const Client& client, std::uint32_t tick) const;
  void play(const Client& client, const PlayerCommand& command);
  void note_predicted();
  Stand stand() const { return {body().position_m, body().eye_offset_m}; }
  void forget_until_confirmed();
  bool recall(const Client& client, std::uint32_t tick);
  void play_again(const Client& client, std::uint32_t reached);
  void go_on(const Client& client);
  bool somebody_near(const Client& client, DVec3 place_m);
  void note_correction(DVec3 before_m, bool whole);
  double error_share(Micros now) const;
  double shown_share(Micros now) const;

  PredictorConfig config_;
  std::unique_ptr<Replica> replica_;   // as of the newest command
  ReplicaState ahead_;                 // scratch
  std::uint64_t world_ = 0;            // ClientStats::worlds
  std::uint32_t confirmed_tick_ = 0;   // 0: nothing yet
  std::array<Predicted, 128> ring_{};  // by tick modulo
  // Who foresees a few ticks keeps a few states: those used last are used again first, while the processor
  // has them in its cache.
  std::vector<ReplicaState> states_{1};
  std::vector<std::uint32_t> free_states_;
  std::uint32_t confirmed_state_ = 0;                 // in states_: as the server told
  std::vector<BlockAct> acts_;                        // scratch
  std::uint64_t sectors_told_ = 0;                    // SectorForecast::changes() that confirmed() has
  const Others* others_ = nullptr;                    // during advance()
  std::vector<Bystander> bystanders_;                 // scratch
  std::vector<ViewEntity> viewed_;                    // scratch
  std::uint8_t health_ = 0;                           // as last confirmed
  MispredictCause cause_ = MispredictCause::unknown;  // of the last misprediction
  bool waiting_ = false;
  Micros now_{0};

  std::uint32_t shot_tick_ = 0;  // newest tick whose shots were told
  std::vector<ShotEvent> shots_;
  std::vector<LaunchEvent> launches_;
  std::uint32_t arsenal_tick_ = 0;    // of the newest arsenal that was taken
  std::vector<PlayerCommand> since_;  // scratch
  std::vector<IVec3> touched_;
  bool all_touched_ = false;

  Stand before_, last_;   // of the last two predicted ticks
  Micros stepped_at_{0};  // when the command of the newest was due
  DVec3 error_m_;         // shown beside the truth, as of error_at_
  Micros error_at_{0};
  PredictorStats stats_;
};

/// A Predictor, and a picture of the others that it bumps into, turned by their client.
class PredictorForesight final : public Foresight {
 public:
  /// @param others  null: nobody is foreseen to be in the way
  explicit PredictorForesight(Predictor& predictor, Others* others = nullptr)
      : predictor_(predictor), others_(others) {}
  std::optional<OwnPlayer> foresee(Micros now, Client& client) override;

 private:
  Predictor& predictor_;
  Others* others_;
};

}  // namespace ashlar::client_sim
