#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/secure/secret.h"
#include "server/config/load.h"

// What the commands `key ...` and `token ...` have in common: tables of what each takes, and help made of
// them.

namespace ashlar::server {

/// One option of a command.
struct CommandOption {
  std::string_view flag;        ///< "--out"
  std::string_view value_name;  ///< "FILE"; empty: a switch
  std::string_view help;
  bool needed = false;
  bool repeated = false;  ///< may be given more than once
};

/// All that is known about one command.
struct CommandTable {
  std::string_view name;     ///< "key new"
  std::string_view about;    ///< one sentence or more
  std::string_view operand;  ///< "FILE": the one word without a flag that it needs; empty: none
  std::span<const CommandOption> options;
};

/// A command's words taken apart.
struct CommandWords {
  bool help = false;  ///< asked for; nothing else was looked at
  std::string operand;
  std::vector<std::pair<std::string, std::string>> values;  ///< flag and value, in their order

  bool has(std::string_view flag) const;
  std::string value(std::string_view flag) const;  ///< the first; empty where there is none
  std::vector<std::string> all(std::string_view flag) const;
};

/// @param words  behind the command's name
/// @return or one line that names the flag and the remedy
std::expected<CommandWords, std::string> parse_command_words(const CommandTable& table,
                                                             std::span<const std::string> words);

/// --help of one command, and of a group of them ("key").
std::string command_help(const CommandTable& table);
std::string group_help(std::string_view group, std::span<const CommandTable* const> commands);

/// What a command is given beside its words: only main looks at the machine.
struct CommandWorld {
  const Environment& environment;
  std::int64_t now_s = 0;  ///< Unix time
  secure::Entropy& entropy;

  std::string variable(std::string_view name) const;  ///< empty where it is not set
};

/// What a command says on standard output, and its exit code.
struct CommandAnswer {
  std::string text;
  int exit_code = 0;
};
/// Or one line why it did nothing.
using CommandResult = std::expected<CommandAnswer, std::string>;

/// Picks the command that `words` begin with out of a group and hands it the others.
struct GroupEntry {
  const CommandTable& table;
  CommandResult (*run)(const CommandWords&, const CommandWorld&);
};
CommandResult run_group(std::string_view group, std::span<const GroupEntry> entries,
                        std::span<const std::string> words, const CommandWorld& world);

}  // namespace ashlar::server
