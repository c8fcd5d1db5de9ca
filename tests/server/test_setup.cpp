#include "server/setup.h"

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "world/bsp/placement.h"
#include "world/content/builtin_map.h"

namespace ashlar::server {

using ashlar::testing::TemporaryFolder;

namespace {

/// A WAD with the lumps given, in order.
std::string wad_bytes(const std::string& kind,
                      const std::vector<std::pair<std::string, std::string>>& lumps) {
  const auto number = [](std::size_t value) {
    std::string out;
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
    return out;
  };
  std::string body, directory;
  for (const auto& [name, bytes] : lumps) {
    std::string padded = name;
    padded.resize(8, '\0');
    directory += number(12 + body.size()) + number(bytes.size()) + padded;
    body += bytes;
  }
  return kind + number(lumps.size()) + number(12 + body.size()) + body + directory;
}

/// A WAD whose maps of these names are all the built-in one.
std::string udmf_wad(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> lumps;
  for (const std::string& name : names) {
    lumps.emplace_back(name, "");
    lumps.emplace_back("TEXTMAP", std::string(builtin_map_text()));
    lumps.emplace_back("ENDMAP", "");
  }
  return wad_bytes("PWAD", lumps);
}

/// A map in UDMF: a room, and lines within it.
class SectorDrawing {
 public:
  explicit SectorDrawing(int sectors) {
    for (int i = 0; i < sectors; ++i)
      text_ += "sector{heightceiling=128;texturefloor=\"A\";textureceiling=\"A\";id=1;}\n";
    text_ += "sidedef{sector=0;}\nthing{x=50;y=50;type=1;}\n";
    line(0, 0, 0, 4096), line(0, 4096, 4096, 4096), line(4096, 4096, 4096, 0), line(4096, 0, 0, 0);
  }
  void line(int x1, int y1, int x2, int y2, const std::string& more = "") {
    text_ += "vertex{x=" + std::to_string(x1) + ";y=" + std::to_string(y1) +
             ";}\nvertex{x=" + std::to_string(x2) + ";y=" + std::to_string(y2) +
             ";}\nlinedef{v1=" + std::to_string(vertices_) + ";v2=" + std::to_string(vertices_ + 1) +
             ";sidefront=0;" + more + "}\n";
    vertices_ += 2;
  }
  std::string text() const { return "namespace=\"doom\";\n" + text_; }

 private:
  std::string text_;
  int vertices_ = 0;
};

std::string error_of(const Config& config, const std::vector<std::string>& folders = {}) {
  const auto world = prepare_setup(config, folders);
  return world ? "no error" : world.error();
}

}  // namespace

TEST_CASE("without a WAD to be had the built-in map is the world", "[server][setup]") {
  Config config;
  config.seed = 9;
  config.clients_max = 12;
  config.monsters = 34;
  config.rules.tick_rate_hz = 20;
  const auto world = prepare_setup(config, {"/nowhere"});
  REQUIRE(world.has_value());
  CHECK(world->wads.empty());
  REQUIRE(world->setup.maps.size() == 1);
  CHECK(world->setup.maps[0]->name() == builtin_map_name);
  CHECK(world->maps.size() == 1);
  CHECK(world->maps[0].at.has_value());
  CHECK(world->setup.seed == 9);
  CHECK(world->setup.players_max == 12);
  CHECK(world->setup.monsters == 34);
  CHECK(world->setup.rules.tick_rate_hz == 20);
  const BlockBox& box = world->setup.maps[0]->box();
  CHECK(box.min.x < 0);
  CHECK(box.max.x > 0);

  Config named = config;  // the place that was found, given back, makes the same map
  named.maps = world->maps;
  const auto again = prepare_setup(named, {"/nowhere"});
  REQUIRE(again.has_value());
  CHECK(again->setup.maps[0]->content_hash() == world->setup.maps[0]->content_hash());
}

TEST_CASE("no map at all can be asked for", "[server][setup]") {
  Config config;
  config.maps = {{"none", {}}};
  const auto world = prepare_setup(config, {});
  REQUIRE(world.has_value());
  CHECK(world->setup.maps.empty());
  CHECK(world->maps == config.maps);
}

TEST_CASE("a WAD is found by name, case or folder, and Freedoom by itself", "[server][setup]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("Some.WAD", "x");
  folder.write("other.wad", "x");
  const std::vector<std::string> folders{"/nowhere", folder.path("")};
  CHECK(find_wad(file, {}) == file);
  CHECK(find_wad("Some.WAD", folders).has_value());
  CHECK(find_wad("OTHER.WAD", folders).has_value());
  CHECK(find_wad("other", folders).has_value());
  CHECK_FALSE(find_wad("absent", folders).has_value());
  CHECK_FALSE(find_wad("./other.wad", folders).has_value());
  CHECK_FALSE(find_wad(folder.path(""), folders).has_value());  // a folder is no WAD

  folder.write("freedoom2.wad", udmf_wad({"MAP02", "MAP01"}));
  const auto world = prepare_setup(Config(), folders);
  REQUIRE(world.has_value());
  CHECK(world->wads == std::vector<std::string>{(folder.path("") + "freedoom2.wad")});
  CHECK(world->maps[0].name == "MAP01");

  Config built_in;  // then no WAD is needed, nor read
  built_in.maps = {{"courtyard", {}}};
  const auto without = prepare_setup(built_in, folders);
  REQUIRE(without.has_value());
  CHECK(without->wads.empty());
}

TEST_CASE("a WAD that is missing, empty or damaged is named in one line", "[server][setup]") {
  const TemporaryFolder folder;
  Config config;
  config.wads = {"absent.wad"};
  CHECK_THAT(error_of(config, {"/a", "/b"}), ContainsSubstring("absent.wad, neither here nor in /a, /b"));
  config.wads = {folder.path("absent.wad")};
  CHECK_THAT(error_of(config), ContainsSubstring("there is no WAD " + folder.path("absent.wad")));

  const std::string whole = udmf_wad({"MAP01"});
  const std::string bytes = GENERATE_COPY(as<std::string>{}, "", "PWA", "XWADaaaabbbb", whole.substr(0, 11),
                                          whole.substr(0, whole.size() / 2), wad_bytes("PWAD", {}));
  CAPTURE(bytes.size());
  config.wads = {folder.write("damaged.wad", bytes)};
  const std::string error = error_of(config);
  CHECK_THAT(error, ContainsSubstring("damaged.wad"));
  CHECK(error.find('\n') == std::string::npos);
}

TEST_CASE("every cut of a WAD is refused or read, never worse", "[server][setup]") {
  const TemporaryFolder folder;
  const std::string whole = udmf_wad({"MAP01"});
  Config config;
  config.maps = {{"MAP01", {}}};
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    config.wads = {folder.write("cut.wad", whole.substr(0, size))};
    CAPTURE(size);
    CHECK_THAT(error_of(config), ContainsSubstring("cut.wad"));
  }
}

