#include <zlib.h>

#include "world/content/bytes.h"
#include "world/content/map_check.h"
#include "world/content/read_nodes.h"

// Extended nodes: one lump with its own vertices, 32-bit counts, and in the Z forms packed by zlib.

namespace ashlar {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// Unpacked nodes of the largest map that map_check lets through stay well below this.
constexpr std::size_t unpacked_bytes_max = 64u << 20;

std::unexpected<ContentError> wrong(std::string entry, std::string reason) {
  return std::unexpected(ContentError{"", "", std::move(entry), std::move(reason)});
}

std::expected<std::vector<std::uint8_t>, ContentError> unpack(Bytes packed) {
  std::vector<std::uint8_t> out;
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return wrong("", "zlib cannot start");
  stream.next_in = const_cast<Bytef*>(packed.data());  // zlib reads it only
  stream.avail_in = static_cast<uInt>(packed.size());
  int code = Z_OK;
  while (code == Z_OK && out.size() < unpacked_bytes_max) {
    const std::size_t had = out.size();
    out.resize(std::min(unpacked_bytes_max, had * 2 + 4096));
    stream.next_out = out.data() + had;
    stream.avail_out = static_cast<uInt>(out.size() - had);
    code = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (code == Z_OK) return wrong("", "unpacks to more than 64 MiB");
  if (code != Z_STREAM_END) return wrong("", "the packed nodes are damaged or cut off");
  return out;
}

/// Reads forward; every read checks what is left.
struct Cursor {
  Bytes bytes;
  std::size_t at = 0;
  bool failed = false;

  std::size_t left() const { return bytes.size() - at; }
  bool has(std::size_t count) {
    if (left() < count) failed = true;
    return !failed;
  }
  std::uint32_t u32() {
    if (!has(4)) return 0;
    at += 4;
    return read_u32(bytes, at - 4);
  }
  std::uint16_t u16() {
    if (!has(2)) return 0;
    at += 2;
    return read_u16(bytes, at - 2);
  }
  std::uint8_t u8() {
    if (!has(1)) return 0;
    return bytes[at++];
  }
  double fixed() { return static_cast<std::int32_t>(u32()) * fixed_unit; }
  double whole() { return static_cast<std::int16_t>(u16()); }
};

struct Format {
  bool gl = false;          ///< segs without second vertex, subsectors closed
  bool wide_lines = false;  ///< 32-bit line numbers
  bool fine_nodes = false;  ///< 16.16 partitions
};

class ExtendedNodeReader {
 public:
  ExtendedNodeReader(Bytes bytes, Format format, const SectorMap& map)
      : in_{bytes}, format_(format), map_(map) {}

  std::expected<MapNodes, ContentError> run() {
    if (auto e = vertices(); !e) return std::unexpected(e.error());
    if (auto e = subsectors(); !e) return std::unexpected(e.error());
    if (auto e = segs(); !e) return std::unexpected(e.error());
    if (auto e = nodes(); !e) return std::unexpected(e.error());
    return std::move(out_);
  }

 private:
  using Done = std::expected<void, ContentError>;

  /// A count that the bytes left can hold, before anything is reserved for it.
  std::expected<std::uint32_t, ContentError> count(const char* what, std::size_t record) {
    const std::uint32_t n = in_.u32();
    if (in_.failed) return wrong("", std::string("is cut off before its ") + what);
    if (n > in_.left() / record)
      return wrong("", std::to_string(n) + " " + what + " do not fit into the lump");
    return n;
  }

  Done vertices() {
    const std::uint32_t original = in_.u32();
    if (in_.failed) return wrong("", "is cut off before its vertices");
    if (original > map_.vertices.size())
      return wrong("", "counts " + std::to_string(original) + " vertices of the map, which has " +
                           std::to_string(map_.vertices.size()));
    const auto n = count("vertices", 8);
    if (!n) return std::unexpected(n.error());
    vertices_.assign(map_.vertices.begin(), map_.vertices.begin() + original);
    for (std::uint32_t i = 0; i < *n; ++i) {
      const double x = in_.fixed();
      vertices_.push_back({x, in_.fixed()});
    }
    return {};
  }

  Done subsectors() {
    const auto n = count("subsectors", 4);
    if (!n) return std::unexpected(n.error());
    std::uint64_t first = 0;
    for (std::uint32_t i = 0; i < *n; ++i) {
      const std::uint32_t segs = in_.u32();
      if (first + segs > 0xffffffffu) return wrong("subsector " + std::to_string(i), "has too many segs");
      out_.subsectors.push_back({static_cast<std::uint32_t>(first), segs});
      first += segs;
    }
    return {};
  }

  Done segs() {
    const std::size_t record = format_.wide_lines ? 13 : 11;
    const auto n = count("segs", record);
    if (!n) return std::unexpected(n.error());
    for (std::uint32_t i = 0; i < *n; ++i) {
      const std::uint32_t v1 = in_.u32(), second = in_.u32();  // second: v2, or the partner in GL forms
      MapNodes::Seg seg;
      if (format_.wide_lines) {
        seg.line = in_.u32();
      } else {
        const std::uint16_t line = in_.u16();
        seg.line = line == 0xffff ? no_index : line;
      }
      seg.side = in_.u8() != 0 ? 1 : 0;
      if (v1 >= vertices_.size() || (!format_.gl && second >= vertices_.size()))
        return wrong("seg " + std::to_string(i), "names a vertex that is not there");
      seg.a = vertices_[v1];
      if (!format_.gl) seg.b = vertices_[second];
      out_.segs.push_back(seg);
    }
    if (!format_.gl) return {};
    // A GL seg ends where the next of its subsector begins.
    for (const MapNodes::Subsector& s : out_.subsectors) {
      if (s.first > out_.segs.size() || s.count > out_.segs.size() - s.first) break;  // the tree refuses it
      for (std::uint32_t i = 0; i < s.count; ++i)
        out_.segs[s.first + i].b = out_.segs[s.first + (i + 1 == s.count ? 0 : i + 1)].a;
    }
    return {};
  }

  Done nodes() {
    const auto n = count("nodes", format_.fine_nodes ? 40 : 32);
    if (!n) return std::unexpected(n.error());
    for (std::uint32_t i = 0; i < *n; ++i) {
      MapNodes::Node node;
      for (double* v : {&node.x, &node.y, &node.dx, &node.dy})
        *v = format_.fine_nodes ? in_.fixed() : in_.whole();
      for (int skip = 0; skip < 8; ++skip) in_.u16();  // bounding boxes
      node.child[0] = in_.u32();
      node.child[1] = in_.u32();
      out_.nodes.push_back(node);
    }
    return {};
  }

  Cursor in_;
  Format format_;
  const SectorMap& map_;
  std::vector<DVec2> vertices_;
  MapNodes out_;
};

}  // namespace

std::expected<MapNodes, ContentError> parse_extended_nodes(Bytes lump, const SectorMap& map) {
  if (lump.size() < 4) return wrong("", "is too short for extended nodes");
  const std::string_view letters(reinterpret_cast<const char*>(lump.data()), 4);
  Format format;
  const std::string_view kind = letters.substr(1);
  if (kind == "GLN" || kind == "GL2" || kind == "GL3") {
    format.gl = true;
    format.wide_lines = kind != "GLN";
    format.fine_nodes = kind == "GL3";
  } else if (kind != "NOD") {
    return wrong("", "is in no format of nodes that is known here");
  }
  if (letters[0] == 'X') return ExtendedNodeReader(lump.subspan(4), format, map).run();
  if (letters[0] != 'Z') return wrong("", "is in no format of nodes that is known here");
  const auto unpacked = unpack(lump.subspan(4));
  if (!unpacked) return std::unexpected(unpacked.error());
  return ExtendedNodeReader(*unpacked, format, map).run();
}

}  // namespace ashlar
