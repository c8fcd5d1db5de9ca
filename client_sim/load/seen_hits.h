#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/client/others.h"
#include "client_sim/client/predictor.h"

namespace ashlar::client_sim {

/// Shots whose player saw them hit somebody, each in one of these.
struct SeenHitCounts {
  /// The server had the shooter where it shot from, and its picture was within what is rewound: judged alike,
  /// or otherwise.
  std::uint64_t agreed = 0, denied = 0;
  std::uint64_t beyond = 0;     ///< it saw more than rewind_s_max back
  std::uint64_t displaced = 0;  ///< the shooter stood elsewhere
  std::uint64_t untold = 0;     ///< where it stood was not told: that snapshot was lost

  void merge(const SeenHitCounts& other);
  double share() const {
    return agreed + denied > 0 ? static_cast<double>(agreed) / static_cast<double>(agreed + denied) : 1;
  }
};

/// Compares the hits that a predicting client sees with those that the server tells it that it gave. Takes
/// the client's hits and the predictor's shots. One thread.
class SeenHits {
 public:
  /// Behind each Predictor::advance().
  /// @param shown  the others as the player sees them now
  void advance(Client& client, Predictor& predictor, std::span<const ShownEntity> shown);
  const SeenHitCounts& counts() const { return counts_; }

 private:
  enum class Stood : std::uint8_t { untold, there, elsewhere };
  struct Seen {
    std::uint32_t tick = 0;
    EntityId target{};
    DVec3 feet_m;  // of the shooter
    bool beyond = false, given = false;
    Stood stood = Stood::untold;
  };
  void look(const Client& client, const Predictor& predictor, const ShotEvent& shot,
            std::span<const ShownEntity> shown);
  void take_given(const Client& client, EntityId target);
  void settle(const Client& client);

  std::uint64_t world_ = 0;
  std::vector<Seen> waiting_;  // by tick
  std::vector<ShotTarget> targets_;
  SeenHitCounts counts_;
};

}  // namespace ashlar::client_sim
