#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/explore/explorer.h"

namespace ashlar::client_sim {

/// How far explorers came in one map.
struct Explored {
  std::string map;
  std::uint32_t entered = 0, sectors = 0;
};

/// What clients of one process that explore share: for each of the server's maps an expedition. One thread.
class ExploreParty {
 public:
  /// The map that a welcome names, placed as it says; nullptr: not held here.
  using Placed = std::function<std::shared_ptr<const PlacedMap>(const WelcomeMap&)>;
  explicit ExploreParty(Placed placed) : placed_(std::move(placed)) {}

  /// One map's ground, in the order of the welcome.
  struct Ground {
    std::shared_ptr<const PlacedMap> map;    ///< nullptr: not held
    std::shared_ptr<Expedition> expedition;  ///< set where the map is
    std::shared_ptr<Router> router;
    std::uint32_t heights_tick = 0;  ///< of the newest heights that the expedition has seen
    std::uint32_t explorers = 0;     ///< that were ever in there
    std::uint64_t match = 0;         ///< that is explored: number and world; 0: none was told of
  };
  /// Works out the ground of the welcome's maps; a second call for the same ones does nothing. Cost: about a
  /// second for the largest of Freedoom's maps, so before anybody plays.
  void prepare(const Welcome& welcome);
  /// Of that welcome's maps; none where it was not prepared. Valid until the next prepare().
  std::span<Ground> grounds(const Welcome& welcome);

  /// Of each map that is held, by world, in the order of its welcome.
  std::vector<Explored> explored() const;

 private:
  /// Of maps that are placed in one world together.
  struct Prepared {
    std::vector<std::uint64_t> maps;  ///< what they hold and where they stand
    std::vector<Ground> grounds;
  };
  Placed placed_;
  std::vector<Prepared> worlds_;
};

/// One client of a party. In a map it is an Explorer on what the client knows: heights as snapshots tell
/// them, and its own body, carried on from the newest snapshot through the commands the server has not
/// confirmed. Seeded.
class PartyExplorer {
 public:
  PartyExplorer(std::shared_ptr<ExploreParty> party, std::uint64_t seed);

  /// The command for now; nullopt: it is on the surface. One decision for each command that the client
  /// issues, however often it is asked.
  std::optional<PlayerCommand> think(const Client& client);

  /// In place of think(): its feet stay where they are, for their own reasons, or go elsewhere.
  void rest(const Client& client);
  /// Goes to a place before anything else, as Explorer::seek(), from the next think() on.
  void seek(std::optional<DVec3> place_m) { seek_m_ = place_m; }
  /// Leaves maps by their exits once it knows a way, from now on.
  void leave_by_exit() { leaves_ = true; }
  /// What its client really did in place of the last think()'s command.
  void did(const PlayerCommand& command) { command_ = command; }
  /// Of the map that it was in at the last think(); null: in none.
  const Expedition* expedition() const { return explorer_ ? on_.get() : nullptr; }

  /// Where to go on the surface to get into the nearest map; nullopt: no map has a doorway.
  std::optional<DVec2> way_in(const Client& client) const;

 private:
  void note_commands(std::uint32_t newest_tick);
  void note_match(const Client& client, ExploreParty::Ground& ground);
  Body carried_on(const Client& client, const ExploreParty::Ground& ground) const;
  ExploreParty::Ground* enter(const Client& client);

  static constexpr std::uint32_t given_max = 64;  // commands that may be on their way

  std::shared_ptr<ExploreParty> party_;
  std::uint64_t seed_;
  std::optional<Explorer> explorer_;
  std::shared_ptr<Expedition> on_;  // that explorer_ is, or was before it died
  std::uint32_t number_ = 0;        // its own in there
  std::uint8_t keys_ = 0;           // that it held when it died
  std::uint64_t match_ = 0;
  std::optional<DVec3> seek_m_;
  bool leaves_ = false;
  std::optional<PlayerCommand> command_;
  std::uint32_t thought_tick_ = 0;
  std::array<PlayerCommand, given_max> given_{};  // by tick modulo
};

}  // namespace ashlar::client_sim
