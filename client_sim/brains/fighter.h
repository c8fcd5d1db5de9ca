#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client_sim/brains/flag_errand.h"
#include "client_sim/explore/party.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

/// A player who plays the match to win it. Fights monsters and, where the mode has it so, players: whom it
/// sees it turns to, with the weapon that does most at that distance, aims ahead of with what flies, and
/// steps aside while it fires. Fetches what lies near. Beside that it does what the mode is about: in
/// cooperative play it explores the map and goes through its exit, in deathmatch and teams it goes for the
/// others, and in capture the flag for the flag. Its feet are an explorer's (explore/party.h), who finds
/// ways, doors, lifts and keys; on the surface it runs straight. Seeded; reads nothing but its client.
class Fighter {
 public:
  /// @param party  with the maps' ground; null: it knows no ways in maps
  Fighter(std::shared_ptr<ExploreParty> party, std::uint64_t seed);

  /// The command for now; one decision for each command that the client issues, however often it is asked.
  PlayerCommand think(const Client& client);

 private:
  /// Somebody to fight.
  struct Foe {
    EntityId id{};
    DVec3 middle_m, velocity_mps;
    double away_m = 1e9;
    std::uint8_t health = 0;
    bool seen = false;  // nothing between the two, as far as it knows
  };
  /// What it leaves alone for a while: no use for it, or no harm done to it.
  struct Shunned {
    EntityId id{};
    std::uint32_t until_tick = 0;
  };

  void look(const Client& client);
  bool hostile(const Client& client, const ViewEntity& e) const;
  bool visible(DVec3 from, DVec3 to) const;
  void consider(const Client& client, const ViewEntity& e);
  void keep_at_it(const Client& client);
  bool shunned(EntityId id) const;
  std::optional<DVec3> errand(const Client& client) const;
  PlayerCommand walk(const Client& client);
  PlayerCommand walk_straight(const Client& client);
  bool stands_to_fight(const Client& client) const;
  void fight(const Client& client, PlayerCommand& command, bool stands);
  void step_aside(const Client& client, PlayerCommand& command, double away_m);

  std::shared_ptr<ExploreParty> party_;
  PartyExplorer feet_;
  FlagErrand flags_;
  Rng rng_;
  std::uint32_t held_ticks_ = 0;  // that the trigger has been held
  PlayerCommand command_;
  std::uint32_t tick_ = 0;     // of the newest decision
  std::uint32_t second_ = 60;  // in ticks
  bool versus_ = false;        // players are to be fought
  std::uint8_t team_ = 0;
  bool alive_ = false;
  DVec3 home_m_;  // where it last began
  std::vector<ViewEntity> seen_;
  Foe foe_;
  EntityId item_{};
  DVec3 item_m_;
  std::uint32_t item_until_ = 0;
  std::uint32_t harmless_since_ = 0;  // ticks: the foe has lost no health since then
  std::uint8_t harmless_health_ = 0;
  EntityId harmless_id_{};
  std::vector<Shunned> shunned_;
  std::uint32_t aside_until_ = 0;
  double aside_ = 0;
  std::uint32_t check_tick_ = 0, dodge_until_ = 0;  // on the surface
  DVec3 check_m_;
  Turn16 dodge_{0};
};

}  // namespace ashlar::client_sim
