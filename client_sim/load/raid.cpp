#include "client_sim/load/raid.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "client_sim/net/socket.h"
#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/version.h"
#include "world/math/random.h"

namespace ashlar::client_sim {
namespace {

constexpr std::array<std::string_view, raid_kind_count> raid_names{"tiny-frames", "idle", "churn", "garbage",
                                                                   "spoofed-leave"};
constexpr Micros raid_second{1'000'000};
constexpr Micros reconnect_every{4'500'000};
constexpr Micros answer_patience{500'000};
constexpr std::int64_t made_up_for{20};  // what is due of so many milliseconds at most
constexpr std::size_t learned_max = 16;
constexpr std::uint64_t spoofs_per_s = 50;  // rounds over all victims and ids

bool on_loopback(const PeerAddress& peer) { return peer.ip[10] == 0xff && peer.ip[12] == 127; }

sockaddr_in native(const PeerAddress& peer) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(peer.port);
  std::memcpy(&out.sin_addr, peer.ip.data() + 12, 4);
  return out;
}

/// A non-blocking socket on its way to the server, from an address of its own on the loopback; -1: none.
int connected(const PeerAddress& server, int type, std::uint32_t address) {
  const int descriptor = ::socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  if (on_loopback(server)) {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl(0x7f000002u + address);
    (void)::bind(descriptor, reinterpret_cast<const sockaddr*>(&from), sizeof from);
  }
  const sockaddr_in to = native(server);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 || errno == EINPROGRESS)
    return descriptor;
  ::close(descriptor);
  return -1;
}

}  // namespace

std::string_view name(RaidKind kind) { return raid_names[static_cast<std::size_t>(kind)]; }

std::optional<RaidKind> raid_kind(std::string_view wanted) {
  const auto found = std::ranges::find(raid_names, wanted);
  if (found == raid_names.end()) return std::nullopt;
  return static_cast<RaidKind>(found - raid_names.begin());
}

struct Raid::Impl {
  struct Peer {
    int socket = -1;
    std::uint32_t address = 0;
    Micros opened{0}, next{0}, asked{0};
    // Churn: how far the present session has come.
    std::uint64_t nonce = 0;
    std::uint32_t connection = 0;
    std::uint64_t sequence = 0;
    bool joined = false;
  };

