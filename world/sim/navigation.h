#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "world/collide/space.h"
#include "world/math/hash.h"
#include "world/nav/way_field.h"
#include "world/sim/block_navigation.h"
#include "world/sim/detours.h"
#include "world/sim/map_lifts.h"
#include "world/sim/tables.h"

namespace ashlar {

struct MapMechanics;

/// Where somebody who goes by a field heads next.
struct WayPoint {
  DVec2 at_m;
  double floor_m = 0;     ///< of the sector behind the next opening
  double distance_m = 0;  ///< of the whole way, from the next opening on
  bool waits = false;     ///< it stands there until a lift has come
  bool climbs = false;    ///< up to floor_m by what is to climb on there
  double drop_m = 0;      ///< over blocks: so far down it comes there, if that is more than a step
};

/// What a monster finds that looks for its way.
struct Route {
  /// Where its body goes next; nullopt: it is too large, no way is known (yet), or there are but blocks and
  /// it sees whom it hunts, with nothing to go round.
  std::optional<WayPoint> way;
  /// None is, and one over open ground is searched for: who walks on blindly meanwhile may fall where there
  /// is none.
  bool pending = false;
};

/// Ways of monsters to players whom they hunt through the worlds' maps: one field a player, map and class of
/// walkers, shared by all who are after that player and made anew as he goes and while sectors move. One
/// search goes on at a time, and a tick settles at most leaves_per_tick leaves, whoever asks; the oldest
/// field comes first. Where there are more of them than fields_max, walkers go by the field of a class that
/// is less able. Beside maps ways lead over blocks (block_navigation.h), and from the one to the other by a
/// map's stairs. Lifts are waited for (map_lifts.h), and who gets no nearer looks about for a way past what
/// it hangs on (detours.h). Part of the world's state and hash. Nothing allocates after construction.
class Navigation {
 public:
  static constexpr std::size_t fields_max = 192;
  static constexpr std::uint32_t leaves_per_tick = 3000;
  /// A field so old is made anew if its player went on, if sectors moved since, and in any case.
  static constexpr std::uint32_t follows_ticks = 20, fresh_ticks = 30, aged_ticks = 240;

  Navigation() = default;
  /// @param plans  of the maps, in their order; must outlive this
  Navigation(std::span<const MapPlan* const> plans, std::size_t monster_rows);

  /// Begins and goes on with searches for those who hunt. Call once a tick, before anybody asks.
  /// @param mechanics  of the maps, in their order, or none: then no lift is waited for
  void advance(const Space& space, const PlayerTable& players, const MonsterTable& monsters,
               std::uint32_t tick, std::span<const MapMechanics> mechanics);

  /// A monster's way to the player whom it hunts.
  /// @param careful  off the corners of the openings, one after the other, instead of as straight as may be
  Route route(const Space& space, const PlayerTable& players, const MonsterTable& monsters, std::size_t row,
              bool careful = false) const;
  /// May it go straight at whom it hunts: over blocks at whom it sees, on a level with it and with neither
  /// wall nor edge before it now or a little while ago, elsewhere if it is beside it? Then no way is needed,
  /// and over blocks none is asked for.
  bool goes_straight(const Space& space, const PlayerTable& players, const MonsterTable& monsters,
                     std::size_t row, bool beside) const;
  /// Does it hunt a player by ways over blocks?
  bool over_blocks(const PlayerTable& players, const MonsterTable& monsters, std::size_t row) const;

  void add_to_hash(StripeHasher& hash) const;
  std::uint64_t fields_made() const { return made_; }
  const BlockNavigation& blocks() const { return *blocks_; }
  const Detours& detours() const { return detours_; }

