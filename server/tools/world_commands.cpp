#include "server/tools/world_commands.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "server/config/file.h"
#include "server/config/owner_remedy.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_check.h"
#include "server/store/stored_blocks.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t world_file_bytes_max = 1u << 20;

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
    "Copies a world as of one moment to a folder that a server can be started with (--world). Also of a "
    "running "
    "server, which goes on. The secret server.key stays behind: keep it apart.",
    "DIR", world_backup_options};

std::string file_in(const std::string& dir, const char* name) { return (fs::path(dir) / name).string(); }

/// Is there a world in the folder?
std::expected<void, std::string> check_folder(const std::string& dir) {
  std::error_code error;
  if (fs::exists(file_in(dir, "world.toml"), error)) return {};
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
  row("damaged", std::to_string(report->damaged) + " kept aside");
  row("database", size_text(report->bytes));
  return CommandAnswer{out, 0};
}

CommandResult world_check(const CommandWords& words, const CommandWorld&) {
  if (auto good = check_folder(words.operand); !good) return std::unexpected(good.error());
  const auto check = check_store(file_in(words.operand, store_name));
  if (!check) return std::unexpected(check.error().line);
  std::string out;
  for (const std::string& line : check->lines) out += line + "\n";
  if (check->faults > check->lines.size())
    out += "and " + std::to_string(check->faults - check->lines.size()) + " more\n";
  out +=
      std::to_string(check->chunks) + " chunks and " + std::to_string(check->players) +
      " players are whole, " +
      (check->faults == 0 ? std::string("nothing is damaged") : std::to_string(check->faults) + " faults") +
      "\n";
  return CommandAnswer{out, check->faults == 0 ? 0 : 1};
}

/// Copies a small file of the world's folder; one that is not there needs no copy.
std::expected<void, std::string> copy_beside(const std::string& from, const std::string& to) {
  std::error_code ignored;
  if (!fs::exists(from, ignored)) return {};
  const auto text = read_file(from, world_file_bytes_max);
  if (!text) return std::unexpected(text.error());
  if (const int error = write_file(to, *text); error != 0)
    return std::unexpected("cannot write " + to + ": " + std::generic_category().message(error) +
                           owner_remedy(to, error));
  return {};
}

/// world.toml comes last: it is what makes the folder a world.
std::expected<void, std::string> back_up(const std::string& from, const std::string& to) {
  std::error_code ignored;
  if (const std::string store = file_in(from, store_name); fs::exists(store, ignored))
    if (auto copied = copy_store(store, file_in(to, store_name)); !copied)
      return std::unexpected(copied.error().line);
  for (const char* name : {"server.toml", "world.toml"})
    if (auto copied = copy_beside(file_in(from, name), file_in(to, name)); !copied) return copied;
  return {};
}

CommandResult world_backup(const CommandWords& words, const CommandWorld&) {
  if (auto good = check_folder(words.operand); !good) return std::unexpected(good.error());
  const std::string out = words.value("--out");
  std::error_code error;
  const bool made = fs::create_directories(out, error);
  if (error)
    return std::unexpected("--out: cannot make " + out + ": " + error.message() +
                           owner_remedy(out, error.value()));
  if (!made && !fs::is_empty(out, error))
    return std::unexpected("--out: " + out + " is not empty: name a folder that is not there yet");
  if (auto good = back_up(words.operand, out); !good) {
    for (const char* name : {store_name, "server.toml", "world.toml"}) fs::remove(file_in(out, name), error);
    if (made) fs::remove(out, error);
    return std::unexpected(good.error());
  }
  const auto report = report_store(file_in(out, store_name));
  return CommandAnswer{out + " holds the world" +
                           (report ? " as of tick " + std::to_string(report->world.tick) + ", " +
                                         std::to_string(report->world.chunks) + " changed chunks"
                                   : std::string(", nothing of which was changed yet")) +
                           "\n",
                       0};
}

constexpr std::array<GroupEntry, 3> world_entries{
    {{world_info_table, world_info}, {world_check_table, world_check}, {world_backup_table, world_backup}}};

}  // namespace

CommandResult world_command(std::span<const std::string> words, const CommandWorld& world) {
  return run_group("world", world_entries, words, world);
}

}  // namespace ashlar::server
