#include "world/content/read_nodes.h"

#include "world/content/bytes.h"

namespace ashlar {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t seg_bytes = 12, subsector_bytes = 4, node_bytes = 28;

std::unexpected<ContentError> wrong(std::string lump, std::string entry, std::string reason) {
  return std::unexpected(ContentError{"", std::move(lump), std::move(entry), std::move(reason)});
}

bool begins_with(Bytes bytes, std::string_view letters) {
  if (bytes.size() < letters.size()) return false;
  for (std::size_t i = 0; i < letters.size(); ++i)
    if (bytes[i] != static_cast<std::uint8_t>(letters[i])) return false;
  return true;
}

/// Bit 15 of a 16-bit child marks a subsector.
std::uint32_t child_of(std::uint16_t v) {
  return (v & 0x8000u) != 0 ? (v & 0x7fffu) | BspTree::leaf_bit : std::uint32_t{v};
}

MapNodes::Node node_at(Bytes record) {
  MapNodes::Node n;
  n.x = static_cast<double>(read_i16(record, 0));
  n.y = static_cast<double>(read_i16(record, 2));
  n.dx = static_cast<double>(read_i16(record, 4));
  n.dy = static_cast<double>(read_i16(record, 6));
  return n;
}

std::uint32_t line_index(std::uint16_t v) { return v == 0xffff ? no_index : std::uint32_t{v}; }

ContentError named(const NodesError& error, const std::string& source, const char* lump) {
  static constexpr const char* parts[] = {"node ", "subsector ", "seg "};
  return {source, lump, parts[static_cast<std::size_t>(error.part)] + std::to_string(error.index),
          error.reason};
}

}  // namespace

std::expected<MapNodes, ContentError> parse_classic_nodes(Bytes segs, Bytes ssectors, Bytes nodes,
                                                          const SectorMap& map) {
  if (segs.size() % seg_bytes != 0) return wrong("SEGS", "", "the size is no multiple of 12");
  if (ssectors.size() % subsector_bytes != 0) return wrong("SSECTORS", "", "the size is no multiple of 4");
  if (nodes.size() % node_bytes != 0) return wrong("NODES", "", "the size is no multiple of 28");
  MapNodes out;
  for (std::size_t i = 0; i < segs.size() / seg_bytes; ++i) {
    const Bytes r = segs.subspan(i * seg_bytes, seg_bytes);
    const std::uint16_t v1 = read_u16(r, 0), v2 = read_u16(r, 2);
    if (v1 >= map.vertices.size() || v2 >= map.vertices.size())
      return wrong("SEGS", entry(i), "names a vertex that is not there");
    MapNodes::Seg seg;
    seg.a = map.vertices[v1], seg.b = map.vertices[v2];
    seg.line = read_u16(r, 6);
    seg.side = read_u16(r, 8) != 0 ? 1 : 0;
    out.segs.push_back(seg);
  }
  for (std::size_t i = 0; i < ssectors.size() / subsector_bytes; ++i)
    out.subsectors.push_back(
        {read_u16(ssectors, i * subsector_bytes + 2), read_u16(ssectors, i * subsector_bytes)});
  for (std::size_t i = 0; i < nodes.size() / node_bytes; ++i) {
    const Bytes r = nodes.subspan(i * node_bytes, node_bytes);
    MapNodes::Node n = node_at(r);
    n.child[0] = child_of(read_u16(r, 24));
    n.child[1] = child_of(read_u16(r, 26));
    out.nodes.push_back(n);
  }
  return out;
}

