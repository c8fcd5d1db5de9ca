#include "protocol/content/content.h"

#include <zstd.h>

#include <chrono>
#include <cstdio>

#include "protocol/bytes.h"
#include "protocol/content/effort.h"
#include "protocol/content/map_layout.h"
#include "protocol/content/prop_layout.h"
#include "tests/protocol/content/contents.h"
#include "tests/slowness.h"
#include "tests/world/bsp/random_maps.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// What decoding made of bytes that it should take.
Content must_decode(std::span<const std::uint8_t> bytes, std::uint64_t hash) {
  auto content = decode_content(bytes, hash);
  if (!content) FAIL(content.error());
  return std::move(*content);
}

std::vector<std::uint8_t> must_encode(const Content& content) {
  auto bytes = encode_content(content);
  if (!bytes) FAIL(bytes.error());
  return std::move(*bytes);
}

/// All that a world reads of a map.
void check_same(const PlacedMap& a, const PlacedMap& b) {
  CHECK(a.content_hash() == b.content_hash());
  CHECK(a.name() == b.name());
  CHECK(content_hash(a.source()) == content_hash(b.source()));
  CHECK(a.box().min == b.box().min);
  CHECK(a.box().max == b.box().max);
  CHECK(std::ranges::equal(a.initial_heights(), b.initial_heights()));
  CHECK(a.tree().nodes.size() == b.tree().nodes.size());
  REQUIRE(a.things().size() == b.things().size());
  for (std::size_t i = 0; i < a.things().size(); ++i) {
    CHECK(a.things()[i].position_m == b.things()[i].position_m);
    CHECK(a.things()[i].yaw == b.things()[i].yaw);
    CHECK(a.things()[i].type == b.things()[i].type);
  }
  REQUIRE(a.doorways().size() == b.doorways().size());
  for (std::size_t i = 0; i < a.doorways().size(); ++i)
    CHECK(a.doorways()[i].foot_m == b.doorways()[i].foot_m);
  CHECK(a.options().origin_block == b.options().origin_block);
  CHECK(a.options().surface_z == b.options().surface_z);
  CHECK(a.options().doors_open == b.options().doors_open);
  CHECK(a.options().doorway == b.options().doorway);
}

std::shared_ptr<const PlacedMap> round_trip(const std::shared_ptr<const PlacedMap>& map) {
  const auto bytes = must_encode(map);
  const auto content = must_decode(bytes, map->content_hash());
  const auto* again = std::get_if<std::shared_ptr<const PlacedMap>>(&content);
  REQUIRE(again != nullptr);
  check_same(*map, **again);
  CHECK(must_encode(content) == bytes);
  return *again;
}

PlaceOptions random_place(Rng& rng) {
  PlaceOptions options;
  options.origin_block = {static_cast<std::int32_t>(rng.below(2000)) - 1000,
                          static_cast<std::int32_t>(rng.below(2000)) - 1000};
  options.surface_z = static_cast<std::int32_t>(rng.below(100)) - 50;
  options.doors_open = rng.below(2) != 0;
  options.doorway = rng.below(2) != 0;
  return options;
}

/// An envelope around any frame.
std::vector<std::uint8_t> wrapped(std::uint32_t told, std::span<const std::uint8_t> frame,
                                  std::uint8_t kind = 1) {
  std::vector<std::uint8_t> bytes;
  ByteWriter w(bytes);
  w.u32(content_magic), w.u8(content_format), w.u8(kind), w.u16(0), w.u32(told);
  bytes.insert(bytes.end(), frame.begin(), frame.end());
  return bytes;
}

std::vector<std::uint8_t> zstd_frame(std::span<const std::uint8_t> raw, bool says_size = true) {
  std::vector<std::uint8_t> out(ZSTD_compressBound(raw.size()));
  ZSTD_CCtx* c = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, says_size ? 1 : 0);
  out.resize(ZSTD_compress2(c, out.data(), out.size(), raw.data(), raw.size()));
  ZSTD_freeCCtx(c);
  return out;
}

/// The layout within the bytes, changed and packed again.
template <class Change>
std::vector<std::uint8_t> with_layout(std::span<const std::uint8_t> bytes, Change change) {
  auto envelope = unpack(bytes);
  REQUIRE(envelope);
  change(envelope->layout);
  auto packed = pack(envelope->kind, envelope->layout);
  REQUIRE(packed);
  return *packed;
}

}  // namespace

