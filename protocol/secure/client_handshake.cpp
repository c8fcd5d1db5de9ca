#include "protocol/secure/client_handshake.h"

#include "protocol/little_endian.h"
#include "protocol/secure/key_derivation.h"
#include "protocol/secure/packet_protection.h"
#include "world/math/assert.h"

namespace ashlar::secure {
namespace {

constexpr Micros first_wait = std::chrono::milliseconds(300);
constexpr Micros wait_max = std::chrono::milliseconds(600);
constexpr Micros ticket_patience = door_slot;  // the shortest that a ticket lives
constexpr Micros grace = std::chrono::seconds(1);
/// So many cookies are shown at once, later ones when the next hello is due: a server's own change every five
/// seconds, so more are somebody's game.
constexpr std::uint32_t cookies_max = 8;

}  // namespace

ClientHandshake::ClientHandshake(ClientHandshakeSetup setup, Entropy& entropy, Micros now)
    : setup_(std::move(setup)),
      seed_(entropy.secret()),
      give_up_at_(now + setup_.give_up_after),
      ends_at_(give_up_at_) {
  prepare_ciphers();
  begin(now);
}

const SessionKeys& ClientHandshake::keys() const {
  ASHLAR_ASSERT(step_ == ClientStep::done);
  return keys_;
}

void ClientHandshake::begin(Micros now) {
  std::array<std::uint8_t, 4> number;
  put_little(number.data(), attempt_++);
  ephemeral_ = key_pair(expand(seed_, "client ephemeral", number));
  std::array<std::uint8_t, 8> nonce;
  expand(seed_.bytes(), "client nonce", number, nonce);
  nonce_ = get_little<std::uint64_t>(nonce.data());
  state_.reset();
  step_ = ClientStep::saying_hello;
  cookies_taken_ = 0;
  said_.fill(0);
  write_open_prefix(said_, setup_.version, PacketType::hello, nonce_);
  said_[hello_offer_at] = setup_.ciphers;
  std::ranges::copy(ephemeral_.open.bytes, said_.begin() + hello_ephemeral_at);
  say(hello_bytes, now);
}

void ClientHandshake::say(std::size_t bytes, Micros now) {
  said_bytes_ = bytes;
  due_ = now;
  wait_ = first_wait;
}

void ClientHandshake::advance(Micros now) {
  if (ended(step_)) return;
  if (now >= ends_at_) {
    step_ = end_as_;
  } else if (step_ != ClientStep::saying_hello && now >= begun_again_at_) {
    begin(now);
  }
}

ByteSpan ClientHandshake::packet_due(Micros now) {
  advance(now);
  const bool saying = step_ == ClientStep::saying_hello || step_ == ClientStep::finishing;
  if (!saying || now < due_) return {};
  due_ = now + wait_;
  wait_ = std::min(2 * wait_, wait_max);
  return ByteSpan(said_).first(said_bytes_);
}

void ClientHandshake::receive(ByteSpan packet, Micros now) {
  advance(now);
  if (ended(step_) || packet.empty()) return;
  if (packet[0] != setup_.version) return take_other_version(packet, now);
  const auto type = packet_type(packet, setup_.version);
  if (!type) return;
  if (*type == PacketType::sealed && step_ == ClientStep::finishing) return take_sealed(packet);
  if (step_ != ClientStep::saying_hello) return;
  if (*type == PacketType::retry) take_retry(packet, now);
  if (*type == PacketType::accept) take_accept(packet, now);
}

void ClientHandshake::end_soon(ClientStep why, Micros now) {
  if (end_as_ != why) ends_at_ = std::min(ends_at_, now + grace);
  end_as_ = why;
}

void ClientHandshake::take_other_version(ByteSpan packet, Micros now) {
  // Every version's refusal has the nonce there.
  if (step_ != ClientStep::saying_hello || packet.size() < open_prefix_bytes) return;
  if (open_nonce(packet) != nonce_) return;
  server_version_ = packet[0];
  end_soon(ClientStep::wrong_version, now);
}

void ClientHandshake::take_retry(ByteSpan packet, Micros now) {
  if (packet.size() != retry_bytes || !open_prefix_ok(packet, PacketType::retry)) return;
  if (open_nonce(packet) != nonce_) return;
  const ByteSpan cookie = packet.subspan(open_prefix_bytes);
  const auto held = std::span(said_).subspan(hello_cookie_at, cookie_bytes);
  if (std::ranges::equal(cookie, held)) return;
  std::ranges::copy(cookie, held.begin());
  if (cookies_taken_++ < cookies_max) say(hello_bytes, now);
}

void ClientHandshake::take_accept(ByteSpan packet, Micros now) {
  if (packet.size() != accept_bytes || !open_prefix_ok(packet, PacketType::accept)) return;
  if (open_nonce(packet) != nonce_) return;
  HandshakeState state(ByteSpan(said_).first(hello_fields_bytes), ephemeral_.open);
  PublicKey theirs;
  std::ranges::copy(packet.subspan(accept_ephemeral_at, 32), theirs.bytes.begin());
  const auto ee = shared_secret(ephemeral_.secret, theirs);
  if (!ee) return;
  state.mix_hash(theirs.bytes);
  state.mix_key(*ee);
  PublicKey server;
  if (!state.decrypt(packet.subspan(accept_static_at, 32 + handshake_tag_bytes), server.bytes)) return;
  const auto es = shared_secret(ephemeral_.secret, server);
  if (!es) return;
  state.mix_key(*es);
  std::uint8_t cipher = 0;
  if (!state.decrypt(packet.subspan(accept_cipher_at, 1 + handshake_tag_bytes), {&cipher, 1})) return;
  std::array<std::uint8_t, ticket_bytes> ticket;
  if (!state.decrypt(packet.subspan(accept_ticket_at, ticket_bytes + handshake_tag_bytes), ticket)) return;
  const bool offered = (cipher == 1 && (setup_.ciphers & offer_chacha20) != 0) ||
                       (cipher == 2 && (setup_.ciphers & offer_aes256) != 0);
  if (!offered) return;
  if (setup_.pinned && *setup_.pinned != server) {
    server_key_ = server;
    return end_soon(ClientStep::wrong_server, now);
  }

  // A genuine answer: what was forged before it no longer counts.
  ends_at_ = give_up_at_;
  end_as_ = ClientStep::timed_out;
  server_key_ = server;
  cipher_ = static_cast<Cipher>(cipher);
  ticket_ = ticket;
  server_ephemeral_ = theirs;
  write_open_prefix(said_, setup_.version, PacketType::finish, nonce_);
  state.mix_hash(ByteSpan(said_).first(open_prefix_bytes));
  binding_ = state.hash();
  state_ = state;
  step_ = ClientStep::server_known;
  begun_again_at_ = now + ticket_patience;
}

bool ClientHandshake::finish(ByteSpan payload, Micros now) {
  ASHLAR_ASSERT(payload.size() <= finish_payload_bytes_max);
  advance(now);
  if (step_ != ClientStep::server_known) return false;
  const std::span<std::uint8_t> out(said_);
  std::ranges::copy(ticket_, out.begin() + finish_ticket_at);
  state_->encrypt(setup_.identity.open.bytes, out.subspan(finish_static_at, 32 + handshake_tag_bytes));
  // The server's ephemeral key was found good; with our own secret it is no worse.
  const auto se = shared_secret(setup_.identity.secret, server_ephemeral_);
  ASHLAR_ASSERT(se.has_value());
  state_->mix_key(*se);
  state_->encrypt(payload, out.subspan(finish_payload_at, payload.size() + handshake_tag_bytes));
  session_ = state_->session(setup_.version, cipher_);
  step_ = ClientStep::finishing;
  say(finish_bytes_min + payload.size(), now);
  return true;
}

void ClientHandshake::take_sealed(ByteSpan packet) {
  const auto connection = sealed_connection(packet, setup_.version);
  if (!connection) return;
  const SessionKeys keys = session_.keys(*connection);
  PacketProtection protection(keys, End::client, Micros(0));
  const auto header = protection.peek(packet);
  std::array<std::uint8_t, sealed_plaintext_bytes_max> plaintext;
  if (!header || !protection.open(packet, *header, plaintext)) return;
  keys_ = keys;
  step_ = ClientStep::done;
}

}  // namespace ashlar::secure
