#include <algorithm>
#include <set>

#include "client_sim/simulation/fault.h"
#include "client_sim/simulation/shrink.h"
#include "tests/catch.h"

using namespace ashlar::simulation;

namespace {

constexpr std::uint32_t hz = 60;

std::vector<Fault> ten_minutes(std::uint64_t seed, const FaultRates& rates = {}) {
  return plan_faults(seed, rates, 16, 10 * 60 * hz, hz);
}

}  // namespace

TEST_CASE("a plan of faults is a function of its seed", "[simulation][fault]") {
  CHECK(ten_minutes(1) == ten_minutes(1));
  CHECK(ten_minutes(1) != ten_minutes(2));
}

TEST_CASE("every kind of fault comes up in ten minutes, about as often as its rate says",
          "[simulation][fault]") {
  std::array<std::size_t, fault_kind_count> seen{};
  constexpr std::size_t plans = 8;
  for (std::uint64_t seed = 1; seed <= plans; ++seed)
    for (const Fault& fault : ten_minutes(seed)) ++seen[static_cast<std::size_t>(fault.kind)];
  const FaultRates rates;
  for (std::size_t k = 0; k < fault_kind_count; ++k) {
    const auto kind = static_cast<FaultKind>(k);
    CAPTURE(name(kind));
    const double expected = rates[kind] * 10 * plans * (concerns_server(kind) ? 1 : 16);
    CHECK(static_cast<double>(seen[k]) > 0.4 * expected);
    CHECK(static_cast<double>(seen[k]) < 2.5 * expected);
  }
}

TEST_CASE("switching one kind of fault off leaves every other as it was", "[simulation][fault]") {
  FaultRates rates;
  rates[FaultKind::delay] = 0;
  std::vector<Fault> expected = ten_minutes(5);
  std::erase_if(expected, [](const Fault& f) { return f.kind == FaultKind::delay; });
  CHECK(ten_minutes(5, rates) == expected);
  CHECK(ten_minutes(5, FaultRates::none()).empty());
}

TEST_CASE("a list of faults survives being written and read", "[simulation][fault]") {
  const std::vector<Fault> faults = ten_minutes(9);
  REQUIRE(faults.size() > 100);
  const auto read = faults_from_text(to_text(faults));
  REQUIRE(read.has_value());
  CHECK(*read == faults);
  const auto commented = faults_from_text("# from seed 9\n\n12 3 loss 4 50\r\n");
  REQUIRE(commented.has_value());
  CHECK(*commented == std::vector<Fault>{{12, 3, FaultKind::loss, 4, 50}});
}

TEST_CASE("a fault that makes no sense is refused with its line", "[simulation][fault]") {
  const auto [text, part] =
      GENERATE(table<const char*, const char*>({{"x 1 loss 0 1", "'x' is no tick"},
                                                {"1 -1 loss 0 1", "'-1' is no number of ticks"},
                                                {"1 1 plague 0 1", "there is no fault 'plague'"},
                                                {"1 1 loss nobody 1", "neither a client's number"},
                                                {"1 1 loss 65535 1", "neither a client's number"},
                                                {"1 1 loss server 1", "concerns one client"},
                                                {"1 1 restart 0 1", "concerns the server"},
                                                {"1 1 freeze 0 1", "concerns the server"},
                                                {"1 1 deaf server 1", "concerns one client"},
                                                {"1 1 loss 0", "wants 'tick ticks"},
                                                {"1 1 loss 0 1 2", "wants 'tick ticks"},
                                                {"9999999999 1 loss 0 1", "is no tick"}}));
  CAPTURE(text);
  const auto read = faults_from_text(std::string("1 1 loss 0 1\n") + text + "\n");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().starts_with("line 2: "));
  CHECK(read.error().find(part) != std::string::npos);
}

TEST_CASE("rates are read over the defaults, and what is no rate is refused", "[simulation][fault]") {
  const auto rates = rates_from_text("all=0,loss=1.25,rate-limit=60", {});
  REQUIRE(rates.has_value());
  CHECK((*rates)[FaultKind::loss] == 1.25);
  CHECK((*rates)[FaultKind::rate_limit] == 60);
  CHECK((*rates)[FaultKind::restart] == 0);
  const auto* const wrong =
      GENERATE("loss", "loss=", "loss=-1", "loss=61", "plague=1", "loss=1e3", "=1", "loss=1.");
  CAPTURE(wrong);
  CHECK_FALSE(rates_from_text(wrong, {}).has_value());
}

TEST_CASE("shrinking finds the faults that matter among many", "[simulation][shrink]") {
  const std::vector<Fault> all = ten_minutes(3);
  const Fault first = all[all.size() / 5], second = all[all.size() / 2], third = all.back();
  const auto has = [](std::span<const Fault> list, const Fault& f) {
    return std::ranges::count(list, f) != 0;
  };
  std::size_t asked = 0;
  const Shrunk shrunk = shrink(all, 400, [&](std::span<const Fault> list) {
    ++asked;
    return has(list, first) && has(list, second) && has(list, third);
  });
  CHECK(shrunk.faults == std::vector<Fault>{first, second, third});
  CHECK(shrunk.runs == asked);
  CHECK(asked <= 400);
}

TEST_CASE("shrinking keeps to its budget and to lists that break", "[simulation][shrink]") {
  const std::vector<Fault> all = ten_minutes(4);
  const Fault needed = all[7];
  for (std::size_t budget = 0; budget < 20; ++budget) {
    CAPTURE(budget);
    const Shrunk shrunk = shrink(
        all, budget, [&](std::span<const Fault> list) { return std::ranges::count(list, needed) != 0; });
    CHECK(shrunk.runs <= budget);
    CHECK(std::ranges::count(shrunk.faults, needed) == 1);
  }
  const Shrunk nothing = shrink(all, 50, [](std::span<const Fault>) { return true; });
  CHECK(nothing.faults.empty());
  CHECK(nothing.runs == 1);
}
