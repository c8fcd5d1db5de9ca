#include "server/net/tcp.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "server/net/address.h"
#include "server/net/byte_queue.h"

namespace ashlar::server {
namespace {

using std::chrono::microseconds;

constexpr int accepts_per_poll_max = 32;
constexpr int events_per_poll_max = 1024;  // where more are ready the kernel goes round among them
constexpr microseconds sweep_every = std::chrono::milliseconds(100);
// More than this unsent in the kernel would only age there: the queue above it decides what to drop.
constexpr int kernel_unsent_bytes_max = 32 * 1024;
constexpr std::uint64_t listener_tag = 0;  // connections are numbered from 1
/// Of a queue, for a goodbye or a refusal: it must reach a reader whose queue is full.
constexpr std::size_t last_words_bytes = datagram_bytes_max + frame_prefix_bytes;

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

std::string_view name(TcpClose why) {
  static constexpr std::array<std::string_view, 7> names{"bad_frame", "tiny_frame", "unanswered", "idle",
                                                         "slow",      "displaced",  "failed"};
  return names[static_cast<std::size_t>(why)];
}

struct TcpPort::Link {
  Link(int descriptor_in, const PeerAddress& peer_in, std::size_t queue_bytes_max)
      : descriptor(descriptor_in), peer(peer_in), queue(queue_bytes_max, last_words_bytes) {}
  ~Link() { ::close(descriptor); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  int descriptor;
  PeerAddress peer;
  StreamDeframer deframer;
  ByteQueue queue;
  microseconds accepted_at{0}, received_at{0}, closing_at{0};
  microseconds waits_since{0};  // the queue holds bytes and was last empty then
  bool stranger = true;         // holds a place among the strangers
  bool answered = false;        // the host has sent something
  bool closing = false;         // the host is done with it: send the rest, read and discard, close
  bool finished = false;        // closing, and our direction is shut: waiting for the peer to end
  bool touched = false;         // has new bytes from the send() that is running
  bool last_words = false;      // the send() that is running closes it
  bool waits_for_room = false;  // epoll tells when the kernel takes more
};

TcpPort::TcpPort(int listener, const TcpLimits& limits, TransportCounters& counters)
    : listener_(listener),
      limits_(limits),
      counters_(counters),
      strangers_(limits.strangers_max),
      read_buffer_(player_bytes_per_poll_max) {
  closes_.reserve(closes_kept_max);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return;
  spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = listener_tag;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) != 0) {
    ::close(epoll_);
    epoll_ = -1;
  }
}

TcpPort::~TcpPort() {
  links_.clear();
  if (spare_ >= 0) ::close(spare_);
  if (epoll_ >= 0) ::close(epoll_);
}

void TcpPort::accept(microseconds now, DatagramBatch& in) {
  for (int count = 0; count < accepts_per_poll_max; ++count) {
    sockaddr_storage from;
    socklen_t from_size = sizeof from;
    const int descriptor =
        accept4(listener_, reinterpret_cast<sockaddr*>(&from), &from_size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (would_block(errno)) return;
      // Without a descriptor the system does not look whether anybody waits.
      const bool none_left = errno == EMFILE || errno == ENFILE;
      if (none_left && !refuse_one()) return;
      ++counters_.tcp_accept_errors;
      if (!none_left) return;
      continue;
    }
    PeerAddress peer;
    peer.transport = Transport::tcp;
    // Numbers are never used twice: the last one of 2^32 stays unused and closes the door.
    if (!from_native(from, peer) || next_number_ == UINT32_MAX) {
      ++counters_.tcp_accept_errors;
      ::close(descriptor);
      continue;
    }
    take_in(descriptor, peer, now, in);
  }
}

/// No descriptors are left. Who waited in the kernel for ever would not know why: accepts and closes.
/// @return false: nobody waits
bool TcpPort::refuse_one() {
  if (spare_ >= 0) ::close(spare_);
  const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor >= 0) ::close(descriptor);
  spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return descriptor >= 0;
}

