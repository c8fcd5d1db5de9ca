// How sessions come, go on and go, whoever reads along, forges packets or comes from elsewhere.

#include <algorithm>
#include <map>
#include <set>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "protocol/connection/congestion.h"
#include "protocol/secure/open_packets.h"
#include "protocol/secure/packet_protection.h"
#include "protocol/version.h"
#include "server/host/host.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
namespace {

using client_sim::ClientState;

/// No fault for so long, and a client's session is the one that it stays with.
constexpr Micros settled_after{12'000'000};
/// A session that fell silent is given up after ten seconds, and ticks are late now and then.
constexpr Micros silence_noticed_within{13'000'000};
/// What a session may be sent that acknowledges nothing: the first window, and probes.
constexpr std::uint64_t unanswered_max = 2 * Congestion::window_first;
/// Ticks may be late by as much.
constexpr Micros slack{1'500'000};

std::string number_name(std::uint32_t connection) { return "session " + std::to_string(connection); }

std::string place(const PeerAddress& address) {
  std::string out = address.transport == Transport::tcp ? "TCP port " : "port ";
  out += std::to_string(address.port) + " of host 10";
  for (std::size_t i = 13; i < 16; ++i) out += '.' + std::to_string(address.ip[i]);
  return out;
}

/// Whose client plays in that session; null when it is nobody's of the seats.
const Seat* owner_of(const Match& match, const server::SessionAudit& session) {
  for (const auto& seat : match.seats())
    if (seat->is_or_was(session.client)) return seat.get();
  return nullptr;
}

/// Whoever has not shown that he is at an address cannot have the server send much there: of packets outside
/// of sessions half of what came from there in the same moment, of a session's no more than ever came. A
/// session that the forger made for himself is where he shook hands, and he answers nothing in it: it gets
/// what a session begins with.
class AnswersAreSmall final : public Invariant {
 public:
  std::string_view name() const override { return "an address that is not proven gets less than it gave"; }
  void on_server_start(const Match&) override {
    unproven_.clear();
    deaf_.clear();
  }
  std::optional<Finding> on_datagrams(const Match& match, const DatagramBatch& in,
                                      const DatagramBatch& out) override {
    turn_.clear();
    for (const DatagramBatch::Entry& entry : in.entries()) {
      if (entry.peer.transport != Transport::udp) continue;
      Asked& asked = turn_[entry.peer];
      asked.bytes += entry.size;
      ++asked.packets;
      unproven_[entry.peer].in += entry.size;
    }
    for (const DatagramBatch::Entry& entry : out.entries()) {
      if (entry.peer.transport != Transport::udp) continue;
      const auto type = secure::packet_type(out.bytes(entry), protocol_version);
      if (type && *type == secure::PacketType::sealed) {
        if (proven(match, entry.peer)) continue;
        if (const auto number = secure::sealed_connection(out.bytes(entry), protocol_version);
            forgers_own(match, *number)) {
          Deaf& deaf = deaf_.try_emplace(*number, Deaf{entry.peer}).first->second;
          deaf.sent += entry.size;
          if (deaf.address == entry.peer && deaf.sent <= unanswered_max) continue;
          return Finding{place(entry.peer), "answers nothing and was sent " + std::to_string(deaf.sent) +
                                                " bytes in " + number_name(*number)};
        }
        Sums& sums = unproven_[entry.peer];
        sums.out += entry.size;
        if (sums.out <= sums.in) continue;
        return Finding{place(entry.peer), "was sent " + std::to_string(sums.out) + " bytes for " +
                                              std::to_string(sums.in) + " before it answered any"};
      }
      Asked& asked = turn_[entry.peer];
      asked.answered += entry.size;
      ++asked.answers;
      if (2 * asked.answered > asked.bytes || asked.answers > asked.packets)
        return Finding{place(entry.peer), "asked " + std::to_string(asked.bytes) + " bytes in " +
                                              std::to_string(asked.packets) + " packets and was answered " +
                                              std::to_string(asked.answered) + " in " +
                                              std::to_string(asked.answers)};
    }
    std::erase_if(unproven_, [&match](const auto& row) { return proven(match, row.first); });
    return std::nullopt;
  }

