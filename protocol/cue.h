#pragma once
#include "protocol/messages.h"

namespace ashlar {

/// Is it about an entity or has a place, and that in the world?
bool cue_sane(const Cue& cue);
/// A place in steps, the nearest. Precondition: in_bounds(place_m).
IVec3 quantise_cue_place(DVec3 place_m);

}  // namespace ashlar
