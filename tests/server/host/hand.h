#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/connection/connection.h"
#include "protocol/connection/session_end.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/score_board.h"
#include "protocol/secure/client_handshake.h"
#include "protocol/secure/open_packets.h"
#include "protocol/secure/resumption.h"
#include "protocol/secure/seeded_entropy.h"
#include "protocol/snapshot/plain_codec.h"
#include "protocol/version.h"
#include "tests/catch.h"

namespace ashlar::server::test {

/// The client's end of a session and nothing behind it, so that what the Host does is seen and nothing else.
struct Hand {
  Hand(const PeerAddress& address, std::string player, std::uint64_t seed)
      : at(address), name(std::move(player)), entropy(seed), identity(secure::key_pair(entropy.secret())) {}

  // --- what it is
  PeerAddress at;
  std::string name;
  secure::SeededEntropy entropy;
  secure::KeyPair identity;
  std::vector<std::uint8_t> token;
  std::vector<std::uint64_t> content;  ///< that its joins name
  bool joins = true;                   ///< answers each welcome
  bool watches = false;                ///< joins as a spectator
  bool vanished = false;               ///< neither says nor hears anything
  bool deaf = false;                   ///< hears nothing
  std::size_t bytes_per_turn = 0;      ///< that its path takes; the rest queues up. 0: all
  std::uint32_t resume = 0;            ///< connection that the next hello wants to go on with
  secure::Secret resumption;           ///< and its secret
  std::vector<std::uint8_t> payload;   ///< instead of a hello, unless empty

  // --- what it heard
  std::vector<Welcome> welcomes;
  std::optional<OwnPlayer> own;
  std::vector<ChatLine> lines;
  std::vector<std::uint8_t> fetched;  ///< of content, all there came
  std::vector<ContentRefusal> refusals;
  std::vector<Fight> fights;
  std::vector<Carried> carried;
  std::vector<Score> scores;  // each as it is known then
  std::vector<std::size_t> score_bytes;
  struct HeardEdits {
    std::uint32_t tick = 0, snapshot_tick = 0;  ///< snapshot_tick: the newest that was heard by then
    std::vector<BlockChange> changes;
    std::size_t bytes = 0;
  };
  std::vector<HeardEdits> edits;
  std::vector<ActAnswer> answers;
  std::uint32_t applied_tick = 0, snapshot_tick = 0;
  int snapshots = 0, parts = 0;
  struct Told {
    std::uint32_t tick = 0;
    CellCoord cell;
    EntityRecord record;
  };
  std::map<EntityId, Told> told;  ///< of whom, and how in which tick last
  /// What blocks were, by number and tick: bases of what comes.
  std::map<std::uint16_t, std::map<std::uint32_t, DecodedBlock>> blocks;
  int resets = 0, strays = 0;
  std::size_t bytes_in = 0, bytes_out = 0;

  std::optional<secure::ClientHandshake> handshake;
  std::unique_ptr<Connection> connection;
  secure::SessionKeys keys;

  bool welcomed() const { return !welcomes.empty(); }
  std::uint32_t number() const { return connection ? connection->id() : 0; }
  /// Why the session ended; none: it has not, or not for a reason of a game's.
  std::optional<SessionEnd> end() const {
    return connection ? session_end(connection->close_reason()) : std::nullopt;
  }
  std::string end_text() const { return connection ? connection->close_text() : ""; }

  /// Begins (again): what was heard before is forgotten.
  void begin(Micros now) {
    forget();
    secure::ClientHandshakeSetup setup;
    setup.version = protocol_version;
    setup.identity = identity;
    handshake.emplace(setup, entropy, now);
  }
  void forget() {
    handshake.reset();
    connection.reset();
    welcomes.clear(), lines.clear(), told.clear(), blocks.clear(), own.reset();
    fights.clear(), carried.clear(), scores.clear();
    applied_tick = snapshot_tick = 0;
    snapshots = parts = resets = 0;
  }

  void receive(Micros now, const PeerAddress& server, std::span<const std::uint8_t> bytes) {
    if (bytes_per_turn == 0) return hear_packet(now, server, bytes);
    if (path.size() < path_packets_max) path.push_back({server, {bytes.begin(), bytes.end()}});
  }
  void hear_packet(Micros now, const PeerAddress& server, std::span<const std::uint8_t> bytes) {
    if (vanished || deaf) return;
    bytes_in += bytes.size();
    if (connection != nullptr && welcomed() &&
        secure::is_reset(bytes, protocol_version, number(), welcomes.back().reset_token)) {
      ++resets;
      return;
    }
    if (handshake && !connection) {
      handshake->receive(bytes, now);
      if (handshake->step() != secure::ClientStep::done) return;
      ConnectionSettings settings;
      settings.reliable_link = at.transport == Transport::tcp;
      keys = handshake->keys();
      connection = std::make_unique<Connection>(settings, keys, server, secure::Secret{}, now);
    }
    if (connection) take(now, server, bytes);
  }

  void poll(Micros now, DatagramBatch& to) {
    if (vanished) return;
    for (path_credit += bytes_per_turn; !path.empty() && path.front().bytes.size() <= path_credit;
         path.pop_front()) {
      path_credit -= path.front().bytes.size();
      hear_packet(now, path.front().server, path.front().bytes);
    }
    if (path.empty()) path_credit = 0;
    const std::size_t first = to.entries().size();
    if (handshake && !connection) {
      if (handshake->step() == secure::ClientStep::server_known) finish(now);
      for (auto bytes = handshake->packet_due(now); !bytes.empty(); bytes = handshake->packet_due(now))
        to.add(at, bytes);
    }
    if (connection && connection->next_poll_at() <= now)
      say([&](DatagramBatch& out) { connection->poll(now, out); }, to);
    for (const auto& entry : to.entries().subspan(first)) bytes_out += entry.size;
  }

