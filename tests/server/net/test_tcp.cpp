#include <sys/resource.h>

#include <algorithm>

#include "server/net/byte_queue.h"
#include "server/net/tcp.h"
#include "tests/catch.h"
#include "tests/server/net/sockets.h"

namespace ashlar::server {

using namespace test;

namespace {

/// Text as a packet: nothing shorter than a header is one.
Bytes packet_of(const std::string& text) {
  Bytes bytes = bytes_of(text);
  bytes.resize(std::max(bytes.size(), TcpPort::packet_bytes_min));
  return bytes;
}

/// A connection that has said "hi", and what the transports call it.
struct Joined {
  Socket socket;
  PeerAddress peer;
};

Joined join(Transports& transports, const std::string& where = "127.0.0.1") {
  Socket socket = tcp_to(transports.port(), where);
  DatagramBatch in;
  if (!socket.send(framed(packet_of("hi")))) throw std::runtime_error("cannot send");
  if (!poll_until(transports, in, [&] { return !in.entries().empty(); }))
    throw std::runtime_error("nothing arrived");
  return {std::move(socket), in.entries()[0].peer};
}

/// Does the peer see the end of the stream?
bool sees_end(Transports& transports, Socket& socket, std::chrono::microseconds now = 0us) {
  DatagramBatch in;
  return poll_until(
      transports, in,
      [&] {
        bool ended = false;
        while (socket.readable() && !socket.receive(&ended).empty()) continue;
        return ended;
      },
      now);
}

}  // namespace

TEST_CASE("packets cross a TCP connection whole, however the stream is cut", "[server][tcp]") {
  const std::string where = GENERATE(as<std::string>{}, "127.0.0.1", "::1");
  const std::size_t piece = GENERATE(1u, 2u, 3u, 1201u, 5000u);
  CAPTURE(where, piece);
  Transports transports = open_on_loopback({}, where);
  Socket peer = tcp_to(transports.port(), where);
  std::vector<Bytes> packets{Bytes(TcpPort::packet_bytes_min, 9), Bytes(datagram_bytes_max, 8),
                             packet_of("three"), Bytes(777, 4)};
  Bytes stream;
  for (const Bytes& packet : packets) {
    const Bytes frame = framed(packet);
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  DatagramBatch in;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    REQUIRE(peer.send(std::span(stream).subspan(at, std::min(piece, stream.size() - at))));
    transports.poll(0us, in);
  }
  REQUIRE(poll_until(transports, in, [&] { return in.entries().size() == packets.size(); }));
  for (std::size_t index = 0; index < packets.size(); ++index)
    CHECK(entry_bytes(in, index) == packets[index]);
  CHECK(in.entries()[0].peer.transport == Transport::tcp);
  CHECK(in.entries()[0].peer.link != 0);
  CHECK(in.closed().empty());

  DatagramBatch out;
  for (const Bytes& packet : packets) out.add(in.entries()[0].peer, packet);
  transports.send(0us, out);
  Bytes answer;
  while (answer.size() < stream.size() && peer.readable(5000)) {
    const Bytes more = peer.receive();
    answer.insert(answer.end(), more.begin(), more.end());
  }
  CHECK(answer == stream);
}

TEST_CASE("a length of nothing or too much ends the connection after its last good packet", "[server][tcp]") {
  const Bytes bad = GENERATE(Bytes{0, 0}, Bytes{0xb1, 0x04}, Bytes{0xff, 0xff});
  Transports transports = open_on_loopback();
  Socket peer = tcp_to(transports.port());
  Bytes stream = framed(packet_of("good"));
  stream.insert(stream.end(), bad.begin(), bad.end());
  const Bytes after = framed(packet_of("after"));
  stream.insert(stream.end(), after.begin(), after.end());
  REQUIRE(peer.send(stream));
  DatagramBatch in;
  REQUIRE(poll_until(transports, in, [&] { return !in.closed().empty(); }));
  REQUIRE(in.entries().size() == 1);
  CHECK(entry_bytes(in, 0) == packet_of("good"));
  CHECK(in.closed()[0] == in.entries()[0].peer);
  CHECK(transports.counters().tcp_closed_bad_frame == 1);
  CHECK(transports.tcp_connections() == 0);
  CHECK(sees_end(transports, peer));
}

TEST_CASE("a peer that leaves is told of once, after what it said last", "[server][tcp]") {
  Transports transports = open_on_loopback();
  Joined joined = join(transports);
  REQUIRE(joined.socket.send(framed(packet_of("bye"))));
  joined.socket.close();
  DatagramBatch in;
  REQUIRE(poll_until(transports, in, [&] { return !in.closed().empty(); }));
  CHECK(in.entries().size() == 1);
  CHECK(in.closed()[0] == joined.peer);
  transports.poll(0us, in);
  CHECK(in.closed().size() == 1);

  DatagramBatch out;  // what is still addressed to it goes nowhere
  out.add(joined.peer, packet_of("late"));
  out.add_closed(joined.peer);
  transports.send(0us, out);
  CHECK(transports.counters().datagrams_out == 0);
}

TEST_CASE("numbers of connections are not used again", "[server][tcp]") {
  Transports transports = open_on_loopback();
  std::uint32_t last = 0;
  for (int round = 0; round < 20; ++round) {
    Joined joined = join(transports);
    CHECK(joined.peer.link > last);
    last = joined.peer.link;
    joined.socket.close();
    DatagramBatch in;
    REQUIRE(poll_until(transports, in, [&] { return !in.closed().empty(); }));
  }
  CHECK(transports.counters().tcp_accepted == 20);
}

TEST_CASE("a connection that the host closes gets its last bytes and no reset", "[server][tcp]") {
  Transports transports = open_on_loopback();
  Joined joined = join(transports);
  // Unread input at the time of closing is what makes a kernel answer with a reset.
  REQUIRE(joined.socket.send(framed(Bytes(1000, 5))));
  DatagramBatch out;
  const Bytes goodbye = framed(packet_of("goodbye"));
  out.add(joined.peer, packet_of("goodbye"));
  out.add_closed(joined.peer);
  transports.send(0us, out);
  REQUIRE(joined.socket.send(framed(Bytes(1000, 6))));
  DatagramBatch in;
  Bytes got;
  REQUIRE(poll_until(transports, in, [&] {
    bool ended = false;
    while (joined.socket.readable() && !ended) {
      const Bytes more = joined.socket.receive(&ended);
      got.insert(got.end(), more.begin(), more.end());
    }
    return ended;
  }));
  CHECK(got == goodbye);
  CHECK(in.entries().empty());
  CHECK(in.closed().empty());  // the host knows
  joined.socket.close();
  CHECK(poll_until(transports, in, [&] { return transports.tcp_connections() == 0; }));
}

TEST_CASE("a closed connection whose peer stays is let go after a while", "[server][tcp]") {
  Transports transports = open_on_loopback();
  Joined joined = join(transports);
  DatagramBatch out;
  out.add_closed(joined.peer);
  transports.send(0us, out);
  DatagramBatch in;
  transports.poll(1s, in);
  CHECK(transports.tcp_connections() == 1);
  transports.poll(3s, in);
  CHECK(transports.tcp_connections() == 0);
  CHECK(in.closed().empty());
}

TEST_CASE("a reader that stops keeps what is queued, loses what is new, and is let go", "[server][tcp]") {
  TransportConfig config;
  config.tcp.queue_bytes_max = 64 * 1024;
  Transports transports = open_on_loopback(config);
  Joined slow = join(transports);
  Joined quick = join(transports);
  std::vector<std::uint8_t> queued;  // what the transports promised to deliver, in order
  std::uint64_t refused = 0;
  for (std::uint8_t number = 0; refused < 10; ++number) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      DatagramBatch out;
      out.add(slow.peer, Bytes(datagram_bytes_max, number));
      transports.send(0us, out);
      const bool dropped = transports.counters().tcp_send_full > refused;
      refused = transports.counters().tcp_send_full;
      if (!dropped) queued.push_back(number);
    }
    REQUIRE(queued.size() < 20000);  // a bounded queue over a bounded kernel buffer
  }
  CHECK_FALSE(transports.flushed());

  // Meanwhile the others are served.
  DatagramBatch out;
  out.add(quick.peer, packet_of("prompt"));
  transports.send(0us, out);
  REQUIRE(quick.socket.readable(5000));
  CHECK(quick.socket.receive() == framed(packet_of("prompt")));

  SECTION("it reads again: everything queued arrives, whole and in order") {
    DatagramBatch in;
    Bytes got;
    const std::size_t expected = queued.size() * (datagram_bytes_max + 2);
    REQUIRE(poll_until(transports, in, [&] {
      while (slow.socket.readable()) {
        const Bytes more = slow.socket.receive();
        got.insert(got.end(), more.begin(), more.end());
      }
      return got.size() >= expected;
    }));
    REQUIRE(got.size() == expected);
    bool in_order = true;
    for (std::size_t index = 0; index < queued.size(); ++index)
      in_order = in_order && got[index * (datagram_bytes_max + 2) + 2] == queued[index];
    CHECK(in_order);
    CHECK(transports.flushed());
    DatagramBatch later;
    transports.poll(11s, later);
    CHECK(later.closed().empty());
    CHECK(transports.counters().tcp_closed_slow == 0);
  }
  SECTION("it does not: the connection is closed after the limit") {
    DatagramBatch in;
    transports.poll(9s, in);
    CHECK(in.closed().empty());
    transports.poll(11s, in);
    REQUIRE(in.closed().size() == 1);
    CHECK(in.closed()[0] == slow.peer);
    CHECK(transports.counters().tcp_closed_slow == 1);
  }
}

