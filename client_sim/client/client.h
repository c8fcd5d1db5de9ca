#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "client_sim/client/client_tap.h"
#include "client_sim/client/content_fetch.h"
#include "client_sim/client/cue_inbox.h"
#include "client_sim/client/edited_ground.h"
#include "client_sim/client/foresight.h"
#include "client_sim/client/handshakes.h"
#include "client_sim/client/histogram.h"
#include "client_sim/client/input_clock.h"
#include "client_sim/client/known_fields.h"
#include "client_sim/client/packed_memory.h"
#include "client_sim/client/sector_forecast.h"
#include "client_sim/client/view.h"
#include "protocol/connection/connection.h"
#include "protocol/connection/session_end.h"
#include "protocol/datagram.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/secure/seeded_entropy.h"
#include "world/sim/told_ticks.h"

namespace ashlar::client_sim {

/// Where a client stands. From refused on it has ended, and only join_again() brings it back (from lost).
enum class ClientState : std::uint8_t {
  connecting,  ///< a handshake is on its way
  joining,     ///< there is a session, or another world in it; waiting for the first snapshot
  playing,     ///< a snapshot has come
  refused,     ///< the server said no, or we cannot play there; see Client::reason()
  left,        ///< we said goodbye
  lost,        ///< the server fell silent for good, or ended the session
};
/// As the enumerator is spelled.
std::string_view name(ClientState state);

/// What a client is made with. Its functions are called from advance(): what they refer to must outlive the
/// client.
struct ClientConfig {
  PeerAddress server;
  /// The same server over TCP, for networks that block UDP: tried beside `server` when that stays silent for
  /// fallback_after. Whoever drives the client opens connections (see opens_links).
  std::optional<PeerAddress> fallback;
  Micros fallback_after{std::chrono::seconds{2}};
  /// Other addresses of the same server, as its name has them (resolve_addresses()); each is tried in turn
  /// where another one refuses, or stays silent for a second (longer in later rounds), over both transports.
  /// Needs opens_links; ip and scope count.
  std::vector<PeerAddress> more_addresses;
  /// Whoever drives the client opens a TCP connection for each PeerAddress::link that it sends to, and closes
  /// those in DatagramBatch::closed(), as net/client_sockets.h does. Then a broken connection is followed by
  /// a new one; else it ends in lost, and join_again() goes on over the one that was opened meanwhile.
  bool opens_links = false;

  std::string name = "player";  ///< not valid_player_name: the client is refused without asking the server
  std::string build;            ///< for the server's log; made printable and cut to build_bytes_max
  /// Random bytes that nobody else knows, of the system's generator in a program (secure::SystemEntropy): all
  /// keys come of them. Precondition: not all zero (asserted).
  secure::Secret seed;
  /// Who the player is: whoever has the secret is that player. Left empty, one is drawn from the seed.
  secure::KeyPair identity;
  /// The only server key that will do; none: any, as server_key() tells.
  std::optional<secure::PublicKey> pinned;
  bool watches = false;      ///< comes as a spectator (Client::spectates())
  bool takes_packed = true;  ///< snapshots may come packed: a fifth of the bytes
  /// Speaks, acknowledges and counts like any other, but keeps no picture of the world: neither view() nor
  /// own() nor ground() are ever filled. For those who need many clients and look through few of their eyes.
  bool light = false;
  /// Is given each message of the world's game as it comes; empty: they wait for take_game_messages().
  std::function<void(const MessageTraits&, const GameMessage&)> on_message;
  /// The server sends the ground, as to those who cannot compute it (terrain_known()), who have no choice.
  bool stream_ground = false;
  ClientTap* tap = nullptr;         ///< is shown messages as they come and go; not owned; null: nobody looks
  std::vector<std::uint8_t> token;  ///< connect token, for closed servers; at most secure::token_bytes_max

