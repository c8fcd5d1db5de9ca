#include "protocol/connection/connection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/little_endian.h"
#include "protocol/secure/key_derivation.h"
#include "protocol/text.h"
#include "world/math/assert.h"

namespace ashlar {

namespace {

template <std::size_t... i>
std::array<SendStream, stream_count> send_streams(std::index_sequence<i...>) {
  return {SendStream(static_cast<StreamId>(i))...};
}

template <std::size_t... i>
std::array<ReceiveStream, stream_count> receive_streams(const StreamWindows& windows,
                                                        std::index_sequence<i...>) {
  return {ReceiveStream(static_cast<StreamId>(i), windows[i])...};
}

/// A connection's own, or whoever is challenged in one of his could work out what another gets. Two sessions
/// of one handshake (the first was refused) share its transcript, but not their number.
secure::Secret path_secret(const secure::Secret& challenge, const secure::SessionKeys& keys) {
  std::array<std::uint8_t, sizeof(keys.transcript) + sizeof(keys.connection)> session;
  put_little(std::copy(keys.transcript.begin(), keys.transcript.end(), session.data()), keys.connection);
  return secure::expand(challenge, "path", session);
}

/// When sequences are passed over, which no peer may foresee. Who has no secret passes over none; a reliable
/// link loses nothing, so that nobody gains by claiming what he did not get.
std::optional<Rng> passing_of(const ConnectionSettings& settings, const secure::Secret& challenge,
                              const secure::SessionKeys& keys) {
  if (settings.end != secure::End::server || settings.reliable_link) return std::nullopt;
  std::array<std::uint8_t, sizeof(keys.connection)> session;
  put_little(session.data(), keys.connection);
  const secure::Secret secret = secure::expand(challenge, "passed over", session);
  return Rng{get_little<std::uint64_t>(secret.bytes().data())};
}

}  // namespace

Connection::Connection(const ConnectionSettings& settings, const secure::SessionKeys& keys,
                       const PeerAddress& peer, const secure::Secret& challenge, Micros now)
    : settings_(settings),
      protection_(keys, settings.end, now, settings.key_age),
      path_(peer, path_secret(challenge, keys)),
      loss_(settings.reliable_link, ack_delay_max),
      passing_(passing_of(settings, challenge, keys)),
      heard_at_(now),
      answered_at_(now),
      eliciting_sent_at_(now),
      send_(send_streams(std::make_index_sequence<stream_count>{})),
      receive_(receive_streams(settings.receive_windows, std::make_index_sequence<stream_count>{})) {
  ASHLAR_ASSERT(settings.silence_max > settings.keepalive);
  if (passing_) pass_over_at_ = packets_between_passed();
}

std::uint64_t Connection::packets_between_passed() {
  return passed_over_every_least + passing_->below(passed_over_every_most - passed_over_every_least + 1);
}

SendResult Connection::send(StreamId stream, std::span<const std::uint8_t> message) {
  if (state_ != ConnectionState::open) return SendResult::closed;
  const SendResult result = send_[row(stream)].send(message);
  send_busy_ = static_cast<std::uint8_t>(send_busy_ | 1u << row(stream));
  if (result == SendResult::sent) ++counters_.messages_sent[row(stream)];
  if (result == SendResult::queue_full) ++counters_.queue_full[row(stream)];
  return result;
}

void Connection::reset(StreamId stream) {
  if (state_ != ConnectionState::open) return;
  send_[row(stream)].reset();
  send_busy_ = static_cast<std::uint8_t>(send_busy_ | 1u << row(stream));
}

bool Connection::take(StreamId stream, std::vector<std::uint8_t>& message) {
  const auto bit = static_cast<std::uint8_t>(1u << row(stream));
  if ((receive_busy_ & bit) == 0) return false;
  if (!receive_[row(stream)].take(message)) {
    receive_busy_ = static_cast<std::uint8_t>(receive_busy_ & ~bit);
    return false;
  }
  touched(stream);
  ++counters_.messages_received[row(stream)];
  return true;
}

bool Connection::streams_idle() const {
  return std::all_of(send_.begin(), send_.end(), [](const SendStream& stream) { return stream.idle(); });
}

std::optional<Connection::Fate> Connection::next_fate() {
  if (fates_.empty()) return std::nullopt;
  const Fate fate = fates_[fates_.first()];
  fates_.pop_front();
  return fate;
}

void Connection::packet_acked(std::uint64_t sequence, const SentPacket& packet, bool was_lost) {
  protection_.confirmed(sequence);
  arrived_.forget_until(packet.told_largest);
  std::size_t i = 0;
  for (std::size_t n = 0; n < packet.chunks; ++n, ++i) {
    const StreamChunk& chunk = loss_.chunk(packet, i);
    send_[row(chunk.stream)].acked({chunk.offset, chunk.offset + chunk.length});
  }
  i += packet.credits;
  for (std::size_t n = 0; n < packet.resets; ++n, ++i)
    send_[row(loss_.chunk(packet, i).stream)].reset_acked(loss_.chunk(packet, i).offset);
  if (!packet.unreliable || was_lost) return;
  ++counters_.unreliable_acked;
  fates_.push_back({sequence, true});
}

void Connection::packet_lost(std::uint64_t sequence, const SentPacket& packet) {
  std::size_t i = 0;
  for (std::size_t n = 0; n < packet.chunks; ++n, ++i) {
    const StreamChunk& chunk = loss_.chunk(packet, i);
    counters_.bytes_resent += send_[row(chunk.stream)].lost({chunk.offset, chunk.offset + chunk.length});
  }
  for (std::size_t n = 0; n < packet.credits; ++n, ++i) {
    const StreamChunk& credit = loss_.chunk(packet, i);
    receive_[row(credit.stream)].credit_lost(credit.offset);
    touched(credit.stream);
  }
  for (std::size_t n = 0; n < packet.resets; ++n, ++i)
    send_[row(loss_.chunk(packet, i).stream)].reset_lost(loss_.chunk(packet, i).offset);
  if (packet.eliciting) ++counters_.packets_lost, newest_lost_ = std::max(newest_lost_, sequence);
  if (!packet.unreliable) return;
  ++counters_.unreliable_lost;
  fates_.push_back({sequence, false});
}

void Connection::end(Micros now, ConnectionState state, CloseReason reason, std::string_view text) {
  if (state_ != ConnectionState::open) return;
  state_ = state;
  close_reason_ = reason;
  close_text_ = text;
  close_packets_sent_ = 0;
  loss_.abandon(*this);
  // Closing says so at once; draining waits until packets that are still on their way have come.
  close_at_ = state == ConnectionState::draining ? now + 3 * loss_.probe_timeout() : now;
}

void Connection::close(Micros now, CloseReason reason, std::string_view text) {
  ASHLAR_ASSERT(reason != CloseReason::none);
  end(now, ConnectionState::closing, reason, make_printable(text, close_text_bytes_max));
}

ConnectionCounters Connection::counters() const {
  ConnectionCounters counters = counters_;
  counters.packets_late = loss_.late();
  counters.challenges_failed = path_.challenges_failed();
  counters.ack_ranges_forgotten = arrived_.forgotten();
  return counters;
}

ConnectionStatus Connection::status() const {
  const RoundTrip& round_trip = loss_.round_trip();
  ConnectionStatus status;
  status.rtt = round_trip.known() ? round_trip.smoothed() : Micros{0};
  status.rtt_min = round_trip.known() ? round_trip.minimum() : Micros{0};
  status.queue_delay = congestion_.queue_delay();
  status.rate_bytes_per_s = congestion_.rate_bytes_per_s(round_trip);
  status.window_bytes = congestion_.window_bytes();
  status.bytes_in_flight = loss_.bytes_in_flight();
  for (std::size_t i = 0; i < stream_count; ++i) {
    status.queue_bytes[i] = send_[i].queued_bytes();
    status.received_bytes[i] = receive_[i].held_bytes();
  }
  return status;
}

std::size_t Connection::memory_bytes() const {
  return sizeof(*this) + close_text_.capacity() + fates_.memory_bytes() + stream_memory_bytes();
}

std::size_t Connection::stream_memory_bytes() const {
  std::size_t sum = loss_.memory_bytes();
  for (const SendStream& stream : send_) sum += stream.memory_bytes();
  for (const ReceiveStream& stream : receive_) sum += stream.memory_bytes();
  return sum;
}

}  // namespace ashlar
