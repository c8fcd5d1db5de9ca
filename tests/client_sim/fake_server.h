#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "client_sim/client/client.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/sequence.h"
#include "protocol/snapshot_writer.h"
#include "server/host/input_buffer.h"
#include "tests/protocol/bytes.h"

namespace ashlar::test {

using client_sim::Micros;

/// A server for one client, just real enough for the client's tests: it keeps the handshake, a tick, the real
/// server's input buffer and chat, and moves its one player by the commands it applies.
class FakeServer {
 public:
  std::uint16_t rate_hz = 60;
  std::uint16_t snapshot_every = 1;
  int slower = 1;       // in overload: every tick takes so many times as long
  bool frozen = false;  // has no processor: reads nothing, and gives up the ticks that it misses
  std::vector<WelcomeMap> maps;
  std::vector<EntityRecord> others;  // all in cell 0, 0, 0
  bool silent = false;               // answers nothing
  bool mute_snapshots = false;
  std::optional<RefuseReason> refuse;
  std::string goodbye;  // said once

  // what happened
  std::uint32_t tick = 100;
  std::uint32_t hellos = 0, joins = 0, inputs = 0, leaves = 0;
  std::uint64_t applied = 0, missing = 0, early = 0, ticks_joined = 0;
  std::map<DropReason, int> drops;
  std::vector<std::string> chat;
  std::vector<ChatLine> lines_to_send;
  bool joined = false;
  std::vector<std::uint32_t> applied_ticks;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> seen;  ///< each applied tick, and what its command saw
  int ahead_min = 127, ahead_max = -127;

  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out) {
    for (const auto& entry : in.entries()) waiting_.add(entry.peer, in.bytes(entry));
    if (frozen) {
      next_tick_ = now;
      return;
    }
    for (const auto& entry : waiting_.entries()) {
      peer_ = entry.peer;
      receive(now, waiting_.bytes(entry), out);
    }
    waiting_.clear();
    if (next_tick_ == Micros{0}) next_tick_ = now;
    while (now >= next_tick_) {
      next_tick_ += Micros{1'000'000 / rate_hz} * slower;
      step(now, out);
    }
    if (!goodbye.empty() && connection_ != 0) {
      send(now, out,
           [&](const PacketHeader& h) { return writer_.write(h, Goodbye{GoodbyeReason::kicked, goodbye}); });
      goodbye.clear();
      connection_ = 0;
    }
  }

  static constexpr std::uint32_t connection_id = 0xc0ffee01u;

 private:
  void receive(Micros now, std::span<const std::uint8_t> bytes, DatagramBatch& out) {
    const auto packet = decode_packet(bytes);
    if (!packet) return void(++drops[packet.error()]);
    auto message = decode_client_message(packet->payload);
    if (!message) return void(++drops[message.error()]);
    if (silent) return;
    if (const auto* hello = std::get_if<Hello>(&*message)) {
      ++hellos;
      if (refuse) {
        const PacketHeader header{.connection = 0, .sequence = 1, .ack = 0, .ack_bits = 0};
        out.add(peer_, writer_.write(header, Refuse{hello->nonce, *refuse, "no: try again tomorrow"}));
        return;
      }
      if (connection_ == 0) window_ = SequenceWindow{};
      connection_ = connection_id;
      static_cast<void>(window_.accept(packet->header.sequence));
      Welcome welcome;
      welcome.nonce = hello->nonce;
      welcome.connection = connection_;
      welcome.player = make_entity_id(1, 1);
      welcome.tick = tick;
      welcome.rules.tick_rate_hz = rate_hz;
      welcome.snapshot_every_ticks = snapshot_every;
      welcome.maps = maps;
      send(now, out, [&](const PacketHeader& h) { return writer_.write(h, welcome); });
      return;
    }
    if (packet->header.connection != connection_) return void(++drops[DropReason::unknown_connection]);
    if (const auto fresh = window_.accept(packet->header.sequence); !fresh)
      return void(++drops[fresh.error()]);
    if (const auto acked = sent_.acknowledge(packet->header, now); !acked)
      return void(++drops[acked.error()]);
    if (const auto* join = std::get_if<Join>(&*message)) {
      ++joins;
      if (join->content_count == maps.size())
        joined = true;
      else
        send(now, out, [&](const PacketHeader& h) {
          return writer_.write(h, Refuse{0, RefuseReason::content, "lacks MAP01: give its WAD"});
        });
    } else if (const auto* input = std::get_if<Input>(&*message)) {
      ++inputs;
      client_chat_seen_ = std::max(client_chat_seen_, input->chat_seen);
      for (std::uint32_t i = 0; i < input->command_count; ++i)
        if (buffer_.add(input->newest_tick - i, input->commands[i], tick + 1) == server::InputVerdict::early)
          ++early;
    } else if (const auto* line = std::get_if<Chat>(&*message)) {
      if (line->number == chat_seen_ + 1) {
        chat_seen_ = line->number;
        chat.push_back(line->text);
      }
    } else if (std::get_if<Leave>(&*message) != nullptr) {
      ++leaves;
      joined = false;
    }
  }

  void step(Micros now, DatagramBatch& out) {
    ++tick;
    if (!joined || connection_ == 0) return;
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
    if (!mute_snapshots && tick % snapshot_every == 0) send_snapshot(now, out);
    for (const ChatLine& line : lines_to_send)
      if (line.number > client_chat_seen_ && tick % 6 == 0)
        send(now, out, [&](const PacketHeader& h) { return writer_.write(h, line); });
  }

  void send_snapshot(Micros now, DatagramBatch& out) {
    SnapshotHead head;
    head.tick = tick;
    head.applied_tick = buffer_.last_own_tick();
    head.chat_seen = chat_seen_;
    own_.id = make_entity_id(1, 1);
    head.own = &own_;
    if (buffer_.level(tick) != server::InputBuffer::level_none)
      head.input_ahead = static_cast<std::int8_t>(std::clamp(buffer_.level(tick), -127, 127));
    std::ranges::sort(others, {}, &EntityRecord::id);
    const CellBlock block{{0, 0, 0}, others};
    const SnapshotPlan plan = snapshots_.begin(head, std::span(&block, 1), {}, snapshot_parts_max);
    for (std::size_t p = 0; p < plan.parts; ++p)
      send(now, out, [&](const PacketHeader& h) {
        part_ = packet_of(snapshots_, p, h);
        return part_.span();
      });
  }

  template <class Write>
  void send(Micros now, DatagramBatch& out, Write&& write) {
    PacketHeader header;
    header.connection = connection_;
    header.sequence = sent_.next_sequence(now);
    window_.fill(header);
    out.add(peer_, write(header));
  }

  PeerAddress peer_;
  std::uint32_t connection_ = 0;
  Micros next_tick_{0};
  SequenceWindow window_;
  AckTracker sent_;
  MessageWriter writer_;
  SnapshotWriter snapshots_;
  AlignedBytes part_;
  server::InputBuffer buffer_;
  DatagramBatch waiting_;
  std::uint32_t chat_seen_ = 0, client_chat_seen_ = 0;
  OwnPlayer own_;
};

}  // namespace ashlar::test
