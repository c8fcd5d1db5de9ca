#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "world/bsp/line_grid.h"
#include "world/bsp/visibility.h"
#include "world/sim/mover_start.h"
#include "world/sim/player_move.h"
#include "world/sim/teleport.h"
#include "world/sim/triggers.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

// What of a map can be reached on foot from a place: a flood over sectors (over their pieces: many sectors of
// one map lie in several places at once) that opens doors, rides lifts, sets off every line it comes to with
// the real movers, takes keys and teleporters. Heights count as the range a sector has shown so far, so
// whatever waits long enough is passed.

namespace ashlar::testing {

/// How a sector was first entered.
struct ReachStep {
  std::uint32_t from = no_index;  ///< sector; no_index: the start
  std::uint32_t line = no_index;  ///< the line crossed, or the teleporter's
  bool teleport = false;
  bool jump = false;  ///< higher than a step
};

struct Reach {
  std::vector<std::uint8_t> reached;     ///< by sector
  std::vector<ReachStep> step;           ///< by sector
  std::vector<std::uint32_t> order;      ///< sectors in the order they were reached
  std::vector<std::uint32_t> lines;      ///< lines set off, in order
  std::vector<SectorHeights> low, high;  ///< lowest and highest floor and ceiling seen
  std::uint8_t keys = 0;
  std::uint32_t teleports = 0, locked = 0;
};

struct ReachRules {
  double step_m = 0.75;
  double height_m = 1.75;
  double jump_m = 0;          ///< height of a jump; nobody steps up in the air, so the two do not add up
  double jump_room_m = 0.15;  ///< over the head of one who jumps: it rises past the edge
  double run_mps = 6;         ///< of a run off a ledge
  bool monster = false;       ///< no keys, no shots, and only the lines that work for monsters
};

class Flood {
 public:
  Flood(const MapPlan& plan, const ReachRules& rules) : plan_(plan), map_(plan.map()), rules_(rules) {
    heights_.assign(map_.initial_heights().begin(), map_.initial_heights().end());
    movers_ = SectorMovers(plan.sector_count());
    placed_.push_back({&map_, heights_});
    find_pieces();
    out_.reached.assign(plan.sector_count(), 0);
    out_.step.resize(plan.sector_count());
    out_.low = out_.high = heights_;
    fired_.assign(map_.source().lines.size(), 0);
    leapt_.assign(map_.source().lines.size() * 2, -1e9);
    // The map's own box lies in one open volume: only the map is solid to shots and uses here.
    const BlockBox& box = map_.box();
    for (int x = chunk_of(box.min).x; x <= chunk_of(box.max).x; ++x)
      for (int y = chunk_of(box.min).y; y <= chunk_of(box.max).y; ++y)
        for (int z = chunk_of(box.min).z; z <= chunk_of(box.max).z; ++z)
          volume_.insert_chunk({x, y, z}, std::make_unique<Chunk>());
  }

  Reach run(DVec3 start) { return run(std::vector<DVec3>{start}); }
  Reach run(const std::vector<DVec3>& starts) {
    for (const DVec3& start : starts) {
      const std::uint32_t piece = piece_at(xy(start));
      if (piece != no_index) enter(piece, {});
    }
    for (int round = 0; round < 3; ++round) {
      for (bool changed = true; changed;) {
        changed = spread();
        changed = take_keys() || changed;
        changed = fire() || changed;
        if (!changed) changed = leap();
      }
      // Whatever works again is set off again: things stand differently now.
      const std::size_t before = order_.size();
      for (std::uint32_t l = 0; l < fired_.size(); ++l)
        if (fired_[l] != 0 && plan_.action(l)->repeats) fired_[l] = 0;
      for (bool changed = true; changed;) {
        changed = spread();
        changed = take_keys() || changed;
        changed = fire() || changed;
        if (!changed) changed = leap();
      }
      if (order_.size() == before) break;
    }
    return out_;
  }

 private:
  double ceiling(const SectorHeights& h, std::uint32_t s) const {
    return map_.open_to_sky(s, h) ? 1e9 : h.ceiling_m;
  }

