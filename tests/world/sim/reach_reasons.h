#pragma once
#include <array>
#include <cstdio>
#include <map>
#include <string>

#include "tests/world/sim/reach.h"
#include "world/sim/thing_table.h"

// Why a flood did not come to a part of a map, read from the part's own borders. A part is what hangs
// together over lines that can be crossed, whatever the steps: one reason for all of it.

namespace ashlar::testing {

enum class Unreached : std::uint8_t {
  low,     ///< the sector is never as high as a body, whatever is set off: shut, decoration, lamps
  boss,    ///< opens when the map's last monsters die (tags 666 and 667)
  locked,  ///< moved by a line whose key was not found
  line,    ///< moved by a line that was not set off
  ledge,   ///< every border is higher than a jump
  slit,    ///< every border is lower than a body: windows, grates
  fence,   ///< every border blocks by its flag
  sealed,  ///< no border with anything that was reached, and nothing opens it
  other,   ///< reached from where other players start: players 2 to 4, or in deathmatch
  run,     ///< reached at Doom's running speed: a run off a ledge carries three times as far
};
inline constexpr std::size_t unreached_count = 10;
inline constexpr std::array<const char*, unreached_count> unreached_names{
    "too low for a body", "after the boss", "locked", "line not set off",  "higher than a jump",
    "behind a slit",      "fenced off",     "sealed", "from other starts", "needs Doom's run"};
/// 16 2/3 units a tic of 1/35 s.
inline constexpr double doom_run_mps = 18.2;

struct UnreachedPart {
  Unreached why{};                ///< first cause
  std::uint32_t at = no_index;    ///< a border sector of the part
  std::uint32_t line = no_index;  ///< of locked and line: the line; of ledge: the lowest border
  double rise_m = 0;              ///< of ledge: how high
  bool by_others = false;         ///< the flood from where other players start comes there
  bool worth = false;             ///< there is something for a player: a pickup, a start, a switch or door
  std::uint32_t sectors = 0;      ///< with floor area
};

/// Is there something for a player in each sector?
inline std::vector<std::uint8_t> worth_finding(const MapPlan& plan) {
  std::vector<std::uint8_t> out(plan.sector_count(), 0);
  const PlacedMap& map = plan.map();
  for (const PlacedThing& t : map.things()) {
    const ThingType* type = find_thing_type(t.type);
    if (t.sector == no_index || type == nullptr) continue;
    if (type->role == ThingRole::pickup || type->role == ThingRole::player_start) out[t.sector] = 1;
  }
  for (std::uint32_t l = 0; l < map.source().lines.size(); ++l) {
    const LineAction* a = plan.action(l);
    if (a != nullptr && a->trigger == LineTrigger::use && a->players)
      out[map.source().front_sector(map.source().lines[l])] = 1;
  }
  return out;
}

class Reasons {
 public:
  Reasons(const MapPlan& plan, const Reach& reach, const ReachRules& rules)
      : plan_(plan),
        map_(plan.map()),
        r_(reach),
        rules_(rules),
        areas_(sector_areas(map_)),
        worth_(worth_finding(plan)),
        lines_moving_(plan.sector_count()),
        fired_(map_.source().lines.size(), 0) {
    for (const std::uint32_t l : r_.lines) fired_[l] = 1;
    for (std::uint32_t l = 0; l < fired_.size(); ++l) {
      const LineAction* a = plan_.action(l);
      if (a == nullptr || fired_[l] != 0 || a->effect == LineEffect::teleport ||
          a->effect == LineEffect::teleport_line || a->effect == LineEffect::exit)
        continue;
      if (a->sector_behind) {
        const std::uint32_t behind = map_.source().back_sector(map_.source().lines[l]);
        if (behind != no_index) lines_moving_[behind].push_back(l);
      } else {
        for (const auto& [tag, sector] : plan_.tagged(a->tag)) lines_moving_[sector].push_back(l);
      }
    }
  }

  /// Every part, the sectors that are too low each for itself; those without floor area are left out.
  std::vector<UnreachedPart> all() {
    const std::vector<UnreachedPart> parts = find_parts();
    std::vector<UnreachedPart> out;
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
      if (parts[i].sectors == 0) continue;
      UnreachedPart p = parts[i];
      if (p.why != Unreached::low) {
        std::vector<std::uint8_t> visited(parts.size(), 0);
        const UnreachedPart& cause = first_cause(parts, i, visited);
        p.why = cause.why, p.at = cause.at, p.line = cause.line, p.rise_m = cause.rise_m;
        // Closets that open each other's doors from within: only those who start inside come out.
        if (p.why == Unreached::line && p.by_others) p.why = Unreached::other;
      }
      out.push_back(p);
    }
    return out;
  }

  double area(std::uint32_t sector) const { return areas_[sector]; }

 private:
  /// The flood from all other starts, and the one that runs as fast as Doom's players do.
  void flood_otherwise() {
    std::vector<DVec3> starts;
    for (const PlacedThing& t : map_.things())
      if (t.sector != no_index && ((t.type >= 2 && t.type <= 4) || t.type == 11))
        starts.push_back(t.position_m);
    from_others_ = Flood(plan_, rules_).run(starts).reached;
    ReachRules fast = rules_;
    fast.run_mps = doom_run_mps;
    if (const auto start = player_start(map_, 1)) running_ = Flood(plan_, fast).run(*start).reached;
    running_.resize(areas_.size(), 0);
  }

