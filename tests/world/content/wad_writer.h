#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "world/bsp/sector_map.h"

namespace ashlar::testing {

/// Writes WADs for tests and seeds: the counterpart of the readers, made from the published record layouts.
class WadWriter {
 public:
  using Bytes = std::vector<std::uint8_t>;

  explicit WadWriter(std::string_view kind) : out_(12, 0) { std::memcpy(out_.data(), kind.data(), 4); }

  static void put_u32(Bytes& bytes, std::size_t at, std::uint32_t v) {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(v >> (8 * i));
  }
  static std::uint32_t read_u32(const Bytes& bytes, std::size_t at) {
    std::uint32_t v = 0;
    for (std::size_t i = 0; i < 4; ++i) v |= std::uint32_t{bytes[at + i]} << (8 * i);
    return v;
  }
  static void push_u16(Bytes& bytes, std::uint32_t v) {
    bytes.push_back(static_cast<std::uint8_t>(v));
    bytes.push_back(static_cast<std::uint8_t>(v >> 8));
  }
  static void push_u32(Bytes& bytes, std::uint32_t v) {
    push_u16(bytes, v & 0xffff);
    push_u16(bytes, v >> 16);
  }
  static void push_number(Bytes& bytes, double v) {
    push_u16(bytes, static_cast<std::uint16_t>(static_cast<std::int16_t>(v)));
  }
  static void push_name(Bytes& bytes, const TextureName& name) {
    for (const char c : name) bytes.push_back(static_cast<std::uint8_t>(c));
  }

  void add_lump(std::string_view name, const Bytes& bytes) {
    directory_.push_back({texture_name(name), out_.size(), bytes.size()});
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

  void add_map(std::string_view name, const SectorMap& map, std::size_t extra_bytes_in_sectors = 0) {
    add_lump(name, {});
    Bytes things, lines, sides, vertices, sectors;
    for (const MapThing& t : map.things) {
      push_number(things, t.x), push_number(things, t.y);
      push_number(things, t.angle_deg), push_u16(things, t.type), push_u16(things, t.flags);
    }
    for (const MapLine& l : map.lines) {
      push_u16(lines, l.v1), push_u16(lines, l.v2), push_u16(lines, l.flags);
      push_u16(lines, l.special), push_u16(lines, l.tag);
      push_u16(lines, l.front), push_u16(lines, l.back);
    }
    for (const MapSide& s : map.sides) {
      push_u32(sides, 0);
      push_name(sides, s.upper), push_name(sides, s.lower), push_name(sides, s.middle);
      push_u16(sides, s.sector);
    }
    for (const DVec2& v : map.vertices) push_number(vertices, v.x), push_number(vertices, v.y);
    for (const MapSector& s : map.sectors) {
      push_number(sectors, s.floor), push_number(sectors, s.ceiling);
      push_name(sectors, s.floor_flat), push_name(sectors, s.ceiling_flat);
      push_number(sectors, s.light), push_u16(sectors, s.special), push_u16(sectors, s.tag);
    }
    sectors.resize(sectors.size() + extra_bytes_in_sectors);
    add_lump("THINGS", things);
    add_lump("LINEDEFS", lines);
    add_lump("SIDEDEFS", sides);
    add_lump("VERTEXES", vertices);
    add_lump("SECTORS", sectors);
  }

  Bytes bytes() const {
    Bytes all = out_;
    put_u32(all, 4, static_cast<std::uint32_t>(directory_.size()));
    put_u32(all, 8, static_cast<std::uint32_t>(out_.size()));
    for (const Entry& e : directory_) {
      push_u32(all, static_cast<std::uint32_t>(e.offset));
      push_u32(all, static_cast<std::uint32_t>(e.size));
      push_name(all, e.name);
    }
    return all;
  }

 private:
  struct Entry {
    TextureName name;
    std::size_t offset, size;
  };
  Bytes out_;
  std::vector<Entry> directory_;
};

}  // namespace ashlar::testing
