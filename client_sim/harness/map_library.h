#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages.h"
#include "world/bsp/placement.h"

namespace ashlar::client_sim {

/// The maps that clients of this process hold: those of the WADs given and the one that is built in.
/// Reads files at the start, places maps when a welcome asks for them, each once. One thread.
class MapLibrary {
 public:
  /// Opens WADs: a path, or a name that is looked for where distributions put them. Without any,
  /// freedoom2.wad is taken where it is found.
  /// @return or one line that names the file and the remedy
  static std::expected<MapLibrary, std::string> open(const std::vector<std::string>& wads);

  /// What was moved from can only be assigned to or destroyed.
  MapLibrary(MapLibrary&&) noexcept;
  MapLibrary& operator=(MapLibrary&&) noexcept;
  ~MapLibrary();

  /// The map, placed as the welcome says; nullptr: no such map here. The first call for a map takes tens of
  /// milliseconds.
  std::shared_ptr<const PlacedMap> placed(const WelcomeMap& map);

  /// A map placed as asked; options.name is the map's name in the WADs. Kept, so that asking again is cheap.
  /// @return or one line that names the map and what is wrong or missing
  std::expected<std::shared_ptr<const PlacedMap>, std::string> place(const PlaceOptions& options);

  /// Files that were read, for the log.
  const std::vector<std::string>& files() const;

 private:
  struct Impl;
  explicit MapLibrary(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar::client_sim
