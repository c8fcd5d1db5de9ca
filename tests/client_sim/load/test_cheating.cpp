// Clients that play by other rules, in a load run.
#include "client_sim/load/cheating.h"

#include <vector>

#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

DatagramBatch packet(std::uint8_t number) {
  DatagramBatch out;
  const std::uint8_t bytes[]{number};
  REQUIRE(out.add({}, bytes));
  return out;
}
std::vector<int> said(Cheater& cheater, std::int64_t ms, std::uint8_t number) {
  const DatagramBatch& out = cheater.say(Micros{1000 * ms}, packet(number));
  std::vector<int> numbers;
  for (const auto& entry : out.entries()) numbers.push_back(out.bytes(entry)[0]);
  return numbers;
}

}  // namespace

TEST_CASE("cheats are spelled as they are read", "[client_sim][load][cheating]") {
  for (std::size_t i = 0; i < load_cheat_count; ++i) {
    const auto cheat = static_cast<LoadCheat>(i);
    CHECK(load_cheat(name(cheat)) == cheat);
  }
  CHECK_FALSE(load_cheat("none").has_value());
}

TEST_CASE("before it plays a cheat says each packet as it comes, but who says everything twice",
          "[client_sim][load][cheating]") {
  Cheater bursts(LoadCheat::bursts), doubled(LoadCheat::doubled);
  for (std::uint8_t i = 1; i < 200; ++i) {
    CHECK(said(bursts, i, i) == std::vector<int>{i});
    CHECK(said(doubled, i, i) == std::vector<int>{i, i});
  }
}

TEST_CASE("what a cheat gained is what nobody honest may do", "[client_sim][load][cheating]") {
  CheatReport report;
  report.may_second_m = 7, report.honest_second_m = 6, report.second_m = 8.3;
  CHECK(report.gained_second_m() == 0);
  report.second_m = 10.5;
  CHECK(report.gained_second_m() == Approx(3.5));
  report.honest_second_m = 9;
  CHECK(report.gained_second_m() == 0);
  report.step_m = 3, report.may_step_m = 0.1, report.honest_step_m = 0.2;
  CHECK(report.gained_step_m() == Approx(2.8));
}

TEST_CASE("shots of a second are those of one world", "[client_sim][load][cheating]") {
  ShotCount shots;
  for (std::uint32_t i = 0; i < 12; ++i) shots.add(1, 100'000 + 60 * i, 60);
  CHECK(shots.second() == 1);
  for (std::uint32_t i = 0; i < 12; ++i) shots.add(2, 100 + 60 * i, 60);
  shots.add(3, 800, 60);
  CHECK(shots.second() == 1);
  shots.add(3, 859, 60);
  CHECK(shots.second() == 2);
  CHECK(shots.shots() == 26);
}
