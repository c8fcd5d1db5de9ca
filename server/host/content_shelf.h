#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/content/content.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// The maps and props of a world as clients may fetch them, found by their hashes. Filled while a server
/// starts, or when a map is placed: compressing takes milliseconds, so not in a tick. Then only read, by
/// any thread.
class ContentShelf {
 public:
  /// Of all that is on a shelf, unless its maker says otherwise: more than ten maps of the largest kind.
  static constexpr std::size_t bytes_max_usual = std::size_t{64} << 20;

  /// Empty. @param bytes_max  of all that is offered, compressed
  explicit ContentShelf(std::size_t bytes_max = bytes_max_usual) : bytes_max_(bytes_max) {}

  /// Compresses it, once for each hash. @return a line that names it and why it is not offered; nothing:
  /// it is
  std::optional<std::string> add(const Content& content);
  /// All maps and props of a world. @return a line for each that is not offered
  std::vector<std::string> add(const WorldSetup& setup);

  enum class Has : std::uint8_t { nothing, known, whole };
  /// What there is of a hash.
  struct Item {
    Has has = Has::nothing;               ///< known: in the world, but not offered
    std::span<const std::uint8_t> bytes;  ///< of a whole one; as long as the shelf
  };
  Item find(std::uint64_t hash) const;

  /// Of all that is offered, compressed.
  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return entries_.size(); }  ///< those that are not offered, too

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::vector<std::uint8_t> bytes;  ///< empty: not offered
  };
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::vector<Entry> entries_;  // sorted by hash
};

}  // namespace ashlar::server
