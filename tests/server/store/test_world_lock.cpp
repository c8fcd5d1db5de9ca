#include "server/store/world_lock.h"

#include <optional>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace ashlar::server {

using testing::TemporaryFolder;

TEST_CASE("a world belongs to one server at a time, and to the next one afterwards", "[server][world_lock]") {
  const TemporaryFolder folder;
  const std::string world = folder.path("deep/world");
  auto first = WorldLock::take(world);
  REQUIRE(first.has_value());
  CHECK(std::filesystem::is_directory(world));
  {
    const auto second = WorldLock::take(world);
    REQUIRE_FALSE(second.has_value());
    CHECK_THAT(second.error(), ContainsSubstring(world) && ContainsSubstring("another server"));
  }
  std::optional<WorldLock> moved(std::move(*first));
  CHECK_FALSE(WorldLock::take(world).has_value());
  moved.reset();
  CHECK(WorldLock::take(world).has_value());
  CHECK(std::filesystem::is_empty(world));
}

TEST_CASE("without a world's folder there is nothing to hold", "[server][world_lock]") {
  const auto first = WorldLock::take("");
  CHECK(first.has_value());
  CHECK(WorldLock::take("").has_value());
}

TEST_CASE("a world's folder that cannot be made is named", "[server][world_lock]") {
  const TemporaryFolder folder;
  const std::string below = folder.write("file", "x") + "/below";
  const auto lock = WorldLock::take(below);
  REQUIRE_FALSE(lock.has_value());
  CHECK_THAT(lock.error(), ContainsSubstring(below) && ContainsSubstring("--world"));
}

}  // namespace ashlar::server