  // --- to say something
  void send(Micros now, DatagramBatch& to, Input input) {
    REQUIRE(connection);
    input.world = welcomes.back().world;
    say([&](DatagramBatch& out) { (void)connection->send_unreliable(now, writer.write(input), out); }, to);
  }
  SendResult send(const Chat& chat) { return connection->send(StreamId::chat, writer.write(chat)); }
  SendResult send(const ContentRequest& request) {
    return connection->send(StreamId::control, writer.write(request));
  }
  SendResult send(const Acts& acts) { return connection->send(StreamId::edits, writer.write(acts)); }
  SendResult send(const Join& join) { return connection->send(StreamId::control, writer.write(join)); }
  void leave(Micros now, SessionEnd why = SessionEnd::quit) {
    if (connection) connection->close(now, close_reason(why), "");
  }
  /// Its next handshake names this session.
  void will_resume() {
    resume = number();
    resumption = keys.resumption;
  }

 private:
  void finish(Micros now) {
    Hello hello;
    hello.name = name;
    hello.build = "test";
    hello.token = token;
    hello.resume = resume;
    if (resume != 0) hello.resume_proof = secure::resume_proof(resumption, handshake->binding());
    handshake->finish(payload.empty() ? writer.write(hello) : std::span<const std::uint8_t>(payload), now);
  }
  /// Its connection knows the server's address, the batch of a Host its clients'.
  template <class Say>
  void say(const Say& what, DatagramBatch& to) {
    said.clear();
    what(said);
    for (const auto& entry : said.entries()) to.add(at, said.bytes(entry));
  }
  void take(Micros now, const PeerAddress& server, std::span<const std::uint8_t> bytes) {
    const auto opened = connection->open(now, server, bytes, scratch);
    const auto received = opened ? connection->accept(now, *opened) : std::unexpected(opened.error());
    if (!received) {
      ++strays;
      return;
    }
    if (!received->unreliable.empty()) hear(received->unreliable);
    for (const StreamId stream :
         {StreamId::control, StreamId::chat, StreamId::bulk, StreamId::events, StreamId::edits})
      while (connection->take(stream, message)) hear(message);
  }
  void hear(std::span<const std::uint8_t> bytes) {
    const auto decoded = decode_server_message(bytes);
    REQUIRE(decoded);
    if (const auto* m = std::get_if<Welcome>(&*decoded)) {
      welcomes.push_back(*m);
      if (joins) (void)send(Join{content, m->world, false, {}, watches});
    }
    if (const auto* m = std::get_if<ChatLine>(&*decoded)) lines.push_back(*m);
    if (const auto* m = std::get_if<PlainPart>(&*decoded)) hear_part(*m);
    if (const auto* m = std::get_if<BlockEdits>(&*decoded))
      edits.push_back({m->tick, snapshot_tick, {m->changes.begin(), m->changes.end()}, bytes.size()});
    if (const auto* m = std::get_if<ActAnswers>(&*decoded))
      answers.insert(answers.end(), m->answers.begin(), m->answers.end());
    if (const auto* m = std::get_if<Fight>(&*decoded)) fights.push_back(*m);
    if (const auto* m = std::get_if<Score>(&*decoded)) {
      score_bytes.push_back(bytes.size());
      Score known = scores.empty() ? Score{} : scores.back();
      REQUIRE(take_score(known, *m));
      scores.push_back(known);
    }
    if (const auto* m = std::get_if<Carried>(&*decoded)) carried.push_back(*m);
    if (const auto* m = std::get_if<ContentPart>(&*decoded))
      fetched.insert(fetched.end(), m->bytes.begin(), m->bytes.end());
    if (const auto* m = std::get_if<ContentRefused>(&*decoded)) refusals.push_back(m->reason);
  }
  void hear_part(const PlainPart& part) {
    CHECK(part.world == welcomes.back().world);
    ++parts;
    if (part.part == 0) ++snapshots;
    std::size_t entity = 0, removed = 0;
    for (const BlockHeader& header : part.blocks) {
      hear_block(part.tick, {header,
                             part.entities.subspan(entity, header.entity_count),
                             {},
                             part.removed.subspan(removed, header.removed_count)});
      entity += header.entity_count;
      removed += header.removed_count;
    }
    for (const std::uint16_t number : part.gone) blocks.erase(number);
    applied_tick = part.applied_tick;
    snapshot_tick = part.tick;
    if (part.own) own = part.own;
  }

  void hear_block(std::uint32_t tick, const PlainBlock& block) {
    auto& states = blocks[block.header.number];
    BlockBase base{block.header.age, {}, false, {}};
    if (base.age != 0) {
      const auto held = states.find(tick - base.age);
      REQUIRE(held != states.end());
      base.entities = held->second.entities;
    }
    DecodedBlock now;
    REQUIRE(apply_plain_block(block, base, nullptr, now));
    for (const MovingRecord& e : now.entities) told[e.record.id] = {tick, now.cell, e.record};
    if (base.age != 0) states.erase(states.begin(), states.lower_bound(tick - base.age));
    states[tick] = std::move(now);
  }

  struct Underway {
    PeerAddress server;
    std::vector<std::uint8_t> bytes;
  };
  static constexpr std::size_t path_packets_max = 60;
  std::deque<Underway> path;
  std::size_t path_credit = 0;
  MessageWriter writer;
  PacketScratch scratch;
  std::vector<std::uint8_t> message;
  DatagramBatch said;
};

}  // namespace ashlar::server::test
