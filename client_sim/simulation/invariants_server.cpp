// What must hold of the server itself: its books agree, its queues keep their bounds, and nothing stays of
// clients that are gone.

#include <malloc.h>

#include <algorithm>
#include <map>
#include <set>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "protocol/connection/streams.h"
#include "server/host/host.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
namespace {

/// Playing sessions are given up after ten seconds without a word; overload and the next tick come on top.
constexpr Micros gone_for_max{12'000'000};
/// A server's end of a connection with all its queues full.
constexpr std::size_t connection_bytes_max = std::size_t{1} << 20;
/// And all that is kept of a client beside what its streams hold and the packets that are under way.
constexpr std::size_t beside_streams_bytes_max = std::size_t{64} << 10;

std::string session_name(const server::SessionAudit& session) {
  return "session " + std::to_string(session.connection);
}

/// Sessions, addresses and players are the same people.
class BooksAgree final : public Invariant {
 public:
  std::string_view name() const override { return "sessions, addresses and players agree"; }
  std::optional<Finding> after_clients(const Match& match) override {
    const server::HostAudit& audit = match.audit();
    const World& world = match.host()->world();
    const auto counts = [](const char* what, std::size_t a, std::size_t b) {
      return Finding{"server", std::string(what) + ": " + std::to_string(a) + " and " + std::to_string(b)};
    };
    if (audit.identities != audit.sessions.size())
      return counts("identities and sessions", audit.identities, audit.sessions.size());
    std::size_t links = 0;
    hosts_.clear();
    for (const server::SessionAudit& session : audit.sessions) {
      links += session.address.transport == Transport::tcp ? 1 : 0;
      hosts_.insert(session.address.ip);
    }
    if (audit.links != links) return counts("connections and their sessions", audit.links, links);
    if (audit.hosts != hosts_.size())
      return counts("addresses without ports and those of sessions", audit.hosts, hosts_.size());
    players_.clear();
    for (const server::SessionAudit& session : audit.sessions) {
      if (session.playing && session.player == EntityId{0})
        return Finding{session_name(session), "plays nobody"};
      if (session.player == EntityId{0}) continue;
      // It plays, or goes on with the body of an earlier session as soon as it joins.
      if (world.player_row(session.player) < 0)
        return Finding{session_name(session), "plays " + entity_name(session.player) + ", who is not there"};
      players_.push_back(session.player);
    }
    std::ranges::sort(players_);
    if (const auto twice = std::ranges::adjacent_find(players_); twice != players_.end())
      return Finding{entity_name(*twice), "is played by two sessions"};
    // Who left since the last step stands in the world until the next one.
    const std::size_t bodies = players_.size() + audit.leaves_waiting + audit.lingering + audit.away;
    if (world.player_count() != bodies)
      return counts("players and their sessions", world.player_count(), bodies);
    return std::nullopt;
  }