  /// Hash of the map's content when the client holds it, placed as the welcome says; nullopt: lacks it.
  /// Called once for each map of each welcome.
  std::function<std::optional<std::uint64_t>(const WelcomeMap&)> content;
  /// The map itself, for clients that foresee its moving sectors (Client::sectors()); may be empty.
  /// Called once for each map of each welcome that the client holds, but of one that goes on.
  std::function<std::shared_ptr<const PlacedMap>(const WelcomeMap&)> map;
  /// Likewise of a prop's.
  std::function<std::optional<std::uint64_t>(const WelcomeProp&)> prop_content;
  /// Is given each map and prop that the client lacked and got from the server, proven by its hash; from then
  /// on the three above know it. The client joins when it has all. Empty: nothing is fetched, and who lacks
  /// something is refused.
  std::function<void(ContentFetch::Fetched)> fetched;
  std::size_t fetch_bytes_max = ContentFetch::bytes_max_usual;  ///< of one world's content, as it travels
  Micros fetch_timeout{std::chrono::seconds{30}};  ///< nothing of what was asked for came for so long: lost

  Micros key_age = secure::key_age_max;              ///< when the client changes the keys that it seals with
  Micros connect_timeout{std::chrono::seconds{10}};  ///< no snapshot so long after the first hello: lost
  Micros silence_timeout{std::chrono::seconds{5}};   ///< silence after which a session is sought anew
  Micros resume_for{std::chrono::seconds{20}};       ///< that goes on for so long, then: lost
  int lead_ticks = 2;                                ///< commands that should wait at the server
};

/// Counters only grow.
struct ClientStats {
  std::uint64_t packets_in = 0, packets_out = 0, bytes_in = 0, bytes_out = 0;
  std::uint64_t snapshots = 0;  ///< ticks of which a part arrived, before any of a newer one
  std::uint64_t snapshots_overtaken =
      0;                                 ///< ticks of which the first part arrived behind that of a newer one
  std::uint64_t snapshots_complete = 0;  ///< ticks of which every part arrived
  std::uint64_t commands = 0;
  std::uint64_t commands_skipped = 0;  ///< tick numbers jumped over to catch up with the server
  std::array<std::uint64_t, drop_reason_count> drops{};
  std::uint64_t rejoins = 0;  ///< times it was welcomed anew, by a server that did not know it any more
  std::uint64_t resumes = 0;  ///< times its session went on, over another connection
  std::uint64_t items_picked = 0;
  std::uint64_t game_messages = 0;                      ///< that the world's game sent
  std::uint64_t cues = 0;                               ///< of what only shows
  std::array<std::uint64_t, cue_kind_count> cues_of{};  ///< of these, by CueKind
  std::uint64_t hits_given = 0, hits_taken = 0, kills = 0, deaths = 0;
  std::uint64_t acts_done = 0, acts_refused = 0;   ///< verdicts that were the last word on an act
  std::uint64_t blocks_changed = 0;                ///< by those that were done: dug and placed
  std::uint64_t chunks_told = 0, chunks_kept = 0;  ///< of ground: that came, and of these the kept ones
  std::uint64_t chunk_bytes = 0;                   ///< of their messages
  std::uint64_t worlds = 0;                        ///< worlds that it was welcomed to
  std::uint64_t fetched = 0, fetched_bytes = 0;    ///< maps and props that came from servers
  Micros joined_after{0};                          ///< from the first hello to the first snapshot
  Micros longest_gap{0};                           ///< longest time without a snapshot, since the first one
  std::uint64_t starved = 0;  ///< gaps in which it listened: of 1 s, or 2 snapshots and 250 ms
  /// Ticks by how long the server's snapshots said that the newest command had waited for its turn: row 0 is
  /// those too late, row n > 0 n - 1 ticks, the last one all that is longer.
  std::array<std::uint64_t, 16> leads{};
  Histogram rtt;  ///< of acknowledgements, without the time that the server waited with them
};

/// An act that was said, the tick of the command that it went with, and the server's last word on it:
/// progress until there is one.
struct SentAct {
  std::uint32_t tick = 0;
  BlockAct act;
  ActVerdict answer = ActVerdict::progress;
};

/// A headless player without sockets and clocks: fed and drained.
///
/// First a handshake (client_sim/client/handshakes.h), then a Connection. The way of a tick: advance() reads
/// snapshots, and for each server tick that becomes due by its own estimate it numbers the present command
/// and sends it together with those the server has not confirmed yet. The estimate runs a hair faster or
/// slower, as snapshots tell how far ahead commands arrive (input_clock.h). One thread. Same calls, same
/// bytes.
///
/// A session that the server resets, that falls silent, or whose TCP connection breaks is sought anew: a
/// handshake beside it proves to be the same player's. Where the server still has its body it goes on where
/// it was (view, clock and commands are kept), at one that was started again it joins anew. A changed address
/// or port of its own it does not even notice.
class Client {
 public:
  /// Nothing is sent before advance().
  explicit Client(ClientConfig config);

