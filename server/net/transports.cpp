#include "server/net/transports.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/net/send_thread.h"
#include "server/net/socket_setup.h"
#include "server/net/udp.h"
#include "server/net/udp_sender.h"

namespace ashlar::server {
namespace {

using std::chrono::microseconds;

// One input of about 100 bytes occupies about 800 in the kernel's accounting: measured on Linux 6.
constexpr std::size_t input_kernel_bytes = 800;
constexpr std::size_t receive_buffer_bytes_min = 1024 * 1024;
constexpr std::size_t receive_buffer_bytes_max = 256 * 1024 * 1024;
constexpr microseconds drops_every = std::chrono::seconds(1);

}  // namespace

std::size_t receive_buffer_bytes_for(std::uint32_t clients_max, std::uint16_t tick_rate_hz) {
  const std::size_t ticks = std::max<std::size_t>(3, tick_rate_hz / 20u);
  return std::clamp(clients_max * ticks * input_kernel_bytes, receive_buffer_bytes_min,
                    receive_buffer_bytes_max);
}

struct Transports::Impl {
  Impl(std::unique_ptr<asio::io_context> io_in, ListenSockets&& sockets_in, const TransportConfig& config)
      : io(std::move(io_in)),
        sockets(std::move(sockets_in)),
        udp(sockets.udp.native_handle(), counters),
        sender(sockets.udp.native_handle(), sockets.is_v6),
        tcp(sockets.tcp.native_handle(), config.tcp, counters) {
    if (config.send_thread) beside.emplace([this](const DatagramBatch& out) { sender.send(out); });
  }

  void send(microseconds now, DatagramBatch& out, bool early);

  /// Those of the sender beside our own.
  const TransportCounters& all_counters() {
    const UdpSendCounters& sent = sender.counters();
    told = counters;
    told.datagrams_out += sent.datagrams.load(std::memory_order_relaxed);
    told.bytes_out += sent.bytes.load(std::memory_order_relaxed);
    told.udp_send_full += sent.full.load(std::memory_order_relaxed);
    told.udp_send_errors += sent.errors.load(std::memory_order_relaxed);
    told.udp_bursts_refused += sent.bursts_refused.load(std::memory_order_relaxed);
    return told;
  }

  std::unique_ptr<asio::io_context> io;  // never run, as everything is polled; the sockets live in it
  TransportCounters counters, told;
  ListenSockets sockets;
  UdpPort udp;
  UdpSender sender;
  TcpPort tcp;
  std::size_t receive_bytes = 0;
  std::size_t receive_bytes_wanted = 0;
  microseconds next_drops{0};
  std::optional<SendThread> beside;  // last: it uses the sender
};

Transports::Transports(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Transports::~Transports() = default;
Transports::Transports(Transports&&) noexcept = default;
Transports& Transports::operator=(Transports&&) noexcept = default;

std::expected<Transports, std::string> Transports::open(const TransportConfig& config) {
  auto io = std::make_unique<asio::io_context>(1);
  auto sockets = open_sockets(*io, config.listen, config.port);
  if (!sockets) return std::unexpected(std::move(sockets.error()));
  auto impl = std::make_unique<Impl>(std::move(io), std::move(*sockets), config);
  if (!impl->tcp.good())
    return std::unexpected("the system refuses an epoll set: raise its limit of open files (ulimit -n)");
  impl->receive_bytes_wanted = receive_buffer_bytes_for(config.clients_max, config.tick_rate_hz);
  impl->receive_bytes = impl->udp.size_receive_buffer(impl->receive_bytes_wanted);
  return Transports(std::move(impl));
}

void Transports::poll(microseconds now, DatagramBatch& in) {
  impl_->udp.receive(in);
  impl_->tcp.poll(now, in);
  if (now >= impl_->next_drops) {
    impl_->next_drops = now + drops_every;
    impl_->udp.read_kernel_drops();
  }
}

void Transports::Impl::send(microseconds now, DatagramBatch& out, bool early) {
  if (!beside) {
    sender.send(out);
    return tcp.send(now, out);
  }
  tcp.send(now, out);
  const auto datagrams = std::ranges::count(out.entries(), Transport::udp,
                                            [](const auto& entry) { return entry.peer.transport; });
  if (datagrams == 0 || beside->hand_over(out, early)) return;
  counters.udp_send_full += static_cast<std::uint64_t>(datagrams);
}

void Transports::send(microseconds now, DatagramBatch& out) { impl_->send(now, out, false); }

void Transports::send_early(microseconds now, DatagramBatch& out) {
  if (impl_->beside && !impl_->beside->keeps_up()) return;
  impl_->send(now, out, true);
  out.clear();
}

bool Transports::flushed() const { return impl_->tcp.flushed() && (!impl_->beside || impl_->beside->idle()); }
std::uint64_t Transports::take_longest_send_ns() {
  return impl_->beside ? impl_->beside->take_longest_ns() : 0;
}
std::uint16_t Transports::port() const { return impl_->sockets.port; }
std::size_t Transports::tcp_connections() const { return impl_->tcp.connection_count(); }
std::size_t Transports::tcp_strangers() const { return impl_->tcp.stranger_count(); }
std::span<const TcpClosed> Transports::tcp_closes() const { return impl_->tcp.closes(); }
const TransportCounters& Transports::counters() const { return impl_->all_counters(); }
std::size_t Transports::receive_buffer_bytes() const { return impl_->receive_bytes; }
std::size_t Transports::receive_buffer_bytes_wanted() const { return impl_->receive_bytes_wanted; }

}  // namespace ashlar::server
