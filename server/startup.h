#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/secure/secret.h"
#include "server/bans/ban_file.h"
#include "server/config/load.h"
#include "server/host/content_shelf.h"
#include "server/keys/server_key.h"
#include "server/net/file_limit.h"
#include "server/net/transports.h"
#include "server/setup.h"
#include "server/store/recording_file.h"
#include "server/store/sqlite_store.h"
#include "server/store/stored_ground.h"
#include "server/store/visibility_cache.h"
#include "server/store/world_folder.h"
#include "world/sim/game.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// All that a server holds before it opens for business: sockets, the world's folder, the recording's file,
/// the content and the world made of it. Nobody was told of it yet; what was made on the disk goes again with
/// the object unless keep() was called. A start keeps it and --check-config lets it go: one way for both.
struct Startup {
  LoadedConfig loaded;  ///< as given
  LoadedConfig kept;    ///< the same as a kept world's file names it: every map and prop with its place
  Transports transports;
  WorldFolder folder;
  std::string ban_file;  ///< empty: none
  BanFile bans;          ///< what it holds
  ServerKey key;         ///< of access_settings(), what the Host is to know of keys and tokens
  std::optional<RecordingFile> recording;
  std::unique_ptr<VisibilityCache> sets;
  std::shared_ptr<SqliteStore> store;    ///< null without a world's folder
  std::shared_ptr<StoredGround> stored;  ///< likewise: the ground that the world was made with
  std::vector<StoredPlayer> players;     ///< whom the store knows
  std::vector<std::string> lost;         ///< of players and items that make no sense there, a line each
  PreparedWorld content;
  std::shared_ptr<const ContentShelf> shelf;  ///< what clients may fetch; null: nothing
  std::vector<std::string> not_offered;       ///< of maps and props, a line each
  std::unique_ptr<World> world;
  secure::Secret secret;              ///< the Host's seed
  FileLimit files;                    ///< what connections over TCP may take
  std::int64_t content_ms = 0;        ///< that maps and props took
  std::vector<std::string> rotation;  ///< maps that are played one after the other; empty: none

  /// Gives everything on the disk its name. @return or one line that names the file and the remedy
  std::expected<void, std::string> keep();
};

/// Does everything that can fail. What fails quickly is tried first (files read, port, folders), then
/// `announce` is called, then maps are compiled, which takes seconds.
/// @param stop  asked between the long steps, from then on: true ends the start with start_stopped. May be
///              empty
/// @param game  WorldSetup::game; empty: the mode's
/// @return or one line why a server would not start
std::expected<Startup, std::string> start_up(const LoadedConfig& loaded,
                                             const std::function<void()>& announce,
                                             const std::function<bool()>& stop = {},
                                             const MakeGame& game = {});

/// Raises this process's limit of open files to what a server of any size opens at once, connections aside.
/// @return or one line with the remedy: libraries below would end the program in words of their own
std::expected<void, std::string> allow_files();

/// What a world's database has to agree with.
StoredWorld stored_world_of(const Config& config);

/// Players that may come from one address.
std::uint32_t clients_per_address(const Config& config);

}  // namespace ashlar::server
