#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "world/math/vec.h"
#include "world/sim/block_act.h"

namespace ashlar::server {

/// When each column of chunks was last changed: who is far from all may go once that is on the disk. Columns
/// that went are forgotten, so it holds those that are loaded and changed. The Host's thread.
class EditedColumns {
 public:
  /// What a step changed.
  void note(std::span<const AppliedEdit> edits, std::uint32_t tick);
  /// Has a store said that every change of the column is on its disk?
  /// @param saved_tick  all up to it is; 0: nothing was said, as where no world is kept
  bool saved(IVec2 column, std::uint32_t saved_tick) const;
  void forget(IVec2 column) { ticks_.erase(column); }

 private:
  struct Less {
    bool operator()(const IVec2& a, const IVec2& b) const { return std::tie(a.x, a.y) < std::tie(b.x, b.y); }
  };
  std::map<IVec2, std::uint32_t, Less> ticks_;
};

}  // namespace ashlar::server
