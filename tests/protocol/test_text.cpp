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

namespace {

std::string utf8(std::uint32_t c) {
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))};
  if (c < 0x10000)
    return {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3f)),
            static_cast<char>(0x80 | (c & 0x3f))};
  return {static_cast<char>(0xf0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 0x3f)),
          static_cast<char>(0x80 | (c >> 6 & 0x3f)), static_cast<char>(0x80 | (c & 0x3f))};
}

struct Class {
  const char* name;
  bool in_text;  ///< may stand in chat and other texts
  std::vector<std::uint32_t> members;
};

}  // namespace

TEST_CASE("nobody is called what cannot be seen", "[protocol][text]") {
  // Unicode 15.1; of ranges both ends and their middle.
  const std::vector<Class> classes{
      {"Bidi_Control", false, {0x61c, 0x200e, 0x200f, 0x202a, 0x202c, 0x202e, 0x2066, 0x2067, 0x2069}},
      {"fillers and joiners",
       false,
       {0x34f, 0x115f, 0x1160, 0x3164, 0xffa0, 0x17b4, 0x17b5, 0x200b, 0x200c, 0x200d, 0x2060, 0x2064}},
      {"formats",
       false,
       {0xad, 0x180e, 0x206a, 0x206f, 0xfeff, 0xfff9, 0xfffb, 0x13430, 0x1343f, 0x1bca0, 0x1bca3, 0x1d173,
        0x1d17a}},
      {"reserved and tags", false, {0x2065, 0xfff0, 0xfff8, 0xe0000, 0xe0001, 0xe007f, 0xe01ef, 0xe0fff}},
      {"variation selectors", true, {0x180b, 0x180d, 0x180f, 0xfe00, 0xfe0f}},
      {"Zs but U+0020",
       true,
       {0xa0, 0x1680, 0x2000, 0x2001, 0x2003, 0x2005, 0x2007, 0x2009, 0x200a, 0x202f, 0x205f, 0x3000}},
      {"empty letters and signs", true, {0x2800, 0x16fe4, 0x1d159}}};
  for (const Class& what : classes)
    for (const std::uint32_t c : what.members) {
      CAPTURE(what.name, c);
      for (const std::string& name : {utf8(c), "a" + utf8(c) + "b", utf8(c) + "b", "a" + utf8(c)})
        CHECK_FALSE(valid_player_name(name));
      CHECK(valid_text("a" + utf8(c) + "b", 1, 20) == what.in_text);
    }
  for (const std::uint32_t c : {0x21u, 0xa1u, 0x300u, 0x5d0u, 0x627u, 0x915u, 0x2801u, 0x3042u, 0x3163u,
                                0x3165u, 0x4e2du, 0xac00u, 0xffa1u, 0x1f600u, 0x20000u}) {
    CAPTURE(c);
    CHECK(valid_player_name("a" + utf8(c) + "b"));
  }
}

TEST_CASE("a foreign line is shown without what is never drawn, and is UTF-8 within its bounds",
          "[protocol][text]") {
  CHECK(shown_text("plain", 1, 5) == "plain");
  CHECK(shown_text("", 0, 5) == "");
  CHECK_FALSE(shown_text("", 1, 5));
  CHECK_FALSE(shown_text("plain!", 1, 5));
  CHECK(shown_text("a\nb", 1, 5) == "a?b");
  CHECK_FALSE(shown_text("a\x80", 1, 5));
  CHECK(shown_text("a\xe2\x80\x8d"
                   "b",
                   1, 5) == "ab");
  Rng rng{6};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    const std::uint32_t count = rng.below(12);
    for (std::uint32_t c = 0; c < count; ++c) text += utf8(0x2000 + rng.below(0x70));
    const auto shown = shown_text(text, 0, 40);
    REQUIRE(shown.has_value() == (text.size() <= 40));
    if (!shown) continue;
    REQUIRE(valid_text(*shown, 0, 40));
    REQUIRE((valid_text(text, 0, 40) ? *shown == text : shown->size() < text.size()));
  }
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
