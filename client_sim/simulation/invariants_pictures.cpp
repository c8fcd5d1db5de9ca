// What a client pictures is what was there, whole, and nobody comes and goes but by coming and going.

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "client_sim/simulation/told.h"
#include "protocol/snapshot/moving_record.h"
#include "server/host/host.h"
#include "server/host/overload.h"
#include "server/host/packed_snapshot.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
using client_sim::Client;
using client_sim::ClientState;
using client_sim::ViewCell;
namespace {

/// Whom a client holds in a block of a cell as of a tick was there at that tick, and was so. Who is missing
/// the next invariant sees.
class CellsAreTrue final : public Invariant {
 public:
  std::string_view name() const override { return "what a client holds of a cell was so on the server"; }
  void on_server_start(const Match& match) override { known_.assign(match.config().clients, {}); }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      if (match.session_of(*seat) == nullptr) continue;
      Known& known = known_[seat->number()];
      if (known.life != seat->lives()) known = {seat->lives(), {}};
      looked_.clear();
      for (const ViewCell& cell : seat->client()->view().cells()) {
        looked_.push_back({cell.cell, cell.block, cell.now.tick});
        if (std::ranges::binary_search(known.looked, looked_.back())) continue;
        const TrueFrame* frame = match.truth().at(cell.now.tick);
        if (frame == nullptr) continue;
        if (auto wrong = compare(cell, *frame))
          return Finding{seat_name(*seat), "holds " + text_of(cell) + std::move(*wrong)};
      }
      std::swap(known.looked, looked_);
    }
    return std::nullopt;
  }

 private:
  struct Looked {
    CellCoord cell;
    std::uint16_t block = 0;
    std::uint32_t tick = 0;
    friend auto operator<=>(const Looked&, const Looked&) = default;
  };
  struct Known {
    std::uint32_t life = 0;
    std::vector<Looked> looked;  // what the client held at the last look, in the order of its view
  };

  static std::string text_of(const ViewCell& held) {
    const CellCoord cell = held.cell;
    return "cell (" + std::to_string(cell.x) + ", " + std::to_string(cell.y) + ", " + std::to_string(cell.z) +
           ") of tick " + std::to_string(held.now.tick);
  }

  /// What is wrong with it, if anything.
  static std::optional<std::string> compare(const ViewCell& cell, const TrueFrame& frame) {
    for (const EntityRecord& held : cell.now.entities) {
      const auto there = frame.cell(cell.cell, held.id, held.id);
      if (there.empty() || !tells(held, there.front().record))
        return " with " + entity_name(held.id) + " as it was not";
    }
    return std::nullopt;
  }

  std::vector<Known> known_;
  std::vector<Looked> looked_;
};

/// Whoever is in a player's sight and in reach of interest is in each of its snapshots, or, where a snapshot
/// has no room for all, in one of so many that follow one another. Their cells are compared above.
class TheSeenAreTold final : public Invariant {
 public:
  std::string_view name() const override { return "a client is told of whom its player sees"; }
  void on_server_start(const Match& match) override {
    looked_.assign(match.config().clients, {});
    settled_ = 0;
  }
  std::optional<Finding> after_clients(const Match& match) override {
    note_overload(match);
    for (const auto& seat : match.seats()) {
      const server::SessionAudit* session = match.session_of(*seat);
      if (session == nullptr) continue;
      const std::uint32_t tick = seat->client()->complete_tick();
      Looked& looked = looked_[seat->number()];
      if (looked.life != seat->lives()) looked = {seat->lives(), 0, 0, tick, 0, 0, {}, {}};
      if (looked.tick + match.config().snapshot_every_ticks < tick) looked.since = tick;  // some were lost
      begin_session(looked, match, *seat);
      // One of the ticks since it was looked at last: a server that is behind plays some at once, and a
      // client whose line is over is not looked at.
      const std::uint32_t host_tick = match.host()->status().tick;
      const std::uint32_t before = std::exchange(looked.host_tick, host_tick);
      if (std::exchange(looked.congested, session->congested) != session->congested)
        looked.cuts.push_back({std::min(before + 1, host_tick), host_tick});
      looked.since = std::max(looked.since, settled_);
      if (std::exchange(looked.tick, tick) == tick) continue;
      note_told(seat->client()->view(), looked);
      // Those that the path cut short hold what it took, and for a while after it they go on from there.
      for (; !looked.cuts.empty() && looked.cuts.front().first <= tick; looked.cuts.pop_front())
        looked.since =
            std::max(looked.since, looked.cuts.front().second + match.config().snapshot_every_ticks);
      if (looked.since > tick) continue;
      const TrueFrame* frame = match.truth().at(tick);
      if (frame == nullptr) continue;
      const std::uint32_t wait = wait_ticks(match, *frame);
      // By rays it is known of few pairs in each tick that they see each other; without maps all do.
      if (wait > 0 && (tick - looked.since < wait || !match.config().maps.empty())) continue;
      if (auto missing = look_for_missing(match, *seat, *frame, session->player, wait)) return missing;
    }
    return std::nullopt;
  }

