#include "client_sim/client/client.h"

#include <algorithm>
#include <utility>

#include "protocol/chat.h"
#include "protocol/text.h"
#include "protocol/version.h"

namespace ashlar::client_sim {
namespace {

constexpr Micros second{std::chrono::seconds{1}};
constexpr Micros chat_repeat{std::chrono::milliseconds{100}};
constexpr Micros input_repeat{std::chrono::milliseconds{100}};
constexpr Micros leave_repeat{std::chrono::milliseconds{50}};
constexpr int leaves_max = 3;
constexpr std::uint32_t reach_growth = 8;
/// Who calls so seldom was suspended, or its clock leapt.
constexpr Micros away_after{std::chrono::milliseconds{125}};

}  // namespace

std::string_view name(ClientState state) {
  static constexpr std::array<std::string_view, 6> names{"connecting", "joining", "playing",
                                                         "refused",    "left",    "lost"};
  return names[static_cast<std::size_t>(state)];
}

Client::Client(ClientConfig config) : config_(std::move(config)) {
  if (!valid_player_name(config_.name)) {
    end(ClientState::refused, "the name must be 1 to 24 printable characters");
    refuse_reason_ = RefuseReason::bad_name;
  }
  config_.build = make_printable(config_.build, build_bytes_max);
}

void Client::end(ClientState state, std::string reason) {
  if (ended()) return;
  state_ = state;
  reason_ = std::move(reason);
}

/// Nobody said goodbye.
void Client::break_off(std::string reason) {
  broken_off_ = !leaving_ && !ended();
  end(leaving_ ? ClientState::left : ClientState::lost, std::move(reason));
}

void Client::advance(Micros now, const DatagramBatch& in, DatagramBatch& out) {
  const Micros away = now - now_;
  now_ = now;
  if (!started_) {
    started_ = true;
    started_at_ = last_heard_ = next_send_ = now;
  } else if (away > away_after) {
    // The server was not silent in that time, as nobody listened; nor does it show how long packets took.
    started_at_ += away;
    last_heard_ += away;
    hungry_since_ += away;
    rtt_from_ = now;
    clock_.resume(now);
  }
  for (const DatagramBatch::Entry& entry : in.entries()) {
    if (entry.peer != config_.server || ended()) continue;
    receive(in.bytes(entry));
  }
  for (const PeerAddress& closed : in.closed())
    if (closed == config_.server)
      break_off(welcomed() ? "the server closed the connection"
                           : "no connection: is a server listening at this address and port?");
  if (ended()) return;

  if (leaving_) return send_leave(out);
  if (state_ == ClientState::connecting || state_ == ClientState::joining) {
    if (now - started_at_ > config_.connect_timeout) {
      const bool welcomed_once = state_ == ClientState::joining;
      return break_off(welcomed_once ? "the server welcomed us but sent no snapshot in time"
                                     : "no answer: is a server running at this address and port?");
    }
    if (now >= next_send_) {
      next_send_ = now + config_.hello_retry;
      state_ == ClientState::connecting ? send_hello(out) : send_join(out);
    }
    if (doubted_) send_probe(out);
    return;
  }
  if (now - last_heard_ > config_.silence_timeout) return break_off("the server fell silent");
  const Micros gap = now - last_snapshot_;
  stats_.longest_gap = std::max(stats_.longest_gap, gap);
  if (now - hungry_since_ >= second && !in_long_gap_) ++stats_.starved, in_long_gap_ = true;
  send_inputs(out);
  send_chat(out);
  if (doubted_)
    send_probe(out);  // behind what the connection has to say: where it lives, that is heard first
}

void Client::receive(std::span<const std::uint8_t> bytes) {
  ++stats_.packets_in;
  stats_.bytes_in += bytes.size();
  const auto drop = [this](DropReason reason) { ++stats_.drops[static_cast<std::size_t>(reason)]; };

  const auto packet = decode_packet(bytes);
  if (!packet) {
    drop(packet.error());
    // A server of another version cannot say so in a way this one reads, but for our nonce: who does not know
    // that, says nothing.
    if (packet.error() == DropReason::wrong_version && state_ == ClientState::connecting &&
        config_.nonce != 0 && nonce_of(bytes) == config_.nonce) {
      refuse_reason_ = RefuseReason::version;
      end(ClientState::refused, "the server speaks another version of the protocol");
    }
    return;
  }
  const PacketHeader& header = packet->header;
  // Refusals come before there is a connection; everything else belongs to ours.
  const bool ours = welcomed() && header.connection == welcome_.connection;
  if (ours && packet->payload.empty()) return hear_unknown(header);
  if (welcomed() && !ours && header.connection != 0 && !doubted_) return drop(DropReason::unknown_connection);

  auto message = decode_server_message(packet->payload);
  if (!message) return drop(message.error());
  if (ours) {
    if (const auto fresh = received_.accept(header.sequence); !fresh) return drop(fresh.error());
    const auto acked = sent_.acknowledge(header, now_);
    if (!acked) return drop(acked.error());
    last_heard_ = now_;
    doubted_ = false;
    if (acked->has_rtt && acked->rtt <= now_ - rtt_from_) {
      stats_.rtt.add(acked->rtt);
      rtt_ = rtt_ == Micros{0} ? acked->rtt : (rtt_ * 7 + acked->rtt) / 8;
      clock_.take_round_trip(now_, acked->rtt);
    }
  } else if (const auto* welcome = std::get_if<Welcome>(&*message);
             welcome != nullptr && !welcomed() && welcome->nonce == config_.nonce &&
             welcome->connection == header.connection) {
    // The first word of a connection starts its window and tells the first round trip.
    static_cast<void>(received_.accept(header.sequence));
    if (const auto acked = sent_.acknowledge(header, now_); acked && acked->has_rtt) rtt_ = acked->rtt;
    last_heard_ = now_;
  } else if (doubted_) {
    if (!hear_probe(header, *message)) return drop(DropReason::wrong_state);
  } else if (const auto* refuse = std::get_if<Refuse>(&*message);
             refuse == nullptr || refuse->nonce != config_.nonce) {
    return drop(DropReason::wrong_state);
  }
  std::visit([this](auto& m) { handle(m); }, *message);
}

void Client::handle(Welcome& message) {
  if (welcomed()) return;  // the answer to a repeated hello
  welcome_ = std::move(message);
  last_snapshot_ = now_;
  state_ = ClientState::joining;
  next_send_ = now_;
  view_.reset(welcome_.rules.tick_rate_hz);
  clock_.reset(welcome_.rules.tick_rate_hz, config_.lead_ticks, welcome_.snapshot_every_ticks);
  if (rtt_ > Micros{0}) clock_.take_round_trip(now_, rtt_);
  std::vector<std::shared_ptr<const PlacedMap>> held;
  for (const WelcomeMap& map : welcome_.maps) {
    const auto hash = config_.content ? config_.content(map) : std::nullopt;
    const bool holds = hash == map.content_hash;
    if (holds)
      join_.content[join_.content_count++] = *hash;
    else
      missing_maps_.push_back(map.name);
    held.push_back(holds && config_.map ? config_.map(map) : nullptr);
  }
  if (config_.map) sectors_ = SectorForecast(std::move(held), welcome_.rules.tick_rate_hz);
  for (const WelcomeProp& prop : welcome_.props) {
    const auto hash = config_.prop_content ? config_.prop_content(prop) : std::nullopt;
    if (hash == prop.content_hash)
      join_.content[join_.content_count++] = *hash;
    else
      missing_maps_.push_back(prop.name);
  }
}

void Client::handle(const Pong&) {}  // nobody asked

void Client::handle(const Refuse& message) {
  refuse_reason_ = message.reason;
  end(ClientState::refused, message.text.empty() ? std::string(name(message.reason)) : message.text);
}

void Client::handle(const SnapshotPart& message) {
  if (!welcomed()) return;
  // A tick far ahead of the clock would make every true one after it look old. The reach grows faster than
  // the server's ticks, for who was away for long: what its socket had kept told of the first seconds only.
  const std::int64_t elapsed_ticks =
      (now_ - last_snapshot_).count() * welcome_.rules.tick_rate_hz / 1'000'000;
  const std::uint32_t reach =
      reach_growth * static_cast<std::uint32_t>(elapsed_ticks) + 5u * welcome_.rules.tick_rate_hz;
  const std::uint32_t known = std::max(snapshot_tick_, welcome_.tick);
  if (message.tick > known && message.tick - known > reach) {
    ++stats_.drops[static_cast<std::size_t>(DropReason::out_of_range)];
    return;
  }
  if (state_ == ClientState::joining) {
    state_ = ClientState::playing;
    stats_.joined_after = now_ - started_at_;
    last_snapshot_ = hungry_since_ = now_;
  }
  count_snapshot(message);
  view_.take(message);
  if (config_.map) sectors_.take(message);
  if (message.tick < snapshot_tick_) return;
  snapshot_tick_ = message.tick;
  applied_tick_ = std::max(applied_tick_, message.applied_tick);
  if (message.own) {
    command_.yaw = command_.yaw + (message.own->delta_yaw - delta_yaw());
    own_ = message.own;
    own_tick_ = message.tick;
  }
  if (!chat_out_.empty() && chat_number_ != 0 && message.chat_seen >= chat_number_) {
    chat_out_.pop_front();
    ++chat_number_;
    next_chat_ = now_;
  }
}

void Client::count_snapshot(const SnapshotPart& message) {
  if (message.tick < parts_tick_) return;
  if (message.tick > parts_tick_) {
    parts_tick_ = message.tick;
    parts_have_ = 0;
    ++stats_.snapshots;
    stats_.longest_gap = std::max(stats_.longest_gap, now_ - last_snapshot_);
    last_snapshot_ = hungry_since_ = now_;
    in_long_gap_ = false;
    if (!clock_.running())
      clock_.start(now_, message.tick);
    else
      clock_.observe(
          now_, message.tick,
          message.input_ahead == input_ahead_none ? std::nullopt : std::optional<int>{message.input_ahead});
  }
  if (++parts_have_ != message.part_count) return;
  ++stats_.snapshots_complete;
  complete_tick_ = parts_tick_;
}

void Client::handle(ChatLine& message) {
  // In order and each once: the server repeats what we have not confirmed. What it had to give up is passed
  // over, or we would wait for it for ever; what came before its turn is kept, or we would never catch up
  // with a server that gives up lines as fast as it repeats them.
  if (message.number <= chat_seen_) return;
  const std::uint32_t gone =
      message.number > chat_lines_waiting_max ? message.number - chat_lines_waiting_max : 0;
  for (std::uint32_t i = 0; i < chat_lines_waiting_max && chat_seen_ < gone; ++i) hear_early_line();
  chat_seen_ = std::max(chat_seen_, gone);
  chat_early_[message.number % chat_early_.size()] = std::move(message);
  while (chat_early_[(chat_seen_ + 1) % chat_early_.size()].number == chat_seen_ + 1) hear_early_line();
}

/// Goes on to the next line: heard when it is here, else passed over.
void Client::hear_early_line() {
  ChatLine& line = chat_early_[++chat_seen_ % chat_early_.size()];
  if (line.number != chat_seen_) return;
  if (chat_in_.size() == chat_in_max) chat_in_.erase(chat_in_.begin());
  chat_in_.push_back(std::exchange(line, {}));
}

void Client::handle(const Goodbye& message) {
  const std::string why =
      std::string(name(message.reason)) + (message.text.empty() ? "" : ": " + message.text);
  end(leaving_ ? ClientState::left : ClientState::lost, "the server said goodbye, " + why);
}

PacketHeader Client::next_header() {
  PacketHeader header;
  header.connection = welcome_.connection;
  header.sequence = sent_.next_sequence(now_);
  received_.fill(header);
  return header;
}

void Client::send(DatagramBatch& out, std::span<const std::uint8_t> packet) {
  out.add(config_.server, packet);
  ++stats_.packets_out;
  stats_.bytes_out += packet.size();
}

void Client::send_hello(DatagramBatch& out) {
  PacketHeader header = next_header();
  put_nonce(header, config_.nonce);
  send(out, writer_.write(header, Hello{protocol_version, config_.nonce, config_.name, config_.build}));
}

void Client::send_join(DatagramBatch& out) { send(out, writer_.write(next_header(), join_)); }

void Client::send_inputs(DatagramBatch& out) {
  bool due = false;
  PlayerCommand sent = command_;
  sent.yaw = command_.yaw - delta_yaw();
  if (sent.seen == TickId{0}) sent.seen = TickId{complete_tick_};
  while (clock_.next(now_)) {
    due = true;
    ++stats_.commands;
    // Ticks that were jumped over carry the present command: it is what the player wanted. The clock also
    // jumps while snapshots are read, so what counts is how far the commands reach.
    const std::uint32_t newest = clock_.newest_tick();
    const std::uint32_t count = std::min(newest - filled_tick_, static_cast<std::uint32_t>(commands_.size()));
    filled_tick_ = newest;
    for (std::uint32_t i = 0; i < count; ++i) commands_[(newest - i) % commands_.size()] = sent;
  }
  stats_.commands_skipped = clock_.skipped();
  // While the clock waits for the server the last input is repeated: it carries acknowledgements, too.
  if (filled_tick_ == 0 || (!due && now_ - last_input_ < input_repeat)) return;
  last_input_ = now_;
  Input input;
  input.newest_tick = filled_tick_;
  input.snapshot_tick = snapshot_tick_;
  input.chat_seen = chat_seen_;
  const std::uint32_t open = input.newest_tick > applied_tick_ ? input.newest_tick - applied_tick_ : 1;
  input.command_count = static_cast<std::uint8_t>(std::clamp<std::uint32_t>(open, 1, input_commands_max));
  for (std::uint32_t i = 0; i < input.command_count; ++i)
    input.commands[i] = commands_[(input.newest_tick - i) % commands_.size()];
  send(out, writer_.write(next_header(), input));
}

void Client::send_chat(DatagramBatch& out) {
  if (chat_out_.empty() || now_ < next_chat_) return;
  next_chat_ = now_ + chat_repeat;
  if (chat_number_ == 0) chat_number_ = 1;
  send(out, writer_.write(next_header(), Chat{chat_number_, chat_out_.front()}));
}

void Client::send_leave(DatagramBatch& out) {
  if (now_ < next_leave_) return;
  if (leaves_sent_ == leaves_max || !welcomed()) return end(ClientState::left, "");
  next_leave_ = now_ + leave_repeat;
  ++leaves_sent_;
  send(out, writer_.write(next_header(), Leave{*leaving_}));
}

bool Client::say(std::string_view text) {
  if (!valid_text(text, 1, chat_bytes_max) || chat_out_.size() >= chat_queue_max) return false;
  chat_out_.emplace_back(text);
  return true;
}

void Client::leave(LeaveReason reason) {
  if (!leaving_) leaving_ = reason;
}

Micros Client::silent_for(Micros now) const {
  return state_ == ClientState::playing ? now - last_snapshot_ : Micros{0};
}

std::vector<ChatLine> Client::take_chat() { return std::exchange(chat_in_, {}); }

}  // namespace ashlar::client_sim
