#include "client_sim/simulation/watch_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "client_sim/harness/format.h"
#include "world/bsp/placement.h"
#include "world/sim/shooting.h"
#include "world/voxel/volume.h"

namespace ashlar::simulation {
namespace {

constexpr int half_m = 24;
constexpr double pixels_per_m = 14;
constexpr int ground_depth_m = 24;  // ground further below the eye is drawn as nothing

/// Metres from the middle to pixels; north is up.
class Paper {
 public:
  explicit Paper(DVec3 middle) : middle_(middle) {
    print(
        "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' font-family='sans-serif' "
        "font-size='12'><rect width='100%%' height='100%%' fill='#223'/>\n",
        2 * half_m * pixels_per_m, 2 * half_m * pixels_per_m);
  }
  template <typename... Args>
  void print(const char* pattern, Args... args) {
    out_ += client_sim::format(pattern, args...);
  }
  double x(double x_m) const { return (x_m - middle_.x + half_m) * pixels_per_m; }
  double y(double y_m) const { return (middle_.y - y_m + half_m) * pixels_per_m; }
  bool holds(DVec2 p) const {
    return std::fabs(p.x - middle_.x) < half_m && std::fabs(p.y - middle_.y) < half_m;
  }
  /// May a line between them be on it?
  bool meets(DVec2 a, DVec2 b) const {
    const DVec2 from{std::min(a.x, b.x) - middle_.x, std::min(a.y, b.y) - middle_.y};
    const DVec2 to{std::max(a.x, b.x) - middle_.x, std::max(a.y, b.y) - middle_.y};
    return from.x < half_m && from.y < half_m && to.x > -half_m && to.y > -half_m;
  }
  void line(DVec2 a, DVec2 b, const char* look) {
    print("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' %s/>\n", x(a.x), y(a.y), x(b.x), y(b.y), look);
  }
  std::string finish() {
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  DVec3 middle_;
  std::string out_;
};

/// The height of the ground in a column, from above the player's head down; none within reach.
std::optional<int> ground_of(const VoxelVolume& blocks, int x, int y, int top_z) {
  for (int z = top_z; z > top_z - ground_depth_m; --z)
    if (blocks.solid({x, y, z})) return z;
  return std::nullopt;
}

/// Runs of blocks of one height in a row are one rectangle.
void draw_ground(Paper& paper, const WatchedMatch& match, DVec3 eye) {
  const VoxelVolume& blocks = *match.world().space().voxels;
  const IVec3 here = block_at(eye);
  const int top_z = here.z + 3;
  for (int y = here.y - half_m; y <= here.y + half_m; ++y)
    for (int x = here.x - half_m; x <= here.x + half_m;) {
      const auto height = ground_of(blocks, x, y, top_z);
      const int from = x;
      while (x <= here.x + half_m && ground_of(blocks, x, y, top_z) == height) ++x;
      if (!height) continue;
      const int shade = std::clamp(150 + 18 * (*height - here.z), 40, 240);
      paper.print("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='rgb(%d,%d,%d)'/>\n",
                  paper.x(from), paper.y(y + 1), (x - from) * pixels_per_m, pixels_per_m, shade * 3 / 4,
                  shade, shade * 3 / 5);
    }
}

void draw_maps(Paper& paper, const WatchedMatch& match) {
  for (const MapInSpace& placed : match.world().maps()) {
    const SectorMap& source = placed.map->source();
    for (const MapLine& line : source.lines) {
      const DVec2 a = placed.map->to_world(source.vertices[line.v1]);
      const DVec2 b = placed.map->to_world(source.vertices[line.v2]);
      if (!paper.meets(a, b)) continue;
      const bool open = (line.flags & line_flag::two_sided) != 0;
      paper.line(a, b, open ? "stroke='#a97' stroke-width='1'" : "stroke='#fda' stroke-width='2'");
    }
  }
}

const char* colour_of(EntityKind kind) {
  const auto number = static_cast<unsigned>(kind);
  return number == 0 ? "#4af" : number < 128 ? "#e44" : "#fe4";
}

void draw_body(Paper& paper, DVec3 at, Turn16 yaw, const char* colour, std::uint8_t health) {
  const DVec2 ahead = xy(at) + heading(yaw) * 0.9;
  paper.line(xy(at), ahead, "stroke='#fff' stroke-width='2'");
  paper.print("<circle cx='%.1f' cy='%.1f' r='%.1f' fill='%s' fill-opacity='%.2f' stroke='#fff'/>\n",
              paper.x(at.x), paper.y(at.y), 0.4 * pixels_per_m, colour, health == 0 ? 0.2 : 0.9);
}

}  // namespace

std::string line_of(const WatchedMatch& match, const WatchedMatch::Heard& heard) {
  char out[256];
  if (match.followed() == EntityId{0}) {
    std::snprintf(out, sizeof out, "%8.2f s  nobody to watch, %u in the world", match.seconds(),
                  match.world().player_count());
    return out;
  }
  const PlayerTable& players = match.world().players();
  const DVec3 at = players.body[match.row()].position_m;
  double nearest_m = WatchedMatch::radius_m;
  for (const client_sim::ShownEntity& e : match.others())
    nearest_m = std::min(nearest_m, length(e.position_m - at));
  const auto count = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  const std::string nearest =
      match.others().empty() ? "" : client_sim::format(", the nearest at %.1f m", nearest_m);
  std::snprintf(out, sizeof out,
                "%8.2f s  0x%08x at %.2f %.2f %.2f, health %u; %zu others within %.0f m%s; "
                "%llu shots; heard %llu steps and %llu other sounds",
                match.seconds(), static_cast<unsigned>(match.followed()), at.x, at.y, at.z,
                static_cast<unsigned>(players.health[match.row()]), match.others().size(),
                WatchedMatch::radius_m, nearest.c_str(), count(heard.shots), count(heard.steps),
                count(heard.others));
  return out;
}

std::string picture_of(const WatchedMatch& match, const WatchedMatch::Heard& heard) {
  const PlayerTable& players = match.world().players();
  const std::size_t row = match.row();
  const DVec3 at = players.body[row].position_m;
  Paper paper(at);
  draw_ground(paper, match, at);
  draw_maps(paper, match);
  for (const ShotEvent& shot : match.world().shooting().events())
    paper.line(xy(shot.origin), xy(shot.end()), "stroke='#ff0' stroke-width='1.5'");
  for (const client_sim::ShownEntity& e : match.others())
    if (paper.holds(xy(e.position_m)))
      draw_body(paper, e.position_m, e.yaw, colour_of(e.record.kind), e.record.health);
  draw_body(paper, at, players.yaw[row], "#4d4",
            players.health[row] != 0 ? std::uint8_t{255} : std::uint8_t{0});
  paper.print("<text x='8' y='18' fill='#fff'>%s</text>\n", line_of(match, heard).c_str());
  return paper.finish();
}

}  // namespace ashlar::simulation
