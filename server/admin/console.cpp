#include "server/admin/console.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <sstream>

#include "protocol/connection/close_reason.h"
#include "protocol/messages.h"
#include "protocol/text.h"
#include "server/config/settings.h"
#include "server/config/values.h"
#include "world/sim/ground_edits.h"
#include "world/sim/inventory.h"
#include "world/sim/rules.h"
#include "world/voxel/block_registry.h"

namespace ashlar::server {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::expected<BlockId, std::string> find_kind(const std::string& kind, const BlockRegistry& blocks) {
  if (const auto id = blocks.find(kind)) return *id;
  std::vector<std::string> names;
  names.reserve(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) names.push_back(blocks.type(static_cast<BlockId>(i)).name);
  const std::string near = nearest_name(kind, names);
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return std::unexpected("there is no block \"" + kind +
                         "\": " + (near.empty() ? "there are " + all : "did you mean " + near + "?"));
}

/// "X Y Z" of dig, "X Y Z NAME" of set.
std::expected<ConsoleCommand, std::string> parse_block_line(ConsoleVerb verb, const std::string& text,
                                                            const BlockRegistry& blocks) {
  ConsoleCommand command{verb, "", false, {}, BlockId::air};
  std::istringstream words(text);
  std::string kind, more;
  words >> command.block.x >> command.block.y >> command.block.z;
  const bool numbers = !words.fail() && in_bounds(block_middle(command.block));
  if (verb == ConsoleVerb::set) words >> kind;
  words >> more;
  if (!numbers || !more.empty() || (verb == ConsoleVerb::set && kind.empty()))
    return std::unexpected(verb == ConsoleVerb::dig ? "dig needs a block of the world: dig X Y Z"
                                                    : "set needs a block of the world and what to put there: "
                                                      "set X Y Z NAME");
  if (verb == ConsoleVerb::dig) return command;
  const auto id = find_kind(kind, blocks);
  if (!id) return std::unexpected(id.error());
  command.id = *id;
  return command;
}

/// "X Y Z X Y Z NAME" of fill: from one corner block to the other, in any order.
std::expected<ConsoleCommand, std::string> parse_fill(const std::string& text, const BlockRegistry& blocks) {
  ConsoleCommand command;
  command.verb = ConsoleVerb::fill;
  std::istringstream words(text);
  IVec3 a, b;
  std::string kind, more;
  words >> a.x >> a.y >> a.z >> b.x >> b.y >> b.z >> kind;
  const bool whole = !words.fail() && !(words >> more);
  // One more than a block's number has to be a number still.
  if (!whole || !in_bounds(to_dvec3(a)) || !in_bounds(to_dvec3(b)))
    return std::unexpected("fill needs two corners and what to put there: fill X Y Z X Y Z NAME");
  command.box = {{std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)},
                 {std::max(a.x, b.x) + 1, std::max(a.y, b.y) + 1, std::max(a.z, b.z) + 1}};
  if (!GroundEdits::box_sane(command.box))
    return std::unexpected("fill takes a box within the world of at most " +
                           std::to_string(GroundEdits::batch_blocks_max) + " blocks at a time");
  const auto id = find_kind(kind, blocks);
  if (!id) return std::unexpected(id.error());
  command.id = *id;
  return command;
}

/// "X Y Z RADIUS" of blast.
std::expected<ConsoleCommand, std::string> parse_blast(const std::string& text) {
  ConsoleCommand command;
  command.verb = ConsoleVerb::blast;
  std::istringstream words(text);
  std::string radius, more;
  words >> command.block.x >> command.block.y >> command.block.z >> radius;
  const bool whole = !words.fail() && !(words >> more);
  const auto value = parse_real(radius, 0, GroundEdits::sphere_radius_m_max);
  if (!whole || !value || !in_bounds(block_middle(command.block)))
    return std::unexpected("blast needs a block of the world and metres from 0 to 9: blast X Y Z RADIUS");
  command.radius_m = *value;
  return command;
}

