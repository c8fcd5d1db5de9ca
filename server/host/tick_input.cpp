#include "server/host/tick_input.h"

#include <algorithm>
#include <span>

#include "world/math/assert.h"
#include "world/math/prefetch.h"
#include "world/sim/game.h"
#include "world/sim/ground_edits.h"

namespace ashlar::server {
namespace {

InputBuffer::Played play(InputBuffer& buffer, std::uint32_t tick, [[maybe_unused]] const Defects& defects) {
#ifdef ASHLAR_DEFECTS
  if (defects.stale_input) return buffer.take_stale(tick);
#endif
  return buffer.take(tick);
}

/// How many blocks it changes at most; 0: none, or only what one holds.
std::int64_t blocks_changed(const AdminCommand& command) {
  if (command.action == AdminAction::blast) {
    const double radius_m = std::clamp(command.radius_m, 0.0, GroundEdits::sphere_radius_m_max);
    return static_cast<std::int64_t>(4.2 * radius_m * radius_m * radius_m) + 1;
  }
  if (command.action != AdminAction::fill_box) return 0;
  const BlockBox& box = command.box;
  std::int64_t blocks = 1;
  for (const auto axis : {&IVec3::x, &IVec3::y, &IVec3::z}) {
    const std::int64_t across = std::int64_t{box.max.*axis} - box.min.*axis;
    if (across <= 0 || across > GroundEdits::batch_blocks_max) return 1;  // the world refuses it
    blocks *= across;
  }
  return blocks;
}

}  // namespace

TickInputCollector::TickInputCollector(std::uint32_t sessions_max, const Defects& defects)
    : defects_(defects) {
  joins_.reserve(sessions_max);
  watchers_.reserve(sessions_max);
  names_.reserve(sessions_max);
  away_.reserve(2 * std::size_t{sessions_max});    // who is away and back in one tick
  leaves_.reserve(2 * std::size_t{sessions_max});  // those who leave, and bodies that lingered
  commands_.reserve(sessions_max);
  calls_.reserve(calls_per_tick_max);
  told_apart_.reserve(SeldomTold::targets_max * std::size_t{sessions_max});
  chunks_ready_.reserve(ChunkLoader::in_flight_max * column_chunks);
  chunks_dropped_.reserve(ChunkLoader::drops_max * column_chunks);
}

void TickInputCollector::note_away(const World& world, const AwayChange& change) {
  if (world.game().follows_presence()) away_.push_back(change);
}

void TickInputCollector::collect(const World& world, SessionTable& sessions, LingeringBodies& lingering,
                                 ChunkLoader& ground, std::vector<IVec2>& ground_requests,
                                 const BlockFrames* told) {
  joins_.clear();
  watchers_.clear();
  names_.clear();
  commands_.clear();
  told_apart_.clear();
  const bool names = world.game().follows_presence();
  const std::uint32_t tick = number(world.tick()) + 1;
  const auto ahead = [&](const Session& later) {
    later.input.prefetch(tick);
    prefetch(later.blocks.get(), 64);
  };
  const auto take = [&](Session& session) {
    ASHLAR_ASSERT(session.state != SessionState::free);
    if (session.state == SessionState::joining) joins_.push_back(sessions.row_of(session));
    if (session.state == SessionState::joining && session.watches) watchers_.push_back(joins_.back());
    if (session.state == SessionState::joining && names)
      names_.push_back({joins_.back(), PlayerName(session.name)});
    if (session.state != SessionState::playing) return;
    ASHLAR_ASSERT(session.player != EntityId{0});
    const InputBuffer::Played played = play(session.input, tick, defects_);
    PlayerCommand command = played.command;
    command.yaw = session.yaw_given = command.yaw + session.delta_yaw;
    const TickId seen = seen_within(command.seen, world.tick(), world.setup().rules.tick_rate_hz);
    const bool as_seen = seen == command.seen;
    if (!as_seen) command.told_before = 0, command.told_after = 0;
    command.seen = seen;
    if (as_seen && told != nullptr)
      seldom_told_.find(world, *told, session, command, played.given, told_apart_);
    commands_.push_back({session.player, command});
  };
  sessions.walk(ahead, take);
  lingering.let_go(world, leaves_);
  chunks_ready_.clear();
  chunks_dropped_.clear();
  ground.plan(world, chunks_ready_, chunks_dropped_, ground_requests);
  ASHLAR_ASSERT(joins_.size() + commands_.size() <= sessions.size());
}

/// Those that wait stay in their order, and so do those that do not.
void TickInputCollector::find_admin_due() {
  admin_due_.clear(), admin_later_.clear();
  std::int64_t blocks = 0;
  bool first = true;
  for (const AdminCommand& command : admin_) {
    if (!changes_ground(command)) {
      admin_due_.push_back(command);
      continue;
    }
    const std::int64_t more = blocks_changed(command);
    const bool one_always = first && admin_blocks_ >= admin_blocks_per_tick;
    const bool too_many = blocks + more > std::min(admin_blocks_, admin_blocks_per_tick);
    const bool waits = !admin_later_.empty() || (more > 0 && too_many && !one_always);
    (waits ? admin_later_ : admin_due_).push_back(command);
    blocks += more;
    first = false;
  }
}

TickInput TickInputCollector::input() {
  find_admin_due();
  TickInput input;
  input.joins = joins_;
  input.watchers = watchers_;
  input.names = names_;
  input.away = away_;
  input.leaves = leaves_;
  input.commands = commands_;
  input.told_apart = told_apart_;
  input.admin = admin_due_;
  input.calls = calls_;
  input.chunks_ready = chunks_ready_;
  input.chunks_dropped = chunks_dropped_;
  return input;
}

void TickInputCollector::stepped(const World& world, SessionTable& sessions) {
  leaves_.clear();
  const auto found = static_cast<std::ptrdiff_t>(admin_due_.size() + admin_later_.size());
  admin_later_.insert(admin_later_.end(), admin_.begin() + found, admin_.end());
  admin_.swap(admin_later_);
  admin_due_.clear(), admin_later_.clear();
  calls_.clear();
  away_.clear();
  sessions.walk([&](Session& session) {
    if (session.state != SessionState::playing) return;
    const int row = world.player_row(session.player);
    if (row < 0) return;
    const Turn16 yaw = world.players().yaw[static_cast<std::size_t>(row)];
    session.delta_yaw = session.delta_yaw + (yaw - session.yaw_given);
  });
}

}  // namespace ashlar::server