 private:
  struct Looked {
    std::uint32_t life = 0;
    std::uint32_t session = 0;
    std::uint32_t tick = 0;       // the newest complete one
    std::uint32_t since = 0;      // and every one from here on was, and was not cut short
    std::uint32_t host_tick = 0;  // when it was looked at last
    std::uint64_t congested = 0;  // that were cut short by then
    std::deque<std::pair<std::uint32_t, std::uint32_t>> cuts;  // from and until which server tick one was
    std::vector<std::pair<EntityId, std::uint32_t>> told;      // by slot: as of when it was last held
  };

  /// A session that goes on over another connection counts what was cut short from 0 again.
  static void begin_session(Looked& looked, const Match& match, const Seat& seat) {
    if (std::exchange(looked.session, seat.client()->session()) == seat.client()->session()) return;
    looked.congested = 0;
    looked.cuts.clear();
    looked.since =
        std::max(looked.since, match.host()->status().tick + 1 + match.config().snapshot_every_ticks);
  }

  /// While a server leaves things out, and until what it owes has come, who is far is not in each snapshot.
  void note_overload(const Match& match) {
    if (match.host() == nullptr || match.host()->status().overload_rung == 0) return;
    constexpr std::uint32_t divisor_max =
        server::snapshot_divisor(server::OverloadRung::quarter_rate, 60'000, 1);
    const std::uint32_t far_snapshots = server::far_every(server::OverloadRung::far_cells) * divisor_max;
    settled_ = match.host()->status().tick + 1 + (far_snapshots + 1) * match.config().snapshot_every_ticks;
  }

  /// Who walks from a block into another is in neither from when the one is told until the other is.
  static void note_told(const client_sim::View& view, Looked& looked) {
    for (const ViewCell& cell : view.cells())
      for (const EntityRecord& e : cell.now.entities) {
        const std::size_t slot = slot_of(e.id);
        if (slot >= looked.told.size()) looked.told.resize(slot + 1);
        auto& [id, tick] = looked.told[slot];
        tick = std::exchange(id, e.id) == e.id ? std::max(tick, cell.now.tick) : cell.now.tick;
      }
  }
  static bool was_told(const Looked& looked, EntityId id, std::uint32_t since) {
    const std::size_t slot = slot_of(id);
    return slot < looked.told.size() && looked.told[slot].first == id && looked.told[slot].second >= since;
  }

  /// How old the newest word of somebody in reach may be: by the bound that the server states, from the world
  /// as it was and not from what was sent.
  static std::uint32_t wait_ticks(const Match& match, const TrueFrame& frame) {
    const std::uint32_t snapshots = server::refresh_snapshots(
        frame.entities.size(), match.config().snapshot_bytes_max / datagram_bytes_max);
    // And a round more, as who was told of walks into blocks that are still to come.
    return snapshots == 1 ? 0 : (2 * snapshots - 1) * match.config().snapshot_every_ticks;
  }

  std::optional<Finding> look_for_missing(const Match& match, const Seat& seat, const TrueFrame& frame,
                                          EntityId viewer, std::uint32_t wait) {
    const double radius_m = server::HostConfig{}.interest_radius_m;
    eyes_.clear();
    for (std::uint32_t tick = frame.tick - wait; wait > 0 && tick <= frame.tick; ++tick) {
      const TrueFrame* then = match.truth().at(tick);
      const TruePlayer* self = then == nullptr ? nullptr : then->player(viewer);
      if (self == nullptr) return std::nullopt;  // it has not been in the world for so long
      eyes_.emplace_back(then, self->body.position_m);
    }
    for (const TrueSight& sight : frame.sights) {
      if (sight.viewer != viewer || sight.distance_m > radius_m) continue;
      if (!was_there(sight, radius_m - 2)) continue;  // the eye is above the base
      if (wait > 0 && was_told(looked_[seat.number()], sight.seen, frame.tick - wait)) continue;
      if (!is_told(seat.client()->view(), sight, frame, wait))
        return Finding{seat_name(seat), "was told nothing from tick " + std::to_string(frame.tick - wait) +
                                            " to " + std::to_string(frame.tick) + " of " +
                                            entity_name(sight.seen) + " in its cell, who is in its sight"};
    }
    return std::nullopt;
  }

  /// In its cell, and in reach, all the while.
  bool was_there(const TrueSight& sight, double radius_m) const {
    return std::ranges::all_of(eyes_, [&](const auto& eye) {
      const auto cell = eye.first->cell(sight.cell, sight.seen, sight.seen);
      if (cell.empty()) return false;
      const EntityRecord& e = cell.front().record;
      return length(dequantise({sight.cell, e.x, e.y, e.z}) - eye.second) <= radius_m;
    });
  }

  std::vector<Looked> looked_;  // by seat
  std::uint32_t settled_ = 0;   // by server tick: from here on nothing is left out
  std::vector<std::pair<const TrueFrame*, DVec3>> eyes_;
};

/// Floors and ceilings are told as they were, and until they are known.
class HeightsAreTrue final : public Invariant {
 public:
  std::string_view name() const override {
    return "floors and ceilings that a client holds are the server's";
  }
  void on_server_start(const Match& match) override { looked_.assign(match.config().clients, 0); }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      if (match.session_of(*seat) == nullptr) continue;
      const client_sim::View& view = seat->client()->view();
      const std::uint32_t before = std::exchange(looked_[seat->number()], view.newest_tick());
      if (before == view.newest_tick()) continue;
      for (std::size_t map = 0; map < match.config().maps.size(); ++map)
        if (auto wrong = compare(match, *seat, map, before < view.newest_tick() ? before : 0)) return wrong;
    }
    return std::nullopt;
  }

 private:
  /// So many rounds may be lost one after the other, of a sector in 10^9: one in a hundred datagrams is, also
  /// in calm.
  static int rounds_max(const Match& match) {
    const double lost = std::max(0.03, (match.config().line.loss + match.config().line.corrupt) / 100);
    return static_cast<int>(std::ceil(-9 / std::log10(lost)));
  }
  /// How long it may take until all sectors were told once.
  static Micros round_of(const Match& match) {
    std::size_t sectors = 0;
    for (const auto& map : match.config().maps) sectors += map->initial_heights().size();
    // A slice at least in each snapshot.
    const auto snapshots = static_cast<std::int64_t>(sectors / height_slice_sectors + 1);
    return std::max(Micros{1'000'000}, match.snapshot_interval() * snapshots);
  }

  static std::optional<Finding> compare(const Match& match, const Seat& seat, std::size_t map,
                                        std::uint32_t before) {
    const Client& client = *seat.client();
    const auto told = client.view().sectors(map);
    const std::size_t sectors = match.config().maps[map]->initial_heights().size();
    const auto name = [map](std::size_t i) {
      return "sector " + std::to_string(i) + " of map " + std::to_string(map);
    };
    for (std::size_t i = 0; i < told.size(); ++i) {
      if (told[i].tick <= before) continue;
      const TrueFrame* frame = match.truth().at(told[i].tick);
      if (frame == nullptr) continue;
      const WireHeights is = frame->heights[map][i];
      if (told[i].heights.floor != is.floor || told[i].heights.ceiling != is.ceiling)
        return Finding{seat_name(seat), "holds " + name(i) + " of tick " + std::to_string(told[i].tick) +
                                            " at other heights than the server had"};
    }
    const Micros age_max = rounds_max(match) * round_of(match);
    if (seat.hostile() || client.state() != ClientState::playing) return std::nullopt;
    if (!calm(match, seat, std::max(calm_enough, age_max))) return std::nullopt;
    const auto ticks_max =
        static_cast<std::uint32_t>(age_max.count() * match.config().tick_rate_hz / 1'000'000);
    const std::uint32_t newest_tick = client.view().newest_tick();
    if (newest_tick <= ticks_max) return std::nullopt;
    const TrueFrame* newest = match.truth().at(newest_tick);
    const TrueFrame* then = match.truth().at(newest_tick - ticks_max);
    for (std::size_t i = 0; i < sectors; ++i) {
      // What did not change is not said again; and what did just now may have been in a lost part.
      const auto so_at = [&](const TrueFrame* frame) {
        return frame == nullptr || (frame->heights[map][i].floor == told[i].heights.floor &&
                                    frame->heights[map][i].ceiling == told[i].heights.ceiling);
      };
      if (i >= told.size() || (told[i].tick + ticks_max < newest_tick && !so_at(newest) && !so_at(then)))
        return Finding{seat_name(seat), "was not told of " + name(i) + " for " +
                                            std::to_string(age_max.count() / 1'000'000) + " s"};
    }
    return std::nullopt;
  }

  std::vector<std::uint32_t> looked_;  // the newest tick, by seat
};

