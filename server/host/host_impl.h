#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/message_writer.h"
#include "protocol/recording.h"
#include "server/host/chunk_loader.h"
#include "server/host/gate.h"
#include "server/host/host.h"
#include "server/host/notices.h"
#include "server/host/publisher.h"
#include "server/host/session.h"
#include "server/net/strangers.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// Over all of an address. Not keyed: the tables that use it hold no more rows than there are sessions.
struct AddressHash {
  std::size_t operator()(const PeerAddress& a) const;
};

/// The Host's inside, split over host.cpp (time and ticks), host_receive.cpp (what clients say, and how
/// sessions end), host_send.cpp (what they are told) and host_audit.cpp.
struct Host::Impl {
  /// Asserts the bounds of HostConfig and reserves the tables for clients_max.
  Impl(const HostConfig& given, std::unique_ptr<World> a_world, const SecretKey& key);

  // host.cpp
  /// One step of the world with what was collected, and all that follows from it: snapshots, joins, timeouts.
  void run_tick(Micros now, DatagramBatch& out, std::vector<HostEvent>& events);
  void fill_input();  ///< collects the next tick's input: joins, commands, leaves, ground
  /// After a step: where the world turned a player, its session's delta_yaw takes the turn up.
  void adopt_turns();
  void note_fights();  ///< after a step: who hit, was hit or lost health
  /// Within fight_linger, and alive. Precondition: a player's id.
  bool fought_lately(EntityId player) const;
  void let_go();  ///< lingering bodies whose time is over go into `leaves`
  /// Gives those that the step let in their entity; whom it did not is refused.
  void settle_joins(DatagramBatch& out, std::vector<HostEvent>& events);
  /// Once a tick: refills what sessions may send, ends those that are kicked or silent, sends chat.
  void keep_house(Micros now, DatagramBatch& out, std::vector<HostEvent>& events);
  std::uint32_t next_tick() const { return number(world->tick()) + 1; }  ///< that will be stepped next
  Micros due_at(std::int64_t slot) const;  ///< when a tick slot (see tick_slots) begins
  std::int64_t ticks_due() const;          ///< slots begun by `now` and neither played nor given up
  void take_seat(std::uint32_t row);       ///< into `seated`; precondition: not in it
  void leave_seat(std::uint32_t row);      ///< out of `seated`; asserts that it is in it
  /// Nanoseconds; always 0 without HostConfig::stopwatch_ns.
  std::uint64_t stopwatch() const { return config.stopwatch_ns != nullptr ? config.stopwatch_ns() : 0; }
  void note_phase(Phase phase, std::uint64_t ns);  ///< last, longest and sum of a phase, in the status

  // host_receive.cpp
  /// Everything of a batch, then the connections that ended. After shut_down() it only counts.
  void receive(Micros now, const DatagramBatch& in, DatagramBatch& out, std::vector<HostEvent>& events);
  /// One datagram of anybody: dropped and counted by reason, or handed to one of the below.
  void receive_one(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                   DatagramBatch& out, std::vector<HostEvent>& events);
  /// A sound packet of no connection: hellos and pings go on, all else is dropped.
  void on_stranger(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                   const Packet& packet, DatagramBatch& out, std::vector<HostEvent>& events);
  /// A packet of a connection that is not there or not this address's: told so, within the gate's limits.
  void on_unknown(Micros now, const PeerAddress& from, const Packet& packet, DatagramBatch& out);
  /// A kicked client went on talking: it hears its goodbye again, in no more bytes than it sent.
  void on_dismissed(Micros now, Session& session, std::size_t bytes, DatagramBatch& out);
  /// Its pong, within the gate's limits and without a session.
  void on_ping(Micros now, const PeerAddress& from, const Ping& ping, DatagramBatch& out);
  /// Refuses, says a lost welcome again, or begins a session. One of the same address and port gives way only
  /// when it has been silent; else the hello is dropped.
  void on_hello(Micros now, const PeerAddress& from, const PacketHeader& header, const Hello& hello,
                DatagramBatch& out, std::vector<HostEvent>& events);
  /// A greeted session that holds all content joins in the next tick; one that does not is refused and
  /// removed.
  void on_join(Session& session, const Join& join, DatagramBatch& out, std::vector<HostEvent>& events);
  /// Commands into the input buffer. Like chat it counts for nothing in a session that does not play.
  void on_input(Session& session, const Input& input);
  /// The next line in number, to everybody, unless the session has used up what it may say.
  void on_chat(Session& session, const Chat& chat, std::vector<HostEvent>& events);
  void drop(DropReason reason) { ++status.drops[static_cast<std::size_t>(reason)]; }  ///< counts it
  Session* session_of(std::uint32_t connection);  ///< null: no such connection
  /// Null when full: lingering bodies count, as they hold places in the world. O(clients_max).
  Session* free_session();
  /// Who was greeted and has not joined gives way, so that no number of them keeps players out.
  void make_room(const PeerAddress& from, std::vector<HostEvent>& events);
  /// An id for a new connection in a row, which nothing that anybody was told before tells.
  std::uint32_t next_connection(std::uint32_t row);