TEST_CASE("a map comes out of its bytes as it stands", "[protocol][content]") {
  for (const bool open : {false, true})
    for (const bool doorway : {false, true}) {
      PlaceOptions options;
      options.origin_block = {-70, 30};
      options.surface_z = 11;
      options.doors_open = open;
      options.doorway = doorway;
      round_trip(must_place(builtin_map(), options));
    }
}

TEST_CASE("every Freedoom map comes out of its bytes as it stands", "[protocol][content][freedoom]") {
  Rng rng(3);
  each_freedoom_map([&](const SectorMap& map, const std::string&, std::uint64_t) {
    round_trip(must_place(map, random_place(rng)));
  });
}

TEST_CASE("maps that nobody drew come out of their bytes as they stand", "[protocol][content]") {
  for (std::uint64_t seed = 0; seed < 200 / test::slowness; ++seed) {
    CAPTURE(seed);
    RandomMap drawn(seed);
    if (seed % 2 != 0) drawn.contradict();
    SectorMap map = drawn.map();
    Rng rng(seed);
    for (MapLine& line : map.lines) {
      if (rng.below(8) == 0) line.special = static_cast<std::uint16_t>(rng.below(65536));
      if (rng.below(8) == 0) line.tag = static_cast<std::uint16_t>(rng.below(65536));
      if (rng.below(8) == 0) line.flags = static_cast<std::uint32_t>(rng.next_u32());
      if (rng.below(8) == 0) line.args[rng.below(5)] = static_cast<std::int32_t>(rng.next_u32());
    }
    for (MapSector& s : map.sectors)
      s.floor_flat = texture_name("FLAT" + std::to_string(rng.below(4))),
      s.tag = static_cast<std::uint16_t>(rng.below(9));
    for (std::uint32_t i = rng.below(20); i > 0; --i)
      map.things.push_back({-0.0, rng.below(1000) / 7.0, static_cast<std::int16_t>(rng.next_u32()),
                            static_cast<std::uint16_t>(rng.next_u32()),
                            static_cast<std::uint16_t>(rng.next_u32())});
    if (rng.below(2) == 0) map.specials = SpecialNumbers::zdoom;
    const auto placed = place_map(map, random_place(rng));
    if (!placed || too_laborious(map)) continue;
    round_trip(*placed);
  }
}

TEST_CASE("props come out of their bytes as they stand", "[protocol][content]") {
  for (std::uint64_t seed = 0; seed < 60 / test::slowness; ++seed) {
    CAPTURE(seed);
    const auto prop = random_prop(seed);
    const auto bytes = must_encode(prop);
    const auto content = must_decode(bytes, prop->content_hash());
    const auto* again = std::get_if<std::shared_ptr<const Prop>>(&content);
    REQUIRE(again != nullptr);
    CHECK((*again)->name() == prop->name());
    CHECK((*again)->at() == prop->at());
    CHECK((*again)->up() == prop->up());
    CHECK((*again)->mesh().size() == prop->mesh().size());
    CHECK((*again)->bounds().min == prop->bounds().min);
    CHECK((*again)->bounds().max == prop->bounds().max);
    CHECK(must_encode(content) == bytes);
  }
}

TEST_CASE("content that is not what was asked for is refused", "[protocol][content]") {
  const auto map = must_place(builtin_map());
  const auto bytes = must_encode(map);
  CHECK(decode_content(bytes, map->content_hash() + 1).error().find("not what was asked for") !=
        std::string::npos);
  // One number in it is another, and all of it is well formed.
  PlaceOptions elsewhere = map->options();
  elsewhere.surface_z = 1;
  CHECK_FALSE(decode_content(must_encode(must_place(builtin_map(), elsewhere)), map->content_hash()));
}

TEST_CASE("content that is cut or goes on is refused", "[protocol][content]") {
  const Content contents[] = {must_place(builtin_map()), random_prop(1)};
  for (const Content& content : contents) {
    const auto bytes = must_encode(content);
    const std::uint64_t hash = content_hash(content);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      REQUIRE_FALSE(decode_content(
          std::vector(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)), hash));
    auto longer = bytes;
    longer.push_back(0);
    CHECK_FALSE(decode_content(longer, hash));
    // Also where the frame is whole and its layout is not.
    const std::size_t layout_bytes = unpack(bytes)->layout.size();
    for (std::size_t size = 0; size < layout_bytes; size += 1 + size / 64)
      REQUIRE_FALSE(decode_content(with_layout(bytes, [&](auto& l) { l.resize(size); }), hash));
    CHECK(decode_content(with_layout(bytes, [](auto& l) { l.push_back(0); }), hash).error().find("behind") !=
          std::string::npos);
  }
}