 private:
  std::vector<EntityId> players_;
  std::set<std::array<std::uint8_t, 16>> hosts_;
};

class QueuesKeepBounds final : public Invariant {
 public:
  std::string_view name() const override { return "no queue grows beyond its bound"; }
  std::optional<Finding> after_clients(const Match& match) override {
    const server::HostAudit& audit = match.audit();
    for (const server::SessionAudit& session : audit.sessions) {
      if (session.chat_bytes_waiting > stream_properties[row(StreamId::chat)].queue_bytes_max)
        return Finding{session_name(session),
                       std::to_string(session.chat_bytes_waiting) + " bytes of chat wait"};
      if (session.memory_bytes > connection_bytes_max)
        return Finding{session_name(session),
                       "holds " + std::to_string(session.memory_bytes >> 10) + " KiB of memory"};
      if (session.memory_bytes - session.stream_bytes > beside_streams_bytes_max)
        return Finding{session_name(session),
                       "holds " + std::to_string((session.memory_bytes - session.stream_bytes) >> 10) +
                           " KiB of memory beside its streams"};
    }
    if (audit.lingering > match.host()->world().setup().players_max)
      return Finding{"server", std::to_string(audit.lingering) + " bodies stay behind"};
    if (audit.leaves_waiting > match.host()->world().setup().players_max)
      return Finding{"server", std::to_string(audit.leaves_waiting) + " leaves wait"};
    return std::nullopt;
  }
};

/// What operators are shown is what is so, and every tick that was due was played or counted as given up.
class StatusIsTrue final : public Invariant {
 public:
  std::string_view name() const override { return "the status tells what is so"; }
  void on_server_start(const Match&) override { started_at_.reset(); }
  std::optional<Finding> after_clients(const Match& match) override {
    const server::HostStatus& status = match.host()->status();
    const World& world = match.host()->world();
    const auto differ = [](const char* what, std::uint64_t told, std::uint64_t is) {
      return Finding{"server",
                     std::string(what) + ": " + std::to_string(told) + " told, " + std::to_string(is)};
    };
    if (status.tick != number(world.tick())) return differ("tick", status.tick, number(world.tick()));
    if (status.monsters != world.monster_count())
      return differ("monsters", status.monsters, world.monster_count());
    if (status.recovered != world.counters().recoveries)
      return differ("recovered", status.recovered, world.counters().recoveries);
    if (status.stuck != world.counters().stuck) return differ("stuck", status.stuck, world.counters().stuck);

    const std::int64_t rate = world.setup().rules.tick_rate_hz;
    const Micros next = match.host()->next_tick_at();
    const auto due_after = [rate](std::uint64_t ticks) {
      return Micros{static_cast<std::int64_t>(ticks) * 1'000'000 / rate};
    };
    const Micros began = next - due_after(status.tick + status.ticks_skipped);
    if (!started_at_) started_at_ = began;
    // After a stall it makes up for a few, one in each turn.
    const Micros behind = due_after(server::Host::catch_up_ticks_max - 1);
    if (began != *started_at_ || next + behind <= match.server_clock())
      return Finding{"server", std::to_string(status.tick) + " ticks and " +
                                   std::to_string(status.ticks_skipped) +
                                   " given up are not those that were due"};
    return std::nullopt;
  }

 private:
  std::optional<Micros> started_at_;
};

/// A client that died keeps its session until it times out, and no longer, whatever others send in its name:
/// but what it said itself and somebody held back counts when it comes.
class NothingStays final : public Invariant {
 public:
  std::string_view name() const override { return "nothing stays of clients that are gone"; }
  void on_server_start(const Match&) override { gone_since_.clear(); }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const server::SessionAudit& session : match.audit().sessions) {
      const Seat& origin = *match.seats()[seat_of(session.address)];
      // An attacker has sessions beside that of its client.
      const bool there = origin.hostile() || match.seat_of_session(session.connection) != nullptr ||
                         plays_as_guest(origin, session.connection);
      // A stream's last words may be held up for long, its end behind them.
      if (there || origin.line().carries(session.address)) {
        gone_since_.erase(session.connection);
        continue;
      }
      const auto [it, first] = gone_since_.try_emplace(session.connection, match.now());
      const Micros heard = std::max(it->second, origin.late_original_at(session.connection));
      if (!first && match.now() - heard > gone_for_max)
        return Finding{session_name(session), "is kept though its client went " +
                                                  std::to_string((match.now() - heard).count() / 1'000'000) +
                                                  " s ago"};
    }
    return std::nullopt;
  }

 private:
  static bool plays_as_guest(const Seat& seat, std::uint32_t connection) {
    const auto* player = seat.guest() == nullptr ? nullptr : seat.guest()->player();
    return player != nullptr && player->session() == connection;
  }

  std::map<std::uint32_t, Micros> gone_since_;
};

/// An id that went away names nobody else, and a connection's id no other connection.
class IdsAreNotReused final : public Invariant {
 public:
  std::string_view name() const override { return "ids are not used again"; }
  void on_server_start(const Match&) override {
    players_.clear();
    gone_.clear();
    connections_.clear();
  }
  std::optional<Finding> after_clients(const Match& match) override {
    if (auto finding = look_at_players(match.host()->world().players().id)) return finding;
    for (const server::SessionAudit& session : match.audit().sessions) {
      const auto [it, first] = connections_.try_emplace(session.connection, session.client);
      if (!first && it->second != session.client)
        return Finding{session_name(session), "had another client before"};
    }
    return std::nullopt;
  }

