#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "client_sim/client/predictor.h"
#include "tests/integration/hosted_client.h"
#include "world/sim/game.h"
#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"

namespace ashlar::testing {

using client_sim::MispredictCause;
using client_sim::Predictor;
using client_sim::PredictorConfig;

/// Ground that is made once for the server and the clients of a test.
class SharedGround {
 public:
  std::unique_ptr<Chunk> make(const Terrain& terrain, ChunkCoord at) {
    auto& made = chunks_[{at.x, at.y, at.z}];
    if (made == nullptr) made = generate_chunk(terrain, at);
    return std::make_unique<Chunk>(*made);
  }

 private:
  std::map<std::tuple<int, int, int>, std::unique_ptr<Chunk>> chunks_;
};

inline WorldSetup with_shared_ground(WorldSetup setup) {
  setup.make_chunk = [memo = std::make_shared<SharedGround>()](const Terrain& terrain, ChunkCoord at) {
    return memo->make(terrain, at);
  };
  return setup;
}

/// A Host and one client who predicts, in simulated time.
struct PredictedClient {
  explicit PredictedClient(const WorldSetup& setup, std::uint64_t seed = 1)
      : PredictedClient(setup, seed, setup.game ? setup.game()->motion() : nullptr) {}
  /// @param motion  of the game that the client is linked with
  /// @param streams  it is sent the ground
  PredictedClient(const WorldSetup& setup, std::uint64_t seed, std::shared_ptr<const PlayerMotion> motion,
                  bool streams = false)
      : play(setup, {}, client_of(setup, streams), seed), predictor(config_of(setup, std::move(motion))) {
    foresees(nullptr);
  }
  static client_sim::ClientConfig client_of(const WorldSetup& setup, bool streams) {
    client_sim::ClientConfig config = HostedClient::client_config(setup, "ada");
    config.stream_ground = streams;
    return config;
  }
  /// @param others  whom it may bump into; null: nobody is foreseen to be
  void foresees(client_sim::Others* others) { play.foresight = &ahead.emplace(predictor, others); }

  static PredictorConfig config_of(const WorldSetup& setup, std::shared_ptr<const PlayerMotion> motion) {
    PredictorConfig config;
    config.motion = std::move(motion);
    config.make_chunk = setup.make_chunk;
    config.chunks_per_advance = 64;
    config.map = [maps = setup.maps](const WelcomeMap& wanted) -> std::shared_ptr<const PlacedMap> {
      for (const auto& map : maps)
        if (map->content_hash() == wanted.content_hash) return map;
      return nullptr;
    };
    config.prop = [props = setup.props](const WelcomeProp& wanted) -> std::shared_ptr<const Prop> {
      for (const auto& prop : props)
        if (prop->content_hash() == wanted.content_hash) return prop;
      return nullptr;
    };
    return config;
  }

  void turn() { play.turn(); }
  void enter() {
    play.enter();
    for (int i = 0; i < 2000 && !(predictor.ready() && !predictor.waiting()); ++i) turn();
    REQUIRE(predictor.ready());
    REQUIRE_FALSE(predictor.waiting());
    run(1);  // until its clock has settled
    REQUIRE(predictor.stats().late == 0);
    put_so_far = mispredicted(MispredictCause::server);
  }
  /// Puts the player somewhere, and lets that settle: at most one misprediction, which is none of the
  /// client's.
  void put(DVec3 place_m) {
    const auto before = predictor.stats().mispredicted;
    play.host->admin({AdminAction::teleport, play.client.player(), place_m});
    run(1);
    const auto& now = predictor.stats().mispredicted;
    std::uint64_t more = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      more += now[i] - before[i];
      if (i != static_cast<std::size_t>(MispredictCause::server)) excused[i] += now[i] - before[i];
    }
    REQUIRE(more <= 1);
    put_so_far += more;
  }
  /// `steer` is asked before each turn.
  void run(double seconds, const std::function<PlayerCommand()>& steer = nullptr) {
    const Micros until = play.now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    while (play.now < until) {
      if (steer) play.client.set_command(steer());
      turn();
    }
  }
  const Body& server_body() const { return play.world().players().body[play.row()]; }
  std::uint64_t mispredicted(MispredictCause cause) const {
    const auto i = static_cast<std::size_t>(cause);
    return predictor.stats().mispredicted[i] - excused[i];
  }

  HostedClient play;
  Predictor predictor;
  std::optional<client_sim::PredictorForesight> ahead;
  std::uint64_t put_so_far = 0;  ///< times that the server put it elsewhere, as the test asked for
  /// Of those mispredictions whose cause is not the server's to a client: it was put where it nearly was.
  std::array<std::uint64_t, client_sim::mispredict_cause_count> excused{};
};

}  // namespace ashlar::testing
