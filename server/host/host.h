#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/connection/session_end.h"
#include "protocol/datagram.h"
#include "protocol/drop_reason.h"
#include "protocol/secure/connect_token.h"
#include "protocol/secure/identity.h"
#include "protocol/secure/packet_protection.h"
#include "protocol/secure/server_door.h"
#include "server/config/access.h"
#include "server/host/chunk_loader.h"
#include "server/host/content_counters.h"
#include "server/host/defects.h"
#include "server/host/gate_counters.h"
#include "server/host/ground_packer.h"
#include "server/host/ground_stream_counters.h"
#include "server/host/kept_player.h"
#include "world/math/assert.h"
#include "world/math/turn.h"
#include "world/sim/kinds.h"
#include "world/sim/match.h"

namespace ashlar {
class Observer;
class World;
struct AdminCommand;
struct AppliedEdit;
struct TickRecord;
}  // namespace ashlar

namespace ashlar::server {

class BanList;
class ContentShelf;
class EarlySender;

/// Time since an arbitrary start, monotonic. Only main and the adapters read a clock.
using Micros = std::chrono::duration<std::int64_t, std::micro>;

/// Phases of one tick, measured one by one: together they are its time, from its wake to its last send.
/// Poll and send are the adapter's (Host::note_adapter); housekeeping includes what collects the tick's
/// input.
enum class Phase : std::uint8_t { poll, receive, step, publish, housekeeping, send };
inline constexpr std::size_t phase_count = 6;

/// What a Host is made with. The bounds are asserted; later only Host::set_message_of_the_day()
/// and change_world() change something of it.
struct HostConfig {
  std::uint32_t clients_max = 256;  ///< sessions; 1 to 65535 and no more than WorldSetup::players_max
  std::uint32_t clients_per_address_max = 256;  ///< sessions at once; of IPv6 a /64 counts as one
  std::uint16_t snapshot_every_ticks = 1;  ///< at most a second's: clients take no welcome that says more
  double interest_radius_m = 64;           ///< around a player's eye: it is told of the cells within reach
  /// Sessions of less than a minute that an address (of IPv6: one /64) may end in a minute, beyond a burst of
  /// twice its clients: who comes and goes more often waits. Who comes back to his body more than
  /// returns_per_minute times counts likewise. 0: no limit.
  std::uint32_t rejoins_per_minute = 600;
  /// How long the body of a player who leaves within the same time after a fight stays in the world.
  Micros fight_linger{5'000'000};
  /// What a client is sent of others in one snapshot, in whole datagrams of datagram_bytes_max: from
  /// snapshot_parts_least of them to snapshot_parts_max.
  std::uint32_t snapshot_bytes_max = 16 * datagram_bytes_max;
  /// What a client's snapshots take of its path in a second, beside what was measured of that
  /// (snapshot_budget.h): from snapshot_rate_least up.
  std::uint32_t client_bytes_per_s = 1'250'000;
  /// Players are not told of whom rock hides from them, whatever both do in the next tenth of a second
  /// (sight_culler.h): who changed his client to see through walls sees nobody behind them.
  bool sight_culling = false;
  std::string message_of_the_day;
  /// Who the server is: what clients pin. All zeros: drawn from the seed, so another one at each start.
  secure::KeyPair identity;
  std::uint8_t ciphers = secure::ciphers_here();  ///< that it agrees to
  Access access = Access::open;
  std::vector<secure::IssuerKey> token_issuers;  ///< whose connect tokens count where access asks for one
  /// Players by their keys whose lines of chat that begin with "//" are orders (HostEventKind::order).
  std::vector<secure::PublicKey> admins;
  /// How long the body of a player whose connection broke off stays for it to come back. 0: not at all.
  Micros away_grace{60'000'000};
  /// Who comes back begins where it left off, not at a start, unless it was dead.
  bool return_to_place = false;
  /// Who comes back in the same match has the health, armour and weapons that it left with, unless it was
  /// dead. (Its score in that match it has in any case.)
  bool return_with_life = false;
  /// Players who are away of whom something is kept (player_book.h).
  std::size_t players_away_max = 100'000;
  /// When sessions change their keys, at most secure::key_age_max.
  Micros key_age = secure::key_age_max;
  /// Maps and props for clients that lack them, filled before (content_shelf.h); only read. Null: none is
  /// given away.
  std::shared_ptr<const ContentShelf> content;
  /// Of these, for all clients together; one gets a quarter at most. 0: none is given away.
  std::uint64_t content_bytes_per_s = std::uint64_t{4} << 20;
  /// For phase timing only, in nanoseconds; null leaves the timings at zero (simulated time).
  std::uint64_t (*stopwatch_ns)() = nullptr;
  /// Processor time of the thread that owns the Host, nanoseconds, by which overload is told from a machine
  /// that gives the loop no time; null: lateness alone counts.
  std::uint64_t (*cpu_ns)() = nullptr;
  /// So far away players see ores that nobody dug free, where the world hides them; 0: not at all.
  double ores_seen_m = 24;
  /// Of several Hosts on one port (host_switch.h), which one: part of its connections' numbers. Those have
  /// one seed and different rooms.
  std::uint8_t room = 0;
};

/// Reasons to turn somebody away, as rows of a table.
inline constexpr std::size_t session_end_count = 80;  // numbers from 64 on
/// Precondition: a reason of ours.
constexpr std::size_t session_end_index(SessionEnd reason) {
  const std::size_t row =
      static_cast<std::size_t>(reason) - static_cast<std::size_t>(SessionEnd::shutting_down);
  ASHLAR_ASSERT(row < session_end_count);
  return row;
}

/// What operators see. Counters only grow.
struct HostStatus {
  std::uint32_t tick = 0;
  std::uint32_t clients = 0;
  std::uint32_t monsters = 0;
  std::uint32_t match = 1;  ///< number of the match that is played
  MatchPhase match_phase{};
  std::uint32_t match_left_s = 0;          ///< of the phase; 0: it has no end by time
  std::uint64_t game_messages_missed = 0;  ///< of a game, to clients whose events stream was full
  std::int32_t best_score = 0;
  std::string best_player;                           ///< whose that is; empty: nobody plays
  std::array<std::int32_t, teams_max> team_score{};  ///< of teams 1 to 4
  std::uint64_t datagrams_in = 0, datagrams_out = 0, bytes_in = 0, bytes_out = 0;
  std::uint64_t ticks_late = 0;                     ///< started a tick or more after they were due
  std::uint64_t ticks_skipped = 0;                  ///< given up in overload so that the tick slows for all
  std::uint64_t inputs_late = 0, inputs_early = 0;  ///< newest commands outside the buffer's reach
  std::uint8_t overload_rung = 0;      ///< what is left out as the server does not keep up (overload.h)
  std::uint64_t overload_starved = 0;  ///< windows late through no doing of its own (overload.h)
  std::uint64_t sights_computed = 0;   ///< pairs of places looked into, under sight culling
  std::uint64_t sights_beyond = 0;    ///< pairs for which a tick had no time: they count as seeing each other
  std::uint64_t overload_climbs = 0;  ///< times that more was left out than before
  std::uint64_t snapshots_spared = 0;  ///< not sent on a rung that lowers their rate
  std::uint64_t stuck = 0, recovered = 0;
  std::uint64_t snapshots_made = 0;
  std::uint64_t snapshots_cut = 0;  ///< had no room for all in reach: who was left out is first in the next
  /// Of these: somebody will not be told of within a tenth of a second of the last time, or from one snapshot
  /// to the next where these are further apart.
  std::uint64_t snapshots_overdue = 0;
  std::uint32_t snapshot_wait_ticks =
      0;  ///< that anyone in reach of a client now waits to be told of, at most
  std::uint32_t snapshot_wait_ticks_max = 0;  ///< since the start
  std::uint64_t greeted_displaced = 0;        ///< sessions that had not joined and gave way to newer ones
  std::uint32_t lingering = 0;                ///< bodies of players who left a fight
  std::uint32_t away = 0;                     ///< bodies of players whose connection broke off
  std::uint64_t players_forgotten = 0;        ///< who held something, and more are away than are kept
  std::uint64_t notices_lost = 0;             ///< of joins and leaves, for clients that hear too slowly
  std::uint64_t blocks_changed = 0;           ///< by players, operators and rules
  std::uint64_t blocks_revealed = 0;          ///< that no client computes: told as they were dug free or seen
  std::uint64_t edits_behind = 0;             ///< chunks told anew, as the client took them too slowly
  std::uint64_t chat_given_up = 0;            ///< lines for clients that confirm none
  std::uint64_t snapshots_anew = 0;           ///< a client with packed snapshots had lost what it held
  std::uint64_t snapshots_congested = 0;      ///< shorter, or left out: the path took no more
  std::uint64_t resumed = 0;                  ///< sessions that went on with the body of an earlier one
  std::uint64_t resume_refused = 0;           ///< proofs of an earlier session that proved nothing
  std::uint64_t moved = 0;                    ///< sessions that went on from another address
  std::array<std::uint64_t, session_end_count> refusals{};  ///< by reason, see refused()
  secure::DoorCounters door;
  GateCounters gate;
  GroundCounters ground;
  ContentCounters content;
  GroundStreamCounters ground_stream;
  std::array<std::uint64_t, drop_reason_count> drops{};  ///< rejected datagrams by protocol's DropReason
  std::array<std::uint64_t, phase_count> phase_ns_last{}, phase_ns_max{}, phase_ns_sum{};

