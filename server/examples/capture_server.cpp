// A server of a game of one's own (world/examples/capture): all of ashlar-server, but for the rules of play.
// usage: capture_server --map none --terrain flat --monsters 0 [OPTION...], as the bases stand on flat ground
#include <array>
#include <memory>

#include "server/run_server.h"
#include "world/examples/capture/capture.h"
#include "world/voxel/terrain.h"

int main(int argc, char** argv) {
  constexpr double ground_m = ashlar::flat_surface_m;
  const std::array<ashlar::DVec3, 2> bases{{{-8, 0, ground_m}, {8, 0, ground_m}}};
  return ashlar::server::run_server(argc, argv,
                                    [bases] { return std::make_unique<ashlar::examples::Capture>(bases); });
}