  /// Leaves of one sector that hang together are a piece.
  void find_pieces() {
    const BspTree& tree = map_.tree();
    std::vector<std::uint32_t> parent(tree.leaves.size());
    for (std::uint32_t i = 0; i < parent.size(); ++i) parent[i] = i;
    const auto root = [&](std::uint32_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    for (const LeafOpening& o : leaf_openings(tree))
      if (tree.leaves[o.front].sector == tree.leaves[o.back].sector) parent[root(o.front)] = root(o.back);
    piece_of_leaf_.assign(parent.size(), no_index);
    for (std::uint32_t i = 0; i < parent.size(); ++i) {
      if (tree.leaves[i].sector == no_index) continue;
      std::uint32_t& of_root = piece_of_leaf_[root(i)];
      if (of_root == no_index) {
        of_root = static_cast<std::uint32_t>(sector_of_piece_.size());
        sector_of_piece_.push_back(tree.leaves[i].sector);
      }
      piece_of_leaf_[i] = of_root;
    }
    reached_piece_.assign(sector_of_piece_.size(), 0);
    lines_of_piece_.resize(sector_of_piece_.size());
    const SectorMap& source = map_.source();
    sides_.resize(source.lines.size());
    for (std::uint32_t l = 0; l < source.lines.size(); ++l) {
      sides_[l].front = piece_beside(l, true);
      sides_[l].back = piece_beside(l, false);
      if (sides_[l].front != no_index) lines_of_piece_[sides_[l].front].push_back(l);
      if (sides_[l].back != no_index && sides_[l].back != sides_[l].front)
        lines_of_piece_[sides_[l].back].push_back(l);
    }
  }

  /// The piece along one side of a line; no_index: void, or too thin to be found.
  std::uint32_t piece_beside(std::uint32_t line, bool front) const {
    const SectorMap& source = map_.source();
    const MapLine& l = source.lines[line];
    const std::uint32_t sector = front ? source.front_sector(l) : source.back_sector(l);
    const DVec2 a = plan_.start_m(line), along = plan_.end_m(line) - a;
    const double long_m = length(along);
    if (sector == no_index || long_m <= 0) return no_index;
    const DVec2 out = DVec2{along.y, -along.x} * ((front ? 1 : -1) / long_m);
    for (const double away : {0.01, 0.002, 0.0005})
      for (const double at : {0.5, 0.25, 0.75, 0.1, 0.9}) {
        const std::uint32_t leaf = map_.tree().leaf_at(map_.to_map(a + along * at + out * away));
        if (map_.tree().leaves[leaf].sector == sector) return piece_of_leaf_[leaf];
      }
    return no_index;
  }

  std::uint32_t piece_at(DVec2 p) const { return piece_of_leaf_[map_.tree().leaf_at(map_.to_map(p))]; }
  bool reached_at(DVec2 p) const {
    const std::uint32_t piece = piece_at(p);
    return piece != no_index && reached_piece_[piece] != 0;
  }
  bool reached_side(std::uint32_t line, bool front) const {
    const std::uint32_t piece = front ? sides_[line].front : sides_[line].back;
    return piece != no_index && reached_piece_[piece] != 0;
  }

  void enter(std::uint32_t piece, const ReachStep& step) {
    if (reached_piece_[piece] != 0) return;
    reached_piece_[piece] = 1;
    order_.push_back(piece);
    const std::uint32_t s = sector_of_piece_[piece];
    if (out_.reached[s] != 0) return;
    out_.reached[s] = 1;
    out_.step[s] = step;
    out_.order.push_back(s);
  }

  /// Keys are taken from beside their niche too: by a body that fits within reach of them.
  bool take_keys() {
    if (rules_.monster) return false;
    const Space space{&volume_, placed_};
    bool any = false;
    for (const MapKey& k : plan_.keys()) {
      if ((out_.keys & k.key) != 0) continue;
      const std::uint32_t own = map_.tree().sector_at(map_.to_map(xy(k.position_m)));
      if (reached_at(xy(k.position_m))) {
        out_.keys = static_cast<std::uint8_t>(out_.keys | k.key);
        any = true;
        continue;
      }
      const double key_z = own == no_index ? k.position_m.z : heights_[own].floor_m;
      for (int i = 0; i < 81; ++i) {
        const DVec2 p = xy(k.position_m) + DVec2{(i % 9 - 4) * 0.27, (i / 9 - 4) * 0.27};
        const std::uint32_t s = map_.tree().sector_at(map_.to_map(p));
        if (s == no_index || !reached_at(p)) continue;
        const double z = heights_[s].floor_m;
        if (key_z + 0.5 < z || key_z > z + rules_.height_m) continue;
        const auto ground = map_floor_ceiling(map_, heights_, p, 0.3);
        if (!ground || space_overlaps(space, {0.3, 1.75}, {p.x, p.y, ground->floor_m})) continue;
        out_.keys = static_cast<std::uint8_t>(out_.keys | k.key);
        any = true;
        break;
      }
    }
    return any;
  }

  /// Can a body go from one sector over a shared line into the other, at some time?
  bool passes(std::uint32_t from, std::uint32_t to, bool& jump) const {
    const double top = std::min(ceiling(out_.high[from], from), ceiling(out_.high[to], to));
    const double up = std::max(rules_.step_m, rules_.jump_m);
    if (out_.low[to].floor_m > out_.high[from].floor_m + up + 1e-9) return false;
    // Step up from as low as still works.
    const double stand = std::max(out_.low[from].floor_m, out_.low[to].floor_m - up);
    const double at = std::max(stand, out_.low[to].floor_m);
    jump = out_.low[to].floor_m > out_.high[from].floor_m + rules_.step_m + 1e-9;
    return at + rules_.height_m + (jump ? rules_.jump_room_m : 0) <= top + 1e-9;
  }

  bool crossable(std::uint32_t line) const {
    const MapLine& l = map_.source().lines[line];
    const std::uint32_t kept_back = line_flag::blocking | (rules_.monster ? line_flag::block_monsters : 0u);
    return (l.flags & kept_back) == 0 && l.back != no_index;
  }

  bool spread() {
    bool any = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::uint32_t from = order_[i];
      for (const std::uint32_t line : lines_of_piece_[from]) {
        const std::uint32_t to = sides_[line].front == from ? sides_[line].back : sides_[line].front;
        if (to == no_index || reached_piece_[to] != 0 || !crossable(line)) continue;
        bool jump = false;
        const std::uint32_t here = sector_of_piece_[from], there = sector_of_piece_[to];
        if (here != there && !passes(here, there, jump)) continue;
        enter(to, {here, line, false, jump});
        any = true;
      }
    }
    return any;
  }