 private:
  struct Field {
    EntityId player{};
    std::size_t map = 0, which = 0;
    bool opens = true;  ///< doors
    std::uint32_t asked_tick = 0, begun_tick = 0;
    bool ready = false;
    DVec2 to_m;    ///< of the search that goes on, or of the last one
    WayField now;  ///< what is walked by
  };
  struct Ground {
    const MapPlan* plan;
    std::unique_ptr<LeafGraph> graph;
    std::vector<std::uint8_t> doors, no_doors;
    MapLifts lifts;
    MovingPlanes moves{};
    std::vector<std::uint16_t> barred{};
    std::uint64_t heights = 0;                ///< hash of those of its sectors
    std::uint32_t changed_tick = 0;           ///< when these or bars were last seen to have changed
    static_assert(walker_class_count <= 16);  ///< by join, a bit a class of walkers
    /// Of the stairs to the surface: behind and on the last step, and before the first one.
    bool has_stairs = false;
    DVec3 top_m{}, foot_m{};
    DVec2 last_step_m{};
  };
  /// What a row that hunts goes to: a player, or the stairs of the map that one of the two is in.
  struct Target {
    EntityId to;            ///< the player, or stairs_of(map)
    std::size_t map;        ///< that the monster is in; none: over blocks
    std::size_t other_map;  ///< whose stairs it goes to; none: to the player himself
  };
  std::optional<Target> target_of(const PlayerTable& players, const MonsterTable& monsters,
                                  std::size_t row) const;
  /// What walkers have to be alike in to go by one field.
  struct Skill {
    std::size_t which;  ///< walker_class_count: none holds it
    bool opens;         ///< doors
  };
  static Skill skill_of(const MonsterTraits& kind);
  /// An opening that somebody could not get through though it is open.
  struct Bar {
    std::size_t map;
    std::uint32_t join;
    Skill skill;
    std::uint32_t since_tick;
    std::size_t row;  ///< who could not, on its way there
    Target target;
  };
  static Ground ground_of(const MapPlan& plan);
  std::size_t map_at(DVec3 at) const;
  /// The field that a row goes by, as it last asked for it; null: none, or for somebody else.
  const Field* field_of(std::size_t row, const Target& target, Skill skill) const;
  bool suits(const Field& field, EntityId player, std::size_t map, Skill skill) const;
  bool wanted(const Field& field, const PlayerTable& players, std::uint32_t tick) const;
  DVec2 place_of(const Field& field, const PlayerTable& players) const;
  void ask(std::size_t row, EntityId player, std::size_t map, Skill skill, std::uint32_t tick);
  bool begin_search(const PlayerTable& players, std::uint32_t tick);
  WayRules rules(std::span<const MapInSpace> maps, std::size_t map, bool opens) const;
  bool straight_to(const Space& space, const MonsterTable& monsters, std::size_t row, DVec3 player_m) const;
  void ask_for(const Space& space, const PlayerTable& players, const MonsterTable& monsters, std::size_t row,
               std::uint32_t tick);
  void ask_for_detour(const MonsterTable& monsters, std::size_t row, const Target& target,
                      std::uint32_t tick);
  void bar(const Bar& bar, std::uint32_t leaf);
  void lift_bars(const MonsterTable& monsters, std::uint32_t tick);
  bool stale(const Field& field, const PlayerTable& players, std::uint32_t tick) const;
  static void follow_heights(Ground& ground, HeightsView heights, std::uint32_t tick);
  void search(std::span<const MapInSpace> maps, const PlayerTable& players, std::uint32_t tick);
  void search_detour(std::span<const MapInSpace> maps, const PlayerTable& players,
                     const MonsterTable& monsters, std::uint32_t tick);
  static bool at_stairs(const Ground& ground, DVec3 body);
  static WayPoint down_stairs(const Ground& ground, DVec3 body);
  std::optional<WayPoint> off_stairs(DVec3 body) const;
  Route route_over_blocks(const PlayerTable& players, const MonsterTable& monsters, std::size_t row,
                          const Target& target) const;
  std::optional<WayPoint> way_in_map(std::span<const MapInSpace> maps, const MonsterTable& monsters,
                                     std::size_t row, const Target& target, bool careful) const;
  std::optional<WayPoint> wait_for_lift(const WayRules& rules, std::size_t map, std::uint32_t leaf,
                                        const LeafGraph::Join& join, std::size_t which, DVec3 body) const;

  std::vector<Ground> grounds_;  // by map
  std::vector<Field> fields_;
  std::size_t fields_used_ = 0;              // those behind never had a player
  std::vector<std::uint16_t> field_of_row_;  // by monster row; fields_max: none
  std::size_t searched_ = fields_max;        // which field the search is of; fields_max: none
  WayField search_;
  std::unique_ptr<BlockNavigation> blocks_;  // null: nobody ever asks
  Detours detours_;
  /// By monster row: until then it goes by ways over blocks, whatever it sees. Without this it would turn
  /// back from the way round a wall as soon as it sees over it.
  std::vector<std::uint32_t> by_ways_until_tick_;
  std::uint32_t tick_ = 0;  ///< of the last advance()
  static constexpr std::size_t bars_max = 64;
  static constexpr std::uint32_t barred_ticks = 3600;
  std::vector<Bar> bars_;
  std::uint64_t made_ = 0;
};

}  // namespace ashlar
