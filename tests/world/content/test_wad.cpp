#include <algorithm>

#include "tests/world/bsp/maps.h"
#include "tests/world/content/wad_writer.h"
#include "world/sim/thing_table.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

std::string error_of(const std::vector<std::uint8_t>& bytes) {
  const auto wad = open_wad(bytes, "test.wad");
  return wad ? "" : wad.error().line();
}

WadStack stack_of(std::vector<std::vector<std::uint8_t>> files) {
  WadStack stack;
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto wad = open_wad(std::move(files[i]), "file" + std::to_string(i) + ".wad");
    if (!wad) FAIL(wad.error().line());
    stack.files.push_back(std::move(*wad));
  }
  return stack;
}

}  // namespace

TEST_CASE("a map written to a WAD reads back the same", "[world][content][wad]") {
  const SectorMap map = obstacle_map();
  WadWriter writer("PWAD");
  writer.add_map("MAP07", map);
  const WadStack wads = stack_of({writer.bytes()});
  const auto read = read_map(wads, "map07");
  REQUIRE(read);
  CHECK(read->name == "MAP07");
  CHECK(read->vertices == map.vertices);
  CHECK(read->lines == map.lines);
  CHECK(read->sectors == map.sectors);
  CHECK(read->things == map.things);
  CHECK(content_hash(*read) == content_hash(map));
}

TEST_CASE("a later file's map replaces an earlier file's", "[world][content][wad]") {
  SectorMap changed = obstacle_map();
  changed.sectors[0].floor = -8;
  WadWriter iwad("IWAD"), pwad("PWAD");
  iwad.add_map("MAP01", obstacle_map());
  iwad.add_map("MAP02", obstacle_map());
  pwad.add_map("MAP01", changed);
  const WadStack wads = stack_of({iwad.bytes(), pwad.bytes()});
  CHECK(map_names(wads) == std::vector<std::string>{"MAP01", "MAP02"});
  CHECK(must_read(wads, "MAP01").sectors[0].floor == -8);
  CHECK(must_read(wads, "MAP02").sectors[0].floor == 0);
}

TEST_CASE("a WAD is refused in one line that names the place and the reason", "[world][content][wad]") {
  WadWriter writer("PWAD");
  writer.add_map("MAP01", obstacle_map());
  const std::vector<std::uint8_t> good = writer.bytes();
  CHECK(error_of({}).find("not a WAD") != std::string::npos);
  std::vector<std::uint8_t> bad = good;
  bad[0] = 'X';
  CHECK(error_of(bad) == "test.wad: not a WAD: it begins neither with IWAD nor with PWAD");
  for (std::size_t n = 0; n < good.size(); n += 7) {
    CAPTURE(n);
    const std::vector<std::uint8_t> cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n));
    REQUIRE_FALSE(error_of(cut).empty());
    REQUIRE(error_of(cut).find('\n') == std::string::npos);
  }
  bad = good;
  const std::uint32_t directory = WadWriter::read_u32(good, 8);
  WadWriter::put_u32(bad, directory + 16 + 4, 0xffffff00u);  // the size of the second lump
  CHECK_THAT(error_of(bad), ContainsSubstring("directory entry 1 (THINGS)"));
}

TEST_CASE("a map with a bad index or size names lump and entry", "[world][content][wad]") {
  const auto error_with = [](const auto& damage) {
    SectorMap map = obstacle_map();
    damage(map);
    WadWriter writer("PWAD");
    writer.add_map("MAP01", map);
    const auto read = read_map(stack_of({writer.bytes()}), "MAP01");
    return read ? std::string() : read.error().line();
  };
  CHECK(error_with([](SectorMap&) {}).empty());
  CHECK(error_with([](SectorMap& m) { m.lines[3].v2 = 999; }) ==
        "file0.wad MAP01 LINEDEFS entry 3: vertex 999 is not there, the map has " +
            std::to_string(obstacle_map().vertices.size()));
  CHECK_THAT(error_with([](SectorMap& m) { m.lines[2].back = 500; }),
             ContainsSubstring("LINEDEFS entry 2: side 500"));
  CHECK_THAT(error_with([](SectorMap& m) { m.lines[1].front = no_index; }),
             ContainsSubstring("no front side"));
  CHECK_THAT(error_with([](SectorMap& m) { m.sides[4].sector = 60; }),
             ContainsSubstring("SIDEDEFS entry 4: sector 60"));
  CHECK_THAT(error_with([](SectorMap& m) { m.lines.clear(); }), ContainsSubstring("no lines"));

  WadWriter writer("PWAD");
  writer.add_map("MAP01", obstacle_map());
  const auto missing = read_map(stack_of({writer.bytes()}), "E1M1");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().line() == "file0.wad: has no map E1M1; it has MAP01");

  for (const std::string_view lump : {"LINEDEFS", "SIDEDEFS", "VERTEXES", "SECTORS"}) {
    CAPTURE(lump);
    std::vector<std::uint8_t> bytes = writer.bytes();
    const auto found = std::search(bytes.begin(), bytes.end(), lump.begin(), lump.end());
    REQUIRE(found != bytes.end());
    *found = 'X';
    const auto cut = read_map(stack_of({bytes}), "MAP01");
    REQUIRE_FALSE(cut);
    CHECK(cut.error().line() == "file0.wad MAP01 " + std::string(lump) + ": is missing from the map: X" +
                                    std::string(lump.substr(1)) + " stands in its place");
  }
  for (const std::string_view lump : {"SEGS", "SSECTORS", "NODES", "SECTORS"}) {
    CAPTURE(lump);
    WadWriter renamed("PWAD");
    renamed.add_lump("MAP01", {});
    for (const std::string_view name :
         {"THINGS", "LINEDEFS", "SIDEDEFS", "VERTEXES", "SEGS", "SSECTORS", "NODES", "SECTORS"})
      renamed.add_lump(name == lump ? "RENAMED" : name, {});
    const auto cut = read_map(stack_of({renamed.bytes()}), "MAP01");
    REQUIRE_FALSE(cut);
    CHECK(cut.error().line() ==
          "file0.wad MAP01 " + std::string(lump) + ": is missing from the map: RENAMED stands in its place");
  }

  WadWriter odd("PWAD");
  odd.add_map("MAP01", obstacle_map(), /*extra_bytes_in_sectors=*/3);
  const auto wrong = read_map(stack_of({odd.bytes()}), "MAP01");
  REQUIRE_FALSE(wrong);
  CHECK_THAT(wrong.error().line(), ContainsSubstring("SECTORS: 133 bytes are no multiple of 26"));
}

TEST_CASE("every thing in Freedoom's maps is in the thing table", "[world][content][things]") {
  std::size_t things = 0, monsters = 0, pickups = 0;
  each_freedoom_map([&](const SectorMap& map, const std::string&, std::uint64_t) {
    bool start = false;
    for (const MapThing& thing : map.things) {
      const ThingType* type = find_thing_type(thing.type);
      CAPTURE(thing.type, thing.x, thing.y);
      REQUIRE((type != nullptr || thing.type == 0));
      ++things;
      if (type == nullptr) continue;
      start = start || (type->role == ThingRole::player_start && type->value == 1);
      monsters += type->role == ThingRole::monster ? 1 : 0;
      pickups += type->role == ThingRole::pickup ? 1 : 0;
    }
    CHECK(start);
  });
  if (things != 0) {
    const std::size_t many = test::slowness == 1 ? 5000 : 250;  // of all maps, or of some
    CHECK(monsters > many);
    CHECK(pickups > many);
  }
}
