#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client_sim/client/histogram.h"
#include "client_sim/client/input_clock.h"
#include "client_sim/client/sector_forecast.h"
#include "client_sim/client/view.h"
#include "protocol/chat.h"
#include "protocol/datagram.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/sequence.h"

namespace ashlar::client_sim {

/// Where a client stands. From refused on it has ended, and only join_again() brings it back (from lost).
enum class ClientState : std::uint8_t {
  connecting,  ///< hello is on its way
  joining,     ///< welcomed; waiting for the first snapshot
  playing,     ///< a snapshot has come
  refused,     ///< the server said no; see Client::reason()
  left,        ///< we said goodbye
  lost,        ///< the server fell silent, closed the connection or sent us away
};
/// As the enumerator is spelled.
std::string_view name(ClientState state);

/// What a client is made with. Its functions are called from advance(): what they refer to must outlive the
/// client.
struct ClientConfig {
  PeerAddress server;
  std::string name = "player";  ///< not valid_player_name: the client is refused without asking the server
  std::string build;            ///< for the server's log; made printable and cut to build_bytes_max
  std::uint64_t nonce = 1;      ///< random, or drawn from a seed: the answer to our hello must carry it
  /// Hash of the map's content when the client holds it, placed as the welcome says; nullopt: lacks it.
  /// Called once for each map of the welcome.
  std::function<std::optional<std::uint64_t>(const WelcomeMap&)> content;
  /// The map itself, for clients that foresee its moving sectors (Client::sectors()); may be empty.
  /// Called once for each map of the welcome that the client holds.
  std::function<std::shared_ptr<const PlacedMap>(const WelcomeMap&)> map;
  /// Likewise of a prop's.
  std::function<std::optional<std::uint64_t>(const WelcomeProp&)> prop_content;
  Micros hello_retry{std::chrono::milliseconds{500}};  ///< from one hello, or join, to its repeat
  Micros connect_timeout{std::chrono::seconds{10}};    ///< no snapshot so long after the first hello: lost
  Micros silence_timeout{std::chrono::seconds{5}};     ///< without a valid packet while playing: lost
  int lead_ticks = 2;                                  ///< commands that should wait at the server
};

/// Counters only grow, but for commands_skipped.
struct ClientStats {
  std::uint64_t packets_in = 0, packets_out = 0, bytes_in = 0, bytes_out = 0;
  std::uint64_t snapshots = 0;           ///< ticks of which a part arrived
  std::uint64_t snapshots_complete = 0;  ///< ticks of which every part arrived
  std::uint64_t commands = 0;
  /// Tick numbers jumped over to catch up with the server, since the last welcome.
  std::uint64_t commands_skipped = 0;
  std::array<std::uint64_t, drop_reason_count> drops{};
  std::uint64_t rejoins = 0;  ///< times it was welcomed anew, by a server that did not know it any more
  Micros joined_after{0};     ///< from the first hello to the first snapshot
  Micros longest_gap{0};      ///< longest time without a snapshot, since the first one
  std::uint64_t starved = 0;  ///< gaps of a second or more in which the client listened
  Histogram rtt;              ///< of acknowledgements, the server's wait for its next tick included
};

/// A headless player without sockets and clocks: fed and drained.
///
/// The way of a tick: advance() reads snapshots, and for each server tick that becomes due by its own
/// estimate it numbers the present command and sends it together with those the server has not confirmed yet.
/// The estimate runs a hair faster or slower, as snapshots tell how far ahead commands arrive
/// (input_clock.h). One thread. Same calls, same bytes.
///
/// A server that says that it knows no such connection was started again, or is none: the client goes on,
/// says hello under a new nonce beside it, and joins again by itself when that is welcomed (WIRE.md, Lost
/// connections).
class Client {
 public:
  /// Nothing is sent before advance().
  explicit Client(ClientConfig config);

  /// Takes what arrived (entries of other peers are ignored), lets time pass, appends what is to be sent.
  /// Call every few milliseconds; `now` never runs backwards. A caller that stays away for longer than an
  /// eighth of a second, or whose clock leaps, has the server's tick from the next snapshots.
  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out);

  /// The command of every tick from now on, until the next call, its yaw in the world. Quantised here. Who
  /// shows the world as it was at an older tick says so in `seen`; left 0 it is complete_tick() when it is
  /// sent.
  void set_command(const PlayerCommand& command) { command_ = quantise(command); }
  /// How far spawns and teleporters have turned the view, as far as this client knows. When it changes, the
  /// present command turns along, so that a player faces where a teleporter turned it; who holds a yaw of its
  /// own turns that by the same.
  Turn16 delta_yaw() const { return own_ ? own_->delta_yaw : Turn16{0}; }

  /// Queues a line of chat. False when it is not valid_text or when chat_queue_max lines are waiting.
  static constexpr std::size_t chat_queue_max = 8;
  bool say(std::string_view text);

