#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "world/collide/prop.h"

// A prop's triangles where they stand; all lists field by field (columns.h):
//
//   text    name
//   u8      1: its file's z was up
//   f64     position x, y, z, scale; u16 yaw: how it was placed
//   corners:   varint count; numbers x; numbers y; numbers z: each once, in the order in which triangles
//              first name them
//   triangles: varint count; their corners: svarint n - c each, n being how many were named before

namespace ashlar {

/// Corners in the world frame, and how they came there.
struct PropContent {
  PropModel in_world;
  PropPlace place;
};

/// What a prop is made of. Refused, with a line: a name that does not fit a welcome.
std::expected<std::vector<std::uint8_t>, std::string> lay_out(const Prop& prop);

/// Any bytes to triangles whose corners are all there, or a line that says what is wrong. Coordinates and
/// place are checked by Prop::stand. Takes memory in proportion to the bytes.
std::expected<PropContent, std::string> read_prop_layout(std::span<const std::uint8_t> layout);

}  // namespace ashlar
