#include <algorithm>
#include <utility>
#include <variant>

#include "protocol/connection/connection.h"

namespace ashlar {

std::expected<Connection::Opened, DropReason> Connection::open(Micros now, const PeerAddress& from,
                                                               std::span<const std::uint8_t> packet,
                                                               PacketScratch& scratch) {
  if (state_ == ConnectionState::closed) return std::unexpected{DropReason::wrong_state};
  if (!settings_.peer_may_move && from != path_.address()) return std::unexpected{DropReason::wrong_address};
  const auto header = protection_.peek(packet);
  if (!header) return std::unexpected{header.error()};
  if (const auto fresh = window_.check(header->sequence); !fresh) return std::unexpected{fresh.error()};
  const auto size = protection_.open(packet, *header, std::span(scratch.bytes).subspan(plaintext_begin));
  if (!size) return std::unexpected{size.error()};

  Opened opened;
  opened.sequence = header->sequence;
  opened.plaintext = std::span<const std::uint8_t>(scratch.bytes).subspan(plaintext_begin, *size);
  opened.from = from;
  opened.bytes = packet.size();
  opened.newest = header->sequence > window_.highest();
  window_.mark(header->sequence);
  heard_at_ = now;
  ++counters_.packets_received;
  counters_.bytes_received += packet.size();
  return opened;
}

namespace {

/// Whether a packet asks for an acknowledgement.
bool elicits(const Frame& frame) {
  return !std::holds_alternative<AckFrame>(frame) && !std::holds_alternative<CloseFrame>(frame) &&
         !std::holds_alternative<PathResponseFrame>(frame);
}

}  // namespace

std::expected<Connection::Received, DropReason> Connection::accept(Micros now, const Opened& packet) {
  if (state_ == ConnectionState::closing) {
    // The peer has not heard it, or its packet was on the way.
    if (close_packets_sent_ < close_packets) close_at_ = std::min(close_at_, now + ack_delay_max);
  }
  if (state_ != ConnectionState::open) return std::unexpected{DropReason::wrong_state};

  // All of it is read before any of it is acted upon: what is malformed changes nothing but the end.
  Frame frame;
  bool eliciting = false;
  FrameReader check(packet.plaintext);
  while (check.next(frame)) eliciting = eliciting || elicits(frame);
  if (check.malformed()) {
    close(now, CloseReason::malformed, "a packet held no valid frames");
    return std::unexpected{DropReason::malformed};
  }

  // As the packet came: what it holds may move the session.
  const bool of_path = packet.from == path_.address();
  if (settings_.peer_may_move) path_.received(now, packet.from, packet.bytes, packet.newest);
  Received received;
  received.sequence = packet.sequence;
  FrameReader frames(packet.plaintext);
  while (frames.next(frame)) {
    const auto applied = apply(now, frame, of_path, received);
    if (!applied) return std::unexpected{applied.error()};
    if (state_ != ConnectionState::open) return received;  // the peer closed it
  }
  note_arrival(now, packet.sequence, eliciting);
  return received;
}

void Connection::note_arrival(Micros now, std::uint64_t sequence, bool eliciting) {
  arrived_.insert(sequence);
  if (arrived_.largest() == sequence) newest_arrived_at_ = now;
  if (!eliciting) return;
  if (ack_wanted_++ == 0) ack_wanted_since_ = now;
}

std::expected<void, DropReason> Connection::apply(Micros now, const Frame& frame, bool of_path,
                                                  Received& received) {
  if (const auto* ack = std::get_if<AckFrame>(&frame)) return apply_ack(now, *ack, of_path);
  if (const auto* stream = std::get_if<StreamFrame>(&frame)) {
    heard(stream->stream);
    return apply_stream(now, receive_[row(stream->stream)].accept(stream->offset, stream->bytes));
  }
  if (const auto* reset = std::get_if<StreamResetFrame>(&frame)) {
    heard(reset->stream);
    return apply_stream(now, receive_[row(reset->stream)].reset(reset->offset));
  }
  if (const auto* unreliable = std::get_if<UnreliableFrame>(&frame))
    received.unreliable = unreliable->message;
  if (const auto* credit = std::get_if<CreditFrame>(&frame)) send_[row(credit->stream)].credit(credit->limit);
  if (const auto* challenge = std::get_if<PathChallengeFrame>(&frame)) path_response_ = challenge->data;
  if (const auto* response = std::get_if<PathResponseFrame>(&frame)) {
    const PeerAddress before = path_.address();
    if (!path_.answered(response->data)) return {};
    ++counters_.moves;
    // Another port alone is the same network behind a translator that forgot it.
    if (before.ip != path_.address().ip) loss_.new_path(), congestion_.new_path();
  }
  if (const auto* said = std::get_if<CloseFrame>(&frame)) apply_close(now, *said);
  return {};
}

std::expected<void, DropReason> Connection::apply_ack(Micros now, const AckFrame& ack, bool of_path) {
  const LossDetection::Acked acked = loss_.acknowledge(ack, now, *this, of_path);
  if (acked.bad) {
    close(now, CloseReason::bad_ack, "a packet was acknowledged that was never sent");
    return std::unexpected{DropReason::bad_ack};
  }
  if (acked.news) answered_at_ = now, probe_allowance_ = 0;
  acked_bytes_ += acked.bytes;
  if (acked.bytes > 0) {
    congestion_.acked(now, acked, loss_.round_trip(), loss_.next_sequence(), std::exchange(limited_, false),
                      loss_.unreliable_bytes_in_flight() > 0);
  }
  poll_losses(now);
  return {};
}

std::expected<void, DropReason> Connection::apply_stream(Micros now, StreamAccept accepted) {
  switch (accepted) {
    case StreamAccept::taken: return {};
    case StreamAccept::scattered:
      ++counters_.packets_scattered;
      return std::unexpected{DropReason::rate_limited};
    case StreamAccept::flow_control:
      close(now, CloseReason::flow_control, "more was sent on a stream than was allowed");
      return std::unexpected{DropReason::malformed};
    case StreamAccept::bad_message:
      close(now, CloseReason::bad_stream, "a message is of no bytes, or longer than its stream allows");
      return std::unexpected{DropReason::malformed};
  }
  return {};
}

void Connection::apply_close(Micros now, const CloseFrame& said) {
  closed_by_peer_ = true;
  end(now, ConnectionState::draining, said.reason, said.text);
}

}  // namespace ashlar
