#include "client_sim/client/client.h"

#include <algorithm>
#include <utility>

#include "protocol/secure/connect_token.h"
#include "protocol/text.h"
#include "protocol/version.h"
#include "world/math/assert.h"

namespace ashlar::client_sim {
namespace {

constexpr Micros second{std::chrono::seconds{1}};
/// Who calls so seldom was suspended, or its clock leapt: that much of the time counts.
constexpr Micros away_after{std::chrono::milliseconds{125}};
/// Who was away for so long has to hear the server before it can be called silent,
constexpr Micros deaf_after{std::chrono::seconds{2}};
/// within this time.
constexpr Micros deaf_for{std::chrono::milliseconds{500}};

/// The identity of a config that names none.
ClientConfig completed(ClientConfig config, secure::Entropy& entropy) {
  const secure::Secret drawn = entropy.secret();
  if (config.identity.open == secure::PublicKey{}) config.identity = secure::key_pair(drawn);
  return config;
}

HandshakesSetup handshakes_setup(const ClientConfig& config) {
  HandshakesSetup setup;
  setup.identity = config.identity;
  setup.pinned = config.pinned;
  setup.server = config.server;
  setup.fallback = config.fallback;
  setup.fallback_after = config.fallback_after;
  setup.opens_links = config.opens_links;
  if (config.opens_links) setup.more_addresses = config.more_addresses;
  return setup;
}

/// So long without a snapshot is hunger: a second, and two of them and some where they come as seldom.
Micros hunger_of(const Welcome& welcome) {
  const std::int64_t interval_us =
      1'000'000ll * welcome.snapshot_every_ticks / std::max<std::int64_t>(1, welcome.rules.tick_rate_hz);
  return std::max(second, Micros{2 * interval_us + 250'000});
}

}  // namespace

std::string_view name(ClientState state) {
  static constexpr std::array<std::string_view, 6> names{"connecting", "joining", "playing",
                                                         "refused",    "left",    "lost"};
  return names[static_cast<std::size_t>(state)];
}

Client::Client(ClientConfig config) : entropy_(config.seed), handshakes_(HandshakesSetup{}) {
  ASHLAR_ASSERT(!(config.seed == secure::Secret{}));  // or anybody can work out its keys
  config_ = completed(std::move(config), entropy_);
  config_.seed = secure::Secret{};
  config_.build = make_printable(config_.build, build_bytes_max);
  handshakes_ = Handshakes(handshakes_setup(config_));
  peer_ = config_.server;
  if (!valid_player_name(config_.name)) {
    end(ClientState::refused, "the name must be 1 to 24 printable characters");
    end_reason_ = SessionEnd::bad_name;
  } else if (config_.token.size() > secure::token_bytes_max) {
    end(ClientState::refused, "the connect token is too long to be one");
    end_reason_ = SessionEnd::token_malformed;
  }
}

void Client::end(ClientState state, std::string reason) {
  if (ended()) return;
  state_ = state;
  reason_ = std::move(reason);
  handshakes_.stop();
  if (connection_ != nullptr) close_link();
}

/// Nobody said goodbye.
void Client::break_off(std::string reason) {
  broken_off_ = !leaving_ && !ended();
  lose_connection();
  end(leaving_ ? ClientState::left : ClientState::lost, std::move(reason));
}

void Client::join_again(Micros now) {
  ASHLAR_ASSERT(broken_off());
  broken_off_ = false;
  reason_.clear();
  end_reason_.reset();
  state_ = ClientState::connecting;
  now_ = started_at_ = fetch_progress_at_ = now;
  fetching_ = false;  // until it is welcomed; what came of it is kept
  rtt_from_ = now;
  resuming_ = played_ = false;
  handshakes_.begin(now, entropy_, peer_.transport);
}

void Client::note_time(Micros now) {
  const Micros away = now - now_;
  now_ = now;
  if (!started_) {
    started_ = true;
    started_at_ = last_heard_ = now;
    if (!ended()) handshakes_.begin(now, entropy_, config_.server.transport);
  } else if (away > away_after) {
    // The server was not silent in that time, as nobody listened. Some of it counts all the same, or who
    // always calls so seldom would wait for ever.
    const Micros unheard = away - away_after;
    started_at_ += unheard;
    last_heard_ += unheard;
    hungry_since_ += unheard;
    fetch_progress_at_ += unheard;
    resuming_since_ += unheard;
    // Nor does it show how long packets took, but to who always calls so seldom: of him all of it counts.
    if (away_before_ <= away_after || away > deaf_after) {
      rtt_from_ = now;
      clock_.resume(now);
    }
    if (away > deaf_after) poll_from_ = now + deaf_for;
  }
  away_before_ = away;
}

void Client::advance(Micros now, const DatagramBatch& in, DatagramBatch& out, Foresight* foresight) {
  note_time(now);
  if (ended()) return foresee(foresight);
  if (!in.empty()) packed_.prefetch(), view_.prefetch();
  const std::size_t before = out.entries().size();
  for (const DatagramBatch::Entry& entry : in.entries())
    if (!ended()) receive(entry.peer, in.bytes(entry));
  for (const PeerAddress& closed : in.closed())
    if (!ended()) hear_closed(closed);
  if (!ended()) hear_end();
  if (!ended()) advance_fetch();
  if (!ended()) advance_handshakes(out);
  if (!ended()) watch();
  if (!ended() && state_ == ClientState::playing) {
    // What a picture is made of from now on: Others takes the newest, too.
    if (view_.newest_tick() != world_.told.newest()) world_.told.note(view_.newest_tick());
    number_commands();
    const bool speaks = connection_ && greeted_ && !ending_;
    if (speaks) send_acts();
    foresee(std::exchange(foresight, nullptr));
    if (speaks) send_inputs(out), send_chat(), send_calls();
  }
  foresee(foresight);
  if (!ended() && connection_ && now_ >= poll_from_) {
    while (connection_->next_fate()) {
    }
    connection_->poll(now_, out);
    hear_end();
  }
  if (!ended()) advance_ending(out);
  for (const PeerAddress& link : std::exchange(links_to_close_, {})) out.add_closed(link);
  for (const PeerAddress& link : handshakes_.take_left()) out.add_closed(link);
  for (const DatagramBatch::Entry& entry : out.entries().subspan(before)) {
    ++stats_.packets_out;
    stats_.bytes_out += entry.size;
  }
}

void Client::receive(const PeerAddress& from, std::span<const std::uint8_t> bytes) {
  const bool known =
      from == peer_ || from == config_.server || from == config_.fallback || config_.opens_links;
  if (!known) return;
  ++stats_.packets_in;
  stats_.bytes_in += bytes.size();
  const auto type = secure::packet_type(bytes, protocol_version);
  if (type == secure::PacketType::sealed) return receive_sealed(from, bytes);
  if (type == secure::PacketType::reset) return receive_reset(from, bytes);
  // The answers to a handshake, of a server of any version.
  if (handshakes_.running())
    static_cast<void>(handshakes_.receive(now_, from, bytes));
  else if (type)
    drop(DropReason::wrong_state);
  if (!type) drop(type.error());
}

void Client::hear_closed(const PeerAddress& link) {
  const bool ours = connection_ != nullptr && link == peer_;
  const bool tried = handshakes_.closed(now_, link);
  if (!ours && !tried) return;
  if (ours && ending_) return end(ending_->state, std::move(ending_->reason));
  if (ours) {
    // What it said last counts.
    hear_end();
    if (ended()) return;
    connection_.reset();
    if (!config_.opens_links) return break_off("the server closed the connection");
    return seek_session();
  }
  const bool first = !welcomed_ && connection_ == nullptr;
  const bool alone = !config_.fallback && handshakes_.refused_by_all();
  if (handshakes_.end() == HandshakesEnd::link_closed || (first && alone))
    break_off("no connection: is a server listening at this address and port?");
}

/// What did not happen in time.
void Client::watch() {
  if (ending_) return;
  const bool silent = connection_ != nullptr && now_ - last_heard_ > config_.silence_timeout;
  if (silent && !handshakes_.running()) seek_session();
  if (resuming_) {
    if (now_ - resuming_since_ > config_.resume_for) break_off("the server fell silent");
  } else if (fetching_) {
    if (now_ - fetch_progress_at_ > config_.fetch_timeout)
      return break_off("the server stopped sending what this client lacks");
  } else if (state_ != ClientState::playing &&
             now_ - std::max(started_at_, fetch_progress_at_) > config_.connect_timeout) {
    return break_off(session_.connection != 0 && connection_ != nullptr
                         ? "the server let us in but sent no snapshot in time"
                         : "no answer: is a server running at this address and port?");
  }
  if (state_ != ClientState::playing) return;
  stats_.longest_gap = std::max(stats_.longest_gap, now_ - last_snapshot_);
  if (now_ - hungry_since_ >= hunger_of(welcome_) && !world_.in_long_gap)
    ++stats_.starved, world_.in_long_gap = true;
}

bool Client::say(std::string_view text) {
  if (ended() || !valid_text(text, 1, chat_bytes_max) || chat_out_.size() >= chat_queue_max) return false;
  chat_out_.emplace_back(text);
  return true;
}

void Client::leave(SessionEnd reason) {
  if (!leaving_ && !ended()) leaving_ = reason;
}

double Client::command_time(Micros now) const {
  return static_cast<double>(clock_.newest_tick()) + clock_.share(now);
}

Micros Client::silent_for(Micros now) const {
  return state_ == ClientState::playing ? now - last_snapshot_ : Micros{0};
}

std::vector<ChatLine> Client::take_chat() { return std::exchange(chat_in_, {}); }

}  // namespace ashlar::client_sim
