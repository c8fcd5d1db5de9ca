#include "server/host/contents_room.h"

#include <algorithm>
#include <cmath>

#include "world/math/prefetch.h"
#include "world/sim/block_acts.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

constexpr std::uint32_t look_every_ticks = 16;

double distance2(DVec3 a, IVec3 block) {
  const DVec3 off = block_middle(block) - a;
  return dot(off, off);
}

}  // namespace

ContentsRoom::ContentsRoom(SessionTable& sessions, double interest_radius_m)
    : sessions_(&sessions),
      radius_m_(interest_radius_m),
      reach_(static_cast<std::int32_t>(std::ceil(interest_radius_m / chunk_size))) {}

void ContentsRoom::publish(const World& world) {
  const std::uint32_t tick = number(world.tick());
  const bool news = std::ranges::any_of(world.contents().applied(), [](const DataEdit& edit) {
    return edit.before.text != edit.after.text || edit.before.due != edit.after.due;
  });
  const auto ahead = [](const Session& later) { prefetch(&later.contents, 64); };
  sessions_->walk(ahead, [&](Session& session) {
    if (session.state != SessionState::playing) return;
    ContentsDesk& desk = session.contents;
    if (desk.world != session.world) desk = {}, desk.world = session.world;
    const int row = world.player_row(session.player);
    if (row < 0) return;
    tell_chest(world, session, static_cast<std::size_t>(row));
    if (!news && (tick + sessions_->row_of(session)) % look_every_ticks != 0) return;
    tell_shown(world, session, world.players().body[static_cast<std::size_t>(row)].position_m);
  });
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

void ContentsRoom::tell_shown(const World& world, Session& session, DVec3 at) {
  auto& told = session.contents.shown;
  // Who comes back is told anew: meanwhile nothing of it was heard.
  std::erase_if(told, [&](const auto& one) { return distance2(at, one.first) > radius_m_ * radius_m_; });
  bool room = true;
  for (auto one = told.begin(); room && one != told.end();) {
    const BlockData* const now = world.contents().find(one->first);
    const bool gone = now == nullptr || (now->text.empty() && now->due == 0);
    if (gone) room = tell_one(world, session, one->first, {});
    one = gone && room ? told.erase(one) : std::next(one);
  }
  if (world.contents().size() == 0) return;
  const ChunkCoord here = chunk_of(block_at(at));
  for (std::int32_t y = here.y - reach_; y <= here.y + reach_; ++y)
    for (std::int32_t x = here.x - reach_; room && x <= here.x + reach_; ++x)
      world.contents().in_column({x, y}, [&](IVec3 block, const BlockData& data) {
        const ContentsDesk::Shown now{data.text, data.due};
        if (!room || now == ContentsDesk::Shown{} || distance2(at, block) > radius_m_ * radius_m_) return;
        const auto known = told.find(block);
        if (known == told.end() ? told.size() == shown_max : known->second == now) return;
        room = tell_one(world, session, block, now);
        if (room) told[block] = now;
      });
}

}  // namespace ashlar::server
