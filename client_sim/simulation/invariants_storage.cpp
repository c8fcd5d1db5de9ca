// What must hold of saving while a server runs. That everything is there after its end is compared at the
// next one's start (kept_world.h).

#include <string>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "world/sim/block_act.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
namespace {

/// A group waits for the one before it and for its interval, is written, and is tried again after a second.
constexpr Micros behind_max{4'000'000};

bool changes_nothing(BlockActKind kind) {
  return kind == BlockActKind::stop || kind == BlockActKind::open || kind == BlockActKind::close;
}

class WhatCannotBeSavedIsRefused final : public Invariant {
 public:
  std::string_view name() const override { return "what cannot be saved is refused"; }
  std::optional<Finding> after_tick(const Match& match, const TrueFrame&, const TickRecord& record) override {
    if (match.kept().room()) return std::nullopt;
    for (const BlockAct& act : record.acts)
      if (!changes_nothing(act.kind))
        return Finding{entity_name(act.player), "changes something while nothing more can be saved"};
    return std::nullopt;
  }
};

class WhatIsPlayedIsSaved final : public Invariant {
 public:
  std::string_view name() const override { return "what is played is saved soon, where the disk is well"; }
  std::optional<Finding> after_clients(const Match& match) override {
    const auto since = match.kept().behind_since();
    if (match.host() == nullptr || !match.kept().disk_good() || !since) return std::nullopt;
    // A server that is given no time hands nothing over.
    if (match.server_calm_since() == Micros::max()) return std::nullopt;
    const Micros begun = std::max({*since, match.kept().disk_good_since(), match.server_calm_since()});
    if (match.now() - begun <= behind_max) return std::nullopt;
    return Finding{"server", "what changed " + std::to_string((match.now() - *since).count() / 1000) +
                                 " ms ago is not saved"};
  }
};

}  // namespace

void add_storage_invariants(std::vector<std::unique_ptr<Invariant>>& out) {
  out.push_back(std::make_unique<WhatCannotBeSavedIsRefused>());
  out.push_back(std::make_unique<WhatIsPlayedIsSaved>());
}

}  // namespace ashlar::simulation
