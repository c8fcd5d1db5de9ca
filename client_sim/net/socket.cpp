#include "client_sim/net/socket.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace ashlar::client_sim {
namespace {

constexpr std::uint16_t default_port = 7777;
// A call that finds more than this in a socket leaves the rest for the next one: other clients wait.
constexpr int datagrams_per_call_max = 256;

}  // namespace

std::expected<std::vector<PeerAddress>, std::string> resolve_addresses(std::string_view text,
                                                                       Transport transport) {
  const std::string whole(text);
  const auto fail = [&](const std::string& why) {
    return std::unexpected("no server address in '" + whole + "': " + why +
                           "; give HOST:PORT, like 127.0.0.1:7777 or [::1]:7777");
  };
  std::string host = whole;
  std::string port_text;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string::npos) return fail("the bracket is not closed");
    const std::string rest = host.substr(end + 1);
    host = host.substr(1, end - 1);
    if (!rest.empty() && rest.front() != ':') return fail("there is something behind the bracket");
    if (!rest.empty()) port_text = rest.substr(1);
    if (!rest.empty() && port_text.empty()) return fail("the port is missing");
  } else if (const std::size_t colon = host.rfind(':');
             colon != std::string::npos && host.find(':') == colon) {
    port_text = host.substr(colon + 1);
    host = host.substr(0, colon);
    if (port_text.empty()) return fail("the port is missing");
  }
  if (host.empty()) return fail("the host is missing");
  std::uint16_t port = default_port;
  if (!port_text.empty()) {
    const char* end = port_text.data() + port_text.size();
    const auto [stopped, error] = std::from_chars(port_text.data(), end, port);
    if (error != std::errc{} || stopped != end || port == 0)
      return fail("the port is not a number of 1 to 65535");
  }

  auto addresses = look_up_host(host);
  if (!addresses) return fail(addresses.error());
  for (PeerAddress& peer : *addresses) peer.port = port, peer.transport = transport;
  return std::move(*addresses);
}

std::expected<PeerAddress, std::string> resolve_server(std::string_view text, Transport transport) {
  auto addresses = resolve_addresses(text, transport);
  if (!addresses) return std::unexpected(std::move(addresses.error()));
  return addresses->front();
}

std::expected<void, std::string> allow_sockets(std::size_t sockets) { return raise_socket_limit(sockets); }

std::expected<ClientSocket, std::string> ClientSocket::open(const PeerAddress& server) {
  auto socket = connect_system_socket(server);
  if (!socket) return std::unexpected(std::move(socket.error()));
  return ClientSocket(*socket, server);
}

ClientSocket::ClientSocket(ClientSocket&& other) noexcept
    : socket_(std::exchange(other.socket_, no_socket)),
      server_(other.server_),
      failed_(other.failed_),
      told_closed_(other.told_closed_),
      deframer_(other.deframer_),
      queue_(std::move(other.queue_)),
      queue_sent_(other.queue_sent_),
      counters_(other.counters_) {}

ClientSocket& ClientSocket::operator=(ClientSocket&& other) noexcept {
  if (this == &other) return *this;
  close();
  socket_ = std::exchange(other.socket_, no_socket);
  server_ = other.server_;
  failed_ = other.failed_;
  told_closed_ = other.told_closed_;
  deframer_ = other.deframer_;
  queue_ = std::move(other.queue_);
  queue_sent_ = other.queue_sent_;
  counters_ = other.counters_;
  return *this;
}

ClientSocket::~ClientSocket() { close(); }

void ClientSocket::close() {
  if (socket_ != no_socket) close_system_socket(std::exchange(socket_, no_socket));
}

void ClientSocket::receive(DatagramBatch& in) {
  if (socket_ == no_socket) return;
  server_.transport == Transport::tcp ? receive_stream(in) : receive_datagrams(in);
  if (failed_ && !told_closed_) {
    told_closed_ = true;
    in.add_closed(server_);
    close();
  }
}

void ClientSocket::receive_datagrams(DatagramBatch& in) {
  alignas(8) std::array<std::uint8_t, datagram_bytes_max> buffer;
  for (int i = 0; i < datagrams_per_call_max; ++i) {
    const SocketResult got = receive_datagram(socket_, buffer);
    if (got.trouble == SocketTrouble::too_long) {
      ++counters_.dropped_long;
      continue;
    }
    if (got.trouble != SocketTrouble::none) {
      // An earlier datagram met nobody: the client's own timeouts decide what that means.
      if (got.trouble == SocketTrouble::refused) ++counters_.send_errors;
      return;
    }
    in.add(server_, {buffer.data(), got.bytes});
  }
}

void ClientSocket::receive_stream(DatagramBatch& in) {
  std::array<std::uint8_t, 16 * 1024> buffer;
  for (int i = 0; i < datagrams_per_call_max; ++i) {
    const SocketResult got = receive_bytes(socket_, buffer);
    if (got.trouble == SocketTrouble::wait) return;
    if (got.trouble != SocketTrouble::none || got.bytes == 0) return fail();
    const auto sink = [&](std::span<const std::uint8_t> packet) { in.add(server_, packet); };
    if (!deframer_.feed({buffer.data(), got.bytes}, sink)) {
      ++counters_.broken_streams;
      return fail();
    }
    if (got.bytes < buffer.size()) return;
  }
}

void ClientSocket::flush() {
  while (queue_sent_ < queue_.size()) {
    const SocketResult sent = send_bytes(socket_, std::span<const std::uint8_t>(queue_).subspan(queue_sent_));
    if (sent.trouble == SocketTrouble::wait) return;
    if (sent.trouble != SocketTrouble::none) return fail();
    queue_sent_ += sent.bytes;
  }
  queue_.clear();
  queue_sent_ = 0;
}

void ClientSocket::send(const DatagramBatch& out) {
  if (socket_ == no_socket || failed_) return;
  for (const DatagramBatch::Entry& entry : out.entries()) {
    if (entry.peer != server_) continue;
    const auto bytes = out.bytes(entry);
    if (server_.transport == Transport::tcp) {
      if (bytes.empty()) continue;  // a frame of length 0 would break the stream
      if (queue_.size() - queue_sent_ + bytes.size() + frame_prefix_bytes > queue_bytes_max) {
        ++counters_.send_full;
        continue;
      }
      const auto prefix = frame_prefix(bytes.size());
      queue_.insert(queue_.end(), prefix.begin(), prefix.end());
      queue_.insert(queue_.end(), bytes.begin(), bytes.end());
      continue;
    }
    const SocketResult sent = send_bytes(socket_, bytes);
    if (sent.trouble == SocketTrouble::none) continue;
    ++(sent.trouble == SocketTrouble::wait ? counters_.send_full : counters_.send_errors);
  }
  if (server_.transport == Transport::tcp) {
    flush();
    // What was sent of a long queue is cut off now and then, so that it stays within its bound.
    if (queue_sent_ > queue_bytes_max / 2) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(queue_sent_));
      queue_sent_ = 0;
    }
  }
}

std::uint16_t ClientSocket::local_port() const {
  return socket_ == no_socket ? std::uint16_t{0} : system_socket_port(socket_);
}

}  // namespace ashlar::client_sim