  /// Where a body comes down that runs off an edge, with the real movement; no_index: nowhere.
  std::uint32_t leap_from(DVec3 base, DVec2 way, bool jumps) const {
    const Space space{&volume_, placed_};
    Rules rules;
    rules.tick_rate_hz = 60;
    rules.walk_speed_mps_max = rules_.run_mps;
    Body body;
    body.position_m = body.last_free_m = base;
    if (space_overlaps(space, rules.player, base)) return no_index;
    body.velocity_mps = {way.x * rules.walk_speed_mps_max, way.y * rules.walk_speed_mps_max, 0};
    body.grounded = 1;
    PlayerCommand command;
    command.forward = 1;
    command.yaw = turn_towards(way);
    command.buttons = jumps ? button::jump : 0;
    bool flew = false;
    for (int tick = 0; tick < 120; ++tick) {
      player_move(space, rules, command, body);
      command.buttons = 0;
      flew = flew || body.grounded == 0;
      if (!flew && tick > 20) break;
      if (!flew || body.grounded == 0) continue;
      // On the rim of what it came down on its middle may be over something lower yet.
      const std::uint32_t piece = piece_at(xy(body.position_m));
      if (piece == no_index) continue;
      const double floor_m = heights_[sector_of_piece_[piece]].floor_m;
      if (std::fabs(floor_m - body.position_m.z) <= rules_.step_m) return piece;
    }
    return no_index;
  }

