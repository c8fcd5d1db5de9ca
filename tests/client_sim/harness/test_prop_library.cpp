#include "client_sim/harness/prop_library.h"

#include <filesystem>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

const std::string wedge = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

}  // namespace

TEST_CASE("a client places the props of a welcome from its own files", "[client_sim][props]") {
  const ashlar::testing::TemporaryFolder folders;
  const std::string file = folders.write("wedge.obj", wedge);
  auto library = PropLibrary::open({file});
  REQUIRE(library);
  const PropPlace place{{0.25, -7.125, 33.5}, Turn16{999}, 0.5};
  const auto prop = library->place("wedge.obj", ModelUp::z, place);
  REQUIRE(prop);
  const WelcomeProp told{"wedge.obj", (*prop)->content_hash(), place, ModelUp::z};
  CHECK(library->content_hash(told) == told.content_hash);
  // Elsewhere, or read the other way up, it is another.
  WelcomeProp moved = told;
  moved.place.position_m.x += 0.5;
  CHECK(library->content_hash(moved) != told.content_hash);
  WelcomeProp lying = told;
  lying.up = ModelUp::y;
  CHECK(library->content_hash(lying) != told.content_hash);

  auto empty = PropLibrary::open({});
  REQUIRE(empty);
  CHECK_FALSE(empty->content_hash(told));
  CHECK_THAT(empty->place("wedge.obj", ModelUp::z, place).error(), ContainsSubstring("--prop"));
  // Another model under the same name is not the same content.
  std::filesystem::create_directory(folders.path("other"));
  const std::string changed = folders.write("other/wedge.obj", wedge + "v 0 2 0\nf 2 3 5\n");
  auto foreign = PropLibrary::open({changed});
  REQUIRE(foreign);
  CHECK(foreign->content_hash(told) != told.content_hash);
  CHECK_THAT(PropLibrary::open({file, changed}).error(), ContainsSubstring("two props"));
  CHECK_THAT(PropLibrary::open({"none.obj"}).error(), ContainsSubstring("none.obj"));
  CHECK_THAT(PropLibrary::open({folders.write("bad.obj", "x")}).error(), ContainsSubstring("bad.obj"));
}
