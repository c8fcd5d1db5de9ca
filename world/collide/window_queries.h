#pragma once
#include <optional>

#include "world/math/rounded_box.h"
#include "world/voxel/window.h"

// Queries of an upright shape against the blocks of one window. The caller sees to it that the window covers
// every block that the query can meet (blocks_of its bounds, and one layer below for ground).
// All of them work relative to the window's corner, so they are as exact far from the origin as near it.

namespace ashlar {

/// First block on a way. t == 1 and kind none when the way is free.
struct BlockHit {
  double t = 1;  ///< part of the way that is free
  DVec3 normal{};
  bool hit = false;
  bool started_inside = false;
  IVec3 block{};
};

/// Does the shape overlap a block by more than contact_slop_m?
bool window_overlaps(const BlockWindow& window, const RoundedBox& shape, DVec3 base);

/// First time of impact on the way base -> base + delta, exact; see blocks_sweep (block_queries.h). Considers
/// hits before t_max. Source: the point of the base against each block grown by the shape (Minkowski sum: a
/// rounded square times an interval), columns by columns with one mask for all blocks of a column.
BlockHit window_sweep(const BlockWindow& window, const RoundedBox& shape, DVec3 base, DVec3 delta,
                      double t_max = 1);

/// Top of the highest block at or below z (to contact_slop_m) under the footprint, at most depth_m below.
/// nullopt: none in reach, or the footprint at z is inside a block.
std::optional<double> window_ground(const BlockWindow& window, const RoundedBox& shape, DVec2 centre,
                                    double z, double depth_m);

}  // namespace ashlar
