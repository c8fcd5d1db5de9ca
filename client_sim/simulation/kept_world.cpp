#include "client_sim/simulation/kept_world.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "protocol/chunk_codec.h"
#include "world/math/assert.h"
#include "world/math/random.h"
#include "world/sim/block_contents.h"
#include "world/sim/dropped_items.h"
#include "world/sim/game.h"
#include "world/sim/kept_state.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
namespace {

// It is on no disk of the machine's.
constexpr const char* file_name = "simulated/ashlar-sim/world.db";
// What a group takes to write, and when one that failed is tried again.
constexpr std::uint32_t write_ms_max = 300;
constexpr Micros retry{1'000'000};

std::string place_text(IVec3 at) {
  return std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z);
}

IVec3 within(IVec3 block) {
  constexpr std::int32_t last = chunk_size - 1;
  return {block.x & last, block.y & last, block.z & last};
}

std::vector<LyingItem> lying(const ItemTable& table) {
  std::vector<LyingItem> out;
  for (std::size_t i = 0; i < table.rows(); ++i)
    if (table.id[i] != EntityId{0}) out.push_back({table.stack[i], table.position_m[i], table.age_ticks[i]});
  return out;
}

/// Who placed what has no order that is kept.
bool earlier(const KeptPlacement& a, const KeptPlacement& b) {
  return std::tie(a.block.x, a.block.y, a.block.z) < std::tie(b.block.x, b.block.y, b.block.z);
}

bool same_items(const std::vector<LyingItem>& a, const std::vector<LyingItem>& b) {
  return std::ranges::equal(a, b, {}, &LyingItem::stack, &LyingItem::stack);
}

}  // namespace

bool KeptWorld::BlockLess::operator()(IVec3 a, IVec3 b) const {
  return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
}

KeptWorld::KeptWorld(const SimulationConfig& config) : config_(config), disk_(config.seed) {}

KeptWorld::~KeptWorld() = default;

std::optional<std::string> KeptWorld::open(WorldSetup& setup) {
  // Whoever starts it has made room first.
  disk_.set_full(false);
  disk_.set_failing(0);
  auto opened =
      server::SqliteStore::open(file_name, {.seed = config_.seed}, {.patience_ms = 0, .disk = disk_.name()});
  if (!opened) return "the store does not open: " + opened.error().line;
  store_ = std::move(*opened);
  store_->keep();
  first_tick_ = saved_tick_ = store_->world().tick;
  if (first_tick_ < promised_)
    return "all up to tick " + std::to_string(promised_) +
           " was announced as saved, and what is there is of " + std::to_string(first_tick_);
  // What was played after that never was.
  for (; !played_.empty() && played_.front().tick <= first_tick_; played_.pop_front()) apply(played_.front());
  played_.clear();
  kept_tick_ = promised_ = first_tick_;
  if (auto wrong = compare()) return wrong;

  setup.items = began_items_;
  setup.contents = began_contents_;
  setup.kept = began_state_;
  setup.age_ticks = first_tick_;
  const auto make = [this](const Terrain& terrain, ChunkCoord at) {
    if (!terrain_) terrain_ = terrain;
    return config_.ground->make(terrain, at);
  };
  ground_ = std::make_shared<server::StoredGround>(store_, server::DamagedChunks::refuse, make);
  setup.make_chunk = [ground = ground_](const Terrain& terrain, ChunkCoord at) {
    return ground->make_chunk(terrain, at);
  };
  server::SaverOptions options;
  options.own_thread = false;
  options.chunks_max = chunks_max;
  saver_ = std::make_unique<server::WorldSaver>(store_, first_tick_, options);
  writes_at_ = Micros{0};
  items_revision_ = 0;
  disk_.set_full(full_);
  disk_.set_failing(failing_);
  if (const auto begun = ground_->begin(); !begun) return begun.error().line;
  return std::nullopt;
}

