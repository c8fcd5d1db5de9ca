#pragma once
#include <vector>

#include "world/bsp/tree.h"

namespace ashlar {

/// Convex, counter-clockwise, without repeated corners; empty when nothing is left.
using Polygon = std::vector<DVec2>;

/// The rectangle around bounds, grown by a margin.
Polygon rectangle(const MapBounds& bounds, double margin);

/// What a cut leaves on the two sides of a partition.
struct CutPolygon {
  Polygon front, back;
};
/// Cuts a convex polygon along a partition. A part thinner than 1e-6 units is empty.
CutPolygon cut(const Polygon& polygon, const BspTree::Node& along);

/// Does the polygon reach behind the partition by more than this many units?
bool reaches_behind(const Polygon& polygon, const BspTree::Node& along, double by = 1e-6);

/// In square map units; 0 for an empty polygon.
double area(const Polygon& polygon);

}  // namespace ashlar
