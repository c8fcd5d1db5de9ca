#include "client_sim/explore/party.h"

#include <algorithm>
#include <utility>

#include "world/bsp/placement.h"
#include "world/sim/mover_bodies.h"
#include "world/sim/player_move.h"

namespace ashlar::client_sim {
namespace {

constexpr double doorway_top_m = 1.2;  // so near the top of the stairs it goes on to their foot

bool inside(const PlacedMap& map, DVec3 p) {
  const BlockBox& box = map.box();
  return p.x > box.min.x && p.x < box.max.x && p.y > box.min.y && p.y < box.max.y && p.z < map.roof_m();
}

}  // namespace

std::span<ExploreParty::Ground> ExploreParty::grounds(const Welcome& welcome) {
  const auto same = [&](const Prepared& world) {
    return std::ranges::equal(world.maps, welcome.maps, {}, {}, &WelcomeMap::content_hash);
  };
  const auto world = std::ranges::find_if(worlds_, same);
  return world == worlds_.end() ? std::span<Ground>{} : std::span(world->grounds);
}

void ExploreParty::prepare(const Welcome& welcome) {
  if (welcome.maps.empty() || !grounds(welcome).empty()) return;
  Prepared& world = worlds_.emplace_back();
  for (const WelcomeMap& map : welcome.maps) {
    world.maps.push_back(map.content_hash);
    Ground& ground = world.grounds.emplace_back();
    ground.map = placed_(map);
    if (ground.map == nullptr) continue;
    ground.expedition = std::make_shared<Expedition>(ground.map, welcome.rules);
    ground.router = std::make_shared<Router>();
  }
}

std::vector<Explored> ExploreParty::explored() const {
  std::vector<Explored> out;
  for (const Prepared& world : worlds_)
    for (const Ground& ground : world.grounds) {
      if (ground.map == nullptr) continue;
      const Expedition& e = *ground.expedition;
      out.push_back({ground.map->name(), e.entered_count(), e.plan().sector_count()});
    }
  return out;
}

PartyExplorer::PartyExplorer(std::shared_ptr<ExploreParty> party, std::uint64_t seed)
    : party_(std::move(party)), seed_(seed) {}

/// The present command was that of every tick since the last call.
void PartyExplorer::note_commands(std::uint32_t newest_tick) {
  const std::uint32_t first =
      newest_tick - thought_tick_ > given_max ? newest_tick - given_max : thought_tick_;
  for (std::uint32_t tick = first + 1; tick != newest_tick + 1; ++tick)
    given_[tick % given_max] = command_.value_or(PlayerCommand{});
  thought_tick_ = newest_tick;
}

/// In another match the map is as it was at first, and so is what its explorers are after.
void PartyExplorer::note_match(const Client& client, ExploreParty::Ground& ground) {
  if (!client.score()) return;
  const std::uint64_t now = std::uint64_t{client.score()->world} << 32 | client.score()->match;
  if (ground.match != now) {
    if (ground.match != 0) ground.expedition->begin_anew();
    ground.match = now;
    ground.heights_tick = 0;
  }
  if (std::exchange(match_, now) != now) explorer_.reset(), keys_ = 0;
}

Body PartyExplorer::carried_on(const Client& client, const ExploreParty::Ground& ground) const {
  const Expedition& e = *ground.expedition;
  Body body = client.own()->body;
  const std::uint32_t ahead = client.command_tick() - client.own_tick();
  if (client.command_tick() <= client.own_tick() || ahead > given_max) return body;
  for (std::uint32_t tick = client.own_tick() + 1; tick != client.command_tick() + 1; ++tick)
    player_move(e.space(), e.rules(), given_[tick % given_max], body,
                floor_velocity(e.plan(), e.heights(), body));
  return body;
}

/// The ground that its client is on, and its explorer on it; null: it is on the surface, or dead.
ExploreParty::Ground* PartyExplorer::enter(const Client& client) {
  const OwnPlayer& own = *client.own();
  const std::span<ExploreParty::Ground> grounds = party_->grounds(client.welcome());
  std::size_t at = 0;
  while (at < grounds.size() &&
         (grounds[at].map == nullptr || !inside(*grounds[at].map, own.body.position_m)))
    ++at;
  if (at == grounds.size() || own.health == 0) {
    if (explorer_) keys_ = explorer_->keys();
    explorer_.reset();
    return nullptr;
  }
  ExploreParty::Ground& ground = grounds[at];
  note_match(client, ground);
  if (!explorer_ || on_ != ground.expedition) {
    if (on_ != ground.expedition) number_ = ground.explorers++, keys_ = 0;
    on_ = ground.expedition;
    explorer_.emplace(ground.expedition, ground.router, number_, seed_);
    explorer_->know_keys(keys_);
    if (leaves_) explorer_->leave_by_exit();
  }
  const SectorForecast& sectors = client.sectors();
  if (at < sectors.map_count() && sectors.tick() > ground.heights_tick) {
    ground.heights_tick = sectors.tick();
    ground.expedition->observe(sectors.tick() * client.welcome().rules.tick_s(), sectors.heights(at));
  }
  return &ground;
}

std::optional<PlayerCommand> PartyExplorer::think(const Client& client) {
  if (!client.own()) return std::nullopt;
  if (client.command_tick() == thought_tick_) return command_;
  note_commands(client.command_tick());
  ExploreParty::Ground* const ground = enter(client);
  if (client.own()->health == 0) {
    // Dead: back as soon as it goes, and anew from wherever that is.
    command_ = PlayerCommand{};
    if (thought_tick_ % 2 == 0) command_->buttons = button::use;
  } else if (ground == nullptr) {
    command_.reset();
  } else {
    explorer_->seek(seek_m_);
    command_ = explorer_->think(carried_on(client, *ground));
  }
  return command_;
}

void PartyExplorer::rest(const Client& client) {
  if (!client.own() || client.command_tick() == thought_tick_) return;
  note_commands(client.command_tick());
  if (ExploreParty::Ground* const ground = enter(client)) explorer_->rest(carried_on(client, *ground));
  command_ = PlayerCommand{};
}

std::optional<DVec2> PartyExplorer::way_in(const Client& client) const {
  const DVec2 here = xy(client.own()->body.position_m);
  std::optional<DVec2> nearest;
  double nearest_m = 1e9;
  for (const ExploreParty::Ground& ground : party_->grounds(client.welcome())) {
    if (ground.map == nullptr) continue;
    for (const Doorway& doorway : ground.map->doorways()) {
      const double away_m = length(xy(doorway.top_m) - here);
      if (away_m >= nearest_m) continue;
      nearest_m = away_m;
      nearest = xy(away_m < doorway_top_m ? doorway.foot_m : doorway.top_m);
    }
  }
  return nearest;
}

}  // namespace ashlar::client_sim
