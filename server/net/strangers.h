#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace ashlar::server {

/// The TCP connections that are no players': on their way in, or on their way out. They have places of their
/// own, shared fairly between addresses, so that no number of them takes a player's place, and who holds many
/// does not keep others out. One thread.
class StrangerPool {
 public:
  using Key = std::array<std::uint8_t, 16>;  ///< limit_key() of the address

  /// @param places  at least 1
  explicit StrangerPool(std::size_t places) : places_(places) {}

  /// The connection that has to give way before one more from `key` comes in: the oldest of the address that
  /// would hold most, of several such the oldest of all. 0: there is room. O(places).
  std::uint32_t gives_way_to(const Key& key) const;

  void add(std::uint32_t link, const Key& key);
  /// Nothing happens when it is none of them. O(places).
  void remove(std::uint32_t link);

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint32_t link;
    Key key;
  };
  std::size_t places_;
  std::vector<Entry> entries_;          // oldest first
  std::map<Key, std::uint32_t> count_;  // by address, none of them 0
};

}  // namespace ashlar::server
