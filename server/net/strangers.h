#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace ashlar::server {

/// Those who are no players: TCP connections on their way in or out, sessions that have not joined yet. They
/// have places of their own, shared fairly between addresses, so that no number of them takes a player's
/// place, and who holds many does not keep others out. One thread.
class StrangerPool {
 public:
  using Key = std::array<std::uint8_t, 16>;  ///< limit_key() of the address

  /// @param places  at least 1
  explicit StrangerPool(std::size_t places) : places_(places) {}

  /// The connection that has to give way before one more from `key` comes in: the oldest of the address that
  /// would hold most, of several such the oldest of all. 0: there is room. O(places).
  std::uint32_t gives_way_to(const Key& key) const { return size() < places_ ? 0 : first_to_go(key); }
  /// The same whether there is room or not. 0: nobody is here.
  std::uint32_t first_to_go(const Key& key) const;

  /// The oldest of an address but for one. 0: there is none. O(places).
  std::uint32_t oldest_of(const Key& key, std::uint32_t but_for = 0) const;

  /// @param link  a number that names it; not 0
  void add(std::uint32_t link, const Key& key);
  /// Nothing happens when it is none of them. O(places).
  void remove(std::uint32_t link);

  /// It is at another address from now on. Nothing happens when it is none of them. O(places).
  void move(std::uint32_t link, const Key& key);

  /// O(places).
  bool holds(std::uint32_t link) const;

  /// How many are here; beyond `places` when they were added without room.
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint32_t link;
    Key key;
  };
  void count_out(const Key& key);

  std::size_t places_;
  std::vector<Entry> entries_;          // oldest first
  std::map<Key, std::uint32_t> count_;  // by address, none of them 0
};

}  // namespace ashlar::server
