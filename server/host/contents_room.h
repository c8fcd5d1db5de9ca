#pragma once
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
/// then. The Host's thread. Cost: a comparison of 200 bytes for who has a chest open; for signs and timers,
/// every sixteenth tick a look-up for each column of chunks within interest, where there are any.
class ContentsRoom {
 public:
  /// It must outlive this.
  ContentsRoom(SessionTable& sessions, double interest_radius_m);

  /// Signs and timers of one session; those further off or beyond are told to nobody.
  static constexpr std::size_t shown_max = 1024;

  /// After the step, behind EditRoom::publish().
  void publish(const World& world);

 private:
  void tell_chest(const World& world, Session& session, std::size_t row);
  void tell_shown(const World& world, Session& session, DVec3 at);
  bool tell_one(const World& world, Session& session, IVec3 block, const ContentsDesk::Shown& shown);

  SessionTable* sessions_;
  double radius_m_;
  std::int32_t reach_;  // columns to each side
  MessageWriter writer_;
  HeldByBlock message_;
};

}  // namespace ashlar::server
