// Doom's line specials and their counterparts in UDMF: what the namespace "zdoom" writes as an action with
// arguments and flags sets the same in motion, bit for bit, and the namespace "doom" has Doom's own numbers.
#include <array>
#include <map>
#include <set>
#include <string>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/content/udmf.h"
#include "world/sim/mover_start.h"
#include "world/sim/teleport.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr std::int32_t T = -1;  // stands for the tag

/// How the same thing is written twice.
struct Twin {
  std::uint16_t doom;
  const char* flags;  ///< of the zdoom line, apart by spaces
  std::uint16_t action;
  std::array<std::int32_t, 5> args;
};

// Flags.
constexpr const char *use = "playeruse", *use_rep = "playeruse repeatspecial";
constexpr const char *walk = "playercross", *walk_rep = "playercross repeatspecial";
constexpr const char *gun = "impact", *gun_rep = "impact repeatspecial", *none = "";
constexpr const char *anybody = "playercross monstercross",
                     *anybody_rep = "playercross monstercross repeatspecial";
constexpr const char *monster = "monstercross", *monster_rep = "monstercross repeatspecial";
// Speeds in eighths of a unit a tic, waits in tics, locks.
constexpr std::int32_t door_speed = 16, blaze = 64, slow = 8, half = 4, lift = 32, fast = 64, door_wait = 150,
                       lift_wait = 105, red = 129, blue = 130, yellow = 131;