void TcpPort::take_in(int descriptor, const PeerAddress& from, microseconds now, DatagramBatch& in) {
  const auto key = limit_key(from);
  while (const std::uint32_t oldest = strangers_.gives_way_to(key))
    close(*links_.at(oldest), TcpClose::displaced, in);
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kernel_unsent_bytes_max,
             sizeof kernel_unsent_bytes_max);

  PeerAddress peer = from;
  peer.link = next_number_;
  auto link = std::make_unique<Link>(descriptor, peer, limits_.queue_bytes_max);
  link->accepted_at = link->received_at = now;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = peer.link;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    ++counters_.tcp_accept_errors;
    return;
  }
  ++next_number_;
  ++counters_.tcp_accepted;
  strangers_.add(peer.link, key);
  links_.emplace(peer.link, std::move(link));
}

/// False: the connection is gone.
bool TcpPort::read(Link& link, microseconds now, DatagramBatch& in) {
  std::size_t budget = player_bytes_per_poll_max;
  if (link.stranger) budget = std::min(stranger_bytes_per_poll_max, strangers_budget_);
  if (budget == 0) return true;
  const ssize_t size = recv(link.descriptor, read_buffer_.data(), budget, MSG_DONTWAIT);
  if (size < 0 && (errno == EINTR || would_block(errno))) return true;
  if (size <= 0) {
    if (!link.closing) in.add_closed(link.peer);  // after its packets; the host knows what it closed itself
    remove(link.peer.link);
    return false;
  }
  if (link.stranger) strangers_budget_ -= static_cast<std::size_t>(size);
  link.received_at = now;
  if (link.closing) return true;  // read and discarded, so that closing sends no reset
  bool tiny = false;
  const bool whole = link.deframer.feed({read_buffer_.data(), static_cast<std::size_t>(size)},
                                        [&](std::span<const std::uint8_t> packet) {
                                          tiny = tiny || packet.size() < packet_bytes_min;
                                          if (tiny) return;
                                          in.add(link.peer, packet);
                                          ++counters_.datagrams_in;
                                          counters_.bytes_in += packet.size();
                                        });
  if (whole && !tiny) return true;
  close(link, tiny ? TcpClose::tiny_frame : TcpClose::bad_frame, in);
  return false;
}

void TcpPort::note_close(const PeerAddress& peer, TcpClose why) {
  switch (why) {
    case TcpClose::bad_frame: ++counters_.tcp_closed_bad_frame; break;
    case TcpClose::tiny_frame: ++counters_.tcp_closed_tiny_frame; break;
    case TcpClose::unanswered: ++counters_.tcp_closed_unanswered; break;
    case TcpClose::idle: ++counters_.tcp_closed_idle; break;
    case TcpClose::slow: ++counters_.tcp_closed_slow; break;
    case TcpClose::displaced: ++counters_.tcp_closed_displaced; break;
    case TcpClose::failed: break;
  }
  if (closes_.size() < closes_kept_max) closes_.push_back({peer, why});
}

/// Ends it at once and tells the host, which may not know yet.
void TcpPort::close(Link& link, TcpClose why, DatagramBatch& in) {
  if (!link.closing) {
    note_close(link.peer, why);
    in.add_closed(link.peer);
  }
  remove(link.peer.link);
}

void TcpPort::watch(Link& link) {
  const bool wants_room = !link.queue.empty();
  if (wants_room == link.waits_for_room) return;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  if (wants_room) event.events |= EPOLLOUT;
  event.data.u64 = link.peer.link;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, link.descriptor, &event) == 0) link.waits_for_room = wants_room;
}

/// False: the connection is gone.
bool TcpPort::flush(Link& link) {
  while (!link.queue.empty()) {
    const auto bytes = link.queue.front();
    const ssize_t sent = ::send(link.descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (!would_block(errno)) return false;
      break;
    }
    link.queue.pop(static_cast<std::size_t>(sent));
  }
  if (link.queue.empty() && link.closing && !link.finished) {
    shutdown(link.descriptor, SHUT_WR);
    link.finished = true;
  }
  watch(link);
  return true;
}

void TcpPort::start_closing(Link& link, microseconds now) {
  if (link.closing) return;
  link.closing = true;
  link.closing_at = now;
  if (link.stranger) return;
  link.stranger = true;
  strangers_.add(link.peer.link, limit_key(link.peer));
}

void TcpPort::remove(std::uint32_t number) {
  strangers_.remove(number);
  links_.erase(number);
}