/// "NAME ITEM [N]" of give. Names may hold blanks: it is read from behind.
std::expected<ConsoleCommand, std::string> parse_give(const std::string& text, const BlockRegistry& blocks) {
  constexpr std::uint16_t most = inventory_slots * stack_items_max;
  const auto wrong = std::unexpected("give needs a player and an item: give NAME ITEM [N], N from 1 to " +
                                     std::to_string(most));
  ConsoleCommand command{ConsoleVerb::give, text, false, {}, BlockId::air, 1};
  const auto take_word = [&command] {
    const std::size_t blank = command.argument.find_last_of(" \t");
    const std::string word = command.argument.substr(blank == std::string::npos ? 0 : blank + 1);
    command.argument = blank == std::string::npos ? "" : trimmed(command.argument.substr(0, blank));
    return word;
  };
  std::string word = take_word();
  // Also what is meant as a number and is none of those that may be given, such as -1.
  if (!word.empty() && word.find_first_not_of("0123456789+-.") == std::string::npos) {
    const char* const word_end = word.data() + word.size();
    const auto [end, error] = std::from_chars(word.data(), word_end, command.count);
    if (error != std::errc() || end != word_end || command.count < 1 || command.count > most) return wrong;
    word = take_word();
  }
  if (command.argument.empty()) return wrong;
  const auto id = find_kind(word, blocks);
  if (!id) return std::unexpected(id.error());
  if (*id == BlockId::air) return wrong;
  command.id = *id;
  return command;
}

}  // namespace

std::string_view console_help() {
  return "help, status (log it now), players (who is here), say TEXT (to everybody), kick NAME [REASON], "
         "motd "
         "TEXT (for those who join from now on), noclip NAME on|off (lets a player fly through everything), "
         "spectate NAME (has a player only watch), play NAME (and be in the match again), "
         "dig X Y Z (takes a block away), set X Y Z NAME (puts one there), fill X Y Z X Y Z NAME (likewise a "
         "whole box), "
         "blast X Y Z RADIUS (clears a sphere but for protected ground), give NAME ITEM [N], log X Y Z or "
         "log NAME [since 10m] "
         "[area X,Y,R] (who "
         "changed what), rollback NAME since 10m [area X,Y,R] [dry-run] [force] (puts it back; @all in place "
         "of a name: everybody's), ban "
         "NAME|#CONNECTION|KEY|token:ID|ADDRESS [for 2h] [REASON], unban NAME|KEY|token:ID|ADDRESS, bans "
         "(who "
         "is banned), next and map NAME (with --rotation), reload (as SIGHUP), stop";
}

