#include "server/host/edit_room.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <variant>

#include "protocol/decode.h"
#include "world/math/assert.h"
#include "world/math/prefetch.h"
#include "world/sim/block_acts.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"

namespace ashlar::server {
namespace {

constexpr std::int32_t extra_columns = 2;  // one told ahead, one for the way until the centre follows
constexpr std::size_t columns_per_tick = 64;
constexpr std::size_t column_bytes_per_tick = 32 * 1024;  // of one session, so that acts never wait long
static_assert(column_bytes_per_tick > 4 * block_changes_max + 1024);  // a message fits
/// A command so far ahead is none that waits: its act is judged at once.
constexpr std::uint32_t ticks_ahead_max = 120;

using Told = EditDesk::Told;

IVec2 column_at(DVec3 position_m) {
  const ChunkCoord chunk = chunk_of(block_at(position_m));
  return {chunk.x, chunk.y};
}

/// Only to open a treasure changes something: it becomes a chest. (Of what is out of reach nobody is told
/// that it is one.)
bool opens_treasure(const World& world, const BlockAct& act) {
  const BlockId treasure = world.setup().blocks->treasure();
  const int row = world.player_row(act.player);
  if (treasure == BlockId::air || row < 0) return false;
  const Rules& rules = world.setup().rules;
  const DVec3 base = world.players().body[static_cast<std::size_t>(row)].position_m;
  const DVec3 off = block_middle(act.block) - (base + DVec3{0, 0, rules.player_eye_m});
  const double near_m = rules.block_reach_m + 1;  // the middle is no further from what is nearest
  return dot(off, off) <= near_m * near_m && world.space().voxels->block(act.block) == treasure;
}

bool changes_nothing(const World& world, const BlockAct& act) {
  if (act.kind == BlockActKind::open) return !opens_treasure(world, act);
  return act.kind == BlockActKind::stop || act.kind == BlockActKind::close;
}

}  // namespace

EditRoom::EditRoom(SessionTable& sessions, HostStatus& status, double interest_radius_m, double ores_seen_m)
    : sessions_(&sessions),
      status_(&status),
      reach_(static_cast<std::int32_t>(std::ceil(interest_radius_m / chunk_size)) + extra_columns),
      reveal_(ores_seen_m) {
  for (std::int32_t y = -reach_; y <= reach_; ++y)
    for (std::int32_t x = -reach_; x <= reach_; ++x) nearest_first_.push_back({x, y});
  std::ranges::sort(nearest_first_, {}, [](IVec2 o) { return std::tuple(o.x * o.x + o.y * o.y, o.y, o.x); });
  due_.reserve(std::size_t{sessions.capacity()} * BlockActs::acts_per_tick_max);
}

void EditRoom::begin_world() {
  log_ = ChangeLog();
  reveal_.begin_world();
  learnt_.clear();
  due_.clear();
  saved_tick_ = 0;
  room_to_save_ = true;
  for (const std::uint32_t row : sessions_->seated()) (*sessions_)[row].edits = EditDesk();
}

void EditRoom::collect(Micros now, const World& world) {
  due_.clear();
  const auto ahead = [](const Session& later) {
    later.edits.prefetch_head();
    later.connection->prefetch_take();
  };
  sessions_->walk(ahead, [&](Session& session) {
    if (session.state != SessionState::playing) return;
    session.edits.tokens = std::min(session.edits.tokens + 1, EditDesk::tokens_max);
    listen(now, session);
    pick(session, world);
  });
}

void EditRoom::listen(Micros now, Session& session) {
  EditDesk& desk = session.edits;
  // Who does not take its verdicts is not heard either.
  while (desk.tokens > 0 && desk.waiting_count + acts_max <= EditDesk::waiting_max &&
         desk.answers.size() < act_answers_max && session.connection->take(StreamId::edits, message_)) {
    const auto message = decode_client_message(message_);
    if (!message) {
      status_->drop(message.error());
      if (message.error() == DropReason::unknown_message) {
        --desk.tokens;  // nobody has it read for nothing
        continue;
      }
      session.connection->close(now, close_reason(SessionEnd::protocol), "an act cannot be read");
      return;
    }
    const auto* acts = std::get_if<Acts>(&*message);
    if (acts == nullptr || acts->world != session.world) {
      status_->drop(DropReason::wrong_state);
      continue;
    }
    desk.tokens -= acts->act_count;
    for (std::uint8_t i = 0; i < acts->act_count; ++i) {
      const std::uint32_t number = acts->acts[i].number;
      if (number > ~std::uint32_t{0} - desk.number_offset) {  // there is no such number left in the world
        desk.answers.push_back({number, ActVerdict::stale_number, acts->acts[i].block});
        continue;
      }
      BlockAct& act = (desk.waiting[desk.waiting_count++] = {acts->tick, acts->acts[i]}).act;
      act.player = session.player;
      act.number += desk.number_offset;
    }
  }
}

void EditRoom::pick(Session& session, const World& world) {
  const std::uint32_t tick = number(world.tick()) + 1;
  EditDesk& desk = session.edits;
  std::size_t count = 0;
  for (; count < desk.waiting_count && count < BlockActs::acts_per_tick_max; ++count) {
    const EditDesk::Waiting& next = desk.waiting[count];
    if (next.tick > tick && next.tick - tick <= ticks_ahead_max) break;
    if (room_to_save_ || changes_nothing(world, next.act))
      due_.push_back(next.act);
    else
      desk.answers.push_back({next.act.number - desk.number_offset, ActVerdict::not_saved, next.act.block});
  }
  std::move(desk.waiting.begin() + static_cast<std::ptrdiff_t>(count),
            desk.waiting.begin() + static_cast<std::ptrdiff_t>(desk.waiting_count), desk.waiting.begin());
  desk.waiting_count -= count;
}

EditDesk::Told* EditRoom::told_of(EditDesk& desk, IVec2 column) const {
  const std::int32_t x = column.x - desk.centre.x + reach_, y = column.y - desk.centre.y + reach_;
  const std::int32_t across = 2 * reach_ + 1;
  if (!desk.placed || x < 0 || y < 0 || x >= across || y >= across) return nullptr;
  return &desk.told[static_cast<std::size_t>(y * across + x)];
}

/// Around where its player is by now; what it was told of and is still near it needs not be told again.
void EditRoom::follow(const World& world, Session& session) {
  EditDesk& desk = session.edits;
  if (session.ground.streams) {
    desk.next = nearest_first_.size();  // whoever is sent chunks has their changes with them
    return;
  }
  const int row = world.player_row(session.player);
  if (row < 0) return;
  const IVec2 at = column_at(world.players().body[static_cast<std::size_t>(row)].position_m);
  if (desk.placed && std::abs(at.x - desk.centre.x) <= 1 && std::abs(at.y - desk.centre.y) <= 1) return;
  EditDesk old;
  old.placed = desk.placed;
  old.centre = desk.centre;
  old.told = std::move(desk.told);
  desk.told.assign(nearest_first_.size(), Told::nothing);
  desk.placed = true;
  desk.centre = at;
  desk.next = 0;
  for (const IVec2 offset : nearest_first_) {
    const IVec2 column{at.x + offset.x, at.y + offset.y};
    const Told* known = told_of(old, column);
    if (known != nullptr && *known == Told::all) *told_of(desk, column) = Told::all;
  }
}

void EditRoom::publish(const World& world) {
  const std::uint32_t tick = number(world.tick());
  learn(world.applied_edits());  // behind what came with the ground, over which they went
  reveal_.look(world, log_, learnt_);
  log_.take(learnt_);
  learnt_.clear();
  status_->blocks_revealed = reveal_.revealed();
  status_->blocks_changed += world.applied_edits().size();
  row_of_slot_.assign(world.players().rows(), 0);
  const auto ahead = [](const Session& later) {
    later.edits.prefetch_head();
    prefetch(&later.ground, 64);
  };
  sessions_->walk(ahead, [&](Session& session) {
    if (session.state != SessionState::playing) return;
    row_of_slot_[slot_of(session.player)] = sessions_->row_of(session) + 1;
    follow(world, session);
  });
  tell_fresh(tick);
  keep_answers(world);
  sessions_->walk(ahead, [&](Session& session) {
    if (session.state != SessionState::playing) return;
    tell_columns(session, tick);
    tell_answers(session, tick);
    tell_saved(session, tick);
  });
}

/// Not before the changes of that tick are told.
void EditRoom::tell_saved(Session& session, std::uint32_t tick) {
  EditDesk& desk = session.edits;
  const bool news = saved_tick_ > desk.told_saved && saved_tick_ <= tick;
  if (!news || desk.next < nearest_first_.size()) return;
  const Saved message{saved_tick_, session.world};
  if (session.connection->send(StreamId::edits, writer_.write(message)) == SendResult::sent)
    desk.told_saved = saved_tick_;
}

/// Each chunk's changes are coded once, and again only for who counts its worlds otherwise.
void EditRoom::tell_fresh(std::uint32_t tick) {
  for (const ChangeLog::ChunkChanges& chunk : log_.fresh())
    for (std::size_t first = 0; first < chunk.changes.size(); first += block_changes_max) {
      BlockEdits edits{
          tick, 0, chunk.at,
          chunk.changes.subspan(first, std::min(block_changes_max, chunk.changes.size() - first))};
      std::span<const std::uint8_t> bytes;
      for (const std::uint32_t row : sessions_->seated()) {
        Session& session = (*sessions_)[row];
        if (session.state != SessionState::playing) continue;
        const bool streams = session.ground.streams;
        if (streams && !session.ground.holds(chunk.at)) continue;  // it comes with the chunk
        Told* const told = streams ? nullptr : told_of(session.edits, {chunk.at.x, chunk.at.y});
        // It comes with the column's other changes.
        if (!streams && (told == nullptr || *told == Told::nothing)) continue;
        if (bytes.empty() || edits.world != session.world) {
          edits.world = session.world;
          bytes = writer_.write(edits);
        }
        session.ground.edited = true;
        if (session.connection->send(StreamId::edits, bytes) == SendResult::sent) continue;
        if (streams) {
          session.ground.forget(chunk.at);
          ++status_->ground_stream.behind;
          continue;
        }
        *told = Told::nothing;
        begin_again(session.edits);
        ++status_->edits_behind;
      }
    }
}

void EditRoom::keep_answers(const World& world) {
  for (const BlockVerdict& verdict : world.block_acts().verdicts()) {
    const std::uint32_t row = row_of_slot_[slot_of(verdict.player)];
    if (row == 0) continue;  // its session ended
    Session& session = (*sessions_)[row - 1];
    if (session.player != verdict.player) continue;
    EditDesk& desk = session.edits;
    const bool earlier = desk.number_offset != 0 && verdict.number <= desk.number_offset;
    if (earlier) continue;  // of the session that had the body before
    desk.answers.push_back({verdict.number - desk.number_offset, verdict.verdict, verdict.block});
  }
}

/// Behind the changes: who hears that its act is done has heard what it did.
void EditRoom::tell_answers(Session& session, std::uint32_t tick) {
  EditDesk& desk = session.edits;
  const bool behind = desk.next < nearest_first_.size();
  if (behind) {
    // Only where the column of a change that was done is still to be told.
    const bool waits = std::ranges::any_of(desk.answers, [&](const ActAnswer& answer) {
      const ChunkCoord chunk = chunk_of(answer.block);
      const Told* told = told_of(desk, {chunk.x, chunk.y});
      return answer.verdict == ActVerdict::done && told != nullptr && *told == Told::nothing;
    });
    if (waits) return;
  }
  while (!desk.answers.empty()) {
    const std::size_t count = std::min(desk.answers.size(), act_answers_max);
    const auto end = desk.answers.begin() + static_cast<std::ptrdiff_t>(count);
    answers_.tick = tick;
    answers_.world = session.world;
    answers_.answers.assign(desk.answers.begin(), end);
    if (session.connection->send(StreamId::edits, writer_.write(answers_)) != SendResult::sent) return;
    desk.answers.erase(desk.answers.begin(), end);
  }
}

void EditRoom::tell_columns(Session& session, std::uint32_t tick) {
  EditDesk& desk = session.edits;
  std::size_t bytes_left = column_bytes_per_tick;
  for (std::size_t looked = 0; looked < columns_per_tick && desk.next < nearest_first_.size(); ++looked) {
    const IVec2 offset = nearest_first_[desk.next];
    const IVec2 column{desk.centre.x + offset.x, desk.centre.y + offset.y};
    Told* const told = told_of(desk, column);
    ASHLAR_ASSERT(told != nullptr);
    if (*told == Told::nothing) desk.told_z = INT32_MIN, desk.told_index = -1;
    if (*told != Told::all && !tell_column(session, column, tick, bytes_left)) return;
    *told = Told::all;
    ++desk.next;
  }
}

/// Goes on where it stopped. What changes meanwhile in what was told already is told with its tick.
bool EditRoom::tell_column(Session& session, IVec2 column, std::uint32_t tick, std::size_t& bytes_left) {
  EditDesk& desk = session.edits;
  for (const ChangeLog::ChunkChanges& chunk : log_.column(column)) {
    if (chunk.at.z < desk.told_z) continue;
    std::size_t first = 0;
    if (chunk.at.z == desk.told_z)
      while (first < chunk.changes.size() && chunk.changes[first].index <= desk.told_index) ++first;
    while (first < chunk.changes.size()) {
      const auto piece =
          chunk.changes.subspan(first, std::min(block_changes_max, chunk.changes.size() - first));
      const auto bytes = writer_.write(BlockEdits{tick, session.world, chunk.at, piece});
      if (bytes_left < bytes.size()) return false;
      if (session.connection->send(StreamId::edits, bytes) != SendResult::sent) return false;
      bytes_left -= bytes.size();
      *told_of(desk, column) = Told::some;
      desk.told_z = chunk.at.z;
      desk.told_index = piece.back().index;
      first += piece.size();
    }
  }
  return true;
}

/// Looks for columns to tell of from the nearest on.
void EditRoom::begin_again(EditDesk& desk) const {
  for (Told& told : desk.told)
    if (told == Told::some) told = Told::nothing;
  desk.next = 0;
}

}  // namespace ashlar::server
