#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client_sim/client/client.h"
#include "protocol/connection/connection.h"
#include "protocol/connection/session_end.h"
#include "protocol/decode.h"
#include "protocol/little_endian.h"
#include "protocol/message_writer.h"
#include "protocol/replication_codec.h"
#include "protocol/secure/connect_token.h"
#include "protocol/secure/resumption.h"
#include "protocol/secure/seeded_entropy.h"
#include "protocol/secure/server_door.h"
#include "protocol/snapshot/plain_part.h"
#include "protocol/version.h"
#include "server/host/input_buffer.h"
#include "tests/protocol/bytes.h"
#include "world/voxel/terrain.h"

namespace ashlar::test {

using client_sim::Micros;

/// A server for one player, just real enough for the client's tests: the handshake, one session (the newest)
/// of it, a tick, the real server's input buffer and chat, and one body that moves by the commands it applies
/// and stays where it is while its player is away.
class FakeServer {
 public:
  FakeServer(const FakeServer&) = delete;
  explicit FakeServer(std::uint64_t key = 1) : entropy_(key), key_(secure::key_pair(entropy_.secret())) {
    restart();
  }

  std::uint16_t rate_hz = 60;
  std::uint16_t snapshot_every = 1;
  int slower = 1;       // in overload: every tick takes so many times as long
  bool frozen = false;  // has no processor: reads nothing, and gives up the ticks that it misses
  std::vector<WelcomeMap> maps;
  std::vector<std::uint8_t> content;  // that it gives for whatever map is asked for; empty: nothing
  std::vector<EntityRecord> others;   // all in cell 0, 0, 0
  bool silent = false;                // hears and answers nothing
  bool no_udp = false;                // nor anything over UDP: the network is in between
  bool mute_snapshots = false;
  bool no_welcome = false;
  std::uint8_t terrain = 0;
  std::uint16_t generator = terrain_generator;
  ColumnSpan columns;                                                          // that the welcome tells
  bool asks_ground = false;                                                    // as the newest join says
  std::shared_ptr<const BlockRegistry> blocks = BlockRegistry::builtin_ptr();  ///< that its welcome names
  std::shared_ptr<const BlockRegistry> told_blocks = blocks;                   ///< that it tells behind it
  std::shared_ptr<const ReplicationRegistry> registry = ReplicationRegistry::builtin_ptr();
  bool tells_blocks = true;
  bool tells_kinds = true;   // behind them, what it tells of its kinds
  bool keeps_bodies = true;  // of who is away
  std::optional<SessionEnd> refuse;
  std::string goodbye;  // said once

  // what happened
  std::uint32_t tick = 100;
  std::uint32_t hellos = 0, joins = 0, inputs = 0, resumes = 0, bad_proofs = 0, resets = 0;
  std::optional<CloseReason> left;  // what the client closed with
  std::string left_text;
  std::string name_said;
  std::vector<std::uint8_t> token_said;
  secure::PublicKey client_key;
  std::uint64_t applied = 0, missing = 0, early = 0, ticks_joined = 0, congested = 0;
  std::map<DropReason, int> drops;
  std::vector<std::string> chat, calls;
  std::vector<ContentRequest> requests;
  std::vector<ChatLine> lines_to_send;  // said once, to who has joined
  bool joined = false;
  std::uint8_t world = 1;
  std::vector<std::uint32_t> applied_ticks;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> seen;  ///< each applied tick, and what its command saw
  int ahead_min = 127, ahead_max = -127;

  /// Another program with the same key, as after a crash: it knows nobody.
  void restart() {
    door_ = std::make_unique<secure::ServerDoor>(
        secure::ServerDoorSetup{protocol_version, key_, secure::ciphers_here()}, entropy_, now_);
    connection_.reset();
    joined = false;
    resumption_.reset();
    buffer_ = server::InputBuffer{};
    own_ = {};
  }
  /// The same with another key.
  void change_key() {
    key_ = secure::key_pair(entropy_.secret());
    restart();
  }
  /// The session is gone; where bodies are kept, the player's stays.
  void lose_session() {
    if (connection_ && keeps_bodies) resumption_ = {connection_->id(), keys_.resumption};
    connection_.reset();
    joined = false;
  }
  /// Everybody is told of another world.
  void change_world() {
    ++world;
    tick += 5000;
    joined = false;
    buffer_ = server::InputBuffer{};
    own_ = {};
    say_welcome(false);
  }

