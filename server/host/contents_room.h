#pragma once
#include <cstdint>
#include <vector>

#include "protocol/message_writer.h"
#include "server/host/contents_desk.h"
#include "server/host/session_table.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Tells players what the chest holds that they look into, what is written on signs near them and when the
/// timers of blocks near them run out, on the edits stream: behind the changes of blocks, so that who hears
/// of a sign's text has heard of the sign. What a full stream does not take is told in a later tick, as it is
/// then. What is no longer among those that a session is told of is told gone, so that its client never shows
/// what nobody corrects. The Host's thread. Cost: a comparison of 200 bytes for who has a chest open; a
/// distance for each sign or timer that changed, and a look-up where it is near; every sixteenth tick for who
/// has moved some metres or could not be told all, else for nobody, all within interest is looked through, by
/// columns, the nearest first, until shown_max are found that lie nearer than any column that is left. One of
/// the nearest so far costs ten comparisons more.
class ContentsRoom {
 public:
  /// It must outlive this.
  ContentsRoom(SessionTable& sessions, double interest_radius_m);

  /// Signs and timers of one session. Of more within interest the nearest are told: one that appears nearer
  /// takes the place of the farthest, sixteen ticks later at most where its stream has room. Not a setting.
  static constexpr std::size_t shown_max = 1024;

  /// After the step, behind EditRoom::publish().
  void publish(const World& world);

  // --- for checks ---
  std::uint64_t looked() const { return looked_; }  ///< signs and timers that were looked at so far

 private:
  /// A sign or timer, and the square of how far it is from the player.
  struct Near {
    double far_m2 = 0;
    IVec3 block;
    /// Whether it is told before the other; ties by place.
    bool operator<(const Near& other) const;
  };
  void note_changes(const World& world);
  void tell_signs(const World& world, Session& session, DVec3 at);
  void tell_changed(const World& world, Session& session, DVec3 at, IVec3 block);
  void tell_chest(const World& world, Session& session, std::size_t row);
  void tell_shown(const World& world, Session& session, DVec3 at);
  void find_nearest(const World& world, DVec3 at);
  void find_in_column(const World& world, IVec2 column, DVec3 at);
  void find_gone(const World& world, const ContentsDesk& desk, DVec3 at);
  bool tell_gone(const World& world, Session& session);
  bool say_chest(const World& world, Session& session, bool open, IVec3 block, const Inventory& items);
  bool tell_one(const World& world, Session& session, IVec3 block, const ContentsDesk::Shown& shown);

  SessionTable* sessions_;
  double radius_m_;             // a little further than interest
  std::int32_t reach_;          // columns to each side
  std::vector<IVec2> columns_;  // offsets of these, by rings around the player's own
  std::vector<Near> nearest_;   // to one player, shown_max at most
  std::vector<IVec3> gone_;     // what one was told of and is to be told gone
  std::vector<IVec3> changed_;  // signs and timers, in this tick
  bool many_changed_ = false;   // more than changed_ takes
  std::uint64_t looked_ = 0;
  MessageWriter writer_;
  HeldByBlock message_;
};

}  // namespace ashlar::server
