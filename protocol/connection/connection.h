#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/connection/ack_ranges.h"
#include "protocol/connection/close_reason.h"
#include "protocol/connection/congestion.h"
#include "protocol/connection/frames.h"
#include "protocol/connection/loss_detection.h"
#include "protocol/connection/pacer.h"
#include "protocol/connection/path.h"
#include "protocol/connection/receive_stream.h"
#include "protocol/connection/replay_window.h"
#include "protocol/connection/send_stream.h"
#include "protocol/datagram.h"
#include "protocol/drop_reason.h"
#include "protocol/secure/packet_protection.h"
#include "world/math/prefetch.h"
#include "world/math/random.h"

namespace ashlar {

/// How long an end may wait before it acknowledges what asks for it: most acknowledgements then travel with
/// the next input or snapshot. Both ends know it.
inline constexpr Micros ack_delay_max{25'000};
/// So many packets that ask for it are acknowledged at once.
inline constexpr std::uint32_t ack_packets = 4;
/// Packets that one poll() sends of streams, at most; the next one goes on.
inline constexpr std::size_t packets_per_poll_max = 64;
/// With each probe so many unreliable messages may go though the window is closed: they ask as well as it
/// does.
inline constexpr std::uint32_t unreliable_per_probe = 4;
/// A server passes over a sequence once in so many packets, as chance has it, so that nobody gains by
/// acknowledging what he did not get.
inline constexpr std::uint32_t passed_over_every_least = 128, passed_over_every_most = 512;
/// Over a reliable link: bytes in packets with unreliable messages that are not acknowledged, at most: what a
/// slow reader lets pile up on the way to it.
inline constexpr std::uint64_t reliable_link_unreliable_bytes = 256 * 1024;
/// Over a reliable link: bytes of streams that are not acknowledged, at most. What waits in the link's own
/// queue delays every snapshot behind it.
inline constexpr std::uint64_t reliable_link_window_bytes = 128 * 1024;
/// Fates that the application has not asked for; at the limit unreliable messages are refused.
inline constexpr std::size_t fates_waiting_max = 4096;
/// How often a close is said, a probe timeout apart.
inline constexpr std::uint32_t close_packets = 4;

/// What differs between connections.
struct ConnectionSettings {
  secure::End end = secure::End::client;
  /// TCP: nothing is lost or overtaken on the way, and the link paces itself. No loss timers, no congestion
  /// window but reliable_link_window_bytes and reliable_link_unreliable_bytes. What an end itself drops (its
  /// owner's rate limit, a stream with too many gaps) is sent again when something later is acknowledged.
  bool reliable_link = false;
  /// A peer may come from another address (path.h). Servers; not over TCP.
  bool peer_may_move = false;
  StreamWindows receive_windows = client_stream_windows;
  /// When nothing was sent for so long that asks for an answer, a ping is.
  Micros keepalive{2'000'000};
  /// When nothing was heard for so long, or nothing acknowledged of what was sent, the connection is closed.
  Micros silence_max{10'000'000};
  /// When each direction changes its keys; at most secure::key_age_max.
  Micros key_age = secure::key_age_max;
};

/// How far a connection is; it only moves on.
enum class ConnectionState : std::uint8_t {
  open,
  closing,   ///< this end closed it, and says so a few times; takes nothing more
  draining,  ///< the peer closed it; sends and takes nothing more
  closed,    ///< over: may be destroyed
};

/// Counters only grow.
struct ConnectionCounters {
  std::uint64_t packets_sent = 0, bytes_sent = 0;          ///< on the wire
  std::uint64_t packets_received = 0, bytes_received = 0;  ///< that opened
  std::uint64_t packets_passed_over = 0;                   ///< sequences that were left out
  std::uint64_t packets_lost = 0;  ///< called lost; those that turned up later included
  std::uint64_t packets_late = 0;  ///< of those, acknowledged after all
  std::uint64_t bytes_resent = 0;  ///< of streams
  std::uint64_t probes = 0, acks_alone = 0;
  std::uint64_t unreliable_sent = 0, unreliable_acked = 0, unreliable_lost = 0, unreliable_refused = 0;
  std::uint64_t packets_scattered = 0;  ///< not acknowledged, as a stream had too many gaps
  std::uint64_t ack_ranges_forgotten = 0;
  std::uint64_t moves = 0, challenges_failed = 0, rekeys = 0;
  std::array<std::uint64_t, stream_count> messages_sent{}, messages_received{}, queue_full{};
};

/// How a connection is, at this moment.
struct ConnectionStatus {
  Micros rtt{0}, rtt_min{0}, queue_delay{0};  ///< rtt 0: not known yet
  double rate_bytes_per_s = 0;                ///< what streams and unreliable messages may take together
  std::uint64_t window_bytes = 0, bytes_in_flight = 0;
  std::array<std::uint64_t, stream_count> queue_bytes{};     ///< to be sent, or not acknowledged
  std::array<std::uint64_t, stream_count> received_bytes{};  ///< that the application has not taken
};

/// Room for one opened packet: a batch of arrived datagrams needs one. Messages in it are 8-byte aligned.
struct PacketScratch {
  alignas(8) std::array<std::uint8_t, datagram_bytes_max> bytes;
};

/// One end of a session after its handshake; server and client share it. It alone repeats things.
///
/// Sans-I/O: time and datagrams come in as arguments, datagrams go out into batches. The owner opens and
/// accepts what arrives, gives messages to send, then calls poll(), at next_poll_at() or each tick; takes
/// received messages and fates.
///
/// What is bounded: streams by queue_bytes_max and the receiver's windows, packets in flight by
/// LossDetection::packets_max, everything else by constants. About 6 KiB while nothing is queued. Allocates
/// only while queues grow. One thread.
class Connection final : private SentPacketFates {
 public:
  /// @param peer       where the handshake's packets came from: proven
  /// @param challenge  this end's secret for path challenges, and for which sequences a server passes over,
  ///                   the same for all of its connections; a client needs none
  Connection(const ConnectionSettings& settings, const secure::SessionKeys& keys, const PeerAddress& peer,
             const secure::Secret& challenge, Micros now);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // --- Arriving. The order: window, open, mark; the owner's rate limit; accept.

  /// A packet that opened. Valid as long as its scratch.
  struct Opened {
    std::uint64_t sequence = 0;
    std::span<const std::uint8_t> plaintext;
    PeerAddress from;
    std::size_t bytes = 0;  ///< on the wire
    bool newest = false;    ///< no packet with a higher sequence has opened
  };
  /// Opens a packet; whatever does not open changes nothing. Reasons: those of PacketProtection, duplicate,
  /// too_old, wrong_address (where the peer may not move), wrong_state (the connection is over).
  std::expected<Opened, DropReason> open(Micros now, const PeerAddress& from,
                                         std::span<const std::uint8_t> packet, PacketScratch& scratch);

  /// What a packet held for the owner to act upon at once.
  struct Received {
    std::uint64_t sequence = 0;
    std::span<const std::uint8_t> unreliable;  ///< 8-byte aligned, in the scratch; empty: none
  };
  /// Acts on a packet's frames. An opened packet that is not accepted (rate limit) is gone, as if lost.
  /// Reasons: malformed and bad_ack (the connection is then closed: the peer is broken or hostile),
  /// rate_limited (a stream has too many gaps, the packet is not acknowledged), wrong_state.
  std::expected<Received, DropReason> accept(Micros now, const Opened& packet);

  /// Takes the next message of a stream, once, whole and in order; its memory is reused, its data() 8-byte
  /// aligned. @return false: there is none. Also after the connection ended, for what came before.
  bool take(StreamId stream, std::vector<std::uint8_t>& message);

  // --- Sending

  /// Queues a message of 1 byte or more (asserted) for its stream. @return sent, or why nothing was taken
  SendResult send(StreamId stream, std::span<const std::uint8_t> message);
  /// Gives up all messages of a stream that the peer has not taken: another world makes them void.
  void reset(StreamId stream);
  /// Bytes of a stream that wait to be sent, or to be acknowledged.
  std::uint64_t queue_bytes(StreamId stream) const { return send_[row(stream)].queued_bytes(); }
  /// All that was sent on streams has been acknowledged.
  bool streams_idle() const;

  /// Sends a message of 1 to unreliable_bytes_max bytes now, in one packet. @return the packet's sequence,
  /// whose fate next_fate() will tell once; or too_long, congested, closed
  std::expected<std::uint64_t, SendResult> send_unreliable(Micros now, std::span<const std::uint8_t> message,
                                                           DatagramBatch& out);

  /// Bytes of unreliable messages that may go now. A message goes while there is any; 0: it would be
  /// congested.
  std::uint64_t unreliable_room() const;
  /// The owner had more to send than there was room for, and waits: without this word a window that is used
  /// so far that nothing whole fits looks like one that is large enough, and never grows.
  void held_back() { limited_ = true; }

  /// What became of a packet with an unreliable message.
  struct Fate {
    std::uint64_t sequence = 0;
    bool acked = false;  ///< false: lost, as far as can be told. It may still have arrived.
  };
  /// Each once, in the order in which it became known; when the connection ends all others are lost.
  std::optional<Fate> next_fate();

  /// Sends what is due: acknowledgements, stream data, what was lost, probes, challenges, closes.
  void poll(Micros now, DatagramBatch& out);
  /// When poll() has something to do, if nothing happens before; may lie in the past. max: never.
  Micros next_poll_at() const;

  /// Ends the connection: the next polls tell the peer. Queued messages are given up: who wants them to
  /// arrive waits for streams_idle() first. Does nothing when it has ended already.
  /// @param text  printable, at most close_text_bytes_max (cut)
  void close(Micros now, CloseReason reason, std::string_view text);

  // --- How it is

  /// Where the connection stands now.
  ConnectionState state() const { return state_; }
  /// Why it ended, whoever ended it; none: it has not.
  CloseReason close_reason() const { return close_reason_; }
  const std::string& close_text() const { return close_text_; }
  bool closed_by_peer() const { return closed_by_peer_; }
  /// Where packets go.
  const PeerAddress& address() const { return path_.address(); }
  std::uint32_t id() const { return protection_.connection(); }
  Micros heard_at() const { return heard_at_; }
  ConnectionCounters counters() const;
  /// Of counters(), without a copy of all of them, for those who ask in every tick.
  std::uint64_t packets_sent() const { return counters_.packets_sent; }
  std::uint64_t unreliable_acked() const { return counters_.unreliable_acked; }
  ConnectionStatus status() const;
  const Congestion& congestion() const { return congestion_; }
  /// Of packets that asked for an acknowledgement and got one, since the connection began.
  std::uint64_t acked_bytes() const { return acked_bytes_; }
  /// Of packets with unreliable messages whose fate is open.
  std::uint64_t unreliable_bytes_in_flight() const { return loss_.unreliable_bytes_in_flight(); }
  const RoundTrip& round_trip() const { return loss_.round_trip(); }
  /// Of this object and all that it holds.
  std::size_t memory_bytes() const;
  /// Of that: what streams hold, sent or not taken, and what is remembered of packets of unknown fate.
  std::size_t stream_memory_bytes() const;
  /// Asks the processor for what the next packet that comes or goes will need; changes nothing.
  void prefetch(bool sending) const {
    ashlar::prefetch(this, 64);
    protection_.prefetch(sending);
    ashlar::prefetch(&window_, sending ? 0 : sizeof window_);
    prefetch_until(&path_, &arrived_);
    ashlar::prefetch(&arrived_, 64);
  }
  /// The same for take() where nothing came.
  void prefetch_take() const { ashlar::prefetch(&state_, 1), ashlar::prefetch(&receive_busy_, 1); }
  /// The same for poll(), next_poll_at() and what is counted.
  void prefetch_poll() const {
    ashlar::prefetch(&state_, 64);
    prefetch_until(&path_, &counters_);
    ashlar::prefetch(&counters_, 64);
  }
  /// The same for what lies behind pointers of that: a step later.
  void prefetch_rings(bool sending) const {
    loss_.prefetch_packets(sending);
    fates_.prefetch_ends();
  }
  /// Of the packet that is sent next, and of the one that is most likely acknowledged next.
  std::uint64_t next_sequence() const { return loss_.next_sequence(); }
  std::uint64_t next_acked() const { return loss_.largest_acked() + 1; }

 private:
  struct Packet;  // one being built

  void packet_acked(std::uint64_t sequence, const SentPacket& packet, bool was_lost) override;
  void packet_lost(std::uint64_t sequence, const SentPacket& packet) override;

  std::expected<void, DropReason> apply(Micros now, const Frame& frame, bool of_path, Received& received);
  std::expected<void, DropReason> apply_ack(Micros now, const AckFrame& ack, bool of_path);
  std::expected<void, DropReason> apply_stream(Micros now, StreamAccept accepted);
  void apply_close(Micros now, const CloseFrame& close);
  void note_arrival(Micros now, std::uint64_t sequence, bool eliciting);

  bool add_ack(Micros now, Packet& packet, std::size_t bytes_max);
  void add_news(Packet& packet);
  void add_streams(Packet& packet);
  bool finish(Micros now, Packet& packet, const PeerAddress& to, DatagramBatch& out);
  std::uint64_t packets_between_passed();
  bool streams_wait() const;
  bool news_wait() const;
  bool credit_due(std::size_t stream) const;
  /// Something of a stream came.
  void heard(StreamId stream) {
    receive_busy_ = static_cast<std::uint8_t>(receive_busy_ | 1u << row(stream));
    touched(stream);
  }
  void touched(StreamId stream) {
    credit_unsure_ = static_cast<std::uint8_t>(credit_unsure_ | 1u << row(stream));
  }
  bool ack_due(Micros now) const;
  bool window_open() const;
  void poll_over(Micros now, DatagramBatch& out);
  void poll_losses(Micros now);
  void poll_path(Micros now, DatagramBatch& out);
  void poll_probe(Micros now, DatagramBatch& out);
  void poll_streams(Micros now, DatagramBatch& out);
  void poll_small(Micros now, DatagramBatch& out);
  void end(Micros now, ConnectionState state, CloseReason reason, std::string_view text);

  ConnectionSettings settings_;
  ConnectionState state_ = ConnectionState::open;
  CloseReason close_reason_ = CloseReason::none;
  bool closed_by_peer_ = false;
  bool limited_ = false;  // the window or the pacer held something back since the last acknowledgement
  std::string close_text_;
  std::uint32_t close_packets_sent_ = 0;
  Micros close_at_{0};  // closing: when it is said next; draining: when it is over

  secure::PacketProtection protection_;
  Path path_;
  LossDetection loss_;
  std::optional<Rng> passing_;      // which sequences are passed over; none are without
  std::uint64_t pass_over_at_ = 0;  // once that one went
  Congestion congestion_;
  Pacer pacer_;
  // A bit a stream: which are not idle, of which something came since nothing whole was there, and of which
  // credit may be due. Each packet asks, and most streams are quiet for seconds: they are not touched.
  static_assert(stream_count <= 8);
  mutable std::uint8_t send_busy_ = 0, credit_unsure_ = (1u << stream_count) - 1;
  std::uint8_t receive_busy_ = 0;
  GrowRing<Fate> fates_;
  Micros newest_arrived_at_{0}, ack_wanted_since_{0}, heard_at_, answered_at_, eliciting_sent_at_;
  std::uint32_t ack_wanted_ = 0;  // packets that ask for an acknowledgement and have none
  std::optional<std::uint64_t> path_response_;
  std::uint64_t newest_lost_ = 0, acked_bytes_ = 0;
  std::uint32_t probe_allowance_ = 0;
  ConnectionCounters counters_;
  AckRanges arrived_;
  ReplayWindow window_;
  std::array<SendStream, stream_count> send_;
  std::array<ReceiveStream, stream_count> receive_;
};

}  // namespace ashlar