std::optional<std::string> KeptWorld::tell(server::Host& host) {
  host.learn_changes(ground_->take_changes());
  for (const auto& [identity, player] : players_) host.remember(player);
  if (began_state_ == nullptr) return std::nullopt;
  KeptState there;
  host.world().keep_state(there);
  KeptState wanted = *began_state_;
  if (!host.world().game().resumes()) wanted.match = there.match, wanted.built = there.built;
  std::ranges::sort(there.built.placed, earlier);
  std::ranges::sort(wanted.built.placed, earlier);
  // Those whose monsters are gone are nobody's.
  const auto gone = [&](const KeptProjectile& p) {
    const MonsterTable& monsters = host.world().monsters();
    return p.owner_row < monsters.rows() && monsters.id[p.owner_row] == EntityId{0};
  };
  for (KeptProjectile& p : wanted.projectiles)
    if (gone(p)) p.owner_row = KeptProjectile::nobody;
  if (there == wanted) return std::nullopt;
  return std::string(there.maps != wanted.maps                 ? "doors and lifts are"
                     : there.monsters != wanted.monsters       ? "monsters are"
                     : there.projectiles != wanted.projectiles ? "projectiles are"
                     : there.match != wanted.match             ? "the match is"
                     : there.built != wanted.built             ? "who built what is"
                                                               : "what falls is") +
         " not as kept";
}

void KeptWorld::before(server::Host& host) {
  const server::Durable durable = saver_->durable();
  room_ = durable.room;
  host.note_saving(durable.tick, durable.room, durable.operator_blocks);
}

void KeptWorld::after(Micros now, const server::Host& host, std::int64_t unix_s) {
  const World& world = host.world();
  const server::LogAs log_as{unix_s,
                             [&host](EntityId who, server::EditAuthor& out) { host.author_of(who, out); }};
  const bool waited = saver_->has_work();
  saver_->note(now, world, host.changed_players(), log_as);
  Played played;
  // A group is handed over: with it goes what else the world is at.
  if (!waited && saver_->has_work()) {
    auto state = std::make_shared<KeptState>();
    world.keep_state(*state);
    played.state = std::move(state);
  }
  played.tick = first_tick_ + number(world.tick());
  played.at = now_;
  played.edits.assign(world.applied_edits().begin(), world.applied_edits().end());
  for (const DataEdit& edit : world.contents().applied()) played.contents.push_back({edit.block, edit.after});
  if (std::exchange(items_revision_, world.items().revision()) != world.items().revision())
    played.items = lying(world.items().table());
  played.players.assign(host.changed_players().begin(), host.changed_players().end());
  const bool nothing = played.edits.empty() && played.contents.empty() && !played.items &&
                       played.players.empty() && played.state == nullptr;
  if (!nothing) played_.push_back(std::move(played));
}

void KeptWorld::work(Micros now) {
  now_ = now;
  if (saver_ == nullptr || !saver_->has_work()) return;
  if (writes_at_ == Micros{0}) {
    Rng rng = rng_for(config_.seed, 0xd15c, ++drawn_);
    writes_at_ = now + Micros{1000 * std::int64_t{1 + rng.below(write_ms_max)}};
  }
  if (now < writes_at_) return;
  writes_at_ = saver_->work() ? Micros{0} : now + retry;
  if (writes_at_ != Micros{0}) ++failed_;
  note_saved();
}

void KeptWorld::note_saved() {
  const std::uint64_t saved = saver_->status().saved_tick;
  if (saved != saved_tick_) ++groups_;
  saved_tick_ = saved;
  promised_ = std::max(promised_, saved);
  for (; !played_.empty() && played_.front().tick <= saved; played_.pop_front()) apply(played_.front());
  kept_tick_ = saved;
}

void KeptWorld::close(Micros now, const server::Host& host) {
  const std::vector<server::KeptPlayer> here = host.present_players();
  const World& world = host.world();
  Played& last = played_.emplace_back();
  last.tick = first_tick_ + number(world.tick());
  last.at = now_;
  last.players = here;
  KeptState state;
  world.keep_state(state);
  last.state = std::make_shared<const KeptState>(state);
  saver_->note(now, number(world.tick()), *world.space().voxels,
               {.chunks = {}, .players = here, .state = &state});
  saver_->finish(std::chrono::milliseconds{0}, *world.space().voxels);
  note_saved();
  saver_.reset();
  ground_.reset();
  store_.reset();
}

void KeptWorld::kill(std::uint32_t calls, bool power) {
  if (saver_->has_work()) {
    disk_.die_after(calls);
    // Whether it had the time to say that it was done depends on the moment.
    saver_->work();
    promised_ = std::max(promised_, saver_->status().saved_tick);
  }
  if (power)
    disk_.power_cut();
  else
    disk_.process_killed();
  saver_.reset();
  ground_.reset();
  store_.reset();
}

void KeptWorld::note_told(std::uint32_t tick) { promised_ = std::max(promised_, first_tick_ + tick); }

