#include "world/content/wad_folders.h"

#include "tests/catch.h"

using namespace ashlar;

TEST_CASE("a WAD is looked for in the environment's folders first, then in the usual ones",
          "[world][content][wad]") {
  const std::vector<std::string> usual = wad_folders(nullptr, nullptr);
  REQUIRE(usual.size() >= 3);
  CHECK(wad_folders("", "") == usual);
  std::vector<std::string> expected{"/mine", "/a", "/b"};
  expected.insert(expected.end(), usual.begin(), usual.end());
  CHECK(wad_folders("/mine", "/a::/b:") == expected);
}

TEST_CASE("a WAD's name means itself, then files of that name in any spelling", "[world][content][wad]") {
  using Files = std::vector<std::string>;
  const Files folders{"/a", "/b/"};
  CHECK(wad_files("./Some.wad", folders) == Files{"./Some.wad"});
  CHECK(wad_files("Some.wad", folders) == Files{"Some.wad", "/a/Some.wad", "/a/some.wad", "/a/SOME.WAD",
                                                "/b/Some.wad", "/b/some.wad", "/b/SOME.WAD"});
  const Files bare = wad_files("doom2", folders);
  CHECK(std::ranges::count(bare, "/a/doom2.wad") >= 1);
  CHECK(std::ranges::count(bare, "/b/DOOM2.WAD") == 1);
}
