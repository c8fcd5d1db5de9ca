#include "client_sim/brains/builder.h"

#include <array>
#include <cmath>

namespace ashlar::client_sim {
namespace {

constexpr double phase_s_max = 10;   // a job that stands still for so long is given up
constexpr double leap_s = 1 / 15.0;  // so long it holds the button
constexpr double jump_s = 0.3;       // after so long a jump is higher than a block
constexpr double land_s = 1;
constexpr double walk_s = 5 / 12.0;
constexpr double look_s = 0.25;
constexpr double hang_s = 2;  // who hangs on a ladder or swims for so long walks off
constexpr std::uint32_t tower_blocks = 5, bridge_blocks = 4, tunnel_steps = 5;
constexpr double over_edge_m = 0.12;  // so far a body leans out, and sees the side of what it stands on
constexpr Turn16 down{static_cast<std::uint16_t>(-16000)};

bool stands(const Body& body) {
  const DVec3 v = body.velocity_mps;
  return body.grounded != 0 && dot(v, v) < 0.01;
}

/// Of what is in the chest that it looks into; air: nothing is.
BlockId wanted(const Client& client) {
  if (!client.opened()) return BlockId::air;
  for (const ItemStack& stack : client.opened()->data.items.slots)
    if (!stack.empty()) return stack.kind;
  return BlockId::air;
}

BlockFace back(BlockFace face) { return static_cast<BlockFace>(static_cast<unsigned>(face) ^ 1u); }

}  // namespace

std::uint32_t Builder::ticks(double seconds) const {
  Rules rules;
  rules.tick_rate_hz = tick_rate_hz_;
  return rules.ticks_within(seconds, 1);
}

/// What it holds most of and can place.
void Builder::choose_block(const Client& client) {
  chest_ = client.blocks()->find("chest");
  if (chest_ && client.welcome().rules.free_blocks == FreeBlocks::no && phase_ == 0 &&
      client.inventory().count(*chest_) == 0)
    chest_.reset();
  stores_ = false;
  if (client.welcome().rules.free_blocks == FreeBlocks::yes) return;
  const Inventory& held = client.inventory();
  block_ = BlockId::air;
  for (const ItemStack& slot : held.slots)
    if (client.blocks()->placeable(slot.kind) && slot.kind != chest_ &&
        (block_ == BlockId::air || held.count(slot.kind) > held.count(block_)))
      block_ = slot.kind;
  stores_ = chest_ && block_ != BlockId::air;
}

void Builder::next_job(std::uint32_t tick) {
  throws_ = job_ == Job::tunnel;
  constexpr std::array<Job, 4> after{Job::bridge, Job::tunnel, Job::chest, Job::tower};
  job_ = after[static_cast<std::size_t>(job_)];
  way_ = static_cast<BlockFace>(rng_.below(4));
  count_ = dug_ = 0;
  waits_for_ = 0;
  command_ = PlayerCommand{};
  go_to(0, tick);
}

void Builder::wish(const Wish& wanted, std::uint8_t phase, std::uint32_t tick) {
  wish_ = wanted;
  ended_.reset();
  go_to(phase, tick);
}

/// Jumps and puts a block under itself, again and again.
void Builder::tower(const Body& body, std::uint32_t tick) {
  command_ = PlayerCommand{};
  command_.pitch = down;
  if (phase_ == 0 && stands(body)) {
    base_ = block_at(body.position_m - DVec3{0, 0, 0.5});
    go_to(1, tick);
  } else if (phase_ == 1) {
    if (tick - since_ < ticks(leap_s)) command_.buttons = button::jump;
    if (tick - since_ >= ticks(jump_s)) wish({BlockActKind::place, base_, BlockFace::top, block_}, 2, tick);
  } else if (phase_ == 2 && tick - since_ >= ticks(land_s)) {
    if (++count_ >= tower_blocks) return next_job(tick);
    go_to(0, tick);
  }
}

/// Leans over the edge, puts a block to its side, walks onto it.
void Builder::bridge(const Body& body, std::uint32_t tick) {
  const DVec3 way = to_dvec3(normal_of(way_));
  command_ = PlayerCommand{};
  command_.yaw = turn_towards(xy(way));
  command_.pitch = down;
  if (phase_ == 0 && stands(body)) {
    base_ = block_at(body.position_m - DVec3{0, 0, 0.5});
    go_to(1, tick);
  } else if (phase_ == 1) {
    const DVec3 off = body.position_m - (to_dvec3(base_) + DVec3{0.5, 0.5, 0});
    if (off.z < 0.5) return next_job(tick);  // it fell
    if (dot(off, way) >= 0.5 + over_edge_m) return go_to(2, tick);
    command_.forward = 0.12;
  } else if (phase_ == 2 && tick - since_ >= ticks(look_s)) {
    wish({BlockActKind::place, base_, way_, block_}, 3, tick);
  } else if (phase_ == 3 && ended_) {
    if (*ended_ != ActVerdict::done || ++count_ >= bridge_blocks) return next_job(tick);
    base_ = base_ + normal_of(way_);
    go_to(1, tick);
  }
}

/// Head, body and step of the way ahead, then a step down.
void Builder::tunnel(const Client& client, std::uint32_t tick) {
  const Body& body = client.own()->body;
  const DVec3 way = to_dvec3(normal_of(way_));
  if (phase_ == 0 && stands(body)) {
    if (stores_ && count_ > 0) {
      job_ = Job::chest;
      return;
    }
    base_ = block_at(body.position_m + DVec3{0, 0, 0.5}) + normal_of(way_);
    dug_ = 0;
    go_to(1, tick);
  }
  const IVec3 target = base_ + IVec3{0, 0, 1 - static_cast<std::int32_t>(dug_)};
  if (phase_ == 1 || phase_ == 2) {
    look_at(body, client.welcome().rules.player_eye_m, block_middle(target));
    command_.yaw = turn_towards(xy(way));
  }
  if (phase_ == 1 && tick - since_ >= ticks(look_s)) {
    const BlockFace face = dug_ == 2 ? BlockFace::top : back(way_);
    const auto told = client.ground().told(target);
    if (told && *told == client.blocks()->treasure() && *told != BlockId::air && rng_.below(2) == 0) {
      job_ = Job::chest;
      base_ = target - IVec3{0, 0, 1};
      return wish({BlockActKind::open, target, face}, 6, tick);
    }
    wish({BlockActKind::dig, target, face}, 2, tick);
  } else if (phase_ == 2 && ended_) {
    if (*ended_ == ActVerdict::protected_ground) return next_job(tick);
    go_to(++dug_ == 3 ? 3 : 1, tick);
  } else if (phase_ == 3) {
    command_ = PlayerCommand{};
    command_.yaw = turn_towards(xy(way));
    command_.forward = 0.5;
    if (tick - since_ < ticks(walk_s)) return;
    command_.forward = 0;
    if (++count_ >= tunnel_steps) return next_job(tick);
    go_to(0, tick);
  }
}

void Builder::look_at(const Body& body, double eye_m, DVec3 at) {
  const DVec3 look = at - (body.position_m + DVec3{0, 0, eye_m});
  command_ = PlayerCommand{};
  command_.yaw = turn_towards(xy(look));
  command_.pitch = turn_towards({length(xy(look)), look.z});
}

/// Digs what is before its feet, sets a chest there, opens it, puts in some of what it holds, takes some of
/// that back.
void Builder::chest(const Client& client, std::uint32_t tick) {
  const Body& body = client.own()->body;
  const double eye_m = client.welcome().rules.player_eye_m;
  constexpr std::uint8_t puts = 12, takes = 5;
  if (phase_ == 0) {
    if (!chest_) return next_job(tick);
    if (!stands(body)) return;
    base_ = block_at(body.position_m - DVec3{0, 0, 0.5}) + normal_of(way_);
    return go_to(1, tick);
  }
  const IVec3 at = base_ + IVec3{0, 0, 1};
  const DVec3 side = 0.5 * to_dvec3(normal_of(back(way_)));
  const bool looks_down = phase_ == 3 || phase_ == 4;
  if (looks_down) look_at(body, eye_m, to_dvec3(base_) + DVec3{0.5, 0.5, 1});
  if (!looks_down) look_at(body, eye_m, block_middle(at) + side);
  if ((phase_ == 1 || phase_ == 3 || phase_ == 5) && tick - since_ < ticks(look_s)) return;
  if (phase_ == 1) return wish({BlockActKind::dig, at, back(way_)}, 2, tick);
  if (phase_ == 3 && !chest_) return next_job(tick);
  if (phase_ == 3) return wish({BlockActKind::place, base_, BlockFace::top, *chest_}, 4, tick);
  if (phase_ == 5) return wish({BlockActKind::open, at, back(way_)}, 6, tick);
  if (!ended_) return;
  switch (phase_) {
    case 2:
      return *ended_ == ActVerdict::done || *ended_ == ActVerdict::nothing_there ? go_to(3, tick)
                                                                                 : next_job(tick);
    case 4: return *ended_ == ActVerdict::done ? go_to(5, tick) : next_job(tick);
    case 6:
      if (*ended_ != ActVerdict::done) return next_job(tick);
      return wish({BlockActKind::put, at, {}, block_, puts}, 7, tick);
    case 7: return wish({BlockActKind::take, at, {}, wanted(client), takes}, 8, tick);
    case 8: return wish({BlockActKind::close, at}, 9, tick);
    default: return next_job(tick);
  }
}

PlayerCommand Builder::think(const Client& client) {
  const std::uint32_t tick = client.command_tick();
  tick_rate_hz_ = client.welcome().rules.tick_rate_hz;
  const Body& body = client.own()->body;
  if (since_ == 0 || tick < since_ || tick - since_ > ticks(phase_s_max)) next_job(tick);
  choose_block(client);
  if (block_ == BlockId::air && phase_ == 0 && job_ != Job::chest) job_ = Job::tunnel;
  switch (job_) {
    case Job::tower: tower(body, tick); break;
    case Job::bridge: bridge(body, tick); break;
    case Job::tunnel: tunnel(client, tick); break;
    case Job::chest: chest(client, tick); break;
  }
  if (phase_ == 0 && tick - since_ > ticks(hang_s)) {
    command_ = PlayerCommand{};
    command_.yaw = turn_towards(xy(to_dvec3(normal_of(way_))));
    command_.forward = 1;
  }
  return command_;
}

std::uint32_t Builder::do_wish(Client& client) const {
  switch (wish_->kind) {
    case BlockActKind::put: return client.put_into_block(wish_->id, wish_->count);
    case BlockActKind::take: return client.take_from_block(wish_->id, wish_->count);
    default: return client.act(wish_->kind, wish_->block, wish_->face, wish_->id);
  }
}

void Builder::act(Client& client) {
  for (const ActAnswer& answer : client.take_verdicts())
    if (answer.number == waits_for_ && answer.verdict != ActVerdict::progress) ended_ = answer.verdict;
  constexpr std::uint32_t spare_items = 8;
  if (throws_ && client.inventory().count(block_) > spare_items) {
    throws_ = false;
    static_cast<void>(client.drop_items(block_, spare_items / 2));
  }
  if (!wish_) return;
  waits_for_ = do_wish(client);
  if (waits_for_ != 0) wish_.reset();  // else in the next turn
}

}  // namespace ashlar::client_sim
