#include "server/store/saver.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/chunk_codec.h"
#include "protocol/inventory_codec.h"
#include "protocol/kept_state_codec.h"
#include "server/store/dirty_chunks.h"
#include "world/math/assert.h"
#include "world/math/hash.h"
#include "world/math/random.h"
#include "world/sim/dropped_items.h"
#include "world/sim/ground_edits.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

using SteadyTime = std::chrono::steady_clock;

double elapsed_ms(SteadyTime::time_point since) {
  return std::chrono::duration<double, std::milli>(SteadyTime::now() - since).count();
}

/// So that coordinates can be sorted.
bool earlier(ChunkCoord a, ChunkCoord b) { return std::tuple(a.x, a.y, a.z) < std::tuple(b.x, b.y, b.z); }

void add_key(Hasher& hasher, IVec3 block) { hasher.add(block); }
void add_key(Hasher& hasher, const PlayerIdentity& identity) { hasher.add_bytes(identity); }

/// Rows that wait to be saved, each key once: the last word counts. Allocates nothing once it has its size.
template <class Row, auto key>
class LastRows {
 public:
  void put(const Row& row) {
    if (2 * (rows_.size() + 1) > slots_.size()) grow();
    std::uint32_t& slot = slots_[slot_of(row)];
    if (slot == 0) {
      rows_.push_back(row);
      slot = static_cast<std::uint32_t>(rows_.size());
    } else {
      rows_[slot - 1] = row;
    }
  }
  const std::vector<Row>& rows() const { return rows_; }
  void clear() {
    if (rows_.empty()) return;
    rows_.clear();
    std::ranges::fill(slots_, 0u);
  }

 private:
  /// Where its key is, or where it would go.
  std::size_t slot_of(const Row& row) const {
    Hasher hasher;
    add_key(hasher, row.*key);
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = static_cast<std::size_t>(mix64(hasher.value())) & mask;
    while (slots_[slot] != 0 && !(rows_[slots_[slot] - 1].*key == row.*key)) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(256, 2 * slots_.size()), 0u);
    for (std::uint32_t row = 0; row < rows_.size(); ++row) slots_[slot_of(rows_[row])] = row + 1;
  }

  std::vector<Row> rows_;
  std::vector<std::uint32_t> slots_;  // row + 1; linear probing, at most half full
};

/// What becomes one transaction.
struct DirtyGroup {
  explicit DirtyGroup(std::uint32_t chunks_max) : chunks(chunks_max) {}
  bool empty() const {
    return chunks.count() == 0 && players.rows().empty() && edits.empty() && contents.rows().empty() &&
           !items_changed && !state_changed;
  }
  void clear() {
    chunks.clear(), players.clear(), items.clear(), authors.clear(), edits.clear(), contents.clear();
    items_changed = state_changed = false;
    unix_s = 0;
  }
  /// Would the log learn nothing of it? What a block held before one moved things in it to and fro is what a
  /// rollback wants, not what it held in between. Looks at the latest edits alone.
  bool knows(const LoggedEdit& made, std::uint32_t author) const {
    constexpr std::size_t looked_at = 64;
    if (made.held.empty()) return false;
    const std::size_t first = edits.size() - std::min(edits.size(), looked_at);
    for (std::size_t i = edits.size(); i-- > first;)
      if (edits[i].block == made.block) return !edits[i].held.empty() && edits[i].author == author;
    return false;
  }
  /// @return the author's index here
  std::uint32_t put(const EditAuthor& author) {
    const auto known = std::ranges::find_if(authors, [&](const EditAuthor& other) {
      return other.kind == author.kind && other.identity == author.identity;
    });
    if (known != authors.end()) return static_cast<std::uint32_t>(known - authors.begin());
    authors.push_back(author);
    return static_cast<std::uint32_t>(authors.size() - 1);
  }
  void put(const ItemTable& lying) {
    items.clear();
    items_changed = true;
    for (std::size_t i = 0; i < lying.rows(); ++i)
      if (lying.id[i] != EntityId{0})
        items.push_back({lying.stack[i], lying.position_m[i], lying.age_ticks[i]});
  }

  DirtyChunks chunks;
  LastRows<StoredPlayer, &StoredPlayer::identity> players;
  std::vector<EditAuthor> authors;
  std::vector<LoggedEdit> edits;
  std::vector<LyingItem> items;
  LastRows<PlacedData, &PlacedData::block> contents;
  KeptState state;
  bool items_changed = false, state_changed = false;
  std::int64_t unix_s = 0;  // of the newest edit; 0: there is none
  std::uint64_t tick = 0;
  SteadyTime::time_point begun;  // when its first change was noted
};

}  // namespace

