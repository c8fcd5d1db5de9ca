#include "world/nav/block_regions.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "world/math/assert.h"
#include "world/math/hash.h"

namespace ashlar {
namespace {

// A cell's corners in the window of its ground: one more on each side, and blocks below and above.
constexpr std::int32_t window_side = BlockRegions::cell_side + 2;
constexpr std::int32_t below_levels = 16;
constexpr std::int32_t window_last = BlockRegions::cell_side;  // corner of the cell, from 1
static_assert(below_levels + BlockRegions::cell_levels + block_drop_max + 4 <= BlockGround::levels);
static_assert(BlockRegions::cell_levels == chunk_size && chunk_size % BlockRegions::cell_side == 0);
constexpr std::int32_t height_first = 2 * below_levels;
constexpr std::int32_t height_end = height_first + 2 * BlockRegions::cell_levels;
constexpr std::uint8_t no_height = 0xff;
constexpr std::size_t entries_max = 8192, outside_max = 2048;
constexpr std::uint32_t outside_group = 0x10000;  // groups before it: regions of the cell

bool inside(IVec3 at) {
  return at.x >= 1 && at.y >= 1 && at.x <= window_last && at.y <= window_last && at.z >= height_first &&
         at.z < height_end;
}

/// Of which cell beside the middle one a place is.
IVec3 side_of(IVec3 at) {
  const auto part = [](std::int32_t v, std::int32_t first, std::int32_t end) {
    return v < first ? -1 : v < end ? 0 : 1;
  };
  return {part(at.x, 1, window_last + 1), part(at.y, 1, window_last + 1),
          part(at.z, height_first, height_end)};
}

}  // namespace

BlockRegions::BlockRegions(std::vector<MapRock> rock)
    : ground_(window_side, std::move(rock)), cells_(cells_max) {
  entries_.reserve(entries_max);
  outside_.reserve(outside_max);
}

std::size_t BlockRegions::slot(IVec3 at, BlockWalker walker) const {
  Hasher hash;
  hash.add(at);
  hash.add(static_cast<std::uint64_t>(walker.bits()));
  return hash.value() % (cells_max / ways) * ways;
}

const BlockRegions::Cell* BlockRegions::find(IVec3 at, BlockWalker walker) const {
  const std::size_t first = slot(at, walker);
  for (std::size_t i = first; i < first + ways; ++i)
    if (cells_[i].used != 0 && cells_[i].at == at && cells_[i].walker == walker) return &cells_[i];
  return nullptr;
}

/// `places_max`: nobody stands there.
std::size_t BlockRegions::place_in(const Cell& cell, GroundPlace at) {
  const auto corner = static_cast<std::size_t>((at.y - cell.at.y) * cell_side + (at.x - cell.at.x));
  for (std::size_t i = corner * floors_max; i < (corner + 1) * floors_max; ++i)
    if (cell.height[i] != no_height && cell.height[i] == at.half - 2 * cell.at.z) return i;
  return places_max;
}

GroundPlace BlockRegions::place_of(const Cell& cell, std::size_t place) {
  const auto corner = static_cast<std::int32_t>(place / floors_max);
  return {cell.at.x + corner % cell_side, cell.at.y + corner / cell_side, 2 * cell.at.z + cell.height[place]};
}

std::optional<GroundPlace> BlockRegions::region(GroundPlace at, BlockWalker walker) const {
  const Cell* cell = find(cell_of(at), walker);
  if (cell == nullptr) return std::nullopt;
  const std::size_t place = place_in(*cell, at);
  if (place == places_max || cell->region[place] == none) return std::nullopt;
  return place_of(*cell, cell->first[cell->region[place]]);
}

/// Contents of all chunks that the window of a cell meets; one that is not loaded is all rock.
std::array<std::uint64_t, BlockRegions::chunks_read> BlockRegions::chunks_of(const VoxelVolume& volume,
                                                                             IVec3 at) {
  std::array<std::uint64_t, chunks_read> out{};
  const ChunkCoord low = chunk_of(at - IVec3{2, 2, below_levels});
  for (std::size_t i = 0; i < chunks_read; ++i) {
    const auto n = static_cast<std::int32_t>(i);
    const Chunk* chunk = volume.find({low.x + n % 2, low.y + n / 2 % 2, low.z + n / 4});
    out[i] = chunk != nullptr ? chunk->content_hash() | 1 : 0;
  }
  return out;
}

BlockRegions::Work BlockRegions::bring(const VoxelVolume& volume, GroundPlace at, BlockWalker walker) {
  const IVec3 where = cell_of(at);
  const std::size_t first = slot(where, walker);
  const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(first);
  auto cell = std::find_if(begin, begin + ways,
                           [&](const Cell& c) { return c.used != 0 && c.at == where && c.walker == walker; });
  const bool known = cell != begin + ways;
  if (!known)
    cell =
        std::min_element(begin, begin + ways, [](const Cell& a, const Cell& b) { return a.used < b.used; });
  cell->used = ++uses_;
  if (known && cell->volume == volume.hash()) return Work::none;
  cell->volume = volume.hash();
  const auto chunks = chunks_of(volume, where);
  if (known && cell->chunks == chunks) return Work::none;
  ground_.begin(volume, where - IVec3{2, 2, below_levels}, walker);
  const std::uint64_t content = ground_.content(volume);
  cell->chunks = chunks;
  if (known && cell->content == content) return Work::read;
  cell->at = where, cell->walker = walker, cell->content = content;
  make(volume, *cell);
  ++made_;
  return Work::made;
}

void BlockRegions::make(const VoxelVolume& volume, Cell& cell) {
  entries_.clear(), outside_.clear();
  find_places(volume, cell);
  find_entries(volume, cell);
  number_regions(cell);
  join_outside(volume);
  choose_joins(cell);
}

void BlockRegions::find_places(const VoxelVolume& volume, Cell& cell) {
  cell.height.fill(no_height);
  cell.region.fill(none);
  for (std::int32_t y = 0; y < cell_side; ++y)
    for (std::int32_t x = 0; x < cell_side; ++x) {
      const BlockGround::Corner& corner = ground_.corner(volume, x + 1, y + 1);
      auto place = static_cast<std::size_t>(y * cell_side + x) * floors_max;
      const std::size_t end = place + floors_max;
      std::uint64_t stands =
          corner.stands() & BlockGround::layer_bits(below_levels, below_levels + cell_levels - 1);
      for (; stands != 0 && place < end; stands &= stands - 1, ++place) {
        const int bit = std::countr_zero(stands);
        const int half = static_cast<int>(corner.on_half >> bit & 1u);
        cell.height[place] = static_cast<std::uint8_t>(2 * bit + half - height_first);
      }
    }
  for (std::size_t i = 0; i < places_max; ++i) leader_[i] = static_cast<std::uint16_t>(i);
}

std::uint16_t BlockRegions::leader(std::uint16_t place) {
  while (leader_[place] != place) place = leader_[place] = leader_[leader_[place]];
  return place;
}

void BlockRegions::find_entries(const VoxelVolume& volume, const Cell& cell) {
  for (std::size_t place = 0; place < places_max; ++place) {
    if (cell.height[place] == no_height) continue;
    const auto corner = static_cast<std::int32_t>(place / floors_max);
    const std::int32_t x = corner % cell_side + 1, y = corner / cell_side + 1;
    const std::int32_t own = cell.height[place] + height_first;
    const BlockGround::Floor to = ground_.floor(volume, x, y, own);
    for (std::int32_t dy = -1; dy <= 1; ++dy)
      for (std::int32_t dx = -1; dx <= 1; ++dx)
        if (dx != 0 || dy != 0)
          ground_.visit_before(volume, to, dx, dy, [&](std::int32_t h, std::uint32_t cost) {
            note_entry(volume, cell, place, {x + dx, y + dy, h}, cost, false);
          });
    if (ground_.walker().ladders)
      ground_.visit_feet(volume, x, y, own,
                         [&](std::int32_t fx, std::int32_t fy, std::int32_t h, std::uint32_t cost, int) {
                           note_entry(volume, cell, place, {fx, fy, h}, cost, true);
                         });
  }
}

/// Places of the cell between which one goes to and fro become one region at once.
void BlockRegions::note_entry(const VoxelVolume& volume, const Cell& cell, std::size_t place, IVec3 from,
                              std::uint32_t cost, bool ladder) {
  const auto corner = static_cast<std::int32_t>(place / floors_max);
  const IVec3 to{corner % cell_side + 1, corner / cell_side + 1, cell.height[place] + height_first};
  Entry entry{static_cast<std::uint16_t>(place),
              0,
              0,
              static_cast<std::int8_t>(from.x - to.x),
              static_cast<std::int8_t>(from.y - to.y),
              static_cast<std::int8_t>(from.z - to.z),
              static_cast<std::uint16_t>(cost)};
  if (inside(from)) {
    const std::size_t other = place_in(
        cell, {cell.at.x + from.x - 1, cell.at.y + from.y - 1, 2 * cell.at.z + from.z - height_first});
    if (other == places_max) return;
    entry.from = static_cast<std::uint16_t>(other);
    const IVec3 low = from.z < to.z ? from : to;
    const bool back = !ladder && ground_.there_and_back(ground_.corner(volume, low.x, low.y), low.z,
                                                        std::max(from.z, to.z));
    if (back) {
      const std::uint16_t a = leader(entry.to), b = leader(entry.from);
      leader_[std::max(a, b)] = std::min(a, b);
      return;
    }
  } else {
    entry.group = outside_group;
    entry.from = outside(from);
    if (entry.from == outside_max) return;
  }
  if (entries_.size() < entries_max) entries_.push_back(entry);
}

std::uint16_t BlockRegions::outside(IVec3 from) {
  // The same place is met by neighbours of each other, so it is among the last ones.
  constexpr std::size_t back = 64;
  const std::size_t first = outside_.size() > back ? outside_.size() - back : 0;
  for (std::size_t i = outside_.size(); i-- > first;)
    if (outside_[i].x == from.x && outside_[i].y == from.y && outside_[i].height == from.z)
      return static_cast<std::uint16_t>(i);
  if (outside_.size() == outside_max) return outside_max;
  const auto number = static_cast<std::uint16_t>(outside_.size());
  outside_.push_back({from.x, from.y, from.z, number});
  return number;
}

std::uint16_t BlockRegions::outside_leader(std::uint16_t number) {
  while (outside_[number].leader != number) number = outside_[number].leader;
  return number;
}

/// Places outside that one goes between to and fro within one other cell lie in one region of that.
void BlockRegions::join_outside(const VoxelVolume& volume) {
  constexpr std::size_t back = 64;
  for (std::size_t i = 0; i < outside_.size(); ++i) {
    const IVec3 a{outside_[i].x, outside_[i].y, outside_[i].height};
    for (std::size_t k = i > back ? i - back : 0; k < i; ++k) {
      const IVec3 b{outside_[k].x, outside_[k].y, outside_[k].height};
      const IVec3 off = a - b;
      if (off.x * off.x + off.y * off.y > 1 || off.z * off.z > 4 || !(side_of(a) == side_of(b))) continue;
      if (off.x == 0 && off.y == 0 && off.z != 0) continue;
      if (!(off == IVec3{}) && !ground_.to_and_fro(volume, a, b)) continue;
      const std::uint16_t p = outside_leader(static_cast<std::uint16_t>(i));
      const std::uint16_t q = outside_leader(static_cast<std::uint16_t>(k));
      outside_[std::max(p, q)].leader = std::min(p, q);
    }
  }
}

void BlockRegions::number_regions(Cell& cell) {
  cell.regions = 0;
  for (std::size_t place = 0; place < places_max; ++place) {
    if (cell.height[place] == no_height) continue;
    const std::uint16_t first = leader(static_cast<std::uint16_t>(place));
    if (first == place && cell.regions < regions_max) {
      cell.first[cell.regions] = first;
      cell.region[place] = static_cast<std::uint8_t>(cell.regions++);
    } else {
      cell.region[place] = cell.region[first];
    }
  }
}

/// Of many ways from one region into another one the middle one is kept.
void BlockRegions::choose_joins(Cell& cell) {
  std::size_t kept = 0;
  for (Entry& e : entries_) {
    if (cell.region[e.to] == none) continue;
    if (e.group < outside_group) {
      if (cell.region[e.from] == none || cell.region[e.from] == cell.region[e.to]) continue;
      e.group = cell.region[e.from];
    } else {
      e.group = outside_group + outside_leader(e.from);
    }
    entries_[kept++] = e;
  }
  entries_.resize(kept);
  std::ranges::sort(entries_, [&](const Entry& a, const Entry& b) {
    if (cell.region[a.to] != cell.region[b.to]) return cell.region[a.to] < cell.region[b.to];
    if (a.group != b.group) return a.group < b.group;
    return a.to != b.to ? a.to < b.to : a.from < b.from;
  });
  std::size_t region = 0, joins = 0;
  cell.first_join.fill(0);
  for (std::size_t i = 0; i < entries_.size() && joins < joins_max;) {
    const Entry& first = entries_[i];
    std::size_t end = i;
    while (end < entries_.size() && entries_[end].group == first.group &&
           cell.region[entries_[end].to] == cell.region[first.to])
      ++end;
    const Entry& e = entries_[i + (end - i) / 2];
    while (region < cell.region[first.to]) cell.first_join[++region] = static_cast<std::uint8_t>(joins);
    cell.joins[joins++] = {e.to, e.dx, e.dy, e.dh, e.cost};
    i = end;
  }
  while (region < regions_max) cell.first_join[++region] = static_cast<std::uint8_t>(joins);
}

}  // namespace ashlar
