#include "server/store/recorder.h"

#include <unistd.h>
#include <filesystem>

#include "tests/catch.h"
#include "tests/server/full_at.h"
#include "tests/temporary_folder.h"

namespace ashlar::server {

using test::FullAt;
using testing::TemporaryFolder;

namespace {

RecordingHeader small_world() {
  RecordingHeader header;
  header.players_max = 1;
  return header;
}

RecordingFile new_file(const std::string& path) {
  auto file = RecordingFile::create(path, 0, ExistingRecording::refuse);
  REQUIRE(file.has_value());
  return std::move(*file);
}

TickRecord tick_with(std::uint64_t hash) {
  TickRecord tick;
  tick.leaves = {EntityId{7}};
  tick.hash = hash;
  return tick;
}

std::uint64_t ticks_in(const std::string& text) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  auto reader = RecordingReader::open(bytes);
  REQUIRE(reader.has_value());
  TickRecord tick;
  std::uint64_t count = 0;
  for (auto more = reader->next(tick); more.has_value() && *more; more = reader->next(tick))
    CHECK(tick.hash == count++);
  return count;
}

}  // namespace

TEST_CASE("what was recorded is in the file once the recorder has finished", "[server][recorder]") {
  const TemporaryFolder folder;
  Recorder recorder(new_file(folder.path("match")), small_world());
  for (std::uint64_t i = 0; i < 200; ++i) recorder.on_tick(tick_with(i));
  recorder.finish();
  CHECK(recorder.failure().empty());
  recorder.on_tick(tick_with(200));  // too late
  CHECK(ticks_in(folder.read("match")) == 200);
}

TEST_CASE("a full disk ends the recording, is told, and leaves the blocks before it", "[server][recorder]") {
  const TemporaryFolder folder;
  const FullAt disk(4096);
  const std::string path = folder.path("match");
  Recorder recorder(new_file(path), small_world());
  for (std::uint64_t i = 0; i < 2000; ++i) recorder.on_tick(tick_with(i));
  recorder.finish();
  CHECK_THAT(recorder.failure(), ContainsSubstring(path));
  CHECK(folder.read("match").size() == 4096);
  CHECK(ticks_in(folder.read("match")) % 60 == 0);
}

TEST_CASE("a recording ends before it is longer than it may be", "[server][recorder]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("match");
  Recorder::Options options;
  options.bytes_max = 4096;
  int housekept = 0;
  options.housekeeping = [&housekept] { ++housekept; };
  Recorder recorder(new_file(path), small_world(), options);
  // A block at a time, as in a match: what waits together is written together, or not at all.
  std::uintmax_t written = 0;
  const auto wait_until_written = [&] {
    while (recorder.failure().empty() && std::filesystem::file_size(path) == written) ::usleep(200);
    written = std::filesystem::file_size(path);
  };
  wait_until_written();  // the header
  for (std::uint64_t i = 0; i < 2000 && recorder.failure().empty(); ++i) {
    recorder.on_tick(tick_with(i));
    if ((i + 1) % 60 == 0) wait_until_written();
  }
  recorder.finish();
  CHECK_THAT(recorder.failure(), ContainsSubstring(path) && ContainsSubstring("record_keep_mib"));
  CHECK(folder.read("match").size() <= 4096);
  CHECK(ticks_in(folder.read("match")) % 60 == 0);
  CHECK(housekept >= 1);
}

TEST_CASE("each second is in the file as it is over, whatever the tick rate", "[server][recorder]") {
  const TemporaryFolder folder;
  RecordingHeader header = small_world();
  header.rules.tick_rate_hz = 10;
  Recorder recorder(new_file(folder.path("match")), header);
  const auto size = [&] { return std::filesystem::file_size(folder.path("match")); };
  for (int i = 0; size() == 0 && i < 50'000; ++i) ::usleep(200);
  const auto head = size();
  for (std::uint64_t i = 0; i < 10; ++i) recorder.on_tick(tick_with(i));
  for (int i = 0; size() == head && i < 50'000; ++i) ::usleep(200);
  CHECK(size() > head);
  recorder.finish();
  CHECK(ticks_in(folder.read("match")) == 10);
}

}  // namespace ashlar::server
