#include "server/tools/world_commands.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "server/config/command_line.h"
#include "server/config/load.h"
#include "server/store/backup_source.h"
#include "server/store/salvage.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_check.h"
#include "server/store/stored_blocks.h"
#include "server/store/world_backup.h"
#include "server/store/world_lock.h"
#include "server/store/world_restore.h"
#include "server/tools/edit_commands.h"
#include "server/tools/ground_commands.h"
#include "world/voxel/terrain.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr CommandTable world_info_table{"world info",
                                        "Tells what a world's folder keeps: format, seed, saved tick, how "
                                        "many chunks were changed. Also beside a "
                                        "running server.",
                                        "DIR",
                                        {}};
constexpr CommandTable world_check_table{
    "world check",
    "Reads everything that a world's folder keeps and names what is damaged; changes nothing. Also beside a "
    "running server. Exit code 1 when something is damaged.",
    "DIR",
    {}};
constexpr CommandOption world_backup_options[] = {
    {"--out", "DIR", "Where the backup goes: a folder that is not there yet, or is empty.", true}};
constexpr CommandTable world_backup_table{
    "world backup",
    "Copies a world as of one moment to a folder that a server can be started with (--world), and reads all "
    "of the copy. Also of a running server, which goes on. The secret server.key stays behind: keep it "
    "apart. "
    "Exit code 1 when something in it is damaged.",
    "DIR", world_backup_options};

constexpr CommandOption world_restore_options[] = {
    {"--to", "DIR", "The world's folder: one that is not there yet, or is empty.", true},
    {"--replace", "",
     "Puts the world that is there aside, as DIR.before-restore (DIR/before-restore where DIR is a mount "
     "point), also one that lost its world.toml; its backups, bans.toml and server.toml stay in DIR. No "
     "server may play in it."},
    {"--with-settings", "",
     "With --replace: bans and settings are the backup's, too. Who was banned since it was made may come in "
     "again."}};
constexpr CommandTable world_restore_table{
    "world restore",
    "Copies a backup to where a server is started with it, after all of it was read and found whole. A "
    "server.key that was there stays.",
    "BACKUP", world_restore_options};

constexpr CommandOption world_salvage_options[] = {
    {"--drop-log", "", "The log of edits begins anew: nothing of it is kept."}};
constexpr CommandTable world_salvage_table{
    "world salvage",
    "Makes the database of a world that its disk has torn anew, of every row that can be read; as it was it "
    "stays beside it (world.db.before-salvage). A backup that is whole is better. No server may run on the "
    "world. Exit code 1 when something could not be read.",
    "DIR", world_salvage_options};

std::string file_in(const std::string& dir, const char* name) { return (fs::path(dir) / name).string(); }

/// Is there a world in the folder?
std::expected<void, std::string> check_folder(const std::string& dir) {
  std::error_code error;
  if (fs::exists(file_in(dir, "world.toml"), error)) return {};
  if (std::string cut = restore_cut_off(dir); !cut.empty()) return std::unexpected(std::move(cut));
  return std::unexpected(dir + " holds no world (world.toml): name a folder that was given with --world");
}

