// First, as it says.
#include "world/content/toml_parser.h"
//
#include "server/config/config_file.h"

#include <algorithm>
#include <array>

#include "server/config/ascii_armour.h"
#include "server/config/file.h"
#include "server/config/values.h"

namespace ashlar::server {
namespace {

std::string type_name(toml::node_type type) {
  switch (type) {
    case toml::node_type::string: return "a text";
    case toml::node_type::integer: return "a whole number";
    case toml::node_type::floating_point: return "a number with a point";
    case toml::node_type::boolean: return "true or false";
    case toml::node_type::array: return "a list";
    case toml::node_type::table: return "a table";
    default: return "a date or time";
  }
}

std::string wanted(ValueKind kind) {
  switch (kind) {
    case ValueKind::whole: return "a whole number, without quotes";
    case ValueKind::real: return "a number, without quotes";
    case ValueKind::toggle: return "true or false, without quotes";
    case ValueKind::duration: return "a text such as \"30s\", or whole seconds";
    case ValueKind::texts: return "a list of texts, such as [\"a.wad\", \"b.wad\"]";
    case ValueKind::props:
      return "[[prop]] tables with file, x and y, or a list such as [\"crate.obj@4,-2\"]";
    case ValueKind::maps: return "[[map]] tables with name, x and y, or a list such as [\"MAP01@0,0\"]";
    default: return "a text in quotes";
  }
}

/// An error at a place in the file.
struct Misread {
  std::uint32_t line = 0;
  std::string what;
};

std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

std::string text_of(const toml::value<std::string>& node) { return from_ascii(*node); }

/// [[map]] name = "MAP01", x = 100, y = -200
std::expected<std::string, Misread> map_table(const toml::table& table) {
  std::string name, x, y;
  for (const auto& [key, node] : table) {
    const std::string k = from_ascii(key.str());
    if (k == "name" && node.is_string())
      name = text_of(*node.as_string());
    else if (k == "x" && node.is_integer())
      x = std::to_string(**node.as_integer());
    else if (k == "y" && node.is_integer())
      y = std::to_string(**node.as_integer());
    else if (k == "name")
      return std::unexpected(Misread{line_of(node), "name of a map has to be a text in quotes"});
    else if (k == "x" || k == "y")
      return std::unexpected(Misread{line_of(node), k + " of a map has to be a whole number of blocks"});
    else
      return std::unexpected(
          Misread{line_of(node), "unknown key \"" + k + "\" in [[map]]: it takes name, x and y"});
  }
  if (name.empty())
    return std::unexpected(Misread{line_of(table), "a [[map]] has no name: give name = \"MAP01\""});
  if (x.empty() != y.empty())
    return std::unexpected(
        Misread{line_of(table), "a [[map]] has only one of x and y: give both or neither"});
  return x.empty() ? name : name + "@" + x + "," + y;
}

/// [[prop]] file = "crate.obj", x = 4, y = -2.5, z = 20, yaw = 90, scale = 2, up = "z"
std::expected<std::string, Misread> prop_table(const toml::table& table) {
  constexpr std::array<std::string_view, 6> keys{"x", "y", "z", "yaw", "scale", "up"};
  std::string file;
  std::array<std::string, keys.size()> fields;
  for (const auto& [key, node] : table) {
    const std::string k = from_ascii(key.str());
    const auto found = std::find(keys.begin(), keys.end(), k);
    const bool is_text = k == "file" || k == "up";
    if (k != "file" && found == keys.end())
      return std::unexpected(Misread{line_of(node), "unknown key \"" + k +
                                                        "\" in [[prop]]: it takes file, x, y, z, "
                                                        "yaw, scale and up"});
    if (is_text != node.is_string() || (!is_text && !node.is_number()))
      return std::unexpected(
          Misread{line_of(node),
                  k + " of a prop has to be " + (is_text ? "a text in quotes" : "a number, without quotes")});
    const std::string value = node.is_string()    ? text_of(*node.as_string())
                              : node.is_integer() ? std::to_string(**node.as_integer())
                                                  : real_text(**node.as_floating_point());
    if (k == "file")
      file = value;
    else
      fields[static_cast<std::size_t>(found - keys.begin())] = value;
  }
  if (file.empty())
    return std::unexpected(Misread{line_of(table), "a [[prop]] has no file: give file = \"crate.obj\""});
  if (fields[0].empty() || fields[1].empty())
    return std::unexpected(Misread{line_of(table), "a [[prop]] has no x and y: give both, in metres"});
  std::string text = file + "@" + fields[0];
  for (std::size_t i = 1; i < fields.size(); ++i) text += "," + fields[i];
  return text;
}

std::expected<RawValue, Misread> list_value(const Setting& setting, const toml::array& array) {
  RawValue raw;
  for (const toml::node& node : array) {
    if (const auto* text = node.as_string()) {
      raw.push_back(text_of(*text));
      continue;
    }
    const toml::table* table = node.as_table();
    if (!setting.is_table() || table == nullptr)
      return std::unexpected(Misread{line_of(node), setting.key + " has " + type_name(node.type()) +
                                                        " in its list: give " + wanted(setting.kind)});
    auto one = setting.kind == ValueKind::maps ? map_table(*table) : prop_table(*table);
    if (!one) return std::unexpected(std::move(one.error()));
    raw.push_back(std::move(*one));
  }
  return raw;
}

std::expected<RawValue, Misread> value_of(const Setting& setting, const toml::node& node) {
  switch (setting.kind) {
    case ValueKind::duration:
    case ValueKind::whole:
      if (const auto* integer = node.as_integer()) return RawValue{std::to_string(**integer)};
      // Whole numbers of TOML end at 2^63 - 1; a seed above is written as a text.
      if (const auto* text = node.as_string();
          text != nullptr && (setting.kind == ValueKind::duration || setting.key.ends_with("seed")))
        return RawValue{text_of(*text)};
      break;
    case ValueKind::real:
      if (const auto* integer = node.as_integer()) return RawValue{std::to_string(**integer)};
      if (const auto* number = node.as_floating_point()) return RawValue{real_text(**number)};
      break;
    case ValueKind::toggle:
      if (const auto* boolean = node.as_boolean()) return RawValue{**boolean ? "true" : "false"};
      break;
    case ValueKind::texts:
    case ValueKind::maps:
    case ValueKind::props:
      if (const auto* array = node.as_array()) return list_value(setting, *array);
      if (const auto* text = node.as_string()) return RawValue{text_of(*text)};
      break;
    case ValueKind::text:
    case ValueKind::choice:
      if (const auto* text = node.as_string()) return RawValue{text_of(*text)};
      break;
  }
  return std::unexpected(Misread{line_of(node), setting.key + " is " + type_name(node.type()) +
                                                    ", but has to be " + wanted(setting.kind)});
}

/// What the parser complains of, in words of the file as it was written.
std::string complaint(const TomlError& error, std::string_view text) {
  std::string what = one_line(from_ascii(error.what));
  if (what.find("not representable in 64 bits") != std::string::npos)
    what += "; a seed above 9223372036854775807 is written as a text, in quotes";
  if (beyond_ascii(text, error.line))
    what += "; characters beyond ASCII have their place in quotes and comments only";
  return what;
}

}  // namespace

std::expected<std::vector<FileValue>, std::string> parse_settings(std::string_view text,
                                                                  const std::string& name, FileKind kind) {
  const auto wrong = [&](const Misread& misread) {
    return std::unexpected(name + ":" + std::to_string(misread.line) + ": " + misread.what);
  };
  const auto ascii = to_ascii(text);
  if (!ascii) return wrong({ascii.error(), "this is not UTF-8: save the file as UTF-8"});
  const auto table = parse_toml(*ascii, name);
  if (!table) return wrong({table.error().line, "this is not TOML: " + complaint(table.error(), text)});

  std::vector<FileValue> values;
  bool has_format = false;
  for (const auto& [key, node] : *table) {
    const std::string k = from_ascii(key.str());
    const std::uint32_t line = key.source().begin.line;
    if (kind == FileKind::world && k == "format") {
      has_format = true;
      if (const auto format = node.value<std::int64_t>(); format != 1 && format != world_format)
        return wrong({line,
                      "this world has a format that this server does not know: use the server that made it, "
                      "or a later one"});
      continue;
    }
    const std::size_t index = find_setting(k);
    const bool known = index != no_setting && (kind == FileKind::settings || settings()[index].of_world);
    if (!known) {
      std::vector<std::string> names;
      for (const Setting& setting : settings())
        if (kind == FileKind::settings || setting.of_world) names.push_back(setting.key);
      const std::string near = nearest_name(k, names);
      return wrong({line, "unknown key \"" + k + "\"" +
                              (near.empty() ? ": see ashlar-server --print-config for all there are"
                                            : ": did you mean \"" + near + "\"?")});
    }
    auto raw = value_of(settings()[index], node);
    if (!raw) return wrong(raw.error());
    values.push_back({index, std::move(*raw), line});
  }
  if (kind == FileKind::world && !has_format)
    return wrong({1, "no format = " + std::to_string(world_format) + ": this is not a world's file"});
  return values;
}

std::expected<std::vector<FileValue>, std::string> read_settings(const std::string& path, FileKind kind) {
  const auto text = read_file(path, settings_bytes_max);
  if (!text) return std::unexpected(text.error());
  return parse_settings(*text, path, kind);
}

}  // namespace ashlar::server
