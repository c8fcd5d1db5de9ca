// A client's player does what the client says, and what is said is heard.

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "server/host/host.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
namespace {

using client_sim::ClientState;

/// After so long in play without trouble the server applies what a client sends, each command for its tick.
constexpr Micros control_after{3'000'000};
constexpr Micros silence_max{1'000'000};
/// Where snapshots are rare, so many of them may be lost one after the other.
constexpr int snapshots_lost_max = 4;
/// A line that a calm client has not confirmed by then is lost.
constexpr Micros chat_wait_max{5'000'000};
/// As InputBuffer documents it: a missing command repeats the last one for so long, then the player stands.
constexpr double repeat_s = 0.1;

/// A command without what it claims to have seen, which the server holds within what it had sent by then.
PlayerCommand without_seen(PlayerCommand command) {
  command.seen = TickId{0};
  command.told_before = 0, command.told_after = 0;
  return command;
}

bool same_body(const Body& a, const Body& b) {
  const auto fields = [](const Body& v) {
    return std::tie(v.eye_offset_m, v.grounded, v.stuck_ticks, v.noclip);
  };
  return a.position_m == b.position_m && a.velocity_mps == b.velocity_mps &&
         a.recovery_velocity_mps == b.recovery_velocity_mps && a.recovery_target_m == b.recovery_target_m &&
         a.last_free_m == b.last_free_m && fields(a) == fields(b);
}

/// The own player that a client predicts from is the server's, to the last bit, and the command that it is
/// told was applied was applied.
class OwnStateIsTrue final : public Invariant {
 public:
  std::string_view name() const override {
    return "a client's own player and confirmed commands are the server's";
  }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      if (match.session_of(*seat) == nullptr) continue;
      const Client& client = *seat->client();
      if (!client.own()) continue;
      const TrueFrame* frame = match.truth().at(client.own_tick());
      if (frame == nullptr) continue;
      const TruePlayer* player = frame->player(client.own()->id);
      const std::string at = " of tick " + std::to_string(client.own_tick());
      if (player == nullptr)
        return Finding{seat_name(*seat),
                       "was told to be " + entity_name(client.own()->id) + at + ", who was not there"};
      if (!same_body(client.own()->body, player->body) || client.own()->health != player->health)
        return Finding{seat_name(*seat), "holds an own player" + at + " that is not the server's"};
      // Every part tells what was applied, and part 0 alone the own player: they come in any order.
      const std::uint32_t newest = client.view().newest_tick();
      if (client.applied_tick() > newest)
        return Finding{seat_name(*seat), "was told by tick " + std::to_string(newest) +
                                             " that its command for tick " +
                                             std::to_string(client.applied_tick()) + " was applied"};
      if (seat->hostile()) continue;
      const TrueFrame* then = match.truth().at(client.applied_tick());
      const PlayerCommand* sent = seat->sent_command(client.applied_tick());
      const TruePlayer* moved = then == nullptr ? nullptr : then->player(client.own()->id);
      if (sent != nullptr && moved != nullptr && without_seen(moved->command) != without_seen(*sent))
        return Finding{seat_name(*seat), "its confirmed command for tick " +
                                             std::to_string(client.applied_tick()) +
                                             " is not the one that moved it"};
    }
    return std::nullopt;
  }
};

/// What moves a player is what its client sent for that very tick; a missing command repeats the last one for
/// a few ticks, then the player stands still.
class CommandsAreTheirs final : public Invariant {
 public:
  std::string_view name() const override { return "players do what their clients sent for the tick"; }
  void on_server_start(const Match& match) override {
    last_.assign(match.host()->world().setup().players_max, {});
  }
  std::optional<Finding> after_tick(const Match& match, const TrueFrame& frame,
                                    const TickRecord& record) override {
    for (const PlayerInput& input : record.commands) {
      Last& last = last_[slot_of(input.player)];
      if (last.player != input.player) last = {input.player, {}, 0, true, frame.tick};
      // A body whose client is away has no commands, and the world may turn it: a start, a teleporter.
      if (last.tick + 1 < frame.tick) last.known = false;
      const Seat* seat = match.seat_of_player(input.player);
      const PlayerCommand* sent = seat == nullptr ? nullptr : seat->sent_command(frame.tick);
      const bool proves = seat != nullptr && !seat->hostile();
      const PlayerCommand command = without_seen(match.as_made(input));
      const bool own = sent != nullptr && without_seen(*sent) == command;
      const auto repeats_max = static_cast<unsigned>(match.config().tick_rate_hz * repeat_s + 0.5);
      const bool repeat = command == last.command && last.repeats < repeats_max;
      if (number(input.command.seen) >= frame.tick)
        return Finding{entity_name(input.player), "claims to have seen a tick that is still to come"};
      PlayerCommand still;
      still.yaw = last.command.yaw;
      still.pitch = last.command.pitch;
      // Whose client was away, or nobody's: what the server gave its body then is not known in its client's
      // terms.
      if (proves && last.known && !own && !repeat && !(command == still))
        return Finding{seat_name(*seat), "at tick " + std::to_string(frame.tick) +
                                             " its player did what it had not sent for that tick"};
      last.repeats = own ? 0 : last.repeats + 1;
      last.command = command;
      last.known = seat != nullptr;
      last.tick = frame.tick;
    }
    return std::nullopt;
  }

