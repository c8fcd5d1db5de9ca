#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "world/math/prefetch.h"

namespace ashlar::server {

/// Some entities by their slots; none of these is `end` or above.
struct EntitySlots {
  std::span<const std::uint32_t> slots;
  std::uint32_t end = 0;
};

/// Since when those whom one client is to be told of have waited, where not all find room in its snapshots.
/// By entity and not by block: who walks from block to block, or whose block is split or becomes one with
/// others, waits no longer for that. Three bytes for each slot up to the highest one in interest. Allocates
/// until it has grown. The Host's thread.
class EntityWaits {
 public:
  /// A snapshot begins; ticks ascend.
  void begin(std::uint32_t tick) {
    before_ = now_ == 0 ? tick : now_;  // before the first one nobody waited
    now_ = tick;
    if (snapshot_ == UINT8_MAX) {
      // Numbers begin anew: of those before it counts who was seen in the last one alone.
      for (std::uint8_t& seen : seen_) seen = seen == snapshot_ ? 1 : 0;
      snapshot_ = 1;
    }
    ++snapshot_;
  }
  /// Did somebody find no room in the snapshot before? Else nobody waits, and since() need not be asked.
  bool any() const { return any_; }
  /// Of some in interest: the tick as of which the client was told of whoever has waited longest. Who was not
  /// in interest in the snapshot before has waited since now. Ask for each of them in every snapshot while
  /// any().
  std::uint32_t since(const EntitySlots& them) {
    make_room(them.end);
    std::uint16_t longest = 0;
    for (const std::uint32_t slot : them.slots) {
      const bool anew = seen_[slot] != static_cast<std::uint8_t>(snapshot_ - 1);
      const std::uint16_t told = anew ? low(now_) : told_[slot];
      longest = std::max(longest, low(now_ - told));
      told_[slot] = told;
      seen_[slot] = snapshot_;
    }
    return now_ - longest;
  }
  /// The client is told of them, or knows them as they are.
  void told(const EntitySlots& them) { put(them, now_); }
  /// The snapshot was made. @param cut  not all found room
  void end(bool cut) { any_ = cut; }
  /// Some of the first snapshot that was cut, who found no room.
  void wait(const EntitySlots& them) { put(them, before_); }

  /// Asks the processor for what a snapshot will need where not all find room; changes nothing.
  void prefetch() const {
    constexpr std::size_t usual_slots = 1024;
    if (!any_) return;
    const std::size_t slots = std::min(told_.size(), usual_slots);
    ashlar::prefetch(told_.data(), slots * sizeof(std::uint16_t));
    ashlar::prefetch(seen_.data(), slots);
  }

  std::size_t memory_bytes() const {
    return told_.capacity() * sizeof(std::uint16_t) + seen_.capacity() * sizeof(std::uint8_t);
  }

 private:
  static constexpr std::size_t slots_step = 256;  // it grows by so many: each client has one
  static std::uint16_t low(std::uint32_t tick) { return static_cast<std::uint16_t>(tick); }
  void put(const EntitySlots& them, std::uint32_t tick) {
    make_room(them.end);
    for (const std::uint32_t slot : them.slots) {
      told_[slot] = low(tick);
      seen_[slot] = snapshot_;
    }
  }
  void make_room(std::uint32_t end) {
    if (end <= told_.size()) return;
    const std::size_t room = (end + slots_step - 1) / slots_step * slots_step;
    told_.reserve(room);
    told_.resize(room);
    seen_.reserve(room);
    seen_.resize(room);
  }

  /// By slot, the lower bits of ticks: who waited for so long that they begin anew counts as told a moment
  /// ago, once.
  std::vector<std::uint16_t> told_;
  std::vector<std::uint8_t> seen_;  // by slot: the number of the last snapshot that he was in interest of
  std::uint8_t snapshot_ = 1;  // of the present one; they run from 2 to 255, and the one before is one less
  std::uint32_t before_ = 0, now_ = 0;
  bool any_ = false;
};

}  // namespace ashlar::server
