// Whom a client pictures: nobody comes and goes but by coming and going.

#include <algorithm>
#include <vector>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "server/host/host.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
using client_sim::Client;
using client_sim::ClientState;
namespace {

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
  out.push_back(std::make_unique<WalkersStay>());
}

}  // namespace ashlar::simulation
