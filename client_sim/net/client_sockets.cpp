#include "client_sim/net/client_sockets.h"

#include <algorithm>
#include <utility>

namespace ashlar::client_sim {
namespace {

void add(SocketCounters& sum, const SocketCounters& more) {
  sum.send_full += more.send_full;
  sum.send_errors += more.send_errors;
  sum.dropped_long += more.dropped_long;
  sum.broken_streams += more.broken_streams;
}

}  // namespace

std::expected<ClientSockets, std::string> ClientSockets::open(const PeerAddress& server) {
  ClientSockets out;
  if (server.transport == Transport::tcp) return out;
  auto socket = ClientSocket::open(server);
  if (!socket) return std::unexpected(std::move(socket.error()));
  out.ways_.push_back({server, std::move(*socket)});
  return out;
}

std::expected<ClientSockets, std::string> ClientSockets::open(std::span<const PeerAddress> addresses) {
  auto out = open(addresses.front());
  for (std::size_t i = 1; !out && i < addresses.size(); ++i)
    if (auto other = open(addresses[i])) return other;
  return out;
}

void ClientSockets::remove(std::size_t index) {
  add(gone_, ways_[index].socket.counters());
  ways_.erase(ways_.begin() + static_cast<std::ptrdiff_t>(index));
}

void ClientSockets::open_way(const PeerAddress& peer) {
  if (std::ranges::find(ways_, peer, &Way::peer) != ways_.end()) return;
  auto socket = ClientSocket::open(peer);
  if (!socket) {
    if (std::ranges::find(unopened_, peer) == unopened_.end()) unopened_.push_back(peer);
    return;
  }
  if (ways_.size() == sockets_max) {
    // The oldest, one that is done with before all others: the first one may be the session's.
    const auto over = std::ranges::find(ways_, true, &Way::closing);
    remove(over == ways_.end() ? 0 : static_cast<std::size_t>(over - ways_.begin()));
  }
  ways_.push_back({peer, std::move(*socket)});
}

void ClientSockets::receive(DatagramBatch& in) {
  for (const PeerAddress& peer : std::exchange(unopened_, {})) in.add_closed(peer);
  for (std::size_t i = 0; i < ways_.size();) {
    const std::size_t closed = in.closed().size();
    ways_[i].socket.receive(in);
    if (in.closed().size() > closed)
      remove(i);
    else
      ++i;
  }
}

void ClientSockets::send(const DatagramBatch& out) {
  const PeerAddress* before = nullptr;
  for (const DatagramBatch::Entry& entry : out.entries()) {
    if (before == nullptr || *before != entry.peer) open_way(entry.peer);
    before = &entry.peer;
  }
  // Each takes what is its own, and sends what waited.
  for (Way& way : ways_) {
    if (std::ranges::find(out.closed(), way.peer) != out.closed().end()) way.closing = true;
    way.socket.send(out);
  }
  for (std::size_t i = ways_.size(); i > 0; --i)
    if (ways_[i - 1].closing && ways_[i - 1].socket.idle()) remove(i - 1);
}

std::expected<void, std::string> ClientSockets::roam() {
  std::string trouble;
  bool any = false;
  for (Way& way : ways_) {
    if (way.peer.transport != Transport::udp) continue;
    auto socket = ClientSocket::open(way.peer);
    if (!socket) {  // perhaps an address that was tried and left, of a kind that the new network has none of
      trouble = std::move(socket.error());
      continue;
    }
    any = true;
    add(gone_, way.socket.counters());
    way.socket = std::move(*socket);
  }
  if (!any && !trouble.empty()) return std::unexpected(std::move(trouble));
  return {};
}

SocketCounters ClientSockets::counters() const {
  SocketCounters sum = gone_;
  for (const Way& way : ways_) add(sum, way.socket.counters());
  return sum;
}

std::uint16_t ClientSockets::local_port() const {
  return ways_.empty() ? std::uint16_t{0} : ways_.back().socket.local_port();
}

}  // namespace ashlar::client_sim