struct WorldSaver::Impl {
  Impl(std::shared_ptr<WorldStore> given, std::uint64_t first, const SaverOptions& wanted)
      : store(std::move(given)),
        options(wanted),
        first_tick(first),
        filling(std::make_unique<DirtyGroup>(wanted.chunks_max)),
        handed(std::make_unique<DirtyGroup>(wanted.chunks_max)) {
    ASHLAR_ASSERT(store != nullptr);
    status.saved_tick = handed_tick = store->world().tick;
  }

  void gather_edits(const World& world, const LogAs& log_as);
  std::uint32_t author_of(EntityId who, const LogAs& log_as);
  void log(const TickChanges& changes);
  void stage(const VoxelVolume& volume, ChunkCoord at);
  void stage_late(const VoxelVolume& volume);
  bool writer_waits() const;
  void hand_over(const VoxelVolume& volume);
  bool group_due(std::chrono::microseconds now) const;
  bool state_due(std::chrono::microseconds now) const;
  void run();
  void end_run();
  void end_thread();
  bool work();
  void code(const DirtyGroup& group);
  void add(std::uint32_t run_tick, const VoxelVolume& volume, const TickChanges& changes);
  void take_state(const KeptState& now);
  void send(std::chrono::microseconds now, const VoxelVolume& volume);
  bool write_coded(std::uint64_t tick, SteadyTime::time_point handed_at);

  const std::shared_ptr<WorldStore> store;
  const SaverOptions options;
  const std::uint64_t first_tick;

  // The thread of note() alone.
  std::unique_ptr<DirtyGroup> filling;
  std::vector<ChunkCoord> late;     // sorted: changed, and no row was free
  std::vector<ChunkCoord> touched;  // scratch: of this tick
  std::uint64_t tick = 0, handed_tick = 0;
  bool hurried = false;  // the next group goes as soon as the writer is free
  std::uint64_t items_revision = 0;
  KeptState state, told_state;  // scratch; as the groups have it so far
  std::chrono::microseconds stated_at{0};
  std::vector<EditAuthor> authors;   // scratch: of this tick
  std::vector<EntityId> author_ids;  // likewise, of the same rows
  std::vector<LoggedEdit> edits;     // likewise
  std::uint64_t unlogged = 0;
  std::chrono::microseconds handed_at{0};
  bool begun = false, ended = false;

  // The writer's alone.
  ChunkCodec codec;
  std::vector<StoredChunk> coded;
  std::size_t coded_count = 0;
  std::vector<std::uint8_t> coded_items, coded_state;
  std::vector<StoredContents> coded_contents;

  mutable std::mutex mutex;
  std::condition_variable wake, idle;
  // Under mutex.
  std::unique_ptr<DirtyGroup> handed;
  bool busy = false;  // `handed` is the writer's
  SteadyTime::time_point handed_time;
  bool stopping = false;  // what is handed is tried once more, then the writer ends
  bool over = false;      // it has
  SaverStatus status;

  std::thread thread;  // it holds all of this
};

/// The author's row of this tick, each once.
std::uint32_t WorldSaver::Impl::author_of(EntityId who, const LogAs& log_as) {
  auto known = std::ranges::find(author_ids, who);
  if (known == author_ids.end()) {
    author_ids.push_back(who);
    EditAuthor& author = authors.emplace_back();
    if (who == operator_entity) author.kind = EditAuthor::Kind::operators;
    if (log_as.author_of) log_as.author_of(who, author);
    known = author_ids.end() - 1;
  }
  return static_cast<std::uint32_t>(known - author_ids.begin());
}