/// Who is well within interest, and was in a client's picture at one tick, is in that of the next: walking
/// from block to block takes nobody out of it. Where maps are it is not known whether he is in sight. A
/// client that heard nothing for a while, whose path took less than there was, or that was told all anew,
/// begins anew; who goes on with a session has its old picture until the first part of the new one.
class WalkersStay final : public Invariant {
 public:
  std::string_view name() const override { return "nobody is out of a client's picture because he walks"; }
  void on_server_start(const Match& match) override { pictures_.assign(match.config().clients, {}); }
  std::optional<Finding> after_clients(const Match& match) override {
    if (!match.config().maps.empty()) return std::nullopt;
    for (const auto& seat : match.seats()) {
      const server::SessionAudit* const session = match.session_of(*seat);
      Picture& picture = pictures_[seat->number()];
      const Client* const client = seat->client();
      if (session == nullptr || seat->hostile() || client == nullptr ||
          client->state() != ClientState::playing) {
        picture.tick = 0;
        continue;
      }
      const client_sim::View& view = client->view();
      const std::uint32_t tick = view.newest_tick(), before = picture.tick;
      if (tick == before) continue;
      const State now{seat->lives(),     client->stats().worlds, client->stats().resumes,
                      client->session(), session->congested,     match.host()->status().snapshots_anew};
      const std::uint32_t settled = match.config().tick_rate_hz / 4u;
      if (before == 0 || now != picture.state) picture.since = tick + settled;
      const bool goes_on =
          before != 0 && before >= picture.since && tick > before && tick - before <= settled;
      picture.tick = tick;
      picture.state = now;
      view.visit([&](const EntityRecord& e, CellCoord, std::uint32_t) {
        const std::size_t slot = slot_of(e.id);
        if (slot >= picture.seen.size()) picture.seen.resize(slot + 1);
        picture.seen[slot] = {e.id, tick};
      });
      if (!goes_on) continue;
      for (const Seen& seen : picture.seen)
        if (seen.tick == before && within(match, session->player, seen.id, before) &&
            within(match, session->player, seen.id, tick))
          return Finding{seat_name(*seat), "had " + entity_name(seen.id) + " in its picture at tick " +
                                               std::to_string(before) + " and not at tick " +
                                               std::to_string(tick) + ", who is near it all the while"};
    }
    return std::nullopt;
  }

