#include "world/content/obj.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wextra"
#endif
#define TINYOBJLOADER_USE_DOUBLE
#define TINYOBJLOADER_IMPLEMENTATION
#include <tiny_obj_loader.h>
#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace ashlar {
namespace {

/// A line that the library must not see.
struct BadLine {
  std::size_t line = 0;  ///< 0: the whole file
  std::string what;
};

/// Takes the first word off the text; empty at its end.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

/// As the message repeats it: foreign and of any length.
std::string quoted(std::string_view word) { return "\"" + std::string(word.substr(0, 24)) + "\""; }

/// Why a corner's line is wrong, or empty. The library takes what it cannot read for 0.
std::string wrong_corner(std::string_view words) {
  for (int axis = 0; axis < 3; ++axis) {
    std::string_view word = take_word(words);
    if (word.empty()) return "a vertex has no three coordinates";
    const std::string_view whole = word;
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool small = error == std::errc::result_out_of_range && word.find("e-") != std::string_view::npos;
    const bool read = (error == std::errc{} || small) && end == word.data() + word.size();
    if (!read || !(std::fabs(value) <= obj_coordinate_max_m))
      return "the coordinate " + quoted(whole) + " is not a number within 100 km";
  }
  return {};
}

/// Likewise a face's: each corner is a vertex's number, with those of texture and normal behind slashes.
std::string wrong_face(std::string_view words) {
  std::size_t corners = 0;
  for (std::string_view word = take_word(words); !word.empty(); word = take_word(words)) {
    if (++corners > obj_face_corners_max)
      return "a face has more than " + std::to_string(obj_face_corners_max) +
             " corners; cut it into triangles";
    const std::string_view vertex = word.substr(0, word.find('/'));
    int number = 0;
    const auto [end, error] = std::from_chars(vertex.data(), vertex.data() + vertex.size(), number);
    if (error != std::errc{} || end != vertex.data() + vertex.size() || number == 0)
      return "a face's corner " + quoted(word) + " is no vertex's number";
  }
  return {};
}

/// The file's corners and faces, everything else left as empty lines. The library reads much that nobody here
/// asks for, some of it past what its types hold (weights of skins, tags). It would also spend too much: its
/// cutting of one polygon into triangles takes the square of the corners, and it keeps every face before any
/// can be counted.
std::expected<std::string, BadLine> corners_and_faces(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 1);
  std::size_t line = 0, faces = 0, corners = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view words = text.substr(0, end);
    const bool both = text.substr(end).starts_with("\r\n");
    text.remove_prefix(std::min(end + (both ? 2 : 1), text.size()));
    words.remove_prefix(std::min(words.find_first_not_of(" \t"), words.size()));
    const bool two = words.size() > 1 && (words[1] == ' ' || words[1] == '\t');
    const bool face = two && words[0] == 'f', corner = two && words[0] == 'v';
    if (face && ++faces > TriangleMesh::triangles_max)
      return std::unexpected(
          BadLine{line, std::string(to_string(MeshError::too_many)) + "; reduce the model"});
    words = words.substr(0, words.find('#'));
    const std::string wrong = face     ? wrong_face(words.substr(1))
                              : corner ? wrong_corner(words.substr(1))
                                       : "";
    if (!wrong.empty()) return std::unexpected(BadLine{line, wrong});
    corners += corner ? 1 : 0;
    if (face || corner) out += words;
    out += '\n';
  }
  if (corners == 0 || faces == 0)
    return std::unexpected(BadLine{0, std::string("not a model: it has no ") +
                                          (corners == 0 ? "vertices (lines of v)" : "faces (lines of f)")});
  return out;
}

/// First line of the library's words, without its trailing end of line.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::expected<PropModel, ContentError> read_obj(std::span<const std::uint8_t> bytes, const std::string& name,
                                                ModelUp up) {
  const auto refuse = [&name](std::string entry, std::string reason) {
    return std::unexpected(ContentError{name, "", std::move(entry), std::move(reason)});
  };
  if (bytes.size() > obj_bytes_max) return refuse("", "the file is larger than 64 MiB; reduce the model");
  if (bytes.empty()) return refuse("", "the file is empty");

  const auto text = corners_and_faces({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!text)
    return refuse(text.error().line == 0 ? "" : "line " + std::to_string(text.error().line),
                  text.error().what);
  tinyobj::ObjReaderConfig config;
  config.triangulate = true;
  config.vertex_color = false;
  tinyobj::ObjReader reader;
  if (!reader.ParseFromString(*text, "", config)) {
    const std::string why = first_line(reader.Error());
    return refuse("", "not an OBJ file" + (why.empty() ? std::string() : ": " + why));
  }
  PropModel model;
  model.name = name;
  model.up = up;
  const auto& numbers = reader.GetAttrib().vertices;
  model.vertices.reserve(numbers.size() / 3);
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
    const DVec3 v = up == ModelUp::y ? DVec3{numbers[i], -numbers[i + 2], numbers[i + 1]}
                                     : DVec3{numbers[i], numbers[i + 1], numbers[i + 2]};
    const bool fine = is_finite(v) && std::fabs(v.x) <= obj_coordinate_max_m &&
                      std::fabs(v.y) <= obj_coordinate_max_m && std::fabs(v.z) <= obj_coordinate_max_m;
    if (!fine)
      return refuse("vertex " + std::to_string(i / 3 + 1), "a coordinate is not a number within 100 km");
    model.vertices.push_back(v);
  }
  for (const tinyobj::shape_t& shape : reader.GetShapes()) {
    std::size_t at = 0;
    for (const auto corners : shape.mesh.num_face_vertices) {
      const std::size_t first = at;
      at += corners;
      if (corners != 3) continue;  // points and lines
      if (at > shape.mesh.indices.size()) return refuse("", "a face has fewer corners than it says");
      std::array<std::uint32_t, 3> triangle{};
      for (std::size_t k = 0; k < 3; ++k) {
        const int index = shape.mesh.indices[first + k].vertex_index;
        if (index < 0 || static_cast<std::size_t>(index) >= model.vertices.size())
          return refuse("face " + std::to_string(model.triangles.size() + 1),
                        "it names a vertex that does not exist");
        triangle[k] = static_cast<std::uint32_t>(index);
      }
      if (model.triangles.size() == TriangleMesh::triangles_max)
        return refuse("", std::string(to_string(MeshError::too_many)) + "; reduce the model");
      model.triangles.push_back(triangle);
    }
  }
  if (model.triangles.empty()) return refuse("", to_string(MeshError::empty));
  return model;
}

}  // namespace ashlar