  void drop(DropReason reason) { ++drops[static_cast<std::size_t>(reason)]; }  ///< counts it
  /// Who was turned away for a reason.
  std::uint64_t& refused(SessionEnd reason) { return refusals[session_end_index(reason)]; }
  std::uint64_t refused(SessionEnd reason) const { return refusals[session_end_index(reason)]; }
};

/// What is told to the log.
enum class HostEventKind : std::uint8_t {
  joined,
  left,
  refused,
  chat,
  away,      ///< its connection broke off; its body stays for a while
  returned,  ///< it goes on with its body
  flagged,   ///< by the observer, who says why
  order,     ///< of an admin, for whoever runs the host: the detail is a line of the console's
};

/// For the log: one per edge.
struct HostEvent {
  HostEventKind kind{};
  PeerAddress peer;
  std::uint32_t connection = 0;
  std::string name;                        ///< player's name, already checked for length and printable text
  std::string detail;                      ///< reason or chat text
  std::optional<secure::PublicKey> key{};  ///< of who joined
};

/// What goes into a Host: everything that it cannot know by itself but the time. Who keeps one keeps its
/// memory.
struct HostInput {
  DatagramBatch datagrams;           ///< what arrived, and which connections ended
  std::vector<GroundColumn> ground;  ///< what was asked for and is there now, in any order; moved from
  std::vector<PackedGround> packed;  ///< likewise of chunks that were to be packed
  std::int64_t unix_s = 0;           ///< the time of day, for connect tokens; clear() leaves it

