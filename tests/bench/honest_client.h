#pragma once
// A player over a real socket, and of how many of its ticks no command of its own was applied.

#include <algorithm>
#include <expected>
#include <string>
#include <utility>

#include "client_sim/brains/brain.h"
#include "client_sim/client/client.h"
#include "client_sim/net/socket.h"
#include "protocol/secure/seeded_entropy.h"

namespace ashlar::bench {

/// Plays with a brain that wanders. One thread.
class HonestClient {
 public:
  HonestClient(const PeerAddress& server, std::string name, std::uint64_t seed)
      : socket_(client_sim::ClientSocket::open(server)),
        client_(config(server, std::move(name), seed)),
        brain_(client_sim::BrainKind::wander, seed) {}

  /// Call every few milliseconds. @param counts  is what happens now part of the measurement?
  void turn(client_sim::Micros now, bool counts) {
    if (!socket_ || client_.ended()) return;
    in_.clear(), out_.clear();
    socket_->receive(in_);
    if (playing() && now >= next_thought_) {
      next_thought_ = now + client_sim::Micros{15'000};
      client_.set_command(brain_.think(now, client_));
    }
    client_.advance(now, in_, out_);
    socket_->send(out_);
    count(counts);
  }

  bool playing() const { return client_.state() == client_sim::ClientState::playing; }
  std::uint64_t ticks() const { return ticks_; }      ///< that it played
  std::uint64_t missing() const { return missing_; }  ///< of those without a command of its own

 private:
  static client_sim::ClientConfig config(const PeerAddress& server, std::string name, std::uint64_t seed) {
    client_sim::ClientConfig c;
    c.server = server;
    c.name = std::move(name);
    c.build = "bench";
    c.seed = secure::SeededEntropy(seed).secret();
    return c;
  }

  void count(bool counts) {
    const std::uint32_t tick = client_.own_tick();
    const std::uint64_t snapshots = client_.stats().snapshots;
    if (counts && tick_seen_ != 0 && tick > tick_seen_) {
      const std::uint64_t passed = tick - tick_seen_;
      ticks_ += passed;
      // What the newest says holds for those that came with it; of ticks that no snapshot told of nobody
      // knows, and a lost one or two are as the next.
      const std::uint64_t untold = passed - std::min(passed, snapshots - snapshots_seen_);
      if (client_.applied_tick() < tick)
        missing_ += passed;
      else if (untold > 3)
        missing_ += untold;
    }
    snapshots_seen_ = snapshots;
    tick_seen_ = tick;
  }

  std::expected<client_sim::ClientSocket, std::string> socket_;
  client_sim::Client client_;
  client_sim::Brain brain_;
  DatagramBatch in_, out_;
  client_sim::Micros next_thought_{0};
  std::uint32_t tick_seen_ = 0;
  std::uint64_t ticks_ = 0, missing_ = 0, snapshots_seen_ = 0;
};

}  // namespace ashlar::bench
