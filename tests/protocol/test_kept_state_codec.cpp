#include "protocol/kept_state_codec.h"

#include <cmath>
#include <functional>
#include <limits>

#include "tests/catch.h"
#include "world/content/map_check.h"
#include "world/sim/loose_blocks.h"
#include "world/sim/placed_blocks.h"
#include "world/sim/projectiles.h"

using namespace ashlar;

namespace {

KeptState some_state() {
  KeptState state;
  state.falling = {{1, -2, 3}, {-(1 << 20), (1 << 20) - 1, 4095}};
  KeptSectors map;
  map.map_hash = 0x1234'5678'9ABC'DEF0;
  map.heights = {{0, 4}, {1.25, 3}, {-0.5, 7}};
  Mover door;
  door.sector = 1, door.plane = Plane::ceiling, door.motion = Motion::door_raise;
  door.phase = MotionPhase::wait_high, door.low_m = 1.25, door.high_m = 4, door.speed_mps = 2;
  door.wait_s = 4, door.left_s = 1.5, door.slows = 1, door.fresh = 0;
  map.movers = {door};
  map.spent = {0, 1, 0, 0, 0, 0, 0, 1, 1, 0};
  state.maps = {map};
  state.monsters_of = 99;
  state.monsters = {{0, MonsterKind::imp, 17, 0, true, false, {1, 2, 3}, {4, 5, 6}, Turn16{7}, Turn16{8}},
                    {300, MonsterKind::imp, 0, 90, false, true, {1, 2, 3}, {4, 5, 6}, Turn16{7}, Turn16{8}}};
  state.kinds_of = 77;
  state.projectiles = {{1, 2, 300, KeptProjectile::nobody, {1, 2, 3}, {-40, 5, 0.5}},
                       {0, 0, 1, 300, {-1, 2, 3}, {}}};
  state.match = {GameMode::teams, MatchPhase::playing, 3, 3600, {5, -2, 0, 0}};
  state.built = {7, {{{1, -2, 3}, 7}, {{-40, 50, -6}, 1}}};
  return state;
}

std::vector<std::uint8_t> bytes_of(const KeptState& state) {
  std::vector<std::uint8_t> bytes;
  encode_kept_state(state, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("kept state comes out as it went in", "[protocol][kept_state]") {
  const KeptState state = GENERATE(KeptState{}, some_state());
  const auto back = decode_kept_state(bytes_of(state));
  REQUIRE(back.has_value());
  CHECK(*back == state);
}

TEST_CASE("kept state of the largest map that is read comes out as it went in", "[protocol][kept_state]") {
  KeptState state = some_state();
  // With stairs to the surface.
  state.maps[0].heights.resize(map_records_max + 256);
  state.maps[0].spent.assign(map_records_max + 3 * 256, 1);
  state.maps[0].movers[0].sector = map_records_max + 255;
  const auto back = decode_kept_state(bytes_of(state));
  REQUIRE(back.has_value());
  CHECK((*back == state));
}

TEST_CASE("kept state that is cut, longer, of another version or out of range is refused",
          "[protocol][kept_state]") {
  const std::vector<std::uint8_t> whole = bytes_of(some_state());
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(decode_kept_state(std::span(whole).first(size)).has_value());
  std::vector<std::uint8_t> more = whole;
  more.push_back(0);
  CHECK_FALSE(decode_kept_state(more).has_value());
  more = whole;
  more[0] = 4;
  REQUIRE_FALSE(decode_kept_state(more).has_value());
  CHECK(decode_kept_state(more).error() == KeptStateError::wrong_version);

  const auto refused = [](const std::function<void(KeptState&)>& change) {
    KeptState state = some_state();
    change(state);
    return !decode_kept_state(bytes_of(state)).has_value();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refused([](KeptState& s) { s.falling[0].x = 1 << 20; }));
  CHECK(refused([](KeptState& s) { s.falling.resize(LooseBlocks::waiting_max + 1); }));
  CHECK(refused([&](KeptState& s) { s.maps[0].heights[0].floor_m = nan; }));
  CHECK(refused([](KeptState& s) { s.maps[0].movers[0].sector = 3; }));
  CHECK(refused([](KeptState& s) { s.maps[0].movers[0].motion = Motion{99}; }));
  CHECK(refused([](KeptState& s) { s.maps[0].movers[0].speed_mps = 0; }));
  CHECK(refused([&](KeptState& s) { s.maps[0].movers[0].low_m = nan; }));
  CHECK(refused([](KeptState& s) { s.monsters[0].row = kept_monsters_max; }));
  CHECK(refused([&](KeptState& s) { s.monsters[0].position_m.x = nan; }));
  CHECK(refused([](KeptState& s) { s.monsters[0].home_m.z = 5000; }));
  CHECK(refused([](KeptState& s) { s.maps.resize(65); }));
  CHECK(refused([](KeptState& s) { s.projectiles.resize(projectiles_max + 1); }));
  CHECK(refused([&](KeptState& s) { s.projectiles[0].velocity_mps.y = nan; }));
  CHECK(refused([&](KeptState& s) { s.projectiles[0].position_m.x = nan; }));
  CHECK(refused([](KeptState& s) { s.projectiles[0].owner_row = kept_monsters_max; }));
  CHECK(refused([](KeptState& s) { s.match.mode = GameMode{5}; }));
  CHECK(refused([](KeptState& s) { s.built.placed[0].builder = 8; }));
  CHECK(refused([](KeptState& s) { s.built.placed[0].builder = 0; }));
  CHECK(refused([](KeptState& s) { s.built.placed[1].block.y = 1 << 20; }));
  CHECK(refused([](KeptState& s) { s.built.placed.resize(PlacedBlocks::blocks_max + 1, {{}, 1}); }));
  CHECK(refused([](KeptState& s) { s.match.phase = MatchPhase{match_phase_count}; }));
}

TEST_CASE("kept state of before there were matches in it is read", "[protocol][kept_state]") {
  KeptState state = some_state();
  state.kinds_of = 0, state.projectiles.clear(), state.match = {}, state.built = {};
  std::vector<std::uint8_t> bytes = bytes_of(state);
  constexpr std::size_t added =
      8 + 1 + 2 + 2 + teams_max + 2;  // kinds, no projectile, an empty match, no builders
  bytes.resize(bytes.size() - added);
  bytes[0] = 1;
  const auto back = decode_kept_state(bytes);
  REQUIRE(back.has_value());
  CHECK(*back == state);
}

TEST_CASE("kept state of before there were builders in it is read", "[protocol][kept_state]") {
  KeptState state = some_state();
  state.built = {};
  std::vector<std::uint8_t> bytes = bytes_of(state);
  bytes.resize(bytes.size() - 2);
  bytes[0] = 2;
  const auto back = decode_kept_state(bytes);
  REQUIRE(back.has_value());
  CHECK(*back == state);
}