// The namespace's published translation of Doom's and Boom's numbers.
const Twin twins[] = {
    {1, "playeruse monsteruse repeatspecial", 12, {0, door_speed, door_wait}},
    {2, walk, 11, {T, door_speed}},
    {3, walk, 10, {T, door_speed}},
    {4, anybody, 12, {T, door_speed, door_wait}},
    {5, walk, 238, {T, slow}},
    {6, walk, 168, {T, 8, 16, 10}},
    {7, use, 217, {T, 2, 8}},
    {8, walk, 217, {T, 2, 8}},
    {9, use, 250, {T, 4, 4}},
    {10, anybody, 206, {T, lift, lift_wait, 0}},
    {11, use, 243, {0}},
    {12, walk, 234, {T}},
    {13, walk, 112, {T, 255}},
    {14, use, 230, {T, half, 4}},
    {15, use, 230, {T, half, 3}},
    {16, walk, 249, {T, door_speed, 240}},
    {17, walk, 232, {T, 5, 35}},
    {18, use, 25, {T, slow}},
    {19, walk, 242, {T, slow, 128}},
    {20, use, 228, {T, half}},
    {21, use, 206, {T, lift, lift_wait}},
    {22, walk, 228, {T, half}},
    {23, use, 21, {T, slow}},
    {24, gun, 238, {T, slow}},
    {25, walk, 168, {T, 8, 8, 10}},
    {26, use_rep, 13, {0, door_speed, door_wait, blue}},
    {27, use_rep, 13, {0, door_speed, door_wait, yellow}},
    {28, use_rep, 13, {0, door_speed, door_wait, red}},
    {29, use, 12, {T, door_speed, door_wait}},
    {31, use, 11, {0, door_speed}},
    {32, use, 13, {0, door_speed, 0, blue}},
    {33, use, 13, {0, door_speed, 0, red}},
    {34, use, 13, {0, door_speed, 0, yellow}},
    {35, walk, 112, {T, 35}},
    {36, walk, 242, {T, lift, 136}},
    {37, walk, 241, {T, slow}},
    {38, walk, 21, {T, slow}},
    {39, anybody, 70, {0, T}},
    {40, walk, 201, {T, slow, 0, 1, 8}},
    {41, use, 254, {T, slow}},
    {42, use_rep, 10, {T, door_speed}},
    {43, use_rep, 254, {T, slow}},
    {44, walk, 43, {T, slow, 0, 2}},
    {45, use_rep, 242, {T, slow, 128}},
    {46, gun_rep, 11, {T, door_speed}},
    {47, gun, 228, {T, half}},
    {48, none, 100, {64}},
    {49, use, 168, {T, 8, 8, 10}},
    {50, use, 10, {T, door_speed}},
    {51, use, 244, {0}},
    {52, walk, 243, {0}},
    {53, walk, 207, {T, slow, lift_wait, 0}},
    {54, walk, 61, {T}},
    {55, use, 99, {T, slow, 10, 2}},
    {56, walk, 99, {T, slow, 10, 2}},
    {57, walk, 44, {T}},
    {58, walk, 23, {T, slow, 24}},
    {59, walk, 239, {T, slow, 24}},
    {60, use_rep, 21, {T, slow}},
    {61, use_rep, 11, {T, door_speed}},
    {62, use_rep, 206, {T, lift, lift_wait, 0}},
    {63, use_rep, 12, {T, door_speed, door_wait}},
    {64, use_rep, 238, {T, slow}},
    {65, use_rep, 99, {T, slow, 10, 2}},
    {66, use_rep, 230, {T, half, 3}},
    {67, use_rep, 230, {T, half, 4}},
    {68, use_rep, 228, {T, half}},
    {69, use_rep, 25, {T, slow}},
    {70, use_rep, 242, {T, lift, 136}},
    {71, use, 242, {T, lift, 136}},
    {72, walk_rep, 43, {T, slow, 0, 2}},
    {73, walk_rep, 168, {T, 8, 8, 10}},
    {74, walk_rep, 44, {T}},
    {75, walk_rep, 10, {T, door_speed}},
    {76, walk_rep, 249, {T, door_speed, 240}},
    {77, walk_rep, 168, {T, 8, 16, 10}},
    {79, walk_rep, 112, {T, 35}},
    {80, walk_rep, 234, {T}},
    {81, walk_rep, 112, {T, 255}},
    {82, walk_rep, 21, {T, slow}},
    {83, walk_rep, 242, {T, slow, 128}},
    {84, walk_rep, 241, {T, slow}},
    {85, none, 101, {64}},
    {86, walk_rep, 11, {T, door_speed}},
    {87, walk_rep, 207, {T, slow, lift_wait, 0}},
    {88, anybody_rep, 206, {T, lift, lift_wait, 0}},
    {89, walk_rep, 61, {T}},
    {90, walk_rep, 12, {T, door_speed, door_wait}},
    {91, walk_rep, 238, {T, slow}},
    {92, walk_rep, 23, {T, slow, 24}},
    {93, walk_rep, 239, {T, slow, 24}},
    {94, walk_rep, 99, {T, slow, 10, 2}},
    {95, walk_rep, 228, {T, half}},
    {97, anybody_rep, 70, {0, T}},
    {98, walk_rep, 242, {T, lift, 136}},
    {99, use_rep, 13, {T, blaze, 0, blue}},
    {100, walk, 217, {T, 32, 16}},
    {101, use, 238, {T, slow}},
    {102, use, 242, {T, slow, 128}},
    {103, use, 11, {T, door_speed}},
    {104, walk, 233, {T}},
    {105, walk_rep, 12, {T, blaze, door_wait}},
    {106, walk_rep, 11, {T, blaze}},
    {107, walk_rep, 10, {T, blaze}},
    {108, walk, 12, {T, blaze, door_wait}},
    {109, walk, 11, {T, blaze}},
    {110, walk, 10, {T, blaze}},
    {111, use, 12, {T, blaze, door_wait}},
    {112, use, 11, {T, blaze}},
    {113, use, 10, {T, blaze}},
    {114, use_rep, 12, {T, blaze, door_wait}},
    {115, use_rep, 11, {T, blaze}},
    {116, use_rep, 10, {T, blaze}},
    {117, use_rep, 12, {0, blaze, door_wait}},
    {118, use, 11, {0, blaze}},
    {119, walk, 25, {T, slow}},
    {120, walk_rep, 206, {T, fast, lift_wait, 0}},
    {121, walk, 206, {T, fast, lift_wait, 0}},
    {122, use, 206, {T, fast, lift_wait, 0}},
    {123, use_rep, 206, {T, fast, lift_wait, 0}},
    {124, walk, 244, {0}},
    {125, monster, 70, {0, T}},
    {126, monster_rep, 70, {0, T}},
    {127, use, 217, {T, 32, 16}},
    {128, walk_rep, 25, {T, slow}},
    {129, walk_rep, 25, {T, lift}},
    {130, walk, 25, {T, lift}},
    {131, use, 25, {T, lift}},
    {132, use_rep, 25, {T, lift}},
    {133, use, 13, {T, blaze, 0, blue}},
    {134, use_rep, 13, {T, blaze, 0, red}},
    {135, use, 13, {T, blaze, 0, red}},
    {136, use_rep, 13, {T, blaze, 0, yellow}},
    {137, use, 13, {T, blaze, 0, yellow}},
    {138, use_rep, 112, {T, 255}},
    {139, use_rep, 112, {T, 35}},
    {140, use, 35, {T, slow, 64}},
    {141, walk, 104, {T, 8, 8, 10}},
    // Boom's.
    {145, walk, 254, {T, slow}},
    {151, walk_rep, 251, {T, slow, slow}},
    {152, walk_rep, 254, {T, slow}},
    {160, use, 239, {T, slow, 24}},
    {181, use_rep, 207, {T, slow, lift_wait, 0}},
    {199, walk, 253, {T, slow}},
    {200, walk, 192, {T, slow}},
    {207, anybody, 71, {0, 2, T, 1}},
    {213, none, 210, {T}},
    {220, walk_rep, 22, {T, slow}},
    {244, anybody_rep, 215, {T, T, 0}},
    {252, none, 223, {T, 4, 1}},
    {260, none, 208, {0, 168}},
    {261, none, 211, {T}},
    {13331, use_rep, 203, {T, 64, 8, 1}},   // a generalised lift: fast, to the lowest floor, 1 s
    {15889, walk_rep, 202, {T, 64, 0, 69}}  // a generalised door: fast, 300 tics, in eighths of a second
};