TEST_CASE("strangers that the host does not answer get no standing connection", "[server][tcp]") {
  Transports transports = open_on_loopback();
  Socket silent = tcp_to(transports.port());
  Joined talker = join(transports);
  Joined answered = join(transports);
  DatagramBatch out;
  out.add(answered.peer, packet_of("welcome"));
  transports.send(0us, out);
  DatagramBatch in;
  transports.poll(4s, in);
  CHECK(transports.tcp_connections() == 3);
  transports.poll(6s, in);
  CHECK(transports.tcp_connections() == 1);
  CHECK(transports.counters().tcp_closed_unanswered == 2);
  CHECK(in.closed().size() == 2);
  CHECK(sees_end(transports, silent, 6s));
  transports.poll(61s, in);
  CHECK(transports.tcp_connections() == 0);
  CHECK(transports.counters().tcp_closed_idle == 1);
}

TEST_CASE("a frame below a packet's header ends its connection after the last good one", "[server][tcp]") {
  Transports transports = open_on_loopback();
  Socket peer = tcp_to(transports.port());
  Bytes stream = framed(packet_of("good"));
  for (const Bytes& frame : {framed(Bytes(TcpPort::packet_bytes_min - 1, 1)), framed(packet_of("after"))})
    stream.insert(stream.end(), frame.begin(), frame.end());
  REQUIRE(peer.send(stream));
  DatagramBatch in;
  REQUIRE(poll_until(transports, in, [&] { return !in.closed().empty(); }));
  REQUIRE(in.entries().size() == 1);
  CHECK(transports.counters().tcp_closed_tiny_frame == 1);
  REQUIRE(transports.tcp_closes().size() == 1);
  CHECK(transports.tcp_closes()[0].peer == in.entries()[0].peer);
  CHECK(transports.tcp_closes()[0].why == TcpClose::tiny_frame);
  CHECK(sees_end(transports, peer));
  CHECK(transports.tcp_closes().empty());  // told once
}

