#include "client_sim/client/others.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "world/math/assert.h"
#include "world/math/prefetch.h"

namespace ashlar::client_sim {
namespace {

/// In one comparison, where `==` looks at one field after the other.
bool same_record(const EntityRecord& a, const EntityRecord& b) {
  static_assert(std::has_unique_object_representations_v<EntityRecord>);
  using Words = std::array<std::uint64_t, 2>;
  const auto x = std::bit_cast<Words>(a), y = std::bit_cast<Words>(b);
  return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}

/// Ids run on from one another: the high bits of this do not.
std::uint32_t scattered(EntityId id) { return static_cast<std::uint32_t>(id) * 0x9e3779b1u; }

}  // namespace

void Others::reset() {
  heads_.clear();
  told_.clear();
  listed_.clear();
  seats_.clear();
  rows_.clear();
  floors_.reset();
  tracks_.clear();
  free_.clear();
  snapshot_tick_ = 0;
  changes_ = losses_ = 0;
  looks_ = 0;
  gone_count_ = 0;
  needed_.clear(), ages_.clear(), apart_.clear();
  lag_ = lag_before_ = 0;
  lower_from_ = Micros{0};
}

void Others::prefetch() const {
  ashlar::prefetch(heads_.data(), heads_.size() * sizeof(Head));
  ashlar::prefetch(told_.data(), told_.size() * sizeof(Told));
  for (const Seats& seats : seats_)
    ashlar::prefetch(seats.rows.data(), seats.rows.size() * sizeof(std::uint32_t));
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
}

/// How far the picture would have had to be behind to need no other snapshot until this one, and how far to
/// need this one no sooner.
void Others::take_states(Micros now, const PictureSource& source) {
  const View& view = source.view;
  const bool all = view.losses() != losses_ || view.changes() < changes_;
  if (all) ++looks_;
  fresh_.clear();
  const std::span<const ViewCell> blocks = view.cells();
  seats_.resize(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (all || blocks[i].changed > changes_) take_block(blocks[i], seats_[i], source.self);
  if (all)
    view.visit_moved([&](const EntityRecord& record, CellCoord cell, std::uint32_t tick) {
      take_record(find(record.id), record, cell, tick, source.self);
    });
  changes_ = view.changes(), losses_ = view.losses();
  if (!fresh_.empty()) take_fresh();
  if (all) note_gone();
  const double picture = shown_tick(now, source);
  const auto over = [picture](const Told& told) { return told.over(picture); };
  const bool erases = gone_count_ > 0 && std::ranges::any_of(told_, over);
  if (erases) {
    for (std::size_t row = 0; row < told_.size(); ++row)
      if (over(told_[row])) free_.push_back(heads_[row].track), heads_[row].track = no_row, --gone_count_;
    std::erase_if(heads_, [](const Head& head) { return head.track == no_row; });
    std::erase_if(told_, over);
  }
  if (erases || !fresh_.empty()) list_rows();
}

Others::Steps Others::steps_of(const EntityRecord& record, CellCoord cell) {
  return {cell.x * cell_steps + record.x, cell.y * cell_steps + record.y, cell.z * cell_steps + record.z};
}

void Others::note_looked(Told& told) {
  told.looked = looks_;
  if (told.gone_tick != 0) told.gone_tick = 0, --gone_count_;
}

/// Inlined, as a place that is handed over is put together in memory, and waited for.
[[gnu::always_inline]] inline void Others::take_state(std::size_t row, const EntityRecord& record,
                                                      Steps place, std::uint32_t tick) {
  Head& head = heads_[row];
  Told& told = told_[row];
  const bool same = head.count != 0 && head.record.yaw == record.yaw && told.place == place;
  head.record = record;
  if (!same) {
    // It stood until then, and went from there.
    if (head.count > 0 && stands(row)) {
      const State stood = head.now();
      State& still = push(head);
      still = stood;
      still.tick = told.tick;
    }
    push(head) = State(tick, place, record.yaw);
    told.place = place;
  }
  told.tick = tick;
}

void Others::take_record(std::uint32_t row, const EntityRecord& record, CellCoord cell, std::uint32_t tick,
                         EntityId self) {
  if (record.id == self || record.id == EntityId{0}) return;
  if (row == no_row) return fresh_.push_back({record, cell, tick});
  note_looked(told_[row]);
  if (tick > told_[row].tick) take_state(row, record, steps_of(record, cell), tick);
}

/// Nearly always a block has those who were in it before, and these are where they were.
void Others::find_seats(const ViewCell& block, Seats& seats) {
  const bool known = seats.members == block.members && seats.heads == heads_version_;
  if (known && seats.rows.size() == block.now.entities.size()) return;
  seats.members = block.members, seats.heads = heads_version_;
  seats.rows.clear();
  for (const EntityRecord& record : block.now.entities) seats.rows.push_back(find(record.id));
}

void Others::take_block(const ViewCell& block, Seats& seats, EntityId self) {
  find_seats(block, seats);
  ASHLAR_ASSERT(seats.rows.size() == block.now.entities.size());
  const std::vector<EntityRecord>&now = block.now.entities, &before = block.before.entities;
  const bool alike = now.size() == before.size();
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::uint32_t row = seats.rows[i];
    // As it was told to be before, here and nowhere else: nothing else of it has to be looked at.
    const bool same = alike && row != no_row && now[i].id != self && same_record(now[i], before[i]);
    if (same && told_[row].tick == block.before.tick && told_[row].place == steps_of(now[i], block.cell)) {
      note_looked(told_[row]);
      told_[row].tick = block.now.tick;
    } else {
      take_record(row, now[i], block.cell, block.now.tick, self);
    }
  }
}

/// All were looked at: those who were not met are gone.
void Others::note_gone() {
  for (Told& told : told_)
    if (told.looked != looks_ && told.gone_tick == 0) told.gone_tick = snapshot_tick_, ++gone_count_;
}

/// Heads lie elsewhere than when they were listed. Who of a block is in which row is known still, but for
/// blocks with somebody who had none.
void Others::move_seats() {
  moved_.assign(listed_.size(), no_row);
  std::size_t row = 0;
  for (std::size_t old = 0; old < listed_.size(); ++old) {
    while (row < heads_.size() && heads_[row].record.id < listed_[old]) ++row;
    if (row < heads_.size() && heads_[row].record.id == listed_[old])
      moved_[old] = static_cast<std::uint32_t>(row);
  }
  const std::uint64_t before = heads_version_++;
  for (Seats& seats : seats_) {
    if (seats.heads != before || std::ranges::find(seats.rows, no_row) != seats.rows.end()) continue;
    for (std::uint32_t& at : seats.rows) at = moved_[at];
    seats.heads = heads_version_;
  }
  listed_.resize(heads_.size());
  std::ranges::transform(heads_, listed_.begin(), [](const Head& head) { return head.record.id; });
}

/// A table finds somebody in one step where a search takes eight.
void Others::list_rows() {
  move_seats();
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(2 * heads_.size(), 2));
  rows_.assign(size, Row{});
  rows_shift_ = 32u - static_cast<unsigned>(std::countr_zero(size));
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    std::size_t at = scattered(heads_[i].record.id) >> rows_shift_;
    while (rows_[at].id != EntityId{0}) at = (at + 1) % size;
    rows_[at] = {heads_[i].record.id, static_cast<std::uint32_t>(i)};
  }
}

