#pragma once
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

#include "world/bsp/tree.h"
#include "world/content/bytes.h"
#include "world/content/wad.h"

// How a classic engine answers, as a baseline in the same run: 16.16 fixed point, the nodes and the REJECT
// lump that the map came with, sight by crossing the nodes and narrowing a slope at every two-sided line.
// Written from the published descriptions of the method; things know their subsector, as they do there.

namespace ashlar::bench {

class ClassicMap {
 public:
  struct Thing {
    std::int32_t x = 0, y = 0, z = 0;  ///< 16.16
    std::uint32_t subsector = 0;
  };

  using Bytes = std::span<const std::uint8_t>;

  /// The lumps SEGS, SSECTORS, NODES and REJECT, unchecked: for maps that are known.
  ClassicMap(const SectorMap& map, Bytes segs, Bytes ssectors, Bytes nodes, Bytes reject)
      : reject_(reject.begin(), reject.end()) {
    for (const MapSector& s : map.sectors) sectors_.push_back({fixed(s.floor), fixed(s.ceiling)});
    for (const MapLine& l : map.lines) {
      const DVec2 a = map.vertices[l.v1], b = map.vertices[l.v2];
      lines_.push_back({{fixed(a.x), fixed(a.y), fixed(b.x - a.x), fixed(b.y - a.y)},
                        map.front_sector(l),
                        map.back_sector(l),
                        0});
    }
    for (std::size_t at = 0; at + node_bytes <= nodes.size(); at += node_bytes) {
      const auto value = [&](std::size_t i) {
        return fixed(static_cast<double>(read_i16(nodes, at + 2 * i)));
      };
      const auto child = [&](std::size_t i) {
        const std::uint32_t v = read_u16(nodes, at + 24 + 2 * i);
        return (v & 0x8000u) != 0 ? (v & 0x7fffu) | BspTree::leaf_bit : v;
      };
      tree_.push_back({{value(0), value(1), value(2), value(3)}, {child(0), child(1)}});
    }
    for (std::size_t at = 0; at + seg_bytes <= segs.size(); at += seg_bytes)
      segs_.push_back(
          {map.vertices[read_u16(segs, at)], map.vertices[read_u16(segs, at + 2)], read_u16(segs, at + 6)});
    for (std::size_t at = 0; at + subsector_bytes <= ssectors.size(); at += subsector_bytes) {
      const std::uint32_t count = read_u16(ssectors, at), first = read_u16(ssectors, at + 2);
      const MapLine& line = map.lines[segs_[first].line];
      const bool back = read_u16(segs, first * seg_bytes + 8) != 0;
      rooms_.push_back({first, count, back ? map.back_sector(line) : map.front_sector(line)});
    }
  }

  std::size_t subsectors() const { return rooms_.size(); }

  /// A thing on the floor of a subsector, in the mean of its segs' ends.
  Thing thing_in(std::uint32_t subsector) const {
    std::int64_t x = 0, y = 0;
    const Room& room = rooms_[subsector];
    for (std::uint32_t i = room.first; i < room.first + room.count; ++i)
      for (const DVec2 p : {segs_[i].a, segs_[i].b}) x += fixed(p.x), y += fixed(p.y);
    const std::int64_t ends = std::int64_t{2} * room.count;
    return {static_cast<std::int32_t>(x / ends), static_cast<std::int32_t>(y / ends),
            sectors_[room.sector].floor, subsector};
  }

  std::uint32_t subsector_at(std::int32_t x, std::int32_t y) const {
    std::uint32_t at = static_cast<std::uint32_t>(tree_.size() - 1);
    while ((at & BspTree::leaf_bit) == 0) {
      const Node& n = tree_[at];
      const std::int64_t left = std::int64_t{n.line.dy >> 16} * (x - n.line.x);
      const std::int64_t right = std::int64_t{n.line.dx >> 16} * (y - n.line.y);
      at = n.child[right <= left ? 0 : 1];
    }
    return at & ~BspTree::leaf_bit;
  }

  /// Eyes at three quarters of 56 units, looking at any part of a body as high.
  bool sees(const Thing& from, const Thing& to) {
    const std::size_t pair = static_cast<std::size_t>(rooms_[from.subsector].sector) * sectors_.size() +
                             rooms_[to.subsector].sector;
    if (pair / 8 < reject_.size() && (reject_[pair / 8] >> (pair % 8) & 1) != 0) return false;
    ++round_;
    eye_z_ = from.z + 42 * one;
    top_ = to.z + 56 * one - eye_z_, bottom_ = to.z - eye_z_;
    way_ = {from.x, from.y, to.x - from.x, to.y - from.y};
    to_ = to;
    return cross(static_cast<std::uint32_t>(tree_.size() - 1));
  }