  /// Runs off every ledge of what is reached, with a jump and without, and sees where it lands.
  bool leap() {
    if (rules_.jump_m <= 0) return false;
    bool any = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::uint32_t piece = order_[i], from = sector_of_piece_[piece];
      for (const std::uint32_t line : lines_of_piece_[piece]) {
        const std::uint32_t over = plan_.beside(from, line);
        if (over == no_index || !crossable(line)) continue;
        if (heights_[over].floor_m > heights_[from].floor_m - rules_.step_m) continue;
        const double from_z = heights_[from].floor_m;
        auto& leapt =
            leapt_[2 * line + (map_.source().front_sector(map_.source().lines[line]) == from ? 0 : 1)];
        if (leapt == from_z) continue;  // from this height it was tried
        leapt = from_z;
        const DVec2 a = plan_.start_m(line), b = plan_.end_m(line);
        const double long_m = length(b - a);
        if (long_m < 0.25) continue;
        DVec2 out = DVec2{b.y - a.y, a.x - b.x} * (1 / long_m);
        if (map_.source().front_sector(map_.source().lines[line]) == from) out = out * -1;
        for (const double along : {0.5, 0.2, 0.8})
          for (const double turn : {0.0, 0.5, -0.5}) {
            DVec2 way = out + (b - a) * (turn / long_m);
            way = way * (1 / length(way));
            const DVec2 p = a + (b - a) * along - out * 0.05;
            // Under a low lintel a jump ends at it, and a run off the edge does not.
            for (const bool jumps : {true, false}) {
              const std::uint32_t landed = leap_from({p.x, p.y, from_z}, way, jumps);
              if (landed == no_index || reached_piece_[landed] != 0) continue;
              any = true;
              enter(landed, {from, line, false, true});
            }
          }
      }
    }
    return any;
  }

  bool can_use(std::uint32_t line) const {
    const DVec2 a = plan_.start_m(line), b = plan_.end_m(line);
    const double long_m = length(b - a);
    if (long_m <= 0) return false;
    const DVec2 out = DVec2{b.y - a.y, a.x - b.x} * (1 / long_m);
    for (const double along : {0.5, 0.25, 0.75})
      for (const double away : {0.4, 0.9, 1.7}) {
        const DVec2 p = a + (b - a) * along + out * away;
        const std::uint32_t s = map_.tree().sector_at(map_.to_map(p));
        if (s == no_index || !reached_at(p)) continue;
        const DVec3 base{p.x, p.y, heights_[s].floor_m};
        if (line_used(plan_, {&volume_, placed_}, heights_, base, {0.3, 1.75}, turn_towards(out * -1), 2) ==
            line)
          return true;
      }
    return false;
  }

  bool can_walk(std::uint32_t line, bool front_only) const {
    if (!crossable(line)) return false;
    const SectorMap& m = map_.source();
    const std::uint32_t front = m.front_sector(m.lines[line]), back = m.back_sector(m.lines[line]);
    bool jump = false;
    if (front == back) return reached_side(line, true) || (!front_only && reached_side(line, false));
    if (reached_side(line, true) && passes(front, back, jump)) return true;
    return !front_only && reached_side(line, false) && passes(back, front, jump);
  }

