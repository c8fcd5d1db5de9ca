#pragma once
// A network for two connections and simulated time: links with every fault there is, all from a seed.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "protocol/connection/connection.h"
#include "world/math/random.h"

namespace ashlar::test {

/// What one direction does to packets. Shares are in [0, 1].
struct LinkFaults {
  Micros latency{0}, jitter{0};
  double loss = 0, reordering = 0, duplication = 0, corruption = 0;
  Micros reorder_delay{30'000};
  double bytes_per_s = 0;               ///< 0: no limit
  std::size_t queue_bytes = 64 * 1024;  ///< what waits beyond this is dropped
};

/// One direction. Several flows may share it, and its queue.
class SimulatedLink {
 public:
  struct Arrival {
    Micros at{0};
    std::uint64_t order = 0;
    int flow = 0;
    std::size_t size = 0;
    std::uint64_t number = 0;  ///< the flow's own
    std::vector<std::uint8_t> bytes;
    PeerAddress from;
  };

  SimulatedLink(const LinkFaults& faults, std::uint64_t seed) : faults_(faults), rng_{seed} {}

  LinkFaults& faults() { return faults_; }

  void send(Micros now, int flow, std::size_t size, std::uint64_t number,
            std::span<const std::uint8_t> bytes = {}, const PeerAddress& from = {}) {
    ++sent;
    Micros leaves = now;
    if (faults_.bytes_per_s > 0) {
      const Micros waits = std::max(busy_until_ - now, Micros{0});
      const double queued = static_cast<double>(waits.count()) * 1e-6 * faults_.bytes_per_s;
      if (queued + static_cast<double>(size) > static_cast<double>(faults_.queue_bytes)) {
        ++overflowed;
        return;
      }
      const double takes_us = static_cast<double>(size) / faults_.bytes_per_s * 1e6;
      busy_until_ = now + waits + Micros{static_cast<std::int64_t>(takes_us + 0.5)};
      leaves = busy_until_;
      carried_bytes += size;
    }
    if (chance(faults_.loss)) {
      ++lost;
      return;
    }
    put(leaves, flow, size, number, bytes, from);
    if (chance(faults_.duplication)) put(leaves, flow, size, number, bytes, from);
  }

  Micros next_at() const { return waiting_.empty() ? Micros::max() : waiting_.top()->at; }
  std::shared_ptr<Arrival> pop() {
    auto arrival = waiting_.top();
    waiting_.pop();
    return arrival;
  }
  Micros queue_delay(Micros now) const { return std::max(busy_until_ - now, Micros{0}); }

  std::uint64_t sent = 0, lost = 0, overflowed = 0, carried_bytes = 0;

 private:
  bool chance(double share) { return share > 0 && rng_.unit() < share; }

  void put(Micros leaves, int flow, std::size_t size, std::uint64_t number,
           std::span<const std::uint8_t> bytes, const PeerAddress& from) {
    auto arrival = std::make_shared<Arrival>();
    arrival->at = leaves + faults_.latency;
    if (faults_.jitter > Micros{0})
      arrival->at += Micros{rng_.below(static_cast<std::uint32_t>(faults_.jitter.count()))};
    if (chance(faults_.reordering)) arrival->at += faults_.reorder_delay;
    arrival->order = ++order_;
    arrival->flow = flow, arrival->size = size, arrival->number = number, arrival->from = from;
    arrival->bytes.assign(bytes.begin(), bytes.end());
    if (!arrival->bytes.empty() && chance(faults_.corruption)) {
      const std::uint32_t at = rng_.below(static_cast<std::uint32_t>(arrival->bytes.size()));
      arrival->bytes[at] = static_cast<std::uint8_t>(arrival->bytes[at] ^ (1u << rng_.below(8)));
      if (rng_.below(4) == 0) arrival->bytes.resize(at);
    }
    waiting_.push(std::move(arrival));
  }

  struct Later {
    bool operator()(const std::shared_ptr<Arrival>& a, const std::shared_ptr<Arrival>& b) const {
      return a->at != b->at ? a->at > b->at : a->order > b->order;
    }
  };
  LinkFaults faults_;
  Rng rng_;
  Micros busy_until_{0};
  std::uint64_t order_ = 0;
  std::priority_queue<std::shared_ptr<Arrival>, std::vector<std::shared_ptr<Arrival>>, Later> waiting_;
};

inline secure::SessionKeys session_keys(std::uint64_t seed, secure::Cipher cipher) {
  secure::SessionKeys keys;
  Rng rng{seed};
  const auto fill = [&](secure::Secret& secret) {
    for (std::uint8_t& b : secret.writable()) b = static_cast<std::uint8_t>(rng.next_u64());
  };
  keys.version = 3;
  keys.cipher = cipher;
  keys.connection = 77;
  fill(keys.client_to_server), fill(keys.server_to_client), fill(keys.resumption);
  for (std::uint8_t& b : keys.transcript) b = static_cast<std::uint8_t>(rng.next_u64());
  return keys;
}

inline secure::Secret challenge_secret(std::uint64_t seed) {
  secure::Secret secret;
  Rng rng{seed};
  for (std::uint8_t& b : secret.writable()) b = static_cast<std::uint8_t>(rng.next_u64());
  return secret;
}

inline PeerAddress address(std::uint16_t port) {
  PeerAddress a;
  a.ip[15] = 1;
  a.port = port;
  return a;
}
inline const PeerAddress client_address = address(1000), server_address = address(2000);

/// One end: a connection, its way in and out, and what its owner does with what comes.
struct SimulatedEnd {
  SimulatedEnd(const ConnectionSettings& settings, const secure::SessionKeys& keys, const PeerAddress& self,
               const PeerAddress& peer, Micros now)
      : own(self), connection(settings, keys, peer, challenge_secret(self.port), now) {}