TEST_CASE("content in which any byte is another is refused or the same", "[protocol][content]") {
  const Content contents[] = {must_place(builtin_map()), random_prop(2)};
  for (const Content& content : contents) {
    const auto bytes = must_encode(content);
    const auto layout = unpack(bytes)->layout;
    Rng rng(5);
    for (std::uint32_t i = 0; i < 1000 / (test::slowness * test::slowness); ++i) {
      auto wrong = layout;
      for (std::uint32_t n = 1 + rng.below(3); n > 0; --n)
        wrong[rng.below(static_cast<std::uint32_t>(wrong.size()))] =
            static_cast<std::uint8_t>(rng.next_u32());
      const ContentKind kind = unpack(bytes)->kind;
      if (kind == ContentKind::map) {
        const auto map = read_map_layout(wrong);
        if (map) CHECK(map->map.name.size() <= 16);
        if (!map) CHECK(map.error().find('\n') == std::string::npos);
      } else {
        const auto prop = read_prop_layout(wrong);
        if (prop)
          for (const auto& t : prop->in_world.triangles)
            for (const auto corner : t) REQUIRE(corner < prop->in_world.vertices.size());
      }
    }
    for (std::size_t i = 0; i < bytes.size(); i += 1 + bytes.size() * test::slowness * test::slowness / 500) {
      auto wrong = bytes;
      wrong[i] ^= static_cast<std::uint8_t>(1 + rng.below(255));
      const auto decoded = decode_content(wrong, content_hash(content));
      if (decoded) CHECK(content_hash(*decoded) == content_hash(content));
    }
  }
}

TEST_CASE("an envelope that would take more than it may is refused before it does", "[protocol][content]") {
  const std::vector<std::uint8_t> zeros(std::size_t{1} << 20, 0);
  // A bomb: a megabyte in a few bytes, which the header does not admit to.
  const auto frame = zstd_frame(zeros);
  CHECK(frame.size() < 200);
  CHECK(unpack(wrapped(1 << 20, frame)));
  CHECK_FALSE(unpack(wrapped(1000, frame)));
  CHECK_FALSE(unpack(wrapped(2 << 20, frame)));
  // More than content may hold, although both say so.
  const std::vector<std::uint8_t> many(content_layout_bytes_max + 1, 0);
  CHECK(
      unpack(wrapped(static_cast<std::uint32_t>(many.size()), zstd_frame(many))).error().find("more than") !=
      std::string::npos);
  // One that does not say how much it holds, one with two, none.
  CHECK_FALSE(unpack(wrapped(1 << 20, zstd_frame(zeros, false))));
  // By hand: magic, descriptor with a size of four bytes, window 2^(10 + n), size, one block of a byte
  // repeated.
  const auto with_window = [](std::uint8_t exponent) {
    std::vector<std::uint8_t> out;
    ByteWriter w(out);
    w.u32(0xfd2fb528), w.u8(0x80), w.u8(static_cast<std::uint8_t>(exponent << 3)), w.u32(1000);
    const std::uint32_t block = 1 | 1 << 1 | 1000 << 3;
    w.u8(block & 0xff), w.u8(block >> 8 & 0xff), w.u8(block >> 16), w.u8(7);
    return wrapped(1000, out);
  };
  CHECK(unpack(with_window(13)).value().layout == std::vector<std::uint8_t>(1000, 7));
  CHECK(unpack(with_window(14)).error().find("memory") != std::string::npos);
  auto two = frame;
  two.insert(two.end(), frame.begin(), frame.end());
  CHECK_FALSE(unpack(wrapped(1 << 20, two)));
  CHECK_FALSE(unpack(wrapped(0, {})));
  CHECK_FALSE(unpack(wrapped(1 << 20, frame, 3)));
  CHECK_FALSE(unpack(std::vector<std::uint8_t>(content_bytes_max + 1, 0)));
  // What cannot be sent is not made: neither too long laid out nor compressed.
  CHECK_FALSE(pack(ContentKind::map, many));
  std::vector<std::uint8_t> noise(content_bytes_max + 1000);
  Rng rng(1);
  for (std::uint8_t& b : noise) b = static_cast<std::uint8_t>(rng.next_u32());
  CHECK_FALSE(pack(ContentKind::map, noise));
}

