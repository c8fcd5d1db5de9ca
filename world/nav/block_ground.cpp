#include "world/nav/block_ground.h"

#include <utility>

#include "world/math/assert.h"
#include "world/math/hash.h"

namespace ashlar {

BlockGround::BlockGround(std::int32_t corners_side, std::vector<MapRock> rock)
    : side_(corners_side), rock_(std::move(rock)) {
  const auto corners = static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_);
  const auto columns = static_cast<std::size_t>(side_ + 1) * static_cast<std::size_t>(side_ + 1);
  soft_kinds_.reserve(block_kinds_max);
  const auto most = [](std::int32_t blocks) { return (blocks + chunk_size - 2) / chunk_size + 1; };
  pieces_across_ = most(side_ + 1);
  pieces_.resize(static_cast<std::size_t>(pieces_across_ * pieces_across_ * most(levels)));
  columns_.resize(columns), column_known_.resize(columns);
  corners_.resize(corners), level_.resize(corners, unknown_level);
}

void BlockGround::begin(const VoxelVolume& volume, IVec3 origin, BlockWalker walker) {
  ASHLAR_ASSERT(walker.drop <= block_drop_max);
  origin_ = origin, walker_ = walker;
  note_soft_kinds(volume);
  first_piece_ = chunk_of(origin);
  look_again();
  some_ladder_ = false;
  std::ranges::fill(column_known_, std::uint8_t{0});
  std::ranges::fill(level_, unknown_level);
}

void BlockGround::note_soft_kinds(const VoxelVolume& volume) {
  soft_kinds_.clear();
  soft_.fill(0);
  const auto types = volume.kinds().types();
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (walker_.swims && types[i].liquid) soft_[i] |= soft_liquid;
    if (walker_.ladders && types[i].climbable) soft_[i] |= soft_ladder;
    if (soft_[i] != 0 && ((soft_[i] & soft_liquid) != 0 || !types[i].solid()))
      soft_kinds_.push_back(static_cast<BlockId>(i));
  }
}

const BlockGround::Piece& BlockGround::piece(const VoxelVolume& volume, ChunkCoord at) {
  const std::int32_t x = at.x - first_piece_.x, y = at.y - first_piece_.y, z = at.z - first_piece_.z;
  Piece& out = pieces_[static_cast<std::size_t>((z * pieces_across_ + y) * pieces_across_ + x)];
  if (out.known) return out;
  const Chunk* chunk = volume.find(at);
  const bool soft =
      chunk != nullptr && std::ranges::any_of(soft_kinds_, [&](BlockId id) { return chunk->may_hold(id); });
  out = {chunk, true, soft};
  return out;
}

/// What of a chunk's column is to swim in and to climb on. Most of what ways over blocks cost was here, so a
/// block is read and looked up in place.
void BlockGround::fill_soft(const Chunk& chunk, IVec3 local, std::uint32_t solid, std::uint32_t& liquid,
                            std::uint32_t& ladder) const {
  for (std::uint32_t free = ~solid; free != 0; free &= free - 1) {
    const int bit = std::countr_zero(free);
    const std::uint8_t soft = soft_[static_cast<std::size_t>(chunk.blocks().get({local.x, local.y, bit}))];
    if ((soft & soft_liquid) != 0) liquid |= 1u << bit;
    if ((soft & soft_ladder) != 0) ladder |= 1u << bit;
  }
}

