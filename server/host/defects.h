#pragma once

namespace ashlar::server {

// Deliberately wrong behaviour, one switch each, so that the simulation can show that it would notice. They
// are in a build of their own: the folder host is compiled a second time with ASHLAR_DEFECTS, for
// `ashlar-sim simulate --break` and the tests. In every other build each of them is the constant false, the
// compiler leaves out what hangs on it, and nothing can be switched. The type has two names, so that the two
// builds do not link with each other. (Where a sanitizer looks on the host is compiled once, with them; no
// server sets one.)
#ifdef ASHLAR_DEFECTS
#define ASHLAR_DEFECT(name) bool name = false
#define ASHLAR_DEFECTS_TYPE DefectSwitches
inline constexpr bool defects_built_in = true;
#else
#define ASHLAR_DEFECT(name) static constexpr bool name = false
#define ASHLAR_DEFECTS_TYPE NoDefects
inline constexpr bool defects_built_in = false;
#endif

struct ASHLAR_DEFECTS_TYPE {
  ASHLAR_DEFECT(early_ack);      ///< a command counts as applied when it arrives, not when it was played
  ASHLAR_DEFECT(reuse_id);       ///< a row's next connection gets the id of the one before
  ASHLAR_DEFECT(stale_input);    ///< a missing command is replaced by what its place in the buffer last held
  ASHLAR_DEFECT(lost_wake);      ///< a line of chat is not sent while another one is on its way
  ASHLAR_DEFECT(ghost);          ///< the player of a session that timed out stays in the world
  ASHLAR_DEFECT(blind_spot);     ///< nobody is told of the farthest cell in reach
  ASHLAR_DEFECT(lost_heights);   ///< floors and ceilings that move are not told
  ASHLAR_DEFECT(lost_line);      ///< every eighth line of chat is passed over
  ASHLAR_DEFECT(no_turns);       ///< what finds no room in a snapshot finds none in the next one either
  ASHLAR_DEFECT(replay_window);  ///< a packet that comes again counts as one more
  ASHLAR_DEFECT(pays_for_forgery);  ///< what does not open costs its session a token all the same
  ASHLAR_DEFECT(tells_forger);      ///< what does not open is answered by a reset, though its session lives
  ASHLAR_DEFECT(moves_at_once);     ///< a session is where its newest packet came from, unproven
  ASHLAR_DEFECT(unproven_resume);   ///< whoever names a session goes on with its body
  ASHLAR_DEFECT(no_grace);          ///< who vanishes leaves at once, though bodies are to wait
  ASHLAR_DEFECT(waits_for_ever);    ///< the body of who does not come back stays
  ASHLAR_DEFECT(lost_part);         ///< every second part of a map or prop is passed over
  ASHLAR_DEFECT(wrong_eyes);        ///< interest looks from the eyes of the client that was served before
  ASHLAR_DEFECT(early_saved);       ///< what was played is told to be saved, whatever the store says
  ASHLAR_DEFECT(lying_disk);        ///< the disk says that it has synced, and has not
  ASHLAR_DEFECT(no_refusals);       ///< players change more while nothing can be saved
};
using Defects = ASHLAR_DEFECTS_TYPE;

#undef ASHLAR_DEFECT
#undef ASHLAR_DEFECTS_TYPE

}  // namespace ashlar::server
