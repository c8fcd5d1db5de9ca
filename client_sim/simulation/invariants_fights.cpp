// What must hold of fights and matches: each hit is told once and in its order to whom it concerns, and
// health, armour and score are to a client what they are to the server.

#include <algorithm>
#include <deque>
#include <map>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "server/host/fight_desk.h"
#include "world/sim/combat.h"
#include "world/sim/match.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
namespace {

/// Who is calm is told of fights within that.
constexpr std::uint32_t told_within_s = 6;
constexpr std::uint32_t fights_kept_s = 34;
/// Of monsters whose deaths some are told of.
constexpr std::size_t monster_deaths_kept = 4096;

std::string hit_text(const CombatEvent& hit) {
  return std::string(hit.kind == CombatEventKind::died ? "death" : "hit") + " of " + entity_name(hit.who) +
         " by " + entity_name(hit.by) + " of " + std::to_string(hit.points) + " points";
}

/// Deaths of players are everybody's, other hits those of who gave and who took them.
class HitsAreToldOnce final : public Invariant {
 public:
  std::string_view name() const override { return "hits are told once"; }
  void on_server_start(const Match&) override { desks_.clear(), before_.clear(); }

  std::optional<Finding> after_tick(const Match& match, const TrueFrame& frame, const TickRecord&) override {
    const auto events = match.host()->world().combat().events();
    const std::size_t rows = match.host()->world().players().rows();
    for (auto& [connection, desk] : desks_) desk.there = false;
    for (const server::SessionAudit& session : match.audit().sessions) {
      if (!session.playing) continue;
      const auto [it, first] = desks_.try_emplace(session.connection);
      Desk& desk = it->second;
      desk.there = true;
      const auto add = [&](std::uint32_t tick, std::span<const CombatEvent> list) {
        for (const CombatEvent& hit : list) {
          const bool died = hit.kind == CombatEventKind::died, player = slot_of(hit.who) < rows;
          if ((died && player) || hit.who == session.player || hit.by == session.player)
            desk.expected.push_back({tick, hit});
          else if (died)
            desk.monsters.push_back(hit);
        }
        while (desk.monsters.size() > monster_deaths_kept) desk.monsters.pop_front();
      };
      // Who came in the tick before was told of that one already.
      if (first) add(frame.tick - 1, before_);
      add(frame.tick, events);
    }
    std::erase_if(desks_, [](const auto& entry) { return !entry.second.there; });
    before_.assign(events.begin(), events.end());
    return std::nullopt;
  }

  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      const server::SessionAudit* const session = match.session_of(*seat);
      if (seat->hostile() || session == nullptr) continue;
      const auto at = desks_.find(session->connection);
      if (at == desks_.end()) continue;
      for (const HeardHit& heard : seat->hits())
        if (heard.session == session->connection)
          if (auto wrong = hear(*seat, at->second, heard.hit)) return wrong;
      if (auto lost = look_for_lost(match, *seat, at->second)) return lost;
    }
    return std::nullopt;
  }

 private:
  struct Expected {
    std::uint32_t tick = 0;
    CombatEvent hit;
  };
  /// What a session has yet to be told.
  struct Desk {
    std::deque<Expected> expected;
    std::deque<CombatEvent> monsters;  // whose deaths it is told of if it knew of them
    bool there = true;
    bool begun = false;  // it was told of some: from then on of all
  };

  static std::optional<Finding> hear(const Seat& seat, Desk& desk, const CombatEvent& hit) {
    const auto monster = std::ranges::find(desk.monsters, hit);
    if (monster != desk.monsters.end()) {
      desk.monsters.erase(monster);
      return std::nullopt;
    }
    // What is beyond a desk's bound is lost, the oldest first.
    const auto may_skip = [&] { return !desk.begun || desk.expected.size() > server::FightDesk::hits_max; };
    while (!desk.expected.empty() && desk.expected.front().hit != hit && may_skip())
      desk.expected.pop_front();
    if (desk.expected.empty())
      return Finding{seat_name(seat), "was told of a " + hit_text(hit) + " twice, or of none"};
    if (desk.expected.front().hit != hit)
      return Finding{seat_name(seat), "was told of a " + hit_text(hit) + " before a " +
                                          hit_text(desk.expected.front().hit) + " of tick " +
                                          std::to_string(desk.expected.front().tick)};
    desk.expected.pop_front();
    desk.begun = true;
    return std::nullopt;
  }

  static std::optional<Finding> look_for_lost(const Match& match, const Seat& seat, Desk& desk) {
    const std::uint32_t now = match.host()->status().tick, late = told_within_s * match.config().tick_rate_hz;
    // Who is cut off at its start hears of it when it is heard of again.
    if (!calm(match, seat)) return std::nullopt;
    while (!desk.begun && !desk.expected.empty() && desk.expected.front().tick + late < now)
      desk.expected.pop_front();
    if (desk.expected.empty()) return std::nullopt;
    if (desk.expected.front().tick + late >= now) return std::nullopt;
    return Finding{seat_name(seat), "was not told of a " + hit_text(desk.expected.front().hit) + " of tick " +
                                        std::to_string(desk.expected.front().tick)};
  }

  std::map<std::uint32_t, Desk> desks_;  // by connection
  std::vector<CombatEvent> before_;      // of the last tick
};

