#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "world/bsp/visibility.h"

namespace ashlar::server {

/// Keeps the visibility sets of a world's maps in files beside it, `cache/visibility-<key>.bin`
/// (protocol/visibility_file.h), so that the next start reads them. A file that is damaged or of another
/// version is computed anew and written over; a folder that cannot be written costs the next start its time
/// and nothing else. Deleting the folder is always safe. Used at the start, by one thread.
class VisibilityCache {
 public:
  /// What an operator should know: one line of the log each.
  struct Trouble {
    std::string file, reason;
  };

  /// @param world_dir  the world's folder, which need not be there yet; empty: nothing is read or written
  explicit VisibilityCache(std::string world_dir);

  /// The set from its file, or computed. Twice the same map shares one set. A VisibilitySource.
  std::shared_ptr<const SectorVisibility> set_for(const SectorMap& compiled, const BspTree& tree);

  /// Writes the sets that were computed. The world's folder must be there; its `cache` is made.
  void keep();

  std::uint32_t read() const { return read_; }          ///< sets that came from a file
  std::uint32_t computed() const { return computed_; }  ///< sets that did not
  /// Files that were there and could not be used; each was computed instead.
  std::span<const Trouble> refused() const { return refused_; }
  /// Files that keep() could not write.
  std::span<const Trouble> unwritten() const { return unwritten_; }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::shared_ptr<const SectorVisibility> set;
    bool kept = false;  ///< its file holds it
  };
  std::string file_of(std::uint64_t key) const;
  std::shared_ptr<const SectorVisibility> from_file(std::uint64_t key, std::uint32_t sectors);

  std::string folder_;  ///< empty: none
  std::vector<Entry> entries_;
  std::uint32_t read_ = 0, computed_ = 0;
  std::vector<Trouble> refused_, unwritten_;
};

}  // namespace ashlar::server
