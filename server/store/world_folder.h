#pragma once
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "server/config/load.h"
#include "server/store/world_lock.h"

namespace ashlar::server {

/// A world's folder from the moment that a start wants it until keep(): made where it was not there, locked,
/// and its files written beside their names. What was made goes again with the object unless keep() was
/// called, so that a start which fails later (and --check-config) leaves everything as it was.
class WorldFolder {
 public:
  /// Takes the folder and proves that it can be written where this start has to write. Without a world_dir it
  /// holds nothing and does nothing.
  /// @return or one line that names the folder, the reason and the remedy
  static std::expected<WorldFolder, std::string> take(const LoadedConfig& loaded);
  WorldFolder(WorldFolder&&) noexcept = default;
  WorldFolder& operator=(WorldFolder&&) = delete;
  WorldFolder(const WorldFolder&) = delete;
  ~WorldFolder();

  /// Writes world.toml under another name: of a new world from its settings, maps with their places; of one
  /// that the operator accepted from its text. Else does nothing.
  std::expected<void, std::string> prepare(const LoadedConfig& loaded);

  /// Gives the files their names, world.toml first: it is what makes the folder a world. Synced, so that a
  /// world that was announced is there after a power cut.
  std::expected<void, std::string> keep();

 private:
  struct Written {
    std::string path;
    bool matters = true;  ///< a start fails without it
  };
  WorldFolder(WorldLock lock, std::string folder) : lock_(std::move(lock)), folder_(std::move(folder)) {}
  std::expected<void, std::string> write_beside(const std::string& name, const std::string& text,
                                                bool matters);

  WorldLock lock_;
  std::string folder_;             ///< empty: no world is kept
  std::vector<std::string> made_;  ///< folders, the outermost first; gone again without keep()
  std::vector<Written> written_;   ///< likewise, as PATH.new
};

}  // namespace ashlar::server
