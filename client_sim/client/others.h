#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "client_sim/client/client.h"
#include "client_sim/client/recent_values.h"
#include "client_sim/client/replica.h"
#include "client_sim/client/told_floors.h"
#include "world/sim/map_plan.h"
#include "world/sim/shown_between.h"

namespace ashlar::client_sim {

/// Somebody else as a picture shows it.
struct ShownEntity {
  EntityRecord record;  ///< newest that is known
  DVec3 position_m;     ///< centre of the base
  Turn16 yaw{0};
  bool extrapolated = false;  ///< beyond what the server told
};

/// Counters only grow.
struct OthersStats {
  std::uint64_t shown = 0;         ///< entities, in each call of shown()
  std::uint64_t extrapolated = 0;  ///< of those
  std::uint64_t stopped_by_walls = 0;
};

/// What a picture of the others is made from: a session's state at a time, or that of a recording which is
/// watched.
struct PictureSource {
  explicit PictureSource(const View& seen, const Rules& by) : view(seen), rules(by) {}
  /// Of a session that has its welcome.
  PictureSource(const Client& client, Micros now)
      : view(client.view()),
        rules(client.welcome().rules),
        welcome(&client.welcome()),
        sectors(&client.sectors()),
        world(client.stats().worlds),
        self(client.player()),
        command_time(client.command_time(now)) {}

  const View& view;
  const Rules& rules;
  const Welcome* welcome = nullptr;         ///< how large whom is; null: all are as players
  const SectorForecast* sectors = nullptr;  ///< null: lifts are not looked up
  /// Where nobody is shown inside a wall, if there is no replica to look that up in; null: nowhere.
  const Space* walls = nullptr;
  std::uint64_t world = 0;  ///< another number: another world
  EntityId self{};          ///< left out
  double command_time = 0;  ///< in ticks: of the newest command, or what the picture is behind of
};

/// Everybody else, as they were a little while ago: between two states that the server told.
///
/// The picture is behind the newest command by a lag of whole ticks: as long as the way of snapshots takes
/// with their jitter, so that nearly always the next one is there less than a tick after it is needed; until
/// it is, and where it was lost, everybody goes on as they went. When a command is numbered the tick that is
/// shown was told. It follows what it measures, fast upwards and slowly downwards; each change is spread over
/// a quarter of a second. Commands carry the tick that their player saw (Client::set_view_lag), so a server
/// judges shots by this very picture.
///
/// Where no newer state came they go on for extrapolate_s as they went, then they stand; who is told of more
/// seldom than that, as a busy server does of far ones, goes on until the next one should be there, for
/// extrapolate_seldom_s at most. Nobody is shown inside a wall, each by its own size; where the ground is not
/// loaded here (ReplicaGround::reach_m) walls are not known, and everybody is shown as told. Who stands on a
/// lift is shown on it where the picture has it, at its start and its end alike; who jumps there as far above
/// it as there is room. One thread, the
/// client's. Cost: 35 ns a snapshot for each entity that it tells of, and as much each time one is shown,
/// where fifty clients share a cache. Memory: of each entity that is known half a second of snapshots, 16
/// bytes each.
class Others {
 public:
  static constexpr std::uint32_t lag_ticks_max = 120;
  /// Of the snapshots so many are there in time; the rest is lost or late beyond measure, and shown by going
  /// on.
  static constexpr double in_time_share = 0.94;

  /// Before Client::advance() with what came: asks memory for what that will change here.
  void prefetch() const;
  /// Behind each Client::advance(), with the same time.
  void advance(Micros now, Client& client);
  /// Likewise from something else: whenever its view has a newer tick.
  void advance(Micros now, const PictureSource& source);

  /// What is shown at a time, by id, the own player left out.
  /// @param replica  the world that walls and lifts are looked up in; null: walls in the source's alone
  /// @param sectors  where lifts of that are shown; by default as of its newest tick
  void shown(Micros now, const Client& client, const Replica* replica, std::vector<ShownEntity>& out,
             const ShownSectors& sectors = {});
  void shown(Micros now, const PictureSource& source, const Replica* replica, std::vector<ShownEntity>& out,
             const ShownSectors& sectors = {});

  /// Appends those alive within near_m of a place, where they are thought to be at a tick: as told, or going
  /// on as they went, by id. Cost: a look at each entity, in the order of memory, and more for who is near.
  static constexpr double near_m = 3;
  void near(DVec3 place_m, std::uint32_t tick, const Welcome& welcome, std::vector<Bystander>& out) const;
  /// Is somebody alive so near to a place, as last told?
  bool anybody_near(DVec3 place_m, double within_m) const;

