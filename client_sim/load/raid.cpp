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

#include "client_sim/brains/false_player.h"
#include "client_sim/brains/intruder.h"
#include "client_sim/client/client.h"
#include "client_sim/net/socket.h"
#include "protocol/little_endian.h"
#include "protocol/version.h"
#include "world/math/random.h"

namespace ashlar::client_sim {
namespace {

constexpr std::array<std::string_view, raid_kind_count> raid_names{
    "tiny-frames",     "idle",   "churn",   "garbage", "hellos",
    "half-handshakes", "inside", "spoofed", "deaf",    "liars"};
constexpr Micros raid_second{1'000'000};
constexpr Micros reconnect_every{4'500'000};
constexpr Micros churn_patience{2'000'000};
constexpr std::size_t spoofed_bytes = 128;
constexpr std::int64_t made_up_for{20};  // what is due of so many milliseconds at most

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
    std::unique_ptr<Client> player;      // churn: the present one
    std::unique_ptr<Intruder> intruder;  // of those who speak the handshake
    std::unique_ptr<FalsePlayer> false_player;
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

  /// What came over a UDP socket, as from the server.
  const DatagramBatch& arrived(Peer& peer) {
    in.clear();
    std::array<std::uint8_t, datagram_bytes_max> bytes;
    for (ssize_t size = 0; (size = ::recv(peer.socket, bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0;)
      in.add(options.server, {bytes.data(), static_cast<std::size_t>(size)});
    return in;
  }
  void send_all(Peer& peer) {
    for (const DatagramBatch::Entry& entry : out.entries()) send(peer, out.bytes(entry));
  }

  /// A player that says it holds whatever there is, and goes as soon as it is in.
  std::unique_ptr<Client> newcomer() {
    ClientConfig config;
    config.server = options.server;
    config.name = "raid " + std::to_string(rng.below(1000));
    config.seed = secure::SeededEntropy(rng.next_u64()).secret();
    config.content = [](const WelcomeMap& map) { return std::optional(map.content_hash); };
    config.prop_content = [](const WelcomeProp& prop) { return std::optional(prop.content_hash); };
    return std::make_unique<Client>(std::move(config));
  }
  void churn(Peer& peer, Micros now) {
    if (peer.socket < 0) reopen(peer, SOCK_DGRAM, now);
    const bool over = peer.player == nullptr || peer.player->ended() || now - peer.asked > churn_patience;
    if (due(peer, options.per_s, now) > 0 && over) {
      peer.player = newcomer();
      peer.asked = now;
      ++sent;
    }
    if (peer.player == nullptr) return;
    const bool in_the_world = peer.player->state() == ClientState::playing;
    if (in_the_world) peer.player->leave();
    out.clear();
    peer.player->advance(now, arrived(peer), out);
    send_all(peer);
    if (in_the_world) peer.player.reset();  // it said goodbye once; the next one waits for nothing
  }

  void intrude(Peer& peer, Micros now, IntruderAim aim) {
    if (peer.socket < 0) reopen(peer, SOCK_DGRAM, now);
    if (peer.intruder == nullptr)
      peer.intruder = std::make_unique<Intruder>(rng.next_u64(), options.server, aim);
    out.clear();
    peer.intruder->advance(now, arrived(peer), out);
    for (std::int64_t i = due(peer, options.per_s, now); i > 0; --i)
      sent += peer.intruder->act(now, out) ? 1 : 0;
    send_all(peer);
  }

  void play_false(Peer& peer, Micros now, FalseAcks acks) {
    if (peer.socket < 0) reopen(peer, SOCK_DGRAM, now);
    if (peer.false_player == nullptr)
      peer.false_player = std::make_unique<FalsePlayer>(rng.next_u64(), options.server, acks);
    out.clear();
    const std::uint64_t before = peer.false_player->inputs();
    peer.false_player->advance(now, arrived(peer), out);
    sent += peer.false_player->inputs() - before;
    send_all(peer);
  }

  /// Garbage of the right looks, and copies of the looks alone: what a server must open to know it is none.
  void spoofed(Peer& peer, Micros now) {
    if (raw < 0) raw = ::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    if (raw < 0 || !on_loopback(options.server)) return;
    for (std::int64_t i = due(peer, options.per_s, now); i > 0 && !victims.empty(); --i) {
      const RaidVictim& victim = victims[rng.below(static_cast<std::uint32_t>(victims.size()))];
      std::array<std::uint8_t, spoofed_bytes> bytes;
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.next_u32());
      bytes[0] = protocol_version;
      bytes[1] =
          static_cast<std::uint8_t>(secure::sealed_type | (rng.below(2) == 0 ? secure::key_phase_bit : 0));
      put_little(&bytes[2], victim.connection);
      send_as(victim.port, bytes);
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
  DatagramBatch in, out;
  std::vector<Peer> peers;
  std::vector<Micros> allowance;  // tiny frames: when each peer last sent
  Peer pace;                      // of all together
  std::vector<RaidVictim> victims;
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
      case RaidKind::churn: impl_->churn(peer, now); break;
      case RaidKind::garbage: impl_->garbage(peer, now); break;
      case RaidKind::hellos: impl_->intrude(peer, now, IntruderAim::knock); break;
      case RaidKind::half_handshakes: impl_->intrude(peer, now, IntruderAim::half); break;
      case RaidKind::inside: impl_->intrude(peer, now, IntruderAim::inside); break;
      case RaidKind::spoofed: impl_->spoofed(peer, now); break;
      case RaidKind::deaf: impl_->play_false(peer, now, FalseAcks::none); break;
      case RaidKind::liars: impl_->play_false(peer, now, FalseAcks::random); break;
    }
  }
}

void Raid::set_victims(std::span<const RaidVictim> victims) {
  impl_->victims.assign(victims.begin(), victims.end());
}

std::uint64_t Raid::sent() const { return impl_->sent; }

}  // namespace ashlar::client_sim
