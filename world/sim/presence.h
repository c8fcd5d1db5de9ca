#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "world/sim/kinds.h"

// Who stands behind a player, as far as a game may know: what he calls himself, and whether anybody is there.

namespace ashlar {

/// What a player calls himself. A value without memory of its own.
class PlayerName {
 public:
  static constexpr std::size_t bytes_max = 96;  ///< 24 code points of UTF-8

  PlayerName() = default;
  /// What is longer is cut off.
  explicit PlayerName(std::string_view text)
      : size_(static_cast<std::uint8_t>(std::min(text.size(), bytes_max))) {
    std::copy_n(text.begin(), size_, bytes_.begin());
  }

  std::string_view text() const { return {bytes_.data(), size_}; }  ///< as long as this lives
  friend bool operator==(const PlayerName&, const PlayerName&) = default;

 private:
  std::uint8_t size_ = 0;
  std::array<char, bytes_max> bytes_{};  // behind its end zeros
};

/// The name of who joins in a tick.
struct JoinName {
  std::uint32_t token = 0;  ///< the join's
  PlayerName name;
  friend bool operator==(const JoinName&, const JoinName&) = default;
};

/// From now on nobody commands a player's body, or somebody does again.
struct AwayChange {
  EntityId player{};
  bool away = false;
  PlayerName name = {};  ///< of who is back, who may call himself otherwise by now; empty: as before
  friend bool operator==(const AwayChange&, const AwayChange&) = default;
};

/// What a world keeps of that, by player row.
struct Presence {
  PlayerName name;
  bool away = false;
};

}  // namespace ashlar
