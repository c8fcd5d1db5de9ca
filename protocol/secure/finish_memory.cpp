#include "protocol/secure/finish_memory.h"

#include <sodium.h>

#include "protocol/little_endian.h"
#include "world/math/assert.h"

namespace ashlar::secure {

FinishMemory::FinishMemory(const Bytes16& key) : key_(key) {}

void FinishMemory::advance(std::uint32_t slots_begun) {
  if (slots_begun == 0) return;
  std::swap(previous_, present_);
  for (Table* table : {&present_, &previous_}) {
    if (table == &previous_ && slots_begun == 1) continue;
    std::ranges::fill(table->at, Place{});
    table->used = 0;
  }
}

/// Keyed, as clients can choose ids: they must not choose the places.
std::size_t FinishMemory::place_of(const HandshakeId& id) const {
  std::array<std::uint8_t, crypto_shorthash_BYTES> hash;
  crypto_shorthash(hash.data(), id.data(), id.size(), key_.data());
  return get_little<std::uint32_t>(hash.data()) % places;
}

std::size_t FinishMemory::find(const Table& table, const HandshakeId& id) const {
  std::size_t at = place_of(id);
  while (table.at[at].known && table.at[at].id != id) at = (at + 1) % places;
  return at;
}

bool FinishMemory::known(const HandshakeId& id) const {
  return present_.at[find(present_, id)].known || previous_.at[find(previous_, id)].known;
}

void FinishMemory::add(const HandshakeId& id) {
  ASHLAR_ASSERT(!full());
  Place& place = present_.at[find(present_, id)];
  if (!place.known) ++present_.used;
  place = {id, true};
}

void FinishMemory::forget(const HandshakeId& id) {
  for (Table* table : {&present_, &previous_}) {
    const std::size_t at = find(*table, id);
    if (table->at[at].known) remove(*table, at);
  }
}

/// Those behind it move up where it stood between them and their own places: no mark of it is left for
/// searches to pass over, of which refused finishes would fill the table.
void FinishMemory::remove(Table& table, std::size_t at) {
  std::size_t hole = at;
  for (std::size_t next = (at + 1) % places; table.at[next].known; next = (next + 1) % places) {
    const std::size_t from_own = (next - place_of(table.at[next].id)) % places;
    if (from_own < (next - hole) % places) continue;
    table.at[hole] = table.at[next];
    hole = next;
  }
  table.at[hole] = Place{};
  --table.used;
}

}  // namespace ashlar::secure
