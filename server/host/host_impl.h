#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "protocol/recording.h"
#include "protocol/secure/seeded_entropy.h"
#include "server/host/away_bodies.h"
#include "server/host/bulk_streams.h"
#include "server/host/chat_room.h"
#include "server/host/chunk_loader.h"
#include "server/host/content_room.h"
#include "server/host/contents_room.h"
#include "server/host/door_keeper.h"
#include "server/host/edit_room.h"
#include "server/host/farewells.h"
#include "server/host/fight_room.h"
#include "server/host/game_message_room.h"
#include "server/host/gate.h"
#include "server/host/ground_room.h"
#include "server/host/host.h"
#include "server/host/inbox.h"
#include "server/host/inventory_room.h"
#include "server/host/lingering.h"
#include "server/host/lobby.h"
#include "server/host/overload.h"
#include "server/host/player_book.h"
#include "server/host/publisher.h"
#include "server/host/score_room.h"
#include "server/host/session_table.h"
#include "server/host/tick_input.h"
#include "server/host/tick_schedule.h"

namespace ashlar {
class Observer;
class World;
}  // namespace ashlar

namespace ashlar::server {

/// The rooms, and the order in which a tick goes through them. What each does is in its own file.
struct Host::Impl {
  Impl(const HostConfig& given, std::unique_ptr<World> a_world, const secure::Secret& seed,
       const Defects& wrong);

  Lobby::Rooms rooms() {
    return {world, config, sessions, gate, chat, content, stream, lingering, away, farewells, input, status};
  }

  void run_tick(Micros now, HostOutput& out);
  void bring_back();
  void take_verdicts(HostOutput& out);
  void step(const TickInput& next);
  void note_world();  ///< what the status tells of it
  bool tick_due(Micros now);
  Micros publish(Micros now, HostOutput& out);
  class CountedSender;
  void count_out(const DatagramBatch& out);
  /// Nanoseconds; always 0 without HostConfig::stopwatch_ns.
  std::uint64_t stopwatch() const { return config.stopwatch_ns != nullptr ? config.stopwatch_ns() : 0; }
  void note_phase(Phase phase, std::uint64_t ns);  ///< last, longest and sum of a phase, in the status

  HostConfig config;
  Defects defects;
  HostStatus status;
  std::unique_ptr<World> world;
  secure::SeededEntropy entropy;
  SessionTable sessions;
  Gate gate;
  TickSchedule schedule;
  OverloadLadder overload;
  ChatRoom chat;
  EditRoom edits;
  FightRoom fights;
  InventoryRoom inventories;
  ContentsRoom contents;
  PlayerBook book;
  ScoreRoom scores;
  GameMessageRoom messages;
  ContentRoom content;
  BulkStreams bulk;
  LingeringBodies lingering;
  AwayBodies away;
  Farewells farewells;
  TickInputCollector input;
  ChunkLoader ground;
  GroundRoom stream;
  Lobby lobby;
  DoorKeeper door;
  Inbox inbox;
  Publisher publisher;
  TickSink* sink = nullptr;
  Observer* observer = nullptr;
  TickRecord record;
  Micros now{0};
  std::size_t counted = 0;          // of the batch that is being filled: those in the status
  std::uint64_t sent_early_ns = 0;  // in the present turn
  bool closed = false;
};

}  // namespace ashlar::server
