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
#include "server/host/replicator.h"
#include "server/host/session.h"
#include "server/host/snapshot_order.h"
#include "server/net/strangers.h"
#include "world/sim/world.h"

namespace ashlar::server {

struct AddressHash {
  std::size_t operator()(const PeerAddress& a) const;
};

/// The Host's inside, split over host.cpp (time and ticks), host_receive.cpp (what clients say) and
/// host_send.cpp (what they are told).
struct Host::Impl {
  Impl(const HostConfig& given, std::unique_ptr<World> a_world, const SecretKey& key);

  // host.cpp
  void run_tick(Micros now, DatagramBatch& out, std::vector<HostEvent>& events);
  void fill_input();
  void adopt_turns();
  void note_fights();
  bool fought_lately(EntityId player) const;
  void let_go();
  void settle_joins(DatagramBatch& out, std::vector<HostEvent>& events);
  void keep_house(Micros now, DatagramBatch& out, std::vector<HostEvent>& events);
  std::uint32_t next_tick() const { return number(world->tick()) + 1; }
  Micros due_at(std::int64_t slot) const;
  std::int64_t ticks_due() const;
  void take_seat(std::uint32_t row);
  void leave_seat(std::uint32_t row);
  std::uint64_t stopwatch() const { return config.stopwatch_ns != nullptr ? config.stopwatch_ns() : 0; }
  void note_phase(Phase phase, std::uint64_t ns);

  // host_receive.cpp
  void receive(Micros now, const DatagramBatch& in, DatagramBatch& out, std::vector<HostEvent>& events);
  void receive_one(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                   DatagramBatch& out, std::vector<HostEvent>& events);
  void on_stranger(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                   const Packet& packet, DatagramBatch& out, std::vector<HostEvent>& events);
  void on_unknown(Micros now, const PeerAddress& from, const Packet& packet, DatagramBatch& out);
  void on_dismissed(Micros now, Session& session, std::size_t bytes, DatagramBatch& out);
  void on_ping(Micros now, const PeerAddress& from, const Ping& ping, DatagramBatch& out);
  void on_hello(Micros now, const PeerAddress& from, const PacketHeader& header, const Hello& hello,
                DatagramBatch& out, std::vector<HostEvent>& events);
  void on_join(Session& session, const Join& join, DatagramBatch& out, std::vector<HostEvent>& events);
  void on_input(Session& session, const Input& input);
  void on_chat(Session& session, const Chat& chat, std::vector<HostEvent>& events);
  void drop(DropReason reason) { ++status.drops[static_cast<std::size_t>(reason)]; }
  Session* session_of(std::uint32_t connection);
  Session* free_session();
  /// Who was greeted and has not joined gives way, so that no number of them keeps players out.
  void make_room(const PeerAddress& from, std::vector<HostEvent>& events);
  /// An id for a new connection in a row, which nothing that anybody was told before tells.
  std::uint32_t next_connection(std::uint32_t row);

  // host_send.cpp
  void send(const PeerAddress& to, std::span<const std::uint8_t> bytes, DatagramBatch& out);
  PacketHeader next_header(Session& session, Micros now);
  void welcome(Micros now, Session& session, DatagramBatch& out);
  /// Within the budget for refusals; over TCP the connection ends either way.
  void refuse(const PeerAddress& to, std::uint64_t nonce, RefuseReason reason, std::string text,
              const std::string& player, DatagramBatch& out, std::vector<HostEvent>& events);
  void say_goodbye(Session& session, GoodbyeReason reason, const std::string& text, DatagramBatch& out);
  void dismiss(Micros now, Session& session, DatagramBatch& out, std::vector<HostEvent>& events);
  void leave_world(Session& session, const std::string& why, SessionState then,
                   std::vector<HostEvent>& events);
  void remove(Session& session, const std::string& why, std::vector<HostEvent>& events);
  void publish(Micros now, DatagramBatch& out);
  void publish_to(Session& session, Micros now, DatagramBatch& out);
  SnapshotPlan lay_out(Session& session, SnapshotHead& head, std::span<const CellBlock> blocks);
  void send_chat(Micros now, Session& session, DatagramBatch& out);
  void tell_all(const std::string& from, const std::string& text);
  void push_chat(Session& session, const std::string& from, const std::string& line);
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
  Replicator replicator;
  MessageWriter writer;
  SnapshotWriter snapshots;
  SnapshotOrder snapshot_order;
  DVec3 eye_before;  // for Defects::wrong_eyes
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