std::expected<ConsoleCommand, std::string> parse_console_line(std::string_view line,
                                                              const BlockRegistry& blocks) {
  if (line.size() > Console::line_bytes_max)
    return std::unexpected("the line is longer than " + std::to_string(Console::line_bytes_max) +
                           " bytes: nothing of it was done, make it shorter");
  const std::string_view text = trimmed(line);
  const std::size_t blank = text.find_first_of(" \t");
  const std::string word(text.substr(0, blank));
  const std::string argument(blank == std::string_view::npos ? "" : trimmed(text.substr(blank)));
  const std::vector<std::string> words{"help",     "status", "players", "say",      "kick", "motd",
                                       "noclip",   "reload", "stop",    "dig",      "set",  "log",
                                       "rollback", "ban",    "unban",   "bans",     "next", "map",
                                       "give",     "fill",   "blast",   "spectate", "play"};
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) {
    const std::string near = nearest_name(word, words);
    return std::unexpected("there is no command \"" + word + "\"" +
                           (near.empty() ? ": type help" : ": did you mean " + near + "?"));
  }
  const auto verb = static_cast<ConsoleVerb>(found - words.begin());
  if (verb == ConsoleVerb::noclip) {
    // Names may hold blanks: the last word says what to do.
    const std::size_t last = argument.find_last_of(" \t");
    const std::string how = last == std::string::npos ? "" : argument.substr(last + 1);
    if ((how != "on" && how != "off") || trimmed(argument.substr(0, last)).empty())
      return std::unexpected("noclip needs a player and what to do: noclip NAME on|off");
    return ConsoleCommand{verb, std::string(trimmed(argument.substr(0, last))), how == "on"};
  }
  if (verb == ConsoleVerb::dig || verb == ConsoleVerb::set) return parse_block_line(verb, argument, blocks);
  if (verb == ConsoleVerb::fill) return parse_fill(argument, blocks);
  if (verb == ConsoleVerb::blast) return parse_blast(argument);
  if (verb == ConsoleVerb::give) return parse_give(argument, blocks);
  if (verb == ConsoleVerb::log || verb == ConsoleVerb::rollback) return ConsoleCommand{verb, argument};
  std::size_t bytes_max = 0;  // of the text that it takes
  switch (verb) {
    case ConsoleVerb::motd: bytes_max = motd_bytes_max; break;
    case ConsoleVerb::say: bytes_max = chat_bytes_max; break;
    case ConsoleVerb::spectate:
    case ConsoleVerb::play: bytes_max = 4 * player_name_chars_max; break;
    case ConsoleVerb::kick: bytes_max = 4 * player_name_chars_max + 1 + close_text_bytes_max; break;
    case ConsoleVerb::ban:
    case ConsoleVerb::map:
    case ConsoleVerb::unban: bytes_max = Console::line_bytes_max; break;
    default: break;
  }
  if (bytes_max == 0 && !argument.empty())
    return std::unexpected(word + " takes nothing behind it: leave \"" + argument + "\" out");
  if (verb == ConsoleVerb::say && argument.empty()) return std::unexpected("say needs a text: say TEXT");
  const bool watching = verb == ConsoleVerb::spectate || verb == ConsoleVerb::play;
  if (watching && argument.empty()) return std::unexpected(word + " needs a player: " + word + " NAME");
  if (verb == ConsoleVerb::map && argument.empty()) return std::unexpected("map needs a name: map MAP07");
  if (verb == ConsoleVerb::kick && argument.empty())
    return std::unexpected("kick needs a player: kick NAME [REASON]; players lists them");
  if (const auto good = check_text(argument, bytes_max); !good)
    return std::unexpected(word + " " + good.error());
  return ConsoleCommand{verb, argument};
}

std::expected<NamedRest, std::string> split_name(std::string_view text, std::span<const std::string> names) {
  const std::string* longest = nullptr;
  for (const std::string& name : names) {
    const bool meant = text.starts_with(name) && (text.size() == name.size() || text[name.size()] == ' ');
    if (meant && (longest == nullptr || name.size() > longest->size())) longest = &name;
  }
  if (longest == nullptr)
    return std::unexpected("no player is called " + std::string(text) + "; players lists them");
  return NamedRest{*longest, trimmed(text.substr(longest->size()))};
}

std::expected<KickOrder, std::string> kick_order(std::string_view text, std::span<const std::string> names) {
  auto named = split_name(text, names);
  if (!named) return std::unexpected(std::move(named.error()));
  return KickOrder{std::move(named->name),
                   named->rest.empty() ? "sent away by the operator" : std::string(named->rest)};
}

bool Console::readable() const {
  pollfd poll{descriptor_, POLLIN, 0};
  if (::poll(&poll, 1, 0) != 1) return false;
  // Reading a terminal from the background would stop the whole process (SIGTTIN).
  return ::isatty(descriptor_) != 1 || ::tcgetpgrp(descriptor_) == ::getpgrp();
}

std::vector<std::string> Console::poll() {
  std::vector<std::string> lines;
  if (ended_ || !readable()) return lines;
  std::array<char, 4096> buffer;
  const ssize_t size = ::read(descriptor_, buffer.data(), buffer.size());
  if (size < 0) {
    ended_ = errno != EINTR && errno != EAGAIN;
    return lines;
  }
  for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(size))) {
    if (c == '\n') {
      lines.push_back(std::move(partial_));
      partial_.clear();
    } else if (partial_.size() <= line_bytes_max) {
      partial_ += c;
    }
  }
  if (size == 0) {
    ended_ = true;
    if (!partial_.empty()) lines.push_back(std::move(partial_));
  }
  return lines;
}

}  // namespace ashlar::server