  /// Takes what arrived (entries of other peers are ignored), lets time pass, appends what is to be sent.
  /// Call every few milliseconds; `now` never runs backwards. A caller that stays away for longer than an
  /// eighth of a second, or whose clock leaps, has the server's tick from the next snapshots.
  /// @param foresight  runs ahead of the server (foresight.h); null: nobody does
  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out, Foresight* foresight = nullptr);

  /// The command of every tick from now on, until the next call, its yaw in the world. Quantised here. Who
  /// shows the world as it was at an older tick says so in `seen`; left 0 it is the command's tick less the
  /// view lag, and without one complete_tick() when it is sent. With it goes of which two states that picture
  /// is made.
  void set_command(const PlayerCommand& command) { command_ = quantise(command); }
  /// The picture that the player sees is so many ticks behind its newest command, from now on (others.h); 0:
  /// not known. By it the server judges shots.
  void set_view_lag(std::uint32_t ticks) { world_.view_lag_ticks = ticks; }
  std::uint32_t view_lag() const { return world_.view_lag_ticks; }
  /// Does the player only watch? It flies through everything, by its commands, and the others do not see it.
  /// It came so, said "/spectate", waits for a place in the match or has no life left in it; "/play" ends it.
  bool spectates() const { return world_.own && world_.own->body.noclip == noclip_spectates; }
  /// How far spawns and teleporters have turned the view, as far as this client knows. When it changes, the
  /// present command turns along, so that a player faces where a teleporter turned it; who holds a yaw of its
  /// own turns that by the same.
  Turn16 delta_yaw() const { return world_.own ? world_.own->delta_yaw : Turn16{0}; }

  /// Queues a line of chat. False when it is not valid_text or when chat_queue_max lines are waiting.
  static constexpr std::size_t chat_queue_max = 8;
  bool say(std::string_view text);
  /// Sends a message to the world's game, of a kind that it declared for clients: in order, and once, but for
  /// what was on its way when its session broke off, which is said again. Another world hears nothing of it.
  /// @return false: no such kind, too long for it, calls_queue_max are not acknowledged, or it does not play
  static constexpr std::size_t calls_queue_max = 32;
  bool send_game_message(std::string_view kind, std::span<const std::uint8_t> bytes);

