#include "client_sim/client/cue_inbox.h"

#include <algorithm>

#include "protocol/part_head.h"
#include "world/math/assert.h"

namespace ashlar::client_sim {

static_assert(snapshot_parts_max <= 32, "a bit for each part");

bool CueInbox::take_in(std::uint32_t tick, std::uint8_t part, std::span<const Cue> cues) {
  ASHLAR_ASSERT(part < snapshot_parts_max);
  if (newest_tick_ >= ticks_known && tick <= newest_tick_ - ticks_known) return false;
  Heard& heard = heard_[tick % ticks_known];
  if (heard.tick != tick) heard = {tick, 0};
  const std::uint32_t bit = 1u << part;
  if ((heard.parts & bit) != 0) return false;
  heard.parts |= bit;
  newest_tick_ = std::max(newest_tick_, tick);
  for (const Cue& cue : cues) {
    if (cue.age > tick) continue;  // before the world
    if (cues_.size() == kept_max) cues_.pop_front();
    cues_.push_back({cue, tick - cue.age});
  }
  return true;
}

std::vector<HeardCue> CueInbox::take(std::size_t most) {
  std::vector<HeardCue> out;
  out.reserve(std::min(most, cues_.size()));
  for (; out.size() < most && !cues_.empty(); cues_.pop_front()) out.push_back(cues_[cues_.first()]);
  return out;
}

}  // namespace ashlar::client_sim