std::uint32_t Others::find(EntityId id) const {
  if (rows_.empty()) return no_row;
  const std::size_t mask = rows_.size() - 1;
  for (std::size_t at = scattered(id) >> rows_shift_; rows_[at].id != EntityId{0}; at = (at + 1) & mask)
    if (rows_[at].id == id) return rows_[at].row;
  return no_row;
}

void Others::take_fresh() {
  std::ranges::sort(fresh_, [](const Fresh& a, const Fresh& b) {
    return a.record.id != b.record.id ? a.record.id < b.record.id : a.tick < b.tick;
  });
  const std::size_t known = heads_.size();
  for (const Fresh& fresh : fresh_) {
    if (heads_.size() == known || heads_.back().record.id != fresh.record.id) {
      if (free_.empty()) free_.push_back(static_cast<std::uint32_t>(tracks_.size())), tracks_.emplace_back();
      Head& head = heads_.emplace_back();
      told_.emplace_back();
      head.record = fresh.record, head.track = free_.back();
      free_.pop_back();
    }
    note_looked(told_.back());
    if (fresh.tick > told_.back().tick)
      take_state(heads_.size() - 1, fresh.record, steps_of(fresh.record, fresh.cell), fresh.tick);
  }
  merge_fresh(known);
}

/// Those behind the first ones go where their ids are, the few of them from the last one on.
void Others::merge_fresh(std::size_t known) {
  std::vector<Head>& fresh = fresh_heads_;
  fresh.assign(heads_.begin() + static_cast<std::ptrdiff_t>(known), heads_.end());
  fresh_told_.assign(told_.begin() + static_cast<std::ptrdiff_t>(known), told_.end());
  for (std::size_t to = heads_.size(), old = known, left = fresh.size(); left > 0;) {
    const bool from_old = old > 0 && heads_[old - 1].record.id > fresh[left - 1].record.id;
    --to;
    if (from_old)
      --old, heads_[to] = heads_[old], told_[to] = told_[old];
    else
      --left, heads_[to] = fresh[left], told_[to] = fresh_told_[left];
  }
}

/// Room for the newest state, which is set where it lies: a copy would wait for its parts to be written.
Others::State& Others::push(Head& head) {
  head.newest = static_cast<std::uint8_t>((head.newest + 1) % states_max);
  const std::size_t at = head.newest % recent_max;
  if (at == 0) {
    // A line is full.
    constexpr std::size_t lines = states_max / recent_max;
    tracks_[head.track].lines[(head.newest / recent_max + lines - 1) % lines] = head.recent;
  }
  head.before_recent = head.recent[at];
  if (head.count < states_max) ++head.count;
  return head.recent[at];
}

}  // namespace ashlar::client_sim
