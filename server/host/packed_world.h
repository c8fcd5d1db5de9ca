#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "server/host/block_frames.h"
#include "server/host/block_partition.h"
#include "server/host/entity_waits.h"
#include "server/host/height_slices.h"
#include "server/host/magnitude_sort.h"
#include "server/host/placed_entity.h"
#include "server/host/sight_culler.h"
#include "server/host/velocity_tracks.h"
#include "world/collide/visibility_query.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// What everyone may be told of a tick, in either encoding: entities in blocks, which are coded once for all
/// who hold the same, and heights in slices. The Host's thread. No allocation once the tables have their
/// size.
class PackedWorld {
 public:
  /// @param tick_rate_hz, every_ticks  of the world, and how often it is published
  /// @param registry  what the world tells of its kinds
  /// @param culled  viewers bring a SightView: each entity has a block of its own
  PackedWorld(std::uint32_t tick_rate_hz, std::uint32_t every_ticks,
              std::shared_ptr<const ReplicationRegistry> registry = ReplicationRegistry::builtin_ptr(),
              bool culled = false);

  /// Call once per published tick, after the step.
  /// @param placed  everybody, by cell and then id
  /// @param culler  of viewers that bring a SightView
  void gather(const World& world, std::span<const PlacedEntity> placed, SightCuller* culler = nullptr);

  /// A block in somebody's interest.
  struct Near {
    std::uint32_t block = 0;  ///< its place in frames().blocks()
    double distance2 = 0;     ///< to the nearest of it, m^2
  };
  /// Blocks of which somebody stands within reach of a viewer and may be seen by it, the most urgent first:
  /// the nearest, where a block in which somebody moves counts as a third nearer, one in which somebody
  /// fights as at half its distance, and one with both at 0.4 of it. Who may be seen is worked out once a
  /// tick for viewers in sectors that see alike. Valid until the next call.
  /// @param rooms  of the world's maps, as of now
  /// @param view   whom rock hides from it is left out, too; null: nobody is for that
  std::span<const Near> near(DVec3 eye_m, double radius_m, double margin_m, std::span<const MapInSpace> maps,
                             std::span<const OpenRooms> rooms, const SightView* view = nullptr);

  /// In which of those blocks the nearest are, so many of them, or a few more: up to an eighth farther than
  /// the last of them. Cost: some 3 ns an entity.
  /// @param near  what near() gave
  /// @return for each of them 1 or 0; valid until the next call
  std::span<const std::uint8_t> holds_nearest(DVec3 eye_m, std::span<const Near> near, std::size_t count);

  /// BlockPartition::moves_from().
  std::span<const BlockMove> moves_from(std::uint16_t number) const { return partition_.moves_from(number); }
  /// Of the newest published tick; null: he was not there.
  const PartitionBlock* block_of(EntityId who) const { return partition_.block_of(who); }

  /// The slots of those in a block, by its place in frames().blocks(), in the order of their records.
  EntitySlots slots(std::uint32_t block) const {
    const Extent& extent = extents_[block];
    return {std::span(slots_).subspan(extent.first_spot, extent.spot_count), extent.slots_end};
  }

  BlockFrames& frames() { return frames_; }
  const BlockFrames& frames() const { return frames_; }
  HeightSlices& heights() { return heights_; }

 private:
  /// Where those of a block stand.
  struct Extent {
    DVec3 low, high;
    std::uint32_t first_place = 0, place_count = 0;  // in places_
    std::uint32_t first_spot = 0, spot_count = 0;    // in spots_ and slots_
    std::uint32_t slots_end = 0;                     // above all of these
    double weight = 1;                               // by which it counts as nearer
    Aabb reach{};                                    // where they may soon be, where viewers ask by sight
  };
  /// The ground that an extent covers, close together: viewers look at many, and half of those are far.
  struct Ground {
    double low_x, high_x, low_y, high_y;
  };
  /// Blocks whose ground comes within reach of a square of the ground, found once for all viewers in it.
  struct Vicinity {
    std::int32_t x = 0, y = 0;  // of the square
    double radius_m = 0;
    std::uint32_t first = 0, count = 0;  // in vicinity_blocks_
    std::uint32_t tick = 0;              // that it holds for
  };
  /// Their grounds, in floats from the square's low corner, side by side: four are compared at a time.
  struct VicinityGrounds {
    std::vector<float> low_x, high_x, low_y, high_y;
    void clear() { low_x.clear(), high_x.clear(), low_y.clear(), high_y.clear(); }
  };
  /// What is known of who may be seen from somewhere, block by block.
  struct Sight {
    VisibilityQuery query;
    std::vector<std::uint8_t> blocks;  // 0 not asked yet, 1 no, 2 yes
  };
  void add_block(const World& world, const PartitionBlock& block, std::span<const PlacedEntity> placed,
                 std::span<std::uint32_t> members, SightCuller* culler);

  void sort_grounds();
  const Vicinity& vicinity(DVec3 eye_m, double radius_m);
  std::span<const std::uint32_t> roughly_near(DVec3 eye_m, double radius_m);
  Sight& look_from(DVec3 eye_m, double margin_m, std::span<const MapInSpace> maps,
                   std::span<const OpenRooms> rooms);
  bool may_see(Sight& sight, std::uint32_t block) const;

  std::uint32_t tick_rate_hz_;
  double reach_s_;  // 0: not culled
  std::shared_ptr<const ReplicationRegistry> registry_;
  std::uint32_t tick_before_ = 0;
  BlockPartition partition_;
  BlockFrames frames_;
  HeightSlices heights_;
  std::vector<PartitionPlace> places_in_;
  std::vector<MovingRecord> moving_;                                 // by placed
  std::vector<std::uint32_t> first_member_, next_member_, members_;  // by block; places in placed
  std::vector<MovingRecord> block_;
  std::vector<FieldValues> block_fields_;  // by block_, where there are fields for everybody
  VelocityTracks tracks_;
  std::vector<Extent> extents_;
  std::vector<Ground> grounds_;             // by extent
  std::vector<std::uint32_t> by_low_y_;     // extents, as their ground begins
  double depth_most_m_ = 0;                 // of their grounds, along y
  std::array<Vicinity, 512> vicinities_{};  // by a hash of the square
  std::vector<std::uint32_t> vicinity_blocks_;
  VicinityGrounds vicinity_grounds_;       // by vicinity_blocks_
  std::vector<float> off2_;                // scratch of roughly_near()
  std::vector<std::uint32_t> rough_near_;  // likewise
  std::vector<SightPlace> places_;
  std::vector<DVec3> spots_;          // of everybody, by block
  std::vector<std::uint32_t> slots_;  // likewise
  std::vector<Sight> sights_;         // of this tick; the first is for whom the others have no room
  std::size_t sights_used_ = 1;
  std::vector<Near> near_, found_;
  std::vector<std::uint64_t> order_;  // of found_
  MagnitudeSort sort_;
  std::vector<std::uint8_t> holds_nearest_;
};

}  // namespace ashlar::server
