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

/// A shot whose player saw it hit somebody.
struct SeenHit {
  std::uint32_t tick = 0;  ///< that judges it
  EntityId target{};
  DVec3 feet_m;         ///< of the shooter
  bool beyond = false;  ///< it saw more than rewind_s_max back
};

/// Hits that were seen, until the server said what it made of them. One thread.
class SeenHitLedger {
 public:
  /// In the order of ticks.
  void saw(const SeenHit& hit);
  /// The server says that a shot of ours hit: the newest one that can be meant. Pellets are told one by one.
  /// @param told  newest tick that fights were told of; a few ticks may have come at once
  void given(std::uint32_t told, EntityId target);
  /// Somebody died: what would have met him behind the hit that killed him, or in the second after it, is
  /// nobody's mistake, and not counted.
  void died(std::uint32_t told, EntityId target);
  /// Where the server had the shooter at the end of a tick.
  void stood(std::uint32_t tick, DVec3 feet_m);
  /// Counts those that the server has had time to say something of.
  void settle(std::uint32_t newest_tick, std::uint32_t patience_ticks);
  void clear() { waiting_.clear(), dead_.clear(); }
  /// Nothing is waited for or remembered.
  bool empty() const { return waiting_.empty() && dead_.empty(); }
  const SeenHitCounts& counts() const { return counts_; }

 private:
  enum class Stood : std::uint8_t { untold, there, elsewhere };
  struct Waiting {
    SeenHit hit;
    bool given = false;
    Stood stood = Stood::untold;
    bool may_be_of(std::uint32_t told, EntityId target) const;
  };
  struct Death {
    std::uint32_t tick = 0;
    EntityId who{};
  };

  std::vector<Waiting> waiting_;  // by tick
  std::vector<Death> dead_;       // of late
  SeenHitCounts counts_;
};

/// Compares the hits that a predicting client sees with those that the server tells it that it gave. Takes
/// the client's hits and the predictor's shots. One thread.
class SeenHits {
 public:
  /// Behind each Predictor::advance().
  /// @param shown  the others as the player sees them now
  void advance(Client& client, Predictor& predictor, std::span<const ShownEntity> shown);
  const SeenHitCounts& counts() const { return ledger_.counts(); }

 private:
  void look(const Client& client, const Predictor& predictor, const ShotEvent& shot,
            std::span<const ShownEntity> shown);

  std::uint64_t world_ = 0;
  SeenHitLedger ledger_;
  std::vector<ShotTarget> targets_;
};

}  // namespace ashlar::client_sim
