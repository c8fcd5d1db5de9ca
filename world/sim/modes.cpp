#include "world/sim/modes.h"

#include <algorithm>

#include "world/sim/kept_state.h"
#include "world/sim/placed_blocks.h"
#include "world/voxel/volume.h"

namespace ashlar {
namespace {

/// What all matches have in common: their phases and limits.
class MatchGame : public Game {
 public:
  void begin(GameApi& api) override { start(api); }
  bool resumes() const override { return true; }
  bool touches_players() const override { return false; }
  bool follows_presence() const override { return false; }

  void phase_over(GameApi& api) override {
    switch (api.match().phase) {
      case MatchPhase::warmup:
        api.restart();
        anew();
        play(api);
        break;
      case MatchPhase::playing: api.begin_phase(MatchPhase::intermission, intermission_s(api)); break;
      case MatchPhase::intermission:
        api.restart();
        anew();
        start(api);
        break;
      case MatchPhase::open: break;
    }
  }

  void tick(GameApi& api) override {
    const std::int32_t limit = api.rules().frag_limit;
    if (api.restarting()) return;  // the scores are still those of the match before
    if (api.match().phase != MatchPhase::playing) return;
    const bool reached = limit > 0 && best(api) >= limit;
    if (reached || (api.rules().lives > 0 && (nobody_left(api) || decided(api)))) end(api);
  }

  /// While the score stands nobody is hurt.
  std::uint16_t damage(GameApi& api, EntityId who, EntityId by, std::uint16_t points) override {
    return api.match().phase == MatchPhase::intermission ? std::uint16_t{0} : points_of(api, who, by, points);
  }

  void died(GameApi& api, EntityId who, EntityId by) override {
    if (api.match().phase == MatchPhase::playing) count(api, who, by);
  }

 protected:
  struct Standing {
    int players = 0, left = 0;  ///< in the match; with a life left
  };
  /// @param team  0: of all
  static Standing standing(const GameApi& api, std::uint8_t team) {
    Standing s;
    for (const MatchPlayer& p : api.match().players) {
      if (p.id == EntityId{0} || (team != 0 && p.team != team)) continue;
      ++s.players;
      if (!api.out(p.id)) ++s.left;
    }
    return s;
  }
  /// Who may hurt whom by the rules alone, and what a death counts in a world without teams.
  std::uint16_t points_as_ever(GameApi& api, EntityId who, EntityId by, std::uint16_t points) {
    return Game::damage(api, who, by, points);
  }
  void count_as_ever(GameApi& api, EntityId who, EntityId by) { Game::died(api, who, by); }
  static void end(GameApi& api) { api.begin_phase(MatchPhase::intermission, intermission_s(api)); }

 private:
  /// Another match begins, or its warm-up is over.
  virtual void anew() {}
  virtual std::uint16_t points_of(GameApi& api, EntityId who, EntityId by, std::uint16_t points) = 0;
  virtual void count(GameApi& api, EntityId who, EntityId by) = 0;
  /// Where lives come to an end and somebody has one: is nobody left to play against? Who plays alone does so
  /// until he has none.
  virtual bool decided(const GameApi&) const { return false; }
  static bool nobody_left(const GameApi& api) {
    const Standing s = standing(api, 0);
    return s.players > 0 && s.left == 0;
  }
  virtual std::int32_t best(const GameApi& api) const {
    std::int32_t most = 0;
    for (const MatchPlayer& p : api.match().players)
      if (p.id != EntityId{0}) most = std::max(most, p.score);
    return most;
  }
  /// An intermission without a length would have no end.
  static double intermission_s(const GameApi& api) { return std::max<double>(1, api.rules().intermission_s); }
  static void play(GameApi& api) { api.begin_phase(MatchPhase::playing, api.rules().time_limit_s); }
  static void start(GameApi& api) {
    if (api.rules().warmup_s > 0)
      api.begin_phase(MatchPhase::warmup, api.rules().warmup_s);
    else
      play(api);
  }
};

class Cooperative final : public MatchGame {
 public:
  std::optional<SpawnPoint> spawn(GameApi& api, EntityId player) override {
    return api.free_start(false, slot_of(player));
  }
  void exited(GameApi& api, EntityId) override {
    if (api.match().phase == MatchPhase::playing) end(api);
  }

 private:
  std::uint16_t points_of(GameApi& api, EntityId who, EntityId by, std::uint16_t points) override {
    return points_as_ever(api, who, by, points);
  }
  void count(GameApi& api, EntityId who, EntityId by) override { count_as_ever(api, who, by); }
};

/// Who kills another player has a point; who dies by himself or by the world loses one.
void count_frag(GameApi& api, EntityId who, EntityId by, bool friends) {
  const bool other = by != who && by != EntityId{0} && slot_of(by) < api.players().rows();
  const EntityId scorer = other ? by : who;
  const std::int32_t points = other && !friends ? 1 : -1;
  api.add_score(scorer, points);
  api.add_team_score(api.team(scorer), points);
}

class Deathmatch final : public MatchGame {
 public:
  std::optional<SpawnPoint> spawn(GameApi& api, EntityId) override {
    return api.free_start(true, api.random().next_u32());
  }