  /// Does something to a block with the command of the next tick: dig, what stands at `block`; place, `id`
  /// before its face; stop digging; or drop, `block.x` items of kind `id`. What is placed is in ground() at
  /// once, and goes again if it is refused.
  /// @return the act's number, which its verdicts name; 0 when it does not play, or acts_queue_max acts wait
  static constexpr std::size_t acts_queue_max = 32;
  std::uint32_t act(BlockActKind kind, IVec3 block, BlockFace face = BlockFace::top,
                    BlockId id = BlockId::air);
  /// Throws items out of the own player's inventory, where it looks: an act like those.
  std::uint32_t drop_items(BlockId kind, std::uint16_t count);
  /// Looks into a chest; what it holds is opened() once the server said so.
  std::uint32_t open_block(IVec3 block, BlockFace face);
  std::uint32_t close_block();
  /// Moves items of a kind out of the chest that is open, or into it: as many as there are and have room.
  std::uint32_t take_from_block(BlockId kind, std::uint8_t count);
  std::uint32_t put_into_block(BlockId kind, std::uint8_t count);
  /// Gives a sign its text: printable, at most sign_text_bytes_max bytes, else 0. Empty: none any more.
  std::uint32_t write_sign(IVec3 block, BlockFace face, std::string_view text);
  /// The chest that the player looks into and what it holds, as the server last said in this session.
  const std::optional<PlacedData>& opened() const { return opened_; }
  /// What is written there, as the server last said; empty: nothing, or it is too far off to know, as one is
  /// from which the player has gone away.
  std::string_view sign_text(IVec3 block) const;
  /// Ticks until the timer of the block there runs out (BlockType::timer_s), as of its snapshots, at least 1;
  /// nullopt: it has none, or it is too far off to know.
  std::optional<std::uint64_t> timer_ticks(IVec3 block) const;
  /// Ticks of the world's life until the newest one that is known here: what timers and the day go by.
  std::uint64_t life_tick() const {
    return welcome_.age_ticks + std::max(welcome_.tick, world_.complete_tick);
  }
  /// How bright the open sky is in the world's newest tick that is known here, from 0 to 15
  /// (world/sim/day.h).
  int sky() const;
  /// What the own player holds, as the server last said.
  const Inventory& inventory() const { return world_.inventory; }
  /// Takes at most `most` of the verdicts that came, in order. At most verdicts_max are kept. An act that was
  /// on its way when its session broke off gets none.
  static constexpr std::size_t verdicts_max = 256;
  std::vector<ActAnswer> take_verdicts(std::size_t most = verdicts_max);
  /// Whatever happened up to this tick of the world is on the server's disk, as far as it said; 0: nothing
  /// was said, as by a server that keeps no world.
  std::uint32_t saved_tick() const { return world_.saved_tick; }
  /// The kinds of blocks of the welcome's world; the built-in ones until it told of others. Never null.
  const std::shared_ptr<const BlockRegistry>& blocks() const { return blocks_; }
  /// The newest acts_sent_max acts that were said in this world, in order: what prediction repeats.
  static constexpr std::size_t acts_sent_max = 64;
  std::span<const SentAct> acts_sent() const { return world_.acts_sent; }
  /// What fights did to the own player, as the server last said; nullopt: it has said nothing yet.
  const std::optional<Fight>& fight() const { return world_.fight; }
  /// Weapons, ammunition and powers of the own player, as the server last said; nullopt: nothing yet.
  const std::optional<Carried>& carried() const { return world_.carried; }
  /// The match and its score, as the server last said; nullopt: nothing yet in this world.
  const std::optional<Score>& score() const { return world_.score; }
  /// What the welcome's world tells of its kinds, and its game's messages; ours until it told. Never null.
  const std::shared_ptr<const ReplicationRegistry>& replication() const { return replication_; }
  /// An added field of an entity by its name, as newest known; nullopt: nothing is known of it, there is no
  /// such field, or it is not for this player.
  std::optional<double> field(EntityId id, std::string_view name) const;
  /// The same at a tick, as View's positions: between the two newest states known, where it is so declared.
  std::optional<double> field_at(EntityId id, std::string_view name, double tick) const;
  /// Messages of the world's game since the last call, in order, each once, where ClientConfig::on_message
  /// takes none. At most game_messages_max are kept.
  static constexpr std::size_t game_messages_max = 256;
  std::vector<GameMessage> take_game_messages();
  /// What only shows (shots, hits, bursts) since the last call, as it came: each at most once, and what was
  /// lost on the way never. At most CueInbox::kept_max are kept; of more than `most` the rest waits.
  std::vector<HeardCue> take_cues(std::size_t most = CueInbox::kept_max) { return cues_.take(most); }
  /// Items picked up since the last call, by kind (item_type()), in order. At most picks_max are kept.
  static constexpr std::size_t picks_max = 256;
  std::vector<std::uint8_t> take_picks();
  /// The weapons of the welcome's world, in a set whose monsters are ours but for how they show (the names of
  /// their blood and sounds), which is the world's; Doom's until it told. Never null.
  const std::shared_ptr<const KindSet>& kinds() const { return kinds_; }
  /// Hits that the player gave or took, and players' deaths, since the last call, in order, each once. At
  /// most hits_max are kept.
  static constexpr std::size_t hits_max = 256;
  std::vector<CombatEvent> take_hits();
  /// The blocks that differ from the ground that the welcome's terrain makes, as far as they were told.
  const EditedGround& ground() const { return ground_; }
  EditedGround& ground() { return ground_; }

