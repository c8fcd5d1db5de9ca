#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "world/bsp/placement.h"

// A map as it was drawn, and how it is placed; all lists field by field (columns.h):
//
//   text    name
//   u8      1 doors open, 2 a doorway is wanted, 4 specials have zdoom's numbers
//   svarint origin x, y, surface z
//   vertices: varint count; numbers x; numbers y
//   flats:    varint count; 8 bytes each
//   sectors:  varint count; numbers floor; numbers ceiling; flat of the floor; sky; special; tag
//   sides:    varint count; sector
//   lines:    varint count; v1; v2 - v1; front; 1 + back - front where there is one, else 0, in two columns
//             (has, difference); flags; special; tag; one byte of bits for the arguments that are not 0, then
//             those as svarint
//   things:   varint count; numbers x; numbers y; angle; type; flags
//
// Textures, light and the flats of ceilings that are no sky are left out: no world depends on them, and the
// content hash does not prove them.

namespace ashlar {

/// A map and how it is to be placed: with these place_map gives the same map again.
struct MapContent {
  SectorMap map;
  PlaceOptions options;  ///< without visibility, which is for each end to decide
};

/// What a placed map was made of. Refused, with a line: a name that does not fit a welcome.
std::expected<std::vector<std::uint8_t>, std::string> lay_out(const PlacedMap& map);

/// Any bytes to a map in which every index is in range and every number within check_map's bounds, or a line
/// that says what is wrong. Takes memory in proportion to the bytes, at most map_records_max of each list.
std::expected<MapContent, std::string> read_map_layout(std::span<const std::uint8_t> layout);

}  // namespace ashlar