/// Health, armour, match and score that a client was told of a tick are those of that tick.
class ScoreAndHealthAreTrue final : public Invariant {
 public:
  std::string_view name() const override { return "health and score are the server's"; }
  void on_server_start(const Match&) override { health_.clear(), matches_.clear(); }

  std::optional<Finding> after_tick(const Match& match, const TrueFrame& frame, const TickRecord&) override {
    const World& world = match.host()->world();
    const std::uint32_t kept = fights_kept_s * match.config().tick_rate_hz;
    const PlayerTable& players = world.players();
    health_.resize(players.rows());
    for (std::size_t i = 0; i < players.rows(); ++i) {
      const Health now{frame.tick, players.id[i], players.health[i], players.armour[i]};
      std::deque<Health>& of = health_[i];
      if (of.empty() || of.back().id != now.id || of.back().points != now.points ||
          of.back().armour != now.armour)
        of.push_back(now);
      while (of.size() > 1 && of[1].tick + kept < frame.tick) of.pop_front();
    }
    const ashlar::Match& m = world.match();
    Score now{frame.tick, m.number, m.phase, m.team_score, m.players};
    if (matches_.empty() || !same(matches_.back(), now)) matches_.push_back(std::move(now));
    while (matches_.size() > 1 && matches_[1].tick + kept < frame.tick) matches_.pop_front();
    return std::nullopt;
  }

  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      const server::SessionAudit* const session = match.session_of(*seat);
      if (session == nullptr || !session->playing || seat->hostile()) continue;
      const Client& client = *seat->client();
      if (client.fight() && client.session() == seat->fight_session())
        if (auto wrong = look(*seat, *session, *client.fight())) return wrong;
      if (client.score() && client.session() == seat->score_session())
        if (auto wrong = look(*seat, *client.score())) return wrong;
    }
    return std::nullopt;
  }

 private:
  struct Health {
    std::uint32_t tick = 0;
    EntityId id{};
    std::uint16_t points = 0, armour = 0;
  };
  struct Score {
    std::uint32_t tick = 0, number = 0;
    MatchPhase phase{};
    std::array<std::int32_t, teams_max> teams{};
    std::vector<MatchPlayer> players;
  };

  static bool same(const Score& a, const Score& b) {
    const auto row = [](const MatchPlayer& x, const MatchPlayer& y) {
      return x.id == y.id && x.score == y.score && x.kills == y.kills && x.deaths == y.deaths &&
             x.team == y.team;
    };
    return a.number == b.number && a.phase == b.phase && a.teams == b.teams &&
           std::ranges::equal(a.players, b.players, row);
  }

  /// How it was in a tick; null: that is too long ago.
  template <typename State>
  static const State* at(const std::deque<State>& states, std::uint32_t tick) {
    const auto after = std::ranges::upper_bound(states, tick, {}, &State::tick);
    return after == states.begin() ? nullptr : &*std::prev(after);
  }

  std::optional<Finding> look(const Seat& seat, const server::SessionAudit& session,
                              const Fight& told) const {
    const std::size_t row = slot_of(session.player);
    const Health* const was = row < health_.size() ? at(health_[row], told.tick) : nullptr;
    if (was == nullptr || was->id != session.player) return std::nullopt;
    if (was->points == told.health && was->armour == told.armour) return std::nullopt;
    return Finding{seat_name(seat), "was told of " + std::to_string(told.health) + " points of health and " +
                                        std::to_string(told.armour) + " of armour in tick " +
                                        std::to_string(told.tick) + ", and had " +
                                        std::to_string(was->points) + " and " + std::to_string(was->armour)};
  }

  std::optional<Finding> look(const Seat& seat, const ashlar::Score& told) const {
    const Score* const was = at(matches_, told.tick);
    if (was == nullptr) return std::nullopt;
    const std::string when = " of tick " + std::to_string(told.tick);
    if (told.match != was->number || told.phase != was->phase || told.teams != was->teams)
      return Finding{seat_name(seat), "was told of another match" + when};
    for (const ScoreRow& row : told.rows) {
      const std::size_t slot = slot_of(row.id);
      const bool there = slot < was->players.size() && was->players[slot].id == row.id;
      if (!there) return Finding{seat_name(seat), "was told the score of " + entity_name(row.id) + when};
      const MatchPlayer& p = was->players[slot];
      if (p.score != row.score || p.kills != row.kills || p.deaths != row.deaths || p.team != row.team)
        return Finding{seat_name(seat), "was told another score of " + entity_name(row.id) + when};
    }
    return std::nullopt;
  }

  std::vector<std::deque<Health>> health_;  // by player row, where it changed
  std::deque<Score> matches_;               // where it changed
};

}  // namespace

void add_fight_invariants(std::vector<std::unique_ptr<Invariant>>& out) {
  out.push_back(std::make_unique<HitsAreToldOnce>());
  out.push_back(std::make_unique<ScoreAndHealthAreTrue>());
}

}  // namespace ashlar::simulation
