#include <sstream>

#include "server/config/config_file.h"
#include "server/config/values.h"

namespace ashlar::server {
namespace {

std::string toml_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string toml_value(const Setting& setting, const RawValue& raw) {
  switch (setting.kind) {
    case ValueKind::whole:  // see value_of
      return raw.front().size() < 19 ? raw.front() : toml_quoted(raw.front());
    case ValueKind::toggle: return raw.front();
    case ValueKind::real: {
      // "20" would read back as well, but shows that no fraction is allowed where one is.
      const std::string& text = raw.front();
      return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    }
    case ValueKind::texts: {
      std::string out = "[";
      for (std::size_t i = 0; i < raw.size(); ++i) out += (i == 0 ? "" : ", ") + toml_quoted(raw[i]);
      return out + "]";
    }
    default: return toml_quoted(raw.front());
  }
}

/// Tables come last in TOML: a key after them would be theirs.
std::string map_tables(const RawValue& raw, const std::string& mark) {
  std::string out;
  for (const std::string& text : raw) {
    const auto map = parse_map_request(text);
    if (!map) continue;
    out += "\n" + mark + "[[map]]\n" + mark + "name = " + toml_quoted(map->name) + "\n";
    if (map->at)
      out += mark + "x = " + std::to_string(map->at->x) + "\n" + mark + "y = " + std::to_string(map->at->y) +
             "\n";
  }
  return out;
}

std::string prop_tables(const RawValue& raw, const std::string& mark) {
  std::string out;
  for (const std::string& text : raw) {
    const auto prop = parse_prop_request(text);
    if (!prop) continue;
    const auto line = [&](const char* key, const std::string& value) {
      out += mark + key + " = " + value + "\n";
    };
    out += "\n" + mark + "[[prop]]\n";
    line("file", toml_quoted(prop->file));
    line("x", real_text(prop->at_m.x));
    line("y", real_text(prop->at_m.y));
    if (prop->z_m) line("z", real_text(*prop->z_m));
    if (prop->yaw_deg != 0) line("yaw", real_text(prop->yaw_deg));
    if (prop->scale != 1) line("scale", real_text(prop->scale));
    if (prop->up == ModelUp::z) line("up", toml_quoted("z"));
  }
  return out;
}

std::string comment_of(const Setting& setting, const std::string& origin) {
  std::string text = setting.help;
  if (!setting.range.empty()) text += " " + setting.range + ".";
  const RawValue value = setting.get(Config());
  if (!setting.is_list() && !value.front().empty()) text += " Default " + value.front() + ".";
  if (!origin.empty()) text += " Here from " + origin + ".";
  std::istringstream words(text);
  std::string out = "#";
  std::string word;
  std::size_t column = 1;
  while (words >> word) {
    if (column + 1 + word.size() > 100) out += "\n#", column = 1;
    out += " " + word;
    column += 1 + word.size();
  }
  return out + "\n";
}

}  // namespace

std::string write_settings(const Config& config, const WriteStyle& style) {
  std::string out;
  std::string tables;
  if (style.kind == FileKind::world)
    out =
        "# This world, written when it was made. Its seed and terrain cannot be changed; its rules can, over "
        "it by\n"
        "# flags, environment and configuration. The last line proves that nothing was lost: after an edit\n"
        "# here start once with --accept-world, which takes the file as it is and writes that line anew.\n"
        "format = " +
        std::to_string(world_format) + "\n";
  else
    out = (style.in_world ? std::string(made_with_world) + "\n" : std::string()) +
          "# Settings of ashlar-server. A flag (--max-clients 64) goes before an environment variable\n"
          "# (ASHLAR_MAX_CLIENTS=64), that before this file, this file before the default.\n";
  const std::string mark = style.commented_out ? "# " : "";
  std::string group;
  for (std::size_t index = 0; index < settings().size(); ++index) {
    const Setting& setting = settings()[index];
    if (style.kind == FileKind::world && !setting.of_world) continue;
    if (setting.group != group) out += "\n### " + setting.group + "\n";
    group = setting.group;
    const std::string comment = comment_of(setting, index < style.origins.size() ? style.origins[index] : "");
    const RawValue raw = setting.get(config);
    if (setting.kind == ValueKind::maps) {
      tables +=
          "\n" + comment + map_tables(raw.empty() && style.commented_out ? RawValue{"MAP01@0,0"} : raw, mark);
      continue;
    }
    if (setting.kind == ValueKind::props) {
      tables += "\n" + comment +
                prop_tables(raw.empty() && style.commented_out ? RawValue{"crate.obj@4,-2.5"} : raw, mark);
      continue;
    }
    out += "\n" + comment + mark + setting.key + " = " + toml_value(setting, raw) + "\n";
  }
  return out + tables;
}

}  // namespace ashlar::server