/// This tick's edits with their authors, those of blocks and of what they hold in the order in which they
/// were made: what a chest held before the edit that took it away, and after the one that made it. A rollback
/// goes back by that order.
void WorldSaver::Impl::gather_edits(const World& world, const LogAs& log_as) {
  authors.clear(), author_ids.clear(), edits.clear();
  if (options.log.rows_max == 0) return;
  const std::span<const AppliedEdit> blocks = world.applied_edits();
  std::size_t next = 0;
  const auto blocks_up_to = [&](std::size_t end) {
    for (; next < end; ++next)
      edits.push_back({log_as.unix_s,
                       author_of(blocks[next].who, log_as),
                       blocks[next].block,
                       blocks[next].before,
                       blocks[next].after,
                       {}});
  };
  for (const DataEdit& edit : world.contents().applied()) {
    // A timer starts and ends with its block, whose change is in the log.
    const BlockData held{edit.before.items, edit.before.text};
    if (held == BlockData{edit.after.items, edit.after.text}) continue;
    blocks_up_to(std::min(edit.blocks_before, blocks.size()));
    edits.push_back({log_as.unix_s, author_of(edit.who, log_as), edit.block, edit.kind, edit.kind,
                     encode_block_data(held)});
  }
  blocks_up_to(blocks.size());
}

/// Puts a tick's edits to the group's.
void WorldSaver::Impl::log(const TickChanges& changes) {
  for (const LoggedEdit& made : changes.edits) {
    if (filling->edits.size() >= options.edits_max) {
      ++unlogged;
      continue;
    }
    const std::uint32_t author = filling->put(changes.authors[made.author]);
    if (filling->knows(made, author)) continue;
    filling->unix_s = made.time_s;
    filling->edits.push_back(made);
    filling->edits.back().author = author;
  }
}

void WorldSaver::Impl::stage(const VoxelVolume& volume, ChunkCoord at) {
  const Chunk* chunk = volume.find(at);
  if (chunk == nullptr) return;  // only ground that nobody changed is dropped
  if (filling->chunks.put(at, *chunk)) return;
  const auto place = std::ranges::lower_bound(late, at, earlier);
  if (place == late.end() || !(*place == at)) late.insert(place, at);
}

/// Those that found no room: with what is in the group already they are of the same acts.
void WorldSaver::Impl::stage_late(const VoxelVolume& volume) {
  if (late.empty()) return;
  filling->chunks.grow(filling->chunks.count() + static_cast<std::uint32_t>(late.size()));
  for (const ChunkCoord at : late) stage(volume, at);
  late.clear();
}

bool WorldSaver::Impl::writer_waits() const {
  const std::scoped_lock lock(mutex);
  return !busy;
}

/// Gives the writer what has gathered. Precondition: it waits for something.
void WorldSaver::Impl::hand_over(const VoxelVolume& volume) {
  stage_late(volume);
  {
    const std::scoped_lock lock(mutex);
    ASHLAR_ASSERT(!busy);
    filling->tick = handed_tick = tick;
    std::swap(filling, handed);
    busy = true;
    handed_time = SteadyTime::now();
  }
  wake.notify_one();
  filling->clear();
}

void WorldSaver::Impl::code(const DirtyGroup& group) {
  coded_count = 0;
  for (const DirtyChunks::Row& row : group.chunks.rows()) {
    if (coded_count == coded.size()) coded.emplace_back();
    StoredChunk& out = coded[coded_count++];
    out.at = row.at;
    codec.encode(row.blocks, out.bytes);
  }
  coded_items.clear();
  if (group.items_changed) coded_items = encode_items(group.items);
  coded_state.clear();
  if (group.state_changed) encode_kept_state(group.state, coded_state);
  coded_contents.clear();
  for (const PlacedData& one : group.contents.rows()) {
    StoredContents& out = coded_contents.emplace_back();
    out.block = one.block;
    if (!one.data.empty()) out.bytes = encode_block_data(one.data);
  }
  // In the order of their rows: neighbours lie in the same pages.
  std::ranges::sort(coded.begin(), coded.begin() + static_cast<std::ptrdiff_t>(coded_count), earlier,
                    &StoredChunk::at);
}

bool WorldSaver::Impl::write_coded(std::uint64_t group_tick, SteadyTime::time_point handed_over) {
  const auto saved =
      store->save({group_tick, std::span(coded).first(coded_count), handed->players.rows(), coded_items,
                   coded_contents, handed->authors, handed->edits, handed->unix_s, options.log, coded_state});
  std::string log_failure = saved ? store->log_trouble() : std::string();
  const bool log_off = saved && store->log_off();
  const std::scoped_lock lock(mutex);
  status.failure = saved ? std::string() : saved.error().line;
  if (!saved) return false;
  if (!log_failure.empty()) status.edits_unlogged += handed->edits.size();
  status.log_failure = std::move(log_failure);
  status.log_off = log_off;
  status.saved_tick = group_tick;
  status.last_group_chunks = static_cast<std::uint32_t>(coded_count);
  status.last_group_ms = elapsed_ms(handed_over);
  status.last_age_ms = elapsed_ms(handed->begun);
  ++status.groups;
  return true;
}