 private:
  struct Asked {
    std::uint64_t bytes = 0, answered = 0;
    std::uint32_t packets = 0, answers = 0;
  };
  struct Sums {
    std::uint64_t in = 0, out = 0;
  };
  struct Deaf {
    PeerAddress address;  // the first that anything went to: the handshake's
    std::uint64_t sent = 0;
  };
  /// Something of the server's has arrived there, so it may have been answered. The forger's is never proven:
  /// he hears, but what the server sends to it would go to whomever he named.
  static bool proven(const Match& match, const PeerAddress& address) {
    const std::uint32_t number = seat_of(address);
    if (number >= match.seats().size()) return false;
    const Seat& seat = *match.seats()[number];
    return seat.line().heard(address) || (seat.guest() != nullptr && seat.guest()->line().heard(address));
  }
  /// Is it, or was it when last something went to it, a session of nobody's of the seats?
  bool forgers_own(const Match& match, std::uint32_t number) const {
    if (deaf_.contains(number)) return true;
    const auto& sessions = match.audit().sessions;
    const auto session = std::ranges::find(sessions, number, &server::SessionAudit::connection);
    return session != sessions.end() && owner_of(match, *session) == nullptr;
  }
  std::map<PeerAddress, Asked> turn_;
  std::map<PeerAddress, Sums> unproven_;
  std::map<std::uint32_t, Deaf> deaf_;  // sessions of the forger's, by number
};

/// A session is one player's, and a body one player's as long as it is in the world.
class OwnersStay final : public Invariant {
 public:
  std::string_view name() const override { return "a session and a body belong to one player"; }
  void on_server_start(const Match&) override { bodies_.clear(); }
  std::optional<Finding> after_clients(const Match& match) override {
    players_.clear();
    for (const server::SessionAudit& session : match.audit().sessions) {
      if (!players_.insert(session.client).second)
        return Finding{number_name(session.connection), "is a second one of the same player"};
      if (session.player == EntityId{0}) continue;
      const auto [it, first] = bodies_.try_emplace(session.player, session.client);
      if (!first && it->second != session.client)
        return Finding{entity_name(session.player),
                       "was another player's, and now is that of " + number_name(session.connection)};
    }
    return std::nullopt;
  }

 private:
  std::set<secure::PublicKey> players_;
  std::map<EntityId, secure::PublicKey> bodies_;
};

/// The server takes a session to be where its client is or was, and nowhere else; one without trouble is the
/// one that it stays with. Forged packets are no trouble.
class ForgeriesChangeNothing final : public Invariant {
 public:
  std::string_view name() const override { return "forged packets neither move nor end a session"; }
  void on_server_start(const Match& match) override { calm_.assign(match.config().clients, {}); }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const server::SessionAudit& session : match.audit().sessions) {
      const Seat* seat = owner_of(match, session);
      if (seat == nullptr || seat->line().had(session.address)) continue;
      return Finding{seat_name(*seat), "has its " + number_name(session.connection) + " at " +
                                           place(session.address) + ", where it never was"};
    }
    for (const auto& seat : match.seats())
      if (auto wrong = look(match, *seat)) return wrong;
    return std::nullopt;
  }

 private:
  struct Calm {
    std::uint32_t life = 0;
    std::uint32_t session = 0;
  };

  std::optional<Finding> look(const Match& match, const Seat& seat) {
    Calm& calm = calm_[seat.number()];
    const Micros since = std::max(seat.calm_since(), match.server_calm_since());
    const bool quiet = since != Micros::max() && match.now() - since > settled_after;
    if (seat.hostile() || !quiet || seat.client() == nullptr) {
      calm = {};
      return std::nullopt;
    }
    const Calm before = std::exchange(calm, {seat.lives(), seat.client()->session()});
    if (before.session == 0 || before.session == calm.session) return std::nullopt;
    return Finding{seat_name(seat), "lost its " + number_name(before.session) + " without trouble and has " +
                                        number_name(calm.session)};
  }

  std::vector<Calm> calm_;  // by seat
};