constexpr std::uint16_t the_tag = 7;
constexpr std::uint32_t the_line = 1;  // between rooms 1 and 2

/// Five rooms of which the middle one is tagged and has neighbours above and below it in every way.
SectorMap five_rooms(std::uint16_t special) {
  SectorMap map =
      row_of_rooms({{0, 128}, {64, 192}, {32, 128, the_tag}, {0, 160}, {16, 128}},
                   {{}, {special, the_tag}, {}, {}}, {thing_at(320, 200, teleport_landing_thing, 90)});
  // The other line of a line teleporter; conveyors' speeds come from their own line.
  map.lines[3].tag = the_tag;
  return map;
}

std::string number(double value) { return std::to_string(value); }

/// The map as UDMF text, its specials those of the namespace.
std::string as_udmf(const SectorMap& map, const Twin* twin) {
  std::string out = std::string("namespace = \"") + (twin != nullptr ? "zdoom" : "doom") + "\";\n";
  for (const DVec2& v : map.vertices) out += "vertex { x = " + number(v.x) + "; y = " + number(v.y) + "; }\n";
  for (const MapLine& l : map.lines) {
    out += "linedef { v1 = " + std::to_string(l.v1) + "; v2 = " + std::to_string(l.v2) +
           "; sidefront = " + std::to_string(l.front) + ";";
    if (l.back != no_index) out += " sideback = " + std::to_string(l.back) + "; twosided = true;";
    if ((l.flags & line_flag::blocking) != 0) out += " blocking = true;";
    if (l.tag != 0) out += " id = " + std::to_string(l.tag) + ";";
    if (l.special != 0 && twin == nullptr) {
      out += " special = " + std::to_string(l.special) + "; arg0 = " + std::to_string(l.tag) + ";";
    } else if (l.special != 0) {
      out += " special = " + std::to_string(twin->action) + ";";
      for (std::size_t i = 0; i < twin->args.size(); ++i) {
        const std::int32_t arg = twin->args[i] == T ? the_tag : twin->args[i];
        if (arg != 0) out += " arg" + std::to_string(i) + " = " + std::to_string(arg) + ";";
      }
      std::string flags = twin->flags;
      for (std::size_t at = 0; at < flags.size();) {
        const std::size_t end = std::min(flags.find(' ', at), flags.size());
        out += " " + flags.substr(at, end - at) + " = true;";
        at = end + 1;
      }
    }
    out += " }\n";
  }
  for (const MapSide& s : map.sides) out += "sidedef { sector = " + std::to_string(s.sector) + "; }\n";
  for (const MapSector& s : map.sectors)
    out += "sector { heightfloor = " + number(s.floor) + "; heightceiling = " + number(s.ceiling) +
           "; texturefloor = \"FLOOR\"; textureceiling = \"CEIL\"; id = " + std::to_string(s.tag) + "; }\n";
  for (const MapThing& t : map.things)
    out += "thing { x = " + number(t.x) + "; y = " + number(t.y) +
           "; angle = " + std::to_string(t.angle_deg) + "; type = " + std::to_string(t.type) +
           "; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; }\n";
  return out;
}