  /// Lost without a word: the connection ended, or nothing came. Not so when it was refused or sent away.
  bool broken_off() const { return broken_off_; }
  /// From lost back to connecting, to go on with the session if the server still has it: for those who bring
  /// a new connection after the old one broke off. Precondition: broken_off().
  void join_again(Micros now);

  /// Says goodbye (several times, as datagrams get lost), then the state becomes left.
  void leave(SessionEnd reason = SessionEnd::quit);

  ClientState state() const { return state_; }  ///< why it is so: reason()
  /// Refused, left or lost: it reads and sends nothing more.
  bool ended() const { return state_ >= ClientState::refused; }
  /// One line for people: why it was refused, lost or left; empty while it plays.
  const std::string& reason() const { return reason_; }
  /// Why the session ended or did not begin, where somebody said so in these terms: the server, or we.
  std::optional<SessionEnd> end_reason() const { return end_reason_; }
  /// Maps and props of the welcome that the client lacks, by name; while it fetches them, too.
  const std::vector<std::string>& missing_maps() const { return missing_maps_; }
  /// Maps and props are on their way; joining until they are here.
  bool fetching() const { return fetching_; }
  /// How far that is.
  const ContentFetch& fetch() const { return fetch_; }

  /// Valid once welcomed.
  const Welcome& welcome() const { return welcome_; }
  bool welcomed() const { return welcomed_; }
  /// Number of the session; 0 before the first. The server's log has it, too.
  std::uint32_t session() const { return session_.connection; }
  /// Another session is being sought in place of one that was lost.
  bool resuming() const { return resuming_; }
  /// Of the session: over TCP it may be though the server's address is one of UDP (ClientConfig::fallback).
  Transport transport() const { return peer_.transport; }
  /// Who the server has proven to be, in the newest handshake that came so far; none before.
  const std::optional<secure::PublicKey>& server_key() const { return server_key_; }
  /// Who the player is.
  const secure::PublicKey& identity() const { return config_.identity.open; }
  /// The own entity; 0 before the first snapshot.
  EntityId player() const { return world_.own ? world_.own->id : EntityId{0}; }

  /// The own player as of own_tick(); empty before the first snapshot.
  const std::optional<OwnPlayer>& own() const { return world_.own; }
  std::uint32_t own_tick() const { return world_.own_tick; }
  std::uint32_t applied_tick() const { return world_.applied_tick; }
  /// Newest tick of which every part has arrived and could be read; 0: none yet.
  std::uint32_t complete_tick() const { return world_.complete_tick; }
  /// Tick of the newest command sent; 0: none yet, which is within a tick from where playing begins.
  std::uint32_t command_tick() const { return clock_.newest_tick(); }
  /// The same with the share of a tick that has passed since, below 1: the time that a picture goes by, once
  /// there was a command.
  double command_time(Micros now) const;
  /// Is a command to be numbered? Who polls more often than ticks pass calls advance() when it is, and for
  /// what came, each 10 ms or with each frame: acknowledgements and what is sent again wait for that.
  bool command_due(Micros now) const { return clock_.due(now); }
  /// The first tick that a command was due for in this world: before it the player stands. 0: none was yet.
  std::uint32_t first_command_tick() const { return world_.first_command_tick; }
  /// The command that was numbered for a tick, as it travels: its yaw without delta_yaw(). Null: for that
  /// tick there is none yet, or it is long ago (128 ticks).
  const PlayerCommand* command_of(std::uint32_t tick) const {
    const bool held =
        tick != 0 && tick <= world_.filled_tick && world_.filled_tick - tick < world_.commands.size();
    return held ? &world_.commands[tick % world_.commands.size()] : nullptr;
  }
  const View& view() const { return view_; }
  /// Floors and ceilings of the maps that ClientConfig::map gave, now and in ticks to come.
  const SectorForecast& sectors() const { return sectors_; }
  SectorForecast& sectors() { return sectors_; }
  const ClientStats& stats() const { return stats_; }
  /// How long ago the last snapshot came; 0 before the first.
  Micros silent_for(Micros now) const;
  /// Smoothed round trip; 0 before the first sample.
  Micros rtt() const { return rtt_; }

  /// Lines that arrived since the last call, in order, each once. At most chat_in_max are kept.
  static constexpr std::size_t chat_in_max = 64;
  std::vector<ChatLine> take_chat();