 private:
  /// A row that changed hands: who had it is gone for good, and who has it must not have been gone before.
  std::optional<Finding> look_at_players(std::span<const EntityId> rows) {
    players_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] == players_[i]) continue;
      if (players_[i] != EntityId{0}) gone_.insert(players_[i]);
      if (gone_.contains(rows[i])) return Finding{entity_name(rows[i]), "was another player's before"};
      players_[i] = rows[i];
    }
    return std::nullopt;
  }

  std::vector<EntityId> players_;  // by row
  std::set<EntityId> gone_;
  std::map<std::uint32_t, secure::PublicKey> connections_;  // and whose each is
};

/// A datagram counts once, however often and by whatever way it arrives.
class DatagramsCountOnce final : public Invariant {
 public:
  std::string_view name() const override { return "a datagram that arrives again is not taken again"; }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      const server::SessionAudit* session = match.session_of(*seat);
      if (session == nullptr || seat->hostile()) continue;
      if (session->accepted > seat->originals_delivered())
        return Finding{seat_name(*seat), std::to_string(session->accepted) + " datagrams were taken of " +
                                             std::to_string(seat->originals_delivered()) + " that arrived"};
    }
    return std::nullopt;
  }
};

/// What is allocated beside the ground and what the match keeps for itself settles within the first minute of
/// a run and stays there.
class MemoryIsBounded final : public Invariant {
 public:
  std::string_view name() const override { return "memory is bounded"; }
  std::optional<Finding> after_clients(const Match& match) override {
    constexpr Micros look_every{10'000'000}, settled_after{60'000'000};
    if (match.now() < next_look_) return std::nullopt;
    next_look_ = match.now() + look_every;
    const std::size_t known = match.kept_bytes() + ground_bytes(match), all = allocated();
    const std::size_t bytes = all - std::min(all, known);
    if (match.now() < settled_after) {
      settled_ = std::max(settled_, bytes);
      return std::nullopt;
    }
    if (bytes <= settled_ + slack_bytes(match)) return std::nullopt;
    return Finding{"server", std::to_string(bytes >> 10) + " KiB are allocated beside the ground, " +
                                 std::to_string(settled_ >> 10) + " KiB were in the first minute"};
  }

 private:
  /// Queues, views and batches grow to their bounds for minutes yet, some 7 MiB in half an hour with 8
  /// clients. With 16 a leak of 2 KiB a tick is found within four minutes.
  static std::size_t slack_bytes(const Match& match) { return std::size_t{8 + match.config().clients} << 20; }

  /// Chunks of the server that runs: they come and go with its players.
  static std::size_t ground_bytes(const Match& match) {
    const GroundMemo& memo = *match.config().ground;
    const std::size_t each = memo.bytes() / std::max<std::size_t>(1, memo.chunk_count());
    return match.host()->world().space().voxels->chunk_count() * each;
  }

  /// Bytes that are allocated and not freed, as the C library counts them; under a sanitizer it counts none,
  /// and the sanitizer's own look for leaks stands in.
  static std::size_t allocated() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  Micros next_look_{0};
  std::size_t settled_ = 0;
};

}  // namespace

void add_server_invariants(std::vector<std::unique_ptr<Invariant>>& out) {
  out.push_back(std::make_unique<BooksAgree>());
  out.push_back(std::make_unique<QueuesKeepBounds>());
  out.push_back(std::make_unique<StatusIsTrue>());
  out.push_back(std::make_unique<NothingStays>());
  out.push_back(std::make_unique<IdsAreNotReused>());
  out.push_back(std::make_unique<DatagramsCountOnce>());
  out.push_back(std::make_unique<MemoryIsBounded>());
}

}  // namespace ashlar::simulation