/// A client that was cut off and is back within the grace goes on in its body. How long it was away is
/// counted from the last moment in which the server had a session for it, by the server's clock: a leap of
/// that is time as any other.
class BodiesWait final : public Invariant {
 public:
  std::string_view name() const override { return "who comes back in time has its body back"; }
  void on_server_start(const Match& match) override { known_.assign(match.config().clients, {}); }
  std::optional<Finding> on_event(const Match&, const server::HostEvent& event) override {
    // A slow reader over TCP is closed for that; the word may come after it went to look for another
    // connection. And in a full house a body gives way.
    const bool left = event.kind == server::HostEventKind::left;
    const bool meant =
        left && (event.detail.starts_with("overload") || event.detail == "its place was given away");
    for (Known& known : known_)
      if (meant && known.session == event.connection) known.player = EntityId{0};
    return std::nullopt;
  }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      const Client* client = seat->client();
      if (client == nullptr || seat->hostile()) continue;
      Known& known = known_[seat->number()];
      if (known.name != seat->name()) known = {seat->name(), 0, EntityId{0}, {}};
      for (const server::SessionAudit& session : match.audit().sessions)
        if (session.connection == known.session) known.there_at = match.server_clock();
      const server::SessionAudit* session = match.session_of(*seat);
      if (session == nullptr || !session->playing) continue;
      const bool other = known.player != EntityId{0} && known.player != session->player;
      const Micros away = match.server_clock() - known.there_at;
      if (other && away < away_grace - slack)
        return Finding{seat_name(*seat), "was away for " + std::to_string(away.count() / 1000) +
                                             " ms and is " + entity_name(session->player) + " in place of " +
                                             entity_name(known.player)};
      known = {seat->name(), session->connection, session->player, match.server_clock()};
    }
    return std::nullopt;
  }

 private:
  struct Known {
    std::string name;  // of the client
    std::uint32_t session = 0;
    EntityId player{};
    Micros there_at{0};  // of the server's clock
  };
  std::vector<Known> known_;  // by seat
};

/// Whatever others send in a player's name, what it says itself is taken, at most a few packets less: those
/// that do not open are at nobody's expense.
class ForgeriesCostNothing final : public Invariant {
 public:
  std::string_view name() const override { return "what an honest client says is taken, whatever is forged"; }
  void on_server_start(const Match& match) override { known_.assign(match.config().clients, {}); }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      const server::SessionAudit* session = match.session_of(*seat);
      if (session == nullptr || seat->hostile()) continue;
      Known& known = known_[seat->number()];
      const Micros calm = std::max(seat->calm_since(), match.server_calm_since());
      const bool quiet = calm != Micros::max() && match.now() - calm > settled_after;
      if (quiet && known.session == session->connection && match.now() - known.since < window) continue;
      const std::uint64_t arrived = seat->originals_delivered() - known.arrived;
      const std::uint64_t taken = session->accepted - known.taken;
      const bool same = quiet && known.quiet && known.session == session->connection;
      known = {session->connection, seat->originals_delivered(), session->accepted, match.now(), quiet};
      if (same && 10 * taken + 50 < 9 * arrived)
        return Finding{seat_name(*seat), "said " + std::to_string(arrived) +
                                             " packets that arrived within a second, and " +
                                             std::to_string(taken) + " were taken"};
    }
    return std::nullopt;
  }

 private:
  static constexpr Micros window{1'000'000};
  struct Known {
    std::uint32_t session = 0;
    std::uint64_t arrived = 0, taken = 0;
    Micros since{0};
    bool quiet = false;
  };
  std::vector<Known> known_;  // by seat
};

/// Each end changes the keys that it seals with when they are old, and a session goes on with the new ones.
class KeysChange final : public Invariant {
 public:
  std::string_view name() const override { return "keys change in time"; }
  void on_server_start(const Match&) override { known_.clear(); }
  std::optional<Finding> after_clients(const Match& match) override {
    const Micros age_max = Micros{std::int64_t{1'000'000} * match.config().key_age_s};
    for (const auto& seat : match.seats()) {
      const server::SessionAudit* session = match.session_of(*seat);
      if (session == nullptr || seat->hostile()) continue;
      Known& known = known_[seat->number()];
      const Micros calm = std::max(seat->calm_since(), match.server_calm_since());
      const bool quiet = calm != Micros::max() && match.now() - calm > settled_after;
      if (!quiet || known.session != session->connection || known.rekeys != session->rekeys)
        known = {session->connection, session->rekeys, match.now()};
      if (match.now() - known.since > age_max + slack)
        return Finding{seat_name(*seat), "has sealed with the same keys for " +
                                             std::to_string((match.now() - known.since).count() / 1'000'000) +
                                             " s"};
    }
    return std::nullopt;
  }

