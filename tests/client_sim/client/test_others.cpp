// The picture of the others, from states that come by hand: what is shown at each moment.
#include "client_sim/client/others.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client_sim/client/edited_ground.h"
#include "client_sim/client/replica.h"
#include "protocol/quantise.h"
#include "tests/catch.h"
#include "world/math/random.h"
#include "world/sim/shown_between.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

/// A view that is told of one walker, and the picture of it.
struct PictureOfOne {
  PictureOfOne() { view.reset(60); }
  /// A snapshot that says nothing of it. @param age  in ticks, by the newest command
  void pass(std::uint32_t tick, double age = 0) {
    SnapshotPart part;
    part.tick = tick;
    view.take(part);
    command_time = tick + age;
    others.advance(now, source());
  }
  void tell(std::uint32_t tick, DVec3 at_m, double age = 0) {
    const QuantisedPosition place = quantise(at_m);
    EntityRecord record;
    record.id = EntityId{0x10001};
    record.kind = kind;
    record.x = place.x, record.y = place.y, record.z = place.z;
    record.health = 255;
    const std::array records{record};
    for (const CellCoord& cell : cells)
      if (!(cell == place.cell)) view.forget_block(cell, 1);
    cells.assign(1, place.cell);
    SnapshotPart part;
    part.tick = tick;
    view.take(part);
    view.take_block(1, place.cell, records, tick);
    command_time = tick + age;
    others.advance(now, source());
    states.push_back({tick, dequantise(place)});
  }
  /// Its block says that it is there no more.
  void leave(std::uint32_t tick, double age = 0) {
    view.take_block(1, cells.front(), std::span<const EntityRecord>{}, tick);
    pass(tick, age);
  }
  PictureSource source() const {
    PictureSource out(view, rules);
    out.command_time = command_time;
    if (replica != nullptr) out.welcome = &welcome;
    return out;
  }
  /// Who is shown when the picture is at a tick.
  std::vector<ShownEntity> all_at(double tick) {
    const double lag = command_time - others.shown_tick(now, source());
    command_time = tick + lag;
    std::vector<ShownEntity> out;
    others.shown(now, source(), replica.get(), out);
    return out;
  }
  ShownEntity shown_at(double tick) {
    const std::vector<ShownEntity> out = all_at(tick);
    REQUIRE(out.size() == 1);
    return out.front();
  }
  /// The same by looking at every state.
  DVec3 between(double tick) const {
    for (std::size_t i = 1; i < states.size(); ++i) {
      const auto& [from, from_m] = states[i - 1];
      const auto& [to, to_m] = states[i];
      if (tick >= from && tick <= to) return from_m + (to_m - from_m) * ((tick - from) / (to - from));
    }
    return tick < states.front().first ? states.front().second : states.back().second;
  }

  /// Walls are looked up from now on: in a plain, whose ground is there around a place.
  void stand_at(DVec2 here) {
    WorldSetup setup;
    setup.terrain = TerrainKind::plains;
    replica = std::make_unique<Replica>(setup);
    const DVec3 at{here.x, here.y, ground_m(here)};
    while (!replica->ground().there(at)) replica->ground().load_around(at, {}, 64);
    replica->ground().load_around(at, {}, 64);
  }
  double ground_m(DVec2 at) const {
    const WorldSetup& setup = replica->setup();
    return surface_height({setup.seed, {}, setup.terrain, {}}, static_cast<int>(std::floor(at.x)),
                          static_cast<int>(std::floor(at.y)));
  }

  View view;
  Rules rules;
  Welcome welcome;
  EntityKind kind = EntityKind::player;
  std::unique_ptr<Replica> replica;  // null: no walls
  Others others;
  Micros now{1'000'000};
  double command_time = 0;
  std::vector<CellCoord> cells;
  std::vector<std::pair<double, DVec3>> states;
};

}  // namespace

TEST_CASE("somebody is shown between the two states around a moment, however far apart they are",
          "[client_sim][others][property]") {
  Rng rng = rng_for(GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}), 7);
  PictureOfOne told;
  std::uint32_t tick = 100;
  DVec3 at{3, 4, 20};
  for (int i = 0; i < 12; ++i) {
    told.tell(tick, at);
    tick += 1 + rng.below(6);
    at += DVec3{0.05 + 0.1 * rng.unit(), 0.2 * rng.unit() - 0.1, 0};
  }
  const double first = told.states.front().first, last = told.states.back().first;
  for (double t = first; t <= last; t += 0.37) {
    CAPTURE(t);
    const ShownEntity shown = told.shown_at(t);
    CHECK(length(shown.position_m - told.between(t)) < 1e-9);
    CHECK_FALSE(shown.extrapolated);
  }
}