  /// What a welcome without `resumed` is followed by.
  void say_kinds() { connection_->send(StreamId::control, writer_.write(ReplicatedKinds{registry, world})); }

  /// Of the session; null: there is none.
  Connection* connection() { return connection_.get(); }
  const secure::PublicKey& key() const { return key_.open; }
  const secure::SessionKeys& keys() const { return keys_; }

  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out) {
    now_ = now;
    for (const auto& entry : in.entries()) waiting_.add(entry.peer, in.bytes(entry));
    for (const auto& link : in.closed())
      if (connection_ && connection_->address() == link) lose_session();
    if (frozen) {
      next_tick_ = now;
      return;
    }
    door_->advance(now);
    for (const auto& entry : waiting_.entries()) receive(entry.peer, waiting_.bytes(entry), out);
    waiting_.clear();
    if (next_tick_ == Micros{0}) next_tick_ = now;
    while (now >= next_tick_) {
      next_tick_ += Micros{1'000'000 / rate_hz} * slower;
      step(out);
    }
    if (!connection_) return;
    if (!goodbye.empty())
      connection_->close(now, close_reason(SessionEnd::kicked), std::exchange(goodbye, ""));
    while (connection_->next_fate()) {
    }
    if (!deaf(connection_->address())) connection_->poll(now, out);
    if (connection_->state() == ConnectionState::closed) {
      if (connection_->close_reason() == CloseReason::timeout)
        lose_session();
      else
        connection_.reset(), joined = false;
    }
  }

 private:
  bool deaf(const PeerAddress& peer) const { return silent || (no_udp && peer.transport == Transport::udp); }

  void receive(const PeerAddress& from, std::span<const std::uint8_t> bytes, DatagramBatch& out) {
    if (deaf(from)) return;
    const auto type = secure::packet_type(bytes, protocol_version);
    if (type == secure::PacketType::sealed) return receive_sealed(from, bytes, out);
    std::array<std::uint8_t, datagram_bytes_max> answer;
    const secure::Arrival arrival = door_->receive(bytes, from, answer);
    if (const auto* said = std::get_if<secure::Answer>(&arrival))
      out.add(from, std::span(answer).first(said->bytes));
    if (const auto* reason = std::get_if<DropReason>(&arrival)) ++drops[*reason];
    if (const auto* accepted = std::get_if<secure::Accepted>(&arrival)) take_hello(from, *accepted, out);
    if (std::holds_alternative<secure::Repeated>(arrival) && connection_) connection_->poll(now_, out);
  }

  std::uint32_t draw_number() {
    std::array<std::uint8_t, 4> bytes;
    entropy_.fill(bytes);
    return get_little<std::uint32_t>(bytes.data());
  }

  std::unique_ptr<Connection> connect(const secure::SessionKeys& keys, const PeerAddress& peer) {
    ConnectionSettings settings;
    settings.end = secure::End::server;
    settings.reliable_link = peer.transport == Transport::tcp;
    settings.peer_may_move = !settings.reliable_link;
    settings.receive_windows = server_stream_windows;
    return std::make_unique<Connection>(settings, keys, peer, challenge_, now_);
  }

  void take_hello(const PeerAddress& from, const secure::Accepted& accepted, DatagramBatch& out) {
    ++hellos;
    const secure::SessionKeys keys = accepted.session.keys(draw_number());
    const auto message = decode_client_message(accepted.payload);
    const auto* hello = message ? std::get_if<Hello>(&*message) : nullptr;
    if (refuse || hello == nullptr) {
      const auto closing = connect(keys, from);
      closing->close(now_, close_reason(refuse.value_or(SessionEnd::bad_hello)), "no: try again tomorrow");
      closing->poll(now_, out);
      door_->forget(accepted.id);
      return;
    }
    name_said = hello->name;
    token_said = hello->token;
    client_key = accepted.client;
    const bool resumed = may_resume(*hello, accepted.binding);
    keys_ = keys;
    connection_ = connect(keys, from);
    resumption_.reset();
    joined = false;
    world = 1;
    resumes += resumed ? 1 : 0;
    if (!resumed) own_ = {}, buffer_ = server::InputBuffer{};
    if (!no_welcome) say_welcome(resumed);
    connection_->poll(now_, out);
  }