 private:
  struct Last {
    EntityId player{};
    PlayerCommand command;
    unsigned repeats = 0;
    bool known = true;
    std::uint32_t tick = 0;  // of the command
  };
  std::vector<Last> last_;  // by slot
};

/// Lines keep their order and each arrives once: from the client at the server, and from the server at all.
/// What a client said just before its session went on over another connection it may say there once more.
class ChatIsDependable final : public Invariant {
 public:
  std::string_view name() const override { return "chat keeps its order and each line arrives once"; }
  void on_server_start(const Match& match) override {
    taken_.clear();
    heard_.assign(match.config().clients, {});
    waiting_.assign(match.config().clients, {});
  }
  std::optional<Finding> on_event(const Match& match, const server::HostEvent& event) override {
    if (event.kind != server::HostEventKind::chat) return std::nullopt;
    const Seat* seat = match.seat_of_session(event.connection);
    if (seat == nullptr || seat->hostile() || seat->name() != event.name) return std::nullopt;
    const auto [it, first] = taken_.try_emplace(event.name);
    Taken& before = it->second;
    const std::uint32_t number = number_of(event.name, event.detail);
    // What waited when the one before broke off is taken as if it had come by this one, and may be said by
    // it.
    const bool other = event.connection != before.connection;
    const std::uint32_t waited = first ? 0 : other ? seat->lines_said() : before.waited;
    const bool again = number == before.number && (other || (number <= waited && number != before.repeated));
    // What it said to a server that was killed is gone.
    const bool next = number == before.number + 1 || first;
    if ((!next && !again) || number == 0 || number > seat->lines_said())
      return Finding{seat_name(*seat), "the server took line '" + event.detail + "' after line " +
                                           std::to_string(before.number) + " of " +
                                           std::to_string(seat->lines_said())};
    before = {number, event.connection, again ? number : before.repeated, waited};
    return std::nullopt;
  }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      const server::SessionAudit* session = match.session_of(*seat);
      Heard& heard = heard_[seat->number()];
      // What came while it sought another session counts with neither.
      if (session == nullptr && !seat->heard().empty()) heard = {};
      if (seat->hostile() || session == nullptr) continue;
      if (heard.connection != session->connection) heard = {session->connection, 0, 0, {}};
      for (const ChatLine& line : seat->heard())
        if (auto wrong = hear(match, *seat, heard, line)) return wrong;
      if (auto lost = look_for_lost(match, *seat, *session)) return lost;
    }
    return std::nullopt;
  }

 private:
  struct Taken {
    std::uint32_t number = 0;      // of the last line
    std::uint32_t connection = 0;  // that it came by
    std::uint32_t repeated = 0;    // the last one that came twice
    std::uint32_t waited = 0;      // up to which lines may have waited when the connection before broke off
  };
  struct Heard {
    std::uint32_t connection = 0;
    std::uint64_t lines = 0, missed = 0;
    std::map<std::string, std::uint32_t> of_speaker;
  };
  struct Waiting {
    std::uint32_t connection = 0;
    std::uint64_t heard = 0;
    Micros since{0};
  };

  /// "NAME #7" is 7 when NAME said it; 0 for any other text.
  static std::uint32_t number_of(const std::string& speaker, const std::string& text) {
    if (!text.starts_with(speaker + " #")) return 0;
    return static_cast<std::uint32_t>(std::strtoul(text.c_str() + speaker.size() + 2, nullptr, 10));
  }

  /// Seats name their clients "p7.2", the second one of seat 7.
  static bool hostile_speaker(const Match& match, const std::string& name) {
    const auto seat = static_cast<std::size_t>(std::strtoul(name.c_str() + 1, nullptr, 10));
    return seat >= match.seats().size() || match.seats()[seat]->hostile();
  }

  /// A line follows the one before of its speaker, but for those that the server gave up.
  std::optional<Finding> hear(const Match& match, const Seat& seat, Heard& heard, const ChatLine& line) {
    ++heard.lines;
    const std::uint32_t number = number_of(line.from, line.text);
    if (number == 0 || hostile_speaker(match, line.from)) return std::nullopt;
    std::uint32_t& before = heard.of_speaker[line.from];
    const auto taken = taken_.find(line.from);
    const bool again = number == before && taken != taken_.end() && taken->second.repeated == number;
    if (number <= before && !again)
      return Finding{seat_name(seat), "heard '" + line.text + "' after line " + std::to_string(before)};
    if (before != 0 && !again) heard.missed += number - before - 1;
    before = number;
    const std::uint64_t given_up = match.host()->status().chat_given_up;
    if (heard.missed > given_up)
      return Finding{seat_name(seat), "heard '" + line.text + "' and has missed " +
                                          std::to_string(heard.missed) + " lines; the server gave up " +
                                          std::to_string(given_up)};
    return std::nullopt;
  }

  /// Lines that wait for a calm client while it hears none will not come.
  std::optional<Finding> look_for_lost(const Match& match, const Seat& seat,
                                       const server::SessionAudit& session) {
    Waiting& waiting = waiting_[seat.number()];
    const std::uint64_t heard = heard_[seat.number()].lines;
    const bool same = waiting.connection == session.connection && waiting.heard == heard;
    if (!same || session.chat_bytes_waiting == 0 || !calm(match, seat))
      waiting = {session.connection, heard, match.now()};
    if (match.now() - waiting.since > chat_wait_max)
      return Finding{seat_name(seat),
                     "has heard nothing for " + std::to_string(chat_wait_max.count() / 1'000'000) +
                         " s while " + std::to_string(session.chat_bytes_waiting) + " bytes of lines wait"};
    return std::nullopt;
  }

  std::map<std::string, Taken> taken_;  // by speaker
  std::vector<Heard> heard_;
  std::vector<Waiting> waiting_;
};

