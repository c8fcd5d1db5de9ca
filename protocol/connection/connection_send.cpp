#include <algorithm>
#include <bit>
#include <utility>

#include "protocol/connection/connection.h"
#include "world/math/assert.h"

namespace ashlar {

namespace {
constexpr std::size_t challenge_packet_bytes = secure::seal_overhead_bytes + 9;
/// What other frames find beside the longest unreliable message, whose type comes behind them: see frames.h.
constexpr std::size_t beside_longest_bytes = 21;

/// Calls visit(i) for the bits of a mask, the lowest first.
template <class Visit>
void for_bits(unsigned mask, Visit&& visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::size_t>(std::countr_zero(mask)));
}

}  // namespace

/// A packet being built, its frames laid where they will be sealed.
struct Connection::Packet {
  static constexpr std::size_t chunks_max = 16;
  /// Below this what is left of a packet is not worth another frame.
  static constexpr std::size_t room_min = 24;

  alignas(8) std::array<std::uint8_t, datagram_bytes_max> bytes;
  FrameWriter writer{std::span(bytes).subspan(plaintext_begin, plaintext_bytes_max)};
  SentPacket sent;
  std::array<StreamChunk, chunks_max> chunks;
  std::array<StreamChunk, stream_count> credits, resets;
};

bool Connection::add_ack(Micros now, Packet& packet, std::size_t bytes_max) {
  // Said again in every packet, until the peer has confirmed one that said it: the last may have been lost.
  if (arrived_.empty()) return false;
  const auto delay =
      static_cast<std::uint64_t>(std::max((now - newest_arrived_at_).count(), std::int64_t{0}));
  const std::size_t told = packet.writer.ack(arrived_.list(), delay, bytes_max);
  if (told == 0) return false;
  ack_wanted_ = 0;
  // What the peer heard of, it need not hear again; but all of it must have been said.
  if (told == arrived_.list().size()) packet.sent.told_largest = arrived_.largest();
  return true;
}

/// Credits, resets and a path's answer.
void Connection::add_news(Packet& packet) {
  SentPacket& sent = packet.sent;
  if (path_response_ && packet.writer.path_response(*path_response_)) path_response_.reset();
  for_bits(credit_unsure_ | send_busy_, [&](std::size_t i) {
    const auto stream = static_cast<StreamId>(i);
    if (credit_due(i) && packet.writer.left() >= 11) {
      const std::uint64_t limit = receive_[i].grant();
      packet.writer.credit({stream, limit});
      packet.credits[sent.credits++] = {limit, 0, stream};
      sent.eliciting = true;
    }
    if (send_[i].reset_due() && packet.writer.stream_reset({stream, *send_[i].reset_pending()})) {
      send_[i].reset_sent();
      packet.resets[sent.resets++] = {*send_[i].reset_pending(), 0, stream};
      sent.eliciting = true;
    }
  });
}

/// Stream bytes by priority, until the packet is full. A stream that was reset says so before its bytes, or
/// they could be taken for the rest of a message that was given up.
void Connection::add_streams(Packet& packet) {
  for_bits(send_busy_, [&](std::size_t i) {
    SendStream& stream = send_[i];
    const auto id = static_cast<StreamId>(i);
    const auto told = [&] {
      return std::any_of(packet.resets.begin(), packet.resets.begin() + packet.sent.resets,
                         [&](const StreamChunk& reset) { return reset.stream == id; });
    };
    while (packet.sent.chunks < Packet::chunks_max) {
      const auto offset = stream.next_offset();
      if (!offset || packet.writer.left() < Packet::room_min) break;
      if (stream.reset_pending() && !told()) {
        packet.writer.stream_reset({id, *stream.reset_pending()});
        packet.resets[packet.sent.resets++] = {*stream.reset_pending(), 0, id};
      }
      const std::size_t room = packet.writer.stream_room(*offset);
      if (room == 0) break;
      const auto bytes = stream.next(room);
      ASHLAR_ASSERT(bytes.has_value());
      stream.copy(*bytes, packet.writer.stream(id, bytes->begin, static_cast<std::size_t>(bytes->size())));
      packet.chunks[packet.sent.chunks++] = {bytes->begin, static_cast<std::uint32_t>(bytes->size()), id};
      packet.sent.eliciting = true;
    }
  });
}

