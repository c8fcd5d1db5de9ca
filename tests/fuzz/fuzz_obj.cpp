#include <cstdint>
#include <cstdlib>

#include "world/content/obj.h"

// Any bytes as a Wavefront OBJ file, read with either axis up. What reads and is small is placed: its tree is
// shallow, its cells answer, and a ray straight through its middle ends in a number.

namespace {

constexpr std::size_t bytes_max = 4096;

void place(const ashlar::PropModel& model) {
  using namespace ashlar;
  for (const DVec3& v : model.vertices)
    if (!is_finite(v)) std::abort();
  for (const auto& triangle : model.triangles)
    for (const std::uint32_t corner : triangle)
      if (corner >= model.vertices.size()) std::abort();
  if (model.triangles.size() > 200) return;
  const auto prop = Prop::place(model, {{100, -100, 5}, Turn16{1234}, 0.001});
  if (!prop) {
    if (prop.error().find('\n') != std::string::npos) std::abort();
    return;
  }
  if ((*prop)->mesh().depth() > TriangleMesh::depth_max) std::abort();
  const DVec3 middle = ((*prop)->bounds().min + (*prop)->bounds().max) * 0.5;
  const RayHit hit = (*prop)->ray(middle + DVec3{0, 0, 70}, {0, 0, -1}, 140);
  if (hit.hit() && !(hit.t_m >= 0 && hit.t_m <= 140)) std::abort();
  (void)(*prop)->overlaps({0.3, 1.75}, middle);
  (void)(*prop)->sweep({0.3, 1.75}, middle + DVec3{3, 0, 0}, {-6, 0.5, 0.25});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  if (size > bytes_max) return 0;
  for (const ModelUp up : {ModelUp::y, ModelUp::z}) {
    const auto model = read_obj({data, size}, "fuzz.obj", up);
    if (model)
      place(*model);
    else if (model.error().line().find('\n') != std::string::npos)
      std::abort();
  }
  return 0;
}
