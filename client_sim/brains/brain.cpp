#include "client_sim/brains/brain.h"

#include <array>

#include "client_sim/brains/builder.h"
#include "client_sim/brains/fighter.h"
#include "client_sim/explore/party.h"
#include "world/sim/pickups.h"

namespace ashlar::client_sim {
namespace {

bool is_monster(EntityKind kind) {
  return kind >= entity_kind(MonsterKind{0}) && kind < projectile_entity_kind(0);
}

bool is_item(EntityKind kind) { return kind >= item_entity_kind(0); }

/// How much further than whom it hunts an item may be for a hunter to fetch it first.
constexpr double item_detour = 0.7;

constexpr double watch_from_m = 6;

constexpr Micros look_every{std::chrono::milliseconds{500}};
// Slower than this over half a second while walking is a wall.
constexpr double still_m_max = 0.5;
constexpr std::array<std::string_view, brain_kind_count> names{
    "wander", "crowd", "idle", "jumper", "follow", "hunt", "explore", "build", "fight", "watch"};

Micros millis(std::uint32_t count) { return Micros{static_cast<std::int64_t>(count) * 1000}; }

}  // namespace

std::string_view name(BrainKind kind) { return names[static_cast<std::size_t>(kind)]; }

std::optional<BrainKind> brain_kind(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return static_cast<BrainKind>(i);
  return std::nullopt;
}

Brain::Brain(BrainKind kind, std::uint64_t seed, std::shared_ptr<ExploreParty> party)
    : kind_(kind), rng_{seed} {
  if (kind == BrainKind::explore && party != nullptr)
    explorer_ = std::make_unique<PartyExplorer>(party, seed);
  if (kind == BrainKind::build) builder_ = std::make_unique<Builder>(seed);
  if (kind == BrainKind::fight) fighter_ = std::make_unique<Fighter>(std::move(party), seed);
}
Brain::Brain(Brain&&) noexcept = default;
Brain& Brain::operator=(Brain&&) noexcept = default;
Brain::~Brain() = default;

bool Brain::stands_still(Micros now, const Client& client) {
  if (now < next_look_ || !client.own()) return false;
  next_look_ = now + look_every;
  const DVec3 here = client.own()->body.position_m;
  const double way_m = length(xy(here - looked_from_m_));
  looked_from_m_ = here;
  return way_m < still_m_max;
}

std::optional<DVec2> Brain::goal(const Client& client) {
  if (kind_ == BrainKind::explore) return explorer_ == nullptr ? std::nullopt : explorer_->way_in(client);
  client.view().entities(seen_);
  const DVec3 here = client.own()->body.position_m;
  if (kind_ == BrainKind::crowd) {
    // The middle of everyone in view draws all to one place without anybody naming it.
    DVec2 sum;
    double count = 0;
    for (const ViewEntity& e : seen_)
      if (e.record.kind == EntityKind::player) sum = sum + xy(e.position_m), count += 1;
    if (count < 2) return std::nullopt;
    return sum * (1 / count);
  }
  // In a match of each against each, or of teams, hunters hunt players, too.
  const bool hunts = kind_ == BrainKind::hunt;
  const bool versus = plays_against(client.welcome().rules.mode);
  std::optional<DVec2> nearest;
  double nearest_m = 1e9;
  for (const ViewEntity& e : seen_) {
    double away_m = length(e.position_m - here);
    bool wanted = e.record.kind == EntityKind::player;
    if (hunts) wanted = is_monster(e.record.kind) || is_item(e.record.kind) || (versus && wanted);
    // What lies where it stands is of no use to it.
    if (hunts && is_item(e.record.kind)) wanted = away_m > 1, away_m /= item_detour;
    if (!wanted || e.record.id == client.player() || away_m >= nearest_m) continue;
    nearest_m = away_m;
    nearest = xy(e.position_m);
  }
  return nearest;
}

void Brain::steer(Micros now, const Client& client) {
  const Turn16 anywhere{static_cast<std::uint16_t>(rng_.next_u32())};
  switch (kind_) {
    case BrainKind::idle:
      command_.yaw = anywhere;
      next_turn_ = now + millis(1000 + rng_.below(4000));
      return;
    case BrainKind::jumper: {
      command_.yaw = anywhere;
      command_.forward = rng_.between(-1, 1);
      command_.left = rng_.between(-1, 1);
      command_.buttons = button::jump;
      next_turn_ = now + millis(100 + rng_.below(500));
      return;
    }
    case BrainKind::watch: {
      const auto to = goal(client);
      const DVec2 away = to ? *to - xy(client.own()->body.position_m) : DVec2{};
      command_.yaw = to ? turn_towards(away) : anywhere;
      // Near whom it looks at it stops, and now and then goes somewhere else.
      command_.forward = length(away) > watch_from_m || rng_.below(4) == 0 ? 1 : 0;
      const std::uint32_t rise = rng_.below(6);
      command_.buttons = rise == 0 ? button::jump : rise == 1 ? button::down : std::uint16_t{0};
      next_turn_ = now + millis(200 + rng_.below(800));
      return;
    }
    case BrainKind::crowd:
    case BrainKind::follow:
    case BrainKind::explore:
    case BrainKind::hunt: {
      const auto to = goal(client);
      const DVec2 away = to ? *to - xy(client.own()->body.position_m) : DVec2{};
      command_.forward = 1;
      command_.buttons = rng_.below(4) == 0 ? button::jump : 0;
      command_.yaw = length(away) > 0.5 ? turn_towards(away) : anywhere;
      // Now and then a step aside, or the first wall between them holds it for good.
      command_.left = rng_.below(4) == 0 ? rng_.between(-1, 1) : 0;
      // Both count when pressed anew.
      if (kind_ == BrainKind::hunt && rng_.below(2) == 0) command_.buttons |= button::attack;
      if (kind_ == BrainKind::hunt && rng_.below(3) == 0) command_.buttons |= button::use;
      next_turn_ = now + millis(200 + rng_.below(400));
      return;
    }
    case BrainKind::build:
    case BrainKind::fight: return;  // builder_ or fighter_ decides
    case BrainKind::wander: {
      const auto swing = static_cast<std::uint16_t>(rng_.below(16384));
      command_.yaw = command_.yaw + Turn16{static_cast<std::uint16_t>(swing - 8192)};
      command_.forward = 1;
      command_.left = 0;
      command_.buttons = rng_.below(8) == 0 ? button::jump : 0;
      next_turn_ = now + millis(500 + rng_.below(2500));
      return;
    }
  }
}

PlayerCommand Brain::think(Micros now, const Client& client) {
  if (!client.own()) return {};
  // Who plays to win builds where that is what counts.
  const bool builds = kind_ == BrainKind::fight && client.welcome().rules.mode == GameMode::building;
  if (builds && builder_ == nullptr) builder_ = std::make_unique<Builder>(rng_.next_u64());
  if (builder_ != nullptr) return builder_->think(client);
  if (fighter_ != nullptr) return fighter_->think(client);
  if (explorer_ != nullptr) {
    if (const auto command = explorer_->think(client)) {
      command_ = *command;
      delta_yaw_ = client.delta_yaw();
      return command_;
    }
  }
  // A teleporter or a spawn turned the player: it goes on from there.
  command_.yaw = command_.yaw + (client.delta_yaw() - delta_yaw_);
  delta_yaw_ = client.delta_yaw();
  const bool walking = kind_ != BrainKind::idle && kind_ != BrainKind::watch;
  if (walking && stands_still(now, client)) {
    steer(now, client);
    // Back and aside, and a jump: it may be a block or a step that is too high. Or a door: half of them try.
    const bool door = rng_.below(2) == 0;
    if (!door) command_.yaw = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
    command_.buttons |= door ? button::use : button::jump;
  } else if (now >= next_turn_) {
    steer(now, client);
  }
  return command_;
}

void Brain::act(Client& client) {
  if (builder_ != nullptr && client.state() == ClientState::playing) builder_->act(client);
}

}  // namespace ashlar::client_sim
