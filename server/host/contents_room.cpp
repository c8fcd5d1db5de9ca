#include "server/host/contents_room.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "world/math/assert.h"
#include "world/math/prefetch.h"
#include "world/sim/block_acts.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

constexpr std::uint32_t look_every_ticks = 16;
/// Who has moved less was told of what is near it.
constexpr double look_again_m = 4;
/// So much further than interest goes is told of, so that nobody comes near a sign before it looks again:
/// those 4 m, and what is run until its turn. Blocks are told by whole columns around, these among them.
constexpr double ahead_m = 2 * look_again_m;
/// Of one tick; more are found by looking through all near a player, which is spread over sixteen ticks.
constexpr std::size_t changed_max = 256;

double distance2(DVec3 a, IVec3 block) {
  const DVec3 off = block_middle(block) - a;
  return dot(off, off);
}

/// How many columns lie from the player's own to that one, by the longer way.
std::int32_t ring_of(IVec2 offset) { return std::max(std::abs(offset.x), std::abs(offset.y)); }

bool shows(const BlockData& data) { return !data.text.empty() || data.due != 0; }

}  // namespace

bool ContentsRoom::Near::operator<(const Near& other) const {
  if (far_m2 != other.far_m2) return far_m2 < other.far_m2;
  return ContentsDesk::Less{}(block, other.block);
}

ContentsRoom::ContentsRoom(SessionTable& sessions, double interest_radius_m)
    : sessions_(&sessions),
      radius_m_(interest_radius_m + ahead_m),
      reach_(static_cast<std::int32_t>(std::ceil(radius_m_ / chunk_size))) {
  for (std::int32_t y = -reach_; y <= reach_; ++y)
    for (std::int32_t x = -reach_; x <= reach_; ++x) columns_.push_back({x, y});
  std::ranges::sort(columns_, {}, [](IVec2 at) { return std::tuple(ring_of(at), at.y, at.x); });
  changed_.reserve(changed_max);
  nearest_.reserve(shown_max);
  gone_.reserve(shown_max);
}

void ContentsRoom::publish(const World& world) {
  note_changes(world);
  const auto ahead = [](const Session& later) { prefetch(&later.contents, 64); };
  sessions_->walk(ahead, [&](Session& session) {
    ContentsDesk& desk = session.contents;
    const int row = session.state == SessionState::playing ? world.player_row(session.player) : -1;
    if (row < 0) {
      desk.behind = true;  // of this tick's changes it hears nothing
      return;
    }
    if (desk.world != session.world) desk = {}, desk.world = session.world;
    tell_chest(world, session, static_cast<std::size_t>(row));
    tell_signs(world, session, world.players().body[static_cast<std::size_t>(row)].position_m);
  });
}

void ContentsRoom::note_changes(const World& world) {
  changed_.clear();
  many_changed_ = false;
  for (const DataEdit& edit : world.contents().applied()) {
    if (edit.before.text == edit.after.text && edit.before.due == edit.after.due) continue;
    many_changed_ = changed_.size() == changed_max;
    if (many_changed_) return changed_.clear();
    changed_.push_back(edit.block);
  }
}

void ContentsRoom::tell_signs(const World& world, Session& session, DVec3 at) {
  ContentsDesk& desk = session.contents;
  const bool turn = (number(world.tick()) + sessions_->row_of(session)) % look_every_ticks == 0;
  if (!turn && !many_changed_ && changed_.empty()) return;
  const DVec3 moved = at - desk.looked_from;
  if (many_changed_ || dot(moved, moved) > look_again_m * look_again_m) desk.behind = true;
  for (const IVec3 block : changed_) tell_changed(world, session, at, block);
  if (turn && desk.behind) tell_shown(world, session, at);
}

/// What is not told here is told when all near the player is looked through.
void ContentsRoom::tell_changed(const World& world, Session& session, DVec3 at, IVec3 block) {
  ContentsDesk& desk = session.contents;
  const double far2 = distance2(at, block), told_m = radius_m_ + 2 * look_again_m;
  // Beyond that it was told of none since it looked, or has moved so far that it looks again.
  if (far2 > told_m * told_m) return;
  ++looked_;
  const auto known = desk.shown.find(block);
  if (far2 > radius_m_ * radius_m_) {
    if (known != desk.shown.end()) desk.behind = true;
    return;
  }
  const BlockData* const data = world.contents().find(block);
  const ContentsDesk::Shown now =
      data != nullptr ? ContentsDesk::Shown{data->text, data->due} : ContentsDesk::Shown{};
  if (known == desk.shown.end() ? now == ContentsDesk::Shown{} : known->second == now) return;
  const bool full = desk.shown.size() == shown_max, gone = now == ContentsDesk::Shown{};
  if (known == desk.shown.end() && full) {
    // It takes the place of the farthest when all is looked through, if it is nearer.
    if (distance2(desk.looked_from, block) < desk.all_within_m2) desk.behind = true;
    return;
  }
  if (!tell_one(world, session, block, now)) {
    desk.behind = true;
    return;
  }
  if (!gone) desk.shown[block] = now;
  if (gone) desk.shown.erase(known);
  // There is room for one that was not told.
  if (gone && full) desk.behind = true;
}

