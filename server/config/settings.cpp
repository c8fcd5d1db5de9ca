#include "server/config/settings.h"

#include <algorithm>
#include <concepts>
#include <limits>

#include "server/config/values.h"
#include "server/net/address.h"
#include "server/snapshot_order.h"
#include "world/content/ascii.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

constexpr std::size_t list_entries_max = 64;

/// A whole number within bounds, kept in any integer member.
template <class Access>
Setting whole(std::string key, std::string value_name, std::uint64_t low, std::uint64_t high, Access member,
              std::string help) {
  Setting s{.key = std::move(key), .value_name = std::move(value_name), .help = std::move(help)};
  s.kind = ValueKind::whole;
  s.range = high == std::numeric_limits<std::uint64_t>::max()
                ? "0 to 2^64 - 1"
                : std::to_string(low) + " to " + std::to_string(high);
  s.set = [=](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const auto value = parse_whole(raw.front(), low, high);
    if (!value) return std::unexpected(value.error());
    auto& target = member(config);
    target = static_cast<std::remove_reference_t<decltype(target)>>(*value);
    return {};
  };
  s.get = [=](const Config& config) { return RawValue{std::to_string(member(config))}; };
  return s;
}

template <class Access>
Setting real(std::string key, std::string value_name, double low, double high, Access member,
             std::string help) {
  Setting s{.key = std::move(key), .value_name = std::move(value_name), .help = std::move(help)};
  s.kind = ValueKind::real;
  s.range = real_text(low) + " to " + real_text(high);
  s.set = [=](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const auto value = parse_real(raw.front(), low, high);
    if (!value) return std::unexpected(value.error());
    member(config) = *value;
    return {};
  };
  s.get = [=](const Config& config) { return RawValue{real_text(member(config))}; };
  return s;
}

template <class Access>
Setting text(std::string key, std::string value_name, std::size_t bytes_max, Access member,
             std::string help) {
  Setting s{.key = std::move(key), .value_name = std::move(value_name), .help = std::move(help)};
  s.kind = ValueKind::text;
  s.set = [=](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (auto good = check_text(raw.front(), bytes_max); !good) return good;
    member(config) = raw.front();
    return {};
  };
  s.get = [=](const Config& config) { return RawValue{member(config)}; };
  return s;
}

/// One of a few names; the enumeration counts from 0 in the order of the names.
template <class Access>
Setting choice(std::string key, std::vector<std::string> names, Access member, std::string help) {
  Setting s{.key = std::move(key), .help = std::move(help)};
  s.kind = ValueKind::choice;
  for (std::size_t i = 0; i < names.size(); ++i) {
    s.value_name += (i == 0 ? "" : "|") + names[i];
    s.range += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  s.set = [=, range = s.range](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const auto found = std::find(names.begin(), names.end(), raw.front());
    if (found == names.end())
      return std::unexpected("\"" + raw.front() + "\" is not one of its values: give " + range);
    auto& target = member(config);
    target = static_cast<std::remove_reference_t<decltype(target)>>(found - names.begin());
    return {};
  };
  s.get = [=](const Config& config) { return RawValue{names[static_cast<std::size_t>(member(config))]}; };
  return s;
}

Setting listen_setting() {
  Setting s = text(
      "listen", "ADDRESS", 64, [](auto& c) -> auto& { return c.listen; },
      "Address to listen on, in numbers; * for all of IPv4 and IPv6.");
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (const auto good = parse_listen(raw.front()); !good) return std::unexpected(good.error());
    config.listen = raw.front().empty() ? "*" : raw.front();
    return {};
  };
  return s;
}

Setting wad_setting() {
  Setting s{.key = "wad", .value_name = "FILE"};
  s.help =
      "Doom WAD to take maps from; again for each PWAD over it. A bare name is also looked for in "
      "DOOMWADDIR, "
      "DOOMWADPATH and the usual directories. Without one: Freedoom's freedoom2.wad where it is found, else "
      "the map that is built in.";
  s.kind = ValueKind::texts;
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (raw.size() > list_entries_max) return std::unexpected("has more than 64 entries");
    for (const std::string& name : raw) {
      if (name.empty()) return std::unexpected("has an empty file name");
      if (auto good = check_text(name, 4096); !good) return good;
    }
    config.wads = raw;
    return {};
  };
  s.get = [](const Config& config) { return config.wads; };
  return s;
}

