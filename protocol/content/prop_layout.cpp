#include "protocol/content/prop_layout.h"

#include <bit>
#include <unordered_map>

#include "protocol/content/columns.h"
#include "protocol/messages.h"
#include "protocol/text.h"
#include "world/math/hash.h"

namespace ashlar {
namespace {

constexpr std::size_t corners_max = std::size_t{1} << 21;

/// A corner by its bits: 0 and -0 are two.
using CornerBits = std::array<std::uint64_t, 3>;
struct CornerHash {
  std::size_t operator()(const CornerBits& bits) const {
    Hasher h;
    for (const std::uint64_t b : bits) h.add(b);
    return static_cast<std::size_t>(h.value());
  }
};

/// Names each corner once, in the order in which they come.
PropModel shared_corners(const std::vector<Triangle>& triangles) {
  PropModel out;
  std::unordered_map<CornerBits, std::uint32_t, CornerHash> known;  // looked up, never iterated
  const auto index_of = [&](DVec3 p) {
    const CornerBits bits{std::bit_cast<std::uint64_t>(p.x), std::bit_cast<std::uint64_t>(p.y),
                          std::bit_cast<std::uint64_t>(p.z)};
    const auto [at, fresh] = known.try_emplace(bits, static_cast<std::uint32_t>(out.vertices.size()));
    if (fresh) out.vertices.push_back(p);
    return at->second;
  };
  out.triangles.reserve(triangles.size());
  for (const Triangle& t : triangles) {
    const std::uint32_t a = index_of(t.a), b = index_of(t.b), c = index_of(t.c);
    out.triangles.push_back({a, b, c});
  }
  return out;
}

bool read_corners(ByteReader& r, PropModel& model) {
  std::size_t count = 0;
  if (!read_count(r, 3, corners_max, count)) return false;
  model.vertices.resize(count);
  return read_numbers(r, model.vertices, [](DVec3& p, double v) { p.x = v; }) &&
         read_numbers(r, model.vertices, [](DVec3& p, double v) { p.y = v; }) &&
         read_numbers(r, model.vertices, [](DVec3& p, double v) { p.z = v; });
}

bool read_triangles(ByteReader& r, PropModel& model) {
  std::size_t count = 0;
  if (!read_count(r, 3, TriangleMesh::triangles_max, count)) return false;
  model.triangles.resize(count);
  std::int64_t named = 0;
  const auto corners = static_cast<std::int64_t>(model.vertices.size());
  for (auto& triangle : model.triangles)
    for (std::uint32_t& corner : triangle) {
      const std::int64_t back = r.svarint();
      if (!r.ok() || back < 0 || back > named || named - back >= corners) return false;
      corner = static_cast<std::uint32_t>(named - back);
      if (back == 0) ++named;
    }
  return true;
}

}  // namespace

std::expected<std::vector<std::uint8_t>, std::string> lay_out(const Prop& prop) {
  if (!valid_text(prop.name(), 1, prop_name_bytes_max))
    return std::unexpected("its name is not one of 1 to " + std::to_string(prop_name_bytes_max) + " bytes");
  const PropModel model = shared_corners(prop.mesh().triangles_as_given());
  std::vector<std::uint8_t> out;
  ByteWriter w(out);
  w.text(prop.name());
  w.u8(prop.up() == ModelUp::z ? 1 : 0);
  const PropPlace& at = prop.at();
  w.f64(at.position_m.x), w.f64(at.position_m.y), w.f64(at.position_m.z), w.f64(at.scale);
  w.u16(static_cast<std::uint16_t>(at.yaw));
  w.varint(model.vertices.size());
  write_numbers(w, model.vertices, [](const DVec3& v) { return v.x; });
  write_numbers(w, model.vertices, [](const DVec3& v) { return v.y; });
  write_numbers(w, model.vertices, [](const DVec3& v) { return v.z; });
  w.varint(model.triangles.size());
  std::uint32_t named = 0;
  for (const auto& triangle : model.triangles)
    for (const std::uint32_t corner : triangle) {
      w.svarint(std::int64_t{named} - std::int64_t{corner});
      if (corner == named) ++named;
    }
  return out;
}

std::expected<PropContent, std::string> read_prop_layout(std::span<const std::uint8_t> layout) {
  ByteReader r(layout);
  PropContent out;
  out.in_world.name = r.text(prop_name_bytes_max);
  const std::uint8_t up = r.u8();
  out.in_world.up = up != 0 ? ModelUp::z : ModelUp::y;
  out.place.position_m.x = r.f64(), out.place.position_m.y = r.f64(), out.place.position_m.z = r.f64();
  out.place.scale = r.f64();
  out.place.yaw = Turn16{r.u16()};
  const bool head = r.ok() && up <= 1 && valid_text(out.in_world.name, 1, prop_name_bytes_max);
  if (!head || !read_corners(r, out.in_world) || !read_triangles(r, out.in_world))
    return std::unexpected("its prop ends early, or holds what no prop may");
  if (!r.at_end()) return std::unexpected("something is behind its prop");
  return out;
}

}  // namespace ashlar
