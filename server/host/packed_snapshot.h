#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "protocol/snapshot/cue_codec.h"
#include "protocol/snapshot/own_delta.h"
#include "protocol/snapshot/packed_part.h"
#include "protocol/snapshot/plain_codec.h"
#include "protocol/snapshot/plain_part.h"
#include "server/host/client_blocks.h"
#include "server/host/mover_replication.h"
#include "server/host/packed_world.h"
#include "server/host/private_fields.h"

namespace ashlar::server {

/// Snapshots after which everybody in reach was told of, whatever the crowd, while nothing is lost: a quarter
/// of the parts go to those who have waited longest, and one has room for any block. The bound that
/// server/README.md states.
/// @param entities  in reach, or that were a moment ago
constexpr std::uint32_t refresh_snapshots(std::size_t entities, std::size_t parts) {
  // In the worst case each block has few entities, and each of them is told whole.
  constexpr std::size_t entities_a_part = 24;
  const std::size_t each = (parts + 3) / 4 * entities_a_part;
  return entities <= each ? 1 : static_cast<std::uint32_t>((entities + each - 1) / each + 1);
}

/// So many of the nearest are in each snapshot, if three quarters of its room hold their blocks; others go
/// round.
inline constexpr std::size_t packed_nearest = 64;

/// What a client's snapshot is made of, of either encoding.
struct PackedRequest {
  PartHead head;
  SnapshotEncoding encoding = SnapshotEncoding::packed;
  const OwnPlayer* own = nullptr;
  std::uint32_t foreseen = 0;               ///< what the client foresaw of it: own_hash(); 0: it did not say
  DVec3 eye_m;                              ///< from where the nearest are counted
  std::span<const PackedWorld::Near> near;  ///< the most urgent first
  std::span<const MovingPlane> motions;     ///< of sectors
  std::size_t parts_max = 1;  ///< of the setting and of what the path takes, 1 to snapshot_parts_max
  /// Of the budget, with what is beside messages. The last block may go beyond it, so that one always goes.
  std::size_t bytes_max = std::numeric_limits<std::size_t>::max();
  std::uint32_t linger_ticks = 30;  ///< who was out of interest for no longer is told on
  std::uint32_t tick_rate_hz = 60;
  std::uint32_t every_ticks = 1;  ///< from one snapshot to the next
  double far_m = 1e9;             ///< whoever is farther away is told of only
  std::uint32_t far_ticks = 0;    ///< every so many ticks
  bool heights = true;            ///< false: floors and ceilings are not told, for Defects::lost_heights
  const PrivateFields* fields = nullptr;  ///< for owners and teams; null: there are none
  std::uint8_t team = 0;                  ///< the player's; 0: none
  std::span<const Cue> cues;              ///< what only shows, the nearest first
  bool turns = true;                      ///< false: the nearest alone, for Defects::no_turns
};

/// Lays out one client's snapshot and notes what of it went: own player, what is to be forgotten, motions and
/// heights, then blocks. Who moved on from a block that is told or forgotten into one that is not, and is in
/// interest, is named beside it, so that nobody is out of a client's picture by walking. Those in which the
/// nearest packed_nearest stand come first, the most urgent before the others and as many as three quarters
/// of the room hold (half, where all in reach count as near); then those that have waited longest, of which
/// the first goes in any case. What the client holds as it is costs nothing. The Host's thread. No allocation
/// once grown.
class PackedSnapshot {
 public:
  /// Lays it out. The client's wants are noted, what is sent is not. @return parts, 1 to parts_max
  std::size_t lay_out(PackedWorld& world, const PackedRequest& request, ClientBlocks& client);

  std::span<const std::uint8_t> part(std::size_t at) const {
    return is_plain() ? plain_parts_[at].bytes() : packed_parts_[at].bytes();
  }
  std::span<const JournalItem> items(std::size_t part) const { return items_[part]; }
  /// A part went out in a packet. Before the world is gathered again.
  void note_sent(std::size_t part, std::uint64_t sequence, ClientBlocks& client);

  /// On the wire, with what is beside messages.
  std::size_t bytes() const;
  /// Something found no room.
  bool cut() const { return cut_; }
  /// Bytes and number of the cues among it.
  CodedCues cues() const { return cues_; }
  /// Ticks that the longest waiting block in interest has not been told of, those told now included as none.
  std::uint32_t waited_ticks() const { return waited_ticks_; }
  /// Somebody who is due will not be told of within a tenth of a second of the last time, or from one
  /// snapshot to the next where these are further apart.
  bool overdue() const { return waited_ticks_ > overdue_ticks_; }