TEST_CASE("strangers have places of their own: the oldest of the address with most of them gives way",
          "[server][tcp]") {
  TransportConfig config;
  config.tcp.strangers_max = 4;
  Transports transports = open_on_loopback(config, "*");
  const auto admit = [&](const PeerAddress& peer) {
    DatagramBatch out;
    out.add(peer, packet_of("welcome"));
    out.add_admitted(peer);
    transports.send(0us, out);
  };
  std::vector<Joined> players;
  for (int count = 0; count < 6; ++count) {
    players.push_back(join(transports, "127.0.0.1"));
    admit(players.back().peer);
  }
  CHECK(transports.tcp_connections() == 6);
  CHECK(transports.tcp_strangers() == 0);

  Joined guest = join(transports, "::1");
  std::vector<Joined> idle;
  for (int count = 0; count < 20; ++count) idle.push_back(join(transports, "127.0.0.1"));
  CHECK(transports.tcp_strangers() == 4);
  CHECK(transports.tcp_connections() == 10);
  CHECK(transports.counters().tcp_closed_displaced == 17);
  CHECK(sees_end(transports, idle[0].socket));
  // Neither the guest, older than all of them, nor any player had to go.
  admit(guest.peer);
  CHECK(transports.tcp_strangers() == 3);
  for (Joined& player : players) {
    DatagramBatch in;
    REQUIRE(player.socket.send(framed(packet_of("still here"))));
    REQUIRE(poll_until(transports, in, [&] { return !in.entries().empty(); }));
    CHECK(in.entries()[0].peer == player.peer);
  }
  // A player on its way out is a stranger again.
  DatagramBatch out;
  out.add_closed(players[0].peer);
  transports.send(0us, out);
  CHECK(transports.tcp_strangers() == 4);
}