  /// Ticks that the picture is behind the newest command.
  std::uint32_t lag_ticks() const { return lag_; }
  /// The tick that is shown at a time, with a fraction.
  double shown_tick(Micros now, const PictureSource& source) const;
  const OthersStats& stats() const { return stats_; }

 private:
  /// A place in steps of 1/128 m from the world's origin: exactly what was told, in half the memory.
  struct Steps {
    std::int32_t x = 0, y = 0, z = 0;
  };
  /// Somebody's place at a tick that told of it. Four of them are a line of memory.
  struct State {
    std::uint32_t tick = 0;  // 0: nothing is known
    std::int32_t x = 0, y = 0;
    std::uint32_t z_and_yaw = 0;  // within 24 bits, and in the lowest eight in 1/256 turn

    State() = default;
    State(std::uint32_t at, Steps place, std::uint8_t yaw)
        : tick(at), x(place.x), y(place.y), z_and_yaw(static_cast<std::uint32_t>(place.z) << 8 | yaw) {}
    Steps place() const { return {x, y, static_cast<std::int32_t>(z_and_yaw) >> 8}; }
    bool same_place(const State& other) const {
      return ((x ^ other.x) | (y ^ other.y)) == 0 && (z_and_yaw ^ other.z_and_yaw) < 256;
    }
    bool same_yaw(const State& other) const { return ((z_and_yaw ^ other.z_and_yaw) & 0xff) == 0; }
    Turn16 yaw() const { return dequantise_turn(static_cast<std::uint8_t>(z_and_yaw & 0xff)); }
  };
  static_assert(sizeof(State) == 16);
  /// Snapshots are kept for so long: who is told of most seldom goes on meanwhile as it went.
  static constexpr double moments_kept_s = extrapolate_seldom_s + 0.2;
  static constexpr std::size_t moments_min = 16;
  /// Is somebody in the view?
  struct Presence {
    std::uint32_t looked = 0;     // at which look at everybody the view had it
    std::uint32_t gone_tick = 0;  // since when the view has it no more; 0: it has

    /// Who is gone is shown until the picture comes to a tick without it.
    bool over(double picture) const { return gone_tick != 0 && picture >= static_cast<double>(gone_tick); }
  };
  /// Where it was looked up last whether walls are near somebody, and what was found.
  struct WallLook {
    std::int32_t x = 0, y = 0;
    std::uint32_t walls = 0;  // as they were then; 0: nobody looked, or that is over
    bool open = false;        // none are near
  };
  static constexpr std::uint32_t no_row = ~std::uint32_t{0};
  struct Listed {
    EntityId id{};
    std::uint32_t row = 0;
  };
  /// In which rows those of a block are, or no_row: of the same members, the same.
  struct Seats {
    std::uint64_t members = 0;  // ViewCell::members; 0: they are to be looked up
    std::vector<std::uint32_t> rows;
  };
  struct Fresh {
    EntityRecord record;
    CellCoord cell;
    std::uint32_t tick = 0;
  };
  static constexpr std::size_t measured_max = 128;
  /// A map whose floors are elsewhere than in the picture, and the box that holds all of these.
  struct Lifts {
    std::size_t map = 0;
    SectorBounds bounds;
  };

