// Shapes of one's own beside the world: what a game asks of zones, crates and grapples that no map knows.
#include <cstdio>

#include "world/collide/ray_shapes.h"
#include "world/collide/shape_pairs.h"

using namespace ashlar;

namespace {

bool near(double a, double b) { return a - b < 1e-9 && b - a < 1e-9; }

}  // namespace

int main() {
  // A zone: does a player stand in it? Touching counts.
  const Aabb shop{{10, 10, 0}, {16, 14, 3}};
  const StandingCylinder customer{{0.3, 1.75}, {9.8, 12, 0}};
  const bool in_shop = touch(customer, shop);

  // A crate that a player walks into: how far and which way it has to go. Swapped, it is the player who goes.
  const Aabb crate{{10, 11.5, 0}, {11, 12.5, 1}};
  const auto pushed = separate(crate, customer);

  // A grapple: where its rope meets a beam, and on which side.
  const Capsule beam{{{20, 0, 4}, {20, 24, 4}}, 0.25};
  const auto hooked = ray_capsule({12, 12, 4}, {1, 0, 0}, 32, beam);

  // A ball that rolls against a wall leaves it by the shortest way, on the side that it came from.
  const DVec3 ball = slide_on_plane({{0.3, 0, 1}, 0.5}, {2, 0, 1}, {0, 0, 0}, {1, 0, 0});

  if (!in_shop || !pushed || !hooked) return 1;
  std::printf(
      "in the shop; the crate goes %.2f m along %.0f %.0f %.0f; the rope is %.2f m long; the ball is at "
      "%.2f\n",
      pushed->depth_m, pushed->normal.x, pushed->normal.y, pushed->normal.z, hooked->t_m, ball.x);
  return near(pushed->depth_m, 0.1) && near(hooked->t_m, 7.75) && near(ball.x, 0.5) ? 0 : 1;
}