TEST_CASE("who floods a connection takes no turn of another's", "[server][tcp]") {
  TransportConfig config;
  config.tcp.strangers_max = 100;
  Transports transports = open_on_loopback(config);
  Joined player = join(transports);
  DatagramBatch out;
  out.add_admitted(player.peer);
  transports.send(0us, out);
  std::vector<Joined> floods;
  for (int count = 0; count < 60; ++count) floods.push_back(join(transports));
  const Bytes frame = framed(packet_of("flood"));
  Bytes stream;
  while (stream.size() < 60'000) stream.insert(stream.end(), frame.begin(), frame.end());
  for (Joined& flood : floods) REQUIRE(flood.socket.send(stream));
  ::usleep(20'000);
  std::vector<int> turns(floods.size(), 0);
  // What a poll completes may have begun in the one before.
  const std::size_t bytes_max =
      TcpPort::strangers_bytes_per_poll_max + floods.size() * TcpPort::frame_bytes_min;
  DatagramBatch in;
  for (int poll = 0; poll < 20; ++poll) {
    REQUIRE(player.socket.send(framed(packet_of("input"))));
    bool heard = false;
    std::size_t bytes = 0;
    in.clear();
    REQUIRE(poll_until(transports, in, [&] {
      bytes = 0;
      heard = false;
      for (const auto& entry : in.entries()) {
        heard = heard || entry.peer == player.peer;
        bytes += entry.peer == player.peer ? 0 : entry.size + frame_prefix_bytes;
      }
      if (!heard) CHECK(bytes <= bytes_max);
      if (!heard) in.clear();
      return heard;
    }));
    CHECK(bytes <= bytes_max);
    for (const auto& entry : in.entries())
      for (std::size_t i = 0; i < floods.size(); ++i) turns[i] += entry.peer == floods[i].peer ? 1 : 0;
  }
  // 16 of 60 fit a poll: within 20 of them everybody had some.
  CHECK(std::ranges::count(turns, 0) == 0);
}

TEST_CASE("a link's time to catch up begins when something waits for it", "[server][tcp]") {
  TransportConfig config;
  config.tcp.queue_bytes_max = 64 * 1024;
  Transports transports = open_on_loopback(config);
  Joined slow = join(transports);
  DatagramBatch out, in;
  out.add(slow.peer, packet_of("first"));
  out.add_admitted(slow.peer);
  transports.send(0us, out);
  // It was quiet for long and goes on reading nothing: the ten seconds are still to come.
  out.clear();
  for (int count = 0; count < 20000 && transports.counters().tcp_send_full == 0; ++count) {
    out.clear();
    out.add(slow.peer, Bytes(datagram_bytes_max, 1));
    transports.send(30s, out);
  }
  REQUIRE(transports.counters().tcp_send_full == 1);
  transports.poll(31s, in);
  transports.poll(39s, in);
  CHECK(in.closed().empty());
  transports.poll(41s, in);
  CHECK(in.closed().size() == 1);
  CHECK(transports.tcp_closes()[0].why == TcpClose::slow);
}

TEST_CASE("a goodbye finds room in a full queue, and a queue's memory keeps its bound", "[server][tcp]") {
  ByteQueue queue(4096, 100);
  const Bytes piece(60, 1);
  while (queue.push({}, piece)) {
  }
  CHECK(queue.size() <= 3996);
  CHECK(queue.memory_bytes() <= 4096);
  queue.pop(59);
  CHECK_FALSE(queue.push({}, Bytes(200, 2)));
  CHECK(queue.push({}, Bytes(100, 2), true));
  CHECK(queue.memory_bytes() <= 4096);

  TransportConfig config;
  config.tcp.queue_bytes_max = 64 * 1024;
  Transports transports = open_on_loopback(config);
  Joined slow = join(transports);
  DatagramBatch out, in;
  while (transports.counters().tcp_send_full == 0) {
    out.clear();
    out.add(slow.peer, Bytes(datagram_bytes_max, 1));
    transports.send(0us, out);
  }
  out.clear();
  const Bytes goodbye(datagram_bytes_max, 7);
  out.add(slow.peer, goodbye);
  out.add_closed(slow.peer);
  transports.send(0us, out);
  CHECK(transports.counters().tcp_send_full == 1);
  Bytes got;
  REQUIRE(poll_until(transports, in, [&] {
    bool ended = false;
    while (slow.socket.readable() && !ended) {
      const Bytes more = slow.socket.receive(&ended);
      got.insert(got.end(), more.begin(), more.end());
    }
    return ended;
  }));
  REQUIRE(got.size() > goodbye.size());
  CHECK(std::equal(goodbye.begin(), goodbye.end(), got.end() - static_cast<std::ptrdiff_t>(goodbye.size())));
}

TEST_CASE("who knocks when no descriptor is left is turned away and not left waiting", "[server][tcp]") {
  Transports transports = open_on_loopback();
  Socket knocking = tcp_to(transports.port());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int first_free = ::dup(0);
  REQUIRE(first_free >= 0);
  ::close(first_free);
  rlimit low = before;
  low.rlim_cur = static_cast<rlim_t>(first_free);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  DatagramBatch in;
  transports.poll(0us, in);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(transports.counters().tcp_accept_errors >= 1);
  CHECK(transports.tcp_connections() == 0);
  CHECK(sees_end(transports, knocking));
}

TEST_CASE("a taken port is refused with a line that names it and the remedy", "[server][transports]") {
  Transports first = open_on_loopback();
  TransportConfig config;
  config.port = first.port();
  config.listen = *parse_listen(GENERATE("127.0.0.1", "*"));
  const auto second = Transports::open(config);
  REQUIRE_FALSE(second.has_value());
  CHECK_THAT(second.error(), ContainsSubstring("port " + std::to_string(first.port())));
  CHECK_THAT(second.error(), ContainsSubstring("taken"));
  CHECK_THAT(second.error(), ContainsSubstring("--port"));
  CHECK(second.error().find('\n') == std::string::npos);
}

TEST_CASE("a port that only TCP finds taken leaves nothing bound", "[server][transports]") {
  Socket other(AF_INET, SOCK_STREAM);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof any;
  REQUIRE(::bind(other.native(), reinterpret_cast<sockaddr*>(&any), size) == 0);
  REQUIRE(::listen(other.native(), 1) == 0);
  REQUIRE(::getsockname(other.native(), reinterpret_cast<sockaddr*>(&any), &size) == 0);
  TransportConfig config;
  config.listen = *parse_listen("127.0.0.1");
  config.port = ntohs(any.sin_port);
  const auto refused = Transports::open(config);
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error(), ContainsSubstring("TCP"));
  other.close();
  CHECK(Transports::open(config).has_value());
}

TEST_CASE("an address that is not the machine's is refused by name", "[server][transports]") {
  TransportConfig config;
  config.port = 0;
  config.listen = *parse_listen("192.0.2.77");
  const auto refused = Transports::open(config);
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error(), ContainsSubstring("192.0.2.77"));
  CHECK_THAT(refused.error(), ContainsSubstring("--listen"));
}

}  // namespace ashlar::server
