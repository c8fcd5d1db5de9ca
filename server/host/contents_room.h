#pragma once
#include "protocol/message_writer.h"
#include "server/host/session_table.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Tells players what the chest holds that they look into, and what is written on signs near them, on the
/// edits stream: behind the changes of blocks, so that who hears of a sign's text has heard of the sign. What
/// a full stream does not take is told in a later tick, as it is then. The Host's thread. Cost: a comparison
/// of 200 bytes for who has a chest open; for the signs, every sixteenth tick a look-up for each column of
/// chunks within interest, where there are any.
class ContentsRoom {
 public:
  /// It must outlive this.
  ContentsRoom(SessionTable& sessions, double interest_radius_m);

  /// Of one session; signs further off or beyond are told to nobody.
  static constexpr std::size_t signs_max = 1024;

  /// After the step, behind EditRoom::publish().
  void publish(const World& world);

 private:
  void tell_chest(const World& world, Session& session, std::size_t row);
  void tell_signs(const World& world, Session& session, DVec3 at);
  bool tell_sign(const World& world, Session& session, IVec3 block, const SignText& text);

  SessionTable* sessions_;
  double radius_m_;
  std::int32_t reach_;  // columns to each side
  MessageWriter writer_;
  HeldByBlock message_;
};

}  // namespace ashlar::server
