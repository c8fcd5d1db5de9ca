// What a run is written to stays as it was until there is something to write.
#include "client_sim/harness/out_file.h"

#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace ashlar::client_sim {
namespace {

using testing::TemporaryFolder;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

TEST_CASE("an old file is there until the new one is", "[client_sim][out_file]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("report.json");
  std::ofstream(path) << "a long old report";
  {
    const auto failed_run = OutFile::open(path);
    REQUIRE(failed_run);
  }
  CHECK(text_of(path) == "a long old report");
  auto file = OutFile::open(path);
  REQUIRE(file);
  REQUIRE(file->write(bytes_of("new")));
  REQUIRE(file->write(bytes_of(", in two")));
  CHECK(text_of(path) == "new, in two");
}

}  // namespace ashlar::client_sim
