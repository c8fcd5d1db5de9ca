#include "protocol/text.h"

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

TEST_CASE("names are 1 to 24 printable characters without spaces at the ends", "[protocol][text]") {
  CHECK(valid_player_name("a"));
  CHECK(valid_player_name("Ada Lovelace"));
  CHECK(valid_player_name("J\xc3\xb6rg"));       // two bytes
  CHECK(valid_player_name("\xe2\x82\xac"));      // three
  CHECK(valid_player_name("\xf0\x9f\x8e\xae"));  // four
  CHECK(valid_player_name(std::string(24, 'x')));
  CHECK_FALSE(valid_player_name(""));
  CHECK_FALSE(valid_player_name(std::string(25, 'x')));
  CHECK_FALSE(valid_player_name(" a"));
  CHECK_FALSE(valid_player_name("a "));
  CHECK_FALSE(valid_player_name("a\nb"));
  CHECK_FALSE(valid_player_name(std::string("a\0b", 3)));
  std::string wide;
  for (int i = 0; i < 24; ++i) wide += "\xf0\x9f\x8e\xae";
  CHECK(valid_player_name(wide));
  CHECK_FALSE(valid_player_name(wide + "x"));
}

TEST_CASE("what is not well-formed UTF-8 is refused", "[protocol][text]") {
  const std::string bad = GENERATE(as<std::string>{}, "\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
                                   "\xe2\x82", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
                                   "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xf0\x9f\x8e");
  CHECK(printable_length(bad) == std::string::npos);
  CHECK(printable_length("ok" + bad) == std::string::npos);
  CHECK(printable_length(bad + "ok") == std::string::npos);
}

TEST_CASE("control, separating and reordering characters are refused", "[protocol][text]") {
  const std::string bad = GENERATE(as<std::string>{}, "\x01", "\x1b", "\x7f", "\xc2\x80", "\xc2\x9f",
                                   "\xe2\x80\xa8", "\xe2\x80\x8b", "\xe2\x80\xae", "\xe2\x81\xa6",
                                   "\xef\xbb\xbf", "\xef\xbf\xbe", "\xf3\xa0\x80\x81");
  CHECK(printable_length(bad) == std::string::npos);
}

TEST_CASE("text of our own is made printable and cut at a character", "[protocol][text]") {
  CHECK(make_printable("plain", 100) == "plain");
  CHECK(make_printable("a\nb\x80", 100) == "a?b?");
  CHECK(make_printable("ab\xc3\xb6", 3) == "ab");
  CHECK(make_printable("ab\xc3\xb6", 4) == "ab\xc3\xb6");
  Rng rng{5};
  for (int i = 0; i < 20000; ++i) {
    std::string text(rng.below(40), ' ');
    for (auto& c : text) c = static_cast<char>(rng.next_u32());
    const std::size_t bytes_max = rng.below(40);
    const std::string out = make_printable(text, bytes_max);
    REQUIRE(valid_text(out, 0, bytes_max));
  }
}