void KeptWorld::set_full(bool full) {
  disk_.set_full(full_ = full);
  good_since_ = now_;
}

void KeptWorld::set_failing(std::uint32_t of_100) {
  disk_.set_failing(failing_ = of_100);
  good_since_ = now_;
}

std::optional<Micros> KeptWorld::behind_since() const {
  if (played_.empty()) return std::nullopt;
  return played_.front().at;
}

std::size_t KeptWorld::bytes() const {
  std::size_t sum = disk_.bytes() + players_.size() * sizeof(decltype(players_)::value_type);
  for (const auto& [place, chunk] : chunks_) sum += chunk->bytes();
  return sum;
}

void KeptWorld::apply(const Played& played) {
  for (const AppliedEdit& edit : played.edits) {
    const ChunkCoord at = chunk_of(edit.block);
    auto& chunk = chunks_[server::chunk_place(at)];
    ASHLAR_ASSERT(terrain_.has_value());
    auto changed = chunk != nullptr ? std::make_unique<Chunk>(*chunk) : config_.ground->make(*terrain_, at);
    changed->set_block(within(edit.block), edit.after);
    chunk = std::move(changed);
  }
  for (const PlacedData& one : played.contents) {
    if (one.data.empty())
      contents_.erase(one.block);
    else
      contents_[one.block] = one.data;
  }
  if (played.items) items_ = *played.items;
  if (played.state) state_ = played.state;
  for (const server::KeptPlayer& player : played.players) {
    if (player.gone)
      players_.erase(player.identity);
    else
      players_[player.identity] = player;
  }
}

std::optional<std::string> KeptWorld::compare_chunks() {
  const std::uint64_t kept = store_->world().chunks;
  if (kept != chunks_.size())
    return std::to_string(kept) + " changed chunks are there of " + std::to_string(chunks_.size());
  ChunkCodec codec;
  std::vector<BlockId> there(chunk_blocks), wanted(chunk_blocks);
  for (const auto& [place, chunk] : chunks_) {
    const ChunkCoord at = server::chunk_at_place(place);
    const std::string where = "chunk " + place_text({at.x, at.y, at.z});
    const server::ChunkLookup found = store_->load_chunk(at);
    if (found.kind != server::ChunkLookup::Kind::found) return where + " is not there, or not whole";
    const auto decoded = codec.decode(found.bytes);
    if (!decoded) return where + " makes no sense";
    (*decoded)->copy_blocks(there);
    chunk->copy_blocks(wanted);
    if (there != wanted) return where + " is not as it was played";
  }
  return std::nullopt;
}

/// All of one tick, or it is half a group.
std::optional<std::string> KeptWorld::compare() {
  if (auto wrong = compare_chunks()) return wrong;
  auto items = store_->load_items();
  auto contents = store_->load_contents();
  const auto players = store_->load_players();
  auto state = store_->load_state();
  if (!items || !contents || !players || !state) return "what is kept beside the chunks cannot be read";
  if (!same_items(items->items, items_))
    return std::to_string(items->items.size()) + " stacks lie there, not the " +
           std::to_string(items_.size()) + " of that tick";
  if (contents->contents.size() != contents_.size())
    return std::to_string(contents->contents.size()) + " blocks hold something of " +
           std::to_string(contents_.size());
  for (const PlacedData& one : contents->contents) {
    const auto wanted = contents_.find(one.block);
    if (wanted == contents_.end() || !(wanted->second == one.data))
      return "block " + place_text(one.block) + " does not hold what it held";
  }
  if (players->players.size() != players_.size())
    return std::to_string(players->players.size()) + " players are known of " +
           std::to_string(players_.size());
  for (const server::KeptPlayer& player : players->players) {
    const auto wanted = players_.find(player.identity);
    if (wanted == players_.end() || !(wanted->second.inventory == player.inventory))
      return "a player does not hold what it held";
    if (wanted->second.life != player.life) return "a player is not as well and armed as it was";
    if (wanted->second.score != player.score) return "a player has not the score that it had";
  }
  // A world in which nothing moved since its start has none.
  if (state->state != nullptr && (state_ == nullptr || *state->state != *state_))
    return "doors, monsters, projectiles or the match are not as they were at that tick";
  began_items_ = std::move(items->items);
  began_contents_ = std::move(contents->contents);
  began_state_ = state->state;
  return std::nullopt;
}

}  // namespace ashlar::simulation
