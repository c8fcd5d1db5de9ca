// Eight players who dig and place at random: each verdict is judged again by brute force, and the same inputs
// give the same worlds.
#include <cmath>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/sim/builders.h"
#include "tests/world/voxel_worlds.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr std::uint32_t builders = 8;
/// Pillars and hollows on a plain, of what is quickly dug.
BlockId broken_ground(IVec3 b) {
  if (b.z >= 9) return BlockId::air;
  if (b.z >= 4) return test::random_block(3, b, 0.15) ? BlockId::leaves : BlockId::air;
  return test::random_block(5, b, 0.1) ? BlockId::air : BlockId::glass;
}

struct RandomActs {
  explicit RandomActs(std::uint64_t seed) : rng{seed}, site(builders, broken_ground, rules(), 12) {
    for (std::size_t i = 0; i < builders; ++i) {
      const double angle = static_cast<double>(i) * 0.785;
      site.put(i, {2.5 * std::cos(angle), 2.5 * std::sin(angle), 9.5});
    }
  }
  static Rules rules() {
    Rules r;
    r.block_interval_s = 0.05;
    return r;
  }
  /// What everybody does next.
  std::vector<BlockAct> next() {
    std::vector<BlockAct> acts;
    for (std::size_t i = 0; i < builders; ++i) {
      if (rng.below(20) == 0) {
        site.commands[i].forward = rng.between(-1, 1);
        site.commands[i].buttons = static_cast<std::uint16_t>(rng.below(2));
      }
      if (rng.below(12) == 0) {
        DVec3 at = site.eye(i);
        at.x += rng.between(-4, 4);
        at.y += rng.between(-4, 4);
        at.z += rng.between(-4, 2);
        site.look(i, at);
      }
      if (rng.below(4) != 0) continue;
      acts.push_back(one(i));
    }
    return acts;
  }
  BlockAct one(std::size_t i) {
    const auto kind = static_cast<BlockActKind>(rng.below(40) == 0 ? 2 : rng.below(2));
    const DVec3 eye = site.eye(i);
    const DVec3 view = view_direction(site.commands[i].yaw, site.commands[i].pitch);
    const RayHit hit = space_ray(site.world->space(), eye, view, 7);
    if (hit.kind == ContactKind::voxel && rng.below(4) != 0)
      return site.act(i, kind, hit.block, face_of(hit.normal).value_or(BlockFace::top), BlockId::leaves);
    IVec3 block = block_at(eye);
    block.x += static_cast<std::int32_t>(rng.below(13)) - 6;
    block.y += static_cast<std::int32_t>(rng.below(13)) - 6;
    block.z += static_cast<std::int32_t>(rng.below(13)) - 8;
    const auto face = static_cast<BlockFace>(rng.below(block_face_count));
    return site.act(i, kind, block, face, static_cast<BlockId>(rng.below(block_id_count + 2)));
  }
  Rng rng;
  Builders site;
};

bool marches_to(const VoxelVolume& volume, DVec3 eye, DVec3 to) {
  const DVec3 way = to - eye;
  const double distance = length(way);
  for (double t = 0; t < distance - 0.02; t += 0.01)
    if (volume.solid(block_at(eye + way * (t / distance)))) return false;
  return true;
}

/// Can any of many points of the face be reached by small steps?
bool brute_sees(const VoxelVolume& volume, DVec3 eye, IVec3 block, BlockFace face) {
  const IVec3 n = normal_of(face);
  for (int i = 0; i <= 12; ++i)
    for (int j = 0; j <= 12; ++j) {
      const double u = i / 12.0, v = j / 12.0;
      DVec3 p = to_dvec3(block) + to_dvec3(n) * 1e-4;
      p += n.x != 0   ? DVec3{n.x > 0 ? 1.0 : 0.0, u, v}
           : n.y != 0 ? DVec3{u, n.y > 0 ? 1.0 : 0.0, v}
                      : DVec3{u, v, n.z > 0 ? 1.0 : 0.0};
      if (dot(eye - p, to_dvec3(n)) > 0 && marches_to(volume, eye, p)) return true;
    }
  return false;
}

/// Is a point of the block inside the body, by more than a millimetre?
bool brute_in_body(const Cylinder& shape, DVec3 base, IVec3 block) {
  for (int x = 0; x <= 10; ++x)
    for (int y = 0; y <= 10; ++y)
      for (int z = 0; z <= 10; ++z) {
        const DVec3 off = to_dvec3(block) + DVec3{x / 10.0, y / 10.0, z / 10.0} - base;
        const double r = shape.radius_m - 1e-3;
        if (off.x * off.x + off.y * off.y < r * r && off.z > 1e-3 && off.z < shape.height_m - 1e-3)
          return true;
      }
  return false;
}

double brute_distance_m(DVec3 eye, IVec3 block) {
  double nearest = 1e9;
  for (int x = 0; x <= 16; ++x)
    for (int y = 0; y <= 16; ++y)
      for (int z = 0; z <= 16; ++z)
        nearest = std::min(nearest, length(to_dvec3(block) + DVec3{x / 16.0, y / 16.0, z / 16.0} - eye));
  return nearest;
}

