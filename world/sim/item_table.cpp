#include "world/sim/item_table.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {

void ItemTable::resize(std::size_t rows, std::uint32_t slot) {
  ASHLAR_ASSERT(id.empty());
  ASHLAR_ASSERT(slot + rows < (1u << entity_slot_bits));
  first_slot = slot;
  id.resize(rows), generation.resize(rows), stack.resize(rows), position_m.resize(rows);
  velocity_mps.resize(rows), last_free_m.resize(rows), age_ticks.resize(rows);
  untouched_ticks.resize(rows), rests.resize(rows);
}

std::size_t ItemTable::take() {
  while (next_ < rows() && id[next_] != EntityId{0}) ++next_;
  if (next_ == rows()) return rows();
  const std::size_t row = next_++;
  generation[row] = next_generation(generation[row]);
  id[row] = make_entity_id(first_slot + static_cast<std::uint32_t>(row), generation[row]);
  used_ = true;
  ++count;
  return row;
}

void ItemTable::free(std::size_t row) {
  ASHLAR_ASSERT(id[row] != EntityId{0} && count > 0);
  id[row] = EntityId{0};
  stack[row] = ItemStack{};
  next_ = std::min(next_, row);
  --count;
}

void ItemTable::add_to_hash(StripeHasher& hash) const {
  if (!used_) return;
  hash.add_list(generation);
  for (std::size_t i = 0; i < rows(); ++i) {
    if (id[i] == EntityId{0}) continue;
    hash.add(static_cast<std::uint64_t>(id[i]) << 32 | static_cast<std::uint64_t>(stack[i].kind) << 16 |
             stack[i].count);
    hash.add(position_m[i]), hash.add(velocity_mps[i]), hash.add(last_free_m[i]);
    hash.add(static_cast<std::uint64_t>(age_ticks[i]) << 32 |
             static_cast<std::uint64_t>(untouched_ticks[i]) << 8 | rests[i]);
  }
}

}  // namespace ashlar