 private:
  struct State {
    std::uint32_t life = 0;
    std::uint64_t worlds = 0, resumes = 0;
    std::uint32_t session = 0;
    std::uint64_t congested = 0, anew = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  struct Seen {
    EntityId id{};
    std::uint32_t tick = 0;
  };
  struct Picture {
    std::uint32_t tick = 0, since = 0;
    State state;
    std::vector<Seen> seen;  // by slot
  };

  /// Was somebody there at a tick, within half of the interest radius of a player?
  static bool within(const Match& match, EntityId viewer, EntityId id, std::uint32_t tick) {
    const TrueFrame* const frame = match.truth().at(tick);
    const TruePlayer* const self = frame == nullptr || viewer == id ? nullptr : frame->player(viewer);
    if (self == nullptr) return false;
    const auto entity =
        std::ranges::find(frame->entities, id, [](const TrueEntity& e) { return e.record.id; });
    if (entity == frame->entities.end()) return false;
    const EntityRecord& e = entity->record;
    const DVec3 off = dequantise({entity->cell, e.x, e.y, e.z}) - self->body.position_m;
    return length(off) < server::HostConfig{}.interest_radius_m / 2;
  }

  std::vector<Picture> pictures_;  // by seat
};

}  // namespace

void add_picture_invariants(std::vector<std::unique_ptr<Invariant>>& out) {
  out.push_back(std::make_unique<CellsAreTrue>());
  out.push_back(std::make_unique<TheSeenAreTold>());
  out.push_back(std::make_unique<HeightsAreTrue>());
  out.push_back(std::make_unique<WalkersStay>());
}

}  // namespace ashlar::simulation
