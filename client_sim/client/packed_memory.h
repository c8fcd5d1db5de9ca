#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client_sim/client/known_fields.h"
#include "protocol/messages.h"
#include "protocol/snapshot/block_delta.h"
#include "protocol/snapshot/height_delta.h"
#include "protocol/snapshot/packed_part.h"

namespace ashlar::client_sim {

class View;

/// What a client keeps of snapshots, of either encoding, to read the next ones: the blocks that it was told,
/// at each tick that may still be a base, and own players. Parts may come in any order, late and twice. One
/// thread.
///
/// Bounded: block_states_max states of a block, states_max and entities_max entities in all. A server that
/// tells more makes it forget all and ask anew.
class PackedMemory {
 public:
  static constexpr std::size_t block_states_max = base_age_max + 1;
  static constexpr std::size_t states_max = std::size_t{1} << 18;
  static constexpr std::size_t entities_max = std::size_t{1} << 20;
  static constexpr std::size_t own_states_max = 64;
  static constexpr std::size_t foreseen_max = 256;  ///< ticks of which it is kept what was foreseen
  static constexpr std::size_t groups_max = 4096;   ///< of entities whose fields only some are told

  /// Another world: forgets everything.
  /// @param snapshot_every_ticks  as the welcome says
  /// @param registry              what it tells of its kinds
  void reset(std::uint16_t tick_rate_hz, std::uint16_t snapshot_every_ticks,
             std::shared_ptr<const ReplicationRegistry> registry = ReplicationRegistry::builtin_ptr());
  /// Another session: what the next part does not tell is gone.
  void begin_session() { epoch_ = 0, foresees_ = true; }

  /// Takes in a part that was opened: blocks and heights go into the view, all else into `out`, whose lists
  /// live until the next call. False: it is none that a server says.
  /// @param tally  is told what the bits of blocks that could be read were for; null: nobody asks
  bool take(PackedPartReader& reader, View& view, SnapshotPart& out, BlockTally* tally = nullptr);
  /// A part of a plain snapshot likewise. Its cues and motions live as long as it does.
  bool take(const PlainPart& part, View& view, SnapshotPart& out);

  /// Epoch of which something newer than all that is known could not be read; 0: none. A server that hears of
  /// it (Input::lost_epoch) begins another one.
  std::uint8_t lost_epoch() const { return lost_epoch_; }
  /// Something could not be taken in at all, as a part of the future that was not believed.
  void lost() { lost_epoch_ = epoch_, whole_ = false; }
  /// Could all that was news in the last part be read?
  bool whole() const { return whole_; }

  /// The own player as foreseen of a tick, which is said to the server: it may be what a part is told
  /// against. The first word on a tick counts. Allocates once.
  void foresee(std::uint32_t tick, const OwnPlayer& own);
  /// own_hash() of that; 0: nothing was foreseen, or what was is not kept long enough for a way so long.
  std::uint32_t foreseen_hash(std::uint32_t tick) const;

  /// Something came, a snapshot most likely: asks memory for what it will be told against.
  void prefetch() const;

  /// The added fields of an entity that go to an audience. False: it is not known, or has none.
  bool find_fields(EntityId id, FieldAudience to, KnownFields& out) const;

  /// Entities in all states that are kept.
  std::size_t entity_count() const { return entity_count_; }
  std::size_t state_count() const { return state_count_; }

 private:
  static constexpr std::size_t spare_max = 32;
  struct State {
    std::uint32_t tick = 0;
    CellCoord cell;
    std::uint64_t members = 0;  // another number where others are in it
    std::vector<MovingRecord> entities;
    std::vector<FieldValues> fields;  // by entity, where the registry has fields for everybody
  };
  /// Entities whose fields only some are told.
  struct Group {
    std::uint32_t tick = 0;
    std::vector<PrivateEntity> entities;
  };
  struct Block {
    std::vector<State> states;    // by tick
    std::uint32_t gone_tick = 0;  // what is of this tick or older is forgotten
    CellCoord cell;               // where the view has it
    bool shown = false;

    /// The state of a tick; null: there is none.
    const State* of(std::uint32_t tick) const;
  };
  struct Own {
    std::uint32_t tick = 0;
    OwnPlayer own;
  };
  struct Foreseen {
    std::uint32_t tick = 0;  // 0: none
    std::uint32_t hash = 0;
    OwnPlayer own;
  };

  /// @return false: it is of another epoch, and of no use
  bool begin_part(const PartHead& head, View& view, SnapshotPart& out);
  void end_part(SnapshotPart& out);
  void begin_epoch(const PartHead& head, View& view);
  Block& block_of(std::uint16_t number);
  void forget_blocks();
  /// What an item is about, and how many ticks before the part's its base was.
  struct Item {
    std::uint32_t tick = 0, age = 0;
    bool foreseen = false;  // of an own player: it was the receiver that foresaw its base
    std::uint32_t base_tick() const { return age == 0 || age > tick ? 0 : tick - age; }
  };
  template <class Decode>
  bool take_block(std::uint16_t number, Item item, View& view, Decode&& decode);
  bool take_blocks(const PlainPart& part, View& view);
  void take_gone(std::uint16_t number, std::uint32_t tick, View& view);
  std::deque<Own>::iterator own_of(std::uint32_t tick);
  const OwnPlayer* own_base(Item item);
  template <class Decode>
  bool take_own(Item item, SnapshotPart& out, Decode&& decode);
  template <class Decode>
  bool take_fields(FieldAudience to, std::uint16_t number, std::uint32_t tick, Decode&& decode);
  bool take_groups(const PlainPart& part);
  bool find_shared(EntityId id, KnownFields& out) const;
  void take_heights(std::size_t map, std::uint16_t slice, std::span<const SliceHeight> heights, Item item,
                    View& view);
  void show(std::uint16_t number, Block& block, std::uint32_t base_tick, View& view);
  void keep(Block& block, std::uint32_t tick, std::uint32_t base_tick, std::uint64_t base_members);
  void drop_front(Block& block, std::size_t count);

  std::uint32_t tick_rate_hz_ = 60, every_ticks_ = 1;
  std::shared_ptr<const ReplicationRegistry> registry_ = ReplicationRegistry::builtin_ptr();
  std::uint8_t epoch_ = 0, lost_epoch_ = 0;
  bool whole_ = true;
  std::uint32_t newest_tick_ = 0;
  std::vector<std::uint32_t> places_;  // in blocks_ by number, one more than that; 0: none
  std::vector<Block> blocks_;          // in the order in which they were told of first
  std::map<std::pair<FieldAudience, std::uint16_t>, Group> groups_;
  std::size_t entity_count_ = 0, state_count_ = 0;
  std::uint64_t members_ = 0;  // as State::members: the last one
  std::deque<Own> own_;
  std::vector<Foreseen> foreseen_;  // by tick modulo foreseen_max; empty: nobody foresees
  bool foresees_ = true;            // it may be said
  DecodedBlock decoded_;
  std::vector<State> spare_;  // whose memory the next states take, at most spare_max of them
  std::vector<SliceHeight> slice_;
  std::vector<PrivateEntity> group_;
  // What the lists of the last part point into.
  std::vector<SectorRun> runs_;
  std::vector<WireHeights> heights_;
  std::vector<WireMotion> motions_;
  std::vector<Cue> cues_;
};

}  // namespace ashlar::client_sim