  PeerAddress own;  ///< where its packets come from
  Connection connection;
  PacketScratch scratch;
  DatagramBatch out;
  std::array<std::uint64_t, drop_reason_count> dropped{};
  /// The owner's rate limit: true lets a packet that opened go.
  std::function<bool()> refuses;
  /// Unreliable messages that arrived.
  std::function<void(Micros, std::uint64_t sequence, std::span<const std::uint8_t>)> on_unreliable;

  void take_in(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes) {
    // The adapter hands packets out aligned; a vector's memory is.
    const auto opened = connection.open(now, from, bytes, scratch);
    if (!opened) {
      ++dropped[static_cast<std::size_t>(opened.error())];
      return;
    }
    if (refuses && refuses()) return;
    const auto received = connection.accept(now, *opened);
    if (!received) {
      ++dropped[static_cast<std::size_t>(received.error())];
      return;
    }
    if (!received->unreliable.empty() && on_unreliable)
      on_unreliable(now, received->sequence, received->unreliable);
  }
};

/// Client and server with a link each way. Flow 0 is theirs; `other_arrived` gets what belongs to others.
class SimulatedPair {
 public:
  struct Options {
    LinkFaults up, down;
    std::uint64_t seed = 1;
    bool reliable_link = false;
    secure::Cipher cipher = secure::Cipher::chacha20_poly1305;
    StreamWindows server_windows = server_stream_windows;
    Micros silence_max{10'000'000};
    Micros key_age = secure::key_age_max;
    Micros poll_least{500};  ///< as often as owners poll, at most
  };

  explicit SimulatedPair(const Options& options)
      : up(options.up, options.seed * 2 + 1),
        down(options.down, options.seed * 2 + 2),
        poll_least_(options.poll_least) {
    const secure::SessionKeys keys = session_keys(options.seed, options.cipher);
    ConnectionSettings settings;
    settings.reliable_link = options.reliable_link;
    settings.silence_max = options.silence_max;
    settings.key_age = options.key_age;
    settings.end = secure::End::client;
    client = std::make_unique<SimulatedEnd>(settings, keys, client_address, server_address, now);
    settings.end = secure::End::server;
    settings.peer_may_move = !options.reliable_link;
    settings.receive_windows = options.server_windows;
    server = std::make_unique<SimulatedEnd>(settings, keys, server_address, client_address, now);
  }

  Micros now{1'000'000};
  SimulatedLink up, down;
  std::unique_ptr<SimulatedEnd> client, server;
  std::function<void(const SimulatedLink::Arrival&, bool is_up)> other_arrived;
  /// Sees and may take each packet of the server's (false: it is gone). For attackers and odd networks.
  std::function<bool(const PeerAddress& to, std::span<const std::uint8_t>)> server_sends;

  void flush(SimulatedEnd& end) {
    SimulatedLink& link = &end == client.get() ? up : down;
    for (const auto& entry : end.out.entries()) {
      const auto bytes = end.out.bytes(entry);
      if (&end == server.get() && server_sends && !server_sends(entry.peer, bytes)) continue;
      link.send(now, 0, bytes.size() + 28, 0, bytes, end.own);  // 28: IPv4 and UDP
    }
    end.out.clear();
  }

  /// Plays until `end`; `work(now)` is called whenever something happened and says when it has something to
  /// do.
  void run(Micros end, const std::function<Micros(Micros)>& work = {}) {
    Micros work_at = now;
    while (true) {
      if (work && work_at <= now) work_at = work(now);
      if (!work) work_at = Micros::max();
      poll(*client, client_poll_at_);
      poll(*server, server_poll_at_);
      const Micros next =
          std::min({up.next_at(), down.next_at(), work_at, client_poll_at_, server_poll_at_, end});
      now = std::max(now, next);
      if (now >= end) return;
      bool arrived = deliver(up, *server, true);
      arrived = deliver(down, *client, false) || arrived;
      if (arrived)
        client_poll_at_ = std::min(client_poll_at_, now), server_poll_at_ = std::min(server_poll_at_, now);
    }
  }

 private:
  void poll(SimulatedEnd& end, Micros& at) {
    flush(end);
    if (at > now && end.connection.next_poll_at() >= at) return;
    end.connection.poll(now, end.out);
    flush(end);
    const Micros wants = end.connection.next_poll_at();
    at = wants == Micros::max() ? wants : std::max(wants, now + poll_least_);
  }

  bool deliver(SimulatedLink& link, SimulatedEnd& to, bool is_up) {
    bool any = false;
    while (link.next_at() <= now) {
      const auto arrival = link.pop();
      any = true;
      if (arrival->flow != 0) {
        if (other_arrived) other_arrived(*arrival, is_up);
        continue;
      }
      to.take_in(now, arrival->from, arrival->bytes);
    }
    return any;
  }

  Micros poll_least_, client_poll_at_{0}, server_poll_at_{0};
};

}  // namespace ashlar::test
