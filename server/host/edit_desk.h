#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/messages.h"
#include "world/math/prefetch.h"
#include "world/math/vec.h"

namespace ashlar::server {

/// What the edit room knows of one session: acts that wait for their tick, verdicts that wait to be sent, and
/// the columns of ground around its player whose changes it has been told.
struct EditDesk {
  struct Waiting {
    std::uint32_t tick = 0;  ///< of the command that it belongs to
    BlockAct act;
  };
  static constexpr std::size_t waiting_max = 32;
  /// Acts that it may still send; refilled by one each tick. So many at once are honest: a burst after a
  /// network that held them back.
  static constexpr std::int32_t tokens_max = 32;

  /// Its acts are numbered from 1, in a body that may have been another session's, from behind that one's in
  /// the world: by so much more there.
  std::uint32_t number_offset = 0;
  std::size_t waiting_count = 0;
  std::int32_t tokens = tokens_max;
  std::vector<ActAnswer> answers;

  /// What it knows of a column's changes. Those of a tick are told wherever it is not `nothing`.
  enum class Told : std::uint8_t { nothing, some, all };

  bool placed = false;     ///< centre and told mean something
  IVec2 centre{};          ///< column of chunks
  std::vector<Told> told;  ///< by column of the square around centre
  std::size_t next = 0;    ///< how far it was looked for columns to tell of, nearest first
  /// Of the column at `next`, if `some` of it was told: up to this block.
  std::int32_t told_z = 0;
  std::int32_t told_index = -1;
  std::uint32_t told_saved = 0;                ///< the tick that it was last told to be saved
  std::array<Waiting, waiting_max> waiting{};  ///< the first waiting_count, in their order

  /// Asks the processor for all but those that wait; changes nothing.
  void prefetch_head() const { prefetch_until(this, &waiting); }
};

}  // namespace ashlar::server
