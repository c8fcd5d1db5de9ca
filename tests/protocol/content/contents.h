#pragma once
#include <memory>

#include "tests/world/bsp/maps.h"
#include "world/collide/prop.h"
#include "world/math/random.h"

// Props for tests of content: triangles between random corners, some without area, some corners shared.

namespace ashlar::testing {

inline std::shared_ptr<const Prop> random_prop(std::uint64_t seed) {
  Rng rng = rng_for(seed, 77);
  PropModel model;
  model.name = "prop" + std::to_string(seed) + ".obj";
  model.up = rng.below(2) == 0 ? ModelUp::y : ModelUp::z;
  const auto coordinate = [&] { return rng.below(4000) / 1000.0 - 2; };
  for (std::uint32_t i = 3 + rng.below(60); i > 0; --i)
    model.vertices.push_back({coordinate(), coordinate(), coordinate()});
  const auto corner = [&] { return rng.below(static_cast<std::uint32_t>(model.vertices.size())); };
  model.triangles.push_back({0, 1, 2});
  for (std::uint32_t i = rng.below(120); i > 0; --i) {
    const std::uint32_t a = corner(), b = corner(), c = corner();
    model.triangles.push_back({a, b, c});
  }
  const double x = rng.below(100000) / 7.0 - 5000, y = rng.below(100000) / 7.0 - 5000,
               z = rng.below(90) / 7.0;
  const PropPlace place{{x, y, z},
                        Turn16{static_cast<std::uint16_t>(rng.below(65536))},
                        static_cast<float>(0.1 + rng.below(40) / 10.0)};
  auto prop = Prop::place(model, place);
  if (!prop) FAIL(prop.error());
  return *prop;
}

}  // namespace ashlar::testing
