#include "server/net/tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "protocol/stream_frame.h"
#include "server/net/address.h"
#include "server/net/byte_queue.h"

namespace ashlar::server {
namespace {

using std::chrono::microseconds;

constexpr int accepts_per_poll_max = 64;
constexpr int events_per_poll_max = 1024;
constexpr microseconds sweep_every = std::chrono::milliseconds(100);
// More than this unsent in the kernel would only age there: the queue above it decides what to drop.
constexpr int kernel_unsent_bytes_max = 32 * 1024;
constexpr std::uint64_t listener_tag = 0;  // connections are numbered from 1

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

struct TcpPort::Link {
  Link(int descriptor_in, const PeerAddress& peer_in, std::size_t queue_bytes_max)
      : descriptor(descriptor_in), peer(peer_in), queue(queue_bytes_max) {}
  ~Link() { ::close(descriptor); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  int descriptor;
  PeerAddress peer;
  std::array<std::uint8_t, 16> limit_key{};
  StreamDeframer deframer;
  ByteQueue queue;
  microseconds accepted_at{0}, received_at{0}, closing_at{0};
  microseconds empty_at{0};     // when the queue was last empty
  bool answered = false;        // the host has sent something: no stranger any more
  bool closing = false;         // the host is done with it: send the rest, read and discard, close
  bool finished = false;        // closing, and our direction is shut: waiting for the peer to end
  bool touched = false;         // has new bytes from the send() that is running
  bool waits_for_room = false;  // epoll tells when the kernel takes more
};

TcpPort::TcpPort(int listener, const TcpLimits& limits, TransportCounters& counters)
    : listener_(listener), limits_(limits), counters_(counters), read_buffer_(read_bytes_per_poll_max) {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return;
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
  if (epoll_ >= 0) ::close(epoll_);
}

void TcpPort::accept(microseconds now) {
  for (int count = 0; count < accepts_per_poll_max; ++count) {
    sockaddr_storage from;
    socklen_t from_size = sizeof from;
    const int descriptor =
        accept4(listener_, reinterpret_cast<sockaddr*>(&from), &from_size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (!would_block(errno)) ++counters_.tcp_accept_errors;
      return;
    }
    PeerAddress peer;
    peer.transport = Transport::tcp;
    const bool known = from_native(from, peer);
    const auto key = limit_key(peer);
    const auto same_address = std::count_if(links_.begin(), links_.end(),
                                            [&](const auto& link) { return link.second->limit_key == key; });
    const bool total_full = links_.size() >= limits_.connections_max;
    const bool address_full = static_cast<std::uint64_t>(same_address) >= limits_.connections_per_address_max;
    // Numbers are never used twice: the last one of 2^32 stays unused and closes the door.
    if (!known || total_full || address_full || next_number_ == UINT32_MAX) {
      ++(address_full && !total_full ? counters_.tcp_refused_address : counters_.tcp_refused_total);
      ::close(descriptor);
      continue;
    }
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kernel_unsent_bytes_max,
               sizeof kernel_unsent_bytes_max);

    peer.link = next_number_;
    auto link = std::make_unique<Link>(descriptor, peer, limits_.queue_bytes_max);
    link->limit_key = key;
    link->accepted_at = link->received_at = link->empty_at = now;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.u64 = peer.link;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
      ++counters_.tcp_accept_errors;
      continue;
    }
    ++next_number_;
    ++counters_.tcp_accepted;
    links_.emplace(peer.link, std::move(link));
  }
}

TcpPort::Read TcpPort::read(Link& link, microseconds now, DatagramBatch& in) {
  const ssize_t size = recv(link.descriptor, read_buffer_.data(), read_buffer_.size(), MSG_DONTWAIT);
  if (size == 0) return Read::ended;
  if (size < 0) return errno == EINTR || would_block(errno) ? Read::open : Read::ended;
  link.received_at = now;
  if (link.closing) return Read::open;  // read and discarded, so that closing sends no reset
  const bool whole = link.deframer.feed({read_buffer_.data(), static_cast<std::size_t>(size)},
                                        [&](std::span<const std::uint8_t> packet) {
                                          in.add(link.peer, packet);
                                          ++counters_.datagrams_in;
                                          counters_.bytes_in += packet.size();
                                        });
  if (whole) return Read::open;
  ++counters_.tcp_closed_bad_frame;
  return Read::broken;
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
bool TcpPort::flush(Link& link, microseconds now) {
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
  if (link.queue.empty()) {
    link.empty_at = now;
    if (link.closing && !link.finished) {
      shutdown(link.descriptor, SHUT_WR);
      link.finished = true;
    }
  }
  watch(link);
  return true;
}

void TcpPort::start_closing(Link& link, microseconds now) {
  if (link.closing) return;
  link.closing = true;
  link.closing_at = now;
}

void TcpPort::remove(std::uint32_t number) { links_.erase(number); }

void TcpPort::poll(microseconds now, DatagramBatch& in) {
  for (const PeerAddress& peer : ended_) in.add_closed(peer);
  ended_.clear();

  epoll_event events[events_per_poll_max];
  const int ready = epoll_wait(epoll_, events, events_per_poll_max, 0);
  const std::uint64_t packets_before = counters_.datagrams_in;
  for (int index = 0; index < ready; ++index) {
    if (events[index].data.u64 == listener_tag) {
      accept(now);
      continue;
    }
    const auto number = static_cast<std::uint32_t>(events[index].data.u64);
    const auto found = links_.find(number);
    if (found == links_.end()) continue;
    Link& link = *found->second;
    const std::uint32_t what = events[index].events;
    bool gone = (what & EPOLLOUT) != 0 && !flush(link, now);
    if (!gone && (what & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
      // The bound is for all connections; what is left unread stays in the kernel, and the peer slows down.
      if (counters_.datagrams_in - packets_before >= packets_per_poll_max) continue;
      gone = read(link, now, in) != Read::open;
    }
    if (gone) {
      if (!link.closing) in.add_closed(link.peer);  // after its packets; the host knows what it closed itself
      remove(number);
    }
  }
  if (now >= next_sweep_) sweep(now, in);
}

void TcpPort::sweep(microseconds now, DatagramBatch& in) {
  next_sweep_ = now + sweep_every;
  to_remove_.clear();
  for (const auto& [number, link] : links_) {
    std::uint64_t* reason = nullptr;
    if (link->closing) {
      if (now - link->closing_at > limits_.drain_max) to_remove_.push_back(number);
      continue;
    }
    if (!link->queue.empty() && now - link->empty_at > limits_.backlog_max)
      reason = &counters_.tcp_closed_slow;
    else if (!link->answered && now - link->accepted_at > limits_.unanswered_max)
      reason = &counters_.tcp_closed_unanswered;
    else if (now - link->received_at > limits_.idle_max)
      reason = &counters_.tcp_closed_idle;
    if (reason == nullptr) continue;
    ++*reason;
    to_remove_.push_back(number);
  }
  std::sort(to_remove_.begin(), to_remove_.end());
  for (const std::uint32_t number : to_remove_) {
    const Link& link = *links_.at(number);
    if (!link.closing) in.add_closed(link.peer);
    remove(number);
  }
}

void TcpPort::send(microseconds now, const DatagramBatch& out) {
  to_flush_.clear();
  const auto open_link = [&](const PeerAddress& peer) -> Link* {
    if (peer.transport != Transport::tcp) return nullptr;
    const auto found = links_.find(peer.link);
    return found == links_.end() || found->second->closing ? nullptr : found->second.get();
  };
  for (const DatagramBatch::Entry& entry : out.entries()) {
    Link* link = open_link(entry.peer);
    if (link == nullptr || entry.size == 0) continue;
    if (!link->queue.push(frame_prefix(entry.size), out.bytes(entry))) {
      ++counters_.tcp_send_full;
      continue;
    }
    link->answered = true;
    ++counters_.datagrams_out;
    counters_.bytes_out += entry.size;
    if (!link->touched) {
      link->touched = true;
      to_flush_.push_back(entry.peer.link);
    }
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
    if (flush(link, now)) continue;
    if (!link.closing) ended_.push_back(link.peer);
    remove(number);
  }
}

bool TcpPort::flushed() const {
  return std::all_of(links_.begin(), links_.end(),
                     [](const auto& link) { return link.second->queue.empty(); });
}

}  // namespace ashlar::server
