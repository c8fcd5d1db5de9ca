#include "client_sim/harness/read_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using ashlar::client_sim::read_file;

TEST_CASE("a file is read whole, whatever its size", "[client_sim][read_file]") {
  const std::size_t size = GENERATE(0u, 1u, 65535u, 65536u, 65537u, 300'000u);
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 31);
  const ashlar::testing::TemporaryFolder folder;
  const std::string path = folder.write("file", std::string(bytes.begin(), bytes.end()));
  REQUIRE(std::filesystem::file_size(path) == size);
  const auto got = read_file(path);
  REQUIRE(got.has_value());
  CHECK(*got == bytes);
}

TEST_CASE("what cannot be read is named, with the reason", "[client_sim][read_file]") {
  const auto none = read_file("/nowhere/none.ashrec");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error() == "cannot read /nowhere/none.ashrec: No such file or directory");
  const auto folder = read_file("/tmp");
  REQUIRE_FALSE(folder.has_value());
  CHECK(folder.error() == "cannot read /tmp: Is a directory");
  const ashlar::testing::TemporaryFolder files;
  REQUIRE(::mkfifo(files.path("pipe").c_str(), 0600) == 0);
  CHECK_THAT(read_file(files.path("pipe")).error(), ContainsSubstring("pipe"));
  CHECK_THAT(read_file("/dev/zero").error(), ContainsSubstring("device"));
  CHECK_THAT(read_file(files.write("long", std::string((1u << 20) + 1, 'x')), 1u << 20).error(),
             ContainsSubstring("larger than 1 MiB"));
}
