#pragma once
#include <vector>

#include "protocol/secure/secret.h"

namespace ashlar::secure {

/// Which handshake a session began with; never twice the same.
using HandshakeId = Bytes16;

/// Which handshakes were finished while their tickets live, so that none is finished twice. Its memory is
/// fixed: full, it says so, and nobody else gets in before the slot ends (a server that lets so many in
/// within ten seconds has other troubles).
class FinishMemory {
 public:
  static constexpr std::size_t per_slot_max = 3072;

  /// @param key  random: nobody else can tell which ids share a place
  explicit FinishMemory(const Bytes16& key);
  /// Forgets what is older than one slot. @param slots_begun  since the last call
  void advance(std::uint32_t slots_begun);

  /// Was this handshake finished in this slot or the one before? O(1).
  bool known(const HandshakeId& id) const;
  /// No further finish can be remembered in this slot: it must be dropped.
  bool full() const { return present_.used >= per_slot_max; }
  /// Precondition: not full.
  void add(const HandshakeId& id);
  /// It may be finished again: it was refused, and the refusal may have been lost. Its place is free again.
  void forget(const HandshakeId& id);

  /// Memory, fixed.
  static constexpr std::size_t bytes() { return 2 * places * sizeof(Place); }

 private:
  struct Place {
    HandshakeId id{};
    bool known = false;
  };
  static constexpr std::size_t places = 4096;
  static_assert(per_slot_max < places);  // a search ends at a free place
  struct Table {
    std::vector<Place> at = std::vector<Place>(places);
    std::size_t used = 0;
  };

  /// Where it is, or the free place where it would be.
  std::size_t find(const Table& table, const HandshakeId& id) const;
  void remove(Table& table, std::size_t at);
  std::size_t place_of(const HandshakeId& id) const;

  Bytes16 key_;
  Table present_, previous_;
};

}  // namespace ashlar::secure
