#include "server/tools/export_obj.h"

#include "tests/catch.h"
#include "world/content/obj.h"
#include "world/math/random.h"

namespace ashlar::server {
namespace {

/// A volume of air around the origin.
std::unique_ptr<VoxelVolume> air() {
  auto volume = std::make_unique<VoxelVolume>();
  for (const std::int32_t x : {-1, 0})
    for (const std::int32_t y : {-1, 0})
      for (const std::int32_t z : {-1, 0})
        volume->insert_chunk({x, y, z}, std::make_unique<Chunk>(BlockId::air));
  return volume;
}

constexpr BlockBox box{{-8, -8, -8}, {8, 8, 8}};

ObjModel export_box(const VoxelVolume& volume) {
  return export_obj(volume, box, BlockRegistry::builtin(), "m.mtl");
}

PropModel read_back(const ObjModel& model) {
  const auto read =
      read_obj({reinterpret_cast<const std::uint8_t*>(model.obj.data()), model.obj.size()}, "m");
  REQUIRE(read.has_value());
  return *read;
}

/// What the triangles close in, m^3: positive where they face outwards.
double volume_of(const PropModel& model) {
  double sum = 0;
  for (const auto& t : model.triangles)
    sum += dot(model.vertices[t[0]], cross(model.vertices[t[1]], model.vertices[t[2]])) / 6;
  return sum;
}

}  // namespace

TEST_CASE("neighbouring faces of one kind are one rectangle", "[server][tools][export_obj]") {
  const auto volume = air();
  for (int x = 0; x < 3; ++x)
    for (int z = 0; z < 2; ++z) volume->set_block({x, 1, z}, BlockId::brick);
  const ObjModel model = export_box(*volume);
  CHECK(model.faces == 6);
  CHECK(model.obj.find("usemtl brick") != std::string::npos);
  CHECK(model.obj.find("mtllib m.mtl") != std::string::npos);
  CHECK(model.mtl.find("newmtl brick") != std::string::npos);
  const PropModel prop = read_back(model);
  CHECK(prop.triangles.size() == 12);
  CHECK(volume_of(prop) == Approx(6).margin(1e-9));
}

TEST_CASE("a model stands as its blocks did", "[server][tools][export_obj]") {
  const auto volume = air();
  volume->set_block({2, -3, 4}, BlockId::stone);
  DVec3 low{99, 99, 99}, high{-99, -99, -99};
  for (const DVec3& v : read_back(export_box(*volume)).vertices) {
    low = {std::min(low.x, v.x), std::min(low.y, v.y), std::min(low.z, v.z)};
    high = {std::max(high.x, v.x), std::max(high.y, v.y), std::max(high.z, v.z)};
  }
  // The origin is in the middle of the lower face, at the height of -8.
  CHECK(low == DVec3{2, -3, 12});
  CHECK(high == DVec3{3, -2, 13});
}

TEST_CASE("whatever is exported closes in the volume of its blocks", "[server][tools][export_obj]") {
  const std::uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Rng rng{seed};
  const auto volume = air();
  int blocks = 0;
  for (std::int32_t x = box.min.x; x < box.max.x; ++x)
    for (std::int32_t y = box.min.y; y < box.max.y; ++y)
      for (std::int32_t z = box.min.z; z < box.max.z; ++z) {
        const std::uint32_t pick = rng.below(4);
        if (pick > 1) continue;
        volume->set_block({x, y, z}, pick == 0 ? BlockId::stone : BlockId::dirt);
        ++blocks;
      }
  CHECK(volume_of(read_back(export_box(*volume))) == Approx(blocks).margin(1e-6));
}

TEST_CASE("glass hides nothing, and a slab shows all its faces", "[server][tools][export_obj]") {
  const auto volume = air();
  volume->set_block({0, 0, 0}, BlockId::stone);
  volume->set_block({1, 0, 0}, BlockId::glass);
  // The stone's face shows through the glass; the glass's own is against stone.
  CHECK(export_box(*volume).faces == 11);
  const auto slabs = air();
  const auto slab = BlockRegistry::builtin().find("stone_slab");
  REQUIRE(slab.has_value());
  slabs->set_block({0, 0, 0}, *slab);
  const PropModel prop = read_back(export_box(*slabs));
  CHECK(prop.triangles.size() == 12);
  CHECK(volume_of(prop) == Approx(0.5).margin(1e-9));
}

}  // namespace ashlar::server
