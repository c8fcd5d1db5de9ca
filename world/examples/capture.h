#pragma once
#include <array>

#include "world/sim/game.h"
#include "world/sim/game_replication.h"

namespace ashlar::examples {

/// Capture the flag, written on the seam: two teams, a flag each at its base. Who touches the other team's
/// flag carries it, faster over a jump pad of his own making: the use button throws him up. Home at his own
/// base, where his own flag has to be, it scores. Who dies drops it: it is back at its base after ten
/// seconds.
///
/// Clients see the flags as things of its own, with a field that says who carries each; a player is told how
/// long until it may leap again, its team how often each of them has scored; and who scores is news to all.
class Capture final : public Game {
 public:
  static constexpr double touch_m = 1.5;
  static constexpr double return_s = 10;
  static constexpr double leap_mps = 9;
  static constexpr double leap_wait_s = 2;
  static constexpr std::int32_t score_to_win = 3;

  /// @param bases  of teams 1 and 2
  explicit Capture(std::array<DVec3, 2> bases) : bases_(bases), flags_(bases) {}

  void declare(ReplicationRegistry& to) override {
    flag_kind_ = *to.add_kind("flag", true);
    carrier_field_ = *to.add_field(flag_kind_, {.name = "carrier", .bits = 32});
    leap_field_ = *to.add_field(
        EntityKind::player,
        {.name = "leap_wait_ticks", .bits = 8, .to = FieldAudience::owner, .interpolated = true});
    captures_field_ =
        *to.add_field(EntityKind::player, {.name = "captures", .bits = 4, .to = FieldAudience::team});
    scored_ = *to.add_message("scored", 1);
  }

  void begin(GameApi& api) override {
    api.begin_phase(MatchPhase::playing, 0);
    for (std::size_t flag = 0; flag < 2; ++flag)
      flag_ids_[flag] =
          api.add_thing(flag_kind_, flags_[flag], EntityId{0}, static_cast<std::uint8_t>(flag + 1));
  }

  void joined(GameApi& api, EntityId player) override {
    api.set_team(player, api.team_size(1) <= api.team_size(2) ? 1 : 2);
  }
  void left(GameApi& api, EntityId player) override { drop(api, player); }

  std::optional<SpawnPoint> spawn(GameApi& api, EntityId player) override {
    DVec3 at = bases_[api.team(player) - 1u];
    at.x += api.random().between(-1.0, 1.0);
    return SpawnPoint{at, Turn16{0}};
  }

  void used(GameApi& api, EntityId player) override {
    const Body& body = api.players().body[slot_of(player)];
    if (body.grounded == 0 || api.field(player, leap_field_) > 0) return;
    api.push(player, {0, 0, leap_mps});
    api.set_field(player, leap_field_, leap_wait_s * api.rules().tick_rate_hz);
  }

  void tick(GameApi& api) override {
    rest_legs(api);
    if (api.match().phase == MatchPhase::playing) carry(api);
    for (std::size_t flag = 0; flag < 2; ++flag) {
      const EntityId by = carrier_[flag];
      const DVec3 along = by == EntityId{0} ? DVec3{} : api.players().body[slot_of(by)].velocity_mps;
      api.move_thing(flag_ids_[flag], flags_[flag], along);
      api.set_field(flag_ids_[flag], carrier_field_, static_cast<double>(by));
    }
  }

  void died(GameApi& api, EntityId who, EntityId) override { drop(api, who); }
  void timer(GameApi&, std::size_t flag) override { flags_[flag] = bases_[flag]; }

  void phase_over(GameApi& api) override {
    flags_ = bases_, carrier_ = {};
    api.restart();
    api.begin_phase(MatchPhase::playing, 0);
  }

  void add_to_hash(StripeHasher& hash) const override {
    for (std::size_t i = 0; i < 2; ++i)
      hash.add(flags_[i]), hash.add(static_cast<std::uint64_t>(carrier_[i]));
  }

  EntityId carrier(std::size_t flag) const { return carrier_[flag]; }
  DVec3 flag(std::size_t flag) const { return flags_[flag]; }
  EntityId flag_id(std::size_t flag) const { return flag_ids_[flag]; }

 private:
  static bool near(DVec3 a, DVec3 b) { return dot(a - b, a - b) < touch_m * touch_m; }

  void carry(GameApi& api) {
    for (std::size_t row = 0; row < api.players().rows(); ++row) {
      const EntityId player = api.players().id[row];
      const std::uint8_t team = api.team(player);
      if (team == 0 || !api.alive(player)) continue;
      const DVec3 at = api.players().body[row].position_m;
      const std::size_t own = team - 1u, other = 1 - own;
      if (carrier_[other] == player) {
        flags_[other] = at;
        const bool home = carrier_[own] == EntityId{0} && flags_[own] == bases_[own];
        if (home && near(at, bases_[own])) score(api, player, team, other);
      } else if (carrier_[other] == EntityId{0} && near(at, flags_[other])) {
        carrier_[other] = player;
        api.stop_timer(other);
      }
    }
  }

  /// Who leapt may do so again after a while.
  void rest_legs(GameApi& api) {
    for (const EntityId player : api.players().id)
      if (const auto ticks = api.field(player, leap_field_); ticks && *ticks > 0)
        api.set_field(player, leap_field_, *ticks - 1);
  }

  void score(GameApi& api, EntityId player, std::uint8_t team, std::size_t flag) {
    carrier_[flag] = EntityId{0};
    flags_[flag] = bases_[flag];
    api.add_score(player, 1);
    api.add_team_score(team, 1);
    api.set_field(player, captures_field_, api.field(player, captures_field_).value_or(0) + 1);
    api.send_to_all(scored_, std::array<std::uint8_t, 1>{team});
    if (api.match().team_score[team - 1u] >= score_to_win) api.begin_phase(MatchPhase::intermission, 5);
  }

  void drop(GameApi& api, EntityId player) {
    for (std::size_t flag = 0; flag < 2; ++flag) {
      if (carrier_[flag] != player) continue;
      carrier_[flag] = EntityId{0};
      api.start_timer(flag, return_s);
    }
  }

  std::array<DVec3, 2> bases_, flags_;
  std::array<EntityId, 2> carrier_{};  // of each team's flag; 0: nobody
  std::array<EntityId, 2> flag_ids_{};
  EntityKind flag_kind_{};
  std::size_t carrier_field_ = 0, leap_field_ = 0, captures_field_ = 0, scored_ = 0;
};

}  // namespace ashlar::examples
