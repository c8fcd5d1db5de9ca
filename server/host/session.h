#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/connection/connection.h"
#include "protocol/messages.h"
#include "server/host/client_blocks.h"
#include "server/host/contents_desk.h"
#include "server/host/edit_desk.h"
#include "server/host/fight_desk.h"
#include "server/host/ground_desk.h"
#include "server/host/host.h"
#include "server/host/input_buffer.h"
#include "server/host/inventory_desk.h"
#include "server/host/notices.h"
#include "server/host/picture_limit.h"
#include "server/host/resume_keys.h"
#include "server/host/snapshot_budget.h"
#include "world/math/prefetch.h"

namespace ashlar::server {

/// An honest client sends one input a tick, and an acknowledgement for every ack_packets packets of ours,
/// which counts beside this; others come by time, after ack_delay_max, which in slow ticks are several; chat
/// and joins are rare. The burst covers a network that held datagrams back for half a second.
inline constexpr std::int32_t datagrams_per_tick_least = 3;
inline constexpr std::int32_t datagrams_per_s_least = 180;
constexpr std::int32_t datagrams_per_tick(std::int32_t tick_rate_hz) {
  return std::max(datagrams_per_tick_least, (datagrams_per_s_least + tick_rate_hz - 1) / tick_rate_hz);
}
static_assert(datagrams_per_s_least >= 2 * (std::chrono::seconds(1) / ack_delay_max));
inline constexpr std::int32_t datagrams_burst = 256;
inline constexpr std::int32_t chat_lines_burst = 4;

/// Where a session stands on its way. It may end from each of them, which makes its row free.
enum class SessionState : std::uint8_t {
  free,     ///< nobody's row
  greeted,  ///< welcomed; has not yet said which maps it holds
  joining,  ///< its join enters the next tick
  playing,  ///< has an entity in the world
};

/// Who a player is: its client's public key; where connect tokens are asked for, a hash of the token's id.
using Identity = secure::Bytes32;

/// One client's session. Cold state; what the simulation needs of it is the player's id and the input.
struct alignas(64) Session {
  // Up to `input`: what each packet and each snapshot touches. What each tick's passes over all sessions ask
  // for comes first, in one line of memory.
  SessionState state = SessionState::free;
  std::uint8_t world = 1;                  ///< number of its welcome
  bool watches = false;                    ///< it joins as a spectator
  bool admin = false;                      ///< one of HostConfig::admins
  std::uint32_t number = 0;                ///< its connection's, in clear in every packet
  std::unique_ptr<Connection> connection;  ///< the server's end of it; a free row has none
  std::unique_ptr<ClientBlocks> blocks;    ///< what it holds of snapshots; never null in a session
  EntityId player{};  ///< playing; and greeted, where it goes on with the body of an earlier session
  /// How far spawns and teleporters have turned the player's view, beside its own turning: added to the yaw
  /// of its commands. Those that it made before it knew are turned with the rest.
  Turn16 delta_yaw{0};
  Turn16 yaw_given{0};               ///< of the command that entered the last tick
  std::int32_t datagram_tokens = 0;  ///< what it may still send; refilled every tick
  std::int32_t chat_tokens = 0;      ///< lines it may still say; refilled every second
  std::uint8_t calls_this_tick = 0;  ///< what its player said to the game; 0 again every tick
  SnapshotEncoding encoding = SnapshotEncoding::plain;
  std::uint32_t cues_told_tick = 0;   ///< what only showed up to it was in its snapshots
  std::uint64_t packets_paid = 0;     ///< of ours, for whose acknowledgements it got tokens
  std::uint64_t accepted = 0;         ///< packets taken from it
  std::uint64_t newest_sequence = 0;  ///< of its packets
  std::uint64_t parts_acked = 0;      ///< of snapshots, when that was last looked at
  Micros progress_at{0};              ///< when it last took what it was sent, or could have been sent more
  std::uint64_t congested = 0;        ///< snapshots that its path cut short, or left out
  std::string kicked_for;             ///< empty: it may stay
  PeerAddress address;                ///< that its connection has proven; counted there
  ResumeKeys resume;                  ///< proves that a later session's client is this one's
  SnapshotBudget budget;              ///< what its snapshots may take of its path
  InputBuffer input{};
  PictureLimit picture;  ///< what its commands may claim to have seen
  NoticeQueue notices;
  EditDesk edits;
  GroundDesk ground;
  FightDesk fight;
  InventoryDesk inventory;
  ContentsDesk contents;

  // Asked for seldom.
  Identity identity{};
  secure::PublicKey client;
  std::string token_id;         ///< of its connect token; empty on an open server
  std::uint32_t door_slot = 0;  ///< in which its handshake was answered
  std::string name;
  std::vector<std::vector<std::uint8_t>> lines;  ///< of chat that an earlier session brought, before its own
  Micros came_at{0};                             ///< when its player came, by an earlier session or this one
  Micros began_at{0};                            ///< when it was last welcomed
  Micros answered_at{0};                         ///< greeted: since when it is its turn to speak
  Micros joined_at{0};                           ///< when it came into the world
  std::uint32_t blocks_reset_tick = 0;           ///< when it was last told all anew, as it had asked for

  /// Asks for the lines of a session that each packet and each snapshot of it touches. First for the
  /// session's own, then, a step later, for those behind its pointers.
  void prefetch_own() const { prefetch_until(this, &input); }
  /// The first of them, which each tick's passes over all sessions ask for.
  void prefetch_head() const { prefetch(this, 64); }
  void prefetch_connection(bool sending) const {
    if (connection) connection->prefetch(sending);
    if (blocks) prefetch(blocks.get(), sizeof *blocks);
    picture.prefetch_heads();
    input.prefetch_head();
  }
  /// And another step later for what is behind pointers of those.
  void prefetch_rings(bool sending) const {
    if (state == SessionState::free) return;
    connection->prefetch_rings(sending);
    if (sending) {
      picture.prefetch_sent(connection->next_sequence());
      blocks->prefetch_rows();
    } else {
      picture.prefetch_fate(connection->next_acked());
      blocks->prefetch_fate(connection->next_acked());
      input.prefetch_newest();
    }
  }

  /// What became of packets that were sent, as far as is known by now.
  /// @param next  the tick that will be played next
  void note_fates(std::uint32_t next) {
    while (const auto fate = connection->next_fate()) {
      picture.note_fate(*fate, next);
      blocks->note_fate(*fate, next);
    }
  }
};

}  // namespace ashlar::server