std::string size_text(std::uint64_t bytes) {
  char text[32];
  if (bytes < 1'000'000)
    std::snprintf(text, sizeof text, "%.1f kB", static_cast<double>(bytes) / 1e3);
  else
    std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

CommandResult world_info(const CommandWords& words, const CommandWorld&) {
  if (auto good = check_folder(words.operand); !good) return std::unexpected(good.error());
  const auto report = report_store(file_in(words.operand, store_name));
  if (!report) return std::unexpected(report.error().line);
  const StoredWorld& world = report->world;
  std::string out;
  const auto row = [&out](const std::string& what, const std::string& value) {
    out += what + std::string(what.size() < 13 ? 13 - what.size() : 1, ' ') + value + "\n";
  };
  row("world", words.operand);
  row("format", std::to_string(report->format));
  row("seed", std::to_string(world.seed));
  if (!world.terrain.empty())
    row("terrain", world.terrain + ", generator " + std::to_string(world.generator));
  if (const auto blocks = read_stored_blocks(world.blocks))
    row("blocks", std::to_string((*blocks)->size()) + " kinds");
  row("saved tick", std::to_string(world.tick));
  row("chunks", std::to_string(world.chunks) + " changed");
  row("players", std::to_string(report->players));
  row("contents", std::to_string(report->contents) + " blocks that hold something");
  row("damaged", std::to_string(report->damaged) + " kept aside");
  row("database", size_text(report->bytes));
  return CommandAnswer{out, 0};
}

/// What world.toml says.
std::expected<Config, std::string> load_world(const std::string& dir) {
  const std::array<std::string, 2> flags{"--world", dir};
  const auto line = parse_command_line(flags);
  if (!line) return std::unexpected(line.error());
  auto loaded = load_config(*line, {});
  if (!loaded) return std::unexpected(std::move(loaded.error()));
  return std::move(loaded->config);
}

/// A world's own file is written after its database was made. @return or one line: that one is gone
std::expected<void, std::string> check_database(const std::string& dir) {
  const std::string file = file_in(dir, store_name);
  if (std::error_code error; fs::exists(file, error)) return {};
  return std::unexpected(file + " is missing beside its world.toml, and all that was changed with it: " +
                         "restore the world from a backup");
}

/// Do world.toml and the database say whose world it is, and the same? @return or why no server would start,
/// as far as it does not take all of the database to be read
std::expected<void, std::string> check_setup(const std::string& dir, OpenMode mode) {
  const auto config = load_world(dir);
  if (!config) return std::unexpected(config.error());
  if (auto there = check_database(dir); !there) return there;
  const std::string file = file_in(dir, store_name);
  const auto report = report_store(file, mode);
  // What cannot be read is told by who reads all of it.
  if (!report || report->world.seed == config->seed) return {};
  return std::unexpected(file + " is of a world with seed " + std::to_string(report->world.seed) +
                         ", world.toml beside it says " + std::to_string(config->seed) +
                         ": they are not of one world");
}

CommandResult world_check(const CommandWords& words, const CommandWorld&) {
  if (auto good = check_folder(words.operand); !good) return std::unexpected(good.error());
  // All that was ever changed went with it.
  if (auto there = check_database(words.operand); !there) return CommandAnswer{there.error() + "\n", 1};
  auto check = check_store(file_in(words.operand, store_name));
  if (!check) return std::unexpected(check.error().line);
  std::string out;
  for (const std::string& line : check->lines) out += line + "\n";
  if (check->faults > check->lines.size())
    out += "and " + std::to_string(check->faults - check->lines.size()) + " more\n";
  if (auto good = check_setup(words.operand, OpenMode::read); !good)
    out += "no server starts with it: " + good.error() + "\n", ++check->faults;
  out += std::to_string(check->chunks) + " chunks";
  if (check->contents > 0) out += ", " + std::to_string(check->contents) + " blocks that hold something";
  out +=
      " and " + std::to_string(check->players) + " players are whole, " +
      (check->faults == 0 ? std::string("nothing is damaged") : std::to_string(check->faults) + " faults") +
      "\n";
  return CommandAnswer{out, check->faults == 0 ? 0 : 1};
}

/// A folder that a copy may go to: none yet, or an empty one.
std::expected<void, std::string> check_free(const std::string& dir, const std::string& flag) {
  std::error_code error;
  if (!fs::exists(dir, error)) return {};
  if (!fs::is_directory(dir, error))
    return std::unexpected(flag + dir + " is no folder: name one that is not there yet");
  if (fs::is_empty(dir, error)) return {};
  return std::unexpected(flag + dir + " is not empty: name a folder that is not there yet");
}

std::string tick_and_chunks(const std::string& dir) {
  std::error_code error;
  if (!fs::exists(file_in(dir, store_name), error)) return ", nothing of which was changed yet";
  const auto report = report_store(file_in(dir, store_name));
  if (!report) return ", but what was changed in it cannot be read";
  return " as of tick " + std::to_string(report->world.tick) + ", " + std::to_string(report->world.chunks) +
         " changed chunks";
}

CommandResult world_backup(const CommandWords& words, const CommandWorld&) {
  if (auto good = check_folder(words.operand); !good) return std::unexpected(good.error());
  const std::string out = words.value("--out");
  if (auto free = check_free(out, "--out: "); !free) return std::unexpected(free.error());
  // No server would be started with such a copy later, when it is needed.
  if (auto good = check_setup(words.operand, OpenMode::read); !good) return std::unexpected(good.error());
  if (auto good = back_up_world(words.operand, out); !good) return std::unexpected(good.error());
  std::string said = out + " holds the world" + tick_and_chunks(out) + "\n";
  const std::string copy = file_in(out, store_name);
  const auto check = check_store(copy, OpenMode::read_still);
  if (!check) return std::unexpected(check.error().line);
  if (check->faults == 0) return CommandAnswer{said, 0};
  said += std::to_string(check->faults) + (check->faults == 1 ? " fault is" : " faults are") +
          " in it, as in " + words.operand + ": see ashlar-server world check " + words.operand + "\n";
  return CommandAnswer{said, 1};
}

/// A world, also one that has lost its world.toml: a start says to restore it.
bool is_or_was_world(const std::string& dir) {
  std::error_code error;
  return fs::exists(file_in(dir, "world.toml"), error) || fs::exists(file_in(dir, store_name), error) ||
         lost_its_world(dir);
}

/// Reads all of a backup. @return or why no server would start with it
std::expected<void, std::string> check_backup(const std::string& dir, OpenMode mode) {
  if (auto good = check_setup(dir, mode); !good) return good;
  const auto check = check_store(file_in(dir, store_name), mode);
  if (!check) return std::unexpected(check.error().line);
  if (check->faults == 0) return {};
  return std::unexpected(dir + " is damaged itself (" + std::to_string(check->faults) +
                         " faults): see ashlar-server world check " + dir);
}

CommandResult world_restore(const CommandWords& words, const CommandWorld&) {
  const std::string& from = words.operand;
  const std::string to = real_folder(words.value("--to"));
  if (auto good = check_folder(from); !good) return std::unexpected(good.error());
  std::error_code error;
  if (fs::equivalent(from, to, error))
    return std::unexpected("--to: " + to +
                           " is the backup itself: name another folder, or start with it as it is");
  const auto source = BackupSource::take(from);
  if (!source) return std::unexpected(source.error());
  const OpenMode mode = source->still() ? OpenMode::read_still : OpenMode::read;
  if (auto good = check_backup(from, mode); !good) return std::unexpected(good.error());
  const auto finished = finish_restore(to);
  if (!finished) return std::unexpected(finished.error());
  if (*finished)
    return CommandAnswer{to + " holds the world" + tick_and_chunks(to) +
                             ", of a restore that was cut off and is done now; to take another backup give "
                             "--replace\n",
                         0};
  RestoreOptions options{.with_settings = words.has("--with-settings"), .mode = mode};
  std::optional<WorldLock> held;
  if (words.has("--replace") && is_or_was_world(to)) {
    auto lock = WorldLock::take(to);  // nobody plays in it
    if (!lock) return std::unexpected(lock.error());
    held.emplace(std::move(*lock));
    options.replace = true;
  } else if (!free_to_restore(to) || !fs::is_directory(to, error)) {
    if (auto free = check_free(to, "--to: "); !free)
      return std::unexpected(free.error() + (fs::is_directory(to, error)
                                                 ? ", or give --replace to put the world there aside"
                                                 : ""));
  }
  const auto restored = restore_world(from, to, options);
  if (!restored) return std::unexpected(restored.error());
  std::string said = to + " holds the world" + tick_and_chunks(to);
  if (!restored->aside.empty()) said += "; the one before is " + restored->aside;
  for (const std::string& name : restored->kept)
    said += (&name == restored->kept.data() ? "; its " : " and ") + name;
  if (!restored->kept.empty())
    said += restored->kept.size() == 1 ? " stays (--with-settings takes the backup's)"
                                       : " stay (--with-settings takes the backup's)";
  return CommandAnswer{said + "\n", 0};
}

CommandResult world_salvage(const CommandWords& words, const CommandWorld&) {
  if (auto good = check_folder(words.operand); !good) return std::unexpected(good.error());
  const auto lock = WorldLock::take(words.operand);  // nobody plays in it
  if (!lock) return std::unexpected(lock.error());
  const auto config = load_world(words.operand);
  std::expected<StoredWorld, std::string> expected;
  if (config)
    expected = {
        .seed = config->seed, .terrain = std::string(name(config->terrain)), .generator = terrain_generator};
  else
    expected = std::unexpected(config.error());
  const auto report = salvage_store(file_in(words.operand, store_name), expected, words.has("--drop-log"));
  if (!report) return std::unexpected(report.error().line);
  std::string out;
  bool torn = false;
  for (const SalvagedTable& table : report->tables) {
    out += table.name + ": " + std::to_string(table.rows) + " rows" +
           (table.torn ? ", others could not be read\n" : "\n");
    torn = torn || table.torn;
  }
  for (const std::string& line : report->made_up) out += "meta, " + line + "\n";
  torn = torn || !report->made_up.empty();
  return CommandAnswer{out + "as it was the database is " + report->before + "\n", torn ? 1 : 0};
}

constexpr std::array<GroupEntry, 9> world_entries{{{world_info_table, world_info},
                                                   {world_check_table, world_check},
                                                   {world_backup_table, world_backup},
                                                   {world_restore_table, world_restore},
                                                   {world_salvage_table, world_salvage},
                                                   {world_log_table, world_log},
                                                   {world_rollback_table, world_rollback},
                                                   {world_prune_table, world_prune},
                                                   {world_export_table, world_export}}};

}  // namespace

CommandResult world_command(std::span<const std::string> words, const CommandWorld& world) {
  return run_group("world", world_entries, words, world);
}

}  // namespace ashlar::server
