#include "server/tools/edit_commands.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "server/config/moment.h"
#include "server/config/values.h"
#include "server/store/rollback.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_check.h"
#include "server/store/stored_blocks.h"
#include "server/store/world_lock.h"
#include "server/store/world_restore.h"
#include "world/voxel/block_registry.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t log_lines = 1000;  // where --limit says nothing

constexpr const char* unknown_remedy = ": world log without --player names who is";

constexpr CommandOption player_option{"--player", "NAME",
                                      "Of this player alone: a name, a key (ashlar-public-... or 64 "
                                      "hexadecimal digits), @operator (console and "
                                      "tools) or @world (what fell, or a rule did)."};
constexpr CommandOption until_option{"--until", "WHEN", "Up to then; likewise."};
constexpr CommandOption area_option{
    "--area", "X,Y,R", "Within R metres (at most 512) of a place, at any height; X,Y,Z,R: at that height."};

constexpr CommandOption log_options[] = {
    player_option,
    {"--since", "WHEN", "From so long ago on (10m, 2h, 3d), or from a time (2030-01-31T12:00:00Z) on."},
    until_option,
    area_option,
    {"--limit", "N", "The newest so many (1000)."}};

constexpr CommandOption rollback_options[] = {
    player_option,
    {"--since", "WHEN", "From so long ago on (10m, 2h, 3d), or from a time (2030-01-31T12:00:00Z) on.", true},
    until_option,
    area_option,
    {"--dry-run", "", "Only says what it would do."},
    {"--force", "", "Lays over what others changed since, too."}};

std::expected<EditQuery, std::string> query_of(const CommandWords& words, std::int64_t now_s) {
  EditQuery query;
  if (words.has("--player")) query.player = words.value("--player");
  if (query.player && query.player->starts_with('@') && !is_no_player(*query.player))
    return std::unexpected("--player: " + *query.player +
                           " is nobody: there are @operator and @world, and players by name or key");
  for (const auto& [flag, into] :
       {std::pair("--since", &query.since_s), std::pair("--until", &query.until_s)}) {
    if (!words.has(flag)) continue;
    const auto when = parse_past_s(words.value(flag), now_s);
    if (!when) return std::unexpected(std::string(flag) + ": " + when.error());
    *into = *when;
  }
  if (query.since_s > query.until_s)
    return std::unexpected("--until lies before --since: no time is between them");
  if (words.has("--area")) {
    const auto area = parse_edit_area(words.value("--area"));
    if (!area) return std::unexpected("--area: " + area.error());
    query.area = *area;
  }
  return query;
}

/// The world's database, where there is one.
std::expected<std::string, std::string> database_in(const std::string& dir) {
  std::error_code error;
  if (std::string cut = restore_cut_off(dir); !cut.empty()) return std::unexpected(std::move(cut));
  if (!fs::exists(fs::path(dir) / "world.toml", error))
    return std::unexpected(dir + " holds no world (world.toml): name a folder that was given with --world");
  return (fs::path(dir) / store_name).string();
}

std::string author_text(const EditAuthor& author) {
  const std::string key = author_key(author);
  return author_name(author) + (key.empty() ? "" : " (" + key + ")");
}

std::string place_text(IVec3 block) {
  return std::to_string(block.x) + "," + std::to_string(block.y) + "," + std::to_string(block.z);
}

}  // namespace

constexpr CommandTable world_log_table{"world log",
                                       "Tells who changed which block when, and what was there before, the "
                                       "newest first. Also beside a running server, "
                                       "which adds to it whenever it saves (--save-interval-ms).",
                                       "DIR", log_options};

constexpr CommandTable world_rollback_table{
    "world rollback",
    "Puts blocks back to what they were before the edits that world log names with the same options, but for "
    "those "
    "that somebody else has changed since. Makes a copy of the database first. It is in the log itself, as "
    "@operator's. No server may run on the world: its console has rollback, too. Items stay where they are.",
    "DIR", rollback_options};

CommandResult world_log(const CommandWords& words, const CommandWorld& world) {
  const auto file = database_in(words.operand);
  if (!file) return std::unexpected(file.error());
  auto query = query_of(words, world.now_s);
  if (!query) return std::unexpected(query.error());
  query->limit = log_lines;
  if (words.has("--limit")) {
    const auto limit = parse_whole(words.value("--limit"), 1, edits_found_max);
    if (!limit) return std::unexpected("--limit: " + limit.error());
    query->limit = *limit;
  }
  const auto report = report_store(*file);
  if (!report) return std::unexpected(report.error().line);
  const auto log = open_log(*file);
  if (!log) return std::unexpected(log.error().line);
  if (const auto known = check_player_known(*log, *query); !known)
    return std::unexpected("--player: " + known.error().line + unknown_remedy);
  const auto found = find_edits(*log, *query);
  if (!found) return std::unexpected(found.error().line);
  const auto kept = read_stored_blocks(report->world.blocks);
  const BlockRegistry& kinds = kept && *kept != nullptr ? **kept : BlockRegistry::builtin();
  const auto name_of = [&](BlockId id) {
    return kinds.knows(id) ? kinds.type(id).name : std::to_string(static_cast<unsigned>(id));
  };
  std::string out;
  for (const FoundEdit& edit : found->edits)
    out += moment_text(edit.time_s) + "  " + place_text(edit.block) + "  " + name_of(edit.before) + " -> " +
           name_of(edit.after) + "  " + author_text(found->authors[edit.author]) +
           (edit.contents ? "  (what it holds)\n" : "\n");
  const std::size_t count = found->edits.size();
  out += std::to_string(count) + (count == 1 ? " edit" : " edits");
  if (count == query->limit) out += ", perhaps there are older ones: see --limit";
  return CommandAnswer{out + "\n", 0};
}

CommandResult world_rollback(const CommandWords& words, const CommandWorld& world) {
  const auto file = database_in(words.operand);
  if (!file) return std::unexpected(file.error());
  const auto query = query_of(words, world.now_s);
  if (!query) return std::unexpected(query.error());
  const auto lock = WorldLock::take(words.operand);  // nobody plays in it
  if (!lock) return std::unexpected(lock.error());
  if (query->player) {
    const auto log = open_log(*file);
    if (!log) return std::unexpected(log.error().line);
    if (const auto known = check_player_known(*log, *query); !known)
      return std::unexpected("--player: " + known.error().line + unknown_remedy);
  }
  const RollbackOptions options{.force = words.has("--force"), .dry_run = words.has("--dry-run")};
  const auto report = roll_back(*file, *query, options, world.now_s);
  if (!report) return std::unexpected(report.error().line);
  std::string out = std::to_string(report->edits) + " edits found, " + std::to_string(report->blocks) +
                    (options.dry_run ? " blocks would be put back" : " blocks put back");
  if (report->left > 0) out += ", " + std::to_string(report->left) + " left, as others changed them since";
  if (report->damaged > 0)
    out += ", " + std::to_string(report->damaged) + " in chunks that are damaged or not kept any more";
  if (!report->copy.empty()) out += "; the database as it was is " + report->copy;
  return CommandAnswer{out + "\n", 0};
}

}  // namespace ashlar::server
