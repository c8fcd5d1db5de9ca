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

const FinishMemory::Place* FinishMemory::find(const Table& table, const HandshakeId& id) const {
  for (std::size_t at = place_of(id);; at = (at + 1) % places) {
    const Place& place = table.at[at];
    if (place.use == Use::free) return nullptr;
    if (place.id == id) return &place;
  }
}

bool FinishMemory::known(const HandshakeId& id) const {
  for (const Table* table : {&present_, &previous_}) {
    const Place* const place = find(*table, id);
    if (place != nullptr && place->use == Use::known) return true;
  }
  return false;
}

void FinishMemory::add(const HandshakeId& id) {
  ASHLAR_ASSERT(!full());
  std::size_t at = place_of(id);
  while (present_.at[at].use != Use::free && present_.at[at].id != id) at = (at + 1) % places;
  if (present_.at[at].use == Use::free) ++present_.used;
  present_.at[at] = {id, Use::known};
}

void FinishMemory::forget(const HandshakeId& id) {
  for (Table* table : {&present_, &previous_}) {
    const Place* const place = find(*table, id);
    if (place != nullptr) table->at[static_cast<std::size_t>(place - table->at.data())].use = Use::forgotten;
  }
}

}  // namespace ashlar::secure