std::expected<MapNodes, ContentError> parse_gl_nodes(Bytes vert, Bytes segs, Bytes ssect, Bytes nodes,
                                                     const SectorMap& map) {
  const bool five = begins_with(vert, "gNd5");
  if (!five && !begins_with(vert, "gNd2")) return wrong("GL_VERT", "", "neither version 2 nor 5 of GL nodes");
  if (begins_with(segs, "gNd3"))
    return wrong("GL_SEGS", "", "version 3 of GL nodes; versions 2 and 5 are read");
  const std::size_t seg_size = five ? 16 : 10, ssect_size = five ? 8 : 4, node_size = five ? 32 : 28;
  if ((vert.size() - 4) % 8 != 0) return wrong("GL_VERT", "", "the size is no multiple of 8");
  if (segs.size() % seg_size != 0) return wrong("GL_SEGS", "", "the size is no multiple of a record's");
  if (ssect.size() % ssect_size != 0) return wrong("GL_SSECT", "", "the size is no multiple of a record's");
  if (nodes.size() % node_size != 0) return wrong("GL_NODES", "", "the size is no multiple of a record's");

  std::vector<DVec2> own;
  for (std::size_t at = 4; at < vert.size(); at += 8)
    own.push_back({read_i32(vert, at) * fixed_unit, read_i32(vert, at + 4) * fixed_unit});
  const auto vertex = [&](std::uint32_t v, std::uint32_t bit) -> const DVec2* {
    const auto& from = (v & bit) != 0 ? own : map.vertices;
    v &= ~bit;
    return v < from.size() ? &from[v] : nullptr;
  };
  MapNodes out;
  for (std::size_t i = 0; i < segs.size() / seg_size; ++i) {
    const Bytes r = segs.subspan(i * seg_size, seg_size);
    const DVec2* a = five ? vertex(read_u32(r, 0), 0x80000000u) : vertex(read_u16(r, 0), 0x8000u);
    const DVec2* b = five ? vertex(read_u32(r, 4), 0x80000000u) : vertex(read_u16(r, 2), 0x8000u);
    if (a == nullptr || b == nullptr) return wrong("GL_SEGS", entry(i), "names a vertex that is not there");
    const std::size_t line_at = five ? 8 : 4;
    out.segs.push_back({*a, *b, line_index(read_u16(r, line_at)),
                        static_cast<std::uint8_t>(read_u16(r, line_at + 2) != 0 ? 1 : 0)});
  }
  for (std::size_t i = 0; i < ssect.size() / ssect_size; ++i) {
    const Bytes r = ssect.subspan(i * ssect_size, ssect_size);
    if (five)
      out.subsectors.push_back({read_u32(r, 4), read_u32(r, 0)});
    else
      out.subsectors.push_back({read_u16(r, 2), read_u16(r, 0)});
  }
  for (std::size_t i = 0; i < nodes.size() / node_size; ++i) {
    const Bytes r = nodes.subspan(i * node_size, node_size);
    MapNodes::Node n = node_at(r);
    for (std::size_t side = 0; side < 2; ++side)
      n.child[side] = five ? read_u32(r, 24 + 4 * side) : child_of(read_u16(r, 24 + 2 * side));
    out.nodes.push_back(n);
  }
  return out;
}

std::expected<BspTree, ContentError> read_map_tree(const WadStack& wads, std::string_view map_name,
                                                   const SectorMap& map) {
  const auto lumps = find_map(wads, map_name);
  if (!lumps) return wrong("", "", "there is no map " + std::string(map_name.substr(0, 32)));
  const WadFile& wad = wads.files[lumps->file];
  const std::string source = wad.name() + " " + map.name;
  const auto bytes = [&](const std::optional<std::size_t>& lump) {
    return lump ? wad.bytes(*lump) : Bytes{};
  };

  const char* lump = "NODES";
  std::expected<MapNodes, ContentError> nodes;
  const Bytes ssectors = bytes(lumps->ssectors), classic = bytes(lumps->nodes);
  if (lumps->gl_nodes) {
    lump = "GL_NODES";
    nodes = parse_gl_nodes(bytes(lumps->gl_vert), bytes(lumps->gl_segs), bytes(lumps->gl_ssect),
                           bytes(lumps->gl_nodes), map);
  } else if (lumps->textmap) {
    lump = "ZNODES";
    if (!lumps->znodes) return std::unexpected(ContentError{source, lump, "", "is missing from the map"});
    nodes = parse_extended_nodes(bytes(lumps->znodes), map);
  } else if (begins_with(ssectors, "XGL") || begins_with(ssectors, "ZGL")) {
    lump = "SSECTORS";
    nodes = parse_extended_nodes(ssectors, map);
  } else if (begins_with(classic, "XNOD") || begins_with(classic, "ZNOD")) {
    nodes = parse_extended_nodes(classic, map);
  } else {
    nodes = parse_classic_nodes(bytes(lumps->segs), ssectors, classic, map);
  }
  if (!nodes) {
    ContentError error = nodes.error();
    error.source = source;
    if (error.lump.empty()) error.lump = lump;
    return std::unexpected(std::move(error));
  }
  auto tree = tree_of_nodes(map, *nodes);
  if (!tree) return std::unexpected(named(tree.error(), source, lump));
  return std::move(*tree);
}

}  // namespace ashlar
