#include "server/host/ground_column.h"

#include "world/sim/ground_generator.h"

namespace ashlar::server {

GroundColumn make_column(const GroundGenerator& generator, IVec2 column) {
  GroundColumn made{column, {}};
  for (std::size_t i = 0; i < column_chunks; ++i)
    made.chunks[i] = generator.make_chunk({column.x, column.y, World::column_low + static_cast<int>(i)});
  return made;
}

}  // namespace ashlar::server
