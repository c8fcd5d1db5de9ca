#include "world/sim/rules.h"

namespace ashlar {

bool rules_sane(const Rules& r) {
  const auto within = [](double v, double low, double high) { return v >= low && v <= high; };
  return r.tick_rate_hz >= 10 && r.tick_rate_hz <= 128 && within(r.player.radius_m, 0.05, 0.49) &&
         within(r.player.height_m, 0.1, 4) && within(r.player_eye_m, 0, r.player.height_m) &&
         within(r.step_height_m_max, 0, 1.5) && within(r.gravity_mps2, 0, 200) &&
         within(r.jump_speed_mps, 0, 50) && within(r.walk_speed_mps_max, 0, 60) &&
         within(r.ground_acceleration_mps2, 0, 1000) && within(r.air_acceleration_mps2, 0, 1000) &&
         within(r.ground_friction_per_s, 0, 100) && within(r.fall_speed_mps_max, 0.1, 200) &&
         within(r.shot_interval_s, 0, 60) && within(r.shot_range_m, 1, 1024) && r.player_health >= 1 &&
         within(r.respawn_s, 0, 60);
}

}  // namespace ashlar