SectorMap parsed(const std::string& text) {
  auto map = parse_udmf(text);
  if (!map) FAIL(map.error().line());
  map->name = "ROOMS";
  return std::move(*map);
}

/// The map's one special line, as the world has it; inert ones are none of its.
LineAction action_of(const SectorMap& map) {
  const auto action = line_action(map, map.lines[the_line]);
  REQUIRE(action.has_value());
  return *action;
}

/// A world, and its moving parts alone: nobody is in there.
struct Machine {
  explicit Machine(const SectorMap& source)
      : map(must_place(source, closed())), plan(map), movers(plan.sector_count()) {
    heights.assign(map->initial_heights().begin(), map->initial_heights().end());
    // Something for the stops to stop.
    for (const Plane plane : {Plane::floor, Plane::ceiling}) {
      Mover m;
      m.sector = 2, m.plane = plane;
      m.motion = plane == Plane::floor ? Motion::perpetual : Motion::crusher;
      m.phase = MotionPhase::down;
      m.low_m = map->z_to_world(plane == Plane::floor ? 0 : 40);
      m.high_m = map->z_to_world(plane == Plane::floor ? 32 : 128);
      m.speed_mps = 1, m.wait_s = 1;
      going.push_back(m);
    }
  }
  static PlaceOptions closed() {
    PlaceOptions options;
    options.doors_open = false, options.doorway = false;
    return options;
  }
  bool start(bool stops) {
    if (stops)
      for (const Mover& m : going) movers.start(m);
    const LineAction* action = plan.action(the_line);
    return action != nullptr && start_effect({plan, movers, heights}, *action, the_line, true);
  }

  std::shared_ptr<const PlacedMap> map;
  MapPlan plan;
  SectorMovers movers;
  std::vector<SectorHeights> heights;
  std::vector<Mover> going;
};

bool moves_sectors(LineEffect e) {
  return e != LineEffect::inert && e != LineEffect::teleport && e != LineEffect::teleport_line &&
         e != LineEffect::exit && e != LineEffect::carry;
}

/// The same motion; what a door that stays would wait does not count.
bool same(const Mover& a, Mover b) {
  if (a.motion == Motion::door_open || a.motion == Motion::door_close) b.wait_s = a.wait_s;
  return a == b;
}