  explicit Impl(const RaidOptions& given) : options(given), rng(rng_for(given.seed, 0x4a1d)) {}
  ~Impl() {
    for (const Peer& peer : peers) close(peer.socket);
    close(raw);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  static void close(int socket) {
    if (socket >= 0) ::close(socket);
  }

  void reopen(Peer& peer, int type, Micros now) {
    close(peer.socket);
    peer.socket = connected(options.server, type, peer.address);
    peer.opened = now;
  }
  bool send(Peer& peer, std::span<const std::uint8_t> bytes) {
    return ::send(peer.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  bool ended(Peer& peer) {
    std::uint8_t bytes[512];
    const ssize_t size = ::recv(peer.socket, bytes, sizeof bytes, MSG_DONTWAIT);
    return size == 0 ||
           (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ENOTCONN);
  }
  /// How many are due of so many a second, and when the next is.
  std::int64_t due(Peer& peer, std::uint64_t per_s, Micros now) {
    const Micros period{std::max<std::int64_t>(1, raid_second.count() / static_cast<std::int64_t>(per_s))};
    peer.next = std::max(peer.next, now - Micros{1000 * made_up_for});
    if (peer.next > now) return 0;
    const std::int64_t count = (now - peer.next) / period + 1;
    peer.next += count * period;
    return count;
  }

  void tiny_frames(Peer& peer, Micros now) {
    if (now < peer.next) return;
    if (peer.socket < 0 || now - peer.opened > reconnect_every || ended(peer)) {
      reopen(peer, SOCK_STREAM, now);
      peer.next = now + Micros{5'000};
      return;
    }
    static const std::vector<std::uint8_t> frames = [] {
      std::vector<std::uint8_t> bytes;
      for (int i = 0; i < 21'000; ++i) bytes.insert(bytes.end(), {1, 0, 42});
      return bytes;
    }();
    if (allowance.size() < peers.size()) allowance.resize(peers.size());
    Micros& last = allowance[static_cast<std::size_t>(&peer - peers.data())];
    const auto elapsed = std::min<std::int64_t>((now - last).count(), 1000 * made_up_for);
    const auto bytes = std::min<std::size_t>(
        frames.size(), static_cast<std::size_t>(elapsed * options.per_s / 1000) / 3 * 3);
    last = now;
    const ssize_t taken = bytes == 0 ? 0 : ::send(peer.socket, frames.data(), bytes, MSG_NOSIGNAL);
    if (taken > 0) sent += static_cast<std::uint64_t>(taken) / 3;
  }

  void idle(Peer& peer, Micros now) {
    if (peer.socket >= 0 && !ended(peer)) return;
    close(peer.socket);
    peer.socket = -1;
    if (due(pace, options.per_s, now) == 0) return;
    reopen(peer, SOCK_STREAM, now);
    sent += peer.socket >= 0 ? 1 : 0;
  }

  void garbage(Peer& peer, Micros now) {
    if (peer.socket < 0) reopen(peer, SOCK_DGRAM, now);
    std::array<std::uint8_t, datagram_bytes_max> bytes;
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      const std::uint64_t word = rng.next_u64();
      std::memcpy(bytes.data() + i, &word, 8);
    }
    bytes[0] = protocol_version + 5;
    for (std::int64_t i = due(peer, options.per_s, now); i > 0; --i) sent += send(peer, bytes) ? 1 : 0;
    while (::recv(peer.socket, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
  }

  PacketHeader header(Peer& peer) const {
    PacketHeader out;
    out.connection = peer.connection;
    out.sequence = ++peer.sequence;
    return out;
  }

  /// Hello, join and leave, each as soon as the one before was answered.
  /// @param joins  else it leaves when it is welcomed
  void churn(Peer& peer, Micros now, bool joins) {
    if (peer.socket < 0) reopen(peer, SOCK_DGRAM, now);
    alignas(8) std::array<std::uint8_t, datagram_bytes_max> bytes;
    for (ssize_t size = 0; (size = ::recv(peer.socket, bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0;) {
      const auto packet = decode_packet({bytes.data(), static_cast<std::size_t>(size)});
      const auto message = packet ? decode_server_message(packet->payload) : std::unexpected(packet.error());
      if (message) answer(peer, *message, joins);
    }
    const bool idle = peer.nonce == 0 || now - peer.asked > answer_patience;
    if (due(peer, options.per_s, now) == 0 || !idle) return;
    peer.nonce = rng.next_u64() | 1;
    peer.connection = 0;
    peer.sequence = 0;
    peer.joined = false;
    peer.asked = now;
    sent += send(peer, writer.write(header(peer), Hello{protocol_version, peer.nonce,
                                                        "raid " + std::to_string(rng.below(1000)), ""}))
                ? 1
                : 0;
  }

  void answer(Peer& peer, const ServerMessage& message, bool joins) {
    if (const auto* welcome = std::get_if<Welcome>(&message);
        welcome != nullptr && welcome->nonce == peer.nonce && peer.connection == 0) {
      peer.connection = welcome->connection;
      learn(peer.connection);
      if (!joins) return leave(peer);
      Join join;
      for (const WelcomeMap& map : welcome->maps) join.content[join.content_count++] = map.content_hash;
      for (const WelcomeProp& prop : welcome->props) join.content[join.content_count++] = prop.content_hash;
      send(peer, writer.write(header(peer), join));
    } else if (std::holds_alternative<SnapshotPart>(message) && peer.connection != 0) {
      leave(peer);
    } else if (const auto* refuse = std::get_if<Refuse>(&message);
               refuse != nullptr && refuse->nonce == peer.nonce) {
      peer.nonce = 0;
    }
  }
  void leave(Peer& peer) {
    send(peer, writer.write(header(peer), Leave{LeaveReason::quit}));
    peer.nonce = 0;
    peer.connection = 0;
  }

  void learn(std::uint32_t connection) {
    if (learned.size() < learned_max) return learned.push_back(connection);
    learned[learned_next++ % learned_max] = connection;
  }

  /// Ids that are a step of a fixed size apart, with a row in their low half, can be worked out from one's
  /// own.
  void spoofed_leave(Peer& peer, Micros now) {
    churn(peer, now, false);
    if (raw < 0) raw = ::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    if (raw < 0 || !on_loopback(options.server) || due(pace, spoofs_per_s, now) == 0) return;
    for (const std::uint16_t port : victims)
      for (const std::uint32_t own : learned)
        for (std::uint32_t step = 1; step <= 2; ++step) {
          PacketHeader out;
          out.connection = ((own >> 16) + step * 0x9e37u) << 16 | (own & 0xffffu);
          out.sequence = 900;
          send_as(port, writer.write(out, Leave{LeaveReason::quit}));
        }
  }

  void send_as(std::uint16_t port, std::span<const std::uint8_t> payload) {
    std::array<std::uint8_t, 256> bytes{};
    const std::size_t size = sizeof(iphdr) + sizeof(udphdr) + payload.size();
    if (size > bytes.size()) return;
    iphdr ip{};
    ip.version = 4;
    ip.ihl = 5;
    ip.ttl = 64;
    ip.protocol = IPPROTO_UDP;
    ip.tot_len = htons(static_cast<std::uint16_t>(size));
    ip.saddr = htonl(INADDR_LOOPBACK);
    const sockaddr_in to = native(options.server);
    ip.daddr = to.sin_addr.s_addr;
    udphdr udp{};
    udp.source = htons(port);
    udp.dest = to.sin_port;
    udp.len = htons(static_cast<std::uint16_t>(sizeof(udphdr) + payload.size()));
    std::memcpy(bytes.data(), &ip, sizeof ip);
    std::memcpy(bytes.data() + sizeof ip, &udp, sizeof udp);
    std::ranges::copy(payload, bytes.begin() + sizeof ip + sizeof udp);
    const ssize_t taken =
        ::sendto(raw, bytes.data(), size, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    sent += taken > 0 ? 1 : 0;
  }

  RaidOptions options;
  Rng rng;
  MessageWriter writer;
  std::vector<Peer> peers;
  std::vector<Micros> allowance;  // tiny frames: when each peer last sent
  Peer pace;                      // of all together
  std::vector<std::uint32_t> learned;
  std::size_t learned_next = 0;
  std::vector<std::uint16_t> victims;
  int raw = -1;
  std::uint64_t sent = 0;
};

Raid::Raid(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Raid::Raid(Raid&&) noexcept = default;
Raid& Raid::operator=(Raid&&) noexcept = default;
Raid::~Raid() = default;

std::expected<Raid, std::string> Raid::open(const RaidOptions& options) {
  if (options.server.ip[10] != 0xff)
    return std::unexpected("raids go to IPv4 addresses: give the server's, like 127.0.0.1:7777");
  if (auto room = allow_sockets(options.peers); !room) return std::unexpected(room.error());
  auto impl = std::make_unique<Impl>(options);
  impl->peers.resize(options.peers);
  for (std::uint32_t i = 0; i < options.peers; ++i)
    impl->peers[i].address = i % std::max(1u, options.addresses);
  return Raid(std::move(impl));
}

void Raid::turn(Micros now) {
  for (Impl::Peer& peer : impl_->peers) {
    switch (impl_->options.kind) {
      case RaidKind::tiny_frames: impl_->tiny_frames(peer, now); break;
      case RaidKind::idle: impl_->idle(peer, now); break;
      case RaidKind::churn: impl_->churn(peer, now, true); break;
      case RaidKind::garbage: impl_->garbage(peer, now); break;
      case RaidKind::spoofed_leave: impl_->spoofed_leave(peer, now); break;
    }
  }
}

void Raid::set_victims(std::span<const std::uint16_t> ports) {
  impl_->victims.assign(ports.begin(), ports.end());
}

std::uint64_t Raid::sent() const { return impl_->sent; }

}  // namespace ashlar::client_sim
