#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "world/math/prefetch.h"
#include "world/sim/command.h"

namespace ashlar::server {

/// What became of one received command.
enum class InputVerdict : std::uint8_t {
  taken,
  repeated,  ///< already here: repeats are how inputs survive loss, so this is the normal case
  late,      ///< its tick was already played
  early,     ///< further ahead than the buffer reaches: a broken or cheating clock
};

/// The short buffer of one client's commands, by tick. A missing command repeats the last one for a few
/// ticks, then the player stands still. Value, 3 KiB, no allocation; the Host's thread.
class InputBuffer {
 public:
  static constexpr std::uint32_t reach_ticks = 64;  ///< farthest ahead a command may lie
  /// How often a missing command repeats the last one: for 0.1 s, at least once.
  static constexpr std::uint32_t repeat_ticks(std::uint32_t tick_rate_hz) { return (tick_rate_hz + 5) / 10; }

  /// Empty; until the first command take() gives one that stands still.
  /// @param yaw, pitch  where it looks until then
  explicit InputBuffer(std::uint32_t tick_rate_hz = 60, Turn16 yaw = Turn16{0}, Turn16 pitch = Turn16{0})
      : repeat_ticks_(repeat_ticks(tick_rate_hz)), missed_(repeat_ticks_) {
    last_.yaw = yaw;
    last_.pitch = pitch;
  }

  /// A message repeats commands that did not arrive for all that its client knows: how many of its newest are
  /// worth an add(), 1 to `count`. The others were added before, or are late.
  /// @param newest  tick of the newest of the `count` commands, which are of consecutive ticks
  /// @param next    the tick that will be played next
  std::uint32_t count_news(std::uint32_t newest, std::uint32_t count, std::uint32_t next) {
    // Of a fresh one the number says nothing: half way round it would lie ahead.
    if (!any_ || static_cast<std::int32_t>(known_until_ - (next - 1)) < 0) known_until_ = next - 1;
    const auto news = static_cast<std::int32_t>(newest - known_until_);
    if (news <= 0) return 1;                                    // for the sake of its verdict
    if (news > static_cast<std::int32_t>(count)) return count;  // some between may come yet
    if (static_cast<std::int32_t>(newest - next) < static_cast<std::int32_t>(reach_ticks))
      known_until_ = newest;
    return static_cast<std::uint32_t>(news);
  }

  /// @param next  the tick that will be played next
  /// @param ago   the command was given when so many ticks before `next` was
  /// @param foreseen  Input::foreseen of that tick; 0: it was not said
  InputVerdict add(std::uint32_t tick, const PlayerCommand& command, std::uint32_t next,
                   std::uint32_t ago = 0, std::uint32_t foreseen = 0) {
    // Signed distance: ticks wrap.
    const auto ahead = static_cast<std::int32_t>(tick - next);
    if (ahead >= static_cast<std::int32_t>(reach_ticks)) return InputVerdict::early;
    // Late ones count here, too: a client whose every command is late has to hear by how much.
    if (!any_ || static_cast<std::int32_t>(tick - newest_) > 0) newest_ = tick;
    any_ = true;
    if (ahead < 0) return InputVerdict::late;
    Slot& slot = slots_[tick % reach_ticks];
    if (slot.filled && slot.tick == tick) return InputVerdict::repeated;
    slot = {command, tick, foreseen,
            static_cast<std::uint8_t>(static_cast<std::uint32_t>(ahead) + std::min(ago, 64u)), true};
    return InputVerdict::taken;
  }

  /// What a tick plays.
  struct Played {
    PlayerCommand command;
    bool own = false;         ///< the client's command for this very tick; false: repeated or standing still
    std::uint32_t given = 0;  ///< own: the tick that was to be played next when it was given
  };

  /// The command for `tick`; call once per tick, in order.
  Played take(std::uint32_t tick) {
    Slot& slot = slots_[tick % reach_ticks];
    if (slot.filled && slot.tick == tick) {
      slot.filled = false;
      last_ = slot.command;
      last_own_tick_ = tick;
      foreseen_ = slot.foreseen;
      missed_ = 0;
      return {last_, true, tick - slot.early};
    }
    if (missed_ < repeat_ticks_) {
      ++missed_;
      return {last_, false, 0};
    }
    PlayerCommand still;
    still.yaw = last_.yaw;
    still.pitch = last_.pitch;
    return {still, false, 0};
  }

  /// Asks the processor for what take() of a tick will need; changes nothing.
  void prefetch(std::uint32_t tick) const {
    prefetch_head();
    ashlar::prefetch(&slots_[tick % reach_ticks], sizeof(Slot));
  }
  /// The same for what add() of the next one will need: first for where that lies, then, a step later, for
  /// that.
  void prefetch_head() const { prefetch_until(&last_, &slots_); }
  void prefetch_newest() const { ashlar::prefetch(&slots_[(newest_ + 1) % reach_ticks], sizeof(Slot)); }

#ifdef ASHLAR_DEFECTS
  /// Defects::stale_input: believes whatever the tick's place in the buffer last held.
  Played take_stale(std::uint32_t tick) {
    Slot& slot = slots_[tick % reach_ticks];
    if (!slot.filled) return take(tick);
    slot.tick = tick;
    const Played played = take(tick);
    slot.filled = true;
    return played;
  }
#endif

  /// Tick of the newest command that has arrived in reach, late or not; 0: none.
  std::uint32_t newest_tick() const { return newest_; }
  /// Tick of the last command that was the client's own: what the snapshot acknowledges.
  std::uint32_t last_own_tick() const { return last_own_tick_; }
  /// What the client foresaw of a tick, by own_hash(); 0: it did not say, or that tick was not the last to
  /// play a command of its own.
  std::uint32_t foreseen(std::uint32_t tick) const { return last_own_tick_ == tick ? foreseen_ : 0; }
  /// Newest command's tick minus `tick`: what the client steers its clock by. level_none: no command yet.
  static constexpr std::int32_t level_none = INT32_MIN;
  std::int32_t level(std::uint32_t tick) const {
    return any_ ? static_cast<std::int32_t>(newest_ - tick) : level_none;
  }

 private:
  struct Slot {
    PlayerCommand command;
    std::uint32_t tick = 0;
    std::uint32_t foreseen = 0;
    std::uint8_t early = 0;  // ticks that it was given before
    bool filled = false;
  };
  PlayerCommand last_;
  std::uint32_t newest_ = 0;
  std::uint32_t known_until_ = 0;  // all up to this tick were added, or are late
  std::uint32_t last_own_tick_ = 0;
  std::uint32_t foreseen_ = 0;  // of that tick
  std::uint32_t repeat_ticks_;
  std::uint32_t missed_;
  bool any_ = false;
  std::array<Slot, reach_ticks> slots_{};  // behind all that is asked for with them
};

}  // namespace ashlar::server