/// Both are set off in the same way and set the same in motion, tick for tick.
void require_same(const SectorMap& a, const SectorMap& b) {
  const LineAction x = action_of(a), y = action_of(b);
  CHECK(x.trigger == y.trigger);
  CHECK(x.effect == y.effect);
  CHECK(x.keys == y.keys);
  CHECK(x.any_key == y.any_key);
  CHECK(x.sector_behind == y.sector_behind);
  if (x.trigger != LineTrigger::none) {
    CHECK(x.repeats == y.repeats);
    CHECK(x.players == y.players);
    // A shot that sets a line off is a player's: no monster shoots.
    if (x.trigger != LineTrigger::shoot) CHECK(x.monsters == y.monsters);
  }
  Machine m(a), n(b);
  REQUIRE((m.plan.action(the_line) == nullptr) == (n.plan.action(the_line) == nullptr));
  REQUIRE(m.plan.conveyors().size() == n.plan.conveyors().size());
  CHECK((x.effect == LineEffect::carry) == !m.plan.conveyors().empty());
  for (std::size_t i = 0; i < m.plan.conveyors().size(); ++i) {
    CHECK(m.plan.conveyors()[i].sector == n.plan.conveyors()[i].sector);
    CHECK(m.plan.conveyors()[i].velocity_mps == n.plan.conveyors()[i].velocity_mps);
  }
  if (x.effect == LineEffect::teleport || x.effect == LineEffect::teleport_line) {
    const auto to = teleport_landing(m.plan, m.heights, the_line);
    const auto also = teleport_landing(n.plan, n.heights, the_line);
    REQUIRE(to.has_value());
    REQUIRE(also.has_value());
    CHECK(to->position_m == also->position_m);
    CHECK(to->yaw == also->yaw);
  }
  if (!moves_sectors(x.effect)) return;
  const bool stops = x.effect == LineEffect::lift_stop || x.effect == LineEffect::crusher_stop;
  CHECK(m.start(stops));
  CHECK(n.start(stops));
  REQUIRE_FALSE(m.movers.movers().empty());
  for (int tick = 0; tick < 60 * 40; ++tick) {
    REQUIRE(std::ranges::equal(m.movers.movers(), n.movers.movers(), same));
    REQUIRE(m.heights == n.heights);
    m.movers.advance_alone(*m.map, m.heights, 1.0 / 60);
    n.movers.advance_alone(*n.map, n.heights, 1.0 / 60);
  }
}

}  // namespace

TEST_CASE("Doom's line specials and their actions in UDMF's namespace zdoom set the same in motion",
          "[world][udmf][line_specials]") {
  for (const Twin& twin : twins) {
    CAPTURE(twin.doom, twin.action);
    const SectorMap map = five_rooms(twin.doom);
    const SectorMap udmf = parsed(as_udmf(map, &twin));
    CHECK(unknown_specials(udmf).empty());
    if (twin.doom == 15889) {
      // The format counts this wait in eighths of a second: the nearest to Boom's that it can say.
      CHECK(std::fabs(action_of(map).wait_s - action_of(udmf).wait_s) < 1.0 / 16);
      continue;
    }
    require_same(map, udmf);
  }
}

TEST_CASE("UDMF's namespace doom has Doom's own specials", "[world][udmf][line_specials]") {
  for (const Twin& twin : twins) {
    CAPTURE(twin.doom);
    const SectorMap map = five_rooms(twin.doom);
    require_same(map, parsed(as_udmf(map, nullptr)));
  }
}

TEST_CASE("every special of Freedoom's maps that does something has its counterpart in UDMF",
          "[world][udmf][line_specials]") {
  std::map<std::uint16_t, std::string> seen;
  each_freedoom_map([&](const SectorMap& map, const std::string& name, std::uint64_t) {
    for (const MapLine& line : map.lines)
      if (line.special != 0 && special_known(map.specials, line.special)) seen[line.special] = name;
  });
  std::set<std::uint16_t> known;
  for (const Twin& twin : twins) known.insert(twin.doom);
  for (const auto& [special, name] : seen) {
    CAPTURE(special, name);
    CHECK(known.contains(special));
  }
}

TEST_CASE("in the namespace zdoom sectors close and open by themselves under numbers of their own",
          "[world][udmf]") {
  SectorMap map = five_rooms(0);
  std::string text = as_udmf(map, &twins[0]);
  const auto with_special = [&](const char* special) {
    std::string out = text;
    const std::size_t at = out.rfind("sector { heightfloor") + 8;
    return out.insert(at, std::string(" special = ") + special + ";");
  };
  CHECK(MapPlan(must_place(parsed(with_special("74")))).timed_sectors().size() == 1);
  CHECK(MapPlan(must_place(parsed(with_special("78")))).timed_sectors().size() == 1);
  // Doom's own numbers are something else there.
  CHECK(MapPlan(must_place(parsed(with_special("10")))).timed_sectors().empty());
}

