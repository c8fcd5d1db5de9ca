#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "protocol/chat.h"
#include "protocol/datagram.h"
#include "protocol/messages.h"
#include "protocol/sequence.h"
#include "server/host/host.h"
#include "server/host/input_buffer.h"
#include "server/host/notices.h"
#include "server/host/snapshot_order.h"

namespace ashlar::server {

/// An honest client sends one input a tick; chat and joins are rare. The burst covers a network that held
/// datagrams back for half a second.
inline constexpr std::int32_t datagrams_per_tick = 3;
inline constexpr std::int32_t datagrams_burst = 96;
inline constexpr std::int32_t chat_lines_burst = 4;

/// Where a session stands on its way. It may end from each of them, which makes its row free.
enum class SessionState : std::uint8_t {
  free,       ///< nobody's row
  greeted,    ///< welcomed; has not yet said which maps it holds
  joining,    ///< its join enters the next tick
  playing,    ///< has an entity in the world
  dismissed,  ///< kicked: out of the world, but still told so when it says something
};

/// Lines of chat on their way to one client, repeated until it has seen them. When full the oldest is given
/// up.
class ChatQueue {
 public:
  static constexpr std::size_t lines_max = chat_lines_waiting_max;

  /// @return false: the oldest had to go
  bool push(const std::string& from, const std::string& text) {
    const bool full = count_ == lines_max;
    if (full) {
      give_up_oldest();
      ++given_up_;
    }
    ChatLine& line = lines_[(first_ + count_) % lines_max];
    line.number = ++newest_;
    line.from = from;
    line.text = text;
    ++count_;
    return !full;
  }
  void give_up_oldest() {
    if (count_ == 0) return;
    first_ = (first_ + 1) % lines_max;
    --count_;
  }
  void seen(std::uint32_t number) {
    while (count_ > 0 && lines_[first_].number <= number) {
      first_ = (first_ + 1) % lines_max;
      --count_;
    }
  }
  std::size_t size() const { return count_; }
  const ChatLine& operator[](std::size_t i) const { return lines_[(first_ + i) % lines_max]; }
  std::uint32_t newest() const { return newest_; }
  /// Lines that had to make room for newer ones.
  std::uint32_t given_up() const { return given_up_; }

 private:
  std::array<ChatLine, lines_max> lines_;
  std::size_t first_ = 0, count_ = 0;
  std::uint32_t newest_ = 0;
  std::uint32_t given_up_ = 0;
};

/// One client's connection. Cold state; what the simulation needs of it is the player's id and the input.
struct Session {
  SessionState state = SessionState::free;
  PeerAddress address;
  std::uint32_t connection = 0;
  std::uint64_t nonce = 0;
  std::string name;
  EntityId player{};
  SequenceWindow seen;
  AckTracker sent;
  InputBuffer input{};
  /// How far spawns and teleporters have turned the player's view, beside its own turning: added to the yaw
  /// of its commands. Those that it made before it knew are turned with the rest.
  Turn16 delta_yaw{0};
  Turn16 yaw_given{0};  ///< of the command that entered the last tick
  Micros heard_at{0};
  Micros chat_sent_at{0};
  std::int32_t datagram_tokens = 0;          ///< what it may still send; refilled every tick
  std::int32_t chat_tokens = 0;              ///< lines it may still say; refilled every second
  std::uint32_t chat_taken = 0;              ///< number of the last line taken from it
  std::uint32_t chat_woken = 0;              ///< newest line when chat was last sent
  std::uint64_t accepted = 0;                ///< datagrams taken from it, the hello among them
  Micros joined_at{0};                       ///< when it came into the world
  Micros rtt{0};                             ///< of its last acknowledgement, smoothed; 0: none yet
  std::uint64_t acked = 0, ack_highest = 0;  ///< our packets it has named as received, and the newest of them
  ChatQueue chat;
  SnapshotTurn turn;
  std::string kicked_for;  ///< empty: it may stay
  Micros began_at{0};
  NoticeQueue notices;
  std::size_t bytes_unanswered = 0;  ///< dismissed: what it sent since it was last told why

  /// Of the packet to it that is about to be written: with a sequence of its own and acknowledgements. One
  /// that is not sent counts as a lost packet.
  PacketHeader next_header(Micros now) {
    PacketHeader header;
    header.connection = connection;
    header.sequence = sent.next_sequence(now);
    seen.fill(header);
    return header;
  }
};

}  // namespace ashlar::server