TEST_CASE("of many who stand, walk and change blocks each is shown between the two states around a moment",
          "[client_sim][others][property]") {
  Rng rng = rng_for(GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{4}), 11);
  constexpr std::uint16_t block_count = 4;
  constexpr std::uint32_t entity_count = 40;
  struct One {
    EntityRecord record;
    std::uint16_t block = 0;
    int pace = 0;
    std::optional<std::pair<std::uint32_t, DVec3>> newest;
    std::vector<std::pair<std::uint32_t, DVec3>> told;  // what was the newest when somebody looked
  };
  std::vector<One> all(entity_count);
  for (std::uint32_t i = 0; i < entity_count; ++i) {
    One& one = all[i];
    one.record.id = EntityId{0x10000 + i};
    one.record.x = static_cast<std::uint16_t>(1000 + rng.below(4000));
    one.record.y = static_cast<std::uint16_t>(rng.below(cell_steps));
    one.record.health = 255;
    one.block = static_cast<std::uint16_t>(rng.below(block_count));
    one.pace = static_cast<int>(rng.below(2) * rng.below(12));
  }
  struct Roster {
    std::vector<EntityId> ids;
    std::uint64_t number = 0;
  };
  std::array<Roster, block_count> rosters;
  View view;
  view.reset(60);
  Rules rules;
  Others others;
  const Micros now{1'000'000};
  std::uint64_t members = 0, compared = 0;
  for (std::uint32_t tick = 100; tick < 400; ++tick) {
    for (One& one : all) {
      one.record.x = static_cast<std::uint16_t>(one.record.x + one.pace);
      if (rng.below(20) == 0) one.pace = static_cast<int>(rng.below(2) * rng.below(12)) % 7;
      if (rng.below(60) == 0) {
        one.block = static_cast<std::uint16_t>(rng.below(block_count));
        view.take_moved({one.record.id, one.block}, tick);
      }
    }
    for (std::uint16_t block = 0; block < block_count; ++block) {
      if (rng.below(4) == 0) continue;  // lost
      const CellCoord cell{static_cast<std::int16_t>(block), 0, 0};
      std::vector<MovingRecord> in_it;
      std::vector<EntityId> ids;
      for (One& one : all) {
        if (one.block != block) continue;
        in_it.push_back({one.record, {}});
        ids.push_back(one.record.id);
        one.newest.emplace(tick, dequantise({cell, one.record.x, one.record.y, 0}));
      }
      Roster& known = rosters[block];
      if (ids != known.ids) known = {ids, ++members};
      view.take_block(block, cell, in_it, tick, known.number);
    }
    SnapshotPart part;
    part.tick = tick;
    view.take(part);
    if (rng.below(4) == 0) continue;  // several snapshots come at once
    for (One& one : all)
      if (one.newest) one.told.push_back(*std::exchange(one.newest, std::nullopt));
    PictureSource source(view, rules);
    source.command_time = tick + 3;
    others.advance(now, source);
    std::vector<ShownEntity> out;
    const double at = others.shown_tick(now, source);
    others.shown(now, source, nullptr, out);
    for (const ShownEntity& shown : out) {
      const auto& told = all[static_cast<std::uint32_t>(shown.record.id) - 0x10000].told;
      for (std::size_t i = 1; i < told.size(); ++i) {
        const auto& [from, from_m] = told[i - 1];
        const auto& [to, to_m] = told[i];
        if (at < from || at >= to || length(to_m - from_m) > 1) continue;  // it changed to a cell elsewhere
        const DVec3 expected = from_m + (to_m - from_m) * ((at - from) / (to - from));
        if (length(shown.position_m - expected) > 1e-9)
          FAIL_CHECK("tick " << tick << ", entity " << static_cast<std::uint32_t>(shown.record.id));
        ++compared;
      }
    }
  }
  REQUIRE(compared > 5000);
}

