#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/block.h"
#include "protocol/quantise.h"
#include "world/collide/prop.h"
#include "world/sim/player_move.h"
#include "world/sim/rules.h"

// The messages as plain values. schema/*.fbs say how they travel, decode.h and message_writer.h do it.

namespace ashlar {

inline constexpr std::size_t build_bytes_max = 64;
inline constexpr std::size_t join_content_max = 40;
inline constexpr std::size_t input_commands_max = 8;
inline constexpr std::size_t placed_maps_max = 10;
inline constexpr std::size_t map_name_bytes_max = 16;
inline constexpr std::size_t placed_props_max =
    24;  ///< fewer where the welcome has no room (MessageWriter::bytes_of)
inline constexpr std::size_t prop_name_bytes_max = 48;
inline constexpr std::size_t motd_bytes_max = 160;
inline constexpr std::size_t reason_bytes_max = 200;
inline constexpr std::size_t ping_bytes = 128;  ///< of the whole packet

// --- from the client ---

/// Travels in a packet of exactly datagram_bytes_max, so the answer is never larger than the question.
struct Hello {
  std::uint32_t protocol = 0;
  std::uint64_t nonce = 0;  ///< echoed by Welcome and Refuse
  std::string name;         ///< valid_player_name
  std::string build;        ///< client's version, for the log; at most build_bytes_max
};

/// The answer to a welcome. A client that lacks what is placed in the world is refused.
struct Join {
  std::array<std::uint64_t, join_content_max>
      content{};                   ///< content_hash() of the maps and props that the client holds
  std::uint8_t content_count = 0;  ///< how many of `content` count
};

/// Commands for newest_tick, newest_tick - 1, ...
struct Input {
  std::uint32_t newest_tick = 0;
  std::uint32_t snapshot_tick = 0;  ///< newest snapshot seen, 0: none
  std::uint32_t chat_seen = 0;      ///< newest chat line seen, 0: none
  std::array<PlayerCommand, input_commands_max> commands{};
  std::uint8_t command_count = 0;  ///< 1 to input_commands_max
};

/// A line that the player says; repeated until a snapshot's chat_seen has its number.
struct Chat {
  std::uint32_t number = 0;  ///< from 1, in steps of 1
  std::string text;          ///< valid_text of 1 to chat_bytes_max
};

enum class LeaveReason : std::uint8_t { quit, stopped, version, content, timeout };
/// The client goes: its session ends at once, and a goodbye answers.
struct Leave {
  LeaveReason reason = LeaveReason::quit;
};

/// Asks whether a server is there, without a connection; the packet is padded to ping_bytes.
struct Ping {
  std::uint64_t nonce = 0;  ///< echoed by Pong
};

using ClientMessage = std::variant<Hello, Join, Input, Chat, Leave, Ping>;

// --- from the server ---

/// A placed map: what a client needs to place the same one (world/bsp/placement.h).
struct WelcomeMap {
  std::string name;                ///< lump name
  std::uint64_t content_hash = 0;  ///< PlacedMap::content_hash(): equal here and there means equal worlds
  IVec2 origin_block;              ///< PlaceOptions::origin_block
  std::int32_t surface_z = 0;      ///< PlaceOptions::surface_z
  std::uint32_t flags = 0;         ///< welcome_map_flag
};
namespace welcome_map_flag {
inline constexpr std::uint32_t doors_open = 1;
inline constexpr std::uint32_t doorway = 2;
}  // namespace welcome_map_flag

/// A placed prop: what a client needs to place the same one (world/collide/prop.h).
struct WelcomeProp {
  std::string name;                ///< of its file, without folders
  std::uint64_t content_hash = 0;  ///< Prop::content_hash(): equal here and there means equal props
  PropPlace place;                 ///< scale is a float's
  ModelUp up = ModelUp::y;
};

/// The answer to a hello that is let in: what a client needs to build the same world. Repeated for each hello
/// with the same nonce until the client joins. Fits one datagram (MessageWriter::bytes_of).
struct Welcome {
  std::uint64_t nonce = 0;       ///< of the hello
  std::uint32_t connection = 0;  ///< never 0
  EntityId player{};  ///< 0 from this server: nobody has an entity before it joined; then OwnPlayer::id tells
  std::uint64_t seed = 0;                  ///< of the terrain
  std::uint32_t tick = 0;                  ///< the world's, when this was said
  std::uint16_t snapshot_every_ticks = 1;  ///< 1 to a second's
  Rules rules;
  std::vector<WelcomeMap> maps;    ///< at most placed_maps_max
  std::string motd;                ///< at most motd_bytes_max
  std::vector<WelcomeProp> props;  ///< at most placed_props_max
};

/// Why a hello or a join was turned down. banned, closed and shutting_down have no sender yet.
enum class RefuseReason : std::uint8_t {
  version,  ///< of the protocol
  full,
  content,  ///< the client lacks a map or prop, or holds another one
  banned,
  bad_name,  ///< not valid_player_name
  closed,
  too_many_from_address,  ///< at once, or too often within a minute
  shutting_down
};
inline constexpr std::size_t refuse_reason_count = 8;
/// As the enumerator is spelled; "unknown" for a number beyond.
std::string_view name(RefuseReason reason);

/// The client is not let in. Comes without a connection; the nonce proves that the server heard the hello.
struct Refuse {
  std::uint64_t nonce = 0;  ///< of the hello
  RefuseReason reason = RefuseReason::full;
  std::string text;  ///< names the thing and the remedy; at most reason_bytes_max
};

/// The own player as the simulation holds it, unquantised: prediction starts from the same bits.
struct OwnPlayer {
  Body body;
  EntityId id{};
  std::uint8_t health = 0;  ///< share of a fresh player's, 255 is full, 0 dead
  /// How far spawns and teleporters have turned the view: the simulation adds it to the yaw of every command.
  Turn16 delta_yaw{0};
};

/// Sectors first to first + count - 1 of one map: the next `count` of a part's sector_heights are theirs.
struct SectorRun {
  std::uint16_t map = 0;  ///< index into the welcome's maps
  std::uint16_t first = 0;
  std::uint16_t count = 0;
};
static_assert(sizeof(SectorRun) == 6);

/// Heights in 1/65536 m, world frame.
struct WireHeights {
  std::int32_t floor = 0, ceiling = 0;
};
static_assert(sizeof(WireHeights) == 8);

namespace motion_flag {
inline constexpr std::uint8_t crushes = 1;
inline constexpr std::uint8_t slows = 2;
inline constexpr std::uint8_t pressed = 4;  ///< it met somebody on this stroke
}  // namespace motion_flag

/// One floor or ceiling in motion, or waiting to move on, to the last bit, so that a client that runs the
/// same code foresees its height exactly. The values are those of world/sim/sector_movers.h, Mover;
/// protocol/sector_motion.h turns one into the other.
struct WireMotion {
  double height_m = 0;  ///< where the plane is, world frame
  double low_m = 0, high_m = 0;
  double speed_mps = 0;
  double wait_s = 0, left_s = 0;
  std::uint16_t sector = 0;
  std::uint8_t map = 0;    ///< index into the welcome's maps
  std::uint8_t plane = 0;  ///< 0 floor, 1 ceiling
  std::uint8_t motion = 0, phase = 0, resume = 0;
  std::uint8_t flags = 0;  ///< motion_flag
};
static_assert(sizeof(WireMotion) == 56);

/// A part of the snapshot of a tick. Lists point into the decoded bytes and live as long as they do.
/// A block of tick T replaces what was known of its cell's ids; what no snapshot has mentioned for a second
/// and two refreshes is gone.
struct SnapshotPart {
  std::uint32_t tick = 0;
  std::uint32_t applied_tick = 0;  ///< newest command the simulation applied, 0: none yet
  std::uint32_t chat_seen = 0;
  std::int8_t input_ahead = 0;  ///< newest command's tick minus tick, clamped; input_ahead_none: none yet
  std::uint8_t part = 0;
  std::uint8_t part_count = 1;
  std::uint16_t refresh_ticks = 0;  ///< everything in reach is told again within so many; 0: in each snapshot
  std::optional<OwnPlayer> own;     ///< in part 0
  BlockList blocks;
  std::span<const SectorRun> sector_runs;
  std::span<const WireHeights> sector_heights;  ///< the runs' heights, one run after the other
  std::span<const WireMotion> sector_motions;
};
inline constexpr std::int8_t input_ahead_none = -128;

/// A line of chat for one client, repeated until its input's chat_seen has the number (protocol/chat.h).
struct ChatLine {
  std::uint32_t number = 0;  ///< from 1, in steps of 1, of this client's connection
  std::string from;          ///< player's name; empty: the server
  std::string text;          ///< valid_text of 1 to chat_bytes_max
};

enum class GoodbyeReason : std::uint8_t { shutting_down, kicked, timeout, protocol, left, overload };
inline constexpr std::size_t goodbye_reason_count = 6;
/// As the enumerator is spelled; "unknown" for a number beyond.
std::string_view name(GoodbyeReason reason);

/// The server ends the connection, or confirms that the client did (left). Said once, so it may get lost;
/// only a kicked client that goes on talking hears it again. No sender yet: protocol, overload.
struct Goodbye {
  GoodbyeReason reason = GoodbyeReason::kicked;
  std::string text;  ///< for people; may be empty, at most reason_bytes_max
};

/// The answer to a ping: no larger than it.
struct Pong {
  std::uint64_t nonce = 0;
  std::uint32_t tick = 0;
  std::uint32_t clients = 0, clients_max = 0;
};

using ServerMessage = std::variant<Welcome, Refuse, SnapshotPart, ChatLine, Goodbye, Pong>;

}  // namespace ashlar