/// Seals and sends a packet. @return false: the keys are spent, and the connection is over
bool Connection::finish(Micros now, Packet& packet, const PeerAddress& to, DatagramBatch& out) {
  const std::uint64_t sequence = loss_.next_sequence();
  const auto plaintext =
      std::span<const std::uint8_t>(packet.bytes).subspan(plaintext_begin, packet.writer.size());
  // Who only ever says unreliable messages has little to poll for: keys get old all the same.
  protection_.advance(now);
  if (protection_.rekey_due() && protection_.rekey()) ++counters_.rekeys;
  const std::size_t size = protection_.seal(sequence, plaintext, packet.bytes);
  if (size == 0) {
    end(now, ConnectionState::closed, CloseReason::keys_spent, "keys are spent");
    return false;
  }
  SentPacket& sent = packet.sent;
  sent.sent_at = now;
  sent.bytes = static_cast<std::uint16_t>(size);
  if (sent.eliciting && loss_.bytes_in_flight() == 0) answered_at_ = now;  // nothing is owed until now
  if (sent.chunks + sent.credits + sent.resets == 0) {
    loss_.sent(sent, {});
  } else {
    std::array<StreamChunk, Packet::chunks_max + 2 * stream_count> chunks;
    auto end_of_chunks = std::copy_n(packet.chunks.begin(), sent.chunks, chunks.begin());
    end_of_chunks = std::copy_n(packet.credits.begin(), sent.credits, end_of_chunks);
    end_of_chunks = std::copy_n(packet.resets.begin(), sent.resets, end_of_chunks);
    loss_.sent(sent, std::span(chunks.begin(), end_of_chunks));
  }
  if (sent.eliciting) eliciting_sent_at_ = now;
  if (passing_ && sequence >= pass_over_at_ && !loss_.full()) {
    loss_.pass_over(now);
    ++counters_.packets_passed_over;
    pass_over_at_ = sequence + packets_between_passed();
  }
  pacer_.spend(size);
  ++counters_.packets_sent;
  counters_.bytes_sent += size;
  out.add(to, std::span<const std::uint8_t>(packet.bytes).first(size));
  return true;
}

bool Connection::streams_wait() const {
  bool wait = false;
  for_bits(send_busy_, [&](std::size_t i) {
    if (send_[i].next_offset())
      wait = true;
    else if (send_[i].idle())
      send_busy_ = static_cast<std::uint8_t>(send_busy_ & ~(1u << i));
  });
  return wait;
}

/// What is not due now is due no sooner than something happens to the stream.
bool Connection::credit_due(std::size_t stream) const {
  if ((credit_unsure_ >> stream & 1) == 0) return false;
  if (receive_[stream].credit_due()) return true;
  credit_unsure_ = static_cast<std::uint8_t>(credit_unsure_ & ~(1u << stream));
  return false;
}

bool Connection::news_wait() const {
  bool wait = path_response_.has_value();
  for_bits(credit_unsure_, [&](std::size_t i) { wait = wait || credit_due(i); });
  for_bits(send_busy_, [&](std::size_t i) { wait = wait || send_[i].reset_due(); });
  return wait;
}

bool Connection::window_open() const {
  const std::uint64_t window =
      settings_.reliable_link ? reliable_link_window_bytes : congestion_.window_bytes();
  return loss_.bytes_in_flight() < window && !loss_.full();
}

std::uint64_t Connection::unreliable_room() const {
  if (state_ != ConnectionState::open || loss_.full() || fates_.size() >= fates_waiting_max) return 0;
  // Bulk that is on its way does not count: it is what gives way.
  const std::uint64_t window =
      settings_.reliable_link ? reliable_link_unreliable_bytes : congestion_.window_bytes();
  const std::uint64_t used = loss_.unreliable_bytes_in_flight();
  return used < window ? window - used : std::uint64_t{probe_allowance_} * datagram_bytes_max;
}

