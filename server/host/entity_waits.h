#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "world/sim/kinds.h"

namespace ashlar::server {

/// Since when those whom one client is to be told of have waited, where not all find room in its snapshots.
/// By entity and not by block: who walks from block to block, or whose block is split or becomes one with
/// others, waits no longer for that. 4 bytes for each slot up to the highest one in interest. Allocates until
/// it has grown. The Host's thread.
class EntityWaits {
 public:
  /// A snapshot begins; ticks ascend.
  void begin(std::uint32_t tick) {
    before_ = now_;
    now_ = tick;
  }
  /// Did all find room in the snapshot before? Then nobody waits, and since() need not be asked.
  bool any() const { return any_; }
  /// Of somebody in interest: the tick as of which the client was told of him. Who was not in interest in the
  /// snapshot before has waited since now. Ask for each of them in every snapshot while any().
  std::uint32_t since(EntityId id) {
    Wait& wait = at(id);
    if (wait.seen != low(before_)) wait.told = low(now_);
    wait.seen = low(now_);
    return now_ - low(now_ - wait.told);
  }
  /// The client is told of him, or knows him as he is.
  void told(EntityId id) { at(id) = {low(now_), low(now_)}; }
  /// The snapshot was made. @param cut  not all found room
  void end(bool cut) { any_ = cut; }
  /// One of the first snapshot that was cut, who found no room.
  void wait(EntityId id) { at(id) = {low(before_), low(now_)}; }

  std::size_t memory_bytes() const { return waits_.capacity() * sizeof(Wait); }

 private:
  /// The lower bits of ticks: who waited for so long that they begin anew counts as told a moment ago, once.
  struct Wait {
    std::uint16_t told = 0, seen = 0;
  };
  static std::uint16_t low(std::uint32_t tick) { return static_cast<std::uint16_t>(tick); }
  Wait& at(EntityId id) {
    const std::size_t slot = slot_of(id);
    if (slot >= waits_.size()) waits_.resize(slot + 1);
    return waits_[slot];
  }

  std::vector<Wait> waits_;
  std::uint32_t before_ = 0, now_ = 0;
  bool any_ = false;
};

}  // namespace ashlar::server
