#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/connection/connection.h"
#include "protocol/messages.h"
#include "server/host/entity_waits.h"
#include "world/math/prefetch.h"

namespace ashlar::server {

/// Blocks of which it is known what a client holds, at most; farther ones it is not told of.
inline constexpr std::size_t client_blocks_max = 768;
/// Of its snapshots' packets and what was in them so many are remembered; older ones count as lost.
inline constexpr std::size_t journal_packets_max = 256;
inline constexpr std::size_t journal_items_max = 4096;
/// Own players that may be bases.
inline constexpr std::size_t own_bases_max = 32;

/// What one client was told of a block, and what it has acknowledged.
struct ClientBlock {
  std::uint16_t number = 0;
  bool leaving = false;      ///< it shall forget the block, and has not acknowledged that
  std::uint32_t born = 0;    ///< of the block whose number it was
  std::uint32_t since = 0;   ///< what it was sent before this tick is no base
  std::uint32_t held = 0;    ///< newest tick that it has acknowledged; 0: none
  std::uint32_t before = 0;  ///< the newest before that
  std::uint32_t sent = 0;    ///< newest tick that it was sent; 0: none
  std::uint32_t told = 0;    ///< newest tick as of which it was told, or knew all the same
  std::uint32_t wanted = 0;  ///< newest tick at which it was in interest
  std::uint32_t leaving_since = 0;

  /// Does it know a block as it is since a tick, and that nobody in it goes on? Who stopped between two
  /// states would be shown to run on until there are two that are alike.
  bool knows(std::uint32_t changed) const {
    return held != 0 && held >= changed && (before == 0 || before >= changed);
  }
};

/// What went in a packet.
struct JournalItem {
  enum class Kind : std::uint8_t { block, gone, own, heights, motion, fields, cues };
  JournalItem() = default;
  JournalItem(Kind what, std::uint16_t which, std::uint8_t where = 0)
      : kind(what), seat(where), number(which) {}
  Kind kind{};
  std::uint8_t seat = 0;  ///< of a block: its place in ClientBlocks::blocks(), if that is below 256
  std::uint16_t number =
      0;  ///< of a block; of a slice, counted over all maps; FieldGroup::key(); MovingPlane::key
};

/// What one client was told of a group of fields that only it or its team is told.
struct ClientFields {
  std::uint16_t key = 0;     ///< FieldGroup::key()
  std::uint32_t source = 0;  ///< FieldGroup::source
  std::uint32_t since = 0;   ///< what it was sent before this tick counts no more
  std::uint32_t held = 0;    ///< newest tick that it has acknowledged; 0: none
  std::uint32_t wanted = 0;  ///< newest tick at which there was such a group
};

/// What a client with packed snapshots holds, as far as its acknowledgements tell: the bases of what it is
/// told next. A client that acknowledges nothing, or what it did not get, harms itself alone. At most 56 KiB,
/// 4 KiB of motions, 4 bytes a slice of 64 sectors and 3 a slot of entities in interest. The Host's
/// thread. Allocates until it has grown.
class ClientBlocks {
 public:
  ClientBlocks();

  /// Forgets everything: the client is told all anew, in a new epoch.
  void reset();
  std::uint8_t epoch() const { return epoch_; }

  /// The block's entry, made where there is none. Null: client_blocks_max are in use.
  /// @param seat  the place in blocks() that it most likely has: then it is not searched for
  ClientBlock* want(std::uint16_t number, std::size_t seat, std::uint32_t born, std::uint32_t tick);
  /// By number.
  std::span<ClientBlock> blocks() { return blocks_; }
  std::span<const ClientBlock> blocks() const { return blocks_; }
  std::span<const std::uint16_t> numbers() const { return numbers_; }  ///< of blocks(), close together
  /// The place of one of blocks() there.
  std::uint32_t seat_of(const ClientBlock& entry) const {
    return static_cast<std::uint32_t>(&entry - blocks_.data());
  }
  ClientBlock* find(std::uint16_t number);
  const ClientBlock* find(std::uint16_t number) const;
  /// The same, where it most likely has this place in blocks(): then without a search.
  ClientBlock* find(std::uint16_t number, std::size_t seat) {
    return seat < numbers_.size() && numbers_[seat] == number ? &blocks_[seat] : find(number);
  }
  /// Those that nobody wanted since a tick shall be forgotten by the client; entries of blocks that it was
  /// never told of go at once.
  void let_go(std::uint32_t unwanted_since, std::uint32_t tick);

  /// Notes what a packet held that was sent at a tick.
  void note_sent(std::uint64_t sequence, std::uint32_t tick, std::span<const JournalItem> items);
  /// And what became of it. Sequences that are not known are ignored.
  /// @param now  the tick that will be played next, for visit_told()
  void note_fate(const Connection::Fate& fate, std::uint32_t now = 1);

  /// Newest tick at which a snapshot had not all that had changed: some blocks were not due or found no room,
  /// or are in other parts than the rest, which are lost apart. 0: none was so.
  std::uint32_t uneven_tick = 0;
  /// Calls visit(block's number, tick) for what the client is known to have been told, the newest first.
  /// @param known_by  by what had been acknowledged when this tick was to be played next
  /// @param oldest    as of this tick and later ones
  template <class Visit>
  void visit_told(std::uint32_t known_by, std::uint32_t oldest, Visit&& visit) const {
    for (std::size_t i = packet_count_; i-- > 0;) {
      const Packet& packet = packets_[(packet_first_ + i) % packets_.size()];
      if (packet.tick < oldest) return;
      if (packet.acked_at == 0 || packet.acked_at > known_by) continue;
      for (std::uint32_t item = 0; item < packet.count; ++item)
        if (const JournalItem& told = items_[(packet.first + item) % journal_items_max];
            told.kind == JournalItem::Kind::block)
          visit(told.number, packet.tick);
    }
  }