void BlockGround::fill(const VoxelVolume& volume, std::int32_t x, std::int32_t y, Column& out) {
  const IVec3 low = origin_ + IVec3{x, y, 0};
  out = {};
  const IVec3 local = local_in_chunk(low);
  const auto word = static_cast<std::size_t>(local.y * chunk_size + local.x);
  for (std::int32_t z = -local.z; z < levels; z += chunk_size) {
    const Piece& at = piece(volume, chunk_of(low + IVec3{0, 0, z}));
    const Chunk* chunk = at.chunk;
    const auto put = [z](std::uint64_t mask) { return z >= 0 ? mask << z : mask >> -z; };
    if (chunk == nullptr) {
      out.full |= put(0xffffffffu);
      continue;
    }
    const std::uint32_t solid = chunk->solid()[word];
    std::uint32_t slabs = 0;
    for (std::uint32_t parts = chunk->parts() != nullptr ? (*chunk->parts())[word] & solid : 0; parts != 0;
         parts &= parts - 1) {
      const int bit = std::countr_zero(parts);
      const BlockShape& shape = volume.kinds().shape(chunk->blocks().get({local.x, local.y, bit}));
      const auto over_half = [](const ShapeBox& box) { return box.max[2] > shape_cells / 2; };
      if (!std::ranges::any_of(shape.boxes(), over_half)) slabs |= 1u << bit;
    }
    std::uint32_t liquid = 0, ladder = 0;
    if (at.soft) fill_soft(*chunk, {local.x, local.y, 0}, solid, liquid, ladder);
    out.full |= put(solid & ~slabs);
    out.half |= put(slabs);
    out.liquid |= put(liquid);
    out.ladder |= put(ladder);
    some_ladder_ = some_ladder_ || ladder != 0;
  }
  constexpr std::int32_t wall_blocks = 3;  // over what is open, so that nobody steps or climbs there
  for (const MapRock& rock : rock_) {
    if (!rock.holds(low.x, low.y)) continue;
    const std::int32_t top = rock.box.max.z - 1 + (rock.open_at(low.x, low.y) ? wall_blocks : 0);
    out.full |= layer_bits(rock.box.min.z - low.z, top - low.z);
  }
}

void BlockGround::make_corner(const VoxelVolume& volume, std::int32_t x, std::int32_t y) {
  std::uint64_t full = 0, half = 0, ladder = 0, liquid = ~std::uint64_t{0};
  for (std::int32_t i = 0; i < 4; ++i) {
    const Column& c = column(volume, x + (i & 1), y + (i >> 1));
    full |= c.full, half |= c.half, ladder |= c.ladder, liquid &= c.liquid;
  }
  Corner out;
  out.solid = full | half;
  out.ladder = ladder;
  const std::uint64_t two = ~out.solid & ~(out.solid >> 1);  // this block and the next one are free
  // What is above the window is not known: nobody stands so high.
  constexpr std::uint64_t inner = ~std::uint64_t{0} >> 3;
  out.on_block = two & (full << 1) & inner;
  // Nobody who swims stands under water: he comes up.
  out.on_water = two & liquid & ~(liquid >> 1) & inner;
  out.on_block = (out.on_block & ~(liquid & (liquid >> 1))) | out.on_water;
  // A body on a slab reaches into a third block.
  out.on_half = half & ~full & (two >> 1) & inner;
  const auto at = static_cast<std::size_t>(y * side_ + x);
  corners_[at] = out;
  level_[at] = many_levels;
  const std::uint64_t stands = out.stands();
  if (stands != 0 && (stands & (stands - 1)) == 0 && (out.on_block & out.on_half) == 0)
    level_[at] = static_cast<std::uint8_t>(2 * std::countr_zero(stands) + (out.on_half != 0 ? 1 : 0));
}

bool BlockGround::to_and_fro(const VoxelVolume& volume, IVec3 a, IVec3 b) {
  bool leads = false;
  const IVec3 low = a.z <= b.z ? a : b, high = a.z <= b.z ? b : a;
  visit_before(volume, floor(volume, high.x, high.y, high.z), low.x - high.x, low.y - high.y,
               [&](std::int32_t h, std::uint32_t) { leads = leads || h == low.z; });
  return leads && high.z - low.z <= 2 * walker_.drop;
}

std::uint64_t BlockGround::content(const VoxelVolume& volume) {
  StripeHasher hash;
  for (std::int32_t y = 0; y <= side_; ++y)
    for (std::int32_t x = 0; x <= side_; ++x) {
      const Column& c = column(volume, x, y);
      hash.add(c.full), hash.add(c.half), hash.add(c.liquid), hash.add(c.ladder);
    }
  return hash.value();
}

}  // namespace ashlar
