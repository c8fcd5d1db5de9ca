#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "world/bsp/heights.h"
#include "world/math/vec.h"
#include "world/sim/block_history.h"
#include "world/sim/command.h"
#include "world/sim/shown_between.h"
#include "world/sim/tables.h"
#include "world/sim/told_apart.h"

namespace ashlar {

/// How far back a shot may be judged: who plays over a longer way has to lead its targets. What somebody can
/// gain who lies about what it saw is bounded by it, too: a body is hit where it was so long ago at most.
inline constexpr double rewind_s_max = 0.25;

/// A picture is made of states that were told; how far apart these are at most where a shot is judged by it.
/// Of wider ones nothing is known here, and everybody counts where he was.
inline constexpr double told_apart_s_max = 0.5;

/// What a shot is judged by.
struct PictureAt {
  TickId seen{0};
  std::uint8_t told_before = 0;  ///< with the next one: PlayerCommand
  std::int8_t told_after = 0;
  friend bool operator==(const PictureAt&, const PictureAt&) = default;
};

/// Where everybody was, how high sectors stood and which blocks there were, at the ends of the newest ticks:
/// what a shot is judged against whose player saw an older state. A ring over rewind_s_max, and of bodies
/// over told_apart_s_max more; what is in it follows from the ticks that were stepped, so it is no part of
/// the world's hash. Nothing allocates after construction.
class History {
 public:
  History() = default;
  /// @param heights  by map, as many sectors as there will be
  History(const Rules& rules, std::size_t players_max, std::size_t monsters_max,
          std::span<const std::vector<SectorHeights>> heights);

  /// A tick has ended. Cost: 30 ns a row of four, and a copy of the heights.
  void record(TickId tick, const PlayerTable& players, const MonsterTable& monsters,
              std::span<const std::vector<SectorHeights>> heights);

  /// One tick's end. Valid until it falls out of the ring.
  class Frame {
   public:
    TickId tick() const { return tick_; }
    /// Nobody, where another one or none alive was in the row then.
    /// @param row  of players, then of monsters
    std::optional<DVec3> position_of(std::size_t row, EntityId id) const {
      if (id_[row] != id) return std::nullopt;
      return position_m_[row];
    }
    HeightsView heights(std::size_t map) const { return heights_[map]; }

   private:
    friend class History;
    TickId tick_{0};
    std::vector<EntityId> id_;  // 0: nobody alive
    std::vector<DVec3> position_m_;
    std::vector<std::vector<SectorHeights>> heights_;
  };

  /// The blocks that a tick has changed so far; once before its shots, once at its end.
  void note_edits(TickId tick, std::span<const AppliedEdit> applied) { blocks_.note(tick, applied); }
  const BlockHistory& blocks() const { return blocks_; }

  /// Where a picture showed somebody: between two states, where it was made of such, else as he was. Nobody,
  /// where another one or none alive was in the row at the tick that was seen, or where that is not in the
  /// ring.
  /// @param row  of players, then of monsters
  std::optional<DVec3> shown_position(const Rules& rules, std::size_t row, EntityId id,
                                      const PictureAt& picture) const {
    const auto told = told_states(row, id, picture);
    if (!told) return std::nullopt;
    return shown_between(*told, static_cast<double>(number(picture.seen)), rules);
  }
  /// The two states that it was shown between; where it was not, twice the one that it was shown as.
  std::optional<ToldStates> told_states(std::size_t row, EntityId id, const PictureAt& picture) const;

  /// The state at the end of a tick; null: it is not in the ring (any more).
  const Frame* at(TickId tick) const;
  /// How many ticks before the newest one may be asked for: those of rewind_s_max.
  std::uint32_t ticks_max() const { return ticks_max_; }

 private:
  std::uint32_t ticks_max_ = 0;
  std::vector<Frame> frames_;  // by tick modulo
  BlockHistory blocks_;
};

}  // namespace ashlar