TEST_CASE("who one is oneself is shown no more once that is known, however still one stands",
          "[client_sim][others]") {
  const EntityId self{0x10001}, walker{0x10002}, guest{0x10003};
  View view;
  view.reset(60);
  Rules rules;
  Others others;
  std::vector<ShownEntity> out;
  const auto record = [](EntityId id, int x) {
    EntityRecord e;
    e.id = id, e.x = static_cast<std::uint16_t>(x), e.health = 255;
    return MovingRecord{e, {}};
  };
  for (std::uint32_t tick = 100; tick < 300; ++tick) {
    // Who is lost from sight, in another block, makes everybody be looked at.
    const std::array in_it{record(self, 1000), record(walker, 1000 + static_cast<int>(tick))};
    const std::array elsewhere{record(guest, 3000)};
    const std::size_t guests = tick % 10 < 5 ? 1 : 0;
    view.take_block(1, CellCoord{}, in_it, tick, 1);
    view.take_block(2, CellCoord{}, std::span(elsewhere).first(guests), tick, 2 + tick / 5);
    SnapshotPart part;
    part.tick = tick;
    view.take(part);
    PictureSource source(view, rules);
    source.command_time = tick;
    source.self = tick < 120 || tick >= 200 ? EntityId{0} : self;
    others.advance(Micros{1'000'000}, source);
    others.shown(Micros{1'000'000}, source, nullptr, out);
    const bool shown = std::ranges::any_of(out, [&](const ShownEntity& e) { return e.record.id == self; });
    if (tick < 120 || tick > 205) REQUIRE(shown);
    if (tick > 130 && tick < 200) REQUIRE_FALSE(shown);
    // And nobody is where another one is, though rows are used again.
    const double walked = 1000 + others.shown_tick(Micros{1'000'000}, source);
    for (const ShownEntity& e : out) {
      const double stands = e.record.id == self ? 1000 : 3000;
      CHECK(e.position_m.x * 128 == Approx(e.record.id == walker ? walked : stands).margin(0.01));
    }
  }
}

TEST_CASE("beyond what was told somebody goes on as it went for a tenth of a second, and stands",
          "[client_sim][others]") {
  PictureOfOne told;
  for (std::uint32_t tick = 100; tick <= 110; ++tick) told.tell(tick, {0.125 * (tick - 100), 0, 20});
  const double newest_m = told.states.back().second.x;
  CHECK(told.shown_at(113).position_m.x == Approx(newest_m + 3 * 0.125).margin(1e-9));
  CHECK(told.shown_at(113).extrapolated);
  const double farthest_m = newest_m + 0.125 * extrapolate_s * 60;
  CHECK(told.shown_at(130).position_m.x == Approx(farthest_m).margin(1e-9));
  CHECK(told.shown_at(500).position_m.x == Approx(farthest_m).margin(1e-9));
}

TEST_CASE("who is gone is shown until the picture comes to a tick without it, and no longer",
          "[client_sim][others]") {
  constexpr double behind = 5;
  PictureOfOne told;
  std::uint32_t tick = 100;
  for (; tick < 120; ++tick) told.tell(tick, {0.1 * (tick - 100), 4, 20}, behind);
  told.leave(tick, behind);
  REQUIRE(told.others.lag_ticks() >= behind);
  for (const double before : {5.0, 1.0, 0.5, 0.01}) {
    CAPTURE(before);
    CHECK(told.all_at(tick - before).size() == 1);
  }
  CHECK(told.all_at(tick).empty());
  CHECK(told.all_at(tick + 0.5).empty());
  // However old the picture is, and as soon as it is there.
  const bool again = GENERATE(false, true);
  if (again) told.tell(tick + 1, {2, 4, 20}, behind);
  told.pass(tick + 2, behind);
  CHECK(told.all_at(tick + 1.5).size() == (again ? 1 : 0));
  if (again) return;
  told.pass(tick + 8, behind);
  CHECK_FALSE(told.others.anybody_near({2, 4, 20}, 10));
}

