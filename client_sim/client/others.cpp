#include "client_sim/client/others.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "world/math/assert.h"
#include "world/math/prefetch.h"

namespace ashlar::client_sim {
void Others::reset() {
  states_.clear();
  ticks_.clear();
  newest_ = moments_ = room_ = 0;
  records_.clear();
  presence_.clear();
  looked_.clear();
  free_.clear();
  listed_.clear();
  seats_.clear();
  floors_.reset();
  snapshot_tick_ = 0;
  changes_ = losses_ = 0;
  looks_ = 0;
  self_ = {};
  gone_count_ = 0;
  needed_.clear(), ages_.clear(), apart_.clear();
  lag_ = lag_before_ = 0;
  lower_from_ = Micros{0};
}

void Others::prefetch() const {
  if (moments_ == 0) return;
  // The last one is copied to where the oldest one was.
  for (const std::size_t back : {std::size_t{0}, ticks_.size() - 1})
    ashlar::prefetch(moment(back), records_.size() * sizeof(State));
  ashlar::prefetch(records_.data(), records_.size() * sizeof(EntityRecord));
  for (const Seats& seats : seats_)
    ashlar::prefetch(seats.rows.data(), seats.rows.size() * sizeof(std::uint32_t));
  for (const RecentValues<measured_max>* const measured : {&needed_, &ages_, &apart_}) measured->prefetch();
}

void Others::advance(Micros now, Client& client) {
  if (client.stats().worlds != world_) {
    world_ = client.stats().worlds;
    reset();
  }
  if (client.state() != ClientState::playing || client.command_tick() == 0) return;
  advance(now, PictureSource(client, now));
  client.set_view_lag(static_cast<std::uint32_t>(shown_lag(now) + 0.5));
}

void Others::advance(Micros now, const PictureSource& source) {
  if (source.world != world_) {
    world_ = source.world;
    reset();
  }
  if (source.view.newest_tick() == snapshot_tick_) return;
  measure(source);
  snapshot_tick_ = source.view.newest_tick();
  take_states(now, source);
  if (source.sectors != nullptr) floors_.take(*source.sectors);
  steer(now);
  prefetch_picture(shown_tick(now, source));
}

/// What is shown next lies where the snapshots of a while ago were put.
void Others::prefetch_picture(double tick) const {
  const Picture picture = picture_at(tick);
  for (const State* const states : {picture.from, picture.to})
    if (states != nullptr) ashlar::prefetch(states, records_.size() * sizeof(State));
  ashlar::prefetch(looked_.data(), looked_.size() * sizeof(WallLook));
}

void Others::take_states(Micros now, const PictureSource& source) {
  const View& view = source.view;
  const bool all = view.losses() != losses_ || view.changes() < changes_;
  if (all) ++looks_;
  if (std::exchange(self_, source.self) != source.self) seats_.clear();
  begin_moment(source);
  fresh_.clear();
  const std::span<const ViewCell> blocks = view.cells();
  seats_.resize(blocks.size());
  const bool looks = all || gone_count_ > 0;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (all || blocks[i].changed > changes_) take_block(blocks[i], seats_[i], looks);
  if (all)
    view.visit_moved([&](const EntityRecord& record, CellCoord cell, std::uint32_t tick) {
      if (record.id == source.self) return;
      const std::uint32_t row = find(record.id);
      if (row == no_row) return fresh_.push_back({record, cell, tick});
      note_looked(row);
      take_state(row, record, corner_of(cell), tick);
    });
  changes_ = view.changes(), losses_ = view.losses();
  if (!fresh_.empty()) take_fresh();
  if (all) note_gone();
  if (gone_count_ > 0) drop_gone(shown_tick(now, source));
}

/// Everybody is as before, until the snapshot says otherwise.
void Others::begin_moment(const PictureSource& source) {
  if (ticks_.empty()) {
    const double kept = std::ceil(moments_kept_s * source.rules.tick_rate_hz);
    ticks_.resize(std::max(moments_min, static_cast<std::size_t>(kept)));
  }
  const std::size_t before = newest_;
  newest_ = (newest_ + 1) % ticks_.size();
  moments_ = std::min(moments_ + 1, ticks_.size());
  ticks_[newest_] = snapshot_tick_;
  std::copy_n(states_.data() + before * room_, records_.size(), newest());
}

void Others::note_looked(std::uint32_t row) {
  Presence& presence = presence_[row];
  presence.looked = looks_;
  if (presence.gone_tick != 0) presence.gone_tick = 0, --gone_count_;
}

/// Nearly always a block has those who were in it before.
void Others::find_seats(const ViewCell& block, Seats& seats) {
  if (seats.members != 0 && seats.members == block.members) return;
  seats.members = block.members;
  seats.rows.clear();
  for (const EntityRecord& record : block.now.entities)
    seats.rows.push_back(record.id == self_ ? no_row : find(record.id));
}

void Others::take_block(const ViewCell& block, Seats& seats, bool looks) {
  find_seats(block, seats);
  ASHLAR_ASSERT(seats.rows.size() == block.now.entities.size());
  // All of them were in it before as well.
  const bool kept = block.members != block.changed && moments_ > 1 && block.before.tick <= moment_tick(1);
  const std::uint32_t before_tick = kept ? block.before.tick : 0, tick = block.now.tick;
  const State* const states = newest();
  const Steps corner = corner_of(block.cell);
  for (std::size_t i = 0; i < seats.rows.size(); ++i) {
    const EntityRecord& record = block.now.entities[i];
    const std::uint32_t row = seats.rows[i];
    if (row == no_row) {
      if (record.id == self_ || record.id == EntityId{0}) continue;
      fresh_.push_back({record, block.cell, tick});
      seats.members = 0;  // it has a row the next time
      continue;
    }
    if (looks) note_looked(row);
    if (states[row].tick < before_tick) take_before(row, block, i);
    take_state(row, record, corner, tick);
  }
}

/// What the block was before is newer than what is known: nothing of it had changed, so nobody told of it
/// then, or this picture was not made when it was told.
void Others::take_before(std::uint32_t row, const ViewCell& block, std::size_t place) {
  const EntityRecord& record = block.before.entities[place];
  ASHLAR_ASSERT(record.id == records_[row].id);
  moment(1)[row] = State(block.before.tick, steps_of(record, corner_of(block.cell)), record.yaw);
}

/// All were looked at: those who were not met are gone.
void Others::note_gone() {
  for (const Listed& listed : listed_) {
    Presence& presence = presence_[listed.row];
    if (presence.looked == looks_ || presence.gone_tick != 0) continue;
    presence.gone_tick = snapshot_tick_;
    if (gone_count_++ == 0) gone_from_ = snapshot_tick_;
  }
}

/// Who is shown no more needs no row.
void Others::drop_gone(double picture) {
  if (!any_over(picture)) return;
  gone_from_ = snapshot_tick_;
  std::erase_if(listed_, [&](const Listed& listed) {
    const Presence& presence = presence_[listed.row];
    if (!presence.over(picture)) {
      if (presence.gone_tick != 0) gone_from_ = std::min(gone_from_, presence.gone_tick);
      return false;
    }
    free_.push_back(listed.row);
    records_[listed.row] = {};
    --gone_count_;
    return true;
  });
}

std::uint32_t Others::find(EntityId id) const {
  const auto at = std::ranges::lower_bound(listed_, id, {}, &Listed::id);
  return at == listed_.end() || at->id != id ? no_row : at->row;
}

/// Those who were not known get rows, with the newest state of each.
void Others::take_fresh() {
  std::ranges::sort(fresh_, [](const Fresh& a, const Fresh& b) {
    return a.record.id != b.record.id ? a.record.id < b.record.id : a.tick < b.tick;
  });
  fresh_listed_.clear();
  for (const Fresh& fresh : fresh_) {
    if (fresh_listed_.empty() || fresh_listed_.back().id != fresh.record.id)
      fresh_listed_.push_back({fresh.record.id, take_row()});
    const std::uint32_t row = fresh_listed_.back().row;
    note_looked(row);
    take_state(row, fresh.record, corner_of(fresh.cell), fresh.tick);
  }
  merged_.resize(listed_.size() + fresh_listed_.size());
  std::ranges::merge(listed_, fresh_listed_, merged_.begin(), {}, &Listed::id, &Listed::id);
  std::swap(listed_, merged_);
}

/// A row of which nothing is known.
std::uint32_t Others::take_row() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(records_.size()));
    records_.emplace_back();
    presence_.emplace_back();
    looked_.emplace_back();
    if (records_.size() > room_) make_room();
  }
  const std::uint32_t row = free_.back();
  free_.pop_back();
  records_[row] = {}, presence_[row] = {}, looked_[row] = {};
  for (std::size_t place = 0; place < ticks_.size(); ++place) states_[place * room_ + row] = {};
  return row;
}

void Others::make_room() {
  constexpr std::size_t room_min = 64;
  const std::size_t room = std::max(room_min, 2 * room_);
  std::vector<State> states(ticks_.size() * room);
  for (std::size_t place = 0; place < ticks_.size(); ++place)
    std::copy_n(states_.data() + place * room_, room_, states.data() + place * room);
  states_ = std::move(states);
  room_ = room;
}

}  // namespace ashlar::client_sim