void TcpPort::poll(microseconds now, DatagramBatch& in) {
  for (const PeerAddress& peer : ended_) in.add_closed(peer);
  ended_.clear();
  closes_.clear();
  strangers_budget_ = strangers_bytes_per_poll_max;

  epoll_event events[events_per_poll_max];
  const int waiting = epoll_wait(epoll_, events, events_per_poll_max, 0);
  const std::size_t ready = waiting > 0 ? static_cast<std::size_t>(waiting) : 0;
  const std::size_t first = first_turn_;
  for (std::size_t turn = 0; turn < ready; ++turn) {
    if (strangers_budget_ > 0) first_turn_ = first + turn;  // who got nothing is first next time
    const epoll_event& event = events[(first + turn) % ready];
    if (event.data.u64 == listener_tag) {
      accept(now, in);
      continue;
    }
    const auto found = links_.find(static_cast<std::uint32_t>(event.data.u64));
    if (found == links_.end()) continue;
    Link& link = *found->second;
    if ((event.events & EPOLLOUT) != 0 && !flush(link)) {
      close(link, TcpClose::failed, in);
      continue;
    }
    if ((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) read(link, now, in);
  }
  if (strangers_budget_ > 0) first_turn_ = first + 1;
  if (now >= next_sweep_) sweep(now, in);
}

void TcpPort::sweep(microseconds now, DatagramBatch& in) {
  next_sweep_ = now + sweep_every;
  to_close_.clear();
  for (const auto& [number, link] : links_) {
    if (link->closing) {
      if (now - link->closing_at > limits_.drain_max) to_close_.push_back({link->peer, TcpClose::slow});
    } else if (!link->queue.empty() && now - link->waits_since > limits_.backlog_max) {
      to_close_.push_back({link->peer, TcpClose::slow});
    } else if (!link->answered && now - link->accepted_at > limits_.unanswered_max) {
      to_close_.push_back({link->peer, TcpClose::unanswered});
    } else if (now - link->received_at > limits_.idle_max) {
      to_close_.push_back({link->peer, TcpClose::idle});
    }
  }
  std::ranges::sort(to_close_, {}, [](const TcpClosed& closed) { return closed.peer.link; });
  for (const TcpClosed& closed : to_close_) close(*links_.at(closed.peer.link), closed.why, in);
}

TcpPort::Link* TcpPort::open_link(const PeerAddress& peer) {
  if (peer.transport != Transport::tcp) return nullptr;
  const auto found = links_.find(peer.link);
  return found == links_.end() || found->second->closing ? nullptr : found->second.get();
}

void TcpPort::send(microseconds now, const DatagramBatch& out) {
  to_flush_.clear();
  for (const PeerAddress& peer : out.closed())
    if (Link* link = open_link(peer); link != nullptr) link->last_words = true;
  for (const DatagramBatch::Entry& entry : out.entries()) {
    Link* link = open_link(entry.peer);
    if (link == nullptr || entry.size == 0) continue;
    const bool waited = !link->queue.empty();
    if (!link->queue.push(frame_prefix(entry.size), out.bytes(entry), link->last_words)) {
      ++counters_.tcp_send_full;
      continue;
    }
    if (!waited) link->waits_since = now;
    link->answered = true;
    ++counters_.datagrams_out;
    counters_.bytes_out += entry.size;
    if (!link->touched) {
      link->touched = true;
      to_flush_.push_back(entry.peer.link);
    }
  }
  for (const PeerAddress& peer : out.admitted()) {
    Link* link = open_link(peer);
    if (link == nullptr || !link->stranger) continue;
    link->stranger = false;
    strangers_.remove(peer.link);
  }
  for (const PeerAddress& peer : out.closed()) {
    Link* link = open_link(peer);
    if (link == nullptr) continue;
    start_closing(*link, now);
    if (!link->touched) to_flush_.push_back(peer.link);
  }
  for (const std::uint32_t number : to_flush_) {
    Link& link = *links_.at(number);
    link.touched = false;
    if (flush(link)) continue;
    if (!link.closing) {
      ended_.push_back(link.peer);
      note_close(link.peer, TcpClose::failed);
    }
    remove(number);
  }
}

bool TcpPort::flushed() const {
  return std::all_of(links_.begin(), links_.end(),
                     [](const auto& link) { return link.second->queue.empty(); });
}

}  // namespace ashlar::server
