#include "server/store/recording_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <ctime>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace ashlar::server {

using testing::TemporaryFolder;

namespace {

std::tm afternoon() {
  std::tm at{};
  at.tm_year = 126, at.tm_mon = 0, at.tm_mday = 9, at.tm_hour = 15, at.tm_min = 4, at.tm_sec = 5,
  at.tm_yday = 8;
  return at;
}

void put(const TemporaryFolder& folder, const std::string& name, std::size_t bytes, std::time_t written,
         const std::string& head = "ASHREC01") {
  folder.write(name, head + std::string(bytes - head.size(), '.'));
  const timespec times[2] = {{written, 0}, {written, 0}};
  ::utimensat(AT_FDCWD, folder.path(name).c_str(), times, 0);
}

}  // namespace

TEST_CASE("a recording's name may hold the time of the start", "[server][recording_file]") {
  CHECK(recording_name("match-%Y%m%d-%H%M%S.rec", afternoon()) == "match-20260109-150405.rec");
  CHECK(recording_name("100%%-%j", afternoon()) == "100%-009");
  CHECK(recording_name("plain.rec", afternoon()) == "plain.rec");
  for (const char* good : {"a", "a/b.rec", "m-%Y.rec", "%%", "/d%%/x"})
    CHECK(check_recording_name(good).has_value());
  for (const char* bad : {"", "a/", "m-%T", "m-%", "m-%e", "%Y/m.rec", "%"}) {
    CAPTURE(bad);
    CHECK_FALSE(check_recording_name(bad).has_value());
  }
}

TEST_CASE("names that a pattern gives are told from others", "[server][recording_file]") {
  constexpr const char* pattern = "m-%Y%m%d.rec";
  for (const char* mine : {"m-20260109.rec", "m-20260109-2.rec", "m-20260109-17.rec"})
    CHECK(is_recording_name(mine, pattern));
  for (const char* other : {"m-2026010.rec", "m-20260109.re", "n-20260109.rec", "m-20260109-.rec",
                            "m-20260109-a.rec", "m-20260109.rec.gz", "m-2026o109.rec", ""}) {
    CAPTURE(other);
    CHECK_FALSE(is_recording_name(other, pattern));
  }
  CHECK(is_recording_name("match-2.rec", "match.rec"));
  CHECK_FALSE(is_recording_name("match-20240101.rec", "match.rec"));  // an operator's own
  CHECK_FALSE(is_recording_name("match-02.rec", "match.rec"));
  CHECK(is_recording_name("match", "match"));
  CHECK(is_recording_name("match-3", "match"));
  CHECK(is_recording_name("100%-x", "100%%-x"));
}

TEST_CASE("a name that is taken is refused, or gets a number", "[server][recording_file]") {
  const TemporaryFolder folder;
  const std::string path = folder.path("match.rec");
  const auto make = [&](ExistingRecording existing) {
    auto file = RecordingFile::create(path, 0, existing);
    if (file) file->keep();
    return file ? file->path() : file.error();
  };
  CHECK(make(ExistingRecording::refuse) == path);
  CHECK_THAT(make(ExistingRecording::refuse),
             ContainsSubstring(path) && ContainsSubstring("--record-existing next"));
  CHECK(make(ExistingRecording::next) == folder.path("match-2.rec"));
  CHECK(make(ExistingRecording::next) == folder.path("match-3.rec"));
}

TEST_CASE("a recording's file that nobody kept is gone", "[server][recording_file]") {
  const TemporaryFolder folder;
  {
    CHECK(RecordingFile::create(folder.path("match"), 0, ExistingRecording::refuse).has_value());
  }
  CHECK(std::filesystem::is_empty(folder.path("")));
}

TEST_CASE("old recordings go by age and size, the oldest first, and nothing else does",
          "[server][recording_file]") {
  const TemporaryFolder folder;
  constexpr std::time_t day = 24 * 3600, now = 100 * day;
  for (int age : {1, 2, 3, 4, 5}) put(folder, "m-000" + std::to_string(age) + ".rec", 1000, now - age * day);
  put(folder, "m-0099.rec", 1000, now - 50 * day, "NOTOURS!");
  put(folder, "other.rec", 1000, now - 50 * day);
  const std::string pattern = folder.path("m-%Y.rec"), present = folder.path("m-0005.rec");
  CHECK(remove_old_recordings(pattern, present, {}, now).empty());
  CHECK(remove_old_recordings(pattern, present, {0, 3 * day + 1}, now) ==
        std::vector<std::string>{folder.path("m-0004.rec")});
  CHECK(remove_old_recordings(pattern, present, {3000, 0}, now) ==
        std::vector<std::string>{folder.path("m-0003.rec")});
  CHECK(remove_old_recordings(pattern, present, {1, 0}, now).size() == 2);
  for (const char* left : {"m-0005.rec", "m-0099.rec", "other.rec"})
    CHECK(std::filesystem::exists(folder.path(left)));
}

}  // namespace ashlar::server
