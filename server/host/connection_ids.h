#pragma once
#include <cstdint>

#include "server/host/secret_key.h"

namespace ashlar::server {

/// Draws the ids of new connections, and tells the room that an id belongs to: several Hosts on one port each
/// have a number, and one secret.
///
///     bits  0 to 23   a keyed hash of the room and of how many ids it has drawn
///     bits 24 to 31   the room, xor 8 bits of a keyed hash of the 24 others
///
/// Nothing that anybody was told before tells the next id, or a bit of it: whoever does not hold the secret
/// finds each of the 2^32 ids as likely, its own room known or not, as the room's byte is behind a mask that
/// only the secret gives. Ids are no secret: they travel in clear, and who speaks is proven by what opens
/// with a session's keys. They have to be random as a reset's token hangs on the id alone (WIRE.md, reset).
/// Ids of a room repeat after some 2^12 draws: the caller draws again where one is in use. One thread.
class ConnectionIds {
 public:
  /// @param secret  shared by the Hosts behind one HostSwitch; else each Host has its own
  ConnectionIds(const SecretKey& secret, std::uint8_t room);

  /// Never 0.
  std::uint32_t draw();

  /// The room whose Host drew this id. Of an id that nobody drew: any.
  static std::uint8_t room_of(const SecretKey& secret, std::uint32_t id);

 private:
  SecretKey secret_, own_;
  std::uint8_t room_;
  std::uint64_t drawn_ = 0;
};

}  // namespace ashlar::server
