#include "server/config/content_settings.h"

#include <algorithm>

#include "server/config/list_setting.h"
#include "server/config/values.h"
#include "server/config/zone.h"

namespace ashlar::server {
namespace {

constexpr std::size_t list_entries_max = 64;

/// Requests of a world, each a text of its own.
template <class Request, class Parse, class Whole>
void is_world_list(Setting& s, std::vector<Request> Config::* list, std::size_t most, const char* called,
                   Parse parse, Whole whole) {
  s.of_world = true;
  is_list(s, list, most, called, parse, [](const Request& request) { return to_text(request); }, whole);
}

std::expected<void, std::string> none_stands_alone(const std::vector<MapRequest>& maps) {
  for (const MapRequest& map : maps)
    if (map.name == "none" && maps.size() > 1)
      return std::unexpected("\"none\" stands beside other maps: give one or the other");
  return {};
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
  is_world_list(s, &Config::maps, map_requests_max, "maps", parse_map_request, none_stands_alone);
  return s;
}

Setting prop_setting() {
  Setting s{.key = "prop", .value_name = "FILE@X,Y[,Z]"};
  s.help =
      "Static prop from a Wavefront OBJ file, at X,Y metres and height Z or on the ground; again for more. "
      "Further values: yaw in degrees, scale, and z when that is the file's upward axis. In a file: a "
      "[[prop]] table with file, x, y, z, yaw, scale and up for each. At most 256.";
  s.kind = ValueKind::props;
  is_world_list(s, &Config::props, prop_requests_max, "props", parse_prop_request, any_of_them<PropRequest>);
  return s;
}

Setting protect_setting() {
  Setting s{.key = "protect", .value_name = "X0,Y0,Z0,X1,Y1,Z1[=NAME]"};
  s.help =
      "Box of blocks, both corners in it, in which no player digs, builds or blows anything up; again for "
      "more, at most 64. The console and games may. In a file: a list of such texts.";
  s.kind = ValueKind::texts;
  is_world_list(s, &Config::zones, protected_zones_max, "zones", parse_zone, any_of_them<ProtectedZone>);
  return s;
}

Setting rotation_setting() {
  Setting s{.key = "rotation", .value_name = "NAME"};
  s.help =
      "Maps to play one after the other, each in a world of its own, by the end of its match; again for "
      "more. "
      "\"wad\" alone: all maps of the WADs. Without --map, --world and --record.";
  s.kind = ValueKind::texts;
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (raw.size() > list_entries_max) return std::unexpected("has more than 64 entries");
    for (const std::string& name : raw) {
      if (name.empty() || name == "none") return std::unexpected("has an entry that is no map's name");
      if (auto good = check_text(name, 64); !good) return good;
    }
    config.rotation = raw;
    return {};
  };
  s.get = [](const Config& config) { return config.rotation; };
  return s;
}

}  // namespace

std::vector<Setting> content_settings() {
  return {wad_setting(), map_setting(), rotation_setting(), prop_setting(), protect_setting()};
}

}  // namespace ashlar::server
