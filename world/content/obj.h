#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "world/collide/prop.h"
#include "world/content/content_error.h"

namespace ashlar {

inline constexpr std::size_t obj_bytes_max = std::size_t{64} << 20;
inline constexpr double obj_coordinate_max_m = 1e5;
inline constexpr std::size_t obj_face_corners_max = 256;

/// Reads the geometry of a Wavefront OBJ file: all its groups, polygons cut into triangles, negative indices
/// resolved; materials, texture coordinates and normals are left aside.
/// Refused with a reason: more than obj_bytes_max, a text that is not OBJ, no faces, too many, a face of more
/// than obj_face_corners_max corners, a coordinate that is not a number within obj_coordinate_max_m, an index
/// without its vertex.
std::expected<PropModel, ContentError> read_obj(std::span<const std::uint8_t> bytes, const std::string& name,
                                                ModelUp up = ModelUp::y);

}  // namespace ashlar
