#include "server/config/ascii_armour.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/catch.h"
#include "world/math/random.h"

namespace {

using namespace ashlar;
using namespace ashlar::server;

TEST_CASE("any UTF-8 comes back from its ASCII form, its lines where they were", "[server][config]") {
  constexpr std::string_view parts[] = {"~",  "~4", "~7E",      "41",           "\n", "\"",
                                        "\\", "a",  "\xc2\xa0", "\xe2\x80\xa8", "#",  "\xf0\x9f\x98\x80"};
  constexpr auto parts_count = static_cast<std::uint32_t>(std::size(parts));
  Rng rng(7);
  for (int round = 0; round < 10'000; ++round) {
    std::string text;
    for (std::uint32_t i = rng.below(12); i > 0; --i) text += parts[rng.below(parts_count)];
    CAPTURE(text);
    const auto ascii = to_ascii(text);
    REQUIRE(ascii.has_value());
    REQUIRE(from_ascii(*ascii) == text);
    REQUIRE(std::ranges::all_of(*ascii, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
    REQUIRE(std::ranges::count(*ascii, '\n') == std::ranges::count(text, '\n'));
  }
}

TEST_CASE("what is not UTF-8 is named by its line", "[server][config]") {
  for (const char* bad :
       {"\x80", "\xc0\xaf", "\xc3", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    CAPTURE(bad);
    CHECK(to_ascii(bad).error() == 1);
    CHECK(to_ascii("\xc3\xa9\n\n" + std::string(bad) + "\n").error() == 3);
  }
  CHECK(to_ascii("\xef\xbb\xbfx") == "x");
}

TEST_CASE("a line knows whether it has a character beyond ASCII", "[server][config]") {
  const std::string text = "a\n\xc3\xa9\nb";
  CHECK(!beyond_ascii(text, 1));
  CHECK(beyond_ascii(text, 2));
  CHECK(!beyond_ascii(text, 3));
  CHECK(!beyond_ascii(text, 9));
  CHECK(!beyond_ascii("", 1));
}

}  // namespace
