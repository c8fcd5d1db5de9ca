#pragma once
// What `bench_net` plays: who is where, how fast it ticks, and what is asked of it.

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace ashlar::bench {

/// What a scene is asked for; 0: nothing of the kind.
struct Asked {
  double r = 0, r_without_step = 0, r_chacha = 0;
  double p99_ms = 0;
  double payload_per_s = 0;  ///< bytes down to each client
  double kbit_per_s = 0;     ///< likewise, with IP and UDP
};

struct Scene {
  std::string name, what;
  unsigned clients;
  std::vector<std::string> server;
  const char* brain;
  unsigned rate_hz = 60;
  unsigned snapshot_every = 1;
  Asked asked = {};
  bool crowd = false;  ///< all see all: the others whom somebody knows of within 64 m are nearly all
};

/// More than these are light.
inline constexpr unsigned full_clients = 16, all_full_up_to = 500;
inline unsigned full_of(const Scene& scene) {
  return scene.clients > all_full_up_to ? full_clients : scene.clients;
}

/// Of a crowd's others this share at least must be within sight of those who look, or it was none.
inline constexpr double crowd_share_least = 0.9;

inline void append(Scene& scene, std::initializer_list<const char*> words) {
  for (const char* word : words) scene.server.emplace_back(word);
}

/// Two of the built-in maps in corners of the square, so that the ground between them is the home region,
/// which monsters are spread over: without maps all of them stand in 200 m around the middle. The circle has
/// the square's area.
inline Scene spread(unsigned count) {
  const std::string text = std::to_string(count);
  Scene scene{
      "spread" + text, text + " clients + " + text + " monsters spread over 800 m", count, {}, "wander"};
  append(scene, {"--map", "COURTYARD@-304,-304", "--map", "COURTYARD@272,272", "--spawn-radius-m", "450"});
  scene.server.insert(scene.server.end(), {"--monsters", text});
  if (count == 1000) scene.asked = {.r = 2.2, .r_without_step = 1.7, .r_chacha = 1.85, .p99_ms = 16.7};
  return scene;
}

/// All within 10 m on terrain alone.
inline Scene spot(std::string name, std::string what, unsigned count) {
  Scene scene{std::move(name), std::move(what), count, {}, "crowd"};
  append(scene, {"--map", "none", "--monsters", "0", "--spawn-radius-m", "10", "--spawn-x-m", "32",
                 "--spawn-y-m", "32"});
  scene.crowd = true;
  return scene;
}

/// Everybody sees everybody; 320 kbit/s each.
inline Scene crowd(unsigned count) {
  const std::string text = std::to_string(count);
  Scene scene = spot("crowd" + text, text + " clients in one spot, 30 Hz, 320 kbit/s each", count);
  append(scene, {"--tick-rate", "30", "--client-bytes-per-s", "40000"});
  scene.rate_hz = 30;
  scene.asked = {.p99_ms = 33, .kbit_per_s = 320};
  return scene;
}

/// The same at 20 Hz, where all of it should fit.
inline Scene slow_crowd(unsigned count) {
  const std::string text = std::to_string(count);
  Scene scene = spot("slow_crowd" + text, text + " clients in one spot, 20 Hz, 512 kbit/s each", count);
  append(scene, {"--tick-rate", "20", "--client-bytes-per-s", "64000"});
  scene.rate_hz = 20;
  scene.asked = {.p99_ms = 50, .kbit_per_s = 512};
  return scene;
}

/// In the first map, which is MAP01 where Freedoom is.
inline Scene in_map(std::string name, unsigned clients, unsigned monsters, unsigned rate_hz, unsigned every,
                    const Asked& asked) {
  std::string what = std::to_string(clients) + " clients + " + std::to_string(monsters) +
                     " monsters in the first map (MAP01 where Freedoom is), " + std::to_string(rate_hz) +
                     " Hz";
  if (every > 1) what += ", " + std::to_string(rate_hz / every) + " snapshots/s";
  Scene scene{std::move(name), std::move(what), clients, {}, "mixed", rate_hz, every, asked};
  scene.server = {"--monsters",       std::to_string(monsters), "--tick-rate", std::to_string(rate_hz),
                  "--snapshot-every", std::to_string(every)};
  return scene;
}

/// Those that are played unless others are named.
inline std::vector<Scene> usual_scenes() {
  return {in_map("map", 32, 200, 60, 1, {.payload_per_s = 20'000}),
          in_map("map_20", 32, 200, 60, 3, {.payload_per_s = 8'000}),
          in_map("map100", 100, 100, 60, 1, {.r = 2.5}),
          in_map("map200_128", 200, 200, 128, 1, {.r = 2.5}),
          spread(200),
          spread(500),
          spot("spot500", "500 clients in one spot", 500),
          spread(1000),
          crowd(500),
          crowd(1000),
          slow_crowd(1000)};
}

/// A scene by its name: a usual one, or any spreadN, crowdN and slow_crowdN.
inline std::optional<Scene> scene_named(const std::string& name) {
  for (Scene& scene : usual_scenes())
    if (scene.name == name) return std::move(scene);
  for (const std::string kind : {"spread", "crowd", "slow_crowd"}) {
    if (!name.starts_with(kind)) continue;
    const int count = std::atoi(name.c_str() + kind.size());
    if (count < 2 || count > 4000) continue;
    const auto number = static_cast<unsigned>(count);
    return kind == "spread" ? spread(number) : kind == "crowd" ? crowd(number) : slow_crowd(number);
  }
  return std::nullopt;
}

}  // namespace ashlar::bench