void WorldSaver::Impl::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    wake.wait(lock, [this] { return busy || stopping; });
    if (!busy) break;
    const auto handed_over = handed_time;
    lock.unlock();
    code(*handed);
    for (bool last = false; !write_coded(handed->tick, handed_over);) {
      lock.lock();
      if (last) return end_run();  // what is left stays dirty, and status says so
      wake.wait_for(lock, options.retry, [this] { return stopping; });
      last = stopping;
      lock.unlock();
    }
    lock.lock();
    busy = false;
    idle.notify_all();
  }
  end_run();
}

/// Precondition: holds the mutex.
void WorldSaver::Impl::end_run() {
  over = true;
  idle.notify_all();
}

/// A thread that a disk holds is left to it; it has what it needs.
void WorldSaver::Impl::end_thread() {
  if (!thread.joinable()) return;
  std::unique_lock lock(mutex);
  stopping = true;
  wake.notify_all();
  const bool ended_now = idle.wait_for(lock, options.patience, [this] { return over; });
  lock.unlock();
  if (ended_now)
    thread.join();
  else
    thread.detach();
}

/// What run() does with a group, without waiting for anything.
bool WorldSaver::Impl::work() {
  code(*handed);
  if (!write_coded(handed->tick, SteadyTime::now())) return false;
  busy = false;
  return true;
}

WorldSaver::WorldSaver(std::shared_ptr<WorldStore> store, std::uint64_t first_tick,
                       const SaverOptions& options)
    : impl_(std::make_shared<Impl>(std::move(store), first_tick, options)) {
  if (options.own_thread) impl_->thread = std::thread([impl = impl_] { impl->run(); });
}

WorldSaver::~WorldSaver() { impl_->end_thread(); }

void WorldSaver::note(std::chrono::microseconds now, const World& world,
                      std::span<const StoredPlayer> players, const LogAs& log_as) {
  impl_->gather_edits(world, log_as);
  std::vector<ChunkCoord>& touched = impl_->touched;
  touched.clear();
  for (const AppliedEdit& edit : world.applied_edits()) {
    // Edits of one act lie side by side, and a tick touches few chunks.
    const ChunkCoord at = chunk_of(edit.block);
    if (!touched.empty() && touched.back() == at) continue;
    if (std::ranges::find(touched, at) == touched.end()) touched.push_back(at);
  }
  const std::uint64_t revision = world.items().revision();
  const bool items = std::exchange(impl_->items_revision, revision) != revision;
  const TickChanges changes{
      touched,        players,     items ? &world.items().table() : nullptr, world.contents().applied(),
      impl_->authors, impl_->edits};
  impl_->add(number(world.tick()), *world.space().voxels, changes);
  if (!impl_->begun) {
    // As it came from the store, or is made again as it was made now: nothing to write.
    impl_->begun = true;
    impl_->stated_at = now;
    world.keep_state(impl_->told_state);
  }
  // Only with a group is it looked at, as of the same tick as all else in it.
  if (impl_->state_due(now)) {
    world.keep_state(impl_->state);
    impl_->take_state(impl_->state);
    impl_->stated_at = now;
  }
  impl_->send(now, *world.space().voxels);
}

void WorldSaver::note(std::chrono::microseconds now, std::uint32_t tick, const VoxelVolume& volume,
                      const TickChanges& changes) {
  impl_->add(tick, volume, changes);
  impl_->send(now, volume);
}

void WorldSaver::Impl::add(std::uint32_t run_tick, const VoxelVolume& volume, const TickChanges& changes) {
  if (ended) return;
  tick = first_tick + run_tick;
  if (filling->empty()) filling->begun = SteadyTime::now();
  for (const ChunkCoord at : changes.chunks) stage(volume, at);
  for (const StoredPlayer& player : changes.players) filling->players.put(player);
  if (changes.items != nullptr) filling->put(*changes.items);
  for (const DataEdit& edit : changes.contents) filling->contents.put({edit.block, edit.after});
  if (changes.state != nullptr) take_state(*changes.state);
  log(changes);
}

/// Is the time between two groups over, or does somebody or what has come not wait for it?
bool WorldSaver::Impl::group_due(std::chrono::microseconds now) const {
  const auto much = [](std::uint64_t count, std::uint64_t max) { return 4 * count >= max; };
  return hurried || now - handed_at >= options.every || !late.empty() ||
         much(filling->chunks.count(), options.chunks_max) ||
         much(filling->contents.rows().size(), options.contents_max) ||
         much(filling->players.rows().size(), options.players_max) ||
         much(filling->edits.size(), options.edits_max);
}