 private:
  /// What the session that was proves itself by in a new handshake.
  struct Session {
    std::uint32_t connection = 0;  // 0: there was none
    secure::Secret resumption;
    secure::PublicKey server;
  };
  /// What becomes of us once the peer was told.
  struct Ending {
    ClientState state{};
    std::string reason;
    Micros since{0};
  };

  /// Until the server has it.
  struct CallOut {
    GameCallMessage message;
    std::uint64_t queued_bytes = 0;  // of the stream; 0: not sent in this session
  };

  /// What was told and said of one world. Nothing of it outlives that: another world, another one of these.
  struct InWorld {
    // Commands by tick modulo, what input_commands_max looks back on. As they travel: without delta_yaw(),
    // which the server adds.
    std::array<PlayerCommand, 128> commands{};
    std::uint32_t filled_tick = 0;  // newest tick that commands holds
    std::uint32_t sent_tick = 0;    // newest one that was sent
    std::uint32_t first_command_tick = 0;
    bool command_due = false;
    std::uint32_t view_lag_ticks = 0;
    // Snapshots, and what they told of the own player.
    ToldTicks told;  // that view_ had as its newest, each
    std::uint32_t applied_tick = 0;
    std::uint32_t snapshot_tick = 0;
    std::uint32_t parts_tick = 0;  // whose parts are being counted
    std::uint32_t parts_have = 0;
    std::uint64_t ticks_heard = 0;  // bit n: a part of n ticks before that one arrived
    std::uint32_t complete_tick = 0;
    bool in_long_gap = false;
    std::optional<OwnPlayer> own;
    std::uint32_t own_tick = 0;
    // What the streams told and say.
    std::uint32_t saved_tick = 0;
    std::deque<BlockAct> acts_out;
    std::vector<SentAct> acts_sent;
    Inventory inventory;
    std::vector<ActAnswer> verdicts;
    std::optional<Fight> fight;
    std::optional<Carried> carried;
    std::optional<Score> score;
    std::deque<CallOut> calls_out;
    std::vector<GameMessage> game_messages;
    std::vector<std::uint8_t> picks;
    std::vector<CombatEvent> hits;
  };

  void note_time(Micros now);
  void receive(const PeerAddress& from, std::span<const std::uint8_t> bytes);
  void hear_closed(const PeerAddress& link);
  void watch();
  void drop(DropReason reason) { ++stats_.drops[static_cast<std::size_t>(reason)]; }
  void end(ClientState state, std::string reason);
  void break_off(std::string reason);

  // client_session.cpp: how sessions begin and end
  void receive_sealed(const PeerAddress& from, std::span<const std::uint8_t> bytes);
  void receive_reset(const PeerAddress& from, std::span<const std::uint8_t> bytes);
  void begin_session();
  void hear_end();
  void seek_session();
  void lose_connection();
  void close_link();
  void close(SessionEnd reason, ClientState state, std::string text);
  void advance_ending(DatagramBatch& out);
  void advance_handshakes(DatagramBatch& out);
  std::span<const std::uint8_t> write_hello(const secure::ClientHandshake& handshake);

  // client_messages.cpp: what is said in them
  void note_round_trip();
  void take_messages();
  void take_message(StreamId stream);
  void take_unreliable(std::span<const std::uint8_t> bytes);
  void undecodable(DropReason reason);
  void handle(Welcome& message);
  void handle(BlockKinds& message);
  void handle(const Carried& message);
  void handle(WeaponKinds& message);
  void handle(MonsterShows& message);
  void send_calls();
  void handle(Score& message);
  void begin_world();

  // client_replication.cpp: what a game adds
  bool knows_world() const;
  bool knows_blocks() const { return blocks_->hash() == welcome_.blocks_hash; }
  void join_if_ready();
  void handle(ReplicatedKinds& message);
  void handle(GameMessage& message);