 private:
  static constexpr std::int32_t one = 65536;
  static constexpr std::size_t seg_bytes = 12, subsector_bytes = 4, node_bytes = 28;
  struct Seg {
    DVec2 a, b;
    std::uint32_t line;
  };
  struct Line {
    std::int32_t x = 0, y = 0, dx = 0, dy = 0;
  };
  struct Wall {
    Line line;
    std::uint32_t front, back, round;
  };
  struct Node {
    Line line;
    std::uint32_t child[2];
  };
  struct Room {
    std::uint32_t first, count, sector;
  };
  struct Heights {
    std::int32_t floor, ceiling;
  };

  static std::int32_t fixed(double v) { return static_cast<std::int32_t>(v * one); }
  static std::int32_t times(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>((std::int64_t{a} * b) >> 16);
  }
  static std::int32_t over(std::int32_t a, std::int32_t b) {
    if ((std::abs(a) >> 14) >= std::abs(b))
      return (a < 0) != (b < 0) ? std::numeric_limits<std::int32_t>::min()
                                : std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>((std::int64_t{a} << 16) / b);
  }
  /// 0 in front, 1 behind, 2 on the line.
  static int side(std::int32_t x, std::int32_t y, const Line& l) {
    if (l.dx == 0) return x == l.x ? 2 : x <= l.x ? (l.dy > 0 ? 1 : 0) : (l.dy < 0 ? 1 : 0);
    if (l.dy == 0) return y == l.y ? 2 : y <= l.y ? (l.dx < 0 ? 1 : 0) : (l.dx > 0 ? 1 : 0);
    const std::int32_t left = (l.dy >> 16) * ((x - l.x) >> 16), right = ((y - l.y) >> 16) * (l.dx >> 16);
    return right < left ? 0 : left == right ? 2 : 1;
  }
  /// Where the way meets a line, as a share of the way.
  static std::int32_t share(const Line& way, const Line& l) {
    const std::int32_t den = times(l.dy >> 8, way.dx) - times(l.dx >> 8, way.dy);
    if (den == 0) return 0;
    return over(times((l.x - way.x) >> 8, l.dy) + times((way.y - l.y) >> 8, l.dx), den);
  }

  bool cross(std::uint32_t at) {
    if ((at & BspTree::leaf_bit) != 0) return cross_room(rooms_[at & ~BspTree::leaf_bit]);
    const Node& n = tree_[at];
    int near = side(way_.x, way_.y, n.line);
    if (near == 2) near = 0;
    if (!cross(n.child[near])) return false;
    return near == side(to_.x, to_.y, n.line) || cross(n.child[near ^ 1]);
  }

  bool cross_room(const Room& room) {
    for (std::uint32_t i = room.first; i < room.first + room.count; ++i) {
      Wall& wall = lines_[segs_[i].line];
      if (wall.round == round_) continue;
      wall.round = round_;
      const Line& l = wall.line;
      if (side(l.x, l.y, way_) == side(l.x + l.dx, l.y + l.dy, way_)) continue;
      if (side(way_.x, way_.y, l) == side(to_.x, to_.y, l)) continue;
      if (wall.back == no_index) return false;
      const Heights &a = sectors_[wall.front], &b = sectors_[wall.back];
      if (a.floor == b.floor && a.ceiling == b.ceiling) continue;
      const std::int32_t high = std::min(a.ceiling, b.ceiling), low = std::max(a.floor, b.floor);
      if (low >= high) return false;
      const std::int32_t part = share(way_, l);
      if (a.floor != b.floor) bottom_ = std::max(bottom_, over(low - eye_z_, part));
      if (a.ceiling != b.ceiling) top_ = std::min(top_, over(high - eye_z_, part));
      if (top_ <= bottom_) return false;
    }
    return true;
  }

  std::vector<std::uint8_t> reject_;
  std::vector<Heights> sectors_;
  std::vector<Wall> lines_;
  std::vector<Node> tree_;
  std::vector<Room> rooms_;
  std::vector<Seg> segs_;
  std::uint32_t round_ = 0;
  Line way_;
  Thing to_;
  std::int32_t eye_z_ = 0, top_ = 0, bottom_ = 0;
};

}  // namespace ashlar::bench
