#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/secure/connect_token.h"
#include "server/config/access.h"
#include "server/config/prop_request.h"
#include "server/config/recording_name.h"
#include "server/config/zone.h"
#include "world/math/vec.h"
#include "world/sim/rules.h"
#include "world/voxel/terrain.h"

namespace ashlar::server {

enum class Doors : std::uint8_t { open, shut };
/// What becomes of a stored chunk that makes no sense.
enum class DamagedChunks : std::uint8_t { regenerate, refuse };
/// Where who comes back begins.
enum class ReturnTo : std::uint8_t { place, start };
enum class LogFormat : std::uint8_t { text, json };
enum class LogLevel : std::uint8_t { debug, info, warning, error };

/// "MAP01" or "MAP01@100,-200": a map and, where told, the block its box begins at.
struct MapRequest {
  std::string name;
  std::optional<IVec2> at;
  friend bool operator==(const MapRequest&, const MapRequest&) = default;
};

/// Are datagrams sent beside the tick's thread? In the order of the setting's names.
enum class SendThreadUse : std::uint8_t {
  automatic,  ///< where there is a processor for it
  on,
  off,
};

/// What sessions are sealed with. In the order of the setting's names.
enum class CipherUse : std::uint8_t {
  automatic,  ///< AES where both ends have it in their processors, else ChaCha20
  chacha20,
};

/// No more columns of ground are ever under way.
inline constexpr std::uint32_t ground_threads_max = 8;

/// Everything an operator can set. Defaults here are the defaults; settings.cpp names, bounds and explains
/// each. A value type: loading fills it, nothing else changes it.
struct Config {
  // Network
  std::string listen = "*";
  std::uint16_t port = 7777;
  std::uint32_t clients_max = 256;
  std::uint32_t clients_per_address_max = 0;  ///< 0: clients_max
  std::uint32_t rejoins_per_minute = 600;     ///< of one address; 0: no limit
  /// Maps and props given to clients that lack them, all together; a client may have a quarter; 0: none.
  std::uint64_t content_bytes_per_s = std::uint64_t{4} << 20;
  std::string motd;

  // World
  std::string world_dir;  ///< empty: the world lives as long as the process
  DamagedChunks damaged_chunks = DamagedChunks::regenerate;
  std::uint32_t save_interval_ms = 500;       ///< what changes is saved in groups no closer together
  std::chrono::milliseconds backup_every{0};  ///< 0: never
  std::uint32_t backups_kept = 8;
  ReturnTo players_return_to = ReturnTo::place;  ///< in the sandbox, in part in cooperative play
  std::uint32_t edit_log_days = 30;              ///< 0: no limit
  std::uint32_t edit_log_mib = 256;              ///< 0: no log
  std::uint64_t seed = 1;
  std::uint64_t secret_seed = 0;  ///< of ores; 0: drawn where a world is made, computed by all in older ones
  double ores_seen_m = 24;        ///< HostConfig::ores_seen_m
  TerrainKind terrain = TerrainKind::hills;
  std::string blocks_file;            ///< empty: those that the world keeps, else the built-in kinds
  std::vector<std::string> wads;      ///< an IWAD, then PWADs over it; empty: Freedoom where it is found
  std::vector<MapRequest> maps;       ///< empty: the first that is found; the single name "none": no map
  std::vector<std::string> rotation;  ///< maps, or "wad" alone; empty: one world, which stays
  std::vector<PropRequest> props;
  std::vector<ProtectedZone> zones;  ///< that no player changes
  std::uint32_t monsters = 200;
  std::string kinds_file;  ///< of monsters and projectiles (docs/kinds.md); empty: ours
  Doors doors = Doors::shut;
  double spawn_x_m = 0, spawn_y_m = 0, spawn_radius_m = 0;  ///< WorldSetup::spawn
  Rules rules;

  // Tick and snapshots
  std::uint16_t snapshot_every_ticks = 1;
  double interest_radius_m = 64;
  std::uint32_t snapshot_bytes_max = 19200;      ///< a client and snapshot
  std::uint32_t client_bytes_per_s = 1'250'000;  ///< a client's snapshots
  bool sight_culling = false;

  // Access
  std::string key_file;  ///< empty: server.key in world_dir; without that a key of this start alone
  Access access = Access::open;
  std::vector<secure::IssuerKey> token_issuers;
  std::vector<secure::PublicKey> admins;
  std::string ban_file;  ///< empty: bans.toml in world_dir; without that bans hold for one run

  // Sessions
  double away_grace_s = 60;  ///< 0: who vanishes leaves
  double fight_linger_s = 5;

  // Operation
  std::uint32_t ground_threads = 1;  ///< that generate ground beside the tick
  SendThreadUse send_thread = SendThreadUse::automatic;
  CipherUse cipher = CipherUse::automatic;
  LogFormat log_format = LogFormat::text;
  LogLevel log_level = LogLevel::info;
  bool live = false;
  std::uint32_t status_every_s = 0;      ///< 0: never
  std::chrono::milliseconds run_for{0};  ///< 0: until a signal
  std::string record_file;               ///< a pattern of time; empty: nothing is recorded
  ExistingRecording record_existing = ExistingRecording::refuse;
  std::uint32_t record_keep_mib = 0;   ///< 0: no limit
  std::uint32_t record_keep_days = 0;  ///< likewise
};

}  // namespace ashlar::server