  /// The newest own player that the client holds.
  struct OwnBase {
    const OwnPlayer* own = nullptr;  ///< null: none that could be a base
    std::uint32_t tick = 0;
    bool foreseen = false;  ///< by the client itself
  };
  /// For a snapshot of a tick, which may be what was foreseen of it.
  OwnBase own_base(std::uint32_t tick) const;
  /// It was sent the own player of a tick.
  void note_own(std::uint32_t tick, const OwnPlayer& own);
  /// It foresaw the own player of a tick as it came, to the bit, and said so: it holds it.
  void note_foreseen(std::uint32_t tick, const OwnPlayer& own) { own_foreseen_ = {tick, own}; }

  /// Newest tick as of which a slice of heights was acknowledged; 0: none.
  std::uint32_t& slice_held(std::size_t slice);

  /// Newest tick as of which a motion of sectors was acknowledged, by MovingPlane::key; 0: none.
  std::uint32_t motion_held(std::uint16_t key) const { return key < motions_.size() ? motions_[key] : 0; }

  /// The entry of a group that the client is to know at this tick, made where there is none.
  ClientFields& want_fields(std::uint16_t key, std::uint32_t source, std::uint32_t tick);
  /// By key. Of those that are not wanted any more the client is told that nobody is in them.
  std::span<ClientFields> fields() { return fields_; }

  EntityWaits waits;            ///< of those in its interest
  std::size_t next_slice = 0;   ///< where heights go on that found no room
  std::size_t next_motion = 0;  ///< and motions

  std::size_t memory_bytes() const;
  /// Asks the processor for what a snapshot of some dozen blocks will need; changes nothing.
  void prefetch_rows() const {
    prefetch_blocks();
    waits.prefetch();
    prefetch(&packets_[(packet_first_ + packet_count_) % packets_.size()], sizeof(Packet));
    prefetch(&items_[next_item_ % journal_items_max], 64);
    if (const OwnPlayer* const held = held_own()) prefetch(held, sizeof *held);
    prefetch(&own_[next_own_], sizeof(OwnPlayer));
    prefetch(slices_.data(), std::min<std::size_t>(slices_.size() * sizeof(std::uint32_t), 64));
    prefetch(motions_.data(), std::min<std::size_t>(motions_.size() * sizeof(std::uint32_t), 64));
  }
  /// The same for what becomes of a packet.
  void prefetch_fate(std::uint64_t sequence) const {
    prefetch_blocks();
    if (packet_count_ > 0 && sequence <= newest_sequence_)
      prefetch(&packets_[(packet_first_ + least_place_of(sequence)) % packets_.size()], sizeof(Packet));
  }

 private:
  struct Packet {
    std::uint64_t sequence = 0;
    std::uint32_t tick = 0;
    std::uint32_t first = 0, count = 0;  // in items_, which is a ring
    std::uint32_t acked_at = 0;          // the tick that was to be played next then; 0: it is not
  };
  void apply(const JournalItem& item, std::uint32_t tick);
  void prefetch_blocks() const {
    constexpr std::size_t usual_blocks = 64;
    const std::size_t count = std::min(blocks_.size(), usual_blocks);
    prefetch(blocks_.data(), count * sizeof(ClientBlock));
    prefetch(numbers_.data(), count * sizeof(std::uint16_t));
  }

  std::size_t place_of(std::uint16_t number) const;
  /// A packet of that sequence lies there, counted from the oldest, or a little behind: sequences ascend,
  /// most of them by one. Preconditions: there are packets, and the newest is no older than that.
  std::size_t least_place_of(std::uint64_t sequence) const {
    const std::size_t last = packet_count_ - 1;
    return last - static_cast<std::size_t>(std::min<std::uint64_t>(newest_sequence_ - sequence, last));
  }
  /// The own player as of own_held_; null: it is not kept.
  const OwnPlayer* held_own() const {
    const auto at = std::ranges::find(own_ticks_, own_held_);
    return at == own_ticks_.end() ? nullptr : &own_[static_cast<std::size_t>(at - own_ticks_.begin())];
  }

  std::vector<ClientBlock> blocks_;
  std::vector<std::uint16_t> numbers_;  // of blocks_, close together
  std::vector<Packet> packets_;         // a ring, by ascending sequence
  std::size_t packet_first_ = 0, packet_count_ = 0;
  std::uint64_t newest_sequence_ = 0;  // of packets_, where there are any
  std::vector<JournalItem> items_;
  std::uint32_t next_item_ = 0;                           // runs on; modulo it is the place
  std::array<std::uint32_t, own_bases_max> own_ticks_{};  // a ring; 0: none
  std::vector<OwnPlayer> own_;                            // by own_ticks_
  std::size_t next_own_ = 0;
  std::uint32_t own_held_ = 0;
  struct Foreseen {
    std::uint32_t tick = 0;  // 0: none
    OwnPlayer own;
  };
  Foreseen own_foreseen_;
  std::vector<std::uint32_t> slices_;
  std::vector<std::uint32_t> motions_;  // by MovingPlane::key, as they are acknowledged
  std::vector<ClientFields> fields_;
  std::uint8_t epoch_ = 1;
};

}  // namespace ashlar::server