/// Is a group about to be handed over, or is it time to look whether something moved?
bool WorldSaver::Impl::state_due(std::chrono::microseconds now) const {
  if (ended || !group_due(now)) return false;
  const bool group = !filling->empty() || !late.empty();
  if (!group && now - stated_at < options.state_every) return false;
  return writer_waits();
}

void WorldSaver::Impl::take_state(const KeptState& now) {
  if (now == told_state) return;
  if (filling->empty()) filling->begun = SteadyTime::now();
  told_state = now;
  filling->state = now;
  filling->state_changed = true;
}

void WorldSaver::Impl::send(std::chrono::microseconds now, const VoxelVolume& volume) {
  const bool nothing = filling->empty() && late.empty();
  if (ended || nothing || !group_due(now)) return;
  if (!writer_waits()) return;
  hand_over(volume);
  handed_at = now;
  hurried = false;
}

std::uint32_t WorldSaver::hurry() {
  Impl& s = *impl_;
  const bool nothing = s.filling->empty() && s.late.empty();
  s.hurried = s.hurried || !nothing;
  return static_cast<std::uint32_t>((nothing ? s.handed_tick : s.tick) - s.first_tick);
}

void WorldSaver::finish(std::chrono::milliseconds grace, const VoxelVolume& volume,
                        const std::function<void()>& meanwhile) {
  Impl& s = *impl_;
  if (s.ended) return;
  s.ended = true;
  const auto give_up = SteadyTime::now() + grace, patient_until = SteadyTime::now() + s.options.patience;
  bool called = meanwhile == nullptr;
  for (bool more = true; more;) {
    {
      std::unique_lock lock(s.mutex);
      if (s.busy && !s.options.own_thread) {
        lock.unlock();
        if (!s.work()) break;
        lock.lock();
      }
      const auto written = [&s] { return !s.busy; };
      if (!called && !s.idle.wait_until(lock, patient_until, written)) {
        called = true;
        lock.unlock();
        meanwhile();
        lock.lock();
      }
      if (!s.idle.wait_until(lock, give_up, written)) break;
    }
    more = !s.filling->empty() || !s.late.empty() || s.handed_tick != s.tick;
    if (more) s.hand_over(volume);
  }
  s.end_thread();
}

bool WorldSaver::has_work() const {
  ASHLAR_ASSERT(!impl_->options.own_thread);
  return impl_->busy;
}

bool WorldSaver::work() {
  ASHLAR_ASSERT(has_work());
  return impl_->work();
}

SaverStatus WorldSaver::status() const {
  const Impl& s = *impl_;
  const std::scoped_lock lock(s.mutex);
  SaverStatus status = s.status;
  status.edits_unlogged += s.unlogged;
  status.dirty_waiting = static_cast<std::uint32_t>(s.late.size());
  status.dirty_chunks = s.filling->chunks.count() + status.dirty_waiting;
  status.all_saved = !s.busy && s.filling->empty() && s.late.empty() && s.handed_tick == s.tick;
  if (!s.busy) return status;
  status.dirty_chunks += s.handed->chunks.count();
  status.writing_ms = elapsed_ms(s.handed_time);
  return status;
}

Durable WorldSaver::durable() const {
  const Impl& s = *impl_;
  Durable now;
  {
    const std::scoped_lock lock(s.mutex);
    if (s.status.saved_tick > s.first_tick)
      now.tick = static_cast<std::uint32_t>(s.status.saved_tick - s.first_tick);
  }
  // Of all that grows while a group waits; what lies and the state are one list each, the newest counts.
  const DirtyGroup& waiting = *s.filling;
  const auto room = [](std::uint64_t count, std::uint64_t max) { return 4 * count < 3 * max; };
  now.room = s.late.empty() && room(waiting.chunks.count(), s.options.chunks_max) &&
             room(waiting.contents.rows().size(), s.options.contents_max) &&
             room(waiting.players.rows().size(), s.options.players_max) &&
             room(waiting.edits.size(), s.options.edits_max);
  now.operator_blocks =
      std::max<std::int64_t>(0, std::int64_t{s.options.edits_max / 4} - std::ssize(waiting.edits));
  return now;
}

}  // namespace ashlar::server
