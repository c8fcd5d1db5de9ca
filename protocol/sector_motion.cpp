#include "protocol/sector_motion.h"

#include "world/math/assert.h"

namespace ashlar {

WireMotion to_wire(const Mover& mover, std::size_t map, double height_m) {
  ASHLAR_ASSERT(map < placed_maps_max);
  ASHLAR_ASSERT(mover.sector <= 0xffff);  // sectors of a Doom map are numbered with 16 bits
  WireMotion out;
  out.height_m = height_m, out.low_m = mover.low_m, out.high_m = mover.high_m;
  out.speed_mps = mover.speed_mps, out.wait_s = mover.wait_s, out.left_s = mover.left_s;
  out.sector = static_cast<std::uint16_t>(mover.sector);
  out.map = static_cast<std::uint8_t>(map);
  out.plane = static_cast<std::uint8_t>(mover.plane);
  out.motion = static_cast<std::uint8_t>(mover.motion);
  out.phase = static_cast<std::uint8_t>(mover.phase);
  out.resume = static_cast<std::uint8_t>(mover.resume);
  out.flags = static_cast<std::uint8_t>((mover.crushes != 0 ? motion_flag::crushes : 0) |
                                        (mover.slows != 0 ? motion_flag::slows : 0) |
                                        (mover.pressed != 0 ? motion_flag::pressed : 0));
  return out;
}

Mover mover_of(const WireMotion& in) {
  Mover m;
  m.fresh = 0;  // it may have started long ago
  m.sector = in.sector;
  m.plane = static_cast<Plane>(in.plane);
  m.motion = static_cast<Motion>(in.motion);
  m.phase = static_cast<MotionPhase>(in.phase);
  m.resume = static_cast<MotionPhase>(in.resume);
  m.crushes = (in.flags & motion_flag::crushes) != 0 ? 1 : 0;
  m.slows = (in.flags & motion_flag::slows) != 0 ? 1 : 0;
  m.pressed = (in.flags & motion_flag::pressed) != 0 ? 1 : 0;
  m.low_m = in.low_m, m.high_m = in.high_m;
  m.speed_mps = in.speed_mps, m.wait_s = in.wait_s, m.left_s = in.left_s;
  return m;
}

bool motion_ok(const WireMotion& in) {
  return in.map < placed_maps_max && in.height_m > -1e5 && in.height_m < 1e5 && mover_sane(mover_of(in));
}

}  // namespace ashlar