  // host_send.cpp
  /// Appends to `out` and counts; what is longer than a datagram is dropped.
  void send(const PeerAddress& to, std::span<const std::uint8_t> bytes, DatagramBatch& out);
  /// Tells the session what to build its world from; the message of the day is cut to motd_bytes_max.
  void welcome(Micros now, Session& session, DatagramBatch& out);
  /// Within the budget for refusals; over TCP the connection ends either way.
  void refuse(const PeerAddress& to, std::uint64_t nonce, RefuseReason reason, std::string text,
              const std::string& player, DatagramBatch& out, std::vector<HostEvent>& events);
  /// Sends the goodbye; over TCP the connection closes behind it. The session itself stays.
  void say_goodbye(Session& session, GoodbyeReason reason, const std::string& text, DatagramBatch& out);

  // host_receive.cpp: how sessions end
  /// Tells a session in kicked_for why it goes and takes it out of the world. Over UDP it stays for a while,
  /// dismissed, to be told again.
  void dismiss(Micros now, Session& session, DatagramBatch& out, std::vector<HostEvent>& events);
  /// Puts the session into state `then`. Where it played the body leaves in the next tick, or lingers after a
  /// fight.
  /// @param why  for log and chat; empty: nobody is told in chat
  void leave_world(Session& session, const std::string& why, SessionState then,
                   std::vector<HostEvent>& events);
  /// Frees the session and its row; `session` is empty afterwards.
  void remove(Session& session, const std::string& why, std::vector<HostEvent>& events);

  // host_send.cpp
  /// The tick's snapshots for all who play, and what the status says of them.
  void publish(Micros now, DatagramBatch& out);
  /// All lines it has not confirmed, at most every 250 ms; notices join them while few wait.
  void send_chat(Micros now, Session& session, DatagramBatch& out);
  /// A line of chat for everybody who plays, cut to chat_bytes_max. @param from  empty: the server
  void tell_all(const std::string& from, const std::string& text);
  /// Into one client's queue; a full one gives its oldest line up, counted.
  void push_chat(Session& session, const std::string& from, const std::string& line);
  /// Due lines about joins and leaves into everybody's queue of notices.
  void tell_notices(Micros now);

  HostConfig config;
  std::unique_ptr<World> world;
  SecretKey secret;
  std::uint64_t connections_made = 0;
  std::vector<Session> sessions;
  std::unordered_map<std::uint32_t, std::uint32_t> by_connection;  // rows; looked up, never iterated
  // Rows that are not free, in order: a tick costs what is there, however many could be.
  std::vector<std::uint32_t> seated;
  std::vector<std::uint32_t> visited;  // scratch, where a visit may free rows
  std::unordered_map<PeerAddress, std::uint32_t, AddressHash> by_address;  // looked up, never iterated
  std::unordered_map<PeerAddress, std::uint32_t, AddressHash> per_host;    // sessions by counted_as()

  Gate gate;
  StrangerPool greeted;  // connections that were welcomed and have not joined yet
  Notices notices;

  /// A body that stays for a while, as its player left a fight.
  struct Lingering {
    EntityId player{};
    std::uint32_t until_tick = 0;
  };
  std::vector<Lingering> lingering;
  /// What was seen of the players in the world, by slot.
  struct Fighter {
    EntityId player{};
    std::uint32_t fought_tick = 0;  // 0: never
    std::uint16_t health = 0;
  };
  std::vector<Fighter> fighters;
  std::uint32_t linger_ticks = 0;

  ChunkLoader ground;
  Publisher publisher;
  MessageWriter writer;
  TickSink* sink = nullptr;

  // The next tick's input, collected; cleared after each step.
  std::vector<std::uint32_t> joins;
  std::vector<EntityId> leaves;
  std::vector<PlayerInput> commands;
  std::vector<AdminCommand> admin;
  std::vector<ReadyChunk> chunks_ready;
  std::vector<ChunkCoord> chunks_dropped;
  TickRecord record;

  HostStatus status;
  Micros now{0};
  Micros began{0};                // when the first tick was due
  std::int64_t tick_slots = 0;    // ticks since then, played or given up
  std::int64_t ticks_behind = 0;  // played one after the other while the next one was due, too
  bool started = false;
  bool closed = false;
  std::string shut_reason;
  std::uint32_t lines_told = 0;  // for Defects::lost_line
};

}  // namespace ashlar::server
