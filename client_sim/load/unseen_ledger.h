#pragma once
#include <cstdint>
#include <deque>

namespace ashlar::client_sim {

/// What somebody is told of another for nothing: the ticks in which it is told, and after which it does not
/// see it for a while.
class UnseenLedger {
 public:
  /// @param idle_ticks  how long a while is
  explicit UnseenLedger(std::uint32_t idle_ticks = 0) : idle_ticks_(idle_ticks) {}

  /// Ticks ascend; told and seen as of the tick.
  /// @return how many of the ticks noted before have turned out to be for nothing
  std::uint32_t note(std::uint32_t tick, bool told, bool seen) {
    if (seen) unseen_.clear();
    std::uint32_t idle = 0;
    for (; !unseen_.empty() && unseen_.front() + idle_ticks_ < tick; unseen_.pop_front()) ++idle;
    if (told && !seen) unseen_.push_back(tick);
    return idle;
  }
  /// Of the ticks noted so far it is known of each what it was for.
  bool settled() const { return unseen_.empty(); }

 private:
  std::uint32_t idle_ticks_;
  std::deque<std::uint32_t> unseen_;  // ticks in which it was told, not seen since
};

}  // namespace ashlar::client_sim
