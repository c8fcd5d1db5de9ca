#include "client_sim/client/predictor.h"

#include <algorithm>
#include <utility>

#include "client_sim/client/others.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"
#include "world/math/assert.h"

namespace ashlar::client_sim {
namespace {

/// Bodies of players and most monsters that are further apart than this do not meet within a tick.
constexpr double near_m = 2.5;
bool may_meet(DVec3 a_m, DVec3 b_m) {
  const DVec3 way = a_m - b_m;
  return dot(way, way) < near_m * near_m;
}
/// An own change of a block that the server has not told of for so long was not made.
constexpr double taken_back_s = 2;
/// A server that misses a command repeats the last one for so long (protocol/WIRE.md).
std::uint32_t repeat_ticks(std::uint32_t tick_rate_hz) { return (tick_rate_hz + 5) / 10; }

bool same_body(const Body& a, const Body& b) {
  return a.position_m == b.position_m && a.velocity_mps == b.velocity_mps &&
         a.recovery_velocity_mps == b.recovery_velocity_mps && a.recovery_target_m == b.recovery_target_m &&
         a.last_free_m == b.last_free_m && a.eye_offset_m == b.eye_offset_m && a.grounded == b.grounded &&
         a.stuck_ticks == b.stuck_ticks && a.noclip == b.noclip;
}

/// Who does not ask for long is told of the last ones.
template <typename Event>
void keep_event(std::vector<Event>& events, const Event& event) {
  if (events.size() == Predictor::events_max) events.erase(events.begin());
  events.push_back(event);
}

}  // namespace

Predictor::Predictor(PredictorConfig config) : config_(std::move(config)) {}

/// Nothing is predicted in a world of which something is not held.
void Predictor::begin_world(Client& client) {
  world_ = client.stats().worlds;
  replica_.reset();
  confirmed_tick_ = 0;
  ring_ = {};
  states_.assign(1, {}), free_states_.clear();
  confirmed_state_ = 0;
  waiting_ = false;
  shot_tick_ = 0;
  sectors_told_ = 0;
  arsenal_tick_ = 0;
  cause_ = MispredictCause::unknown;
  error_m_ = {};
  shots_.clear();
  launches_.clear();
  touched_.clear();
  all_touched_ = true;
  const Welcome& welcome = client.welcome();
  WorldSetup setup;
  setup.seed = welcome.seed;
  setup.rules = welcome.rules;
  setup.zones = welcome.zones;
  setup.age_ticks = welcome.age_ticks;
  setup.terrain = static_cast<TerrainKind>(welcome.terrain);
  setup.blocks = client.blocks();
  setup.bare = welcome.bare;
  setup.kinds = client.kinds();
  setup.make_chunk = config_.make_chunk;
  for (const WelcomeMap& map : welcome.maps) {
    auto held = config_.map ? config_.map(map) : nullptr;
    if (held == nullptr) return;
    setup.maps.push_back(std::move(held));
  }
  for (const WelcomeProp& prop : welcome.props) {
    auto held = config_.prop ? config_.prop(prop) : nullptr;
    if (held == nullptr) return;
    setup.props.push_back(std::move(held));
  }
  const bool streams = client.ground().streamed().streams();
  if (!terrain_known(welcome.terrain, welcome.generator)) setup.terrain = TerrainKind::empty;
  replica_ = std::make_unique<Replica>(setup, streams ? std::optional(welcome.columns) : std::nullopt,
                                       config_.motion);
}

void Predictor::advance(Micros now, Client& client, const Others* others) {
  others_ = others;
  now_ = now;
  if (!client.welcomed() || client.stats().worlds == 0) return;
  const bool other = client.stats().worlds != world_;
  if (other && replica_ != nullptr) {  // of a world that is over, whenever the next one can be played in
    replica_.reset();
    shots_.clear();
    launches_.clear();
  }
  // What it lacks of this world is on its way.
  if (client.fetching() || client.blocks()->hash() != client.welcome().blocks_hash) return;
  // Its weapons may be told a little later than the rest.
  if (other || (replica_ != nullptr && client.kinds() != replica_->setup().kinds)) begin_world(client);
  if (replica_ == nullptr || !client.own()) return;
  const std::optional<std::vector<IVec3>> told = client.ground().take_touched();
  if (!told) replica_->ground().forget_all();
  replica_->ground().load_around(client.own()->body.position_m, client.ground(), config_.chunks_per_advance);

  const bool was_ready = ready();
  const DVec3 before_m = replica_->body().position_m;
  const std::uint32_t reached = replica_->tick();
  bool again = confirm(client);
  forget_until_confirmed();
  const bool taken_back = take_refusals(client);
  if (take_blocks(client, told) || taken_back) {
    cause_ = again ? cause_ : MispredictCause::world;
    again = true;
  }
  if (confirmed_tick_ == 0) return;
  if (again) play_again(client, reached);
  // Of a tick beyond what was played nothing had been shown that is corrected.
  if (confirmed_tick_ > reached)
    error_m_ = {};
  else if (again && was_ready)
    note_correction(before_m, replica_->tick() == reached);
  go_on(client);
}

/// The changes of blocks that the server told. @return the ground is another one than was played on
bool Predictor::take_blocks(const Client& client, const std::optional<std::vector<IVec3>>& told) {
  if (!told) {
    all_touched_ = true;
    touched_.clear();
    return false;
  }
  bool changed = false;
  for (const IVec3& block : *told) {
    const auto id = client.ground().told(block);
    if (id) changed = replica_->put_block(block, *id) || changed;
    if (touched_.size() < EditedGround::touched_max)
      touched_.push_back(block);
    else
      all_touched_ = true;
  }
  return changed;
}

/// What own acts changed that the server refused, or are about to: its word on that may come behind its word
/// on the tick. @return as take_blocks()
bool Predictor::take_refusals(const Client& client) {
  bool changed = false;
  Digging& digging = confirmed().player.digging;
  for (const SentAct& sent : client.acts_sent()) {
    if (!refused(sent.answer)) continue;
    changed = replica_->take_back(sent.act.number, client.ground()) || changed;
    if (!digging.active() || digging.number != sent.act.number) continue;
    digging = Digging{};
    changed = true;
  }
  return changed;
}

void Predictor::play_again(const Client& client, std::uint32_t reached) {
  replica_->restore(confirmed());
  while (replica_->tick() < reached) {
    const PlayerCommand* command = client.command_of(replica_->tick() + 1);
    if (command == nullptr || !replica_->ground().there(replica_->body().position_m)) return;
    before_ = stand();
    play(client, *command);
    note_predicted();
    ++stats_.replayed_ticks;
  }
  last_ = stand();
}

/// Plays what the client has numbered since.
void Predictor::go_on(const Client& client) {
  waiting_ = false;
  while (const PlayerCommand* command = client.command_of(replica_->tick() + 1)) {
    if (!replica_->ground().there(replica_->body().position_m)) {
      waiting_ = true;
      ++stats_.waited;
      return;
    }
    before_ = stand();
    play(client, *command);
    note_predicted();
    last_ = stand();
    // Since when it was due, whichever call came to number it: who is called in frames, and not as commands
    // are due, would be shown to run by fits and starts.
    const double ticks_since = client.command_time(now_) - client.command_tick();
    const double since_us = ticks_since * 1e6 * replica_->setup().rules.tick_s();
    stepped_at_ = now_ - Micros{static_cast<std::int64_t>(since_us)};
    if (replica_->tick() <= shot_tick_) continue;
    shot_tick_ = replica_->tick();
    for (const ShotEvent& shot : replica_->shots()) keep_event(shots_, shot);
    for (const LaunchEvent& launch : replica_->launches()) keep_event(launches_, launch);
  }
}

void Predictor::play(const Client& client, const PlayerCommand& command) {
  acts_.clear();
  for (const SentAct& sent : client.acts_sent()) {
    if (sent.tick != replica_->tick() + 1 || sent.answer == ActVerdict::not_saved) continue;
    acts_.push_back(sent.act);
    // One that was refused did what every act does: it ended what was dug before.
    if (refused(sent.answer)) acts_.back().kind = BlockActKind::stop;
  }
  bystanders_.clear();
  if (others_ != nullptr)
    others_->near(replica_->body().position_m, replica_->tick() + 1, client.welcome(), bystanders_);
  if (!acts_.empty()) replica_->put_inventory(client.inventory());
  replica_->step(command, acts_, bystanders_);
}

void Predictor::note_predicted() {
  Predicted& here = ring_[replica_->tick() % ring_.size()];
  if (here.state == Predicted::nowhere) {
    if (free_states_.empty()) {
      free_states_.push_back(static_cast<std::uint32_t>(states_.size()));
      states_.emplace_back();
    }
    here.state = free_states_.back();
    free_states_.pop_back();
  }
  here.tick = replica_->tick();
  const DVec3 place_m = replica_->body().position_m;
  here.beside = std::ranges::any_of(
      bystanders_, [&](const Bystander& other) { return may_meet(other.position_m, place_m); });
  replica_->save(states_[here.state]);
}

/// What is confirmed is foreseen no more.
void Predictor::forget_until_confirmed() {
  for (std::uint32_t back = 0; back < ring_.size() && back < confirmed_tick_; ++back) {
    Predicted& then = ring_[(confirmed_tick_ - back) % ring_.size()];
    // Nothing older is left: ticks are confirmed in order.
    if (then.state == Predicted::nowhere || then.tick > confirmed_tick_) return;
    free_states_.push_back(std::exchange(then.state, Predicted::nowhere));
  }
}

/// Takes the state that was foreseen for a tick as confirmed, where it is all that playing there once more
/// would give. @return false: it is not, and nothing changed
bool Predictor::recall(const Client& client, std::uint32_t tick) {
  const OwnPlayer& own = *client.own();
  Predicted& then = ring_[tick % ring_.size()];
  const ReplicaState& state = states_[then.state];
  const bool same_life = (state.player.health != 0) == (own.health != 0);
  const auto& carried = client.carried();
  const bool other_arms = carried && carried->tick <= tick && carried->tick != arsenal_tick_;
  const bool acts = !client.acts_sent().empty() && client.acts_sent().back().tick > confirmed_tick_;
  if (!same_life || other_arms || acts) return false;
  if (!replica_->alike(state, client.sectors())) return false;
  std::swap(confirmed_state_, then.state);
  sectors_told_ = client.sectors().changes();
  confirmed_tick_ = tick;
  health_ = own.health;
  ++stats_.confirmed, ++stats_.recalled;
  return true;
}

/// What the server made the player do in a tick, as far as it is known.
PlayerCommand Predictor::applied_command(const Client& client, std::uint32_t tick) const {
  const std::uint32_t applied = client.applied_tick();
  const PlayerCommand* command = client.command_of(std::min(tick, applied));
  if (command == nullptr) return {};
  if (tick <= applied || tick - applied <= repeat_ticks(client.welcome().rules.tick_rate_hz)) return *command;
  PlayerCommand still;
  still.yaw = command->yaw;
  still.pitch = command->pitch;
  return still;
}

/// Takes the server's word on the newest tick. @return true: what was played beyond it does not hold
bool Predictor::confirm(const Client& client) {
  const OwnPlayer& own = *client.own();
  const std::uint32_t tick = client.own_tick();
  const bool maps = !replica_->setup().maps.empty();
  // Parts of a newer snapshot came without the one that has the player: the next one will.
  if (tick < confirmed_tick_ || (maps && client.sectors().tick() != tick)) return false;
  if (tick == confirmed_tick_) {
    // A part of this very tick that came later may tell of sectors.
    if (!maps || sectors_told_ == client.sectors().changes()) return false;
    sectors_told_ = client.sectors().changes();
    if (same_sectors(confirmed(), client.sectors())) return false;
    replica_->restore(confirmed());
    replica_->put_sectors(client.sectors());
    replica_->save(confirmed());
    cause_ = MispredictCause::world;
    return true;
  }
  const Predicted& then = ring_[tick % ring_.size()];
  const bool guessed = confirmed_tick_ != 0 && then.tick == tick && then.state != Predicted::nowhere;
  const Body guess = guessed ? states_[then.state].player.body : Body{};
  const bool right = guessed && same_body(guess, own.body) &&
                     states_[then.state].delta_yaw == own.delta_yaw && replica_->alive() == (own.health != 0);
  const bool in_time = tick <= client.applied_tick();
  const bool gap = tick - confirmed_tick_ > 1;
  const bool missed = confirmed_tick_ != 0 && tick > replica_->tick() && !in_time;
  const bool hurt = own.health < health_;  // what hurts also pushes
  // What the server changed in a tick comes with its word on that: what is not there was refused.
  const bool denied = replica_->changed_otherwise(tick, client.ground());
  const bool keeps = right && in_time && replica_->tick() >= tick && !replica_->changed_blocks();
  if (keeps && recall(client, tick)) return false;
  if (keeps) replica_->save(ahead_);
  const bool sectors = catch_up(client, tick);
  if (guessed || missed) stats_.late += in_time || tick < client.first_command_tick() ? 0 : 1;
  // The client was not called in time: what comes of it is of its own making.
  if (missed) cause_ = MispredictCause::command;
  if (guessed) {
    ++stats_.confirmed;
    if (!right) {
      const double off_m = length(guess.position_m - own.body.position_m);
      const bool put = off_m > snap_m || own.body.noclip != 0 || guess.noclip != 0 || own.health == 0 || hurt;
      const bool beside = then.beside || somebody_near(client, own.body.position_m);
      // A snapshot that was missed hides what became of the ticks before it.
      cause_ = put                 ? MispredictCause::server
               : !in_time          ? MispredictCause::command
               : beside            ? MispredictCause::crowd
               : gap               ? MispredictCause::command
               : sectors || denied ? MispredictCause::world
                                   : MispredictCause::unknown;
      ++stats_.mispredicted[static_cast<std::size_t>(cause_)];
    } else if (sectors) {
      cause_ = MispredictCause::world;
    }
  }
  if (!keeps || sectors) return true;
  replica_->restore(ahead_);
  return false;
}

/// Brings what is confirmed to a tick: played on with the commands that were used, so that what the server
/// does not tell (buttons held, lines that have worked, keys) is known, and then set to what it did tell.
/// @return true: sectors, or what it carries, are other ones than came of playing on
bool Predictor::catch_up(const Client& client, std::uint32_t tick) {
  const OwnPlayer& own = *client.own();
  if (confirmed_tick_ != 0) {
    replica_->restore(confirmed());
    const bool near = tick - confirmed_tick_ < ring_.size();
    while (near && replica_->tick() < tick && replica_->ground().there(replica_->body().position_m))
      play(client, applied_command(client, replica_->tick() + 1));
  }
  const bool sectors = !replica_->setup().maps.empty() && replica_->put_sectors(client.sectors());
  sectors_told_ = client.sectors().changes();
  replica_->put_player(tick, own.body, own.health != 0, own.delta_yaw);
  const bool armed = take_arsenal(client, tick);
  const std::uint32_t patience = replica_->setup().rules.ticks_within(taken_back_s, 1);
  if (tick > patience) static_cast<void>(replica_->take_back_until(tick - patience, client.ground()));
  replica_->save(confirmed());
  confirmed_tick_ = tick;
  health_ = own.health;
  return sectors || armed;
}

/// Takes the server's word on what the player carried at a tick, once that is reached.
/// @return true: it is something else than came of playing on
bool Predictor::take_arsenal(const Client& client, std::uint32_t tick) {
  const auto& told = client.carried();
  if (!told || told->tick > tick || told->tick == arsenal_tick_) return false;
  arsenal_tick_ = told->tick;
  since_.clear();
  const std::uint32_t ago = tick - told->tick;
  for (std::uint32_t i = 1; ago < ring_.size() && i <= ago; ++i)
    since_.push_back(applied_command(client, told->tick + i));
  return replica_->put_arsenal(told->arsenal, since_);
}

bool Predictor::somebody_near(const Client& client, DVec3 place_m) {
  if (others_ != nullptr) return others_->anybody_near(place_m, near_m);
  client.view().entities(viewed_);
  return std::ranges::any_of(viewed_, [&](const ViewEntity& other) {
    return other.record.id != client.player() && may_meet(other.position_m, place_m);
  });
}

/// @param whole  all that had been played was played again
void Predictor::note_correction(DVec3 before_m, bool whole) {
  const DVec3 jump = before_m - replica_->body().position_m;
  const double jump_m = length(jump);
  if (jump_m < 1e-6) return;
  stats_.corrections_um[static_cast<std::size_t>(cause_)].add(
      Micros{static_cast<std::int64_t>(jump_m * 1e6)});
  if (jump_m > visible_m) ++stats_.visible[static_cast<std::size_t>(cause_)];
  const DVec3 left = error_m_ * error_share(now_) + jump;
  const bool snaps = !whole || length(left) > snap_m;
  stats_.snapped += snaps ? 1 : 0;
  error_m_ = snaps ? DVec3{} : left;
  error_at_ = now_;
}

/// How much of the error is still shown: all at first, nothing after smooth_over, without a jolt at its end.
double Predictor::error_share(Micros now) const {
  const double t = static_cast<double>((now - error_at_).count()) / static_cast<double>(smooth_over.count());
  const double left = 1 - std::clamp(t, 0.0, 1.0);
  return left * left;
}

std::optional<OwnPlayer> Predictor::foreseen(const Client& client) const {
  if (!ready() || waiting_ || tick() != client.command_tick() || !client.own()) return std::nullopt;
  OwnPlayer own = *client.own();
  own.body = body();
  own.delta_yaw = replica_->delta_yaw();
  return own;
}

std::optional<OwnPlayer> PredictorForesight::foresee(Micros now, Client& client) {
  if (others_ != nullptr) others_->advance(now, client);
  predictor_.advance(now, client, others_);
  return predictor_.foreseen(client);
}

/// How far a picture has gone from the last tick but one to the last one: all of it where the player was put.
double Predictor::shown_share(Micros now) const {
  const DVec3 way = last_.position_m - before_.position_m;
  if (dot(way, way) >= snap_m * snap_m) return 1;
  const double period_us = 1e6 * replica_->setup().rules.tick_s();
  return std::clamp(static_cast<double>((now - stepped_at_).count()) / period_us, 0.0, 1.0);
}

ShownSectors Predictor::shown_sectors(Micros now) const {
  ASHLAR_ASSERT(ready());
  const std::uint32_t tick = replica_->tick() - 1;
  const Predicted& held = ring_[tick % ring_.size()];
  const ReplicaState* before = nullptr;
  if (tick == confirmed_tick_)
    before = &states_[confirmed_state_];
  else if (held.tick == tick && held.state != Predicted::nowhere)
    before = &states_[held.state];
  return {before, shown_share(now)};
}

ShownPlayer Predictor::shown(Micros now) const {
  ASHLAR_ASSERT(ready());
  const DVec3 way = last_.position_m - before_.position_m;
  // Of the same moment: on a stair the eye's offset makes up for the step that the body takes in a tick.
  const double left = 1 - shown_share(now);
  const double eye_m = last_.eye_offset_m - (last_.eye_offset_m - before_.eye_offset_m) * left;
  return {last_.position_m - way * left + error_m_ * error_share(now), eye_m, replica_->delta_yaw()};
}

std::vector<ShotEvent> Predictor::take_shots() { return std::exchange(shots_, {}); }
std::vector<LaunchEvent> Predictor::take_launches() { return std::exchange(launches_, {}); }

std::optional<std::vector<IVec3>> Predictor::take_touched() {
  std::vector<IVec3> out = std::exchange(touched_, {});
  if (std::exchange(all_touched_, false)) return std::nullopt;
  return out;
}

}  // namespace ashlar::client_sim
