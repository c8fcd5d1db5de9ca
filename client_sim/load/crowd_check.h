#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "client_sim/client/client.h"

namespace ashlar::client_sim {

/// Holds what clients are told of each other against what each is told of itself: both are of the same ticks,
/// so that a place in a view is the quantised place of whose it is, or a step beside it while that one moves
/// (tells()). One thread.
class CrowdCheck {
 public:
  /// Notes where a client's own player was, as it was told. Call once a turn.
  void note(const Client& client);
  /// Looks at all that a client was told of the others of which the same tick is known.
  void look(const Client& client);

  std::uint64_t compared() const { return compared_; }  ///< places
  std::uint64_t wrong() const { return wrong_; }        ///< of these: farther off than may be told
  /// Entities within near_m of a client's own player that it knew of, about the mean of the newest looks: who
  /// came first saw nobody.
  double seen_near() const { return seen_near_; }
  static constexpr double near_m = 64;
  /// Times that a client heard nothing for half a second of the server's ticks or longer, and for two
  /// snapshots where they come seldom.
  std::uint64_t gaps() const { return gaps_; }
  /// Of those that are over: until the client knew of everybody within agrees_m of it as of a tick after the
  /// gap, the most ticks of the server in which it looked again. A harness that comes seldom counts fewer.
  std::uint32_t agreed_after_ticks() const { return agreed_after_; }
  /// Gaps after which it has not come to that yet.
  std::uint32_t disagreeing() const;
  static constexpr double agrees_m = 24;

 private:
  static constexpr std::size_t ticks_kept = 64;
  struct Place {
    std::uint32_t tick = 0;  // 0: none
    QuantisedPosition at;
  };
  /// What one client has heard of lately.
  struct Hearing {
    std::uint32_t newest = 0;
    std::uint32_t since = 0;  // first tick after a gap; 0: there is none that is not over
    std::uint32_t looks = 0;  // since then
  };
  bool agrees(const Client& client, std::uint32_t since);

  std::map<EntityId, std::array<Place, ticks_kept>> known_;
  std::map<EntityId, DVec3> newest_;
  std::map<const Client*, Hearing> hearing_;
  std::uint64_t gaps_ = 0;
  std::uint32_t agreed_after_ = 0;
  std::uint64_t compared_ = 0, wrong_ = 0;
  double seen_near_ = 0;
  std::vector<ViewEntity> seen_;  // scratch
};

}  // namespace ashlar::client_sim
