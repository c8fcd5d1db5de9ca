#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ashlar::server {

/// Who came and who went, put together into one line each at most once a second, so that no number of them
/// fills anybody's chat: "ann joined", "ann, bob and 5 others left". One thread.
class Notices {
 public:
  using Micros = std::chrono::duration<std::int64_t, std::micro>;
  static constexpr Micros every{1'000'000};

  /// Counts somebody in until the next take(). Beyond the first two the names are not kept.
  void joined(const std::string& name) { add(joined_, name, ""); }
  /// @param why  shown where one alone left
  void left(const std::string& name, const std::string& why) { add(left_, name, why); }

  /// The lines that are due, at most one for those who came and one for those who went.
  std::vector<std::string> take(Micros now) {
    if ((joined_.count == 0 && left_.count == 0) || (told_ && now - told_at_ < every)) return {};
    told_ = true;
    told_at_ = now;
    std::vector<std::string> lines;
    if (joined_.count > 0) lines.push_back(text(joined_) + " joined");
    if (left_.count > 0)
      lines.push_back(text(left_) + " left" +
                      (left_.count == 1 && !left_.why.empty() ? " (" + left_.why + ")" : ""));
    joined_ = left_ = {};
    return lines;
  }

 private:
  static constexpr std::size_t names_max = 2;
  struct Group {
    std::array<std::string, names_max> names;
    std::string why;  // of the first
    std::size_t count = 0;
  };

  static void add(Group& group, const std::string& name, const std::string& why) {
    if (group.count == 0) group.why = why;
    if (group.count < names_max) group.names[group.count] = name;
    ++group.count;
  }
  static std::string text(const Group& group) {
    if (group.count == 1) return group.names[0];
    if (group.count == 2) return group.names[0] + " and " + group.names[1];
    const std::size_t others = group.count - names_max;
    return group.names[0] + ", " + group.names[1] + " and " + std::to_string(others) +
           (others == 1 ? " other" : " others");
  }

  Group joined_, left_;
  bool told_ = false;
  Micros told_at_{0};
};

/// Notices on their way into one client's chat: they go there only while little else waits, so that chat
/// never waits behind them. When full the oldest is dropped.
class NoticeQueue {
 public:
  static constexpr std::size_t lines_max = 4;

  /// @return false: the oldest had to go
  bool push(const std::string& line) {
    const bool full = count_ == lines_max;
    if (full) pop();
    lines_[(first_ + count_) % lines_max] = line;
    ++count_;
    return !full;
  }
  bool empty() const { return count_ == 0; }
  const std::string& front() const { return lines_[first_]; }
  void pop() { first_ = (first_ + 1) % lines_max, --count_; }

 private:
  std::array<std::string, lines_max> lines_;
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace ashlar::server
