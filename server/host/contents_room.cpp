#include "server/host/contents_room.h"

#include <cmath>

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

}  // namespace

ContentsRoom::ContentsRoom(SessionTable& sessions, double interest_radius_m)
    : sessions_(&sessions),
      radius_m_(interest_radius_m + ahead_m),
      reach_(static_cast<std::int32_t>(std::ceil(radius_m_ / chunk_size))) {
  changed_.reserve(changed_max);
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
  if (known == desk.shown.end() && full) return;
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
  message_.tick = number(world.tick());
  message_.world = session.world;
  message_.data = {};
  if (desk.open && desk.open != open) {
    message_.open = false;
    message_.block = *desk.open;
    if (const BlockData* const left = world.contents().find(*desk.open))
      message_.data.text = left->text, message_.data.due = left->due;
    if (session.connection->send(StreamId::edits, writer_.write(message_)) != SendResult::sent) return;
    desk.open.reset();
    message_.data = {};
  }
  if (!open) return;
  const BlockData* const held = world.contents().find(*open);
  if (held != nullptr) message_.data = *held;
  if (desk.open && desk.held == message_.data) return;
  message_.open = true;
  message_.block = *open;
  if (session.connection->send(StreamId::edits, writer_.write(message_)) != SendResult::sent) return;
  desk.open = open;
  desk.held = message_.data;
}

bool ContentsRoom::tell_one(const World& world, Session& session, IVec3 block,
                            const ContentsDesk::Shown& shown) {
  message_.tick = number(world.tick());
  message_.world = session.world;
  message_.open = session.contents.open == block;
  message_.block = block;
  message_.data = {};
  if (message_.open) message_.data.items = session.contents.held.items;
  message_.data.text = shown.text;
  message_.data.due = shown.due;
  return session.connection->send(StreamId::edits, writer_.write(message_)) == SendResult::sent;
}

/// All near the player.
void ContentsRoom::tell_shown(const World& world, Session& session, DVec3 at) {
  ContentsDesk& desk = session.contents;
  auto& told = desk.shown;
  desk.looked_from = at;
  // Who comes back is told anew: meanwhile nothing of it was heard.
  std::erase_if(told, [&](const auto& one) { return distance2(at, one.first) > radius_m_ * radius_m_; });
  bool room = true;
  for (auto one = told.begin(); room && one != told.end();) {
    ++looked_;
    const BlockData* const now = world.contents().find(one->first);
    const bool gone = now == nullptr || (now->text.empty() && now->due == 0);
    if (gone) room = tell_one(world, session, one->first, {});
    one = gone && room ? told.erase(one) : std::next(one);
  }
  const ChunkCoord here = chunk_of(block_at(at));
  const bool any = world.contents().size() != 0;
  for (std::int32_t y = here.y - reach_; any && y <= here.y + reach_; ++y)
    for (std::int32_t x = here.x - reach_; room && x <= here.x + reach_; ++x)
      world.contents().in_column({x, y}, [&](IVec3 block, const BlockData& data) {
        ++looked_;
        const ContentsDesk::Shown now{data.text, data.due};
        if (!room || now == ContentsDesk::Shown{} || distance2(at, block) > radius_m_ * radius_m_) return;
        const auto known = told.find(block);
        if (known == told.end() ? told.size() == shown_max : known->second == now) return;
        room = tell_one(world, session, block, now);
        if (room) told[block] = now;
      });
  desk.behind = !room;
}

}  // namespace ashlar::server
