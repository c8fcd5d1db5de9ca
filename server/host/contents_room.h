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
/// then. The Host's thread. Cost: a comparison of 200 bytes for who has a chest open; a distance for each
/// sign or timer that changed, and a look-up where it is near; every sixteenth tick all within interest is
/// looked through for who has moved some metres or could not be told all, else for nobody.
class ContentsRoom {
 public:
  /// It must outlive this.
  ContentsRoom(SessionTable& sessions, double interest_radius_m);

  /// Signs and timers of one session; those further off or beyond are told to nobody.
  static constexpr std::size_t shown_max = 1024;

  /// After the step, behind EditRoom::publish().
  void publish(const World& world);

  // --- for checks ---
  std::uint64_t looked() const { return looked_; }  ///< signs and timers that were looked at so far

 private:
  void note_changes(const World& world);
  void tell_signs(const World& world, Session& session, DVec3 at);
  void tell_changed(const World& world, Session& session, DVec3 at, IVec3 block);
  void tell_chest(const World& world, Session& session, std::size_t row);
  void tell_shown(const World& world, Session& session, DVec3 at);
  bool tell_one(const World& world, Session& session, IVec3 block, const ContentsDesk::Shown& shown);

  SessionTable* sessions_;
  double radius_m_;             // a little further than interest
  std::int32_t reach_;          // columns to each side
  std::vector<IVec3> changed_;  // signs and timers, in this tick
  bool many_changed_ = false;   // more than changed_ takes
  std::uint64_t looked_ = 0;
  MessageWriter writer_;
  HeldByBlock message_;
};

}  // namespace ashlar::server