TEST_CASE("UDMF's actions without a twin among Doom's specials go where their arguments say",
          "[world][udmf][line_specials]") {
  // The middle room has floor 32 and ceiling 128; beside it floors are at 64 and 0, ceilings at 192 and 160.
  struct Case {
    std::uint16_t action;
    std::array<std::int32_t, 5> args;
    Plane plane;
    double low, high;  ///< ends of the way, in the map's units
  };
  const Plane floor = Plane::floor, ceiling = Plane::ceiling;
  const Case cases[] = {
      {20, {T, slow, 16}, floor, 16, 16},           {24, {T, slow}, floor, 64, 64},
      {28, {T, slow, 10}, floor, 120, 120},         {40, {T, slow, 16}, ceiling, 112, 112},
      {41, {T, slow, 16}, ceiling, 144, 144},       {42, {T, slow, 10}, ceiling, 40, 128},
      {60, {T, slow, lift_wait}, floor, 8, 64},  // eight above the floor beside it
      {62, {T, lift, lift_wait}, floor, 8, 32},     {63, {T, lift, lift_wait, 2}, floor, 16, 32},
      {64, {T, lift, lift_wait}, floor, 32, 64},    {65, {T, lift, lift_wait, 2}, floor, 32, 48},
      {97, {T, slow, 10, 24}, ceiling, 56, 56},     {200, {T, slow, 0, 1, 8}, floor, 64, 64},
      {200, {T, slow, 0, 2, 0}, floor, 0, 0},       {200, {T, slow, 24, 0, 0}, floor, 8, 8},
      {201, {T, slow, 0, 2, 0}, ceiling, 160, 160}, {201, {T, slow, 0, 3, 8}, ceiling, 160, 160},
      {201, {T, slow, 0, 4, 0}, ceiling, 64, 64},   {203, {T, lift, 8, 0, 2}, floor, 32, 48},
      {204, {T, slow, 16, 1, 0}, floor, 48, 48},    {204, {T, slow, 16, 0, 0}, floor, 16, 16},
      {252, {T, slow}, ceiling, 160, 160},
  };
  for (const Case& c : cases) {
    CAPTURE(c.action, c.args[3]);
    const Twin written{0, use, c.action, c.args};
    Machine m(parsed(as_udmf(five_rooms(1), &written)));
    REQUIRE(m.start(false));
    const Mover* mover = m.movers.find(2, c.plane);
    REQUIRE(mover != nullptr);
    CHECK(m.map->z_to_map(mover->low_m) == c.low);
    CHECK(m.map->z_to_map(mover->high_m) == c.high);
  }
  // With tag 0 it is the sector behind the line that moves, whatever the action.
  for (const std::uint16_t action : std::initializer_list<std::uint16_t>{10, 21, 40, 42, 62, 217}) {
    CAPTURE(action);
    const Twin written{0, use, action, {0, slow, 8, 8, 0}};
    Machine m(parsed(as_udmf(five_rooms(1), &written)));
    CHECK(m.start(false));
    REQUIRE_FALSE(m.movers.movers().empty());
    CHECK(m.movers.movers().front().sector == 2);
  }
  // A tag that no sector can have is nobody's.
  for (const std::int32_t tag : {-7, 65536, 65537}) {
    CAPTURE(tag);
    const Twin written{0, use, 21, {tag, slow}};
    Machine m(parsed(as_udmf(five_rooms(1), &written)));
    CHECK_FALSE(m.start(false));
    SectorMap map;
    map.specials = SpecialNumbers::zdoom;
    MapLine line;
    line.special = 70;
    line.args = {0, tag};
    CHECK(line_action(map, line)->tag == 0);
  }
}