  void reset();
  void measure(const PictureSource& source);
  double wanted_lag() const;
  void take_states(Micros now, const PictureSource& source);
  void begin_moment(const PictureSource& source);
  void take_block(const ViewCell& block, Seats& seats, bool looks);
  void find_seats(const ViewCell& block, Seats& seats);
  void take_before(std::uint32_t row, const ViewCell& block, std::size_t place);
  void take_state(std::uint32_t row, const EntityRecord& record, const Steps& corner, std::uint32_t tick) {
    State& state = newest()[row];
    if (tick <= state.tick) return;
    state = State(tick, steps_of(record, corner), record.yaw);
    records_[row] = record;
  }
  void note_looked(std::uint32_t row);
  void take_fresh();
  std::uint32_t take_row();
  void make_room();
  void note_gone();
  void drop_gone(double picture);
  /// May a picture of a tick be without somebody who is listed?
  bool any_over(double picture) const {
    return gone_count_ > 0 && picture >= static_cast<double>(gone_from_);
  }
  std::uint32_t find(EntityId id) const;
  static DVec3 metres(const Steps& place) {
    return {place.x / position_steps_per_m, place.y / position_steps_per_m, place.z / position_steps_per_m};
  }
  static Steps steps_at(DVec3 place_m);
  static Steps corner_of(CellCoord cell) {
    return {cell.x * cell_steps, cell.y * cell_steps, cell.z * cell_steps};
  }
  static Steps steps_of(const EntityRecord& record, const Steps& corner) {
    return {corner.x + record.x, corner.y + record.y, corner.z + record.z};
  }
  void find_lifts(const Replica& replica, const SectorForecast& sectors);
  /// Where the moment so many before the newest one is in the ring.
  std::size_t ring_place(std::size_t back) const { return (newest_ + ticks_.size() - back) % ticks_.size(); }
  std::uint32_t moment_tick(std::size_t back) const { return ticks_[ring_place(back)]; }
  State* newest() { return states_.data() + newest_ * room_; }
  const State* newest() const { return states_.data() + newest_ * room_; }
  State* moment(std::size_t back) { return states_.data() + ring_place(back) * room_; }
  const State* moment(std::size_t back) const { return states_.data() + ring_place(back) * room_; }
  /// The moments around a tick.
  struct Picture {
    double tick = 0;
    std::uint32_t whole_tick = 0;
    std::size_t back = 0;  // moments from the newest one to the newest that is not behind it; all: none is
    const State *from = nullptr, *to = nullptr;  // that one and the next; null: there is none
  };
  Picture picture_at(double tick) const;
  void prefetch_picture(double tick) const;
  /// Somebody's states before and behind a tick, or the last two where it is beyond what was told; the same
  /// one twice: no other is known.
  struct Around {
    const State *from = nullptr, *to = nullptr;
    bool told = false;  // it is not beyond
  };
  Around states_around(std::uint32_t row, const Picture& picture) const {
    if (picture.to != nullptr && picture.from != nullptr) {
      const State &from = picture.from[row], &to = picture.to[row];
      if (from.tick != 0 && to.tick > picture.whole_tick) return {&from, &to, true};
    }
    return search(row, picture);
  }
  Around search(std::uint32_t row, const Picture& picture) const;
  const State& state_before(std::uint32_t row, std::size_t back, std::uint32_t tick) const;
  DVec3 thought_at(std::uint32_t row, std::uint32_t tick, const Rules& rules) const;
  bool in_the_open(std::uint32_t row, const State& to, const Cylinder& shape, DVec3 at_m, const Space& walls,
                   std::uint64_t version);
  void steer(Micros now);
  double shown_lag(Micros now) const;
  /// Where walls are looked for: what they are changes with the version; 0: nobody knows when.
  struct Walls {
    const Space* space = nullptr;
    std::uint64_t version = 0;
  };
  static Turn16 yaw_between(const Around& around, const Picture& picture);
  void place_going(std::uint32_t row, const Around& around, const Picture& picture,
                   const PictureSource& source, const Walls& walls, ShownEntity& out);
  double ride(const ShownEntity& shown, double tick, const Replica& replica, const PictureSource& source,
              const ShownSectors& sectors) const;

  std::uint64_t world_ = 0;
  std::uint32_t snapshot_tick_ = 0;
  std::uint64_t changes_ = 0, losses_ = 0;  // View's, as of then
  std::uint32_t looks_ = 0;                 // at everybody
  EntityId self_{};                         // it has no row
  std::size_t gone_count_ = 0;              // of listed_
  std::uint32_t gone_from_ = 0;             // no tick since which one of those is gone is before it
  // A moment is what was known of everybody when a snapshot had come: whose newest state was told before it
  // has that one again. A ring of them, each of room_ rows one behind the other; who is known keeps its row.
  std::vector<State> states_;
  std::vector<std::uint32_t> ticks_;  // of the snapshots, by place in the ring
  std::size_t newest_ = 0, moments_ = 0;
  std::size_t room_ = 0;
  std::vector<EntityRecord> records_;  // newest, by row
  std::vector<Presence> presence_;     // by row
  std::vector<WallLook> looked_;       // by row
  std::vector<std::uint32_t> free_;    // rows that nobody has
  std::vector<Listed> listed_;         // by id
  std::vector<Seats> seats_;           // of the view's blocks, in its order
  ToldFloors floors_;
  std::vector<Lifts> lifts_;                   // scratch
  std::vector<Fresh> fresh_;                   // scratch
  std::vector<Listed> fresh_listed_, merged_;  // scratch
  // When a snapshot came, how far commands were ahead of the one before and of itself, and both were apart.
  RecentValues<measured_max> needed_, ages_, apart_;
  std::uint32_t lag_ = 0, lag_before_ = 0;
  Micros lag_since_{0};
  Micros lower_from_{0};  // since when a lower lag would do; 0: it would not
  OthersStats stats_;
};

}  // namespace ashlar::client_sim
