#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client_sim/harness/link.h"
#include "client_sim/simulation/fault.h"
#include "client_sim/simulation/ground_memo.h"
#include "protocol/secure/identity.h"
#include "server/host/defects.h"
#include "server/host/host.h"
#include "world/sim/rules.h"
#include "world/sim/world.h"

namespace ashlar {
class PlacedMap;
class Prop;
}  // namespace ashlar

namespace ashlar::simulation {

using client_sim::Micros;

/// What every line does all the time, beside what faults add, in per cent of packets; over TCP what would be
/// lost comes late. Shares that it has anyway are more than 0.
struct LineTrouble {
  double loss = 0, reorder = 0, duplicate = 0, corrupt = 0;
};
/// Reads "loss=20,reorder=30,duplicate=2,corrupt=1", each at most fault_rate_max; one line on error.
std::expected<LineTrouble, std::string> line_from_text(std::string_view text);

/// What is played in a simulated match, as the rule set's fields of the same names.
struct MatchRules {
  GameMode mode = GameMode::sandbox;
  std::uint16_t frag_limit = 0;
  std::uint16_t time_limit_s = 0, warmup_s = 0, intermission_s = 5;
};

/// What a simulated match is made of. Same config, same bits out.
struct SimulationConfig {
  std::uint64_t seed = 1;
  std::uint32_t clients = 16;  ///< 1 to clients_limit
  std::uint32_t monsters = 50;
  std::uint32_t seconds = 600;  ///< of simulated time
  std::uint16_t tick_rate_hz = 60;
  std::uint16_t snapshot_every_ticks = 1;  ///< to a second's
  std::uint32_t snapshot_bytes_max = server::HostConfig{}.snapshot_bytes_max;
  TerrainKind terrain = TerrainKind::plains;
  std::uint32_t key_age_s = 30;     ///< from one change of a session's keys to the next; 1 to key_age_limit
  SpawnArea spawn;                  ///< where players appear
  bool hostile = true;              ///< some of the seats are attackers'
  std::uint32_t stream_ground = 0;  ///< so many seats, the first ones, do not compute the ground: it is sent
  std::uint32_t fighters = 0;       ///< so many seats, the first ones, play the match to win it
  std::uint32_t watchers = 0;       ///< so many seats, the last ones, only watch
  MatchRules match;                 ///< what is played
  std::function<std::unique_ptr<Game>()>
      game;               ///< a game of somebody's own, as WorldSetup::game; empty: none
  bool survival = false;  ///< half of the seats dig and build, of what they dug
  Solver player_solver = Solver::sweep, monster_solver = Solver::sweep;
  LineTrouble line;
  FaultRates rates;
  std::optional<std::vector<Fault>> faults;  ///< in place of those that seed and rates would give
  std::vector<std::shared_ptr<const PlacedMap>> maps;
  std::vector<std::shared_ptr<const Prop>> props;
  std::shared_ptr<GroundMemo> ground;  ///< of runs with this seed and these maps; null: the run makes its own
  bool check_replay = true;            ///< what each server recorded is played again when it ends
  bool keep_recording = false;         ///< Outcome::recording: of the first server
  server::Defects defects;             ///< deliberately wrong builds, for the checks' own tests
};

/// The map of that name at that place; null when there is none. Maps may stand in the world more than once.
std::shared_ptr<const PlacedMap> map_at(const SimulationConfig& config, std::string_view name,
                                        IVec2 origin_block);

/// How long the servers of a run keep the body of a client that vanished.
inline constexpr Micros away_grace{20'000'000};

/// Who the servers of a run are, one after the other: what their clients pin.
secure::KeyPair server_identity(const SimulationConfig& config);
/// What the worlds of a run hide from their clients (WorldSetup::secret): like every server's that makes one.
std::uint64_t world_secret(const SimulationConfig& config);
/// Random bytes of one purpose, that follow from the config's seed.
secure::Secret drawn_secret(const SimulationConfig& config, std::uint64_t purpose, std::uint64_t number);

inline constexpr std::uint32_t clients_limit = 1024;
inline constexpr std::uint32_t key_age_limit = 7200;
inline constexpr std::uint32_t seconds_limit = 24 * 3600;

/// Something that must hold and did not.
struct Broken {
  std::uint32_t tick = 0;         ///< of simulated time, from the start of the run
  std::uint32_t server_tick = 0;  ///< of the server that ran then
  std::string invariant;
  std::string entity;  ///< whom it concerns: "client 3", "entity 0x00200005", "server"
  std::string detail;
};

/// How a match of the world's came to its end.
struct MatchEnd {
  std::uint32_t number = 0;        ///< of the match
  std::uint32_t played_ticks = 0;  ///< of it, without warm-up
  std::int32_t best_score = 0;     ///< of a player, or in teams of a team
  bool exited = false;             ///< somebody went through an exit in its last tick
  friend bool operator==(const MatchEnd&, const MatchEnd&) = default;
};

/// What came of a run.
struct Outcome {
  std::uint64_t hash = 0;       ///< over every tick's world and what each client made of it
  std::uint64_t ticks = 0;      ///< stepped by all servers of the run
  std::uint64_t sim_ticks = 0;  ///< of simulated time
  std::array<std::uint64_t, fault_kind_count> faults{};  ///< begun, by kind
  std::uint64_t servers = 0, joins = 0, resumed = 0, moved = 0, fetched = 0, chat_lines = 0, datagrams = 0,
                replayed_ticks = 0, checks = 0;
  std::uint64_t kills = 0;  ///< of servers, without a goodbye
  std::uint64_t groups_saved = 0, saves_failed = 0;
  std::uint64_t ticks_without_room = 0;  ///< in which changes were refused, as they could not be saved
  std::uint64_t items_dug = 0;           ///< on the servers of the run
  std::uint64_t treasures = 0;           ///< that were opened, dug or blown up
  std::vector<MatchEnd> ends;            ///< of matches, in their order
  std::uint64_t player_kills = 0, monster_kills = 0;  ///< by players, on the servers of the run
  std::int32_t best_score = 0;                        ///< that a player or team had in a match
  std::uint64_t picked_up = 0;                        ///< items of maps and of the dead
  std::uint64_t columns = 0;                          ///< of ground that servers asked for
  std::uint64_t client_bytes_max = 0;   ///< of one client on a server, beside streams and packets
  client_sim::LinkStats links;          ///< of all clients, both ways
  std::optional<Broken> broken;         ///< the first thing that did not hold; it ended the run
  std::vector<std::uint8_t> recording;  ///< of the first server, when the config says keep_recording

  /// Begun, of all kinds.
  std::uint64_t fault_count() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : faults) sum += n;
    return sum;
  }
};

}  // namespace ashlar::simulation