  bool can_shoot(std::uint32_t line) const {
    const DVec2 a = plan_.start_m(line), b = plan_.end_m(line);
    const double long_m = length(b - a);
    if (long_m <= 0) return false;
    const DVec2 normal = DVec2{b.y - a.y, a.x - b.x} * (1 / long_m);
    const std::uint32_t front = map_.source().front_sector(map_.source().lines[line]);
    const DVec2 mid = (a + b) * 0.5;
    const double top = std::min(ceiling(heights_[front], front), heights_[front].floor_m + 4);
    const DVec3 aim{mid.x, mid.y, (heights_[front].floor_m + top) / 2};
    for (const double side : {1.0, -1.0})
      for (const double away : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0})
        for (const double skew : {0.0, 0.5, -0.5}) {
          const DVec2 p = mid + normal * (side * away) + (b - a) * (1 / long_m) * (skew * away);
          const std::uint32_t s = map_.tree().sector_at(map_.to_map(p));
          if (s == no_index || !reached_at(p)) continue;
          const DVec3 eye{p.x, p.y, heights_[s].floor_m + 1.6};
          const DVec3 d = aim - eye;
          const CrossedLines hit =
              lines_shot(plan_, {&volume_, placed_}, eye, d * (1 / length(d)), Rules{}.shot_range_m);
          for (std::size_t i = 0; i < hit.count; ++i)
            if (hit.list[i].line == line) return true;
        }
    return false;
  }

  bool works_for_monsters(std::uint32_t line, const LineAction& a) const {
    const bool secret = (map_.source().lines[line].flags & line_flag::secret) != 0;
    return a.monsters && a.keys == 0 && a.trigger != LineTrigger::shoot &&
           !(a.trigger == LineTrigger::use && secret);
  }

  /// Sets off every line that can be, each once; the real movers then run until they rest.
  bool fire() {
    bool any = false;
    out_.locked = 0;
    for (std::uint32_t l = 0; l < fired_.size(); ++l) {
      const LineAction* a = plan_.action(l);
      if (a == nullptr || fired_[l] != 0 || a->effect == LineEffect::exit) continue;
      if (rules_.monster ? !works_for_monsters(l, *a) : !a->players) continue;
      const bool teleports = a->effect == LineEffect::teleport || a->effect == LineEffect::teleport_line;
      const bool can = a->trigger == LineTrigger::use    ? can_use(l)
                       : a->trigger == LineTrigger::walk ? can_walk(l, teleports)
                                                         : can_shoot(l);
      if (!can) continue;
      const auto held = static_cast<std::uint8_t>(a->keys & out_.keys);
      if (a->keys != 0 && (a->any_key ? held == 0 : held != a->keys)) {
        ++out_.locked;
        continue;
      }
      fired_[l] = 1;
      out_.lines.push_back(l);
      any = true;
      if (teleports) {
        const auto landing = teleport_landing(plan_, heights_, l);
        const std::uint32_t there = landing ? piece_at(xy(landing->position_m)) : no_index;
        if (there != no_index && reached_piece_[there] == 0) {
          ++out_.teleports;
          enter(there, {map_.source().front_sector(map_.source().lines[l]), l, true, false});
        }
        continue;
      }
      if (start_effect({plan_, movers_, heights_}, *a, l, !rules_.monster)) settle();
    }
    return any;
  }

  /// Runs the movers, without bodies, until nothing moves or what goes on for ever went round.
  void settle() {
    for (int i = 0; i < 40 * 10 && !movers_.movers().empty(); ++i) {
      MoverTick tick{plan_, {&volume_, placed_}, heights_, {}, touching_, events_, 0};
      events_.clear();
      movers_.advance(tick, 0.1);
      for (const Mover& m : movers_.movers()) note(m.sector);
      for (const MoverEvent& e : events_.list()) note(e.where);
    }
    // Waits of half a minute, perpetual lifts and crushers do not hold up the next line.
    std::vector<Mover> rest;
    for (const Mover& m : movers_.movers())
      if (m.motion == Motion::perpetual || m.motion == Motion::crusher) rest.push_back(m);
    movers_.assign(rest);
  }
  void note(std::uint32_t s) {
    out_.low[s].floor_m = std::min(out_.low[s].floor_m, heights_[s].floor_m);
    out_.low[s].ceiling_m = std::min(out_.low[s].ceiling_m, heights_[s].ceiling_m);
    out_.high[s].floor_m = std::max(out_.high[s].floor_m, heights_[s].floor_m);
    out_.high[s].ceiling_m = std::max(out_.high[s].ceiling_m, heights_[s].ceiling_m);
  }

  struct Sides {
    std::uint32_t front = no_index, back = no_index;  // pieces
  };

  const MapPlan& plan_;
  const PlacedMap& map_;
  ReachRules rules_;
  std::vector<std::uint32_t> piece_of_leaf_, sector_of_piece_;
  std::vector<std::uint8_t> reached_piece_;
  std::vector<std::uint32_t> order_;  // pieces in the order they were reached
  std::vector<Sides> sides_;          // by line
  std::vector<std::vector<std::uint32_t>> lines_of_piece_;
  std::vector<SectorHeights> heights_;
  std::vector<MapInSpace> placed_;
  VoxelVolume volume_;
  SectorMovers movers_;
  BodiesBySector touching_{plan_.sector_count(), 1};
  MoverEvents events_;
  std::vector<std::uint8_t> fired_;
  std::vector<double> leapt_;  // by line and side: the height from which the leap was tried
  Reach out_;
};

/// Area of each sector's leaves, square map units.
inline std::vector<double> sector_areas(const PlacedMap& map) {
  std::vector<double> out(map.source().sectors.size(), 0);
  for (std::uint32_t leaf = 0; leaf < map.tree().leaves.size(); ++leaf)
    if (map.tree().leaves[leaf].sector != no_index)
      out[map.tree().leaves[leaf].sector] += leaf_area(map.tree(), leaf);
  return out;
}

/// Where players of one number start, 1 to 4. Of several the last counts, as in Doom: the others are dolls.
inline std::optional<DVec3> player_start(const PlacedMap& map, std::uint16_t number) {
  std::optional<DVec3> out;
  for (const PlacedThing& t : map.things())
    if (t.type == number && t.sector != no_index) out = t.position_m;
  return out;
}

}  // namespace ashlar::testing
