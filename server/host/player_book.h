#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "server/host/kept_player.h"
#include "server/host/session_table.h"
#include "server/host/tick_input.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// Who came back, and where it was.
struct Arrival {
  std::uint32_t session = 0;  ///< its row
  EntityId player{};
  DVec3 position_m;
  Turn16 yaw{0};
};

/// What of a player is given back to it beside what it holds and its score in a match that goes on.
struct GivenBack {
  bool place = false;  ///< it begins where it left off, not at a start, unless it was dead
  bool life = false;   ///< with the health, armour and weapons that it had, likewise
};

/// What players hold and where they are, by who they are: those who are in the world and those who left. Who
/// comes back brings it along. As long as the Host lives this is the truth of all whom a store knows: it is
/// filled from there before anybody comes, and says after each step who changed. The Host's thread. About 550
/// bytes a player who is away.
///
/// Who is new, holds nothing, has no score, is as well and armed as it came and stands where it came is
/// nobody to keep: no row is made for it, and none is left behind.
class PlayerBook {
 public:
  /// Of players who are away. Beyond that they go who have been away for longest of those who hold nothing;
  /// where all hold something those of them who have held little for long, see Rank.
  static constexpr std::size_t away_max = 100'000;

  /// Of players who left and can still be asked for by their ids, which nobody else gets.
  static constexpr std::size_t departed_max = 4096;

  /// Who went no further than that from where it first stood is no place to come back to.
  static constexpr double place_kept_m = 8;

  /// Who walks or fights is told of as changed so often, beside the changes of what it holds, and deaths.
  static constexpr std::uint32_t place_every_s = 10;

  /// @param players_max  slots of the world
  /// @param most_away  players who are away and kept (HostConfig::players_away_max)
  PlayerBook(std::uint32_t players_max, std::uint16_t tick_rate_hz, GivenBack back,
             std::size_t most_away = away_max)
      : back_(back), most_away_(most_away) {
    begin_world(players_max, tick_rate_hz);
  }
  /// Another world, with other things: nobody holds anything.
  void begin_world(std::uint32_t players_max, std::uint16_t tick_rate_hz);
  /// A player of an earlier run; the one who was there longest ago first.
  void remember(const KeptPlayer& player);

  /// Before a tick's input is collected: what those bring who join in it. Where a body of theirs is still in
  /// the world it leaves in that tick: who fought lately has been given its own, and joins no more.
  void collect(const World& world, const SessionTable& sessions, TickInputCollector& input);
  /// What collect() found, in the order of joins.
  std::span<const Returning> returning() const { return returning_; }
  /// After the step, before sessions change.
  void stepped(const World& world, const SessionTable& sessions);
  /// Whose places are to be given back: who joined in the last step, was here before, and lived. Valid until
  /// the next step.
  std::span<const Arrival> arrivals() const { return arrivals_; }
  /// All who are in the world and worth keeping.
  std::vector<KeptPlayer> present() const;
  /// Whose inventory is other than before the last step, who left in it, and who was somewhere else some
  /// seconds before; and who is not kept any more (`gone`).
  std::span<const KeptPlayer> changed() const { return changed_; }

  /// Who a player of the world is, as of the last step, or was that left: what it lit or ordered goes on
  /// without it. Untouched for who is none of this Host's, and but for the last departed_max who left.
  void author_of(EntityId id, EditAuthor& out) const;
  /// By kind: items that are held by players who are not in the world. O(players), for checks.
  void count_away(std::array<std::uint64_t, block_kinds_max>& out) const;
  std::uint64_t forgotten() const { return forgotten_; }  ///< players who held something, for want of room

 private:
  /// Who is in a slot of the world, as of the last step.
  struct Present {
    EntityId id{};
    KeptPlayer player;
    std::string name;
    KeptPlayer told;  // as it was when it was last told of as changed
    bool returned = false, seen = false;
    bool kept = false;       // it was told of: there may be a row of it
    DVec3 first_position_m;  // once seen: as it came
    PlayerLife first_life = {};
  };
  /// Who is forgotten sooner has the lower one. Each twofold of what it holds is worth having left later by a
  /// quarter of as many others as are kept: who comes with little for once does not push out whoever has
  /// filled its pockets, but nobody's place is taken for good, either.
  struct Rank {
    bool holds = false;
    std::uint64_t worth = 0;
    std::uint64_t order = 0;  // who left later has a higher one
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  struct Away {
    KeptPlayer player;
    Rank rank;
  };
  Rank next_rank(const Inventory& held);
  bool worth_keeping(const Present& present) const;
  void put_away(const KeptPlayer& player);
  void make_room();  // for one more
  void forget(std::map<PlayerIdentity, Away>::iterator who);
  void tell(Present& present);
  Returning bring(std::uint32_t session, const KeptPlayer& was) const;
  EntityId body_of(const PlayerIdentity& identity) const;
  void note_departed(const Departed& departed);

  GivenBack back_;
  std::uint32_t place_every_ticks_ = 0;
  std::size_t most_away_;
  struct DepartedAuthor {
    EntityId id{};
    PlayerIdentity identity{};
    std::string name;
  };
  std::deque<DepartedAuthor> departed_;  // the last one first
  std::map<PlayerIdentity, Away> away_;
  std::map<Rank, PlayerIdentity> ranks_;  // all who are away
  std::uint64_t next_order_ = 0;
  std::vector<Present> present_;  // by slot
  std::vector<Returning> returning_;
  std::vector<Arrival> arrivals_;
  std::vector<KeptPlayer> changed_;
  std::uint64_t forgotten_ = 0;
};

}  // namespace ashlar::server