  bool may_resume(const Hello& hello, const secure::Bytes32& binding) {
    if (hello.resume == 0) return false;
    std::optional<secure::Secret> secret;
    if (connection_ && hello.resume == connection_->id()) secret = keys_.resumption;
    if (resumption_ && hello.resume == resumption_->first) secret = resumption_->second;
    if (!secret) return false;
    if (secure::resume_proof_ok(*secret, binding, hello.resume_proof)) return true;
    ++bad_proofs;
    return false;
  }

  void say_welcome(bool resumed) {
    if (!connection_) return;
    Welcome welcome;
    welcome.reset_token = secure::reset_token(secure::reset_key(key_.secret), connection_->id());
    welcome.resumed = resumed;
    welcome.world = world;
    welcome.tick = tick;
    welcome.rules.tick_rate_hz = rate_hz;
    welcome.snapshot_every_ticks = snapshot_every;
    welcome.maps = maps;
    welcome.terrain = terrain;
    welcome.generator = generator;
    welcome.columns = columns;
    welcome.blocks_hash = blocks->hash();
    welcome.replication_hash = replication_hash(*registry);
    connection_->send(StreamId::control, writer_.write(welcome));
    if (resumed) return;
    if (tells_blocks) connection_->send(StreamId::control, writer_.write(BlockKinds{told_blocks, world}));
    if (tells_kinds) say_kinds();
  }

  void receive_sealed(const PeerAddress& from, std::span<const std::uint8_t> bytes, DatagramBatch& out) {
    const auto number = secure::sealed_connection(bytes, protocol_version);
    if (!number) return void(++drops[number.error()]);
    if (!connection_ || *number != connection_->id()) {
      ++drops[DropReason::unknown_connection];
      std::array<std::uint8_t, secure::reset_bytes> reset;
      const std::size_t size =
          secure::write_reset(bytes, protocol_version, secure::reset_key(key_.secret), reset);
      if (size > 0) ++resets, out.add(from, std::span(reset).first(size));
      return;
    }
    const auto opened = connection_->open(now_, from, bytes, scratch_);
    if (!opened) return void(++drops[opened.error()]);
    const auto received = connection_->accept(now_, *opened);
    if (!received) ++drops[received.error()];
    if (received && !received->unreliable.empty()) take(received->unreliable);
    for (const StreamId stream : {StreamId::control, StreamId::chat, StreamId::events})
      while (connection_->take(stream, message_)) take(message_);
    if (connection_->closed_by_peer()) {
      left = connection_->close_reason();
      left_text = connection_->close_text();
      connection_.reset();
      joined = false;
    }
  }

  void take(std::span<const std::uint8_t> bytes) {
    const auto message = decode_client_message(bytes);
    if (!message) return void(++drops[message.error()]);
    if (const auto* join = std::get_if<Join>(&*message)) {
      if (join->world != world) return void(++drops[DropReason::wrong_state]);
      ++joins;
      asks_ground = join->ground;
      joined = join->content.size() == maps.size();
      if (!joined) connection_->close(now_, close_reason(SessionEnd::content), "lacks MAP01: give its WAD");
    } else if (const auto* input = std::get_if<Input>(&*message)) {
      if (input->world != world || !joined) return void(++drops[DropReason::wrong_state]);
      ++inputs;
      for (std::uint32_t i = 0; i < input->command_count; ++i)
        if (buffer_.add(input->newest_tick - i, input->commands[i], tick + 1) == server::InputVerdict::early)
          ++early;
    } else if (const auto* request = std::get_if<ContentRequest>(&*message)) {
      requests.push_back(*request);
      for (std::size_t at = request->offset; at < content.size(); at += 1000) {
        const auto part = std::span(content).subspan(at, std::min<std::size_t>(1000, content.size() - at));
        connection_->send(StreamId::bulk,
                          writer_.write(ContentPart{request->hash, static_cast<std::uint32_t>(content.size()),
                                                    static_cast<std::uint32_t>(at), part}));
      }
    } else if (const auto* line = std::get_if<Chat>(&*message)) {
      chat.push_back(line->text);
    } else if (const auto* call = std::get_if<GameCallMessage>(&*message)) {
      if (call->world != world || !joined) return void(++drops[DropReason::wrong_state]);
      calls.emplace_back(call->bytes.begin(), call->bytes.end());
    }
  }