  bool begin_part(const PartHead& head, SnapshotPart& part);
  bool believable(std::uint32_t tick) const;
  void take_part(const SnapshotPart& message, bool whole);
  void count_snapshot(const SnapshotPart& message, bool whole);
  void count_overtaken(std::uint32_t tick);
  void handle(ChatLine& message);
  void number_commands();
  void foresee(Foresight* foresight);
  void send_inputs(DatagramBatch& out);
  bool send_input(std::uint32_t newest_tick, DatagramBatch& out);
  void send_chat();

  // client_content.cpp: maps and props
  void take_content();
  void lack(const std::string& remedy);
  void begin_fetch();
  void handle(const ContentPart& part);
  void handle(const ContentRefused& refused);
  void advance_fetch();
  void join_world();
  void send_join();

  // client_acts.cpp: blocks
  void handle(const ActAnswers& message);
  void handle(const BlockEdits& message);
  void handle(const GroundChunk& message);
  void handle(const GroundGone& message);
  bool wants_ground() const;
  void take_ground(const char* wrong);
  void handle(const Saved& message);
  void handle(const InventoryChange& message);
  void handle(const Fight& message);
  std::uint32_t queue(BlockAct act);
  void handle(const HeldByBlock& message);
  void hear(std::uint32_t tick, std::uint8_t part, std::span<const Cue> cues);
  void send_acts();

  ClientConfig config_;
  ClientState state_ = ClientState::connecting;
  std::string reason_;
  std::optional<SessionEnd> end_reason_;
  std::vector<std::string> missing_maps_;
  Micros now_{0};
  bool started_ = false;
  Micros started_at_{0};
  Micros last_heard_{0};  // any packet of the session
  Micros poll_from_{0};   // until then nobody knows whether the server was silent, or we were deaf

  secure::SeededEntropy entropy_;
  Handshakes handshakes_;
  std::unique_ptr<Connection> connection_;
  PeerAddress peer_;                         // of connection_
  std::vector<PeerAddress> links_to_close_;  // TCP connections that are of no use any more
  Session session_;
  bool greeted_ = false;   // in this session
  bool welcomed_ = false;  // in some
  bool resuming_ = false;
  Micros resuming_since_{0};
  bool broken_off_ = false;
  std::optional<secure::PublicKey> server_key_;
  std::optional<SessionEnd> leaving_;
  Micros leaving_since_{0};
  std::optional<Ending> ending_;

  MessageWriter writer_;
  std::vector<std::uint8_t> message_;  // memory of Connection::take()
  Welcome welcome_;
  Join join_;
  bool join_waits_ = false;  // for the kinds that the welcome named
  bool kinds_told_ = false;  // of the newest welcome's world
  std::shared_ptr<const BlockRegistry> blocks_ = BlockRegistry::builtin_ptr();
  ContentFetch fetch_;
  bool fetching_ = false;
  Micros fetch_progress_at_{0};

  InputClock clock_;
  std::uint64_t skipped_before_ = 0;  // by it, in worlds before
  PlayerCommand command_;
  bool played_ = false;  // since the last join_again()
  Micros last_snapshot_{0};
  Micros hungry_since_{0};  // the same, without the time in which nobody listened
  Micros last_input_{0};
  Micros away_before_{0};  // from the call before the last one to that
  Micros rtt_from_{0};     // what was sent before then tells no round trip
  std::uint64_t rtt_samples_ = 0;
  Micros rtt_{0};

  InWorld world_;
  View view_;
  PackedMemory packed_;
  SectorForecast sectors_;

  std::deque<std::string> chat_out_;
  bool chat_sent_ = false;  // the line at the front is on its way
  std::vector<ChatLine> chat_in_;

  EditedGround ground_;
  std::uint32_t act_number_ = 0;
  static constexpr std::size_t signs_max = 4096;  // and timers; of more the farthest are forgotten
  using BlockPlace = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
  std::optional<PlacedData> opened_;
  std::map<BlockPlace, SignText> signs_;
  std::map<BlockPlace, std::uint64_t> timers_;
  std::shared_ptr<const ReplicationRegistry> replication_ = ReplicationRegistry::builtin_ptr();
  std::uint64_t replication_hash_ = 0;  // 0: of ours
  std::shared_ptr<const KindSet> kinds_ = std::make_shared<const KindSet>(default_kinds());
  CueInbox cues_;
  ClientStats stats_;
};

}  // namespace ashlar::client_sim