TEST_CASE("a map or prop that would keep a start busy is refused by name, with what to do",
          "[server][setup]") {
  const TemporaryFolder folder;
  const auto map_error = [&](const SectorDrawing& drawn) {
    Config config;
    config.wads = {folder.write(
        "bad.wad", wad_bytes("PWAD", {{"MAP01", ""}, {"TEXTMAP", drawn.text()}, {"ENDMAP", ""}}))};
    return error_of(config);
  };
  SectorDrawing crossing(1);
  for (int i = 0; i < 200; ++i) {
    crossing.line(100 + 10 * i, 10, 100 + 10 * i, 4000);
    crossing.line(10, 100 + 10 * i, 4000, 103 + 10 * i);
  }
  CHECK(map_error(crossing) ==
        "map MAP01: its lines cross each other too often; name another map, or split this one");
  SectorDrawing diagonals(1);
  for (int i = 0; i < 2000; ++i) diagonals.line(-65000, -65000, 65000, 65000, "special=88;id=1;");
  CHECK_THAT(map_error(diagonals), ContainsSubstring("too long, all of them together"));
  SectorDrawing tags(5000);
  for (int i = 0; i < 5000; ++i) tags.line(0, 0, 4000, 4000, "special=88;id=1;");
  CHECK_THAT(map_error(tags), ContainsSubstring("act on too many sectors"));

  Config config;
  config.maps = {{"none", {}}};
  std::string hedge = "v 0 0 0\nv 60 60 0\nv 0 60 60\n";
  for (int i = 0; i < 1000; ++i) hedge += "f 1 2 3\n";
  config.props = {{folder.write("hedge.obj", hedge), {4, 4}, {}, 0, 1, ModelUp::y}};
  CHECK_THAT(error_of(config), ContainsSubstring("hedge.obj: its triangles span too much"));
}

TEST_CASE("a map that is not there is named together with those that are", "[server][setup]") {
  const TemporaryFolder folder;
  Config config;
  config.wads = {folder.write("a.wad", udmf_wad({"MAP01", "MAP03"}))};
  config.maps = {{"MAP02", {}}};
  const std::string error = error_of(config);
  CHECK_THAT(error, ContainsSubstring("MAP02"));
  CHECK_THAT(error, ContainsSubstring("MAP03"));
  CHECK(error.find('\n') == std::string::npos);
  config.wads.clear();
  CHECK_THAT(error_of(config), ContainsSubstring("--wad"));
}

TEST_CASE("maps stand where they were told, the others beside them", "[server][setup]") {
  const TemporaryFolder folder;
  Config config;
  config.wads = {folder.write("a.wad", udmf_wad({"MAP01", "MAP02", "MAP03"}))};
  config.maps = {{"MAP01", {}}, {"MAP02", IVec2{500, -600}}, {"MAP03", {}}};
  const auto world = prepare_setup(config, {});
  REQUIRE(world.has_value());
  REQUIRE(world->setup.maps.size() == 3);
  CHECK(world->maps[1].at == IVec2{500, -600});
  CHECK(world->setup.maps[1]->box().min.x == 500);
  CHECK(world->setup.maps[1]->box().min.y == -600);
  for (std::size_t index = 0; index < 3; ++index)
    CHECK(world->setup.maps[index]->name() == config.maps[index].name);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b) {
      const BlockBox& one = world->setup.maps[a]->box();
      const BlockBox& other = world->setup.maps[b]->box();
      CHECK((one.max.x <= other.min.x || other.max.x <= one.min.x || one.max.y <= other.min.y ||
             other.max.y <= one.min.y));
    }

  config.maps = {{"MAP01", IVec2{0, 0}}, {"MAP02", IVec2{3, 3}}};
  const std::string error = error_of(config);
  CHECK_THAT(error, ContainsSubstring("MAP02 and MAP01 overlap"));
  CHECK_THAT(error, ContainsSubstring("--map MAP02@"));
  config.maps = {{"MAP01", IVec2{1048575, 0}}};
  CHECK_THAT(error_of(config), ContainsSubstring("MAP01"));
}

}  // namespace ashlar::server