 private:
  struct Known {
    std::uint32_t session = 0;
    std::uint64_t rekeys = 0;
    Micros since{0};
  };
  std::map<std::uint32_t, Known> known_;  // by seat
};

/// A body without a session stands still, and is gone when its time is over.
class BodiesGo final : public Invariant {
 public:
  std::string_view name() const override { return "a body without a player stands still, and not for ever"; }
  void on_server_start(const Match&) override { alone_since_.clear(); }
  std::optional<Finding> after_tick(const Match& match, const TrueFrame&, const TickRecord& record) override {
    for (const PlayerInput& input : record.commands) {
      if (alone_since_.find(input.player) == alone_since_.end() || played(match, input.player)) continue;
      const PlayerCommand& command = input.command;
      if (command.forward == 0 && command.left == 0 && command.buttons == 0) continue;
      return Finding{entity_name(input.player), "moves though it is nobody's"};
    }
    return std::nullopt;
  }
  std::optional<Finding> after_clients(const Match& match) override {
    const server::HostAudit& audit = match.audit();
    const std::uint32_t places = match.host()->world().setup().players_max;
    if (audit.sessions.size() + audit.away + audit.lingering > places)
      return Finding{"server", std::to_string(audit.sessions.size()) + " sessions, " +
                                   std::to_string(audit.away) + " bodies of who is away and " +
                                   std::to_string(audit.lingering) + " of who left a fight have " +
                                   std::to_string(places) + " places"};
    const PlayerTable& players = match.host()->world().players();
    const Micros longest = std::max(away_grace, server::HostConfig{}.fight_linger) + silence_noticed_within;
    for (const EntityId id : players.id) {
      if (id == EntityId{0} || played(match, id)) {
        alone_since_.erase(id);
        continue;
      }
      const auto [it, first] = alone_since_.try_emplace(id, match.now());
      if (match.now() - it->second > longest)
        return Finding{entity_name(id), "stands in the world for " +
                                            std::to_string((match.now() - it->second).count() / 1'000'000) +
                                            " s without a player"};
    }
    std::erase_if(alone_since_,
                  [&](const auto& row) { return match.host()->world().player_row(row.first) < 0; });
    return std::nullopt;
  }

 private:
  static bool played(const Match& match, EntityId id) {
    return std::ranges::find(match.audit().sessions, id, &server::SessionAudit::player) !=
           match.audit().sessions.end();
  }

  std::map<EntityId, Micros> alone_since_;
};

/// Who has no files gets the server's maps and props from it, byte for byte, and plays only with all of them.
class FetchedIsTrue final : public Invariant {
 public:
  std::string_view name() const override { return "what clients fetch is what the server has"; }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      for (const std::uint64_t hash : seat->fetched())
        if (!std::ranges::equal(seat->content(hash), match.shelf().find(hash).bytes))
          return Finding{seat_name(*seat), "got other bytes than the server has"};
      const Client* client = seat->client();
      if (!seat->fetches() || client == nullptr || client->state() != ClientState::playing) continue;
      const Welcome& welcome = client->welcome();
      const auto lacks = [&](const auto& wanted) { return seat->content(wanted.content_hash).empty(); };
      if (std::ranges::any_of(welcome.maps, lacks) || std::ranges::any_of(welcome.props, lacks))
        return Finding{seat_name(*seat), "plays without a map or prop"};
    }
    return std::nullopt;
  }
};

}  // namespace

void add_session_invariants(std::vector<std::unique_ptr<Invariant>>& out) {
  out.push_back(std::make_unique<AnswersAreSmall>());
  out.push_back(std::make_unique<OwnersStay>());
  out.push_back(std::make_unique<ForgeriesChangeNothing>());
  out.push_back(std::make_unique<BodiesWait>());
  out.push_back(std::make_unique<ForgeriesCostNothing>());
  out.push_back(std::make_unique<KeysChange>());
  out.push_back(std::make_unique<BodiesGo>());
  out.push_back(std::make_unique<FetchedIsTrue>());
}

}  // namespace ashlar::simulation