Setting map_setting() {
  Setting s{.key = "map", .value_name = "NAME[@X,Y]"};
  s.help =
      "Map to place in the world, at block X,Y or beside the others; again for more. In a file: a [[map]] "
      "table "
      "with name, x and y for each. Without one: the first map of the WAD. \"none\": terrain alone.";
  s.kind = ValueKind::maps;
  s.of_world = true;
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (raw.size() > map_requests_max)
      return std::unexpected("has more than " + std::to_string(map_requests_max) + " maps");
    std::vector<MapRequest> maps;
    for (const std::string& one : raw) {
      auto map = parse_map_request(one);
      if (!map) return std::unexpected(std::move(map.error()));
      maps.push_back(std::move(*map));
    }
    for (const MapRequest& map : maps)
      if (map.name == "none" && maps.size() > 1)
        return std::unexpected("\"none\" stands beside other maps: give one or the other");
    config.maps = std::move(maps);
    return {};
  };
  s.get = [](const Config& config) {
    RawValue raw;
    for (const MapRequest& map : config.maps) raw.push_back(to_text(map));
    return raw;
  };
  return s;
}

Setting prop_setting() {
  Setting s{.key = "prop", .value_name = "FILE@X,Y[,Z]"};
  s.help =
      "Static prop from a Wavefront OBJ file, at X,Y metres and height Z or on the ground; again for more. "
      "Further values: yaw in degrees, scale, and z when that is the file's upward axis. In a file: a "
      "[[prop]] table with file, x, y, z, yaw, scale and up for each. At most 24, and with the maps no more "
      "than one datagram of 1200 bytes can name: some 16 with short names.";
  s.kind = ValueKind::props;
  s.of_world = true;
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (raw.size() > prop_requests_max)
      return std::unexpected("has more than " + std::to_string(prop_requests_max) + " props");
    std::vector<PropRequest> props;
    for (const std::string& one : raw) {
      auto prop = parse_prop_request(one);
      if (!prop) return std::unexpected(std::move(prop.error()));
      props.push_back(std::move(*prop));
    }
    config.props = std::move(props);
    return {};
  };
  s.get = [](const Config& config) {
    RawValue raw;
    for (const PropRequest& prop : config.props) raw.push_back(to_text(prop));
    return raw;
  };
  return s;
}

Setting live_setting() {
  Setting s{.key = "live", .help = "Draw the status in place on the terminal, once a second."};
  s.kind = ValueKind::toggle;
  s.range = "true or false";
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const std::string& value = raw.front();
    const bool on = value == "true" || value == "1" || value == "yes" || value == "on";
    const bool off = value == "false" || value == "0" || value == "no" || value == "off";
    if (!on && !off) return std::unexpected("\"" + value + "\" is neither true nor false");
    config.live = on;
    return {};
  };
  s.get = [](const Config& config) { return RawValue{config.live ? "true" : "false"}; };
  return s;
}

Setting run_for_setting() {
  Setting s{.key = "for", .value_name = "TIME", .help = "Stop by itself after this time, such as 30s or 5m."};
  s.kind = ValueKind::duration;
  s.range = "0s (never) to 1000h";
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const auto value = parse_duration(raw.front());
    if (!value) return std::unexpected(value.error());
    config.run_for = *value;
    return {};
  };
  s.get = [](const Config& config) { return RawValue{to_text(config.run_for)}; };
  return s;
}

