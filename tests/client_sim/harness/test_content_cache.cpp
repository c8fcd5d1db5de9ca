#include "client_sim/harness/content_cache.h"

#include <chrono>
#include <filesystem>

#include "tests/catch.h"
#include "tests/protocol/content/contents.h"
#include "tests/temporary_folder.h"

namespace ashlar::client_sim {
namespace {

namespace fs = std::filesystem;
using ashlar::testing::random_prop;
using ashlar::testing::TemporaryFolder;

std::vector<std::uint8_t> packed(const Content& content) { return encode_content(content).value(); }

/// Makes a file look unused for so long.
void age(const std::string& path, int hours) {
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(hours));
}

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("a cache gives back what was kept, by its hash", "[client_sim][content]") {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path("a/b"));
  const Content content = random_prop(1);
  const std::uint64_t hash = content_hash(content);
  CHECK_FALSE(cache.find(hash));
  REQUIRE(cache.keep(hash, packed(content)));
  REQUIRE(cache.find(hash));
  CHECK(content_hash(*cache.find(hash)) == hash);
  CHECK_FALSE(cache.find(hash + 1));
  CHECK(files_in(folder.path("a/b")) == 1);
  // Without a folder nothing is kept, and that is no failure.
  const ContentCache none("");
  CHECK(none.keep(hash, packed(content)).has_value());
  CHECK_FALSE(none.find(hash));
}

TEST_CASE("a file that is not what its name says is ignored and replaced", "[client_sim][content]") {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path(""));
  const Content content = random_prop(1), other = random_prop(2);
  const std::uint64_t hash = content_hash(content);
  REQUIRE(cache.keep(hash, packed(content)));
  SECTION("cut") { fs::resize_file(cache.file_of(hash), 100); }
  SECTION("empty") { fs::resize_file(cache.file_of(hash), 0); }
  SECTION("too long") { fs::resize_file(cache.file_of(hash), content_bytes_max + 10); }
  SECTION("another's") { REQUIRE(cache.keep(hash, packed(other))); }
  CHECK_FALSE(cache.find(hash));
  REQUIRE(cache.keep(hash, packed(content)));
  CHECK(cache.find(hash));
}

TEST_CASE("a cache stays within its bound: what was unused for longest goes", "[client_sim][content]") {
  const TemporaryFolder folder;
  std::vector<Content> contents;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < 4; ++i) {
    contents.push_back(random_prop(i));
    if (i > 0) bytes += packed(contents.back()).size();
  }
  // The first three fit, or the last three, and no more.
  const ContentCache cache(folder.path(""), std::max(bytes, bytes + packed(contents[0]).size() - 1));
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(cache.keep(content_hash(contents[i]), packed(contents[i])));
    age(cache.file_of(content_hash(contents[i])), 10 - static_cast<int>(i));
  }
  folder.write("notes.txt", std::string(100'000, 'x'));  // not ours: neither counted nor removed
  CHECK(cache.find(content_hash(contents[0])));          // used now
  REQUIRE(cache.keep(content_hash(contents[3]), packed(contents[3])));
  CHECK(cache.find(content_hash(contents[0])));
  CHECK_FALSE(cache.find(content_hash(contents[1])));
  CHECK(cache.find(content_hash(contents[3])));
  CHECK(fs::exists(folder.path("notes.txt")));
  // What a process left that died while it wrote is ours, too.
  const std::string left = folder.write("content-0123456789abcdef.bin.77", std::string(1'000'000, 'x'));
  age(left, 100);
  REQUIRE(cache.keep(content_hash(contents[3]), packed(contents[3])));
  CHECK_FALSE(fs::exists(left));
  CHECK(cache.find(content_hash(contents[3])));
}

TEST_CASE("a cache that cannot be written says which file and why", "[client_sim][content]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  const ContentCache cache(file + "/below");
  const auto kept = cache.keep(1, std::vector<std::uint8_t>{1});
  REQUIRE_FALSE(kept);
  CHECK(kept.error().find(file) != std::string::npos);
  CHECK(kept.error().find('\n') == std::string::npos);
}

}  // namespace ashlar::client_sim
