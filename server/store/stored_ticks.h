#pragma once
#include <cstdint>

#include "server/store/world_store.h"

namespace ashlar::server {

/// What of a kept world is counted in ticks.
struct StoredTicks {
  std::uint64_t tick = 0;  ///< its clock
  std::vector<PlacedData> contents = {};
  std::vector<LyingItem> items = {};
  std::shared_ptr<const KeptState> state = {};  ///< null: there is none
  std::vector<StoredPlayer> players = {};
};

/// The same in seconds at another tick rate: the day goes on where it was, fuses and matches have as long to
/// run, what lies about has lain as long, powers of players last as long. What a timer, a monster or a power
/// has left is rounded up, so that nothing that runs has run out. (Where doors and lifts wait stays in
/// ticks.)
/// @param from, to  ticks a second, above 0
void convert_ticks(StoredTicks& ticks, std::uint16_t from, std::uint16_t to);

}  // namespace ashlar::server