struct Seen {
  int done = 0, progress = 0, out_of_reach = 0, no_sight = 0, body = 0, other = 0;
};

/// Judges the acts of one step again, from where everybody was before it.
void judge_again(RandomActs& play, const std::vector<BlockAct>& acts, Seen& seen) {
  Builders& site = play.site;
  std::vector<DVec3> eyes, players, monsters;
  for (std::size_t i = 0; i < builders; ++i) {
    eyes.push_back(site.eye(i));
    players.push_back(site.world->players().body[i].position_m);
  }
  for (const Body& body : site.world->monsters().body) monsters.push_back(body.position_m);
  // One act a step is asked about ground that no other has changed.
  const VoxelVolume& volume = *site.world->space().voxels;
  std::vector<bool> visible;
  for (const BlockAct& act : acts)
    visible.push_back(brute_sees(volume, eyes[slot_of(act.player)], act.block, act.face));
  site.step(acts);
  const bool alone = site.world->applied_edits().empty();
  for (const BlockVerdict& v : site.world->block_acts().verdicts()) {
    const auto asked = std::ranges::find_if(
        acts, [&](const BlockAct& a) { return a.player == v.player && a.number == v.number; });
    if (asked == acts.end() || asked->kind == BlockActKind::stop) continue;
    const DVec3 eye = eyes[slot_of(v.player)];
    const double distance = brute_distance_m(eye, asked->block);
    const double reach = site.setup.rules.block_reach_m;
    CAPTURE(v.number, name(v.verdict), distance, asked->block.x, asked->block.y, asked->block.z);
    switch (v.verdict) {
      case ActVerdict::done:
      case ActVerdict::progress:
        ++(v.verdict == ActVerdict::done ? seen.done : seen.progress);
        CHECK(distance <= reach + 0.06);
        if (alone) CHECK(visible[static_cast<std::size_t>(asked - acts.begin())]);
        break;
      case ActVerdict::out_of_reach:
        ++seen.out_of_reach;
        CHECK(distance >= reach);
        break;
      case ActVerdict::no_sight: {
        ++seen.no_sight;
        const PlayerCommand& c = site.commands[slot_of(v.player)];
        const DVec3 view = view_direction(c.yaw, c.pitch);
        const RayHit hit = space_ray(site.world->space(), eye, view, 7);
        if (alone) CHECK_FALSE((hit.block == asked->block && hit.normal == to_dvec3(normal_of(asked->face))));
        break;
      }
      case ActVerdict::body_in_the_way: ++seen.body; break;
      default: ++seen.other; break;
    }
  }
  for (const AppliedEdit& edit : site.world->applied_edits()) {
    CHECK(edit.before != edit.after);
    if (!is_solid(edit.after)) continue;
    for (const DVec3& base : players) CHECK_FALSE(brute_in_body(site.setup.rules.player, base, edit.block));
    for (std::size_t i = 0; i < monsters.size(); ++i)
      if (site.world->monsters().id[i] != EntityId{0})
        CHECK_FALSE(brute_in_body(traits(site.world->monsters().kind[i]).shape, monsters[i], edit.block));
  }
}

}  // namespace

TEST_CASE("no act reaches further, sees more or builds nearer to a body than brute force allows",
          "[world][sim][block_acts][property]") {
  Seen seen;
  RandomActs play(17);
  for (int tick = 0; tick < test::cases(400); ++tick) judge_again(play, play.next(), seen);
  CHECK(seen.done > 30);
  CHECK(seen.progress > 30);
  CHECK(seen.out_of_reach > 20);
  CHECK(seen.no_sight > 20);
  CHECK(seen.body > 3);
  CHECK(seen.other > 20);
}

TEST_CASE("the same acts give the same worlds, and the edits told are all that changed",
          "[world][sim][block_acts][determinism]") {
  RandomActs a(5), b(5);
  std::vector<AppliedEdit> told;
  const std::uint64_t before = a.site.world->space().voxels->hash();
  for (int tick = 0; tick < 600; ++tick) {
    const auto acts = a.next();
    REQUIRE(acts == b.next());
    a.site.step(acts);
    b.site.step(acts);
    REQUIRE(a.site.world->hash() == b.site.world->hash());
    const auto edits = a.site.world->applied_edits();
    REQUIRE(std::ranges::equal(edits, b.site.world->applied_edits()));
    told.insert(told.end(), edits.begin(), edits.end());
  }
  REQUIRE(told.size() > 100);
  CHECK(a.site.world->space().voxels->hash() != before);
  // Taken back in reverse order they lead to where it began.
  TickInput undo;
  std::vector<BlockEdit> back;
  for (auto edit = told.rbegin(); edit != told.rend(); ++edit) {
    REQUIRE(a.site.world->column_edited(edit->block.x >> chunk_bits, edit->block.y >> chunk_bits));
    back.push_back({edit->block, edit->before});
  }
  undo.edits = back;
  a.site.world->step(undo);
  CHECK(a.site.world->space().voxels->hash() == before);
}
