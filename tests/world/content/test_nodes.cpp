#include <zlib.h>

#include "tests/world/bsp/maps.h"
#include "tests/world/content/nodes_writer.h"
#include "world/content/read_nodes.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Both trees tell the same sector everywhere but within a unit of a line.
void same_sectors(const SectorMap& map, const BspTree& a, const BspTree& b) {
  Rng rng = rng_for(30, 0);
  for (int i = 0; i < 20000; ++i) {
    const double x = rng.between(a.bounds.min.x - 20, a.bounds.max.x + 20);
    const DVec2 p{x, rng.between(a.bounds.min.y - 20, a.bounds.max.y + 20)};
    if (a.sector_at(p) == b.sector_at(p)) continue;
    double nearest = 1e300;
    for (const MapLine& line : map.lines) {
      const DVec2 from = map.vertices[line.v1], along = map.vertices[line.v2] - from;
      const double at = std::clamp(dot(p - from, along) / dot(along, along), 0.0, 1.0);
      nearest = std::min(nearest, length(p - from - along * at));
    }
    CAPTURE(p.x, p.y);
    REQUIRE(nearest < 1.5);
  }
}

std::vector<std::uint8_t> packed(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint8_t> out(bytes.begin(), bytes.begin() + 4);
  out[0] = 'Z';
  uLongf size = compressBound(static_cast<uLong>(bytes.size() - 4));
  out.resize(4 + size);
  REQUIRE(compress(out.data() + 4, &size, bytes.data() + 4, static_cast<uLong>(bytes.size() - 4)) == Z_OK);
  out.resize(4 + size);
  return out;
}

}  // namespace

TEST_CASE("extended nodes of every kind give the tree they were written from", "[world][content][nodes]") {
  const SectorMap map = obstacle_map();
  const BspTree ours = build_bsp(map);
  const NodesKind kind = GENERATE(NodesKind::xnod, NodesKind::xgln, NodesKind::xgl2, NodesKind::xgl3);
  const std::vector<std::uint8_t> bytes = write_extended_nodes(map, ours, kind);
  for (const auto& lump : {bytes, packed(bytes)}) {
    const auto nodes = parse_extended_nodes(lump, map);
    if (!nodes) FAIL(nodes.error().line());
    const auto tree = tree_of_nodes(map, *nodes);
    if (!tree) FAIL(tree.error().reason);
    same_sectors(map, ours, *tree);
  }
}

TEST_CASE("extended nodes that are cut off anywhere are refused", "[world][content][nodes]") {
  const SectorMap map = obstacle_map();
  const std::vector<std::uint8_t> bytes = write_extended_nodes(map, build_bsp(map), NodesKind::xgl3);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    CAPTURE(n);
    REQUIRE_FALSE(parse_extended_nodes(std::span(bytes).first(n), map).has_value());
  }
  const std::vector<std::uint8_t> zipped = packed(bytes);
  for (std::size_t n = 0; n + 1 < zipped.size(); n += 3)
    REQUIRE_FALSE(parse_extended_nodes(std::span(zipped).first(n), map).has_value());
}

TEST_CASE("nodes that lie are refused with the place", "[world][content][nodes]") {
  const SectorMap map = obstacle_map();
  const auto good = parse_extended_nodes(write_extended_nodes(map, build_bsp(map), NodesKind::xnod), map);
  REQUIRE(good);
  const auto reason = [&](const auto& damage) {
    MapNodes nodes = *good;
    damage(nodes);
    const auto tree = tree_of_nodes(map, nodes);
    return tree ? std::string() : std::string(tree.error().reason);
  };
  CHECK(reason([](MapNodes&) {}).empty());
  CHECK(reason([](MapNodes& n) { n.nodes.back().child[0] = 99999; }) == "is not there");
  CHECK(reason([](MapNodes& n) { n.nodes[0].child[1] = static_cast<std::uint32_t>(n.nodes.size() - 1); }) ==
        "is reached twice");
  CHECK(reason([](MapNodes& n) { n.nodes[0].dx = n.nodes[0].dy = 0; }) == "has no direction");
  CHECK(reason([](MapNodes& n) { n.subsectors[2].count = 70000; }) == "has segs that are not there");
  CHECK(reason([](MapNodes& n) { n.segs[3].line = 5000; }) == "names a line that is not there");
  CHECK(reason([](MapNodes& n) {
          for (auto& s : n.segs) s.line = no_index;
        }) == "has no seg on a line");
  CHECK(reason([](MapNodes& n) { n.subsectors.clear(); }) == "is not there: the map has no nodes");
  // A chain deeper than a search's stack.
  CHECK(reason([](MapNodes& n) {
          n.nodes.clear();
          for (std::uint32_t i = 0; i < 1000; ++i)
            n.nodes.push_back(
                {0, 0, 1, 0, {i == 0 ? BspTree::leaf_bit : i - 1, BspTree::leaf_bit | (i + 1)}});
          n.subsectors.assign(1002, {0, 1});
        }) == "lies deeper than 442 levels");
}