TEST_CASE("who sets off after a rest that nobody told of is not seen to have crept all the while",
          "[client_sim][others]") {
  PictureOfOne p;
  const DVec3 rest{4, 4, 1}, gone{4.5, 4, 1};
  for (std::uint32_t tick = 1; tick <= 5; ++tick) p.tell(tick, rest);
  for (std::uint32_t tick = 6; tick <= 29; ++tick) p.pass(tick);
  // What comes at last says that nothing had changed until the snapshot before.
  p.view.confirm_block(p.cells.front(), 1, 5, 29);
  p.tell(30, gone);
  const DVec3 at_rest = p.shown_at(5).position_m;
  for (const double tick : {6.0, 20.0, 28.5, 29.0}) CHECK(p.shown_at(tick).position_m == at_rest);
  CHECK(p.shown_at(29.5).position_m.x == Approx(4.25).margin(0.01));
  CHECK(p.shown_at(30).position_m.x == Approx(4.5).margin(0.01));
}

TEST_CASE("the picture waits for snapshots that are late, and for none that are lost",
          "[client_sim][others]") {
  // Of four ticks that the way takes and their commands wait, as many more as snapshots are apart.
  for (const std::uint32_t apart : {1u, 6u})
    for (const double lost : {0.0, 0.05, 0.2}) {
      CAPTURE(apart, lost);
      PictureOfOne told;
      Rng rng = rng_for(11, apart);
      std::uint32_t most = 0, least = 1000;
      for (std::uint32_t tick = 600; tick < 6000; tick += apart) {
        told.now += Micros{16'667 * apart};
        if (rng.unit() < lost) continue;
        told.pass(tick, 4.25);
        if (tick < 1200) continue;
        most = std::max(most, told.others.lag_ticks()), least = std::min(least, told.others.lag_ticks());
      }
      CHECK(most == 4 + apart);
      CHECK(least == 4 + apart);
    }
  // One in eight comes three ticks late.
  PictureOfOne told;
  for (std::uint32_t tick = 600; tick < 1200; ++tick) {
    told.now += Micros{16'667};
    told.pass(tick, tick % 8 == 0 ? 7.25 : 4.25);
  }
  CHECK(told.others.lag_ticks() == 8);
}

TEST_CASE("who is put elsewhere is not seen to fly there", "[client_sim][others]") {
  PictureOfOne told;
  told.tell(100, {0, 0, 20});
  told.tell(101, {0.125, 0, 20});
  told.tell(104, {9, 0, 20});
  CHECK(told.shown_at(102.5).position_m.x == Approx(0.125).margin(1e-9));
  CHECK(told.shown_at(104).position_m.x == Approx(9).margin(1e-9));
}

TEST_CASE("who is told of in every fourth snapshot or every sixteenth goes on as it went until the next one",
          "[client_sim][others]") {
  const std::uint32_t every = GENERATE(4u, 16u);
  CAPTURE(every);
  constexpr double step_m = 0.1;  // 6 m/s
  Rng rng = rng_for(5, every);
  PictureOfOne told;
  DVec3 at{3, 4, 20}, way{step_m, 0, 0};
  std::vector<DVec3> truth(1200);
  std::vector<double> straight_m, off_m;
  std::uint32_t turned = 0;
  for (std::uint32_t tick = 100; tick < truth.size(); ++tick) {
    // Legs of a second or two, with sharp corners.
    if (rng.below(90) == 0) way = {way.y, -way.x, 0}, turned = tick;
    at += way;
    truth[tick] = at;
    told.others.advance(told.now, told.source());
    tick % every == 0 ? told.tell(tick, at) : told.pass(tick);
    if (tick < 200 || told.states.size() < 3) continue;
    std::vector<ShownEntity> shown;
    told.others.shown(told.now, told.source(), nullptr, shown);
    REQUIRE(shown.size() == 1);
    const auto seen = static_cast<std::uint32_t>(told.others.shown_tick(told.now, told.source()));
    const double off = length(shown[0].position_m - truth[seen]);
    off_m.push_back(off);
    if (tick - turned > 3 * every) straight_m.push_back(off);
  }
  std::ranges::sort(off_m);
  REQUIRE(straight_m.size() > 200);
  CHECK(std::ranges::max(straight_m) < 0.02);
  // At a corner it is seen to go straight on for as long as nothing was told.
  CHECK(off_m.back() < 1.5 * step_m * every);
}

TEST_CASE("who is far from the ground that is loaded is shown on its way like everybody else",
          "[client_sim][others]") {
  PictureOfOne told;
  told.stand_at({0, 0});
  const double from_m = GENERATE(-8.0, 70.0);
  CAPTURE(from_m);
  const double z_m = told.ground_m({0, 0}) + 4;
  REQUIRE(told.replica->ground().volume().loaded(chunk_of(block_at({from_m, 0.5, z_m}))) == (from_m < 60));
  // Told of in every fourth snapshot.
  for (std::uint32_t tick = 100; tick <= 140; tick += 4)
    told.tell(tick, {from_m + 0.125 * (tick - 100), 0.5, z_m});
  for (double tick = 104; tick <= 146; tick += 0.5) {
    CAPTURE(tick);
    const ShownEntity shown = told.shown_at(tick);
    // A tenth of a second beyond what was told it stands.
    CHECK(shown.position_m.x == Approx(from_m + 0.125 * (tick - 100)).margin(1e-6));
  }
  CHECK(told.others.stats().stopped_by_walls == 0);
}

TEST_CASE("who goes on towards a wall is shown before it by its own size", "[client_sim][others]") {
  PictureOfOne told;
  told.stand_at({0, 0});
  const bool large = GENERATE(false, true);
  CAPTURE(large);
  told.kind = large ? entity_kind(MonsterKind::mastermind) : EntityKind::player;
  const Cylinder shape = *told.welcome.body_of(told.kind);
  REQUIRE((shape.radius_m > 2 * told.rules.player.radius_m) == large);
  const auto ground = static_cast<int>(told.ground_m({0, 0}));
  for (int y = -6; y <= 6; ++y)
    for (int z = ground; z < ground + 12; ++z)
      static_cast<void>(told.replica->put_block({10, y, z}, BlockId::stone));
  // The last that is told of it is half a metre before the wall, at 12 m/s.
  const double last_m = 10 - shape.radius_m - 0.5;
  for (std::uint32_t tick = 100; tick <= 110; ++tick)
    told.tell(tick, {last_m - 0.2 * (110 - tick), 0.5, ground + 4.0});
  const ShownEntity shown = told.shown_at(116);
  CHECK(shown.position_m.x == Approx(10 - shape.radius_m).margin(0.02));
  CHECK_FALSE(space_overlaps(told.replica->space(), shape, shown.position_m));
  CHECK(told.others.stats().stopped_by_walls > 0);
}

TEST_CASE("what is known of the open around somebody changes no picture, whatever is built and dug there",
          "[client_sim][others][property]") {
  Rng rng = rng_for(GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}), 17);
  PictureOfOne told;
  told.stand_at({0, 0});
  Others plain;  // looks for walls each time, as it cannot know when they change
  const auto floor = static_cast<int>(told.ground_m({0, 0})) + 6;
  const auto build = [&](IVec3 block, BlockId id) { static_cast<void>(told.replica->put_block(block, id)); };
  for (int x = -9; x <= 9; ++x)
    for (int y = -9; y <= 9; ++y) build({x, y, floor - 1}, BlockId::stone);
  DVec3 at{0.5, 0.5, floor + 0.0}, way{0.1, 0, 0};
  std::uint32_t tick = 100;
  for (int i = 0; i < 600; ++i) {
    if (rng.below(12) == 0)
      build({static_cast<int>(rng.below(16)) - 8, static_cast<int>(rng.below(16)) - 8, floor},
            rng.below(3) == 0 ? BlockId::air : BlockId::stone);
    if (rng.below(8) == 0) way = {0.3 * rng.unit() - 0.15, 0.3 * rng.unit() - 0.15, 0};
    if (length(xy(at + way * 8)) > 7) way = way * -1;
    at += way;
    // Now and then it jumps, and is told of more seldom.
    at.z = floor + (rng.below(10) == 0 ? 0.25 : 0.0);
    tick += rng.below(5) == 0 ? 3 : 1;
    told.tell(tick, at);
    PictureSource alike = told.source();
    alike.command_time = tick;
    plain.advance(told.now, alike);
    const double when = tick - 4 + 6 * rng.unit();
    CAPTURE(i, when);
    const DVec3 shown_m = told.shown_at(when).position_m;
    const Space walls = told.replica->space();
    PictureSource source = told.source();
    source.walls = &walls;
    std::vector<ShownEntity> out;
    plain.shown(told.now, source, nullptr, out);
    REQUIRE(out.size() == 1);
    REQUIRE(length(out.front().position_m - shown_m) < 1e-9);
  }
  CHECK(told.others.stats().stopped_by_walls == plain.stats().stopped_by_walls);
  CHECK(plain.stats().stopped_by_walls > 0);
}
