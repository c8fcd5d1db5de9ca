#include "server/rotation.h"

#include <algorithm>
#include <utility>

#include "server/map_order.h"
#include "world/bsp/placement.h"
#include "world/content/wad.h"
#include "world/math/assert.h"
#include "world/sim/match.h"
#include "world/sim/mechanics.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

constexpr std::string_view whole_wad_word = "wad";

std::uint16_t special_of(const World& world, const MoverEvent& event) {
  return world.setup().maps[event.map]->source().lines[event.where].special;
}

}  // namespace

std::expected<std::vector<std::string>, std::string> rotation_maps(const Config& config,
                                                                   const OpenedWads& wads,
                                                                   const std::string& origin) {
  if (config.rotation == std::vector<std::string>{std::string(whole_wad_word)}) {
    std::vector<std::string> all = map_names(wads.wads);
    if (all.empty()) return std::unexpected(origin + ": there is no map in any WAD; name one with --wad");
    return all;
  }
  for (const std::string& name : config.rotation)
    if (auto map = load_map(wads, name); !map) return std::unexpected(origin + ": " + map.error());
  return config.rotation;
}

MapRotation::MapRotation(std::vector<std::string> maps, bool whole_wad, Maker make)
    : maps_(std::move(maps)), whole_wad_(whole_wad), make_(std::move(make)) {
  ASHLAR_ASSERT(!maps_.empty());
  playing_ = maps_.front();
}

std::string MapRotation::next_map() const {
  if (!wanted_.empty()) return wanted_;
  return maps_[next_in_order(maps_, at_, secret_, whole_wad_)];
}

void MapRotation::prepare(const std::string& map) {
  if (preparing_ == map || (ready_ && ready_->map == map)) return;
  ready_.reset();
  preparing_ = map;
  making_.start(
      [make = make_, map, order = ++order_] { return std::make_shared<Work>(Work{map, order, make(map)}); });
}

void MapRotation::make_again() {
  const std::string map = ready_ ? ready_->map : preparing_;
  if (map.empty()) return;
  ready_.reset();
  preparing_.clear();
  prepare(map);
}

void MapRotation::note(const World& world) {
  for (const MoverEvent& event : world.mechanics().events())
    if (event.kind == MoverEventKind::exited) secret_ = is_secret_exit(special_of(world, event));
  const Match& match = world.match();
  const bool intermission = match.phase == MatchPhase::intermission;
  if (intermission && !intermission_) prepare(next_map());
  // In its last tick: what comes next is not begun here. A world that is late is waited for in play.
  const bool coming = ready_.has_value() || !preparing_.empty();
  const bool over = intermission ? match.left_ticks <= 1 : intermission_;
  due_ = due_ || (coming && over);
  intermission_ = intermission;
}

void MapRotation::go_on() {
  wanted_.clear();
  due_ = true;
  prepare(next_map());
}

void MapRotation::go_to(const std::string& map) {
  wanted_ = map;
  due_ = true;
  prepare(map);
}

void MapRotation::collect() {
  const auto work = making_.take();
  // What another order made void is not looked at.
  if (!work || (*work)->order != order_) return;
  preparing_.clear();
  if ((*work)->made) {
    ready_ = std::move(*(*work)->made);
    return;
  }
  error_ = (*work)->map + ": " + (*work)->made.error();
  due_ = false;
  wanted_.clear();
  // The next order goes on behind it.
  stand_at((*work)->map);
}

void MapRotation::stand_at(const std::string& map) {
  const auto found = std::ranges::find(maps_, map);
  if (found != maps_.end()) at_ = static_cast<std::size_t>(found - maps_.begin());
}

std::optional<NextWorld> MapRotation::take() {
  collect();
  if (!due_ || !ready_) return std::nullopt;
  due_ = intermission_ = secret_ = false;
  wanted_.clear();
  playing_ = ready_->map;
  stand_at(playing_);
  return std::exchange(ready_, std::nullopt);
}

MapRotation::Maker world_maker(const Config& config, std::optional<std::uint64_t> secret_seed,
                               std::shared_ptr<const BlockRegistry> blocks,
                               std::shared_ptr<const KindsToCome> kinds, MakeGame game) {
  return [config, secret_seed, blocks = std::move(blocks), kinds = std::move(kinds),
          game = std::move(game)](const std::string& map) -> MapRotation::Made {
    Config one = config;
    one.maps = {{map, {}}};
    one.blocks_file.clear(), one.kinds_file.clear();  // somebody may be in the middle of writing them
    auto prepared = prepare_setup(one, usual_wad_folders());
    if (!prepared) return std::unexpected(std::move(prepared.error()));
    prepared->setup.secret = secret_seed;
    prepared->setup.blocks = blocks;
    prepared->setup.kinds = kinds->get();
    prepared->setup.game = game;
    NextWorld next;
    next.map = map;
    if (config.content_bytes_per_s != 0) {
      auto shelf = std::make_shared<ContentShelf>();
      (void)shelf->add(prepared->setup);
      next.content = std::move(shelf);
    }
    next.world = std::make_unique<World>(prepared->setup);
    return next;
  };
}

bool rotate(MapRotation& rotation, Host& host, GroundWorkers& ground, Log& log) {
  auto next = rotation.take();
  if (const std::string error = rotation.take_error(); !error.empty())
    log.event(LogLevel::error, "rotation_failed",
              {{"error", error}, {"effect", "the world stays; next goes on behind that map"}});
  if (!next) return false;
  host.change_world(std::move(next->world), std::move(next->content));
  ground.begin_world(host.world().ground());
  log.info("world", {{"map", rotation.playing()}, {"monsters", host.status().monsters}});
  return true;
}

}  // namespace ashlar::server
