#include "server/host/ground_column.h"

#include "world/sim/ground_generator.h"

namespace ashlar::server {

GroundColumn make_column(const GroundGenerator& generator, IVec2 column) {
  GroundColumn made{column, {}};
  const ColumnSpan span = column_span(generator.terrain().kind);
  for (std::size_t i = 0; i < span.count(); ++i)
    made.chunks[i] = generator.make_chunk({column.x, column.y, span.low + static_cast<int>(i)});
  return made;
}

}  // namespace ashlar::server
