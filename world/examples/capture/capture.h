#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "world/sim/game.h"
#include "world/sim/game_replication.h"

namespace ashlar::examples {

/// While the use button is held, a rope to what the player looks at pulls him there. A client that is linked
/// with it foresees every bit of it.
class Grapple final : public PlayerMotion {
 public:
  static constexpr double rope_m = 30, pull_mps2 = 60, speed_mps_max = 16;
  DVec3 velocity_mps(const Space& space, const Rules& rules, const PlayerCommand& command,
                     const Body& body) const override {
    if ((command.buttons & button::use) == 0) return body.velocity_mps;
    const DVec3 eye = body.position_m + DVec3{0, 0, rules.player_eye_m};
    const SinCos rise = sin_cos(command.pitch);
    const DVec2 ahead = heading(command.yaw) * rise.cos;
    const DVec3 view{ahead.x, ahead.y, rise.sin};
    if (!space_ray(space, eye, view, rope_m).hit()) return body.velocity_mps;
    const DVec3 v = body.velocity_mps + view * (pull_mps2 * rules.tick_s());
    const double speed = std::sqrt(dot(v, v));
    return speed > speed_mps_max ? v * (speed_mps_max / speed) : v;
  }
};

/// Capture the flag: who touches the other team's carries it, and scores with it at his own base while his
/// own flag is there. Who dies drops it. Whom the other team touches away from its base gives it back, or two
/// teams that hold each other's would wait for ever.
class Capture final : public Game {
 public:
  static constexpr double touch_m = 1.5, return_s = 10, base_m = 6;
  static constexpr std::int32_t score_to_win = 3;
  /// @param bases  of teams 1 and 2
  explicit Capture(std::array<DVec3, 2> bases) : bases_(bases), flags_(bases) {}
  void declare(ReplicationRegistry& to) override {
    flag_kind_ = *to.add_kind("flag", true);
    carrier_field_ = *to.add_field(flag_kind_, {.name = "carrier", .bits = 32});
    const EntityKind player = EntityKind::player;
    carrying_field_ = *to.add_field(
        player, {.name = "carrying_s", .bits = 8, .to = FieldAudience::owner, .interpolated = true});
    captures_field_ = *to.add_field(player, {.name = "captures", .bits = 4, .to = FieldAudience::team});
    scored_ = *to.add_message("scored", 1);
  }
  void begin(GameApi& api) override {
    api.begin_phase(MatchPhase::playing, 0);
    for (std::size_t i = 0; i < 2; ++i)
      flag_ids_[i] = api.add_thing(flag_kind_, flags_[i], EntityId{0}, static_cast<std::uint8_t>(i + 1));
  }
  void joined(GameApi& api, EntityId player) override {
    api.set_team(player, api.team_size(1) <= api.team_size(2) ? 1 : 2);
  }
  void left(GameApi& api, EntityId player) override { drop(api, player); }
  void away(GameApi& api, EntityId player) override { drop(api, player); }
  std::optional<SpawnPoint> spawn(GameApi& api, EntityId player) override {
    const double aside_m = api.random().between(-1.0, 1.0);
    return SpawnPoint{bases_[api.team(player) - 1u] + DVec3{aside_m, 0, 0}, Turn16{0}};
  }
  std::shared_ptr<const PlayerMotion> motion() const override { return std::make_shared<Grapple>(); }
  std::uint16_t damage(GameApi& api, EntityId who, EntityId by, std::uint16_t points) override {
    return who != by && api.team(who) != 0 && api.team(who) == api.team(by) ? std::uint16_t{0} : points;
  }
  void touched(GameApi& api, EntityId player, EntityId other) override {
    if (api.team(player) == api.team(other)) return;
    for (std::size_t flag = 0; flag < 2; ++flag) {
      const bool by = carrier_[flag] != EntityId{0} && (carrier_[flag] == player || carrier_[flag] == other);
      if (!by || within(flags_[flag], bases_[flag], base_m)) continue;
      drop(api, carrier_[flag]);
      flags_[flag] = bases_[flag];
    }
  }
  bool may_edit(GameApi&, EntityId, IVec3 block, BlockId) override {
    return std::ranges::none_of(bases_, [&](DVec3 base) { return within(to_dvec3(block), base, base_m); });
  }
  void tick(GameApi& api) override {
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
      hash.add(flags_[i]), hash.add(static_cast<std::uint64_t>(carrier_[i]) << 32 | held_ticks_[i]);
  }

  EntityId carrier(std::size_t flag) const { return carrier_[flag]; }
  DVec3 flag(std::size_t flag) const { return flags_[flag]; }
  EntityId flag_id(std::size_t flag) const { return flag_ids_[flag]; }

 private:
  static bool within(DVec3 a, DVec3 b, double m) { return dot(a - b, a - b) < m * m; }

  void carry(GameApi& api) {
    for (std::size_t row = 0; row < api.players().rows(); ++row) {
      const EntityId player = api.players().id[row];
      const std::uint8_t team = api.team(player);
      if (team == 0 || !api.alive(player) || api.away(player)) continue;
      const DVec3 at = api.players().body[row].position_m;
      const std::size_t own = team - 1u, other = 1 - own;
      if (carrier_[other] == player) {
        flags_[other] = at, ++held_ticks_[other];
        api.set_field(player, carrying_field_, held_ticks_[other] / api.rules().tick_rate_hz);
        const bool home = carrier_[own] == EntityId{0} && flags_[own] == bases_[own];
        if (home && within(at, bases_[own], touch_m)) score(api, player, team, other);
      } else if (carrier_[other] == EntityId{0} && within(at, flags_[other], touch_m)) {
        carrier_[other] = player, held_ticks_[other] = 0;
        api.stop_timer(other);
      }
    }
  }
  void score(GameApi& api, EntityId player, std::uint8_t team, std::size_t flag) {
    carrier_[flag] = EntityId{0}, flags_[flag] = bases_[flag];
    api.set_field(player, carrying_field_, 0);
    api.add_score(player, 1);
    api.add_team_score(team, 1);
    api.set_field(player, captures_field_, api.field(player, captures_field_).value_or(0) + 1);
    api.send_to_all(scored_, std::array<std::uint8_t, 1>{team});
    if (api.match().team_score[team - 1u] >= score_to_win) api.begin_phase(MatchPhase::intermission, 5);
  }

  void drop(GameApi& api, EntityId player) {
    for (std::size_t flag = 0; flag < 2; ++flag) {
      if (player == EntityId{0} || carrier_[flag] != player) continue;
      carrier_[flag] = EntityId{0};
      api.set_field(player, carrying_field_, 0);
      api.start_timer(flag, return_s);
    }
  }

  std::array<DVec3, 2> bases_, flags_;
  std::array<EntityId, 2> carrier_{}, flag_ids_{};  // who has each team's flag; the flags
  std::array<std::uint32_t, 2> held_ticks_{};       // of who carries it
  EntityKind flag_kind_{};
  std::size_t carrier_field_ = 0, carrying_field_ = 0, captures_field_ = 0, scored_ = 0;
};

}  // namespace ashlar::examples