std::vector<Setting> build() {
  std::vector<Setting> all;
  const auto group = [&](const char* name, std::vector<Setting> rows) {
    for (Setting& row : rows) {
      row.group = name;
      all.push_back(std::move(row));
    }
  };
  // One lambda serves const and non-const Config alike.
#define MEMBER(path) [](auto& c) -> auto& { return c.path; }  // NOLINT(bugprone-macro-parentheses): a name
  group(
      "Network",
      {listen_setting(),
       whole("port", "PORT", 0, 65535, MEMBER(port), "UDP and TCP port; 0 takes any that is free."),
       whole("max_clients", "N", 1, 4096, MEMBER(clients_max), "Players at once; further ones are refused."),
       whole("max_clients_per_address", "N", 0, 4096, MEMBER(clients_per_address_max),
             "Players from one address (of IPv6: one /64); 0: as many as max_clients. Behind a proxy all "
             "players come from one."),
       text("motd", "TEXT", motd_bytes_max, MEMBER(motd), "Message of the day, shown to players who join.")});
  group("World",
        {text("world", "DIR", 4096, MEMBER(world_dir),
              "Folder of the world, made when absent; keeps its seed, rules and maps. Without one the world "
              "ends with the server."),
         whole("seed", "N", 0, std::numeric_limits<std::uint64_t>::max(), MEMBER(seed),
               "Seed of the terrain and of everything random in the world."),
         wad_setting(), map_setting(), prop_setting(),
         whole("monsters", "N", 0, 4096, MEMBER(monsters),
               "Monsters alive at the start: those of the maps first, the rest on the terrain."),
         choice("doors", {"open", "shut"}, MEMBER(doors),
                "How doors and lifts of the maps stand at the start: open for worlds without anybody to use "
                "them."),
         real("spawn_radius_m", "N", 0, spawn_radius_m_max, MEMBER(spawn_radius_m),
              "Players start on the ground within so many metres of spawn_x_m, spawn_y_m; 0: at the maps' "
              "starts and around them."),
         real("spawn_x_m", "N", -spawn_centre_m_max, spawn_centre_m_max, MEMBER(spawn_x_m),
              "See spawn_radius_m."),
         real("spawn_y_m", "N", -spawn_centre_m_max, spawn_centre_m_max, MEMBER(spawn_y_m),
              "See spawn_radius_m.")});
  group("Rules",
        {whole("tick_rate", "HZ", 10, 128, MEMBER(rules.tick_rate_hz), "Ticks per second."),
         choice("player_solver", {"sweep", "correct"}, MEMBER(rules.player_solver),
                "How players are kept out of walls: exact and fast, or simple and robust."),
         choice("monster_solver", {"sweep", "correct"}, MEMBER(rules.monster_solver), "Likewise monsters."),
         real("gravity_mps2", "N", 0, 200, MEMBER(rules.gravity_mps2), "Metres per second squared."),
         real("jump_speed_mps", "N", 0, 50, MEMBER(rules.jump_speed_mps),
              "Metres per second; 7 clears one block under the default gravity."),
         real("walk_speed_mps", "N", 0, 60, MEMBER(rules.walk_speed_mps_max), "Metres per second."),
         real("step_height_m", "N", 0, 1.5, MEMBER(rules.step_height_m_max),
              "Metres that players walk up without a jump; 0.75 is Doom's 24 units."),
         real("shot_interval_s", "N", 0, 60, MEMBER(rules.shot_interval_s),
              "Seconds between two shots of a player who holds the trigger."),
         real("shot_range_m", "N", 1, 1024, MEMBER(rules.shot_range_m), "Metres that a shot reaches."),
         choice("keys", {"ignored", "needed"}, MEMBER(rules.keys),
                "Whether locked doors of maps ask for their key, which lies in the map."),
         whole("player_health", "N", 1, 10000, MEMBER(rules.player_health), "Points of a fresh player."),
         whole("crush_damage", "N", 0, 10000, MEMBER(rules.crush_damage),
               "Points that a crusher takes, about nine times a second."),
         real("respawn_s", "N", 0, 60, MEMBER(rules.respawn_s),
              "Seconds until a dead player is back; with the use button down after one.")});
  for (Setting& row : all)
    if (row.key == "seed" || row.key == "doors" || row.group == "Rules") row.of_world = true;
  group("Snapshots", {whole("snapshot_every", "TICKS", 1, 60, MEMBER(snapshot_every_ticks),
                            "Ticks from one snapshot to the next, a second at most."),
                      real("interest_radius_m", "N", 16, 1024, MEMBER(interest_radius_m),
                           "How far a player is told of others, metres."),
                      whole("snapshot_bytes", "N", 4800, 38400, MEMBER(snapshot_bytes_max),
                            "Most that a player is sent in one snapshot, bytes, in whole datagrams of 1200. "
                            "Whoever finds no room goes first in the next one.")});
  static_assert(4800 == snapshot_parts_least * datagram_bytes_max);
  static_assert(38400 == snapshot_parts_max * datagram_bytes_max);
  group("Operation",
        {live_setting(),
         whole("status_every", "SECONDS", 0, 86400, MEMBER(status_every_s),
               "Log the status every so many seconds; 0 never does."),
         choice("log_format", {"text", "json"}, MEMBER(log_format), "One event per line, either way."),
         choice("log_level", {"debug", "info", "warning", "error"}, MEMBER(log_level),
                "The least that is logged."),
         run_for_setting(),
         text("record", "FILE", 4096, MEMBER(record_file),
              "Record everything that enters the tick, for ashlar-sim replay.")});
#undef MEMBER
  return all;
}

}  // namespace

std::string Setting::flag() const {
  std::string name = "--" + key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string Setting::variable() const { return "ASHLAR_" + upper_ascii(key); }

std::span<const Setting> settings() {
  static const std::vector<Setting> all = build();
  return all;
}

std::size_t find_setting(std::string_view key) {
  const auto all = settings();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Setting& s) { return s.key == key; });
  return found == all.end() ? no_setting : static_cast<std::size_t>(found - all.begin());
}

}  // namespace ashlar::server
