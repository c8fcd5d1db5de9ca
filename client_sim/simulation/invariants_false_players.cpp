// Who lies about what he received harms nobody else, and who was frozen soon sees the world again.

#include <algorithm>
#include <map>

#include "client_sim/simulation/invariant.h"
#include "client_sim/simulation/match.h"
#include "client_sim/simulation/told.h"
#include "protocol/connection/congestion.h"
#include "server/host/host.h"

namespace ashlar::simulation {
namespace {

using client_sim::ClientState;

/// All clients were frozen, and go on: by then each sees the world as it is.
constexpr Micros recovered_within{2'000'000};
/// No other trouble for so long: what is wrong now comes of the freeze.
constexpr Micros untroubled_for{12'000'000};
/// What a calm client has is no older, with its line's latency and jitter; and as many snapshots one after
/// the other may be lost.
constexpr Micros way_max{120'000};
constexpr int lost_in_a_row_max = 4;
/// What goes to who acknowledges nothing: a first window, and what is asked with each probe, four times a
/// second.
constexpr std::uint64_t unanswered_first = 2 * Congestion::window_first;
constexpr std::uint64_t unanswered_per_s = 5 * (unreliable_per_probe + 1) * Congestion::packet_bytes;

/// Whoever is in sight, or nothing where the client can see.
std::optional<EntityId> first_missing(const Match& match, const Seat& seat, const TrueFrame& frame,
                                      EntityId viewer) {
  const std::uint32_t wait = match.config().tick_rate_hz;
  const TrueFrame* before = frame.tick > wait ? match.truth().at(frame.tick - wait) : nullptr;
  const TruePlayer* self = before == nullptr ? nullptr : before->player(viewer);
  if (self == nullptr) return std::nullopt;  // it has not been there for so long
  const double radius_m = server::HostConfig{}.interest_radius_m - 12;
  for (const TrueSight& sight : frame.sights) {
    if (sight.viewer != viewer || sight.distance_m > radius_m) continue;
    // In reach then as now, in the same cell.
    const auto there = before->cell(sight.cell, sight.seen, sight.seen);
    if (there.empty()) continue;
    const EntityRecord& e = there.front().record;
    if (length(dequantise({sight.cell, e.x, e.y, e.z}) - self->body.position_m) > radius_m) continue;
    if (!is_told(seat.client()->view(), sight, frame, wait)) return sight.seen;
  }
  return std::nullopt;
}

/// After `kill -STOP` and `-CONT` of all clients: within two seconds each plays on, hears, and holds the
/// world as it is. That nothing of what it holds is wrong others see to.
class FrozenViewsRecover final : public Invariant {
 public:
  std::string_view name() const override { return "views agree with the world soon after a freeze"; }
  std::optional<Finding> after_clients(const Match& match) override {
    const Micros thawed = match.thawed_since();
    // Later the checks of those without trouble look anyway.
    if (thawed == Micros::max() || match.now() - thawed < recovered_within ||
        match.now() - thawed > untroubled_for)
      return std::nullopt;
    for (const auto& seat : match.seats()) {
      const Micros since = std::max(seat->calm_but_for_freezes_since(), match.server_calm_since());
      if (seat->hostile() || since == Micros::max() || since + untroubled_for > thawed) continue;
      if (auto wrong = look(match, *seat)) return wrong;
    }
    return std::nullopt;
  }

 private:
  static std::optional<Finding> look(const Match& match, const Seat& seat) {
    const Client* client = seat.client();
    const server::SessionAudit* session = match.session_of(seat);
    if (client == nullptr || session == nullptr || client->state() != ClientState::playing)
      return Finding{seat_name(seat), "does not play though it could for two seconds"};
    const std::uint32_t now = match.host()->status().tick, tick = client->complete_tick();
    // Whole ones wait for a path that takes them, which is narrower after a second without an answer.
    const std::int64_t allowed_us =
        std::max<std::int64_t>(1'000'000, (lost_in_a_row_max + 1) * match.snapshot_interval().count());
    if ((now - std::min(now, tick)) * std::int64_t{1'000'000} / match.config().tick_rate_hz > allowed_us)
      return Finding{seat_name(seat), "has whole snapshots up to tick " + std::to_string(tick) +
                                          " when the server is at " + std::to_string(now)};
    const TrueFrame* frame = match.truth().at(tick);
    if (frame == nullptr) return std::nullopt;
    if (const auto missing = first_missing(match, seat, *frame, session->player))
      return Finding{seat_name(seat),
                     "knows nothing new at tick " + std::to_string(tick) + " of " + entity_name(*missing)};
    return std::nullopt;
  }
};

/// While somebody lies who is without trouble has its snapshots as soon as ever. Over a stream what is lost
/// holds up what follows: that is none of his doing.
class LiesAreNotNoticed final : public Invariant {
 public:
  std::string_view name() const override { return "nobody notices who lies about what he received"; }
  std::optional<Finding> after_clients(const Match& match) override {
    const bool somebody = std::ranges::any_of(match.seats(), [](const auto& seat) {
      return seat->guest() != nullptr && seat->guest()->player() != nullptr;
    });
    if (!somebody) return std::nullopt;
    const auto loss = match.config().line.loss + match.config().line.corrupt + match.config().line.reorder;
    if (loss > 0) return std::nullopt;  // lines that are always bad make snapshots late by themselves
    const Micros allowed = way_max + (lost_in_a_row_max + 1) * match.snapshot_interval();
    for (const auto& seat : match.seats()) {
      const bool untroubled =
          calm(match, *seat, untroubled_for) && match.now() - seat->roamed_at() > untroubled_for;
      const Client* client = seat->client();
      if (!untroubled || seat->hostile() || client == nullptr || client->state() != ClientState::playing ||
          client->transport() != Transport::udp)
        continue;
      const std::uint32_t now = match.host()->status().tick, newest = client->view().newest_tick();
      const Micros old{(now - std::min(now, newest)) * std::int64_t{1'000'000} / match.config().tick_rate_hz};
      if (old > allowed)
        return Finding{seat_name(*seat), "has snapshots that are " + std::to_string(old.count() / 1000) +
                                             " ms old while somebody lies"};
    }
    return std::nullopt;
  }
};

/// And he himself gets little for it.
class DeafAreSentLittle final : public Invariant {
 public:
  std::string_view name() const override { return "who acknowledges nothing is sent little"; }
  std::optional<Finding> after_clients(const Match& match) override {
    for (const auto& seat : match.seats()) {
      const auto* player = seat->guest() == nullptr ? nullptr : seat->guest()->player();
      if (player == nullptr || player->acks() != client_sim::FalseAcks::none || player->session() == 0)
        continue;
      const std::int64_t us = (match.now() - player->session_since()).count();
      const auto allowed = unanswered_first + unanswered_per_s * static_cast<std::uint64_t>(us) / 1'000'000;
      if (player->session_bytes_in() > allowed)
        return Finding{"guest of " + seat_name(*seat),
                       "was sent " + std::to_string(player->session_bytes_in()) + " bytes in " +
                           std::to_string(us / 1000) + " ms and acknowledged none"};
    }
    return std::nullopt;
  }
};

}  // namespace

void add_false_player_invariants(std::vector<std::unique_ptr<Invariant>>& out) {
  out.push_back(std::make_unique<FrozenViewsRecover>());
  out.push_back(std::make_unique<LiesAreNotNoticed>());
  out.push_back(std::make_unique<DeafAreSentLittle>());
}

}  // namespace ashlar::simulation