TEST_CASE("counts in a layout make no room for what is not there", "[protocol][content]") {
  std::vector<std::uint8_t> layout;
  ByteWriter w(layout);
  w.text("MAP01"), w.u8(0), w.svarint(0), w.svarint(0), w.svarint(0);
  w.varint(200000);  // vertices
  CHECK_FALSE(read_map_layout(layout));
  layout.clear();
  w.text("crate"), w.u8(0);
  for (int i = 0; i < 4; ++i) w.f64(1);
  w.u16(0), w.varint(2000000);
  CHECK_FALSE(read_prop_layout(layout));
}

TEST_CASE("content that would keep a client busy is refused", "[protocol][content]") {
  SECTION("lines that all cross each other") {
    MapWriter w;
    const auto room = w.sector(0, 128);
    for (int i = 0; i < 200; ++i) w.line({0, 10.0 * i}, {2000, 2000 - 10.0 * i}, room);
    CHECK(too_laborious(w.map)->find("cross") != std::string::npos);
  }
  SECTION("lines that each act on every sector") {
    MapWriter w;
    for (int i = 0; i < 5000; ++i) {
      const auto s = w.sector(0, 128);
      w.map.sectors[s].tag = 1;
      MapLine& line =
          w.line({64.0 * (i % 100), 64.0 * (i / 100)}, {64.0 * (i % 100) + 32, 64.0 * (i / 100)}, s);
      line.special = 19, line.tag = 1;
    }
    CHECK(too_laborious(w.map)->find("act on") != std::string::npos);
  }
  SECTION("lines without end") {
    MapWriter w;
    const auto room = w.sector(0, 128);
    for (int i = 0; i < 600; ++i) w.line({-65000, 0.0 + i}, {65000, 0.0 + i}, room);
    CHECK(too_laborious(w.map)->find("too long") != std::string::npos);
  }
  SECTION("triangles as large as a prop may be") {
    PropModel model;
    model.vertices = {{0, 0, 0}, {60, 0, 60}, {0, 60, 60}};
    for (int i = 0; i < 20; ++i) model.triangles.push_back({0, 1, 2});
    CHECK(too_laborious(model).has_value());
    model.triangles.resize(2);
    CHECK_FALSE(too_laborious(model).has_value());
  }
}

TEST_CASE("Freedoom's maps and the one built in are far from any bound of content",
          "[protocol][content][freedoom]") {
  CHECK_FALSE(too_laborious(builtin_map()));
  each_freedoom_map(
      [&](const SectorMap& map, const std::string&, std::uint64_t) {
        CHECK(map.lines.size() * 2 < content_lines_max);
        CHECK_FALSE(too_laborious(map));
      },
      3 * static_cast<int>(test::slowness));
}

TEST_CASE("sizes and times of Freedoom's maps", "[.][content_figures]") {
  std::printf("%-8s %7s %9s %9s %8s %8s\n", "map", "lines", "layout", "bytes", "encode", "decode");
  const auto ms_since = [](auto at) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - at).count();
  };
  std::size_t raw = 0, packed = 0, maps = 0;
  each_freedoom_map([&](const SectorMap& map, const std::string& name, std::uint64_t) {
    const auto placed = must_place(map);
    const auto layout = lay_out(*placed);
    auto at = std::chrono::steady_clock::now();
    const auto bytes = must_encode(placed);
    const double encode_ms = ms_since(at);
    at = std::chrono::steady_clock::now();
    must_decode(bytes, placed->content_hash());
    const double decode_ms = ms_since(at);
    std::printf("%-8s %7zu %9zu %9zu %8.1f %8.1f\n", name.c_str(), map.lines.size(), layout->size(),
                bytes.size(), encode_ms, decode_ms);
    raw += layout->size(), packed += bytes.size(), ++maps;
  });
  std::printf("%zu maps: %zu bytes laid out, %zu packed\n", maps, raw, packed);
}