  void clear() { datagrams.clear(), ground.clear(), packed.clear(); }
};

/// What comes out of it, appended to what is there.
struct HostOutput {
  DatagramBatch datagrams;  ///< to be sent; connections to close, and to admit
  /// Columns of ground to make (make_column()), the most wanted first. Each comes back once, however late, in
  /// HostInput::ground; until then no more than ChunkLoader::in_flight_max are asked for.
  std::vector<IVec2> ground_requests;
  /// Chunks to pack for clients that are sent the ground (GroundPacker::pack(), some 0.1 ms each), the most
  /// wanted first. Each comes back once, in HostInput::packed; until then no more than
  /// pack_requests_max are asked for. Who never answers sends nobody any ground.
  std::vector<PackRequest> pack_requests;
  std::vector<HostEvent> events;  ///< for the log
  EarlySender* early = nullptr;   ///< of `datagrams`; null: all come out at the end. clear() leaves it

  void clear() { datagrams.clear(), ground_requests.clear(), pack_requests.clear(), events.clear(); }
};

/// A player as operators see one.
struct PlayerInfo {
  std::string name;  ///< not unique: players choose it
  secure::PublicKey key;
  std::string token_id;  ///< empty on an open server
  PeerAddress peer;
  std::uint32_t connection = 0;
  Micros joined_at{0};
  Micros rtt{0};        ///< smoothed; 0: not known yet
  double loss_in = 0;   ///< share of its packets that did not arrive, or were refused; of the whole session
  double loss_out = 0;  ///< share of the snapshots' parts that did not reach it
};

/// One session as checks see it.
struct SessionAudit {
  PeerAddress address;
  std::uint32_t connection = 0;
  secure::PublicKey client;  ///< that it proved to own
  EntityId player{};         ///< once it plays, or where it came back to one
  bool playing = false;
  Turn16 delta_yaw{0};                   ///< added to the yaw of its commands
  std::uint64_t accepted = 0;            ///< datagrams taken from it
  std::uint64_t chat_bytes_waiting = 0;  ///< of lines that it has not acknowledged
  std::size_t memory_bytes = 0;          ///< all that is kept of it
  std::size_t stream_bytes = 0;          ///< and of that streams and packets under way
  std::uint64_t rekeys = 0;              ///< times that the server's end changed its keys
  std::uint64_t congested = 0;           ///< snapshots that its path cut short, or left out
  bool streams_ground = false;           ///< it is sent the ground
  /// It has all of the ground and of its changes that it was ever sent: what it holds is what is.
  bool ground_settled = false;
};

/// What is kept of all sessions, in bytes.
struct ClientMemory {
  std::size_t most = 0;     ///< of one of them, beside streams and packets under way
  std::size_t sum = 0;      ///< of all, beside those
  std::size_t streams = 0;  ///< of those, of all
};

/// The Host's books: what has to agree, and what has to stay small.
struct HostAudit {
  std::vector<SessionAudit> sessions;
  std::size_t links = 0;       ///< rows of the table by TCP connection
  std::size_t identities = 0;  ///< and of that by identity
  std::size_t hosts = 0;       ///< and of that by address without port
  std::size_t leaves_waiting = 0, admin_waiting = 0;
  std::size_t lingering = 0;  ///< bodies of who left a fight
  std::size_t away = 0;       ///< bodies that wait for their players
  std::size_t farewells = 0;  ///< connections that are still saying why they ended
  /// By kind: items that players hold who are not in the world.
  std::array<std::uint64_t, block_kinds_max> items_away{};
  std::size_t extra_columns = 0;  ///< ground that is there for the players' sake
};

/// Is shown every tick once it was stepped, its hash set: the recorder's way in. Called on the Host's thread.
class TickSink {
 public:
  virtual ~TickSink() = default;
  virtual void on_tick(const TickRecord& record) = 0;
};

/// The dedicated server without sockets, clocks, randomness or disks: fed and drained.
/// One thread. Same calls, same bits.
class Host {
 public:
  /// @param seed     random bytes from the adapter, that nobody else may know: all keys come from it
  /// @param defects  nothing, but in builds that are wrong on purpose
  Host(const HostConfig& config, std::unique_ptr<World> world, const secure::Secret& seed,
       const Defects& defects = {});
  ~Host();

