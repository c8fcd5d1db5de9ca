#pragma once

namespace ashlar::server {

/// Deliberately wrong behaviour, one switch each, so that the simulation can show that it would notice.
/// No setting reaches them: only the simulation's --break and the tests do. All are off in every server.
struct Defects {
  bool early_ack = false;      ///< a command counts as applied when it arrives, not when it was played
  bool reuse_id = false;       ///< a row's next connection gets the id of the one before
  bool stale_input = false;    ///< a missing command is replaced by what its place in the buffer last held
  bool replay_window = false;  ///< a datagram that was seen before is taken again
  bool lost_wake = false;      ///< a line of chat is sent when it comes, and not again when it got lost
  bool ghost = false;          ///< the player of a session that timed out stays in the world
  bool blind_spot = false;     ///< nobody is told of the farthest cell in reach
  bool lost_heights = false;   ///< floors and ceilings that move are not told
  bool lost_line = false;      ///< every eighth line of chat is passed over
  bool no_turns = false;       ///< what finds no room in a snapshot finds none in the next one either
  bool wrong_eyes = false;     ///< interest looks from the eyes of the client that was served before
};

}  // namespace ashlar::server