  const UnreachedPart& first_cause(const std::vector<UnreachedPart>& parts, std::uint32_t at,
                                   std::vector<std::uint8_t>& visited) const {
    const UnreachedPart& p = parts[at];
    visited[at] = 1;
    std::vector<std::uint32_t> next;
    if (p.why == Unreached::line) {
      const MapLine& l = map_.source().lines[p.line];
      for (const std::uint32_t s : {map_.source().front_sector(l), map_.source().back_sector(l)})
        if (s != no_index && r_.reached[s] == 0) next.push_back(part_of_[s]);
    } else if (p.why == Unreached::locked) {
      const auto lacks = static_cast<std::uint8_t>(plan_.action(p.line)->keys & ~r_.keys);
      for (const MapKey& k : plan_.keys()) {
        const std::uint32_t s = map_.tree().sector_at(map_.to_map(xy(k.position_m)));
        if ((k.key & lacks) != 0 && s != no_index && r_.reached[s] == 0) next.push_back(part_of_[s]);
      }
    }
    for (const std::uint32_t part : next)
      if (visited[part] == 0) {
        const UnreachedPart& cause = first_cause(parts, part, visited);
        if (cause.why != Unreached::low) return cause;
      }
    return p;
  }

  /// All parts, the sectors of each noted in part_of_.
  std::vector<UnreachedPart> find_parts() {
    flood_otherwise();
    std::vector<UnreachedPart> out;
    std::vector<std::uint8_t> seen(areas_.size(), 0);
    part_of_.assign(areas_.size(), no_index);
    for (std::uint32_t first = 0; first < areas_.size(); ++first) {
      if (seen[first] != 0 || r_.reached[first] != 0) continue;
      seen[first] = 1;
      std::vector<std::uint32_t> part{first};
      if (high_enough(first))
        for (std::size_t i = 0; i < part.size(); ++i)
          for (const std::uint32_t line : plan_.lines_of(part[i])) {
            const std::uint32_t other = plan_.beside(part[i], line);
            if (other == no_index || fence(line) || seen[other] != 0 || r_.reached[other] != 0) continue;
            if (!high_enough(other)) continue;
            seen[other] = 1;
            part.push_back(other);
          }
      for (const std::uint32_t s : part) part_of_[s] = static_cast<std::uint32_t>(out.size());
      out.push_back(explain(part));
    }
    return out;
  }

  bool fence(std::uint32_t line) const {
    return (map_.source().lines[line].flags & line_flag::blocking) != 0;
  }
  bool high_enough(std::uint32_t s) const {
    return map_.sky(s) || r_.high[s].ceiling_m - r_.low[s].floor_m >= rules_.height_m;
  }

  UnreachedPart explain(const std::vector<std::uint32_t>& part) const {
    UnreachedPart out;
    out.why = high_enough(part[0]) ? Unreached::sealed : Unreached::low;
    out.at = part[0];
    for (const std::uint32_t s : part) {
      out.sectors += areas_[s] >= 1 ? 1 : 0;
      out.worth = out.worth || worth_[s] != 0;
    }
    if (out.why == Unreached::low) return out;
    const auto reached_by = [&](const std::vector<std::uint8_t>& flood) {
      const auto s = std::ranges::find_if(part, [&](std::uint32_t i) { return flood[i] != 0; });
      if (s != part.end()) out.at = *s;
      return s != part.end();
    };
    if (reached_by(running_)) {
      out.why = Unreached::run;
      return out;
    }
    out.by_others = reached_by(from_others_);
    const auto better = [&](Unreached why, std::uint32_t at, std::uint32_t line, double rise_m = 0) {
      if (why > out.why || (why == out.why && (why != Unreached::ledge || rise_m >= out.rise_m))) return;
      out.why = why, out.at = at, out.line = line, out.rise_m = rise_m;
    };
    for (const std::uint32_t s : part)
      for (const std::uint32_t line : plan_.lines_of(s)) {
        const std::uint32_t other = plan_.beside(s, line);
        if (other == no_index) continue;
        if (fence(line)) {
          if (r_.reached[other] != 0) better(Unreached::fence, s, line);
          continue;
        }
        for (const std::uint32_t moved : {s, other}) {
          const std::uint16_t tag = map_.source().sectors[moved].tag;
          if (tag == 666 || tag == 667) better(Unreached::boss, moved, line);
          for (const std::uint32_t l : lines_moving_[moved]) {
            // A line within the part is set off by those who are there already.
            const MapLine& by = map_.source().lines[l];
            const std::uint32_t front = map_.source().front_sector(by), back = map_.source().back_sector(by);
            if (std::ranges::find(part, front) != part.end() && (back == no_index || r_.reached[back] == 0))
              continue;
            const std::uint8_t lacks = static_cast<std::uint8_t>(plan_.action(l)->keys & ~r_.keys);
            better(lacks != 0 ? Unreached::locked : Unreached::line, moved, l);
          }
        }
        if (r_.reached[other] == 0) continue;
        const double rise = r_.low[s].floor_m - r_.high[other].floor_m;
        if (rise > std::max(rules_.jump_m, rules_.step_m))
          better(Unreached::ledge, s, line, rise);
        else
          better(Unreached::slit, s, line);
      }
    if (out.by_others && out.why > Unreached::line) out.why = Unreached::other;
    return out;
  }

  const MapPlan& plan_;
  const PlacedMap& map_;
  const Reach& r_;
  ReachRules rules_;
  std::vector<double> areas_;
  std::vector<std::uint8_t> worth_;
  std::vector<std::vector<std::uint32_t>> lines_moving_;  // by sector: lines that were not set off
  std::vector<std::uint8_t> fired_;
  std::vector<std::uint8_t> from_others_, running_;  // by sector: reached by the other floods
  std::vector<std::uint32_t> part_of_;               // by sector that was not reached
};

}  // namespace ashlar::testing
