#include "server/keys/command_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "server/config/help_words.h"
#include "server/config/key_value.h"
#include "server/config/settings.h"

namespace ashlar::server {
namespace {

std::string see_help(const CommandTable& table) {
  return "see ashlar-server " + std::string(table.name) + " --help";
}

std::string explain_extra(const CommandTable& table, const std::string& word) {
  if (!word.starts_with('-'))
    return "\"" + word + "\" is " +
           (table.operand.empty() ? "nothing that it takes: " : "one word too many: ") + see_help(table);
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> names{"--help"};
  for (const CommandOption& option : table.options) names.emplace_back(option.flag);
  const std::string near = nearest_name(flag, names);
  return "there is no option " + flag + (near.empty() ? ": " : ": did you mean " + near + "? ") +
         see_help(table);
}

/// What CLI11 fills; options point into it, so it stays where it is.
struct Gathered {
  std::vector<std::vector<std::string>> values;
  std::vector<CLI::Option*> options;
  std::vector<std::string> operands;
  bool help = false;
};

void describe_command(CLI::App& app, const CommandTable& table, Gathered& gathered) {
  app.set_help_flag("");
  app.add_flag("-h,--help", gathered.help);
  gathered.values.resize(table.options.size());
  for (std::size_t i = 0; i < table.options.size(); ++i) {
    const CommandOption& option = table.options[i];
    const std::string flag(option.flag);
    if (option.value_name.empty()) {
      gathered.options.push_back(app.add_flag(flag));
      continue;
    }
    auto* added = app.add_option(flag, gathered.values[i])->expected(1)->allow_extra_args(false);
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    gathered.options.push_back(added);
  }
  if (!table.operand.empty()) app.add_option("operand", gathered.operands);
}

std::string usage_of(const CommandTable& table) {
  std::string out = "ashlar-server " + std::string(table.name);
  for (const CommandOption& option : table.options) {
    const std::string value = option.value_name.empty() ? "" : " " + std::string(option.value_name);
    const std::string one = std::string(option.flag) + value;
    out += option.needed ? " " + one : " [" + one + "]";
    if (option.repeated) out += " ...";
  }
  return table.operand.empty() ? out : out + " " + std::string(table.operand);
}

}  // namespace

bool CommandWords::has(std::string_view flag) const {
  return std::ranges::any_of(values, [&](const auto& one) { return one.first == flag; });
}

std::string CommandWords::value(std::string_view flag) const {
  const auto found = std::ranges::find_if(values, [&](const auto& one) { return one.first == flag; });
  return found == values.end() ? "" : found->second;
}

std::vector<std::string> CommandWords::all(std::string_view flag) const {
  std::vector<std::string> out;
  for (const auto& [name, value] : values)
    if (name == flag) out.push_back(value);
  return out;
}

std::string CommandWorld::variable(std::string_view name) const {
  const auto found = std::ranges::find_if(environment, [&](const auto& one) { return one.first == name; });
  return found == environment.end() ? "" : found->second;
}

std::expected<CommandWords, std::string> parse_command_words(const CommandTable& table,
                                                             std::span<const std::string> words) {
  const auto wrong = [&](const std::string& what) {
    return std::unexpected(std::string(table.name) + ": " + what);
  };
  CLI::App app;
  Gathered gathered;
  describe_command(app, table, gathered);
  CommandWords out;
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    const auto extras = app.remaining();
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extras.empty())
      return wrong(explain_extra(table, extras.front()));
    // CLI11's own message names the flag first.
    for (const CommandOption& option : table.options)
      if (!option.value_name.empty() && std::string(error.what()).find(option.flag) != std::string::npos)
        return wrong(std::string(option.flag) + " needs a value, " + std::string(option.value_name) + ": " +
                     see_help(table));
    return wrong("it does not understand its options: " + see_help(table));
  }
  out.help = gathered.help;
  if (out.help) return out;
  for (std::size_t i = 0; i < table.options.size(); ++i) {
    const CommandOption& option = table.options[i];
    const std::string flag(option.flag);
    const std::size_t count = gathered.options[i]->count();
    if (count > 1 && !option.repeated)
      return wrong(flag + " is given " + std::to_string(count) + " times: give it once");
    if (option.needed && count == 0)
      return wrong(flag + " " + std::string(option.value_name) + " is missing: " + see_help(table));
    if (option.value_name.empty() && count > 0) out.values.emplace_back(flag, "");
    for (const std::string& value : gathered.values[i]) {
      if (value.empty()) return wrong(flag + " is empty: give " + std::string(option.value_name));
      out.values.emplace_back(flag, value);
    }
  }
  if (!table.operand.empty()) {
    if (gathered.operands.empty() || gathered.operands.front().empty())
      return wrong(std::string(table.operand) + " is missing: " + see_help(table));
    if (gathered.operands.size() > 1) return wrong(explain_extra(table, gathered.operands[1]));
    out.operand = gathered.operands.front();
  }
  return out;
}

std::string command_help(const CommandTable& table) {
  constexpr std::size_t indent = 24;
  std::string out =
      "Usage: " + wrapped_text(usage_of(table), 90, 7) + "\n\n" + wrapped_text(table.about, 90, 0) + "\n";
  if (!table.options.empty()) out += "\n";
  for (const CommandOption& option : table.options) {
    std::string row = "  " + std::string(option.flag);
    if (!option.value_name.empty()) row += " " + std::string(option.value_name);
    row += row.size() + 2 > indent ? "\n" + std::string(indent, ' ') : std::string(indent - row.size(), ' ');
    out += row + wrapped_text(option.help, 76, indent) + "\n";
  }
  return out + "\nExit codes: 0; 2 for wrong usage, keys and files, with one line on standard error.\n";
}

std::string group_help(std::string_view group, std::span<const CommandTable* const> commands) {
  std::string out = "Commands of ashlar-server " + std::string(group) + ":\n";
  for (const CommandTable* table : commands)
    out += "\n  " + wrapped_text(usage_of(*table), 90, 6) + "\n      " + wrapped_text(table->about, 84, 6) +
           "\n";
  return out + "\nEach has --help.\n";
}

CommandResult run_group(std::string_view group, std::span<const GroupEntry> entries,
                        std::span<const std::string> words, const CommandWorld& world) {
  std::vector<const CommandTable*> tables;
  std::vector<std::string> names;
  std::string known;
  for (const GroupEntry& entry : entries) {
    tables.push_back(&entry.table);
    names.emplace_back(entry.table.name.substr(group.size() + 1));
    known += (known.empty() ? "" : " or ") + std::string(entry.table.name);
  }
  const std::string see =
      ": say ashlar-server " + known + "; see ashlar-server " + std::string(group) + " --help";
  if (words.empty()) return std::unexpected(std::string(group) + " needs to be told what to do" + see);
  if (words.front() == "--help" || words.front() == "-h" || words.front() == "help")
    return CommandAnswer{group_help(group, tables), 0};
  const auto found = std::ranges::find(names, words.front());
  if (found == names.end())
    return std::unexpected(
        hide_secrets("there is no command \"" + std::string(group) + " " + words.front() + "\"" + see));
  const GroupEntry& entry = entries[static_cast<std::size_t>(found - names.begin())];
  const auto parsed = parse_command_words(entry.table, words.subspan(1));
  if (!parsed) return std::unexpected(hide_secrets(parsed.error()));
  if (parsed->help) return CommandAnswer{command_help(entry.table), 0};
  auto answer = entry.run(*parsed, world);
  if (!answer) return std::unexpected(hide_secrets(std::string(entry.table.name) + ": " + answer.error()));
  return answer;
}

}  // namespace ashlar::server