 private:
  struct Candidate {
    std::uint32_t block = 0;  // of the frame
    std::uint32_t seat = 0;   // in ClientBlocks::blocks()
    std::uint16_t number = 0;
    std::uint32_t told = 0;  // as of when, of whoever in it has waited longest
    std::uint32_t held = 0;
    bool near = false;  // one of the nearest is in it
    bool placed = false;
  };
  bool is_plain() const { return encoding_ == SnapshotEncoding::plain; }
  template <class Add>
  bool place(JournalItem item, Add&& add);
  template <class Parts, class Add>
  bool place(Parts& parts, JournalItem item, Add&& add);
  std::size_t last_part_bytes() const {
    return is_plain() ? plain_parts_[part_count_ - 1].size() : packed_parts_[part_count_ - 1].size();
  }
  void place_own(const PackedRequest& request, ClientBlocks& client);
  void place_gone(PackedWorld& world, ClientBlocks& client);
  void find_moved(const PackedWorld& world, std::uint16_t number, std::uint32_t since,
                  std::size_t block_bytes, ClientBlocks& client);
  template <class Part>
  bool add_moved(Part& part, std::size_t bytes);
  template <class RoomLeft>
  void place_motions(const PackedRequest& request, ClientBlocks& client, RoomLeft&& room_left);
  void place_sectors(PackedWorld& world, const PackedRequest& request, ClientBlocks& client);
  void place_fields(const PackedRequest& request, ClientBlocks& client);
  void place_cues(std::span<const Cue> cues);
  void want_blocks(const PackedWorld& world, const PackedRequest& request, ClientBlocks& client);
  void find_candidates(PackedWorld& world, const PackedRequest& request, ClientBlocks& client);
  void order_by_wait(bool turns);
  void place_overdue(PackedWorld& world, ClientBlocks& client);
  void place_blocks(PackedWorld& world, ClientBlocks& client, bool turns);
  std::span<const std::uint8_t> find_nearest(PackedWorld& world, const PackedRequest& request);
  bool place_block(PackedWorld& world, Candidate& candidate, ClientBlocks& client, std::size_t bytes_max);

  const PackedWorld* world_ = nullptr;
  SnapshotEncoding encoding_{};  // of the snapshot: its parts are the one or the other's
  std::array<PackedPartWriter, snapshot_parts_max> packed_parts_;
  std::array<PlainPartWriter, snapshot_parts_max> plain_parts_;
  std::array<std::vector<JournalItem>, snapshot_parts_max> items_;
  std::array<std::vector<std::uint32_t>, snapshot_parts_max> placed_;  // of the frame: the blocks of items_
  std::size_t part_count_ = 0, parts_max_ = 1, bytes_max_ = 0;
  std::uint32_t overdue_ticks_ = 1;
  std::size_t near_room_ = 0, near_parts_ = 0;  // bytes that the nearest may fill
  std::size_t full_bytes_ = 0;                  // of the parts before the last one
  PartHead head_;
  OwnPlayer own_;
  bool cut_ = false;
  bool held_back_ = false;  // something was not due
  std::uint32_t waited_ticks_ = 0;
  std::vector<Candidate> candidates_;   // most urgent first
  std::vector<std::uint32_t> by_wait_;  // of candidates_: the longest first
  static constexpr std::uint32_t no_seat = 0xffffffffu;
  std::vector<std::uint32_t> seats_;           // by PackedRequest::near
  std::vector<std::uint16_t> seat_of_number_;  // scratch: where the client has a block, if it has it
  std::array<std::uint8_t, coded_own_bytes_max> own_bytes_{};
  std::vector<MovedEntity> moved_;  // scratch
  std::vector<FieldGroup> groups_;  // scratch
  std::array<std::uint8_t, std::max(coded_group_bytes_max, plain_group_bytes_max)> group_bytes_{};
  CodedCues cues_;
  std::array<std::uint8_t, std::max(cue_bytes_max, cues_max* plain_cue_bytes)> cue_bytes_{};
};

}  // namespace ashlar::server