std::expected<std::uint64_t, SendResult> Connection::send_unreliable(Micros now,
                                                                     std::span<const std::uint8_t> message,
                                                                     DatagramBatch& out) {
  ASHLAR_ASSERT(!message.empty());
  if (state_ != ConnectionState::open) return std::unexpected{SendResult::closed};
  if (message.size() > unreliable_bytes_max) return std::unexpected{SendResult::too_long};
  if (!settings_.reliable_link) {
    if (!window_open()) limited_ = true;
    pacer_.refill(now, congestion_.rate_bytes_per_s(loss_.round_trip()));
  }
  // Bulk that is on its way does not count: it is what gives way.
  const std::uint64_t window =
      settings_.reliable_link ? reliable_link_unreliable_bytes : congestion_.window_bytes();
  const bool closed = loss_.unreliable_bytes_in_flight() >= window;
  const bool congested = closed && probe_allowance_ == 0;
  if (congested || loss_.full() || fates_.size() >= fates_waiting_max) {
    ++counters_.unreliable_refused;
    return std::unexpected{SendResult::congested};
  }
  if (closed) --probe_allowance_;
  Packet packet;
  packet.sent.eliciting = packet.sent.unreliable = true;
  // What is left beside the message, less its type and padding, is for acknowledgements and for streams.
  const std::size_t beside = plaintext_bytes_max - message.size() - unreliable_alignment;
  FrameWriter whole = packet.writer;
  packet.writer =
      FrameWriter(std::span(packet.bytes).subspan(plaintext_begin, std::max(beside, beside_longest_bytes)));
  add_ack(now, packet, packet.writer.left());
  add_news(packet);
  if (window_open() && (settings_.reliable_link || pacer_.may_send())) add_streams(packet);
  // The longest messages all lie at the same place, so that the packets of a large snapshot are equally long
  // and go out as the segments of one send, acknowledgements in the first or not.
  if (message.size() == unreliable_bytes_max) packet.writer.pad_to(beside_longest_bytes);
  whole.skip(packet.writer.size());
  packet.writer = whole;
  const bool fits = packet.writer.unreliable(message);
  ASHLAR_ASSERT(fits);
  const std::uint64_t sequence = loss_.next_sequence();
  if (!finish(now, packet, path_.address(), out)) return std::unexpected{SendResult::closed};
  ++counters_.unreliable_sent;
  return sequence;
}

void Connection::poll(Micros now, DatagramBatch& out) {
  protection_.advance(now);
  if (state_ != ConnectionState::open) return poll_over(now, out);
  if (now - heard_at_ >= settings_.silence_max)
    return end(now, ConnectionState::closed, CloseReason::timeout, "nothing was heard");
  if (loss_.bytes_in_flight() > 0 && now - answered_at_ >= settings_.silence_max)
    return end(now, ConnectionState::closed, CloseReason::timeout, "nothing was acknowledged");
  if (protection_.worn_out())
    return end(now, ConnectionState::closed, CloseReason::keys_spent, "too many forgeries");
  poll_losses(now);
  poll_path(now, out);
  poll_probe(now, out);
  poll_streams(now, out);
  poll_small(now, out);
}

void Connection::poll_over(Micros now, DatagramBatch& out) {
  if (state_ == ConnectionState::closed || now < close_at_) return;
  if (state_ == ConnectionState::draining || close_packets_sent_ >= close_packets) {
    state_ = ConnectionState::closed;
    return;
  }
  Packet packet;
  packet.writer.close(close_reason_, close_text_);
  ++close_packets_sent_;
  close_at_ = now + loss_.probe_timeout();
  if (!loss_.full()) finish(now, packet, path_.address(), out);
}

void Connection::poll_losses(Micros now) {
  newest_lost_ = 0;
  const std::uint64_t bytes = loss_.detect(now, *this);
  // On a reliable link nothing is lost but what the peer itself would not take.
  if (bytes > 0 && !settings_.reliable_link)
    congestion_.lost(bytes, newest_lost_, loss_.round_trip(), loss_.next_sequence());
}