 private:
  std::uint16_t points_of(GameApi&, EntityId, EntityId, std::uint16_t points) override { return points; }
  void count(GameApi& api, EntityId who, EntityId by) override {
    if (is_player(api, who)) count_frag(api, who, by, false);
  }
  bool decided(const GameApi& api) const override {
    const Standing s = standing(api, 0);
    return s.players >= 2 && s.left <= 1;
  }
};

class Teams final : public MatchGame {
 public:
  void joined(GameApi& api, EntityId player) override {
    api.set_team(player, api.team_size(1) <= api.team_size(2) ? 1 : 2);
  }
  std::optional<SpawnPoint> spawn(GameApi& api, EntityId) override {
    return api.free_start(true, api.random().next_u32());
  }

 private:
  static bool friends(const GameApi& api, EntityId a, EntityId b) {
    return a != b && api.team(a) != 0 && api.team(a) == api.team(b);
  }
  std::uint16_t points_of(GameApi& api, EntityId who, EntityId by, std::uint16_t points) override {
    return friends(api, who, by) && api.rules().friendly_fire == Switch::off ? std::uint16_t{0} : points;
  }
  void count(GameApi& api, EntityId who, EntityId by) override {
    if (is_player(api, who)) count_frag(api, who, by, friends(api, who, by));
  }
  std::int32_t best(const GameApi& api) const override { return std::ranges::max(api.match().team_score); }
  bool decided(const GameApi& api) const override {
    const Standing one = standing(api, 1), two = standing(api, 2);
    return one.players > 0 && two.players > 0 && (one.left == 0 || two.left == 0);
  }
};

/// A block that somebody placed is a point of his for as long as it stands, whoever takes it away. What lay
/// there before the match is nobody's, and neither is what fell, grew or was placed before.
class Building final : public MatchGame {
 public:
  /// While the score stands nobody changes anything.
  bool may_edit(GameApi& api, EntityId, IVec3, BlockId) override {
    return api.match().phase != MatchPhase::intermission;
  }
  void edited(GameApi& api, EntityId player, IVec3 block) override {
    if (api.match().phase != MatchPhase::playing || api.restarting()) return;
    const VoxelVolume& voxels = *api.space().voxels;
    const BlockId is = voxels.block(block);
    // What falls into water has that come up where it was.
    const bool stands = is != BlockId::air && !voxels.kinds().type(is).liquid;
    const auto owner = placed_.owner(block);
    const bool his = stands && !owner && player != EntityId{0};
    if (his && placed_.add(block, number_of(api, player))) api.add_score(player, 1);
    if (stands || !owner) return;
    placed_.remove(block);
    for (const MatchPlayer& p : api.match().players)
      if (p.id != EntityId{0} && p.builder == *owner) return void(api.add_score(p.id, -1));
  }
  /// What of its blocks went while it was away counts no more.
  void returned(GameApi& api, EntityId player) override {
    const MatchPlayer& p = api.match().players[slot_of(player)];
    if (p.builder == 0) return;
    api.add_score(player, static_cast<std::int32_t>(placed_.count_of(p.builder)) - p.score);
  }
  void keep_built(KeptBuilt& out) const override {
    out.builders = builders_;
    out.placed.clear();
    placed_.each([&out](IVec3 block, std::uint32_t by) { out.placed.push_back({block, by}); });
  }
  void take_built(const KeptBuilt& kept) override {
    builders_ = kept.builders;
    for (const KeptPlacement& one : kept.placed) placed_.add(one.block, one.builder);
  }
  void add_to_hash(StripeHasher& hash) const override { placed_.add_to_hash(hash); }

 private:
  /// By which its blocks are known; its first one gives it one.
  std::uint32_t number_of(GameApi& api, EntityId player) {
    const std::uint32_t known = api.match().players[slot_of(player)].builder;
    if (known != 0) return known;
    api.set_builder(player, ++builders_);
    return builders_;
  }
  void anew() override { placed_.clear(); }
  std::uint16_t points_of(GameApi& api, EntityId who, EntityId by, std::uint16_t points) override {
    return points_as_ever(api, who, by, points);
  }
  void count(GameApi&, EntityId, EntityId) override {}  // kills are nobody's business

  PlacedBlocks placed_;
  std::uint32_t builders_ = 0;  // that have a number: of all matches, so that none gets another's
};

/// No match, no end.
class Sandbox final : public Game {
  bool resumes() const override { return true; }
  bool touches_players() const override { return false; }
  bool follows_presence() const override { return false; }
};

}  // namespace

std::unique_ptr<Game> make_mode(const Rules& rules) {
  switch (rules.mode) {
    case GameMode::cooperative: return std::make_unique<Cooperative>();
    case GameMode::deathmatch: return std::make_unique<Deathmatch>();
    case GameMode::teams: return std::make_unique<Teams>();
    case GameMode::building: return std::make_unique<Building>();
    case GameMode::sandbox: break;
  }
  return std::make_unique<Sandbox>();
}

}  // namespace ashlar
