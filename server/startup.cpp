#include "server/startup.h"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <system_error>
#include <thread>

#include "protocol/inventory_codec.h"
#include "protocol/kept_state_codec.h"
#include "protocol/secure/key_derivation.h"
#include "protocol/secure/key_text.h"
#include "server/config/settings.h"
#include "server/net/address.h"
#include "server/rotation.h"
#include "server/store/kept_ground.h"
#include "server/store/stored_blocks.h"
#include "server/store/stored_ticks.h"
#include "world/sim/ground_generator.h"
#include "world/voxel/terrain.h"

namespace ashlar::server {
namespace {

using Failure = std::unexpected<std::string>;

/// Places for TCP connections on their way in and out. A server with many players sees many of them at once,
/// most of all after a restart.
std::uint32_t strangers_max(const Config& config) { return 64 + config.clients_max / 4; }

/// Has it a core of its own, beside the tick's and those that make ground?
bool sends_beside(const Config& config) {
  if (config.send_thread != SendThreadUse::automatic) return config.send_thread == SendThreadUse::on;
  return std::thread::hardware_concurrency() >= 2 + config.ground_threads;
}

TransportConfig transport_config(const Config& config) {
  TransportConfig transport;
  transport.listen = *parse_listen(config.listen);  // checked when it was set
  transport.port = config.port;
  transport.clients_max = config.clients_max;
  transport.tick_rate_hz = config.rules.tick_rate_hz;
  transport.tcp.strangers_max = strangers_max(config);
  transport.send_thread = sends_beside(config);
  return transport;
}

std::expected<secure::Secret, std::string> random_secret() {
  secure::Secret secret;
  const auto bytes = secret.writable();
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return Failure("the system gives no random numbers (getrandom)");
  return secret;
}

std::int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// The seed of ores, drawn where a world is made: then `kept` names it. None in worlds of before there was
/// one, whose ores everybody computes.
std::optional<std::uint64_t> secret_seed_of(LoadedConfig& kept, const secure::Secret& random) {
  std::uint64_t& seed = kept.config.secret_seed;
  if (seed == 0 && !kept.world_exists) {
    const auto bytes = secure::expand(random, "ores");
    for (int i = 0; i < 8; ++i) seed = seed << 8 | bytes.bytes()[static_cast<std::size_t>(i)];
    seed >>= 1;  // what TOML holds: as many as nobody tries who knows some ores
    seed += seed == 0;
  }
  return seed == 0 ? std::nullopt : std::optional(seed);
}

/// The maps of a rotation; empty: there is none.
std::expected<std::vector<std::string>, std::string> rotation_of(const LoadedConfig& loaded) {
  const Config& config = loaded.config;
  if (config.rotation.empty()) return std::vector<std::string>{};
  const auto wads = open_wads_of(config, usual_wad_folders());
  if (!wads) return Failure(wads.error());
  return rotation_maps(config, *wads, loaded.origins[find_setting("rotation")]);
}

/// Where the bans are kept; empty: nowhere.
std::string ban_file_of(const Config& config) {
  if (!config.ban_file.empty() || config.world_dir.empty()) return config.ban_file;
  return (std::filesystem::path(config.world_dir) / ban_file_name).string();
}

/// The bans of earlier runs. A file that is named may yet have to be made: not in a folder that is not there.
std::expected<BanFile, std::string> take_bans(const Config& config) {
  const std::string path = ban_file_of(config);
  if (path.empty()) return BanFile{};
  std::error_code error;
  const auto folder = std::filesystem::absolute(path, error).parent_path();
  if (!config.ban_file.empty() && !std::filesystem::is_directory(folder, error))
    return Failure("--ban-file: there is no folder " + folder.string() +
                   " to keep the bans in: make it first");
  return read_ban_file(path);
}

/// A world's own file is written after its database was made: one without the other has lost it.
bool begun_anew(const LoadedConfig& loaded, const SqliteStore& store) {
  return loaded.world_exists && store.made();
}

/// The database of a kept world, made where it is absent; null without a world's folder.
std::expected<std::shared_ptr<SqliteStore>, std::string> open_store(const LoadedConfig& loaded) {
  const std::string& dir = loaded.config.world_dir;
  if (dir.empty()) return nullptr;
  const std::string file = (std::filesystem::path(dir) / store_name).string();
  // A start that is refused later, and a check, leave it as it is.
  auto opened = SqliteStore::open(file, stored_world_of(loaded.config), {.tentative = true});
  if (!opened) return Failure(opened.error().line);
  std::shared_ptr<SqliteStore> store = std::move(*opened);
  // Nobody says any more which ground it belongs to: a new world would be laid under what was built.
  if (!loaded.world_exists && store->world().chunks > 0)
    return Failure(file + " keeps a world whose world.toml is gone: restore that from a backup, or move " +
                   store_name + " away to make a new world there");
  if (begun_anew(loaded, *store) && loaded.config.damaged_chunks == DamagedChunks::refuse)
    return Failure(file + " is missing or empty beside its world.toml, and all that was changed with it: " +
                   "restore the world from a backup, or start with --damaged-chunks regenerate");
  return store;
}

/// The kinds of blocks that a kept world goes on with.
std::expected<std::shared_ptr<const BlockRegistry>, std::string> blocks_of(
    const SqliteStore& store, const std::shared_ptr<const BlockRegistry>& given) {
  const std::string text = store.world().blocks;
  auto kept = read_stored_blocks(text);
  if (!kept)
    return Failure("the world's database is damaged: " + kept.error() + "; restore it from a backup");
  auto settled = settle_blocks(given, text.empty() ? nullptr : *kept);
  if (!settled) return Failure("--blocks does not fit this world: " + settled.error());
  return settled;
}

/// Ground at home that was damaged and may not be made anew.
std::expected<void, std::string> check_home(const World& world, const StoredGround& stored) {
  for (std::int32_t x = world.home_min().x; x < world.home_max().x; ++x)
    for (std::int32_t y = world.home_min().y; y < world.home_max().y; ++y)
      if (stored.closed({x, y}))
        return Failure("the world's ground at its start is damaged, column " + std::to_string(x) + "," +
                       std::to_string(y) +
                       " in chunks: see ashlar-server world check, restore it from a backup, or start with "
                       "--damaged-chunks regenerate");
  return {};
}

}  // namespace

StoredWorld stored_world_of(const Config& config) {
  return {.seed = config.seed, .terrain = std::string(name(config.terrain)), .generator = terrain_generator};
}

std::expected<void, std::string> allow_files() {
  const FileLimit limit = raise_file_limit(0);
  if (limit.enough()) return {};
  return Failure("this system allows " + std::to_string(limit.allowed) + " open files, the server needs " +
                 std::to_string(limit.wanted) + " and one for each TCP client: raise it with ulimit -Hn");
}

std::uint32_t clients_per_address(const Config& config) {
  return config.clients_per_address_max == 0 ? config.clients_max
                                             : std::min(config.clients_per_address_max, config.clients_max);
}

namespace {

/// Names a player whose row is damaged by its key, as bans and tokens do.
std::string player_lost(std::span<const std::uint8_t> identity) {
  secure::PublicKey key;
  std::string name = "without a key";
  if (identity.size() == key.bytes.size()) {
    std::ranges::copy(identity, key.bytes.begin());
    name = secure::public_key_text(key);
  }
  return "player " + name + ": its values make no sense, it begins anew; they are kept in the table damaged";
}

/// The ground and the kinds of blocks of a world that is kept; nothing for one that is not.
/// @param given  kinds of the file that was named; null: none was
std::expected<void, std::string> take_stored(Startup& startup,
                                             const std::shared_ptr<const BlockRegistry>& given) {
  if (startup.store == nullptr) return {};
  if (begun_anew(startup.loaded, *startup.store))
    startup.lost.push_back(std::string("all that was ever changed: ") + store_name +
                           " was missing or empty, and begins anew");
  auto blocks = blocks_of(*startup.store, given);
  if (!blocks) return Failure(std::move(blocks.error()));
  startup.content.setup.blocks = std::move(*blocks);
  auto players = startup.store->load_players();
  if (!players) return Failure(players.error().line);
  startup.players = std::move(players->players);
  constexpr std::size_t named_max = 16;
  for (const std::vector<std::uint8_t>& identity : players->damaged | std::views::take(named_max))
    startup.lost.push_back(player_lost(identity));
  if (players->damaged.size() > named_max)
    startup.lost.push_back(std::to_string(players->damaged.size() - named_max) + " more players");
  auto items = startup.store->load_items();
  if (!items) return Failure(items.error().line);
  startup.content.setup.items = std::move(items->items);
  startup.content.setup.age_ticks = std::min(startup.store->world().tick, life_ticks_max);
  auto state = startup.store->load_state();
  if (!state) return Failure(state.error().line);
  startup.content.setup.kept = std::move(state->state);
  if (!state->damage.empty()) startup.lost.push_back("doors, lifts and monsters: " + state->damage);
  auto contents = startup.store->load_contents();
  if (!contents) return Failure(contents.error().line);
  startup.content.setup.contents = std::move(contents->contents);
  if (contents->damaged > 0)
    startup.lost.push_back("what " + std::to_string(contents->damaged) + " blocks held");
  if (!items->damage.empty()) startup.lost.push_back("items that lay in the world: " + items->damage);
  // Its ticks in those of this run; on the disk with keep().
  WorldSetup& setup = startup.content.setup;
  const std::uint16_t rate = setup.rules.tick_rate_hz, kept_rate = startup.store->world().tick_rate_hz;
  StoredTicks ticks{setup.age_ticks, std::move(setup.contents), std::move(setup.items), setup.kept,
                    std::move(startup.players)};
  convert_ticks(ticks, kept_rate == 0 ? rate : kept_rate, rate);
  setup.age_ticks = ticks.tick, setup.contents = std::move(ticks.contents),
  setup.items = std::move(ticks.items);
  setup.kept = std::move(ticks.state);
  startup.players = std::move(ticks.players);
  // As of ground at home: what is made anew would be written over what may yet be mended.
  const bool refuse = startup.loaded.config.damaged_chunks == DamagedChunks::refuse;
  if (refuse && !startup.lost.empty())
    return Failure("the world's database is damaged: " + startup.lost.front() +
                   ": see ashlar-server world check, restore it from a backup, or start with "
                   "--damaged-chunks regenerate");
  startup.stored = std::make_shared<StoredGround>(startup.store, startup.loaded.config.damaged_chunks,
                                                  StoredGround::Generate{}, startup.content.setup.blocks);
  startup.content.setup.make_chunk = [ground = startup.stored](const Terrain& terrain, ChunkCoord at) {
    return ground->make_chunk(terrain, at);
  };
  return {};
}

/// Another map of the same name would be laid under what was built.
std::expected<void, std::string> check_maps(const Startup& startup) {
  if (startup.store == nullptr || startup.loaded.world_accepted) return {};
  const std::string other = other_map(startup.store->world().maps, startup.content.named_maps);
  if (other.empty()) return {};
  const std::string from =
      startup.content.wads.empty() ? "the built-in one" : "that of " + startup.content.wads.back();
  return Failure(
      "world " + startup.loaded.config.world_dir + " was made with another map " + other + " than " + from +
      ": give the WAD that it was made with (--wad), or start once with --accept-world to go on with "
      "this one");
}

/// The world, of what was compiled and what is kept; and the folder's files, under other names yet.
std::expected<void, std::string> make_world(Startup& startup,
                                            const std::shared_ptr<const BlockRegistry>& blocks,
                                            const std::function<bool()>& stop) {
  startup.content.setup.secret = secret_seed_of(startup.kept, startup.secret);
  // A kept world names its maps with their places, whatever is found another day.
  if (!startup.kept.config.world_dir.empty()) {
    startup.kept.config.maps = startup.content.maps;
    startup.kept.config.props = startup.content.props;
    // Another start may be given from elsewhere.
    for (PropRequest& prop : startup.kept.config.props) {
      std::error_code error;
      if (auto whole = std::filesystem::absolute(prop.file, error); !error) prop.file = whole.string();
    }
  }
  if (auto same = check_maps(startup); !same) return same;
  if (auto written = startup.folder.prepare(startup.kept); !written) return written;
  if (stop && stop()) return Failure(std::string(start_stopped));
  if (auto took = take_stored(startup, blocks); !took) return took;
  startup.world = std::make_unique<World>(startup.content.setup);
  return startup.stored == nullptr ? std::expected<void, std::string>{}
                                   : check_home(*startup.world, *startup.stored);
}

}  // namespace

std::expected<Startup, std::string> start_up(const LoadedConfig& given, const std::function<void()>& announce,
                                             const std::function<bool()>& stop, const MakeGame& game) {
  const auto rotation = rotation_of(given);
  if (!rotation) return Failure(rotation.error());
  LoadedConfig loaded = given;
  if (!rotation->empty()) loaded.config.maps = {{rotation->front(), {}}};
  const Config& config = loaded.config;
  const auto secret = random_secret();
  if (!secret) return Failure(secret.error());
  const std::int64_t begun_ms = now_ms();
  auto content = read_content(config, usual_wad_folders());
  if (!content) return Failure(std::move(content.error()));
  const FileLimit files = raise_file_limit(config.clients_max + strangers_max(config));
  auto transports = Transports::open(transport_config(config));
  if (!transports) return Failure(std::move(transports.error()));
  auto folder = WorldFolder::take(loaded);
  if (!folder) return Failure(std::move(folder.error()));
  auto bans = take_bans(config);
  if (!bans) return Failure(std::move(bans.error()));
  secure::SystemEntropy entropy;
  auto key = take_server_key(loaded, entropy);
  if (!key) return Failure(std::move(key.error()));
  auto store = open_store(loaded);
  if (!store) return Failure(std::move(store.error()));
  std::optional<RecordingFile> recording;
  if (!config.record_file.empty()) {
    auto created = RecordingFile::create(config.record_file, std::time(nullptr), config.record_existing);
    if (!created) return Failure(std::move(created.error()));
    recording.emplace(std::move(*created));
  }
  announce();

  auto sets = std::make_unique<VisibilityCache>(config.world_dir);
  auto prepared = compile_setup(
      config, *content,
      [&sets](const SectorMap& map, const BspTree& tree) { return sets->set_for(map, tree); }, stop);
  if (!prepared) return Failure(std::move(prepared.error()));
  prepared->setup.game = game;
  // Packed here, as that takes milliseconds for each: too long for a tick.
  auto shelf = config.content_bytes_per_s == 0 ? nullptr : std::make_shared<ContentShelf>();
  std::vector<std::string> not_offered;
  if (shelf != nullptr) not_offered = shelf->add(prepared->setup);
  const std::int64_t content_ms = now_ms() - begun_ms;
  Startup startup{given,
                  loaded,
                  std::move(*transports),
                  std::move(*folder),
                  ban_file_of(config),
                  std::move(*bans),
                  std::move(*key),
                  std::move(recording),
                  std::move(sets),
                  std::move(*store),
                  nullptr,
                  {},
                  {},
                  std::move(*prepared),
                  std::move(shelf),
                  std::move(not_offered),
                  nullptr,
                  *secret,
                  files,
                  content_ms,
                  *rotation};
  if (auto made = make_world(startup, content->blocks, stop); !made) return Failure(std::move(made.error()));
  return startup;
}

namespace {

/// A world's ticks as they are counted from now on, all in one transaction.
std::expected<void, StoreTrouble> keep_tick_rate(SqliteStore& store, const WorldSetup& setup,
                                                 const std::vector<StoredPlayer>& all) {
  const StoredWorld known = store.world();
  if (known.tick_rate_hz == setup.rules.tick_rate_hz) return {};
  SaveGroup group{known.tick, {}, {}};
  group.tick_rate_hz = setup.rules.tick_rate_hz;
  std::vector<std::uint8_t> items, state;
  std::vector<StoredContents> contents;
  std::vector<StoredPlayer> players;
  if (known.tick_rate_hz != 0) {
    group.tick = setup.age_ticks;
    for (const PlacedData& one : setup.contents)
      if (one.data.due != 0) contents.push_back({one.block, encode_block_data(one.data)});
    std::ranges::copy_if(all, std::back_inserter(players), [](const StoredPlayer& player) {
      const Arsenal& arsenal = player.life.arsenal;
      return arsenal.wait_ticks != 0 || std::ranges::any_of(arsenal.power_ticks, std::identity());
    });
    group.players = players;
    if (!setup.items.empty()) items = encode_items(setup.items);
    if (setup.kept != nullptr) encode_kept_state(*setup.kept, state);
    group.contents = contents, group.items = items, group.state = state;
  }
  return store.save(group);
}

}  // namespace

std::expected<void, std::string> Startup::keep() {
  if (store != nullptr)
    if (const auto opened = store->commit_open(); !opened) return Failure(opened.error().line);
  if (auto named = folder.keep(); !named) return named;
  if (auto named = key.keep(); !named) return named;
  if (store != nullptr) {
    store->keep();
    if (const auto aside = store->set_aside_players(); !aside) return Failure(aside.error().line);
    if (const auto rate = keep_tick_rate(*store, world->setup(), players); !rate)
      return Failure(rate.error().line);
    if (const std::string text = stored_blocks_text(*world->setup().blocks); text != store->world().blocks)
      if (const auto saved = store->save_blocks(text); !saved) return Failure(saved.error().line);
    if (const std::string text = maps_text(content.named_maps); text != store->world().maps)
      if (const auto saved = store->save_maps(text); !saved) return Failure(saved.error().line);
    if (const std::string text = footprints_text(world->ground()->terrain().footprints);
        text != store->world().footprints)
      if (const auto saved = store->save_footprints(text); !saved) return Failure(saved.error().line);
    if (const auto begun = stored->begin(); !begun) return Failure(begun.error().line);
  }
  sets->keep();
  if (recording) recording->keep();
  return {};
}

}  // namespace ashlar::server