  /// Takes what arrived and what was finished, runs one tick where one is due by `now`, and appends what is
  /// to be sent and made. Call every 1 to 2 ms, and again at once while next_tick_at() is past: so what
  /// arrives is taken between ticks, too. After a stall up to catch_up_ticks_max ticks are made up for; what
  /// is due beyond is given up and counted. The longer it stays behind the fewer are: in lasting overload
  /// one, and the tick slows for all. `in` is read and its ground moved from; clear() it before it is filled
  /// again.
  static constexpr std::int64_t catch_up_ticks_max = 4;
  void advance(Micros now, HostInput& in, HostOutput& out);

  /// Blocks of the world's ground at its start that are not as they were generated: clients are told.
  void learn_changes(std::span<const AppliedEdit> changes);

  /// What a player of an earlier run holds. Before anybody comes.
  void remember(const KeptPlayer& player);
  /// Whose inventory the last tick changed, who left in it, and who is somewhere else than some seconds
  /// before, as they are now: for a store, together with that tick's blocks.
  std::span<const KeptPlayer> changed_players() const;
  /// All who are in the world, as of the last tick: for a store, at the end. O(players), allocates.
  std::vector<KeptPlayer> present_players() const;

  /// Who a player of the world is, as of the last tick; untouched for who is none of this Host's.
  void author_of(EntityId id, EditAuthor& out) const;

  /// What the world's store has done, before each advance(): all up to this tick of the world is on the disk,
  /// which clients are told; and whether further changes have room to wait for it. While they have none acts
  /// of players are refused, with a verdict that says so.
  /// @param operator_blocks  so many may operators change in the next tick and be logged
  void note_saving(std::uint32_t saved_tick, bool room, std::int64_t operator_blocks = INT64_MAX);

