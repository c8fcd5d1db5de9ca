#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "world/sim/kinds.h"

namespace ashlar::server {

/// Since when those whom one client is to be told of have waited, where not all find room in its snapshots.
/// By entity and not by block: who walks from block to block, or whose block is split or becomes one with
/// others, waits no longer for that. 2.25 bytes for each slot up to the highest one in interest. Allocates
/// until it has grown. The Host's thread.
class EntityWaits {
 public:
  /// A snapshot begins; ticks ascend.
  void begin(std::uint32_t tick) {
    before_ = now_;
    now_ = tick;
    std::swap(seen_before_, seen_);
    seen_.assign(seen_.size(), false);
  }
  /// Did all find room in the snapshot before? Then nobody waits, and since() need not be asked.
  bool any() const { return any_; }
  /// Of somebody in interest: the tick as of which the client was told of him. Who was not in interest in the
  /// snapshot before has waited since now. Ask for each of them in every snapshot while any().
  std::uint32_t since(EntityId id) {
    const std::size_t slot = slot_for(id);
    if (!seen_before_[slot]) told_[slot] = low(now_);
    seen_[slot] = true;
    return now_ - low(now_ - told_[slot]);
  }
  /// The client is told of him, or knows him as he is.
  void told(EntityId id) { put(id, now_); }
  /// The snapshot was made. @param cut  not all found room
  void end(bool cut) { any_ = cut; }
  /// One of the first snapshot that was cut, who found no room.
  void wait(EntityId id) { put(id, before_); }

  std::size_t memory_bytes() const {
    return told_.capacity() * sizeof(std::uint16_t) + (seen_.capacity() + seen_before_.capacity()) / 8;
  }

 private:
  static constexpr std::size_t slots_step = 256;  // it grows by so many: each client has one
  static std::uint16_t low(std::uint32_t tick) { return static_cast<std::uint16_t>(tick); }
  void put(EntityId id, std::uint32_t tick) {
    const std::size_t slot = slot_for(id);
    told_[slot] = low(tick);
    seen_[slot] = true;
  }
  std::size_t slot_for(EntityId id) {
    const std::size_t slot = slot_of(id);
    if (slot >= told_.size()) {
      const std::size_t room = slot / slots_step * slots_step + slots_step;
      told_.reserve(room);
      told_.resize(room);
      seen_.resize(room);
      seen_before_.resize(room);
    }
    return slot;
  }

  /// By slot, the lower bits of ticks: who waited for so long that they begin anew counts as told a moment
  /// ago, once.
  std::vector<std::uint16_t> told_;
  std::vector<bool> seen_, seen_before_;  // by slot: in interest in this snapshot, and in the one before
  std::uint32_t before_ = 0, now_ = 0;
  bool any_ = false;
};

}  // namespace ashlar::server