  void step(DatagramBatch& out) {
    ++tick;
    if (!joined || !connection_) return;
    ++ticks_joined;
    const bool any = buffer_.level(tick) != server::InputBuffer::level_none;
    const server::InputBuffer::Played played = buffer_.take(tick);
    if (played.own) {
      const PlayerCommand& c = played.command;
      own_.body.position_m += DVec3{c.forward * 6 / rate_hz, c.left * 6 / rate_hz, 0};
      applied_ticks.push_back(tick);
      seen.emplace_back(tick, number(c.seen));
      ++applied;
    } else if (any) {
      ++missing;
    }
    if (any) {
      ahead_min = std::min(ahead_min, buffer_.level(tick));
      ahead_max = std::max(ahead_max, buffer_.level(tick));
    }
    if (!mute_snapshots && !deaf(connection_->address()) && tick % snapshot_every == 0) send_snapshot(out);
    for (const ChatLine& line : std::exchange(lines_to_send, {}))
      connection_->send(StreamId::chat, writer_.write(line));
  }

  void send_snapshot(DatagramBatch& out) {
    PartHead head;
    head.tick = tick;
    head.applied_tick = buffer_.last_own_tick();
    head.world = world;
    own_.id = make_entity_id(1, 1);
    if (buffer_.level(tick) != server::InputBuffer::level_none)
      head.input_ahead = static_cast<std::int8_t>(std::clamp(buffer_.level(tick), -127, 127));
    std::ranges::sort(others, {}, &EntityRecord::id);
    // All anew each time, in as many blocks as there ever were.
    std::vector<PlainPartWriter> parts(1);
    const auto begin = [&] {
      head.part = static_cast<std::uint8_t>(parts.size() - 1);
      parts.back().begin(head);
    };
    begin();
    std::array<std::uint8_t, plain_own_bytes> own;
    encode_plain_own(own_, own);
    parts.back().add_own(0, own);
    std::span<const EntityRecord> rest = others;
    for (std::uint16_t number = 0; number < blocks_ || !rest.empty(); ++number) {
      const auto some = rest.first(std::min(rest.size(), block_entities_max));
      rest = rest.subspan(some.size());
      const auto block = test::whole_block({0, 0, 0}, some);
      blocks_ = std::max<std::uint16_t>(blocks_, static_cast<std::uint16_t>(number + 1));
      if (parts.back().add_block(number, 0, block)) continue;
      parts.emplace_back();
      begin();
      parts.back().add_block(number, 0, block);
    }
    for (PlainPartWriter& part : parts) {
      part.set_part_count(parts.size());
      if (!connection_->send_unreliable(now_, part.bytes(), out)) ++congested;
    }
  }

  secure::SeededEntropy entropy_;
  secure::KeyPair key_;
  secure::Secret challenge_ = entropy_.secret();
  std::unique_ptr<secure::ServerDoor> door_;
  std::unique_ptr<Connection> connection_;
  secure::SessionKeys keys_;
  std::optional<std::pair<std::uint32_t, secure::Secret>> resumption_;  // of who is away
  Micros now_{0};
  Micros next_tick_{0};
  MessageWriter writer_;
  PacketScratch scratch_;
  std::vector<std::uint8_t> message_;
  server::InputBuffer buffer_;
  DatagramBatch waiting_;
  OwnPlayer own_;
  std::uint16_t blocks_ = 0;
};

}  // namespace ashlar::test