/// Where nothing has gone wrong for a while, everybody plays.
class CalmClientsPlay final : public Invariant {
 public:
  std::string_view name() const override { return "a client without trouble plays"; }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      if (seat->hostile() || !calm(match, *seat)) continue;
      if (seat->client() == nullptr || seat->client()->state() != ClientState::playing)
        return Finding{seat_name(*seat),
                       seat->client() == nullptr ? "is away" : "is " + std::string(name_of(*seat->client()))};
      const Micros silent = seat->silent();
      const Micros allowed = std::max(silence_max, (snapshots_lost_max + 1) * match.snapshot_interval());
      if (silent > allowed)
        return Finding{seat_name(*seat),
                       "has had no snapshot for " + std::to_string(silent.count() / 1000) + " ms"};
      const std::uint32_t newest = seat->client()->view().newest_tick(), now = match.host()->status().tick;
      if (newest > now ||
          (now - newest) * std::int64_t{1'000'000} / match.config().tick_rate_hz > allowed.count())
        return Finding{seat_name(*seat), "has snapshots up to tick " + std::to_string(newest) +
                                             " when the server is at " + std::to_string(now)};
    }
    return std::nullopt;
  }

 private:
  static std::string_view name_of(const Client& client) { return client_sim::name(client.state()); }
};

/// Whatever went wrong before, with clocks, links or the server: soon after it a player does what its client
/// wants, not what it wanted last or nothing.
class CalmClientsAreInControl final : public Invariant {
 public:
  std::string_view name() const override { return "a client without trouble is in control"; }
  void on_server_start(const Match& match) override { playing_.assign(match.config().clients, {}); }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      // What is lost of a stream is resent some 200 ms later, and all that follows waits for it.
      const bool halting = match.config().line.loss > 3 && seat->client() != nullptr &&
                           seat->client()->transport() == Transport::tcp;
      const std::uint32_t ticks_max = match.config().tick_rate_hz * (halting ? 6u : 3u) / 4;
      Playing& playing = playing_[seat->number()];
      const bool plays = !seat->hostile() && match.session_of(*seat) != nullptr &&
                         seat->client()->state() == ClientState::playing;
      if (!plays || playing.life != seat->lives()) playing = {seat->lives(), match.now()};
      const Micros after = control_after + snapshots_lost_max * match.snapshot_interval();
      if (match.now() - playing.since < after || !calm(match, *seat, after)) continue;
      const Client& client = *seat->client();
      if (client.own_tick() <= client.applied_tick() + ticks_max) continue;
      return Finding{seat_name(*seat),
                     "has no command applied since tick " + std::to_string(client.applied_tick()) +
                         ", seen at tick " + std::to_string(client.own_tick()) +
                         ", and its newest is for tick " + std::to_string(client.command_tick())};
    }
    return std::nullopt;
  }

 private:
  struct Playing {
    std::uint32_t life = 0;
    Micros since{0};
  };
  std::vector<Playing> playing_;
};

}  // namespace

void add_client_invariants(std::vector<std::unique_ptr<Invariant>>& out) {
  out.push_back(std::make_unique<OwnStateIsTrue>());
  out.push_back(std::make_unique<CommandsAreTheirs>());
  out.push_back(std::make_unique<ChatIsDependable>());
  out.push_back(std::make_unique<CalmClientsPlay>());
  out.push_back(std::make_unique<CalmClientsAreInControl>());
}

}  // namespace ashlar::simulation
