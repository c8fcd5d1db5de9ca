#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/host/session.h"

namespace ashlar::server {

/// The bodies of players whose connection broke off: they stay in the world for a while, stand still, can be
/// hit, and hold places until those are needed. Who proves to hold the earlier session's secret takes its
/// body back. The Host's thread. Allocates for names alone.
class AwayBodies {
 public:
  struct Body {
    EntityId player{};
    Identity identity{};
    secure::PublicKey client;
    std::string token_id;
    ResumeKeys resume;  ///< of the session that it had
    std::string name;
    Turn16 delta_yaw{0};
    std::uint32_t act_number_offset = 0;           ///< EditDesk::number_offset
    std::vector<std::vector<std::uint8_t>> lines;  ///< of chat that it said, and that wait for their turn
    PeerAddress address;                           ///< where it was last
    Micros came_at{0};                             ///< when its player first came
    Micros joined_at{0};
    Micros until{0};
    std::string ended_for;  ///< empty: it may come back; else what log and chat are told
  };

  /// Lines of chat that come back with a body: more than a stream holds of those of any length that a client
  /// sends. One whose acknowledgement was lost is said twice.
  static constexpr std::size_t lines_max = 128;

  /// @param places  of the Host: no more bodies wait
  explicit AwayBodies(std::size_t places);

  /// Asserts that there is room.
  void add(Body body);
  /// Who may come back by that number; null: nobody.
  Body* find(std::uint32_t number);
  Body* find_identity(const Identity& identity);  ///< null: that player is not away
  /// Of those for which may_go(body) holds, the one that has waited longest; null: there is none.
  template <class Test>
  Body* oldest(Test&& may_go) {
    const auto it = std::ranges::find_if(bodies_, may_go);
    return it == bodies_.end() ? nullptr : &*it;
  }
  /// Takes out all whose time is over at `now`, or who are kicked, and calls ended(body) for each, who waited
  /// longest first. In one pass: as many may end in one tick as are away.
  template <class Ended>
  void take_due(Micros now, Ended&& ended) {
    std::erase_if(bodies_, [&](const Body& body) {
      const bool due = now >= body.until || !body.ended_for.empty();
      if (due) ended(body);
      return due;
    });
  }
  /// Takes it out; `body` is one of these.
  Body take(Body& body);

  /// Forgets all of them: their world is gone.
  void clear() { bodies_.clear(); }
  /// All that wait.
  std::span<Body> bodies() { return bodies_; }
  /// How many wait.
  std::uint32_t count() const { return static_cast<std::uint32_t>(bodies_.size()); }

 private:
  std::size_t places_;
  std::vector<Body> bodies_;  // who has waited longest comes first
};

}  // namespace ashlar::server
