#include "server/store/visibility_cache.h"

#include <filesystem>

#include "protocol/visibility_file.h"
#include "server/setup.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/world/bsp/maps.h"

namespace ashlar::server {

using ashlar::testing::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

struct Compiled {
  SectorMap map = testing::builtin_map();
  BspTree tree = build_bsp(map);
};

bool same(const SectorVisibility& a, const SectorVisibility& b) {
  return a.sectors == b.sectors && a.row_words == b.row_words && a.bits == b.bits &&
         a.from_above == b.from_above;
}

/// The only file of the cache, by its name in the world's folder.
std::string only_file(const TemporaryFolder& world) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(world.path("cache")))
    files.push_back("cache/" + entry.path().filename().string());
  REQUIRE(files.size() == 1);
  return files[0];
}

/// What a first start leaves behind; the file's name in the world's folder.
std::string keep_set(const TemporaryFolder& world, const Compiled& c) {
  VisibilityCache cache(world.path(""));
  static_cast<void>(cache.set_for(c.map, c.tree));
  cache.keep();
  return only_file(world);
}

}  // namespace

TEST_CASE("a second start reads the sets that the first computed", "[server][store][visibility_cache]") {
  const TemporaryFolder world;
  Config config;
  config.maps = {{std::string(builtin_map_name), {}}, {std::string(builtin_map_name), {}}};
  const auto start = [&](VisibilityCache& cache) {
    auto prepared = prepare_setup(
        config, {}, [&cache](const SectorMap& map, const BspTree& tree) { return cache.set_for(map, tree); });
    if (!prepared) FAIL(prepared.error());
    cache.keep();
    return std::move(*prepared);
  };
  VisibilityCache first(world.path("")), second(world.path(""));
  const PreparedWorld a = start(first);
  CHECK(first.computed() == 1);  // the map stands there twice
  CHECK(first.read() == 0);
  const PreparedWorld b = start(second);
  CHECK(second.computed() == 0);
  CHECK(second.read() == 1);
  CHECK(first.refused().empty());
  CHECK(second.refused().empty());
  CHECK(second.unwritten().empty());
  REQUIRE(b.setup.maps.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const PlacedMap& map = *b.setup.maps[i];
    REQUIRE(map.visibility() != nullptr);
    CHECK(same(*map.visibility(), *a.setup.maps[i]->visibility()));
    CHECK(same(*map.visibility(), compute_visibility(map.source(), map.tree())));
  }
}

TEST_CASE("a kept set that is damaged or cut is computed again and written over",
          "[server][store][visibility_cache]") {
  const TemporaryFolder world;
  const Compiled c;
  const std::string name = keep_set(world, c), good = world.read(name);
  const SectorVisibility wanted = compute_visibility(c.map, c.tree);
  const auto heals = [&](const std::string& bytes) {
    world.write(name, bytes);
    VisibilityCache cache(world.path(""));
    CHECK(same(*cache.set_for(c.map, c.tree), wanted));
    CHECK(cache.computed() == 1);
    CHECK(cache.read() == 0);
    REQUIRE(cache.refused().size() == 1);
    CHECK(cache.refused()[0].file == world.path(name));
    CHECK_FALSE(cache.refused()[0].reason.empty());
    cache.keep();
    CHECK(cache.unwritten().empty());
    REQUIRE(world.read(name) == good);
    REQUIRE(only_file(world) == name);
  };
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    heals(good.substr(0, size));
  }
  heals(good + "x");
  for (std::size_t at = 0; at < good.size(); at += 7) {
    CAPTURE(at);
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    heals(damaged);
  }
}

TEST_CASE("a kept set of another map under this map's name is refused", "[server][store][visibility_cache]") {
  const TemporaryFolder world;
  const Compiled c;
  const std::string name = keep_set(world, c);
  const SectorVisibility set = compute_visibility(c.map, c.tree);
  const auto foreign = encode_visibility(set, content_hash(c.map) + 1);
  world.write(name, std::string(foreign.begin(), foreign.end()));

  VisibilityCache second(world.path(""));
  static_cast<void>(second.set_for(c.map, c.tree));
  CHECK(second.computed() == 1);
  REQUIRE(second.refused().size() == 1);
  CHECK(second.refused()[0].reason == reason(VisibilityFileError::other_map));
}

TEST_CASE("another floor's flat, along which stairs rise, is another set's file",
          "[server][store][visibility_cache]") {
  const TemporaryFolder world;
  Compiled c;
  VisibilityCache cache(world.path(""));
  static_cast<void>(cache.set_for(c.map, c.tree));
  c.map.sectors[0].floor_flat = texture_name("OTHER");
  static_cast<void>(cache.set_for(c.map, c.tree));
  CHECK(cache.computed() == 2);
  c.map.sectors[0].ceiling_flat = texture_name("OTHER");
  static_cast<void>(cache.set_for(c.map, c.tree));
  CHECK(cache.computed() == 2);  // of ceilings only the sky counts
}

TEST_CASE("without a world nothing is written, and a folder that cannot be made stops nothing",
          "[server][store][visibility_cache]") {
  const Compiled c;
  const SectorVisibility wanted = compute_visibility(c.map, c.tree);
  VisibilityCache none("");
  CHECK(same(*none.set_for(c.map, c.tree), wanted));
  none.keep();
  CHECK(none.unwritten().empty());
  CHECK_FALSE(fs::exists("cache"));

  const TemporaryFolder world;
  world.write("cache", "in the way");
  VisibilityCache blocked(world.path(""));
  CHECK(same(*blocked.set_for(c.map, c.tree), wanted));
  blocked.keep();
  REQUIRE(blocked.unwritten().size() == 1);
  CHECK(blocked.unwritten()[0].file == world.path("cache"));
  CHECK(world.read("cache") == "in the way");
}

TEST_CASE("what stands in a kept set's place and is no file is left alone",
          "[server][store][visibility_cache]") {
  const TemporaryFolder world;
  const Compiled c;
  const std::string file = world.path(keep_set(world, c));
  fs::remove(file);
  fs::create_directory(file);
  VisibilityCache second(world.path(""));
  static_cast<void>(second.set_for(c.map, c.tree));
  REQUIRE(second.refused().size() == 1);
  CHECK(second.computed() == 1);
  second.keep();
  REQUIRE(second.unwritten().size() == 1);
  CHECK(second.unwritten()[0].file == file);
  CHECK(fs::is_directory(file));
  CHECK_FALSE(fs::exists(file + ".new"));
}

}  // namespace ashlar::server