  /// Closes every session with a reason. After it advance() runs no tick and takes nobody in: it says the
  /// reason again where it may have been lost, until silent().
  void shut_down(const std::string& reason, DatagramBatch& out);
  /// Nobody is left who has to be told why its session ended.
  bool silent() const;

  /// What polling and sending took in the turn of the last tick, but for what HostOutput::early took: for the
  /// status.
  void note_adapter(std::uint64_t poll_ns, std::uint64_t send_ns);

  /// The key that clients pin.
  const secure::PublicKey& identity() const;
  /// Has this TCP connection a session here? For who hands out datagrams to several Hosts.
  bool has_session(const PeerAddress& link) const;
  /// Places that neither sessions hold nor bodies that stay in the world without one.
  std::uint32_t free_places() const;
  /// Bodies whose players may come back; where no place is free they give way.
  std::uint32_t away() const;

  /// Enters the next tick.
  void admin(const AdminCommand& command);
  /// Do any of them wait that change blocks, or what those hold?
  bool ground_waits() const;
  /// A line of the server's for one who plays; nothing happens where nobody has that connection.
  void tell(std::uint32_t connection, std::string_view text);
  /// 0: nobody plays on that connection.
  EntityId player_of(std::uint32_t connection) const;
  bool admin_waits() const;  ///< for the next tick

  /// Lets every player of this name fly through everything, or no longer: enters the next tick.
  /// @return how many there are
  std::uint32_t set_noclip(const std::string& name, bool on);
  /// Likewise has players only watch, or play again once the match has a place.
  std::uint32_t set_watching(const std::string& name, bool on);

  struct Gift {
    std::uint32_t players = 0;  ///< of the name; 0 for what is nothing to give
    std::uint32_t items = 0;    ///< that they have room for now, together
  };
  /// Gives every player of this name items: enters the next tick. What one has no room for is not given.
  Gift give(const std::string& name, BlockId kind, std::uint16_t items);

  /// Sends every player of this name away with a reason: leaves the world in the tick after the next.
  /// @param reason  not empty; cut to close_text_bytes_max
  /// @return how many there are
  std::uint32_t kick(const std::string& name, const std::string& reason);

  /// Who looks on from now on (world/sim/observer.h); null: nobody. Whom it flags is an event, and whom it
  /// wants gone is sent away in the next tick. Must outlive this or be taken away again.
  void set_observer(Observer* observer);

  /// Who may not come in from now on (bans/ban_list.h), whatever its address, session or link; null: nobody.
  /// Who is here and banned is sent away in the next tick, who is away does not come back. Never changed
  /// while it is in use.
  void set_bans(std::shared_ptr<const BanList> bans);

  /// A line of chat to everybody, from the server.
  void say(const std::string& text);

  /// Another world for everybody, between two ticks: sessions stay, are welcomed to it and join again; bodies
  /// whose players are away are gone with the old one. Ground that was asked for is void: who makes it drops
  /// that and goes on with world().ground(). What a sink records ends here: set_sink() before.
  /// Precondition, asserted: room for clients_max players, and what HostConfig asks of a world.
  /// @param content  what is given away from now on, packed beforehand; null: what was, which may hold the
  ///                 maps and props of several worlds
  void change_world(std::unique_ptr<World> world, std::shared_ptr<const ContentShelf> content = nullptr);

  /// Who plays now, in no order that means anything. O(clients); for an operator's question.
  std::vector<PlayerInfo> players() const;
  /// Whose bodies wait for them, likewise: where they were last.
  std::vector<PlayerInfo> away_players() const;

  /// Not owned; null takes it away. Ticks before it are not shown.
  void set_sink(TickSink* sink);

  /// What a reload may change while clients play.
  void set_message_of_the_day(const std::string& text);

  /// When the next tick is due.
  Micros next_tick_at() const;
  const HostStatus& status() const;
  const World& world() const;
  /// A chunk's blocks as clients may know them, in the order of index_in_chunk: what of a secret seed nobody
  /// was told of is stone. False: it is not loaded. Some 0.1 ms; for checks.
  bool public_blocks(ChunkCoord at, std::span<BlockId> out) const;
  /// O(clients), some 0.1 us each: for a line of status.
  ClientMemory client_memory() const;
  /// Fills `out`, keeping its memory. O(clients); for checks, not for every tick of a real server.
  void audit(HostAudit& out) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar::server
