// The part of GameApi that changes blocks.

#include <cmath>

#include "world/sim/game.h"
#include "world/sim/ground_edits.h"
#include "world/sim/rules.h"
#include "world/voxel/volume.h"

namespace ashlar {
namespace {

constexpr double blast_radius_m_max = 7;
// The cube around it counts as its blocks, and has to fit into a tick.
constexpr std::uint32_t blocks_across(double radius_m) {
  return 2 * static_cast<std::uint32_t>(radius_m) + 2;
}
static_assert(blocks_across(blast_radius_m_max) * blocks_across(blast_radius_m_max) *
                  blocks_across(blast_radius_m_max) <=
              GameApi::edits_per_tick_max);
static_assert(blast_radius_m_max <= GroundEdits::sphere_radius_m_max);

GameEdit set_one(const GameParts& p, IVec3 block, BlockId id, EntityId by) {
  if (!in_bounds(block_middle(block))) return GameEdit::out_of_bounds;
  if (!p.volume->kinds().knows(id)) return GameEdit::unknown_block;
  if (!p.volume->loaded(chunk_of(block))) return GameEdit::not_loaded;
  return p.edits->set(*p.volume, p.maps, {block, id}, by) ? GameEdit::done : GameEdit::map_rock;
}

/// What refuses so many blocks as a whole; done: nothing, and they are counted.
GameEdit take(const GameParts& p, std::size_t blocks) {
  if (p.edits_left == nullptr) return GameEdit::not_loaded;  // the first tick is still to come
  if (blocks > *p.edits_left) return GameEdit::too_many;
  *p.edits_left -= static_cast<std::uint32_t>(blocks);
  return GameEdit::done;
}

void count(GameEdits& sum, GameEdit one) {
  if (one == GameEdit::done) {
    ++sum.done;
    return;
  }
  if (sum.failed++ == 0) sum.verdict = one;
}

}  // namespace

GameEdit GameApi::set_block(IVec3 block, BlockId id, EntityId by) {
  const GameEdit may = take(p_, 1);
  return may == GameEdit::done ? set_one(p_, block, id, by) : may;
}

GameEdits GameApi::fill_blocks(const BlockBox& box, BlockId id, EntityId by) {
  if (!in_bounds(to_dvec3(box.min)) || !in_bounds(to_dvec3(box.max))) return {GameEdit::out_of_bounds};
  if (!GroundEdits::box_sane(box)) return {GameEdit::too_many};
  const IVec3 size = box.max - box.min;
  const GameEdit may = take(p_, static_cast<std::size_t>(size.x) * static_cast<std::size_t>(size.y) *
                                    static_cast<std::size_t>(size.z));
  if (may != GameEdit::done) return {may};
  GameEdits sum;
  for (std::int32_t y = box.min.y; y < box.max.y; ++y)
    for (std::int32_t x = box.min.x; x < box.max.x; ++x)
      for (std::int32_t z = box.min.z; z < box.max.z; ++z) count(sum, set_one(p_, {x, y, z}, id, by));
  return sum;
}

GameEdits GameApi::set_blocks(std::span<const BlockEdit> blocks, EntityId by) {
  if (const GameEdit may = take(p_, blocks.size()); may != GameEdit::done) return {may};
  GameEdits sum;
  for (const BlockEdit& edit : blocks) count(sum, set_one(p_, edit.block, edit.id, by));
  return sum;
}

GameEdits GameApi::blast(DVec3 middle_m, double radius_m, EntityId by) {
  const bool sane = in_bounds(middle_m) && radius_m >= 0 && radius_m <= blast_radius_m_max;  // false for NaN
  if (!sane) return {GameEdit::out_of_bounds};
  const std::size_t across = blocks_across(radius_m);
  if (const GameEdit may = take(p_, across * across * across); may != GameEdit::done) return {may};
  return {GameEdit::done,
          p_.edits->blast(*p_.volume, p_.maps, p_.rules.map_margin_m, middle_m, radius_m, by)};
}

}  // namespace ashlar
