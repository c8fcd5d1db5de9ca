#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "world/sim/observer.h"
#include "world/sim/shooting.h"

namespace ashlar::examples {

/// Looks for what hands cannot do: a view that leaps onto somebody in the very tick of a shot that hits,
/// again and again, and a trigger that is pressed more often than fingers can. It flags the first and wants
/// the second gone. What is human is a matter of taste; these bounds are generous.
class AimDetector final : public Observer {
 public:
  static constexpr double snap_deg = 25;          // in one tick
  static constexpr double still_deg = 2;          // in the ticks around it: a hand slows down before it stops
  static constexpr std::uint32_t snaps_most = 4;  // that hit, within window_s
  static constexpr std::uint32_t presses_per_s_most = 20;
  static constexpr double window_s = 30;

  void commanded(const World& before, EntityId player, const PlayerCommand& command) override {
    Hand& hand = hands_[player];
    const double turned = degrees(command.yaw, hand.yaw);
    hand.snapped = turned >= snap_deg && hand.turned <= still_deg && hand.known;
    hand.turned = turned;
    hand.yaw = command.yaw;
    hand.known = true;
    const bool pulls = (command.buttons & button::attack) != 0;
    if (pulls && !hand.pulls) hand.presses.push_back(number(before.tick()));
    hand.pulls = pulls;
    const std::uint32_t rate = before.setup().rules.tick_rate_hz;
    forget(hand.presses, number(before.tick()), rate);
    if (hand.presses.size() <= presses_per_s_most) return;
    hand.presses.clear();
    verdicts_.push_back({player, true, "presses the trigger more than 20 times a second"});
  }

  void stepped(const World& after) override {
    const std::uint32_t rate = after.setup().rules.tick_rate_hz;
    for (const ShotEvent& shot : after.shooting().events()) {
      const auto hand = hands_.find(shot.shooter);
      if (hand == hands_.end() || shot.hit.target == EntityId{0} || !hand->second.snapped) continue;
      std::deque<std::uint32_t>& snaps = hand->second.snaps;
      hand->second.snapped = false;  // once a tick, however many rays
      snaps.push_back(number(after.tick()));
      forget(snaps, number(after.tick()), static_cast<std::uint32_t>(window_s * rate));
      if (snaps.size() <= snaps_most) continue;
      snaps.clear();
      verdicts_.push_back({shot.shooter, false, "turns onto others in the tick of the shot"});
    }
  }

  void left(const World&, EntityId player) override { hands_.erase(player); }

  std::optional<ObserverVerdict> take_verdict() override {
    if (verdicts_.empty()) return std::nullopt;
    ObserverVerdict first = std::move(verdicts_.front());
    verdicts_.pop_front();
    return first;
  }

 private:
  struct Hand {
    Turn16 yaw{0};
    double turned = 0;  // degrees, in the last tick
    bool known = false, pulls = false, snapped = false;
    std::deque<std::uint32_t> presses, snaps;  // ticks
  };
  static double degrees(Turn16 a, Turn16 b) {
    const auto off = static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b));
    return (off < 0 ? -static_cast<double>(off) : static_cast<double>(off)) * 360 / 65536;
  }
  static void forget(std::deque<std::uint32_t>& ticks, std::uint32_t now, std::uint32_t after) {
    while (!ticks.empty() && now - ticks.front() >= after) ticks.pop_front();
  }

  std::map<EntityId, Hand> hands_;
  std::deque<ObserverVerdict> verdicts_;
};

}  // namespace ashlar::examples