void ContentsRoom::tell_chest(const World& world, Session& session, std::size_t row) {
  ContentsDesk& desk = session.contents;
  const std::optional<IVec3> open = world.block_acts().opened(row);
  if (!open && !desk.open) return;
  if (desk.open && desk.open != open) {
    if (!say_chest(world, session, false, *desk.open, {})) return;
    desk.open.reset();
  }
  if (!open) return;
  const BlockData* const data = world.contents().find(*open);
  const Inventory items = data != nullptr ? data->items : Inventory{};
  if (desk.open && desk.held == items) return;
  if (!say_chest(world, session, true, *open, items)) return;
  desk.open = open;
  desk.held = items;
}

/// Text and timer are said as they were told of all that is shown, which alone says when they change.
bool ContentsRoom::say_chest(const World& world, Session& session, bool open, IVec3 block,
                             const Inventory& items) {
  message_.tick = number(world.tick());
  message_.world = session.world;
  message_.open = open;
  message_.block = block;
  message_.data = {};
  message_.data.items = items;
  const auto& shown = session.contents.shown;
  if (const auto known = shown.find(block); known != shown.end())
    message_.data.text = known->second.text, message_.data.due = known->second.due;
  return session.connection->send(StreamId::edits, writer_.write(message_)) == SendResult::sent;
}

bool ContentsRoom::tell_one(const World& world, Session& session, IVec3 block,
                            const ContentsDesk::Shown& shown) {
  message_.tick = number(world.tick());
  message_.world = session.world;
  message_.open = session.contents.open == block;
  message_.block = block;
  message_.data = {};
  if (message_.open) message_.data.items = session.contents.held;
  message_.data.text = shown.text;
  message_.data.due = shown.due;
  return session.connection->send(StreamId::edits, writer_.write(message_)) == SendResult::sent;
}

void ContentsRoom::find_in_column(const World& world, IVec2 column, DVec3 at) {
  world.contents().in_column(column, [&](IVec3 block, const BlockData& data) {
    ++looked_;
    const Near found{distance2(at, block), block};
    if (!shows(data) || found.far_m2 > radius_m_ * radius_m_) return;
    if (nearest_.size() == shown_max) {
      if (!(found < nearest_.front())) return;
      std::pop_heap(nearest_.begin(), nearest_.end());
      nearest_.pop_back();
    }
    nearest_.push_back(found);
    std::push_heap(nearest_.begin(), nearest_.end());
  });
}

/// Into nearest_, the nearest first.
void ContentsRoom::find_nearest(const World& world, DVec3 at) {
  nearest_.clear();
  if (world.contents().size() == 0) return;
  const ChunkCoord here = chunk_of(block_at(at));
  for (const IVec2 offset : columns_) {
    // The player may stand at the rim of its own column.
    const double off_m = (ring_of(offset) - 1) * chunk_size;
    if (nearest_.size() == shown_max && off_m > 0 && off_m * off_m > nearest_.front().far_m2) break;
    find_in_column(world, {here.x + offset.x, here.y + offset.y}, at);
  }
  std::sort_heap(nearest_.begin(), nearest_.end());
}

/// Into gone_: what was told and is no more, or is not among nearest_.
void ContentsRoom::find_gone(const World& world, const ContentsDesk& desk, DVec3 at) {
  gone_.clear();
  for (const auto& [block, shown] : desk.shown) {
    ++looked_;
    const Near place{distance2(at, block), block};
    const BlockData* const now = world.contents().find(block);
    const bool stays = now != nullptr && shows(*now) && place.far_m2 <= radius_m_ * radius_m_ &&
                       (nearest_.size() < shown_max || !(nearest_.back() < place));
    if (!stays) gone_.push_back(block);
  }
}

/// The last of gone_.
bool ContentsRoom::tell_gone(const World& world, Session& session) {
  if (!tell_one(world, session, gone_.back(), {})) return false;
  session.contents.shown.erase(gone_.back());
  gone_.pop_back();
  return true;
}

/// All near the player, the nearest first; what leaves is told last, but where it has to make room.
void ContentsRoom::tell_shown(const World& world, Session& session, DVec3 at) {
  ContentsDesk& desk = session.contents;
  auto& told = desk.shown;
  find_nearest(world, at);
  find_gone(world, desk, at);
  desk.looked_from = at;
  desk.all_within_m2 = nearest_.size() < shown_max ? radius_m_ * radius_m_ : nearest_.back().far_m2;
  bool room = true;
  for (std::size_t i = 0; room && i < nearest_.size(); ++i) {
    const IVec3 block = nearest_[i].block;
    const BlockData& data = *world.contents().find(block);
    const ContentsDesk::Shown now{data.text, data.due};
    const auto known = told.find(block);
    if (known != told.end() && known->second == now) continue;
    if (known == told.end() && told.size() == shown_max) {
      // Of shown_max that were told this one is not, so another one is not among the nearest.
      ASHLAR_ASSERT(!gone_.empty());
      room = tell_gone(world, session);
    }
    room = room && tell_one(world, session, block, now);
    if (room) told[block] = now;
  }
  while (room && !gone_.empty()) room = tell_gone(world, session);
  desk.behind = !room;
}

}  // namespace ashlar::server