  /// Lost without a word: the connection ended, or nothing came. Not so when it was refused or sent away.
  bool broken_off() const { return broken_off_; }
  /// From lost back to connecting, as a new client that keeps its counters: for those who bring a new
  /// connection after the old one broke off. Precondition: broken_off().
  void join_again(Micros now);

  /// Says goodbye (thrice, as datagrams get lost), then the state becomes left.
  void leave(LeaveReason reason = LeaveReason::quit);

  ClientState state() const { return state_; }  ///< why it is so: reason()
  /// Refused, left or lost: it reads and sends nothing more.
  bool ended() const { return state_ >= ClientState::refused; }
  /// One line for people: why it was refused, lost or left; empty while it plays.
  const std::string& reason() const { return reason_; }
  std::optional<RefuseReason> refuse_reason() const { return refuse_reason_; }
  /// Maps and props of the welcome that the client lacks, by name.
  const std::vector<std::string>& missing_maps() const { return missing_maps_; }

  /// Valid once welcomed.
  const Welcome& welcome() const { return welcome_; }
  bool welcomed() const { return welcome_.connection != 0; }
  /// The own entity; 0 until the server has given us one.
  EntityId player() const { return own_ ? own_->id : welcome_.player; }

  /// The own player as of own_tick(); empty before the first snapshot.
  const std::optional<OwnPlayer>& own() const { return own_; }
  std::uint32_t own_tick() const { return own_tick_; }
  std::uint32_t applied_tick() const { return applied_tick_; }
  /// Newest tick of which every part has arrived; 0: none yet.
  std::uint32_t complete_tick() const { return complete_tick_; }
  /// Tick of the newest command sent; 0 before playing.
  std::uint32_t command_tick() const { return clock_.newest_tick(); }
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
  void receive(std::span<const std::uint8_t> bytes);
  void handle(Welcome& message);
  void handle(const Refuse& message);
  void handle(const SnapshotPart& message);
  void handle(ChatLine& message);
  void hear_early_line();
  void handle(const Goodbye& message);
  void handle(const Pong& message);
  void count_snapshot(const SnapshotPart& message);
  void end(ClientState state, std::string reason);
  void break_off(std::string reason);

  // client_rejoin.cpp
  void hear_unknown(const PacketHeader& header);
  bool hear_probe(const PacketHeader& header, ServerMessage& message);
  void send_probe(DatagramBatch& out);
  void begin_anew(std::uint64_t nonce, const AckTracker& sent);
  std::uint64_t next_nonce() const;

  void send_hello(DatagramBatch& out);
  void send_join(DatagramBatch& out);
  void send_inputs(DatagramBatch& out);
  void send_chat(DatagramBatch& out);
  void send_leave(DatagramBatch& out);
  PacketHeader next_header();
  void send(DatagramBatch& out, std::span<const std::uint8_t> packet);

  ClientConfig config_;
  ClientState state_ = ClientState::connecting;
  std::string reason_;
  std::optional<RefuseReason> refuse_reason_;
  std::vector<std::string> missing_maps_;
  Micros now_{0};
  bool started_ = false;
  Micros started_at_{0};
  Micros next_send_{0};   // of the hello or join
  Micros last_heard_{0};  // any valid packet

  MessageWriter writer_;
  SequenceWindow received_;
  AckTracker sent_;
  Welcome welcome_;
  Join join_;

  InputClock clock_;
  PlayerCommand command_;
  // By tick modulo; what input_commands_max looks back on. As they travel: without delta_yaw(), which the
  // server adds.
  std::array<PlayerCommand, 64> commands_{};
  std::uint32_t filled_tick_ = 0;  // newest tick that commands_ holds
  std::uint32_t applied_tick_ = 0;
  std::uint32_t snapshot_tick_ = 0;
  std::uint32_t parts_tick_ = 0;  // tick whose parts are being counted
  std::uint32_t parts_have_ = 0;
  std::uint32_t complete_tick_ = 0;
  Micros last_snapshot_{0};
  Micros hungry_since_{0};  // the same, without the time in which nobody listened
  Micros last_input_{0};
  Micros rtt_from_{0};  // what was sent before then tells no round trip
  bool in_long_gap_ = false;
  Micros rtt_{0};

  View view_;
  SectorForecast sectors_;
  std::optional<OwnPlayer> own_;
  std::uint32_t own_tick_ = 0;

  std::deque<std::string> chat_out_;
  std::uint32_t chat_number_ = 0;  // of the line at the front of chat_out_, once it was sent
  Micros next_chat_{0};
  std::uint32_t chat_seen_ = 0;
  std::array<ChatLine, chat_lines_waiting_max> chat_early_;  // by number modulo; 0: none
  std::vector<ChatLine> chat_in_;

  // A server that may not know us any more, and the hello to find out.
  bool doubted_ = false;
  bool broken_off_ = false;
  std::uint64_t probe_nonce_ = 0;  // 0: none was sent yet
  AckTracker probe_sent_;
  Micros next_probe_{0};

  std::optional<LeaveReason> leaving_;
  int leaves_sent_ = 0;
  Micros next_leave_{0};
  ClientStats stats_;
};

}  // namespace ashlar::client_sim