void Connection::poll_path(Micros now, DatagramBatch& out) {
  if (!path_.moving() || loss_.full()) return;
  const auto data = path_.challenge(now, challenge_packet_bytes, loss_.probe_timeout());
  if (!data) return;
  Packet packet;
  packet.writer.path_challenge(*data);
  packet.sent.elsewhere = true;
  finish(now, packet, path_.candidate(), out);
}

void Connection::poll_probe(Micros now, DatagramBatch& out) {
  if (now < loss_.probe_at() || loss_.full()) return;
  loss_.probed(now);
  ++counters_.probes;
  probe_allowance_ = unreliable_per_probe;
  if (loss_.probes() == 3) congestion_.silence();
  Packet packet;
  add_ack(now, packet, packet.writer.left() / 4);
  if (const std::uint64_t oldest = loss_.oldest_with_chunks(); oldest != 0) {
    // Its fate stays open; its data goes again.
    const SentPacket& sent = loss_.packet(oldest);
    for (std::size_t i = 0; i < sent.chunks; ++i) {
      const StreamChunk& chunk = loss_.chunk(sent, i);
      counters_.bytes_resent += send_[row(chunk.stream)].lost({chunk.offset, chunk.offset + chunk.length});
    }
  }
  add_news(packet);
  add_streams(packet);
  if (!packet.sent.eliciting) packet.writer.ping(), packet.sent.eliciting = true;
  finish(now, packet, path_.address(), out);
}

void Connection::poll_streams(Micros now, DatagramBatch& out) {
  if (!settings_.reliable_link) pacer_.refill(now, congestion_.rate_bytes_per_s(loss_.round_trip()));
  for (std::size_t n = 0; n < packets_per_poll_max && state_ == ConnectionState::open; ++n) {
    if (!streams_wait()) return;
    if (!window_open() || (!settings_.reliable_link && !pacer_.may_send())) {
      limited_ = true;
      return;
    }
    Packet packet;
    add_ack(now, packet, packet.writer.left() / 4);
    add_news(packet);
    add_streams(packet);
    finish(now, packet, path_.address(), out);
  }
}

bool Connection::ack_due(Micros now) const {
  return ack_wanted_ >= ack_packets || (ack_wanted_ > 0 && now >= ack_wanted_since_ + ack_delay_max);
}

void Connection::poll_small(Micros now, DatagramBatch& out) {
  if (state_ != ConnectionState::open || loss_.full()) return;
  const bool keepalive = now - eliciting_sent_at_ >= settings_.keepalive;
  const bool news = news_wait(), ack = ack_due(now);
  if (!keepalive && !news && !ack) return;
  Packet packet;
  add_ack(now, packet, packet.writer.left());
  add_news(packet);
  if (keepalive && !packet.sent.eliciting) packet.writer.ping(), packet.sent.eliciting = true;
  if (packet.writer.size() == 0) return;
  if (!packet.sent.eliciting) ++counters_.acks_alone;
  finish(now, packet, path_.address(), out);
}

Micros Connection::next_poll_at() const {
  if (state_ == ConnectionState::closed) return Micros::max();
  if (state_ != ConnectionState::open) return close_at_;
  Micros at = std::min(heard_at_ + settings_.silence_max, loss_.loss_at());
  if (loss_.bytes_in_flight() > 0) at = std::min(at, answered_at_ + settings_.silence_max);
  if (loss_.full()) return at;  // nothing can be sent until a packet has its fate
  if (news_wait() || ack_wanted_ >= ack_packets) return heard_at_;
  at = std::min({at, eliciting_sent_at_ + settings_.keepalive, loss_.probe_at(),
                 path_.challenge_at(challenge_packet_bytes)});
  if (ack_wanted_ > 0) at = std::min(at, ack_wanted_since_ + ack_delay_max);
  if (streams_wait() && window_open())
    at = std::min(at, settings_.reliable_link ? heard_at_ : pacer_.ready_at());
  return at;
}

}  // namespace ashlar
