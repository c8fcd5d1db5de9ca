// How a client's sessions begin, end, and are sought anew.

#include <utility>

#include "client_sim/client/client.h"
#include "protocol/secure/resumption.h"
#include "protocol/version.h"

namespace ashlar::client_sim {
namespace {

/// At most so long is a goodbye said.
constexpr Micros ending_max{std::chrono::seconds{1}};
/// Longer than from one snapshot to the next: a stream stood still, or the path was cut. What was on its way
/// then tells how long that took, and not the path's round trip.
constexpr Micros stalled_after{std::chrono::milliseconds{1500}};

}  // namespace

void Client::receive_sealed(const PeerAddress& from, std::span<const std::uint8_t> bytes) {
  const auto number = secure::sealed_connection(bytes, protocol_version);
  if (!number) return drop(number.error());
  if (connection_ == nullptr || from != peer_ || *number != connection_->id()) {
    if (!handshakes_.receive(now_, from, bytes)) return drop(DropReason::unknown_connection);
    begin_session();
  }
  PacketScratch scratch;
  const auto opened = connection_->open(now_, from, bytes, scratch);
  if (!opened) return drop(opened.error());
  if (now_ - last_heard_ > stalled_after) rtt_from_ = now_;
  last_heard_ = now_;
  // It lives: what was not said yet of another one need not be.
  if (resuming_ && greeted_ && !handshakes_.finishing()) resuming_ = false, handshakes_.stop();
  const auto received = connection_->accept(now_, *opened);
  note_round_trip();
  // What was on its way when we said goodbye is no fault of anybody's.
  if (!received && !ending_) drop(received.error());
  take_messages();
  if (received && !received->unreliable.empty()) take_unreliable(received->unreliable);
}

/// Only who has the server's secret key can say so: that it knows the session no more.
void Client::receive_reset(const PeerAddress& from, std::span<const std::uint8_t> bytes) {
  const bool ours = connection_ != nullptr && greeted_ && from == peer_ &&
                    secure::is_reset(bytes, protocol_version, connection_->id(), welcome_.reset_token);
  if (!ours) return drop(DropReason::unknown_connection);
  lose_connection();
  if (ending_) return end(ending_->state, std::move(ending_->reason));
  seek_session();
}

void Client::begin_session() {
  const secure::SessionKeys& keys = handshakes_.keys();
  ConnectionSettings settings;
  settings.end = secure::End::client;
  settings.key_age = config_.key_age;
  settings.reliable_link = handshakes_.peer().transport == Transport::tcp;
  if (peer_ != handshakes_.peer()) lose_connection();
  peer_ = handshakes_.peer();
  // The last argument is of use to those alone whose peers move.
  connection_ = std::make_unique<Connection>(settings, keys, peer_, secure::Secret{}, now_);
  session_ = {keys.connection, keys.resumption, handshakes_.server_key()};
  server_key_ = session_.server;
  greeted_ = false;
  packed_.begin_session();
  // What was on its way got lost, or is told with all other changes of the ground around.
  world_.acts_out.clear();
  ground_.give_up_foreseen();
  rtt_samples_ = 0;
  poll_from_ = now_;
  // They are said again: nobody can tell whether they were heard.
  chat_sent_ = false;
  for (CallOut& call : world_.calls_out) call.queued_bytes = 0;
}

std::span<const std::uint8_t> Client::write_hello(const secure::ClientHandshake& handshake) {
  server_key_ = handshake.server_key();
  Hello hello;
  hello.name = config_.name;
  hello.build = config_.build;
  hello.token = config_.token;
  hello.takes_packed = config_.takes_packed;
  // To a server of another key it would be of no use.
  if (session_.connection != 0 && handshake.server_key() == session_.server) {
    hello.resume = session_.connection;
    hello.resume_proof = secure::resume_proof(session_.resumption, handshake.binding());
  }
  return writer_.write(hello);
}

void Client::advance_handshakes(DatagramBatch& out) {
  if (!handshakes_.running() && handshakes_.end() == HandshakesEnd::none) return;
  handshakes_.advance(
      now_, entropy_, [this](const secure::ClientHandshake& handshake) { return write_hello(handshake); },
      out);
  switch (handshakes_.end()) {
    case HandshakesEnd::none:
    case HandshakesEnd::link_closed: return;
    case HandshakesEnd::wrong_version:
      return end(ClientState::refused,
                 "the server speaks version " + std::to_string(handshakes_.server_version()) +
                     " of the protocol, this client " + std::to_string(protocol_version) +
                     ": bring the older of them up to date");
    case HandshakesEnd::wrong_server:
      server_key_ = handshakes_.server_key();
      return end(
          ClientState::refused,
          "who answers there proves another key than the server's that is pinned: the server has a new "
          "one, or somebody is in between");
  }
}

/// A handshake for a session in place of the one that is gone, or silent.
void Client::seek_session() {
  if (leaving_ || ending_ || ended()) return;
  if (!resuming_ && welcomed_) resuming_ = true, resuming_since_ = now_;
  if (!handshakes_.running()) handshakes_.begin(now_, entropy_, peer_.transport);
}

/// Whatever still comes over it is nobody's.
void Client::lose_connection() {
  if (connection_ != nullptr) close_link();
  connection_.reset();
}

void Client::close_link() {
  if (config_.opens_links && peer_.transport == Transport::tcp) links_to_close_.push_back(peer_);
}

/// Says goodbye; the state follows when that was heard, or cannot be.
void Client::close(SessionEnd reason, ClientState state, std::string text) {
  if (ending_) return;
  handshakes_.stop();
  end_reason_ = reason;
  if (connection_ == nullptr) return end(state, std::move(text));
  connection_->close(now_, close_reason(reason), text);
  ending_ = {state, std::move(text), now_};
}

void Client::advance_ending(DatagramBatch& out) {
  if (leaving_ && !ending_) {
    // Whoever was told our name may have made a session of it.
    if (leaving_since_ == Micros{0}) leaving_since_ = now_;
    if (connection_ == nullptr && handshakes_.finishing() && now_ - leaving_since_ < ending_max) return;
    close(*leaving_, ClientState::left, "");
    if (connection_ != nullptr) connection_->poll(now_, out);
  }
  if (!ending_ || ended()) return;
  const bool said = connection_ == nullptr || connection_->state() == ConnectionState::closed ||
                    connection_->state() == ConnectionState::draining;
  if (said || now_ - ending_->since > ending_max) end(ending_->state, std::move(ending_->reason));
}

/// The connection may be over.
void Client::hear_end() {
  if (connection_ == nullptr || ending_ || connection_->state() == ConnectionState::open) return;
  const CloseReason reason = connection_->close_reason();
  const std::string text = connection_->close_text();
  if (connection_->closed_by_peer()) {
    end_reason_ = session_end(reason);
    // Who is on the way into the next world was let in.
    const bool refused = !played_ && state_ != ClientState::playing;
    if (leaving_) return end(ClientState::left, "");
    if (refused) return end(ClientState::refused, text.empty() ? std::string(end_name(reason)) : text);
    return end(ClientState::lost, "the server said goodbye, " + std::string(end_name(reason)) +
                                      (text.empty() ? "" : ": " + text));
  }
  if (reason == CloseReason::timeout || reason == CloseReason::keys_spent) {
    lose_connection();
    return leaving_ ? end(ClientState::left, "") : seek_session();
  }
  ending_ = {ClientState::lost,
             "the server broke the protocol, " + std::string(end_name(reason)) + ": " + text, now_};
}

}  // namespace ashlar::client_sim
