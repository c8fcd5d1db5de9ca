#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "world/math/prefetch.h"
#include "world/sim/command.h"

namespace ashlar {

/// The newest ticks whose states a player was told. From them follows of which two states its picture was
/// made: a client says so in its commands, and a server works it out from what was acknowledged. Value, 270
/// bytes, no allocation.
class ToldTicks {
 public:
  static constexpr std::size_t ticks_max = 64;
  /// Of two states between which a picture shows somebody: PlayerCommand::told_before. 0 and 0: none.
  struct Pair {
    std::uint8_t before = 0;
    std::int8_t after = 0;
    friend bool operator==(const Pair&, const Pair&) = default;
  };

  /// In any order, each as often as it likes; older ones than all that are kept are not noted. Cost: 1 ns
  /// where they come in order.
  void note(std::uint32_t tick) {
    std::size_t newer = 0;
    while (newer < count_ && (*this)[newer] > tick) ++newer;
    if (newer == ticks_max || (newer < count_ && (*this)[newer] == tick)) return;
    at_ = (at_ + 1) % ticks_max;
    count_ = std::min(count_ + 1, ticks_max);
    for (std::size_t i = 0; i < newer; ++i) slot(i) = (*this)[i + 1];
    slot(newer) = tick;
  }
  std::size_t count() const { return count_; }
  /// Newest first. Precondition: i < count().
  std::uint32_t operator[](std::size_t i) const { return ticks_[(at_ + ticks_max - i) % ticks_max]; }
  std::uint32_t newest() const { return count_ == 0 ? 0 : (*this)[0]; }
  /// Asks the processor for what note() of the next one will need: for where that is, then, a step later, for
  /// that. Changes nothing.
  void prefetch_head() const { ashlar::prefetch(&at_, sizeof at_ + sizeof count_); }
  void prefetch_newest() const { ashlar::prefetch(&ticks_[at_], sizeof(std::uint32_t)); }
  bool has(std::uint32_t tick) const {
    const std::size_t i = newer_than(tick);
    return i < count_ && (*this)[i] == tick;
  }

  /// The two that a picture of a tick is made of; none where that tick itself was told, and where too few
  /// were. Beyond the newest everybody goes on as he went from the one before. Cost: 1 ns a tick that is
  /// newer.
  Pair around(TickId shown) const {
    const std::uint32_t seen = number(shown);
    const std::size_t newer = newer_than(seen);
    if (seen == 0 || newer == count_ || (*this)[newer] == seen) return {};
    const std::size_t from = newer == 0 ? 1 : newer;
    if (from >= count_) return {};
    const std::uint32_t before = seen - (*this)[from];
    const auto after = static_cast<std::int32_t>((*this)[from - 1] - seen);
    if (before > 255 || after > 127 || after < -128) return {};  // older than any shot is judged by
    return {static_cast<std::uint8_t>(before), static_cast<std::int8_t>(after)};
  }

 private:
  std::uint32_t& slot(std::size_t i) { return ticks_[(at_ + ticks_max - i) % ticks_max]; }
  std::size_t newer_than(std::uint32_t tick) const {
    std::size_t newer = 0;
    while (newer < count_ && (*this)[newer] > tick) ++newer;
    return newer;
  }

  std::size_t at_ = 0, count_ = 0;
  std::array<std::uint32_t, ticks_max> ticks_{};  // ascending, a ring
};

}  // namespace ashlar
