#pragma once
#include <cstddef>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/config.h"

// One table of what can be set. Flag, environment name, TOML key, default, range and help of a setting all
// come from its row, so they cannot disagree; --help, --print-config and the written server.toml are printed
// from it.

namespace ashlar::server {

/// How a value is written, which decides what TOML type a file must give it.
enum class ValueKind : std::uint8_t { whole, real, text, choice, toggle, duration, texts, maps, props };

/// Texts of a value: one, or several for lists. What flags, environment and files are all reduced to.
using RawValue = std::vector<std::string>;

/// A row of the table: all that is known about one setting.
struct Setting {
  std::string key{};    ///< TOML: "max_clients"; the flag is --max-clients, the variable ASHLAR_MAX_CLIENTS
  std::string group{};  ///< heading in help and file
  std::string value_name{};  ///< "PORT"; empty for toggles
  std::string help{};        ///< one or more sentences
  std::string range{};       ///< "0 to 65535", "text or json"; may be empty
  ValueKind kind{};
  /// An empty text in a flag is a script's variable that was not set. In variables and files it is the
  /// default.
  bool flag_needs_text = false;
  bool of_world = false;  ///< kept in the world's world.toml and taken from there

  /// Checks and sets. The error says what is wrong with the value, without naming where it came from.
  std::function<std::expected<void, std::string>(Config&, const RawValue&)> set{};
  /// As `set` would take it. Lists may be empty.
  std::function<RawValue(const Config&)> get{};

  std::string flag() const;      ///< "--max-clients"
  std::string variable() const;  ///< "ASHLAR_MAX_CLIENTS"
  /// Takes any number of texts; all others take exactly one.
  bool is_list() const { return kind == ValueKind::texts || is_table(); }
  /// Given as tables in a file: [[map]], [[prop]].
  bool is_table() const { return kind == ValueKind::maps || kind == ValueKind::props; }
};

/// All settings in the order of help and file. Built once, on first use.
std::span<const Setting> settings();

/// Index into settings() by TOML key, or no_setting.
std::size_t find_setting(std::string_view key);
inline constexpr std::size_t no_setting = static_cast<std::size_t>(-1);

/// The name nearest to a mistyped one, or empty when none is near. Dashes and underscores are alike.
std::string nearest_name(std::string_view wrong, std::span<const std::string> names);

/// "MAP01", "MAP01@100,-200"; the reason when it is neither.
std::expected<MapRequest, std::string> parse_map_request(std::string_view text);
std::string to_text(const MapRequest& map);

/// "30s", "5m", "1h30m", "250ms"; a bare number counts seconds.
std::expected<std::chrono::milliseconds, std::string> parse_duration(std::string_view text);
std::string to_text(std::chrono::milliseconds duration);

}  // namespace ashlar::server
